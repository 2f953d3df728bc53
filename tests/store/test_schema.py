"""Every record we write is valid against the schema we ship."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from jsonlstore.core.model import PART_LISTS, RESTORE_ONLY, SINGLE_PARTS, SessionState
from jsonlstore.store.schema import NAMES, load, problems, schema_dir
from tests.store.test_metrics import fill
from tests.store.test_model import states

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore


@pytest.mark.parametrize("name", NAMES)
def test_our_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(load(name))
    assert load(name)["$schema"].endswith("2020-12/schema")


def test_everything_a_busy_store_writes_is_valid(store: SessionStore) -> None:
    fill(store)
    store.update(
        "a", {"notes": [{"id": "n", "type": "decision", "content": "hamlib", "confidence": 0.8}], "tokens": {"used": 9}}
    )
    store.update("a", {"working_memory": [{"content": "c", "pinnedAt": "whenever", "label": "l"}]}, by="watcher")
    store.note("a", "pattern.noted", {"note": {"id": "m", "type": "blocker", "content": "x", "resolved": False}})
    store.note("a", "session.inherited", {"from": ["z"], "scores": [0.4]})
    store.link("a", "b")
    for number in range(30):
        store.update("a", {"next_step": f"{number}" + "y" * 4000})
    store.recover("a", store.now())
    store.resume("a", by="operator")
    store.end("a", {"in_progress": ["w"]}, reason="reset")
    store.start("gone")
    store.forget("gone")
    store.start("cold")
    store.end("cold", by="import")
    store.archive("cold")
    seen = set()
    for path in (*store.paths.states.glob("*.jsonl"), *store.paths.archive.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            record = orjson.loads(line)
            kind = "metric" if path.name == "metrics.jsonl" else "event"
            assert problems(kind, record) == []
            seen.add(record.get("type"))
    assert seen >= {"state.snapshot", "session.ended", "session.recovered", "session.forgotten", "pattern.noted"}
    assert problems("index", orjson.loads(store.paths.index.read_bytes())) == []
    for path in (store.paths.mirror("a"), *store.paths.archive.rglob("*.json")):
        assert problems("mirror", orjson.loads(path.read_bytes())) == []


def test_an_open_session_is_no_mirror() -> None:
    state = SessionState("s", "2026-02-18T12:00:00.000Z").to_dict()
    assert problems("state", state) == []
    assert problems("mirror", state) != []


def test_what_is_computed_on_restore_is_not_valid_on_disk() -> None:
    state = SessionState("s", "2026-02-18T12:00:00.000Z").to_dict()
    assert problems("state", {**state, "relevance_score": 0.5}) != []


@given(states)
def test_every_state_is_valid(state: SessionState) -> None:
    assert problems("state", state.to_dict()) == []


def documented_state() -> dict[str, set[str] | None]:
    """The keys of the mirror's table in docs/formats.md, each with the keys of its parts where it lists any."""
    page = (schema_dir().parent / "docs" / "formats.md").read_text()
    table = page.partition("## Mirror")[2].partition("\n## ")[0]
    found: dict[str, set[str] | None] = {}
    for names, meaning in re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE):
        parts = re.search(r"`\{(.*?)\}`", meaning)
        for name in re.findall(r"`(\w+)`", names):
            found[name] = {key.strip(" ?") for key in parts[1].split(",")} if parts else None
    return found


def test_schema_model_and_docs_list_the_same_keys() -> None:
    """A field of the state is in the schema, the model and the formats page, or in none of them."""
    model = set(SessionState("s", "t").to_dict())
    assert set(load("state")["properties"]) - set(RESTORE_ONLY) == model
    assert set(documented_state()) == model


PARTS = {**PART_LISTS, **SINGLE_PARTS}
DEFINED_AS = {
    "working_memory": "pin", "pending_tasks": "task", "confidence_updates": "confidence_update",
    "sop_interactions": "sop_interaction", "notes": "note", "tokens": "tokens",
    "commits": "commit", "files": "file", "closed": "closed", "last_request": "last_request", "failing": "failing",
    "references": "reference", "grounds": "ground", "earlier_requests": "earlier_request",
}  # fmt: skip


@pytest.mark.parametrize("key", PARTS)
def test_schema_model_and_docs_list_the_same_keys_of_every_part(key: str) -> None:
    """The same for what a field is made of; `importance` and evidence only pass through the model."""
    part = PARTS[key]
    model = {part.KEYS.get(item.name, item.name) for item in fields(part)} - {"extra"}
    assert (
        set(load("state")["$defs"][DEFINED_AS[key]]["properties"]) - ({"importance", "evidence", "confidence"} - model)
        == model
    )
    assert documented_state()[key] == model
