"""The watcher's costs: backfill of both eras against the bare parse of the same bytes, and what it costs to wait.

python tests/benchmarks/bench_watch.py [--mb 200] [--files 5000] [PART...]

Parts: jsonl, sqlite, real, talk, small, many, again, agentsview, large, latency, burst, idle; without any, all of
them. Backfills of jsonl, sqlite, real and talk run twice, without the search index (which the budgets are for) and with
it. Times are
those of this run and this machine; the ratio to the baseline of the same run says more. `agentsview` is compared with
where `AGENTSVIEW` names its program or it is on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import orjson

sys.path.insert(0, str(Path(__file__).parent))
import corpus
import history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = [sys.executable, "-m", "jsonlstore", "-q", "--state-dir"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took: `rss` of its largest process, `together` of all its processes, shared pages counted once."""

    wall: float
    cpu: float
    rss: float
    together: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    beside: str = ""
    budget: str = ""


def run(command: list[str], **env: str) -> Cost:
    """Run a process to its end."""
    given = {**os.environ, **env}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL)
    memory = _Memory(process.pid)
    memory.start()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    memory.over.set()
    memory.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, memory.peak)


class _Memory(threading.Thread):
    """Looks a few times a second how much memory a process and those it started hold together."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.over = threading.Event()
        self.peak = 0.0

    def run(self) -> None:
        while not self.over.wait(0.1):
            self.peak = max(self.peak, sum(map(self._held, [self._pid, *self._children()])) / 1024)

    def _children(self) -> list[int]:
        try:
            return [int(one) for one in Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()]
        except OSError:  # it has ended
            return []

    @staticmethod
    def _held(pid: int) -> int:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def bare(lines: Callable[[], Iterator[bytes]]) -> float:
    """CPU seconds of parsing every record and nothing else, the better of two."""
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        for line in lines():
            orjson.loads(line)
        best = min(best, time.process_time() - begin)
    return best


def backfill(
    what: str, root: Path, size: int, lines: Callable[[], Iterator[bytes]], budget: str = ">= 60 MB/s, <= 80 MB"
) -> list[Row]:
    """A backfill without the search index, which the budget is for, and one with it."""
    baseline = bare(lines)
    megabytes = size / 1e6
    plain = _backfilled(root, search=False)
    searchable = _backfilled(root, search=True)
    parsed = f"{plain.cpu / baseline:.1f}x a bare parse ({megabytes / baseline:.0f} MB/s)"
    return [
        Row(f"backfill, {what}, {megabytes:.0f} MB", _speed(megabytes, plain), parsed, budget),
        Row(
            "the same with the search index",
            _speed(megabytes, searchable),
            f"{searchable.cpu / plain.cpu:.2f}x the CPU time without",
            "<= 2x",
        ),
    ]


def _backfilled(root: Path, *, search: bool) -> Cost:
    """A backfill into an empty store."""
    shutil.rmtree(root / "sessions", ignore_errors=True)
    settings = root / "settings.json"
    settings.write_text(json.dumps({"search": {"enabled": search}}))
    return run([*COMMAND, str(root), "--config", str(settings), "backfill"])


def _speed(megabytes: float, cost: Cost) -> str:
    rates = f"{megabytes / cost.wall:.0f} MB/s wall, {megabytes / cost.cpu:.0f} MB/s of CPU time"
    return f"{rates}, {cost.rss:.0f} MB of memory ({max(cost.rss, cost.together):.0f} MB in all processes)"


def jsonl(size: int, folder: Path) -> list[Row]:
    written = history.write_files(folder, size, sessions=20)
    return backfill("tool-heavy, JSONL, 20 sessions", folder, written, lambda: history.lines_of_files(folder))


def sqlite(size: int, folder: Path) -> list[Row]:
    written = history.write_rows(folder, size, sessions=20)
    return backfill("tool-heavy, SQLite, 20 sessions", folder, written, lambda: history.lines_of_rows(folder))


def real(size: int, folder: Path) -> list[Row]:
    """Sessions in the proportions of real ones, and `agentsview sync` of the same files."""
    each = 700_000
    written = history.write_sessions(folder, (corpus.real_records(each, seed) for seed in range(max(1, size // each))))
    rows = backfill("real proportions", folder, written, lambda: history.lines_of_files(folder), ">= 20 MB/s, <= 80 MB")
    return [*rows, *_beside_agentsview(folder, written, _backfilled(folder, search=False))]


def talk(size: int, folder: Path) -> list[Row]:
    """A tenth of the size in sessions of nothing but talk."""
    each = 50_000
    count = max(1, size // 10 // each)
    written = history.write_sessions(folder, (corpus.talk_records(each, seed) for seed in range(count)))
    what = f"nothing but talk, {count} sessions"
    return backfill(what, folder, written, lambda: history.lines_of_files(folder), ">= 4 MB/s, <= 80 MB")


def small(size: int, folder: Path) -> list[Row]:
    """Sessions of 100 KB each, all ended long ago: each costs a log, an archive file and an index entry."""
    count = max(1, size // 100_000)
    written = history.write_files(folder, size, sessions=count, ended=True)
    return backfill(f"JSONL, {count} ended sessions", folder, written, lambda: history.lines_of_files(folder))


def many(files: int, folder: Path) -> list[Row]:
    """Tiny sessions: what one costs among some, and among twice as many."""
    costs: list[Cost] = []
    for count in (files, 2 * files):
        for number in range(count):
            history.begin(folder, number)
        costs.append(run([*COMMAND, str(folder), "backfill"]))
        shutil.rmtree(folder / "sessions")
    few, twice = costs
    return [
        Row(
            f"backfill, {files:,} / {2 * files:,} tiny sessions",
            f"{1000 * few.cpu / files:.2f} / {500 * twice.cpu / files:.2f} ms of CPU time each, "
            f"{few.rss:.0f} / {twice.rss:.0f} MB of memory",
            f"{twice.cpu / few.cpu:.1f}x for twice as many",
            "<= 80 MB",
        )
    ]


def again(_size: int, folder: Path) -> list[Row]:
    history.write_files(folder, 10_000_000, sessions=1000)
    run([*COMMAND, str(folder), "backfill"])
    cost = run([*COMMAND, str(folder), "backfill"])
    start = run([*COMMAND, str(folder), "config"])
    beside = f"{cost.wall / start.wall:.1f}x a command that reads the settings"
    return [Row("second backfill of 1,000 sessions", f"{cost.wall:.2f} s", beside, "< 1 s")]


def agentsview(size: int, folder: Path) -> list[Row]:
    """The tool-heavy corpus beside another program that reads it all."""
    written = history.write_files(folder, size, sessions=20)
    return _beside_agentsview(folder, written, _backfilled(folder, search=False))


def _beside_agentsview(folder: Path, written: int, ours: Cost) -> list[Row]:
    program = os.environ.get("AGENTSVIEW") or shutil.which("agentsview")
    if not program:
        return [Row("agentsview sync", "skipped: not installed (pip install agentsview, or AGENTSVIEW=path)")]
    home = folder / "home"
    home.mkdir()
    quiet = {"AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1"}
    theirs = run([program, "sync"], HOME=str(home), OPENCLAW_DIR=str(folder / "agents"), **quiet)
    megabytes = written / 1e6
    return [
        Row(
            f"`agentsview sync` of the same {megabytes:.0f} MB",
            _speed(megabytes, theirs),
            f"ours right before it: {theirs.wall / ours.wall:.1f}x as fast, {theirs.cpu / ours.cpu:.1f}x by CPU time",
            ">= 2x for real proportions",
        )
    ]


def large(size: int, folder: Path) -> list[Row]:
    """One transcript twice as large as the corpus, against one of a twentieth of that."""
    history.write_files(folder / "tenth", size // 10, sessions=1)
    history.write_files(folder / "whole", 2 * size, sessions=1)
    few = run([*COMMAND, str(folder / "tenth"), "backfill"])
    many = run([*COMMAND, str(folder / "whole"), "backfill"])
    return [
        Row(
            f"one transcript of {2 * size / 1e6:.0f} MB",
            f"{many.rss:.0f} MB of memory",
            f"{many.rss - few.rss:+.0f} MB to one of {size / 1e7:.0f} MB",
            "constant",
        )
    ]


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


def latency(_size: int, folder: Path) -> list[Row]:
    """From an append to the transcript until our log, which is synced, has grown."""
    path = history.begin(folder)
    log = folder / "sessions" / "states" / f"{history.session_id(0)}.jsonl"
    times, synced = [], []
    with Watching(folder):
        for number in range(2, 102):
            before = log.stat().st_size
            begin = time.perf_counter()
            history.append(path, number, f"TODO: paint the windmill number {number}")
            while log.stat().st_size == before:
                time.sleep(0.0005)
            times.append((time.perf_counter() - begin) * 1000)
            synced.append(_bare_append(folder / "bare"))
            time.sleep(0.2)
    times.sort()
    return [
        Row(
            "append to durable state, p50 / p99",
            f"{statistics.median(times):.0f} / {times[98]:.0f} ms",
            f"{statistics.median(times) / statistics.median(synced):.0f}x a bare write + fdatasync (p50)",
            "<= 25 / 250 ms",
        )
    ]


def _bare_append(path: Path) -> float:
    begin = time.perf_counter()
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, b"x" * 1000)
    os.fdatasync(fd)
    os.close(fd)
    return (time.perf_counter() - begin) * 1000


def burst(_size: int, folder: Path) -> list[Row]:
    """20,000 lines in about a second, over ten transcripts."""
    paths = [history.begin(folder, number) for number in range(10)]
    states = folder / "sessions" / "states"
    with Watching(folder) as watching:
        used = watching.cpu()
        begin = time.perf_counter()
        for number in range(2, 2002, 20):
            for path in paths:
                texts = [f"look at the windmill number {one % 50}" for one in range(number, number + 20)]
                history.append(path, number, *texts)
        written = time.perf_counter() - begin
        last = [states / f"{history.session_id(number)}.jsonl" for number in range(10)]
        while any(b"T00:33:21" not in path.read_bytes() for path in last):
            time.sleep(0.01)
        done = time.perf_counter() - begin
        records = sum(path.read_bytes().count(b"\n") for path in last)
        used = watching.cpu() - used
    return [
        Row(
            f"burst of 20,000 lines at {20_000 / written:,.0f} a second",
            f"all durable {done - written:.2f} s after the last, {used:.1f} s of CPU time, {records} records",
            f"{done / written:.1f}x the writing",
            "20,000 a second",
        )
    ]


def idle(files: int, folder: Path) -> list[Row]:
    """What it costs to wait, with many transcripts there."""
    seconds = 30
    for number in range(files):
        history.begin(folder, number)
    run([*COMMAND, str(folder), "backfill"])
    with Watching(folder) as watching:
        time.sleep(10)
        before = watching.cpu()
        time.sleep(seconds)
        used, rss = watching.cpu() - before, watching.rss()
    return [
        Row(
            f"waiting with {files:,} transcripts, {seconds} s",
            f"{100 * used / seconds:.2f} % of one CPU, {rss:.0f} MB",
            "",
            "<= 1 %, <= 60 MB",
        )
    ]


PARTS: dict[str, Callable[[int, Path], list[Row]]] = {
    "jsonl": jsonl,
    "sqlite": sqlite,
    "real": real,
    "talk": talk,
    "small": small,
    "many": many,
    "again": again,
    "agentsview": agentsview,
    "large": large,
    "latency": latency,
    "burst": burst,
    "idle": idle,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--mb", type=int, default=corpus.wanted_bytes() // 1_000_000, help="size of the corpus")
    parser.add_argument("--files", type=int, default=int(os.environ.get("JSONLSTORE_BENCH_FILES", "1000")))
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    wanted = parser.parse_args()
    unknown = set(wanted.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    print("| what | measured | beside | budget |\n|---|---|---|---|", flush=True)
    for name in wanted.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            size = wanted.files if name in {"idle", "many"} else wanted.mb * 1_000_000
            for row in PARTS[name](size, Path(folder)):
                rows.append(row)
                print(f"| {row.what} | {row.measured} | {row.beside} | {row.budget} |", flush=True)
    print(f"load: {' '.join(f'{one:.1f}' for one in os.getloadavg())} on {os.cpu_count()} cores", file=sys.stderr)
    if wanted.json:
        print(json.dumps([[row.what, row.measured, row.beside, row.budget] for row in rows]))


if __name__ == "__main__":
    main()
