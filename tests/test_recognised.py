"""What docs/recognised.md says is recognised is recognised, and what it says is left alone is left alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.config import Config
from jsonlstore.store import SessionStore
from jsonlstore.watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent.parent / "docs" / "recognised.md"
BEFORE = [("user", "Let us look at the radio bridge."), ("assistant", "Fine, I am looking at it.")]


def rows() -> Iterator[tuple[str, dict[str, str]]]:
    """Every row of the page's tables, as column name -> cell."""
    head: list[str] = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = cells
        elif not set(line) <= set("|-"):
            yield line, dict(zip(head, cells, strict=True))


def kept(root: Path, said: list[str]) -> tuple[dict[str, Any], str]:
    """What a session keeps of a conversation in which the user says this: its state, and all of our files' text."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    talk = BEFORE + [turn for words in said for turn in (("user", words), ("assistant", "Understood."))]
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": stamp(0), "cwd": "/home/user/bridge"}
    ]
    for number, (role, text) in enumerate(talk):
        content = text if role == "user" else [{"type": "text", "text": text}]
        parent = f"e{number - 1}" if number else None
        message = {"role": role, "content": content}
        records.append(
            {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": stamp(number), "message": message}
        )
    (folder / "s1.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    store = SessionStore.open(root)
    Watcher(store, Config()).once()
    ours = "".join(path.read_text(errors="replace") for path in (root / "sessions").rglob("*") if path.is_file())
    return store.get("s1").to_dict(), ours


def stamp(minute: int) -> str:
    return f"2026-11-10T09:{minute:02d}:00.000Z"


def field(cell: str) -> str:
    return cell.strip("`")


@pytest.mark.parametrize("row", [pytest.param(row, id=re.sub(r"\W+", "-", line)[:60]) for line, row in rows()])
def test_what_the_page_says_is_what_happens(row: dict[str, str], tmp_path: Path) -> None:
    said = [field(row[name]) for name in ("say", "then") if name in row]
    state, ours = kept(tmp_path, said)
    assert state["last_request"], "the conversation was read"
    if "kept nowhere" in row:
        assert row["kept nowhere"] in said[0]
        assert row["kept nowhere"] not in ours
    elif "no longer" in row:
        assert row["no longer"] in json.dumps(kept(tmp_path / "before", said[:1])[0][field(row["kept in"])])
        assert row["no longer"] not in json.dumps(state[field(row["kept in"])])
    elif "not kept in" in row:
        assert row["as"] not in json.dumps(state[field(row["not kept in"])], ensure_ascii=False)
    else:
        assert row["as"] in json.dumps(state[field(row["kept in"])], ensure_ascii=False)


def test_the_page_has_examples_of_everything() -> None:
    """A table that is not read would be a promise nobody keeps."""
    found = [row for _, row in rows()]
    assert len(found) >= 20
    fields = {field(row.get("kept in", "")) for row in found}
    assert fields >= {"pending_tasks", "notes", "constraints", "next_step"}
