"""What a handoff costs the watcher beyond the update it makes anyway, in a session with a transcript of 20 MB.

python -m tests.benchmarks.bench_handoff [ROUNDS]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.paths import StatePaths
from jsonlstore.handoff import WindowFacts, capture
from jsonlstore.signals import SignalOptions
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts import Catalogue, RecordedSession
from jsonlstore.watch.follower import Follower

_TRANSCRIPT = 20 << 20
_ID = "11111111-2222-4333-8444-555555555555"


class Bench:
    """A session that goes on: twenty messages a round, then an update, then a capture."""

    def __init__(self, root: Path) -> None:
        self.now = datetime(2026, 11, 10, 10, 0, tzinfo=UTC)
        self.file = root / "agents" / "main" / "sessions" / f"{_ID}.jsonl"
        self.file.parent.mkdir(parents=True)
        self.write({"type": "session", "version": 3, "id": _ID, "timestamp": "2026-11-10T09:00:00.000Z"})
        while self.file.stat().st_size < _TRANSCRIPT:
            self.write(*(self.said("toolResult", "x" * 60_000) for _ in range(20)))
        self.catalogue = Catalogue.open(root)
        self.follower = Follower(_ID, SignalOptions())
        self.store = SessionStore(StatePaths.of(root), clock=lambda: self.now)
        self.store.listeners.append(HandoffFiles(self.store))
        self.store.start(_ID, agent_id="main", session_key="agent:main:main", active_projects=["radio"], by="watcher")

    def said(self, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": f"{time.monotonic_ns():x}", "timestamp": "2026-11-10T09:00:00.000Z",
                "message": message}  # fmt: skip

    def write(self, *records: dict[str, Any]) -> None:
        with self.file.open("a") as file:
            file.writelines(json.dumps(one) + "\n" for one in records)

    def read_on(self) -> RecordedSession:
        """Read what is new, as for every update."""
        self.catalogue.invalidate()
        self.catalogue.refresh()
        (session,) = self.catalogue.sessions
        assert self.follower.advance(session, 60)
        self.follower.settle(session)
        return session

    def fields(self, number: int) -> dict[str, Any]:
        notes = [
            {"id": f"n{at}", "type": "decision", "content": f"use part {at} of the list", "confidence": 0.9,
             "source_entry_id": f"e{at}", "timestamp": self.store.now()}
            for at in range(number, number + 30)
        ]  # fmt: skip
        return {"notes": notes, "next_step": f"measure part {number}", "updated_at": self.store.now()}


def main(rounds: int) -> None:
    bench = Bench(Path(tempfile.mkdtemp(prefix="bench-handoff-")))
    bench.follower.digest(bench.read_on())
    wall: dict[str, list[float]] = {"update": [], "capture": []}
    cpu: dict[str, list[float]] = {"update": [], "capture": []}
    for number in range(rounds):
        bench.now += timedelta(minutes=2)
        bench.write(*(bench.said("user", f"Please fix part {at} of the antenna") for at in range(20)))
        session = bench.read_on()
        facts = WindowFacts(20 * number, {f"e{at}": at for at in range(number, number + 30)}, 3)
        fields = bench.fields(number)
        marks = [(time.perf_counter(), time.process_time())]
        bench.store.update(_ID, fields, by="watcher")
        marks.append((time.perf_counter(), time.process_time()))
        digest = bench.follower.digest(session)
        assert capture(bench.store, _ID, "messages", now=bench.now, expires_hours=24, facts=facts, digest=digest)
        marks.append((time.perf_counter(), time.process_time()))
        for name, before, after in (("update", *marks[:2]), ("capture", *marks[1:])):
            wall[name].append((after[0] - before[0]) * 1000)
            cpu[name].append((after[1] - before[1]) * 1000)
    for name, taken in wall.items():
        told = [
            f"{kind} p50 {statistics.median(found):.1f} ms, p95 {sorted(found)[int(len(found) * 0.95)]:.1f} ms"
            for kind, found in (("time", taken), ("CPU", cpu[name]))
        ]
        print(f"{name}: {'; '.join(told)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
