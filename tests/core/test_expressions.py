"""What Python compiled once is kept beside its byte code, and is what it would compile anew."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_LOAD = """
import re
from jsonlstore.core import expressions
made = []
kept = expressions.kept
def noting(source, flags=0):
    made.append((source, flags, kept(source, flags)))
    return made[-1][2]
expressions.kept = noting
import jsonlstore.redact.text, jsonlstore.signals.distil, jsonlstore.transcripts.speech
from jsonlstore.signals.language import languages
for language in languages().values():
    for kind in ("rule", "decide", "task", "refused"):
        language.pattern(kind), list(language.patterns(kind)), language.heading(kind)
assert len(made) > 1_000
assert [source for source, flags, found in made if found != re.compile(source, flags)] == []
print(len(expressions._file._fresh))
"""
_OF_A_TEXT = """
from jsonlstore.core import expressions as re
found = re.compile("a rule of ours")
def search(text):
    return re.compile(text).search(text)
assert search("somebody's words")
print(sorted(source for source, _ in re._file._fresh))
"""


def run(program: str, folder: Path, **env: str) -> str:
    """The program in a process of its own, whose byte code lies in `folder`."""
    given = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder), **env}
    given = {name: value for name, value in given.items() if name != "PYTHONDONTWRITEBYTECODE" or env.get(name)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=given, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kept*"))


def test_what_was_kept_is_what_python_compiles_and_costs_nothing_again(tmp_path: Path) -> None:
    assert int(run(_LOAD, tmp_path)) > 1_000
    (file,) = files_of(tmp_path)
    before = file.read_bytes()
    assert run(_LOAD, tmp_path) == "0"
    assert file.read_bytes() == before


def test_what_a_function_compiles_is_not_kept_because_it_may_be_anybodys_text(tmp_path: Path) -> None:
    assert run(_OF_A_TEXT, tmp_path) == "['a rule of ours']"
    (file,) = files_of(tmp_path)
    assert b"a rule of ours" in file.read_bytes()
    assert b"somebody" not in file.read_bytes()


@pytest.mark.parametrize("harm", ["empty", "torn", "another's", "garbled", "other instructions"])
def test_a_file_that_cannot_be_used_is_written_anew(tmp_path: Path, harm: str) -> None:
    run(_OF_A_TEXT, tmp_path)
    (file,) = files_of(tmp_path)
    good = file.read_bytes()
    line, _, rest = good.partition(b"\n")
    file.write_bytes(
        {
            "empty": b"",
            "torn": good[:-10],
            "another's": line.replace(b"3.", b"2.", 1) + b"\n" + rest,
            "other instructions": good[:-16] + bytes(4) + good[-12:],
            "garbled": line + b"\n" + bytes(byte ^ 255 for byte in rest[:20]) + rest[20:],
        }[harm]
    )
    assert run(_OF_A_TEXT, tmp_path) == "['a rule of ours']"
    assert run(_OF_A_TEXT, tmp_path) == "[]"


def test_nothing_is_written_where_no_byte_code_is(tmp_path: Path) -> None:
    run(_OF_A_TEXT, tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert files_of(tmp_path) == []
