"""Which run of a command says something about which other."""

from __future__ import annotations

import pytest

from jsonlstore.signals.evidence import WorkLog
from tests.signals.told import Story, told


def ran(log: WorkLog, command: str, text: str, *, failed: bool) -> None:
    log.ran(command, text, {"exitCode": int(failed)}, is_error=failed, at="", entry_id=None)


@pytest.mark.parametrize(
    ("failed", "output", "passed", "still"),
    [
        ("pytest", "2 failed, 9 passed in 1s", "pytest tests/test_locks.py::test_gate", True),
        ("pytest tests/", "2 failed, 9 passed in 1s", "python -m pytest tests/test_locks.py -q", True),
        ("pytest tests", "2 failed, 9 passed in 1s", "pytest tests -k 'not slow'", True),
        ("pytest tests/test_locks.py", "1 failed in 1s", "pytest tests/test_bridges.py", True),
        ("npm test", "Tests: 2 failed, 9 passed, 11 total", "npm test -- locks.test.js", True),
        ("cargo test", "test result: FAILED. 9 passed; 2 failed", "cargo test gate", True),
        ("npx jest", "Tests: 2 failed, 9 passed, 11 total", "npx jest --testNamePattern=gate", True),
        ("ruff check .", "Found 3 errors.", "ruff check locks.py", True),
        ("pytest", "2 failed, 9 passed in 1s", "pytest --version", True),
        (
            "pytest",
            "FAILED tests/test_locks.py::test_gate\n1 failed, 9 passed in 1s",
            "pytest tests/test_locks.py",
            False,
        ),
        ("pytest tests/test_locks.py::test_gate", "1 failed in 1s", "pytest tests/test_locks.py", False),
        ("pytest -v tests/test_locks.py", "1 failed in 1s", "pytest tests/test_locks.py -x --tb=short", False),
        ("go test ./locks", "FAIL\tlocks\t0.1s", "go test ./...", False),
        ("python lock.py --gate 1", "KeyError: 'gate'", "python lock.py --gate 2", False),
    ],
)
def test_only_a_run_of_as_much_mends_a_failed_one(failed: str, output: str, passed: str, still: bool) -> None:
    """A part that passes says nothing of the whole, unless it was all that had failed."""
    log = WorkLog()
    log.next_turn()
    ran(log, failed, output, failed=True)
    ran(log, passed, "", failed=False)
    assert (log.failing() is not None) is still


@pytest.mark.parametrize(
    ("between", "still"),
    [("kill 4711", False), ("npm install ws", False), ("ls -l", True)],
)
def test_what_was_started_again_after_its_cause_was_removed_is_not_failing(between: str, still: bool) -> None:
    """Nobody knows how it went; without anything done in between it fails as before."""
    story = Story("again").user("Start the lock server")
    story.run("node locks.js", "Error: listen EADDRINUSE: address already in use :::8080", failed=True)
    story.run(between, "").run("node locks.js", None)
    assert bool(told(story)["failing"]) is still
    story = Story("again").user("Test the lock gates")
    story.run("pytest", "2 failed, 9 passed in 1s", failed=True)
    story.call("edit", {"path": "gate.py", "oldText": "a", "newText": "b"}, "ok").run("pytest", None)
    assert not told(story)["failing"]
