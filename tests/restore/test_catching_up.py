"""Without a watcher a runtime's hook calls are enough: what the transcript says is there for the next session."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from jsonlstore.watch.instance import catch_up_unwatched, single_instance

if TYPE_CHECKING:
    from tests.home import Home

KEY = "agent:main:main"
OLD, NEW = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "22222222-bbbb-4bbb-8bbb-bbbbbbbbbbbb"


def transcript(home: Home, session_id: str, text: str) -> None:
    """One turn as OpenClaw 2026.2 writes it down."""
    folder = home.path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    at = "2026-11-10T10:00:0{}.000Z"
    records: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session_id, "timestamp": at.format(0), "cwd": "/home/user/w"},
        {"type": "message", "id": "aaaaaaa1", "parentId": None, "timestamp": at.format(1),
         "message": {"role": "user", "content": text}},
        {"type": "message", "id": "aaaaaaa2", "parentId": "aaaaaaa1", "timestamp": at.format(2),
         "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "stopReason": "stop"}},
    ]  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / f"{session_id}.jsonl").write_text(lines)
    index = {KEY: {"sessionId": session_id, "updatedAt": 1794304802000, "lastChannel": "webchat"}}
    (folder / "sessions.json").write_text(json.dumps(index))


def test_a_turn_a_move_and_the_task_comes_back(home: Home) -> None:
    transcript(home, OLD, "TODO: repair the lighthouse lamp")
    told = {"session_key": KEY, "agent_id": "main", "channel": "webchat"}
    answer = home.hook("turn-end", session_id=OLD, catch_up=True, **told)
    assert answer == {"session_id": OLD, "updated": True}
    home.later(hours=1)
    restored = home.hook("session-start", session_id=NEW, pid=os.getpid(), **told)
    assert "repair the lighthouse lamp" in restored["preamble"]


def test_an_end_catches_up_too(home: Home) -> None:
    transcript(home, OLD, "TODO: repair the lighthouse lamp")
    file = home.path / "agents" / "main" / "sessions" / f"{OLD}.jsonl"
    file.rename(f"{file}.reset.2026-11-10T10-05-00.000Z")
    home.hook("session-end", session_id=OLD, session_key=KEY, catch_up=True, reason="new")
    state = home.store.get(OLD)
    assert [one.title for one in state.pending_tasks] == ["repair the lighthouse lamp"]
    assert state.end_reason == "new"


def test_nothing_is_read_unless_it_is_asked_for(home: Home) -> None:
    transcript(home, OLD, "TODO: repair the lighthouse lamp")
    home.hook("turn-end", session_id=OLD, session_key=KEY)
    assert not home.store.get(OLD).pending_tasks


def test_where_a_watcher_runs_it_is_left_to_it(home: Home) -> None:
    transcript(home, OLD, "TODO: repair the lighthouse lamp")
    with single_instance(home.store.paths):
        assert catch_up_unwatched(home.store, home.config) is None
    assert not list(home.store.entries())
    assert catch_up_unwatched(home.store, home.config) == 1


def test_a_gateway_s_start_catches_up_where_nobody_watches(home: Home) -> None:
    transcript(home, OLD, "TODO: repair the lighthouse lamp")
    with single_instance(home.store.paths):
        watched = home.run("watch", "--once", "--if-unwatched", "--json")
    assert json.loads(watched.stdout) == {"written": 0, "watched": True}
    done = home.run("watch", "--once", "--if-unwatched", "--json")
    assert json.loads(done.stdout) == {"written": 1, "watched": False}
    assert home.store.get(OLD).pending_tasks


def test_the_reasons_come_with_the_answer_when_asked_for(home: Home) -> None:
    home.past("a", pending_tasks=[{"task_id": "t1", "title": "Fix it", "stage": "build"}])
    plain = home.hook("session-start", "--dry-run", session_id="b", channel="cli")
    told = home.hook("session-start", "--dry-run", session_id="b", channel="cli", explain=True)
    assert "candidates" not in plain
    assert [one["session_id"] for one in told["candidates"]] == ["a"]
    assert told["candidates"][0]["reason"]
