"""What the JSONL backend writes, pi's own session manager reads: the same records, the same context."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context import TranscriptStore
from jsonlstore.core.files import Disk
from tests.context.conftest import assistant, user
from tests.transcripts.test_pi import theirs

if TYPE_CHECKING:
    from jsonlstore.context import Session

pytestmark = pytest.mark.npm
OPENED = Path(__file__).with_name("pi_opens.mjs")


def chat(store: TranscriptStore, chance: random.Random, key: str) -> Session:
    """A random conversation through the public interface: turns, settings, branches, compactions, checkpoints."""
    session = store.load(key)
    for number in range(chance.randrange(1, 30)):
        match chance.randrange(9):
            case 0:
                session.add({"type": "model_change", "provider": "p", "modelId": f"m{number}"})
            case 1:
                session.add({"type": "thinking_level_change", "thinkingLevel": chance.choice(["off", "high"])})
            case 2:
                session.add_checkpoint(f"so far {number}", topics=["a"])
            case 3:
                session.add({"type": "custom_message", "customType": "c", "content": f"note {number}", "display": True})
            case 4 if session.leaf:
                ids = [line["id"] for line in map(json.loads, store.read(key)) if line["type"] == "message"]
                kept = chance.choice([*ids, session.leaf])
                session.compact(f"summary {number}", kept, from_checkpoint=chance.random() < 0.5)
            case 5 if session.leaf:
                store.save(session)
                ids = [line["id"] for line in map(json.loads, store.read(key)) if line["type"] != "session"]
                session = store.load(key, leaf=chance.choice(ids))
            case 6:
                session.add(assistant(f"answer {number} password=hunter2hunter2"))
            case 7:
                store.save(session)
                store.append(key, user(f"from elsewhere {number}"))
                session = store.load(key)
            case _:
                session.add_message("user", f"question {number} \u00fc \U0001f600 \ud83d")
    session.add_message("user", "the end")
    store.save(session)
    return store.load(key)


def ours(session: Session) -> dict[str, Any]:
    context = {"messages": list(session.messages), "thinkingLevel": session.thinking_level, "model": session.model}
    document: dict[str, Any] = json.loads(json.dumps(context))
    return document


def test_pi_sees_every_conversation_as_we_do(pi: Path, tmp_path: Path) -> None:
    """300 random conversations: pi's context of the file is the session's own, field for field."""
    with TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=Disk(sync=False)) as store:
        sessions = [chat(store, random.Random(seed), f"jsonlstore:main:{seed}") for seed in range(300)]
        paths = {one.key: one.path for one in store.list()}
        documents = [{"content": paths[session.key].read_text()} for session in sessions]
        for session, expected in zip(sessions, theirs(pi, documents), strict=True):
            assert ours(session) == expected, session.key


def test_pi_opens_continues_and_lists_our_files(pi: Path, tmp_path: Path) -> None:
    """The session manager opens the file, appends to it, and we read what it appended; nothing has to be migrated."""
    with TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=Disk(sync=False)) as store:
        session = store.load()
        session.add_message("user", "from us")
        session.add(assistant("an answer"))
        session.add_checkpoint("a checkpoint, which pi does not know")
        store.save(session)
        (listed,) = store.list()
        before = listed.path.read_bytes()
        done = subprocess.run(
            ["node", OPENED, pi, listed.path], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["id"] == session.session_id
        assert told["types"] == ["message", "message", "checkpoint", "message"]
        assert told["listed"] == [session.session_id]
        assert listed.path.read_bytes().startswith(before)
        again = store.load()
        assert [message["content"] for message in again.messages][-1] == "from pi"
        store.append(None, user("from us again"))
        assert store.load().messages[-2]["content"] == "from pi"
