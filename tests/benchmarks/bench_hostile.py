"""How long another session's update waits for a hostile megabyte: python -m tests.benchmarks.bench_hostile

A watcher of its own process follows two sessions. One gets a megabyte made to be slow, the other a few words just
after it; the same words alone are the measure. Both are timed by the clock from the append to the words in our log,
several times each; the table has the median of each and the longest difference, and beside it what the watcher worked
meanwhile: on a machine that others use, the clock tells of them too. The budget is 250 ms.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jsonlstore.redact import redact
from tests.redact.fuzz_time import MEGABYTE
from tests.redact.test_hostile_message import FRAGMENTS, HOSTILE, OTHER, cpu_seconds
from tests.watch.conftest import OpenClaw, line

ROUNDS = 3
BUDGET = 0.25


def append(openclaw: OpenClaw, session_id: str, *records: dict[str, object]) -> None:
    """At once, as a runtime does."""
    with openclaw.path(session_id).open("ab") as file:
        file.write(b"".join(map(line, records)))


def seconds_until(state_dir: Path, word: bytes, started: float) -> float:
    """From a moment until a word is in the other session's log."""
    logs: list[Path] = []
    while time.perf_counter() - started < 60:
        logs = logs or [path for path in state_dir.rglob(f"*{OTHER}*.jsonl") if "agents" not in path.parts]
        if any(word in path.read_bytes() for path in logs):
            return time.perf_counter() - started
        time.sleep(0.001)
    raise TimeoutError(word)


def measure(state_dir: Path) -> dict[str, tuple[float, float, float, float]]:
    """For each fragment the seconds alone, behind its megabyte, of work more than alone, and of redacting it here."""
    openclaw = OpenClaw(state_dir)
    hostile, other = openclaw.begin(HOSTILE, "antenna"), openclaw.begin(OTHER, "windmill", key="agent:main:other")
    command = [sys.executable, "-m", "jsonlstore", "-q", "--state-dir", str(state_dir), "watch"]
    found: dict[str, tuple[float, float, float, float]] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as watcher:
        seconds_until(state_dir, b"windmill", time.perf_counter())
        for number, fragment in enumerate(FRAGMENTS):
            message = (fragment * (MEGABYTE // len(fragment)))[:MEGABYTE]
            times: dict[str, list[tuple[float, float]]] = {"harbour": [], "lantern": []}
            for round_ in range(ROUNDS):
                for word, measured in times.items():
                    time.sleep(0.5)
                    said = other.turn(f"{word}{number}x{round_}")
                    record = hostile.user(message) if word == "lantern" else None
                    started, worked = time.perf_counter(), cpu_seconds(watcher.pid)
                    if record:
                        append(openclaw, HOSTILE, record)
                    append(openclaw, OTHER, *said)
                    took = seconds_until(state_dir, f"{word}{number}x{round_}".encode(), started)
                    measured.append((took, cpu_seconds(watcher.pid) - worked))
            (alone, work_alone), (behind, work_behind) = (
                (statistics.median(clock for clock, _ in one), statistics.median(work for _, work in one))
                for one in times.values()
            )
            began = time.process_time()
            redact(message)
            found[fragment] = alone, behind, work_behind - work_alone, time.process_time() - began
        watcher.terminate()
    return found


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder) / "openclaw")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; medians of {ROUNDS}, in ms")
    print(f"{'a megabyte of':28} {'alone':>8} {'behind it':>10} {'delay':>8} {'work':>8} {'redact, MB/s':>13}")
    for fragment, (alone, behind, work, took) in found.items():
        clock = f"{alone * 1e3:8.0f} {behind * 1e3:10.0f} {(behind - alone) * 1e3:8.0f}"
        print(f"{fragment!r:28} {clock} {work * 1e3:8.0f} {1 / max(took, 1e-6):13.1f}")
    longest = max(behind - alone for alone, behind, *_ in found.values())
    print(f"longest delay {longest * 1e3:.0f} ms, budget {BUDGET * 1e3:.0f} ms")
    return 1 if longest > BUDGET else 0


if __name__ == "__main__":
    sys.exit(main())
