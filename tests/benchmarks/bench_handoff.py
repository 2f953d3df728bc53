"""What a handoff costs the watcher beyond the update it makes anyway.

python -m tests.benchmarks.bench_handoff [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jsonlstore.bridges.openclaw import HandoffFiles
from jsonlstore.core.paths import StatePaths
from jsonlstore.handoff import WindowFacts, capture
from jsonlstore.store.store import SessionStore


def main(rounds: int) -> None:
    root = Path(tempfile.mkdtemp(prefix="bench-handoff-"))
    (root / "agents" / "main").mkdir(parents=True)
    now = [datetime(2026, 11, 10, 10, 0, tzinfo=UTC)]
    store = SessionStore(StatePaths.of(root), clock=lambda: now[0])
    store.listeners.append(HandoffFiles(store))
    store.start("a", agent_id="main", session_key="agent:main:main", active_projects=["radio"], by="watcher")
    update, extra = [], []
    for number in range(rounds):
        now[0] += timedelta(minutes=2)
        notes = [
            {"id": f"n{at}", "type": "decision", "content": f"use part {at} of the list", "confidence": 0.9,
             "source_entry_id": f"e{at}", "timestamp": store.now()}
            for at in range(number, number + 30)
        ]  # fmt: skip
        fields = {"notes": notes, "next_step": f"measure part {number}", "updated_at": store.now()}
        started = time.perf_counter()
        store.update("a", fields, by="watcher")
        between = time.perf_counter()
        facts = WindowFacts(20 * number, {f"e{at}": at for at in range(number, number + 30)}, 3)
        assert capture(store, "a", "messages", now=now[0], expires_hours=24, facts=facts)
        extra.append((time.perf_counter() - between) * 1000)
        update.append((between - started) * 1000)
    for name, found in (("update", update), ("capture", extra)):
        ordered = sorted(found)
        print(f"{name}: p50 {statistics.median(found):.1f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
