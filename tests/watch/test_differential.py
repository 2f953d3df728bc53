"""DECISION 47 over both eras: whatever happened, and whenever we looked, our logs say what one clean backfill says."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.watch.conftest import Database, OpenClaw, Talk, clean_backfill, derived, line, watcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOPICS = ("harbour", "windmill", "lighthouse", "Zürich", "orchard")


class History:
    """A random life of OpenClaw on one disk, from files to a database, with a watcher beside it."""

    def __init__(self, openclaw: OpenClaw, make: Any, seed: int) -> None:
        self._openclaw, self._make, self._random = openclaw, make, random.Random(seed)
        self._database: Database | None = None
        self._talks: dict[str, Talk] = {}
        self._current: dict[str, str] = {}
        self._rows: dict[str, int] = {}
        self._gone: set[str] = set()
        self._generation = 0
        self.watcher = watcher(openclaw.state_dir)
        self.events: list[Callable[[], object]] = [
            self.begin, self.say, self.say, self.say, self.branch, self.reset, self.repair, self.touch,
            self.migrate, self.rewrite, self.take_up, self.look, self.look, self.restart,
        ]  # fmt: skip

    def step(self) -> None:
        self._random.choice(self.events)()

    def _pick(self, *, rows: bool) -> str | None:
        found = [one for one in self._talks if one not in self._gone and (one in self._rows) == rows]
        return self._random.choice(found) if found else None

    def _write(self, session_id: str, *records: dict[str, Any]) -> None:
        if session_id not in self._rows:
            self._openclaw.append(session_id, *records)
            return
        assert self._database
        self._database.append(session_id, self._rows[session_id], *records)
        self._rows[session_id] += len(records)

    # what OpenClaw does

    def begin(self) -> None:
        """Another session takes a conversation over; the one before just stays."""
        key = f"agent:main:telegram:dm:{self._random.randrange(3)}"
        talk = Talk(f"{len(self._talks):08d}-aaaa-4aaa-8aaa-111111111111", day=1 + len(self._talks) % 28)
        records = [talk.header, *talk.turn(self._random.choice(TOPICS))]
        before = self._current.get(key)
        self._talks[talk.session_id], self._current[key] = talk, talk.session_id
        if self._database is None:
            self._openclaw.append(talk.session_id, *records)
            self._openclaw.refer(key, talk.session_id)
            return
        self._rows[talk.session_id] = len(records)
        self._database.add(talk.session_id, records, key=key, previous=before, reason="rollover" if before else None)

    def take_up(self) -> None:
        """A conversation goes back to a session it had before."""
        session_id = self._pick(rows=False)
        if session_id and self._database is None and session_id not in self._current.values():
            key = self._random.choice(sorted(self._current) or ["agent:main:main"])
            self._current[key] = session_id
            self._openclaw.refer(key, session_id)

    def say(self) -> None:
        session_id = self._pick(rows=self._random.random() < 0.5)
        if session_id:
            self._write(session_id, *self._talks[session_id].turn(self._random.choice(TOPICS)))

    def branch(self) -> None:
        """Go back to an earlier entry, and on from there."""
        session_id = self._pick(rows=self._random.random() < 0.5)
        if session_id is None:
            return
        talk = self._talks[session_id]
        here, earlier = talk.last, talk.turn("crossroads")
        talk.last = here
        leaf = talk._entry("leaf", targetId=here)
        self._write(session_id, *earlier, leaf, *talk.turn(self._random.choice(TOPICS)))

    def reset(self) -> None:
        session_id = self._pick(rows=True)
        if session_id:
            self._write(session_id, self._talks[session_id].reset())
        elif session_id := self._pick(rows=False):
            self._openclaw.rename(session_id, "reset.2026-09-28T15-00-00.000Z")
            self._gone.add(session_id)
            self._current = {key: one for key, one in self._current.items() if one != session_id}
            self._openclaw.index = {k: v for k, v in self._openclaw.index.items() if v["sessionId"] != session_id}
            self._openclaw.save_index()

    def repair(self) -> None:
        """A line is lost, the file as it was put beside it."""
        session_id = self._pick(rows=False)
        if session_id is None:
            return
        path = self._openclaw.path(session_id)
        lines = path.read_bytes().splitlines(keepends=True)
        path.with_name(f"{path.name}.bak-1-{self._random.randrange(999)}").write_bytes(b"".join(lines))
        if len(lines) > 3:
            del lines[self._random.randrange(1, len(lines) - 1)]
        temp = path.with_name("repair.tmp")
        temp.write_bytes(b"".join(lines))
        os.replace(temp, path)
        self._openclaw.remember()

    def touch(self) -> None:
        """The header is written over in place."""
        session_id = self._pick(rows=False)
        if session_id:
            lines = self._openclaw.path(session_id).read_bytes().splitlines(keepends=True)
            header = {**json.loads(lines[0]), "cwd": f"/home/u/{self._random.choice(TOPICS)}"}
            self._openclaw.write(session_id, line(header) + b"".join(lines[1:]), "r+b")
            os.truncate(self._openclaw.path(session_id), len(line(header)) + sum(map(len, lines[1:])))
            self._openclaw.remember()

    def migrate(self) -> None:
        """All files become rows, in whatever order, and are put aside; what nobody refers to is archived at once."""
        files = [one for one in self._talks if one not in self._gone and one not in self._rows]
        if self._database is not None or not files or self._random.random() < 0.7:
            return
        self._database = Database(self._openclaw, self._make)
        aside = self._openclaw.agent_dir / "session-sqlite-import-archive"
        aside.mkdir()
        keys = {one: key for key, one in self._current.items()}
        for session_id in files:
            path = self._openclaw.path(session_id)
            records = [json.loads(each) for each in path.read_bytes().splitlines()]
            self._rows[session_id] = len(records)
            self._database.add(session_id, records, key=keys.get(session_id, f"agent:main:recovered:{session_id}"))
            if session_id not in keys:
                archive = "UPDATE session_nodes SET archived_at = 1 WHERE current_session_id = ?"
                self._database.run((archive, (session_id,)))
            if self._random.random() < 0.5:
                self.look()
            path.rename(aside / f"x.{session_id}.jsonl.imported-1794786801719")
            self._openclaw.remember()
        (self._openclaw.sessions / "sessions.json").rename(aside / "legacy.sessions.json.imported-1794786801719")
        self._openclaw.remember()

    def rewrite(self) -> None:
        """The last rows are taken back, a reset among them perhaps, and something else is said."""
        session_id = self._pick(rows=True)
        if session_id is None or self._database is None:
            return
        self._generation += 1
        cut = self._random.randrange(3, max(4, self._rows[session_id]))
        self._rows[session_id] = min(cut, self._rows[session_id])
        self._database.run(
            ("DELETE FROM transcript_events WHERE session_id = ? AND seq >= ?", (session_id, cut)),
            (
                "UPDATE transcript_rewrite_watermarks SET generation = ? WHERE session_id = ?",
                (f"{self._generation}", session_id),
            ),
        )
        self._write(session_id, *self._talks[session_id].turn(self._random.choice(TOPICS)))

    # what we do

    def look(self) -> None:
        self.watcher.rescan()

    def restart(self) -> None:
        self.watcher = watcher(self._openclaw.state_dir)
        self.watcher.rescan()


def compare(history: History, state_dir: Path, tmp_path: Path) -> None:
    for _ in range(3):
        history.look()
    clean = clean_backfill(state_dir, tmp_path)
    ours = derived(state_dir)
    # a stretch whose reset was taken back is remembered by us alone
    assert {session_id: ours.get(session_id) for session_id in clean} == clean


@pytest.mark.parametrize("seed", range(25))
def test_any_history_read_at_any_moments_gives_what_a_clean_backfill_gives(
    openclaw: OpenClaw, state_dir: Path, tmp_path: Path, make: Any, seed: int
) -> None:
    history = History(openclaw, make, seed)
    history.begin()
    for number in range(1, 41):
        history.step()
        if number % 20 == 0:
            compare(history, state_dir, tmp_path)
