"""Our own transcripts and a real OpenClaw: each reads what the other wrote, and neither touches the other's files.

pytest -m slow tests/openclaw/test_own_transcripts_real.py
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from jsonlstore.context import TranscriptStore
from tests.context.conftest import assistant, user
from tests.context.test_inherit import hashes
from tests.openclaw.lab import OpenClaw, each_version, wait_until
from tests.openclaw.model import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.openclaw.model import Model

pytestmark = pytest.mark.slow

KEY = "agent:main:main"
OWN = "jsonlstore:main:main"


def said(store: TranscriptStore, key: str) -> list[tuple[str, str]]:
    return [(one["role"], text_of(one["content"])) for one in store.load(key).messages if "content" in one]


@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.7.1", "2026.9.6"))
def test_a_conversation_of_a_real_openclaw_goes_on_in_ours(version: str, tmp_path: Path, model: Model) -> None:
    """Both backends begin with what was said there, with the gateway running and stopped; no byte of it changes."""
    openclaw = OpenClaw(version, tmp_path, model.port)
    openclaw.start()
    try:
        for number in (1, 2):
            openclaw.say(f"the tank holds {number} litres [[exec:echo level {number}]]", KEY)
            wait_until(lambda number=number: any(f"{number} litres" in one for one in model.answered))
        wait_until(lambda: not list((openclaw.state_dir / "agents").rglob("*.jsonl.lock")), what="the end of the turn")
    finally:
        openclaw.stop()
    before = hashes(openclaw.state_dir)
    assert before
    for kind in ("sqlite", "jsonl"):
        with TranscriptStore.open(openclaw.state_dir, {"store": kind, "inherit": True}) as store:
            session = store.load(OWN)
            session.add_message("user", "and now in a transcript of ours")
            store.save(session)
            talk = said(store, OWN)
        words = [text for role, text in talk if role == "user"]
        assert [number for number in (1, 2) if any(f"tank holds {number} litres" in one for one in words)] == [1, 2]
        assert words[-1] == "and now in a transcript of ours"
        assert {role for role, _ in talk} == {"user", "assistant"}
    assert hashes(openclaw.state_dir) == before


@pytest.mark.parametrize("version", each_version("2026.2.26", "2026.7.1"))
def test_openclaw_goes_on_with_a_file_of_ours(version: str, tmp_path: Path, model: Model) -> None:
    """A copy of our file in OpenClaw's place is its session: the model is sent what we wrote, checkpoints aside."""
    with TranscriptStore.open(tmp_path / "mine", {"store": "jsonl"}) as store:
        session = store.load(OWN)
        for record in (user("the pump is a Grundfos"), assistant("Noted, a Grundfos pump.")):
            session.add(record)
        session.add_checkpoint("a pump was named", topics=["pump"])
        session.add(user("it hums at night"))
        session.add(assistant("A hum at night points at the bearing."))
        store.save(session)
        stored = next(one for one in store.backend.sessions() if one.key == OWN)
    openclaw = OpenClaw(version, tmp_path / "home", model.port)
    place = openclaw.state_dir / "agents" / "main" / "sessions"
    place.mkdir(parents=True)
    copy = place / f"{stored.session_id}.jsonl"
    shutil.copyfile(stored.path, copy)
    entry = {"sessionId": stored.session_id, "updatedAt": stored.updated_at, "sessionFile": str(copy)}
    (place / "sessions.json").write_text(json.dumps({KEY: entry}))
    openclaw.run("agent", "--local", "--agent", "main", "--message", "what hums?", "--json")
    asked = [one["messages"] for one in model.requests]
    (request, *_) = [one for one in asked if "what hums?" in text_of(one[-1]["content"])]
    sent = [text_of(one.get("content")) for one in request]
    for words in ("the pump is a Grundfos", "Noted, a Grundfos pump.", "it hums at night", "points at the bearing"):
        assert sum(words in one for one in sent) == 1, words
