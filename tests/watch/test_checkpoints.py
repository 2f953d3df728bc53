"""Checkpoints of followed sessions, and flushes acted upon: recorded after the turn, from the transcript."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from jsonlstore.cli.main import cli
from jsonlstore.core.config import Config
from jsonlstore.store import SessionStore
from jsonlstore.watch import Watcher
from tests.watch.conftest import IMPATIENT, OpenClaw, stamp

if TYPE_CHECKING:
    from pathlib import Path

SID = "5e551011-0000-4000-8000-000000000001"
SECRET = "ghp_" + "q7v2kd9zt5m1" * 3


def configure(state_dir: Path, **checkpoint: Any) -> None:
    ours = {"handoff_enabled": False, "session": {"checkpoint": {"minTokensForGen": 0, **checkpoint}}}
    document = {"plugins": {"entries": {"jsonlstore": {"config": ours}}}}
    (state_dir / "openclaw.json").write_text(json.dumps(document))


def follow(state_dir: Path) -> SessionStore:
    store = SessionStore.open(state_dir)
    Watcher(store, Config(), timing=IMPATIENT).once()
    return store


def wrote(talk: Any, path: str) -> list[dict[str, Any]]:
    """A turn in which the agent writes a file."""
    call = {"type": "toolCall", "id": f"c{talk.number}", "name": "write", "arguments": {"path": path, "content": "x"}}
    result = {"role": "toolResult", "toolCallId": call["id"], "toolName": "write", "content": [], "isError": False}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "please go on with the antenna"}]},
        {"role": "assistant", "content": [call], "stopReason": "toolUse"},
        result,
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "stopReason": "stop"},
    ]
    return [talk._entry("message", message=message) for message in messages]


def test_a_checkpoint_is_made_every_so_many_messages_and_not_twice(openclaw: OpenClaw, state_dir: Path) -> None:
    configure(state_dir, turnThreshold=2)
    talk = openclaw.begin(SID, "antenna")
    store = follow(state_dir)
    before = len(store.events(SID, ("checkpoint.created",)))
    for _ in range(4):
        openclaw.append(SID, *wrote(talk, "src/tuner.py"))
        store = follow(state_dir)
    found = store.events(SID, ("checkpoint.created",))
    assert len(found) - before == 2
    assert found[-1].data["trigger"] == "messages"
    assert "src/tuner.py" in str(found[-1].data["evidence"]["files"])
    follow(state_dir)
    assert len(store.events(SID, ("checkpoint.created",))) == len(found)
    openclaw.remember()


def test_no_secret_is_in_a_checkpoint(openclaw: OpenClaw, state_dir: Path) -> None:
    configure(state_dir, turnThreshold=1)
    talk = openclaw.begin(SID, "antenna")
    entries = wrote(talk, f"src/{SECRET}.py")
    entries[0]["message"]["content"][0]["text"] = f"log in to the antenna with {SECRET} and never print it"
    openclaw.append(SID, *entries)
    store = follow(state_dir)
    assert store.events(SID, ("checkpoint.created",))
    assert SECRET not in store.paths.log(SID).read_text()


@pytest.mark.parametrize(
    ("path", "actioned"), [("memory/2026-09-21.md", True), ("/home/u/w/memory/a.md", True), ("src/a.py", False)]
)
def test_a_flush_counts_as_acted_upon_when_its_turn_wrote_to_memory(
    openclaw: OpenClaw, state_dir: Path, path: str, actioned: bool
) -> None:
    """Once, for the turn it was offered in; what later turns write is not its merit."""
    talk = openclaw.begin(SID, "antenna")
    store = follow(state_dir)
    store.note(SID, "flush.offered", {"percent": 90, "at": stamp(talk.number + 1)}, by="hook")
    openclaw.append(SID, *wrote(talk, path))
    follow(state_dir)
    openclaw.append(SID, *wrote(talk, "memory/later.md"))
    (event,) = follow(state_dir).events(SID, ("flush.actioned",))
    assert event.data["actioned"] is actioned
    assert event.data["percent"] == 90


def test_where_and_checkpoint_tell_a_person_where_it_stands(openclaw: OpenClaw, state_dir: Path) -> None:
    configure(state_dir, turnThreshold=1)
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, *wrote(talk, "src/tuner.py"))
    follow(state_dir)

    def run(*words: str) -> Any:
        done = CliRunner().invoke(cli, ["--state-dir", str(state_dir), *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout) if "--json" in words else done.stdout

    now = run("where", "--json")
    assert now["session_id"] == SID
    assert "src/tuner.py" in str(now["checkpoint"]["evidence"]["files"])
    assert "src/tuner.py" in run("where", SID[:8])
    rows = run("checkpoint", "list", SID, "--json")
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    assert run("checkpoint", "show", SID, "--json")["checkpoint"]["summary"] == rows[-1]["summary"]
    assert rows[-1]["summary"][:20] in run("checkpoint", "list", SID)
    openclaw.remember()


def test_a_command_words_a_checkpoint_that_is_there_already(openclaw: OpenClaw, state_dir: Path) -> None:
    """Ours is recorded first and at once; the worded one follows, and is the newest."""
    words = "'In short: ' + json.load(sys.stdin)['checkpoint']['summary'][:9]"
    script = f"import json, sys; print(json.dumps({{'summary': {words}}}))"
    configure(state_dir, turnThreshold=1, command=[sys.executable, "-c", script])
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, *wrote(talk, "src/tuner.py"))
    first, second = follow(state_dir).events(SID, ("checkpoint.created",))
    assert second.data["summary"].startswith("In short: ")
    assert second.data["by"] == "command"
    assert first.data["evidence"] == second.data["evidence"]
    assert len(follow(state_dir).events(SID, ("checkpoint.created",))) == 2


@pytest.mark.parametrize("command", [["/no/such/program"], [sys.executable, "-c", "print('{}')"]])
def test_a_command_that_words_nothing_leaves_ours(openclaw: OpenClaw, state_dir: Path, command: list[str]) -> None:
    configure(state_dir, turnThreshold=1, command=command)
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, *wrote(talk, "src/tuner.py"))
    assert len(follow(state_dir).events(SID, ("checkpoint.created",))) == 1


def test_a_slow_command_holds_nobody_up(openclaw: OpenClaw, state_dir: Path) -> None:
    """The watcher goes on; the run is ended when its time is up."""
    script = "import time; time.sleep(60)"
    configure(state_dir, turnThreshold=1, command=[sys.executable, "-c", script], commandSeconds=1)
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, *wrote(talk, "src/tuner.py"))
    store = SessionStore.open(state_dir)
    watcher = Watcher(store, Config(), timing=IMPATIENT)
    started = time.monotonic()
    watcher.rescan()
    assert time.monotonic() - started < 1
    watcher.tailer.take_worded(wait=True)
    assert time.monotonic() - started < 10
    assert len(store.events(SID, ("checkpoint.created",))) == 1
