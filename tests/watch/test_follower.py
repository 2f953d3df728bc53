"""A file that merely grew is told from one that was written over as well."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.options import SignalOptions
from jsonlstore.transcripts.openclaw.files import imprint
from jsonlstore.transcripts.openclaw.jsonl import JsonlSource, open_file
from jsonlstore.transcripts.session import RecordedSession
from jsonlstore.watch.follower import Follower

if TYPE_CHECKING:
    from jsonlstore.transcripts.source import Cursor, Reading, Transcript

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z"}\n'


class FailingDisk(JsonlSource):
    """A source on a disk that gives up in the middle of every file."""

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = super().read(transcript, after)
        first = next(iter(reading))
        reading.problems.append("cannot read the rest: Input/output error")
        return reading.deliver(iter([first]))


def test_an_older_copy_that_was_read_in_part_is_a_problem(tmp_path: Path) -> None:
    """Without it the session would count as read, and nobody would come back for the rest."""
    archived, live = tmp_path / "s.jsonl.reset.2026-01-01T01-00-00.000Z", tmp_path / "s.jsonl"
    for path in (archived, live):
        path.write_bytes(HEADER)
    source, newest = open_file(live)
    _, older = open_file(archived)
    follower = Follower("s", SignalOptions())
    while not follower.advance(
        RecordedSession("main", "s", ((FailingDisk(tmp_path), older), (source, newest))), float("inf")
    ):
        continue
    assert follower.problems == ["cannot read the rest: Input/output error"]


@given(st.binary(min_size=1, max_size=2000), st.data())
def test_no_byte_of_a_small_file_changes_unseen(data: bytes, drawn: st.DataObject) -> None:
    at = drawn.draw(st.integers(0, len(data) - 1))
    other = drawn.draw(st.integers(0, 255).filter(lambda byte: byte != data[at]))
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        path.write_bytes(data)
        before = imprint(path, len(data))
        path.write_bytes(data + b"more")
        assert imprint(path, len(data)) == before
        path.write_bytes(data[:at] + bytes([other]) + data[at + 1 :] + b"more")
        assert imprint(path, len(data)) != before


def test_of_a_large_file_samples_are_compared(tmp_path: Path) -> None:
    """Its beginning, its end and places between: enough for a rewrite, not for a single byte anywhere."""
    path = tmp_path / "large.jsonl"
    data = bytearray(os.urandom(1 << 20)) * 3
    path.write_bytes(data)
    before = imprint(path, len(data))
    for start in (0, len(data) // 2, len(data) - 1):
        changed = bytearray(data)
        end = min(len(data), start + len(data) // 60)
        changed[start:end] = bytes(byte ^ 1 for byte in changed[start:end])
        path.write_bytes(changed)
        assert imprint(path, len(data)) != before
    path.write_bytes(data + b"grown")
    assert imprint(path, len(data)) == before
    path.unlink()
    assert imprint(path, len(data)) is None
