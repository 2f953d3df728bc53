"""What our own transcripts cost, against the bare calls they cannot do without, measured in the same run.

    python -m tests.benchmarks.bench_transcript_store [--quick]

Ratios are steadier than times: compare those.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jsonlstore.context import TranscriptStore
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.core.files import Disk
from tests.benchmarks.store import interleaved, row, timed

QUICK = "--quick" in sys.argv
MESSAGES = 10_000 if QUICK else 100_000
TEXT = "We looked at the repeater and changed the offset; the tests pass again. " * 8


def message(number: int) -> dict[str, Any]:
    content = [{"type": "text", "text": f"{number} {TEXT}"}]
    return {"type": "message", "message": {"role": "user" if number % 2 else "assistant", "content": content}}


def appends(home: Path) -> None:
    """One record, durable, on both backends; bare: the same bytes written and synced, or inserted and committed."""
    counter = iter(range(10_000_000))
    files = TranscriptStore.open(home / "append", {"store": "jsonl"})
    database = TranscriptStore.open(home / "append", {"store": "sqlite"})
    for store in (files, database):
        store.append(None, message(0))
    line = list(files.read())[-1] + b"\n"
    fd = os.open(home / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    bare = sqlite3.connect(home / "bare.db", isolation_level=None)
    bare.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_key TEXT, parent_id TEXT, type TEXT, timestamp INTEGER,"
        " data JSON);"
        "CREATE INDEX a ON messages(session_key, timestamp); CREATE INDEX b ON messages(parent_id);"
    )
    data = line.decode()

    def write() -> None:
        os.write(fd, line)
        os.fdatasync(fd)

    def insert() -> None:
        number = next(counter)
        bare.execute("INSERT INTO messages VALUES (?, 'k', ?, 'message', ?, ?)", (str(number), "p", number, data))

    written, appended, inserted, stored = interleaved(
        write,
        lambda: files.append(None, message(next(counter))),
        insert,
        lambda: database.append(None, message(next(counter))),
    )
    row(f"bare write + fdatasync, {len(line)} bytes", written)
    row("append, JSONL", appended, written)
    row("bare INSERT, committed", inserted)
    row("append, SQLite", stored, inserted)
    os.close(fd)
    bare.close()
    database.close()


def loads(home: Path) -> None:
    """The end of a long session, against reading it all; then carried over, both ways."""
    fast = Disk(sync=False)
    files = TranscriptStore.open(home / "long", {"store": "jsonl"}, disk=fast)
    session = files.load()
    for number in range(MESSAGES):
        session.add({**message(number), "parentId": session.leaf})
    files.save(session)
    for kind, source in (("sqlite", files), ("jsonl", None)):
        place = home / "long" if kind == "sqlite" else home / "back"
        origin = source or TranscriptStore.open(home / "long", {"store": "sqlite"}, disk=fast)
        target = TranscriptStore.open(place, {"store": kind}, disk=fast)
        start = time.perf_counter()
        result = migrate_transcripts(origin.backend, target.backend)
        seconds = time.perf_counter() - start
        print(f"| migrate to {kind}, {result.records:,} records, MB/s | {result.bytes / seconds / 1e6:.1f} | | | |")
    for kind in ("jsonl", "sqlite"):
        store = TranscriptStore.open(home / "long", {"store": kind}, disk=fast)
        whole = timed(lambda store=store: sum(1 for _ in store.read()), 3 if QUICK else 5)
        end = timed(lambda store=store: store.load(last=50).messages, 20)
        row(f"read every line, {MESSAGES:,} messages, {kind}", whole)
        row(f"load the last 50, {kind}", end, whole)


def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="jsonlstore-bench-"))
    print("| what | p50 ms | p95 ms | p99 ms | p50 against the bare one |\n|---|---|---|---|---|")
    try:
        appends(home)
        loads(home)
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
