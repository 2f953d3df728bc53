"""Signals and redaction over a whole transcript, against a bare parse of the same bytes in the same run.

python tests/benchmarks/bench_signals.py            (JSONLSTORE_BENCH_MB=200 for the long form)
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.signals.distil import Distiller
from jsonlstore.signals.session_signals import Signals
from jsonlstore.transcripts.records import parse_entry

sys.path.insert(0, str(Path(__file__).parent))
import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3


def bare(path: Path) -> int:
    with path.open("rb", buffering=1 << 20) as file:
        return sum(1 for line in file if orjson.loads(line))


def distilled(path: Path) -> Signals:
    distiller = Distiller()
    position = 0
    with path.open("rb", buffering=1 << 20) as file:
        for line in file:
            entry = parse_entry(line, position)
            position += len(line)
            if entry:
                distiller.feed(entry)
    return distiller.result()


def small_sessions(size: int) -> list[list[bytes]]:
    """Sessions of 20 to 100 KB, about `size` bytes of them: what a backfill mostly meets."""
    chance = random.Random(3)
    sessions: list[list[bytes]] = []
    while sum(sum(map(len, lines)) for lines in sessions) < size:
        sessions.append(list(corpus.records(chance.randrange(20_000, 100_000), seed=len(sessions))))
    return sessions


def talk(messages: int) -> list[bytes]:
    """A session of nothing but talk, every sentence of which may tell something: the worst there is."""
    chance = random.Random(4)
    said = corpus.sentences()
    lines = []
    for number in range(messages):
        text = " ".join(chance.sample(said, chance.randrange(1, 9)))
        role = ("user", "assistant")[number % 2]
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        stamp = f"2026-09-21T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        links = {"id": f"{number + 1:08x}", "parentId": f"{number:08x}" if number else None}
        lines.append(orjson.dumps({"type": "message", **links, "timestamp": stamp, "message": message}))
    return lines


def distilled_each(sessions: list[list[bytes]]) -> int:
    """Every session by itself, from its first record to its signals."""
    topics = 0
    for lines in sessions:
        distiller = Distiller()
        for line in lines:
            entry = parse_entry(line, 0)
            if entry:
                distiller.feed(entry)
        topics += len(distiller.result().hot_topics)
    return topics


def best(*runs: Callable[[], Any]) -> list[float]:
    """The best CPU time of some rounds of each, taken in turns so that noise hits all alike."""
    times = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for number, run in enumerate(runs):
            begin = time.process_time()
            run()
            times[number] = min(times[number], time.process_time() - begin)
    return times


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    size = corpus.wanted_bytes()
    with tempfile.TemporaryDirectory() as folder:
        small, whole = Path(folder) / "small.jsonl", Path(folder) / "whole.jsonl"
        corpus.write_jsonl(small, size // 10)
        written = corpus.write_jsonl(whole, size)
        distilled(small)
        after_small = _peak()
        distilled(whole)
        grown = _peak() - after_small
        baseline, measured = best(lambda: bare(whole), lambda: distilled(whole))
    print(
        f"signals: {written / 1e6:.0f} MB, bare parse {written / 1e6 / baseline:.0f} MB/s, signals and redaction "
        f"{written / 1e6 / measured:.0f} MB/s (budget >= 60), {measured / baseline:.1f} times the bare parse; "
        f"peak memory {after_small:.0f} MB after a tenth, {grown:+.0f} MB after the whole"
    )
    sessions = small_sessions(min(size, 10_000_000))
    total = sum(sum(map(len, lines)) for lines in sessions)
    parsed, each = best(
        lambda: [orjson.loads(line) for lines in sessions for line in lines], lambda: distilled_each(sessions)
    )
    print(
        f"many small sessions: {len(sessions)} of {total / len(sessions) / 1e3:.0f} KB, {total / 1e6 / each:.0f} MB/s, "
        f"{each / len(sessions) * 1e3:.2f} ms a session, {each / parsed:.1f} times the bare parse"
    )
    real = [list(corpus.real_records(700_000, seed)) for seed in range(max(1, min(size, 10_000_000) // 700_000))]
    total = sum(sum(map(len, lines)) for lines in real)
    parsed, each = best(lambda: [orjson.loads(line) for lines in real for line in lines], lambda: distilled_each(real))
    print(
        f"real proportions: {len(real)} sessions, {total / 1e6 / each:.0f} MB/s (budget >= 20), "
        f"{each / parsed:.0f} times the bare parse of {total / 1e6 / parsed:.0f} MB/s"
    )
    lines = talk(min(2_000, size // 1_000))
    total = sum(map(len, lines))
    parsed, telling = best(lambda: [orjson.loads(line) for line in lines], lambda: distilled_each([lines]))
    print(
        f"nothing but telling talk: {len(lines)} messages of {total / len(lines):.0f} bytes, "
        f"{telling / len(lines) * 1e6:.0f} us a message, {total / 1e6 / telling:.1f} MB/s, "
        f"{telling / parsed:.0f} times the bare parse"
    )


if __name__ == "__main__":
    main()
