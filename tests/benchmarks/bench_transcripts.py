"""Full read with classification against a bare loop over the same bytes, in the same run.

python tests/benchmarks/bench_transcripts.py            (JSONLSTORE_BENCH_MB=200 for the long form)
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.transcripts.lines import zstd_module
from jsonlstore.transcripts.openclaw import DATABASE
from jsonlstore.transcripts.openclaw.jsonl import JsonlSource
from jsonlstore.transcripts.openclaw.sqlite import SqliteSource
from jsonlstore.transcripts.source import Transcript, TranscriptSource

sys.path.insert(0, str(Path(__file__).parent))
import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 7


def bare_jsonl(path: Path) -> int:
    with path.open("rb", buffering=1 << 20) as file:
        return sum(1 for line in file if orjson.loads(line))


def bare_sqlite(path: Path) -> int:
    decompress = zstd_module().decompress
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    rows = database.execute("SELECT event_json, event_zstd FROM transcript_events WHERE session_id = 's' ORDER BY seq")
    count = sum(1 for text, blob in rows if orjson.loads(text if blob is None else decompress(blob)))
    database.close()
    return count


def classified(source: TranscriptSource, transcript: Transcript) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for entry in source.read(transcript):
        speaker = entry.speaker
        counts[speaker] = counts.get(speaker, 0) + 1
    return counts


def best(*runs: Callable[[], Any]) -> list[float]:
    """The best CPU time of some rounds of each, taken in turns so that noise hits all alike."""
    times = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for number, run in enumerate(runs):
            begin = time.process_time()
            run()
            times[number] = min(times[number], time.process_time() - begin)
    return times


def main() -> None:
    size = corpus.wanted_bytes()
    with tempfile.TemporaryDirectory() as folder:
        agent = Path(folder) / "main"
        file = agent / "sessions" / "s.jsonl"
        written = corpus.write_jsonl(file, size)
        stored = corpus.write_database(agent / DATABASE, size)
        jsonl, sqlite = JsonlSource(agent), SqliteSource(agent)
        live = Transcript("main", "jsonl", file, "s")
        rows = Transcript("main", "sqlite", agent / DATABASE, "s")
        assert sum(classified(jsonl, live).values()) == bare_jsonl(file)
        assert sum(classified(sqlite, rows).values()) == bare_sqlite(agent / DATABASE)
        for name, total, bare, ours in (
            ("jsonl", written, lambda: bare_jsonl(file), lambda: classified(jsonl, live)),
            ("sqlite", stored, lambda: bare_sqlite(agent / DATABASE), lambda: classified(sqlite, rows)),
        ):
            baseline, measured = best(bare, ours)
            rate = total / 1e6
            print(
                f"{name}: {rate:.0f} MB, bare loop {rate / baseline:.0f} MB/s, read and classify "
                f"{rate / measured:.0f} MB/s, ratio {baseline / measured:.2f} (budget >= 0.80)"
            )


if __name__ == "__main__":
    main()
