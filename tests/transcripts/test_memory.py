"""Reading is lazy and bounded: its memory does not grow with the transcript."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

READ = """
import sys
from pathlib import Path
from jsonlstore.transcripts.openclaw.jsonl import JsonlSource
from jsonlstore.transcripts.source import Transcript
path = Path(sys.argv[1])
source = JsonlSource(path.parent.parent)
counts = {}
for entry in source.read(Transcript("main", "jsonl", path, "s")):
    counts[str(entry.speaker)] = counts.get(str(entry.speaker), 0) + 1
# not ru_maxrss: that one remembers the parent's peak from before exec
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(peak, sum(counts.values()), counts["tool"], counts["user"])
"""
LINE = 10_000_000
BOUND = 100_000_000


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")
@pytest.mark.parametrize("megabytes", [60, pytest.param(400, marks=pytest.mark.slow)], ids=["short form", "400 MB"])
def test_a_long_transcript_with_10_mb_lines_is_read_in_under_100_mb(
    tmp_path: Path, make: ModuleType, megabytes: int
) -> None:
    path = tmp_path / "main" / "sessions" / "s.jsonl"
    path.parent.mkdir(parents=True)
    image = [{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": "QUJD" * (LINE // 4)}]
    turns = megabytes * 1_000_000 // (2 * LINE)
    with path.open("wb") as file:
        file.write(make.dump(make.Talk("s").records[0]))
        for _ in range(turns):
            file.write(make.dump(make.Talk("s").user(image).records[-1]))
            file.write(make.dump(make.Talk("s").result("output\n" * (LINE // 8)).records[-1]))
    done = subprocess.run([sys.executable, "-c", READ, path], capture_output=True, text=True, check=True)
    peak, entries, tools, users = map(int, done.stdout.split())
    assert (entries, tools, users) == (2 * turns + 1, turns, turns)
    assert peak * 1024 < BOUND
