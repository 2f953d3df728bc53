"""Restore, scoring, decay, capture and the cold hook, each as a ratio to a baseline measured in the same run.

pytest tests/benchmarks/test_continuity_bench.py --benchmark-only -s
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.model import PendingTask, SessionState
from jsonlstore.core.paths import StatePaths
from jsonlstore.restore.manager import SessionPersistenceManager
from jsonlstore.restore.result import RestoreRequest
from jsonlstore.restore.score import ContextScorer, DecayEngine
from jsonlstore.store.index_text import serialise
from jsonlstore.store.projection import project_log
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 11, 12, 12, tzinfo=UTC)
BUDGET_MS = {50: 30, 1_000: 60, 10_000: 250}


def populate(root: Path, count: int) -> SessionStore:
    """`count` ended sessions of the last seven days, written as the store would, but without syncing each."""
    store = SessionStore(StatePaths.of(root), clock=lambda: NOW)
    store.prepare()
    entries = {}
    for number in range(count):
        end = NOW - timedelta(hours=7 * 24 * number / count + 0.1)
        session_id = f"{number:08x}-1111-4222-8333-123456789abc"
        state = SessionState(
            session_id,
            format_time(end - timedelta(minutes=30)),
            hot_topics=(f"topic{number % 40}", "ham radio", f"word{number}"),
        )
        fields = {
            "start_time": state.start_time,
            "channel": "cli",
            "hot_topics": list(state.hot_topics),
            "active_projects": ["lbf-ham-radio"],
            "pending_tasks": [{"task_id": f"task-{number:03d}", "title": "Add CAT control", "stage": "build"}],
            "working_memory": [{"content": "38400 baud", "pinnedAt": format_time(end), "label": f"pin {number}"}],
            "recent_learnings": [f"mem-{number}"],
        }
        events = [
            {"seq": 1, "at": state.start_time, "type": "session.started", "by": "hook",
             "data": {"session_id": session_id, "schema_version": 1, "fields": fields}},
            {"seq": 2, "at": format_time(end), "type": "session.ended", "by": "hook",
             "data": {"end_time": format_time(end), "reason": "new", "fields": {}}},
        ]  # fmt: skip
        log = store.paths.log(session_id)
        log.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
        entry = project_log(store.open_log(log), session_id)
        assert entry is not None
        entries[session_id] = entry
    store.paths.index.write_bytes(serialise(entries))
    return store


def percentiles(work: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Median and 95th percentile of `work` in milliseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), sorted(times)[max(0, int(len(times) * 0.95) - 1)]


def cpu_ms(work: Callable[[], Any], rounds: int) -> float:
    """Median CPU time of `work` in milliseconds, that of its child processes included: steadier on a busy machine."""

    def used() -> float:
        both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(one.ru_utime + one.ru_stime for one in both) * 1000

    marks = [used()]
    for _ in range(rounds):
        work()
        marks.append(used())
    return statistics.median(after - before for before, after in pairwise(marks))


def synced_write(root: Path) -> Callable[[], None]:
    """The baseline of everything that writes: one synced append of 1 KB."""

    def write() -> None:
        fd = os.open(root / "baseline", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, b"x" * 1024)
        os.fsync(fd)
        os.close(fd)

    return write


def report(name: str, median: float, p95: float, baseline: float, budget: float) -> None:
    print(
        f"\n{name}: median {median:.2f} ms, p95 {p95:.2f} ms, budget {budget:g} ms; "
        f"{median / baseline:.1f}x the baseline of {baseline:.3f} ms"
    )


@pytest.mark.parametrize("count", [50, 1_000, 10_000])
def test_restore(benchmark: Any, tmp_path: Path, count: int) -> None:
    store = populate(tmp_path, count)
    baseline, _ = percentiles(synced_write(tmp_path), 20)
    numbers = iter(range(10_000))

    def start() -> None:
        fresh = SessionPersistenceManager(
            SessionStore(store.paths, clock=lambda: NOW), Config(restore_budget_ms=10_000)
        )
        context = fresh.on_session_start(f"new-{next(numbers)}", "cli", prompt="topic3 radio")
        assert len(context.session_ids) in (3, 4)  # and the one that handed over, if it is none of them

    start()
    benchmark.pedantic(start, rounds=10)
    median, p95 = percentiles(start, 10)
    report(f"restore, {count} sessions", median, p95, baseline, BUDGET_MS[count])
    print(f"  {cpu_ms(start, 9):.1f} ms of CPU time")
    fresh = SessionPersistenceManager(SessionStore(store.paths, clock=lambda: NOW))
    median, p95 = percentiles(lambda: fresh.preview(RestoreRequest("x", "cli", prompt="topic3")), 10)
    report(f"lookback and score, {count} sessions", median, p95, baseline, 50)


def test_score_all_50(benchmark: Any) -> None:
    sessions = [
        SessionState(
            f"s{n}", format_time(NOW), format_time(NOW - timedelta(hours=n)),
            hot_topics=tuple(f"t{m}" for m in range(n, n + 20)), pending_tasks=(PendingTask("t"),),
        )
        for n in range(50)
    ]  # fmt: skip
    words = {"keywords": [f"t{n}" for n in range(0, 60, 3)]}
    benchmark(ContextScorer.score_all, sessions, words, now=NOW)
    median, p95 = percentiles(lambda: ContextScorer.score_all(sessions, words, now=NOW), 200)
    loop, _ = percentiles(lambda: [n * n for n in range(1000)], 200)
    report("score_all(50)", median, p95, loop, 100)


def test_1000_decays(benchmark: Any) -> None:
    def decays() -> None:
        for hours in range(1000):
            DecayEngine.apply_decay(0.8, hours)

    benchmark(decays)
    median, p95 = percentiles(decays, 200)
    loop, _ = percentiles(lambda: [n * n for n in range(1000)], 200)
    report("1,000 decays", median, p95, loop, 1)


def test_capture(benchmark: Any, tmp_path: Path) -> None:
    store = populate(tmp_path, 50)
    baseline, _ = percentiles(synced_write(tmp_path), 20)
    manager = SessionPersistenceManager(store, Config(restore_budget_ms=10_000))
    fields = {
        "hot_topics": [f"topic {n}" for n in range(20)],
        "pending_tasks": [{"task_id": f"task-{n}", "title": "Add CAT control", "stage": "build"} for n in range(10)],
        "working_memory": [{"content": "x" * 400, "label": f"pin {n}"} for n in range(10)],
        "recent_learnings": [f"mem-{n}" for n in range(50)],
    }
    numbers = iter(range(10_000))

    def end() -> None:
        manager.on_session_end(f"capture-{next(numbers)}", **fields)

    end()
    benchmark.pedantic(end, rounds=15)
    median, p95 = percentiles(end, 15)
    report("capture at session end", median, p95, baseline, 50)


def test_cold_hook(benchmark: Any, tmp_path: Path) -> None:
    """Beside a bare interpreter and one that loads only what a store cannot do without, in turns with both."""
    populate(tmp_path, 50)
    script = Path(sys.executable).with_name("jsonlstore")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "jsonlstore"]
    call = [*program, "--state-dir", str(tmp_path), "hook", "session-start"]
    numbers = iter(range(10_000))
    # an installed package has its bytecode beside it, whatever the settings of whoever measures
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}

    def python(statement: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", statement], check=True, env=env)

    def hook() -> None:
        document = {
            "session_id": f"cold-{next(numbers)}",
            "channel": "cli",
            "prompt": "radio",
            "cwd": "/home/u/Projects/x",
        }
        stdin = json.dumps(document).encode()
        subprocess.run([*call, "--now", format_time(NOW)], input=stdin, stdout=subprocess.DEVNULL, check=True, env=env)

    programs = {
        "hook": hook,
        "python -c pass": python("pass"),
        "python -c 'import orjson, filelock'": python("import orjson, filelock"),
    }
    for run in programs.values():
        run()
    benchmark.pedantic(hook, rounds=8)
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(20):
        for name, run in programs.items():
            times[name].append(percentiles(run, 1)[0])
    found = sorted(times.pop("hook"))
    middle = statistics.median(found)
    print(f"\ncold hook session-start, 50 sessions: median {middle:.1f} ms, best {found[0]:.1f} ms, budget 150 ms")
    for name, other in times.items():
        print(
            f"  {middle / statistics.median(other):.2f}x {name} (median {statistics.median(other):.1f} ms); "
            f"{found[0] / min(other):.2f}x best to best"
        )
    used = {name: cpu_ms(run, 15) for name, run in programs.items()}
    beside = " / ".join(f"{used['hook'] / used[name]:.2f}x {name}" for name in times)
    print(f"  {used['hook']:.1f} ms of CPU time: {beside}")
