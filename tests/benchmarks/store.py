"""What the store costs, against the bare system calls it cannot do without, measured in the same run.

    python -m tests.benchmarks.store [--quick]

Prints one table. Ratios are steadier than times: compare those.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.clock import format_time
from jsonlstore.core.files import Disk
from jsonlstore.store.fold import SessionFold
from jsonlstore.store.index_text import serialise
from jsonlstore.store.log import Event, SessionLog
from jsonlstore.store.projection import project
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = "--quick" in sys.argv
ROUNDS = 60 if QUICK else 400
SIZES = (50, 1_000) if QUICK else (50, 1_000, 10_000)
TOPICS = ["fsync", "rename", "antenna", "repeater", "baud", "ledger", "index", "quarantine", "mirror", "archive"]


def timed(call: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Milliseconds of each call, the first few left out."""
    out = []
    for number in range(rounds + 3):
        start = time.perf_counter()
        call()
        if number >= 3:
            out.append((time.perf_counter() - start) * 1000)
    return out


def interleaved(*calls: Callable[[], object], rounds: int = ROUNDS) -> list[list[float]]:
    """Each call's times, taken in turns, so that a noisy neighbour hits all alike."""
    out: list[list[float]] = [[] for _ in calls]
    for number in range(rounds + 3):
        for times, call in zip(out, calls, strict=True):
            start = time.perf_counter()
            call()
            if number >= 3:
                times.append((time.perf_counter() - start) * 1000)
    return out


def row(name: str, times: list[float], base: list[float] | None = None) -> None:
    p50, p95, p99 = (statistics.quantiles(times, n=100)[each - 1] for each in (50, 95, 99))
    ratio = f"{p50 / statistics.median(base):.2f}x" if base else ""
    print(f"| {name} | {p50:.3f} | {p95:.3f} | {p99:.3f} | {ratio} |", flush=True)


def appends(home: Path) -> None:
    """One update of a running session, synced, against a bare write and fdatasync of as many bytes."""
    store = SessionStore.open(home / "append")
    store.start("a", channel="cli")
    counter = iter(range(10_000_000))

    def update() -> None:
        store.update("a", {"next_step": f"step {next(counter):09d}", "hot_topics": TOPICS})

    update()
    line = store.paths.log("a").read_bytes().splitlines(keepends=True)[-1]
    log = SessionLog(home / "bare.jsonl", home / "quarantine", Disk())
    fd = os.open(home / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def bare() -> None:
        os.write(fd, line)
        os.fdatasync(fd)

    base, appended, updated = interleaved(bare, lambda: log.append(line), update)
    row(f"bare write + fdatasync, {len(line)} bytes", base)
    row("SessionLog.append", appended, base)
    row("SessionStore.update", updated, base)
    os.close(fd)


def filled(home: Path, count: int) -> SessionStore:
    """A store of `count` ended sessions over the last `count` hours, written without the store's help to save time."""
    store = SessionStore.open(home / f"store-{count}")
    store.start("seed", channel="cli")
    now, entries = datetime.now(UTC), {}
    for number in range(count):
        session_id = f"{number:08x}-0000-4000-8000-000000000000"
        ended = now - timedelta(hours=number + 1)
        fields = {"start_time": format_time(ended - timedelta(minutes=50)), "hot_topics": TOPICS, "channel": "telegram"}
        folded = SessionFold()
        data = {"session_id": session_id, "schema_version": 1, "fields": fields}
        lines = b""
        for seq, (kind, body) in enumerate(
            [("session.started", data), ("session.ended", {"end_time": format_time(ended), "reason": "new"})], 1
        ):
            event = Event(seq, format_time(ended), kind, "hook", body)
            folded.apply(event)
            lines += event.to_line()
        store.paths.log(session_id).write_bytes(lines)
        entries[session_id] = project(folded, len(lines))
    store.paths.index.write_bytes(serialise({**store.index.entries(), **entries}))
    os.sync()
    return store


def reads_and_boundaries(home: Path, count: int) -> None:
    filled(home, count)
    root = home / f"store-{count}"
    index = root / "sessions/states/sessions.json"
    rounds = max(15, ROUNDS * 50 // count)
    base, cold = interleaved(
        lambda: orjson.loads(index.read_bytes()), lambda: SessionStore.open(root).recent(7), rounds=rounds
    )
    row(f"bare orjson.loads of the index, {count} sessions", base)
    row(f"open + recent(7 days), {count} sessions", cold, base)
    store = SessionStore.open(root)
    row(f"recent(7 days) again, {count} sessions", timed(lambda: store.recent(7), rounds), base)
    names = iter(range(1_000_000))

    def start_and_end() -> float:
        session_id = f"bench-{next(names)}"
        store.start(session_id, channel="cli")
        start = time.perf_counter()
        store.end(session_id, {"hot_topics": TOPICS}, reason="new")
        return (time.perf_counter() - start) * 1000

    row(f"end (log, index, mirror synced), {count} sessions", [start_and_end() for _ in range(min(rounds, 40))])


def contender(root: str, rounds: int, results: Any) -> None:
    store = SessionStore.open(root)
    counter = iter(range(rounds + 3))
    results.put(timed(lambda: store.update("a", {f"by_{os.getpid()}": next(counter)}), rounds))


def contention(home: Path) -> None:
    root = home / "contended"
    SessionStore.open(root).start("a", channel="cli")
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=contender, args=(str(root), ROUNDS // 4, results)) for _ in range(8)]
    for worker in workers:
        worker.start()
    times = [each for _ in workers for each in results.get(timeout=300)]
    for worker in workers:
        worker.join()
    row("update, 8 processes on one session", times)


def cold_starts(home: Path) -> None:
    root = str(home / "store-50")
    shown = f"{0:08x}"
    rounds = 5 if QUICK else 15
    commands = (
        ["-c", "pass"],
        ["-m", "jsonlstore", "--state-dir", root, "list", "--json"],
        ["-m", "jsonlstore", "--state-dir", root, "show", shown, "--json"],
    )
    runs = [
        lambda command=command: subprocess.run([sys.executable, *command], check=True, capture_output=True)
        for command in commands
    ]
    base, listed, showed = interleaved(*runs, rounds=rounds)
    row("python -c pass", base)
    row("jsonlstore list, 50 sessions, cold process", listed, base)
    row("jsonlstore show, 50 sessions, cold process", showed, base)


def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="jsonlstore-bench-"))
    print("| what | p50 ms | p95 ms | p99 ms | p50 against the bare one |\n|---|---|---|---|---|")
    try:
        appends(home)
        for count in SIZES:
            reads_and_boundaries(home, count)
        contention(home)
        cold_starts(home)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
