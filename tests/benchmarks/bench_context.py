"""What the context window costs: a checkpoint after a turn, the provider's answer, and a turn in which nothing is due.

python -m tests.benchmarks.bench_context [MEGABYTES]
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.context import make_checkpoint
from jsonlstore.core.config import Config
from jsonlstore.signals import Distiller
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import parse_entry
from jsonlstore.watch import Watcher
from tests.benchmarks.corpus import real_records, records, talk_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "agent:main:main"
ROUNDS = 20
CORPORA: dict[str, Callable[[int], Iterator[bytes]]] = {
    "tool-heavy": records,
    "real proportions": real_records,
    "pure talk": talk_records,
}


class Cost(NamedTuple):
    """Milliseconds on the clock, and of a processor: only the latter means anything on a busy machine."""

    wall: float
    cpu: float


def p95(found: list[float]) -> float:
    return sorted(found)[int(len(found) * 0.95)]


def home_with(lines: list[bytes]) -> tuple[Path, str]:
    """A state directory whose one session has a transcript of these lines, followed once, with a checkpoint."""
    root = Path(tempfile.mkdtemp(prefix="bench-context-"))
    sid = str(json.loads(lines[0])["id"])
    sessions = root / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    ours = {"handoff_enabled": False, "session": {"checkpoint": {"minTokensForGen": 0, "turnThreshold": 1}}}
    (root / "openclaw.json").write_text(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": ours}}}}))
    (sessions / "sessions.json").write_text(json.dumps({KEY: {"sessionId": sid, "contextTokens": 200_000}}))
    (sessions / f"{sid}.jsonl").write_bytes(b"".join(one if one.endswith(b"\n") else one + b"\n" for one in lines))
    return root, sid


def turn(number: int, parent: str | None, at: int) -> list[bytes]:
    """One more turn, of 150,000 tokens, in the times OpenClaw writes."""
    told = []
    for offset, role in enumerate(("user", "assistant")):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at + offset))
        message: dict[str, Any] = {
            "role": role,
            "content": [{"type": "text", "text": f"step {number}: tune antenna {number} in src/tuner_{number}.py"}],
            "timestamp": (at + offset) * 1000,
        }
        if role == "assistant":
            message |= {"stopReason": "stop", "usage": {"input": 150_000, "output": 10, "totalTokens": 150_010}}
        record = {"type": "message", "id": f"z{number:05}{offset}", "parentId": parent, "timestamp": stamp}
        parent = record["id"]
        told.append(json.dumps({**record, "message": message}, separators=(",", ":")).encode() + b"\n")
    return told


def checkpoints(lines: list[bytes]) -> list[Cost]:
    """Milliseconds of distilling and making a checkpoint of a session that is followed, after each of some turns."""
    distiller, found, last = Distiller(), [], None
    for position, line in enumerate(lines):
        entry = parse_entry(line, position)
        if entry is not None:
            distiller.feed(entry)
            last = entry.id or last
    for number in range(ROUNDS):
        for line in turn(number, last, 1_900_000_000 + 10 * number):
            entry = parse_entry(line, 0)
            assert entry is not None
            distiller.feed(entry)
            last = entry.id
        started, used = time.perf_counter(), time.process_time()
        signals = distiller.result()  # the turn's update, made in any case
        make_checkpoint(signals, distiller.facts(), 150_000)
        found.append(Cost((time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000))
    return found


def answers(root: Path, sid: str, lines: list[bytes]) -> list[Cost]:
    """Milliseconds from asking for a summary to having it, each in a new process as the plugin starts it."""
    path = root / "agents" / "main" / "sessions" / f"{sid}.jsonl"
    at = 1_900_000_000
    last = next((entry.id for line in reversed(lines) if (entry := parse_entry(line, 0)) and entry.id), None)
    with path.open("ab") as file:
        file.writelines(turn(0, last, at))
    store = SessionStore.open(root)
    Watcher(store, Config()).once()
    assert store.events(sid, ("checkpoint.created",)), "no checkpoint was made"
    with path.open("ab") as file:
        file.writelines(turn(1, "z000001", at + 10))
    document = {"session_id": sid, "session_key": KEY, "agent_id": "main", "seen": [at * 1000, (at + 10) * 1000]}
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(root), "hook", "compact"]
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdin
        assert child.stdout
        child.stdin.write(json.dumps(document).encode())
        child.stdin.close()
        answer = json.loads(child.stdout.readline())
        wall = (time.perf_counter() - started) * 1000
        _, _, used = os.wait4(child.pid, 0)  # what it does after its answer counts here, too
        child.returncode = 0
        found.append(Cost(wall, (used.ru_utime + used.ru_stime) * 1000))
        assert answer["from_checkpoint"] is True, answer
    return found


def bare_python() -> list[Cost]:
    """A Python that only imports what every hook call does."""
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-c", "import orjson, filelock"])
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
        found.append(Cost((time.perf_counter() - started) * 1000, (used.ru_utime + used.ru_stime) * 1000))
    return found


def plugin_turns() -> dict[str, list[float]]:
    """Milliseconds of the plugin in a turn of a session of 2,000 messages in which nothing is due."""
    node = shutil.which("node")
    if node is None:
        return {}
    script = Path(__file__).parents[1] / "openclaw" / "js" / "turn_cost.mjs"
    done = subprocess.run([node, str(script)], capture_output=True, text=True, check=True, env=os.environ)
    told: dict[str, list[float]] = json.loads(done.stdout)
    return told


def show(what: str, corpus: str, found: list[Cost], budget: str) -> None:
    wall, cpu = [one.wall for one in found], [one.cpu for one in found]
    figures = (statistics.median(wall), p95(wall), statistics.median(cpu), p95(cpu))
    print(f"| {what} | {corpus} | {' | '.join(f'{one:.1f}' for one in figures)} | {budget} |", flush=True)


def main(megabytes: int) -> None:
    print("| what | corpus | wall p50 ms | wall p95 | CPU p50 | CPU p95 | budget |\n|---|---|---|---|---|---|---|")
    for name, make in CORPORA.items():
        lines = list(make(megabytes * 1_000_000))
        found = checkpoints(lines)
        show("checkpoint after a turn", f"{name}, {megabytes} MB", found, "150")
        root, sid = home_with(lines)
        found = answers(root, sid, lines)
        show("provider's answer, cold", f"{name}, {megabytes} MB", found, "300 (p95)")
        shutil.rmtree(root)
    show("beside it: a bare Python", "", bare_python(), "")
    told = plugin_turns()
    if told:
        show(
            "plugin, a turn without anything due",
            "2,000 messages",
            [Cost(one, one) for one in told["times"]],
            "5 (p50)",
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
