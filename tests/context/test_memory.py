"""A session of any length is appended to, read, loaded from its end and carried over in constant memory."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

WORK = """
import sys
from pathlib import Path
from jsonlstore.context import TranscriptStore
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.core.files import Disk

root, megabytes = Path(sys.argv[1]), int(sys.argv[2])
fast = Disk(sync=False)

def message(role, content):
    return {"type": "message", "message": {"role": role, "content": content}}

def big(text):  # tool output, as most of a long session is
    return {"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "exec",
            "content": [{"type": "text", "text": text}], "isError": False}}

files = TranscriptStore.open(root, {"store": "jsonl"}, disk=fast)
text = "output of a tool, as it comes\\n" * 33_000  # a megabyte
for number in range(megabytes):
    first = files.append(None, message("user", f"question {number}"))
    files.append(None, big(text))
    if number % 20 == 19:
        files.append(None, {"type": "compaction", "summary": "so far", "firstKeptEntryId": first, "tokensBefore": 9})
database = TranscriptStore.open(root, {"store": "sqlite"}, disk=fast)
told = migrate_transcripts(files.backend, database.backend)
counts = []
for store in (files, database):
    size = lines = 0
    for line in store.read():
        size, lines = size + len(line), lines + 1
    session, end = store.load(), store.load(last=4)
    counts += [size, lines, len(session.messages), len(end.messages), len(store.list())]
    store.append(None, message("user", "the end"))
database.close()
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(peak, told.bytes, *counts)
"""
BOUND = 160_000_000


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")
@pytest.mark.parametrize("megabytes", [60, pytest.param(400, marks=pytest.mark.slow)], ids=["short form", "400 MB"])
def test_a_long_session_in_constant_memory(tmp_path: Path, megabytes: int) -> None:
    """Every operation on either backend, one process, one peak."""
    command = [sys.executable, "-c", WORK, tmp_path, str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, size, *counts = map(int, done.stdout.split())
    assert size > megabytes * 950_000
    records = 1 + 2 * megabytes + megabytes // 20
    # since the last compaction: its summary, the question it kept from and that one's output
    kept = 3 + 2 * (megabytes % 20)
    assert counts == [size - records, records, kept, min(4, kept), 1] * 2
    assert peak * 1024 < BOUND
