"""The registry of runtimes: what a registration has to say, and what a hook call loads of it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from jsonlstore.transcripts.runtimes import BUILT_IN, SESSION_QUESTIONS, BuiltIn, Runtime

if TYPE_CHECKING:
    from pathlib import Path

_PROBE = """
import json, sys
from pathlib import Path
from jsonlstore import transcripts
state = Path(sys.argv[1])
asked = [getattr(transcripts, one)(state, "main", "s") for one in ("has_transcript", "utility_key", "was_answered")]
asked.append(transcripts.current_stretch(state, "main", "s"))
after_questions = sorted(name for name in sys.modules if name.startswith("jsonlstore.transcripts."))
found = [one.kind for one in transcripts.discover(state).sources]
print(json.dumps([asked, after_questions, found]))
"""


def answered(runtime: Runtime) -> set[str]:
    """The questions about one session that a runtime answers itself."""
    return {name for name in SESSION_QUESTIONS if getattr(type(runtime), name) is not getattr(Runtime, name)}


@pytest.mark.parametrize("built_in", BUILT_IN, ids=lambda one: one.module)
def test_a_built_in_runtime_says_whether_it_answers_questions_about_a_session(built_in: BuiltIn) -> None:
    """A hook call asks only those that say so: one that forgot would never be asked, one too many would cost time."""
    assert built_in.answers is bool(answered(import_module(built_in.module).RUNTIME))


def test_a_hook_call_loads_no_reader_of_a_runtime_that_only_keeps_transcripts(tmp_path: Path) -> None:
    """So a source of this package is one module and its line in the registry; discovery loads it."""
    (tmp_path / "goclaw").mkdir()
    (tmp_path / "goclaw" / "sessions.db").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    asked, loaded, found = json.loads(done.stdout)
    assert asked == [False, None, False, "s"]
    assert loaded == [
        "jsonlstore.transcripts.openclaw",
        "jsonlstore.transcripts.own",
        "jsonlstore.transcripts.runtimes",
    ]
    assert found == ["goclaw"]
