"""Putting a file in the place of another."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.core import files
from jsonlstore.core.errors import WriteFailed
from jsonlstore.core.files import Disk

if TYPE_CHECKING:
    from pathlib import Path

a_function_fixture_is_fine = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(st.binary(max_size=12), max_size=8), st.integers(1, 9), st.integers(1, 5))
@a_function_fixture_is_fine
def test_pieces_are_written_as_one_whatever_their_sizes(
    tmp_path: Path, pieces: list[bytes], block: int, taken: int
) -> None:
    """Also where the system takes only a little at a time."""
    write = os.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK", block)
        patch.setattr(os, "write", lambda fd, data: write(fd, data[:taken]))
        Disk(sync=False).replace(tmp_path / "file", [memoryview(piece) for piece in pieces], tmp_path)
    assert (tmp_path / "file").read_bytes() == b"".join(pieces)


def test_a_block_that_is_refused_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing of the blocks before it."""
    target, write = tmp_path / "file", os.write
    target.write_bytes(b"old")

    def refuse_the_third(fd: int, data: memoryview) -> int:
        if b"5" in bytes(data):
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(files, "_BLOCK", 2)
    monkeypatch.setattr(os, "write", refuse_the_third)
    with pytest.raises(WriteFailed, match="No space left"):
        Disk(sync=False).replace(target, [b"12", b"34", b"56"], tmp_path)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
