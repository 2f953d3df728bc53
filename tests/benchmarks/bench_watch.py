"""The watcher's costs: backfill against the bare parse, latency, a burst, and what it costs to wait.

python tests/benchmarks/bench_watch.py [backfill|latency|burst|idle]...
JSONLSTORE_BENCH_MB=200 for the long form of the backfill, JSONLSTORE_BENCH_FILES=5000 for that of waiting.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import orjson

sys.path.insert(0, str(Path(__file__).parent))
import corpus

COMMAND = [sys.executable, "-m", "jsonlstore", "-q", "--state-dir"]
SESSIONS = 20


def session_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def write_history(root: Path, size: int) -> int:
    """About `size` bytes of transcripts in the JSONL era, one file per session, and all of them referred to."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    total = 0
    for number in range(SESSIONS):
        path = folder / f"{session_id(number)}.jsonl"
        with path.open("wb") as file:
            for line in corpus.records(size // SESSIONS, seed=number, session_id=session_id(number)):
                total += file.write(line)
    return total


def bare(root: Path) -> float:
    """CPU seconds of parsing every line and nothing else."""
    begin = time.process_time()
    for path in (root / "agents").rglob("*.jsonl"):
        with path.open("rb", buffering=1 << 20) as file:
            for line in file:
                orjson.loads(line)
    return time.process_time() - begin


def backfill() -> None:
    size = corpus.wanted_bytes()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        total = write_history(root, size)
        bare(root)
        baseline = bare(root)
        begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*COMMAND, str(root), "backfill"], check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
        begin = time.perf_counter()
        subprocess.run([*COMMAND, str(root), "backfill"], check=True, stdout=subprocess.DEVNULL)
        again = time.perf_counter() - begin
        rss = after.ru_maxrss / 1024
    print(
        f"backfill: {total / 1e6:.0f} MB, {total / 1e6 / spent:.0f} MB/s of CPU, {total / 1e6 / wall:.0f} MB/s of wall "
        f"time (budget >= 60), bare parse {total / 1e6 / baseline:.0f} MB/s, {spent / baseline:.1f} times the bare "
        f"parse, peak memory {rss:.0f} MB (budget <= 80), second run {again:.2f} s"
    )


class Watching:
    """A watcher process on a state directory of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.process = subprocess.Popen([*COMMAND, str(root), "watch"])

    def __enter__(self) -> Self:
        report = self.root / "sessions" / "states" / "watcher.json"
        while not report.exists():
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def write_line(path: Path, number: int, text: str) -> None:
    head: dict[str, Any] = {"type": "message", "id": f"{number:08x}", "parentId": f"{number - 1:08x}"}
    stamp = f"2026-09-21T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    record = {**head, "timestamp": stamp, "message": {"role": "user", "content": text}}
    with path.open("ab") as file:
        file.write(json.dumps(record).encode() + b"\n")


def begin_session(root: Path, number: int = 0) -> Path:
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id(number)}.jsonl"
    header = {"type": "session", "version": 3, "id": session_id(number), "timestamp": "2026-09-21T00:00:00.000Z"}
    path.write_bytes(json.dumps(header).encode() + b"\n")
    write_line(path, 1, "look at the antenna")
    return path


def latency() -> None:
    """From an append to the transcript until our log has grown."""
    with tempfile.TemporaryDirectory() as folder:
        path = begin_session(Path(folder))
        log = Path(folder) / "sessions" / "states" / f"{session_id(0)}.jsonl"
        with Watching(Path(folder)):
            times = []
            for number in range(2, 102):
                before = log.stat().st_size
                begin = time.perf_counter()
                write_line(path, number, f"TODO: paint the windmill number {number}")
                while log.stat().st_size == before:
                    time.sleep(0.0005)
                times.append((time.perf_counter() - begin) * 1000)
                time.sleep(0.2)
    times.sort()
    print(
        f"latency: append to durable state p50 {statistics.median(times):.0f} ms (budget <= 25), "
        f"p99 {times[98]:.0f} ms (budget <= 250), {len(times)} appends"
    )


def burst() -> None:
    """20,000 lines as fast as they can be written, over ten transcripts."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        paths = [begin_session(root, number) for number in range(10)]
        with Watching(root) as watching:
            begin = time.perf_counter()
            for number in range(2, 2002):
                for path in paths:
                    write_line(path, number, f"look at the windmill number {number % 50}")
            written = time.perf_counter() - begin
            states = root / "sessions" / "states"
            while any(b"T00:33:21" not in (states / f"{session_id(n)}.jsonl").read_bytes() for n in range(10)):
                time.sleep(0.01)
            done = time.perf_counter() - begin
            updates = sum((states / f"{session_id(n)}.jsonl").read_bytes().count(b"\n") for n in range(10))
            used = watching.cpu()
    print(
        f"burst: 20,000 lines written in {written:.1f} s, all durable {done - written:.2f} s later, "
        f"{updates} records for them, {used:.1f} s of CPU since the start"
    )


def idle() -> None:
    """What it costs to wait, with many transcripts there."""
    files = int(os.environ.get("JSONLSTORE_BENCH_FILES", "1000"))
    seconds = 30
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(files):
            begin_session(root, number)
        subprocess.run([*COMMAND, str(root), "backfill"], check=True, stdout=subprocess.DEVNULL)
        with Watching(root) as watching:
            time.sleep(10)
            before = watching.cpu()
            time.sleep(seconds)
            used = watching.cpu() - before
            rss = watching.rss()
    print(
        f"idle: {files} transcripts, {100 * used / seconds:.2f} % of one CPU over {seconds} s (budget <= 1), "
        f"{rss:.0f} MB (budget <= 60)"
    )


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["backfill", "latency", "burst", "idle"]
    for name in wanted:
        {"backfill": backfill, "latency": latency, "burst": burst, "idle": idle}[name]()
