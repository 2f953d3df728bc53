"""What tools did: command families and their outcomes, commits, files, todo lists."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.evidence import MOST_FILES, WorkLog
from jsonlstore.signals.families import MOST_FAMILIES
from jsonlstore.signals.outcome import last_error, outcome
from jsonlstore.signals.shell import Purpose, commit_subject, steps, written_files
from jsonlstore.signals.todos import TodoBoard

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def ran(log: WorkLog, command: str, text: str = "", *, code: int | None = 0, failed: bool = False) -> None:
    details: dict[str, Any] = {} if code is None else {"exitCode": code}
    log.ran(command, text, details, is_error=failed, at="2026-01-01T00:00:00.000Z", entry_id="e1")


@pytest.mark.parametrize(
    ("command", "families"),
    [
        ("cd /x && git add -A && git commit -m 'a; b && c'", ["cd", "git add", "git commit"]),
        ("PYTHONPATH=. pytest -q tests", ["pytest"]),
        ("python3 -m pytest -q 2>&1 | tail -3", ["pytest", "tail"]),
        ("uv run pytest -q", ["pytest"]),
        ("sudo npm run build", ["npm run build"]),
        ("/opt/bin/python3.12 tools/make.py --all", ["python make.py"]),
        ("cat > a.py <<'EOF'\nrm -rf x; pytest\nEOF\nnode a.js", ["cat", "node a.js"]),
        ("git -C /srv/x push origin main", ["git push"]),
        ("./gradlew test --info", ["gradlew test"]),
        ('echo "npm test && pytest"', ["echo"]),
    ],
)
def test_a_command_has_a_family_arguments_aside(command: str, families: list[str]) -> None:
    """Program and sub-command, whatever prefixes, quotes and here-documents are around them."""
    assert [step.family for step in steps(command)] == families


@pytest.mark.parametrize(
    ("family", "purpose"),
    [
        ("pytest", Purpose.TEST),
        ("npm run test:unit", Purpose.TEST),
        ("cargo clippy", Purpose.BUILD),
        ("git push", Purpose.SHIP),
        ("pip install", Purpose.INSTALL),
        ("python make.py", Purpose.RUN),
        ("grep", Purpose.LOOK),
        ("git status", Purpose.LOOK),
    ],
)
def test_families_have_a_purpose(family: str, purpose: Purpose) -> None:
    """Only what checks, runs or ships something can be in the way."""
    assert steps(family)[0].purpose is purpose


@pytest.mark.parametrize(
    ("text", "failed", "summary"),
    [
        ("== 2 failed, 30 passed, 1 warning in 1.2s ==", True, "2 failed, 30 passed, 1 warning"),
        ("51 passed in 0.46s", False, "51 passed"),
        ("Tests:       1 failed, 4 passed, 5 total", True, "1 failed, 4 passed, 5 total"),
        ("test result: FAILED. 3 passed; 1 failed; 0 ignored", True, "3 passed; 1 failed"),
        ("test result: ok. 3 passed; 0 failed; 0 ignored", False, "3 passed; 0 failed"),
        ("FAIL\tgithub.com/x/y\t0.02s", True, "FAIL github.com/x/y 0.02s"),
        ("Ran 3 tests\n\nFAILED (failures=1)", True, "FAILED (failures=1)"),
        ("Ran 3 tests\n\nOK", False, "OK"),
        (
            "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
            True,
            "src/a.ts(1,2): error TS2304: Cannot find name 'x'.",
        ),
        ("Found 4 errors (4 fixed, 0 remaining).", False, "Found 4 errors (4 fixed, 0 remaining)."),
        ("Found 10 errors (2 fixed, 8 remaining).", True, "Found 10 errors (2 fixed, 8 remaining)."),
        ("Found 0 errors. Watching for file changes.", False, "Found 0 errors. Watching for file changes."),
        ("✖ 3 problems (0 errors, 3 warnings)", False, "✖ 3 problems (0 errors, 3 warnings)"),
        ("✖ 10 problems (10 errors, 0 warnings)", True, "✖ 10 problems (10 errors, 0 warnings)"),
        ("  18 passing (2s)\n  2 failing", True, "2 failing"),
        ("  18 passing (2s)\n", False, "18 passing"),
        ("Failed!  - Failed:     1, Passed:    10, Skipped:     0", True, "Failed: 1, Passed: 10"),
        ("Passed!  - Failed:     0, Passed:    11, Skipped:     0", False, "Failed: 0, Passed: 11"),
        ("Tests: 24, Assertions: 51, Failures: 2.", True, "Tests: 24, Assertions: 51, Failures: 2"),
        ("Tests: 24, Assertions: 51, Skipped: 2.", False, "Tests: 24, Assertions: 51, Skipped: 2"),
        ("40 examples, 3 failures", True, "40 examples, 3 failures"),
        ("40 examples, 0 failures", False, "40 examples, 0 failures"),
        ("12 tests completed, 1 failed\nBUILD FAILED", True, "12 tests completed, 1 failed"),
        ("[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 1", False, "Tests run: 12, Failures: 0, Errors: 0"),
        ("[ERROR] Tests run: 12, Failures: 0, Errors: 2", True, "Tests run: 12, Failures: 0, Errors: 2"),
        ("nothing to see", None, ""),
        ("(Command exited with code 2)", True, ""),
        ("bash: foo: command not found", True, "bash: foo: command not found"),
    ],
)
def test_a_runners_own_words_tell_how_it_went(text: str, failed: bool | None, summary: str) -> None:
    """Counts outrank the exit code, which a pipe hides; silence tells nothing."""
    went = outcome(text, {}, is_error=False, is_test=True)
    assert (went.failed, went.summary) == (failed, summary)


def test_exit_codes_and_running_commands() -> None:
    """A command that still runs has no outcome."""
    assert outcome("", {"exitCode": 1}, is_error=False, is_test=False).failed is True
    assert outcome("", {"exitCode": 0}, is_error=False, is_test=False).failed is False
    warned = "✖ 3 problems (0 errors, 3 warnings)"
    assert outcome(warned, {"exitCode": 1}, is_error=False, is_test=False).failed is True
    assert outcome(warned, {"exitCode": 0}, is_error=False, is_test=False).failed is False
    assert (
        outcome("Command still running (session x)", {"status": "running"}, is_error=False, is_test=True).failed is None
    )


def test_the_last_outcome_of_a_family_counts() -> None:
    """Failed, then passed is passed; a failure in an old turn is history."""
    log = WorkLog()
    log.next_turn()
    ran(log, "pytest tests/a.py", "1 failed in 1s", code=1)
    ran(log, "pytest tests/b.py", "3 passed in 1s")
    assert log.failing() is not None
    ran(log, "pytest", "4 passed in 1s")
    assert log.failing() is None
    assert [one.name for one in log.families() if one.was_failing and not one.failed] == ["pytest"]
    ran(log, "npm run build", "error", code=1)
    for _ in range(3):
        log.next_turn()
    assert log.failing() is None


def test_commits_are_what_git_confirms() -> None:
    """Sha and subject from the output; nothing committed is no commit; an amendment replaces."""
    log = WorkLog()
    log.changed("a.py")
    ran(log, 'git commit -m "First\n\nbody"', "[main 1a2b3c4] First\n 1 file changed")
    ran(log, "git commit -m 'Second'", "nothing to commit, working tree clean", code=1)
    ran(log, "git commit -q -m 'Third'", "")
    ran(log, "git commit --amend -m 'Third again'", "[main 9a9b9c9] Third again")
    assert [(one.sha, one.subject) for one in log.commits] == [("1a2b3c4", "First"), ("9a9b9c9", "Third again")]
    assert {one.branch for one in log.commits} == {"main"}
    ran(log, "gh pr merge 12 --squash", "✓ Squashed and merged pull request a/b#12 (Add the tide table (v2))")
    ran(log, "gh pr merge 13", "Pull request a/b#13 is not mergeable", code=1)
    assert [one.subject for one in log.commits[2:]] == ["Add the tide table (v2) (#12)"]
    log.changed("b.py")
    assert [(one.path, one.uncommitted) for one in log.files()] == [("b.py", True), ("a.py", False)]


def test_commit_messages_in_here_documents() -> None:
    """The way agents write long messages."""
    assert commit_subject("git commit -m \"$(cat <<'EOF'\nSubject\n\nBody\nEOF\n)\"") == "Subject"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (
            "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a/b.py\n@@\n*** Add File: c.md\n+x\nP",
            ["a/b.py", "c.md"],
        ),
        ("cat > notes.txt <<EOF\nx\nEOF", ["notes.txt"]),
        ("sed -i 's/a/b/' src/x.py", ["src/x.py"]),
        ("echo hi > /dev/null", []),
        ("ls > /tmp/x | cat", []),
    ],
)
def test_commands_name_the_files_they_write(command: str, files: list[str]) -> None:
    """Patches, redirections, edits in place."""
    assert written_files(command) == files


def test_one_file_has_one_spelling() -> None:
    """Absolute, relative and home paths of the same file count together."""
    log = WorkLog()
    log.start_in("/home/u/projects/x")
    for path in ("a.py", "./a.py", "/home/u/projects/x/a.py", "~/projects/x/a.py"):
        log.changed(path)
    assert [(one.path, one.changes) for one in log.files()] == [("a.py", 4)]


def test_todo_files_count_and_templates_do_not() -> None:
    """Boxes of a todo file, ticked or not; a skill's or a template's checklist is nobody's task."""
    board = TodoBoard()
    board.at("e1", 1)
    board.wrote("todo.md", {"content": "- [ ] paint\n- [x] sand\n"})
    board.wrote("SKILL.md", {"content": "- [ ] ask first\n"})
    board.wrote("todo-template.md", {"content": "- [ ] your task here\n"})
    assert [item.title for item in board.open_items()] == ["paint"]
    board.wrote("todo.md", {"new_string": "- [x] paint"})
    assert board.open_items() == []


@given(
    st.text(max_size=300), st.text(max_size=300), st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.booleans()
)
def test_any_command_and_output_is_safe(command: str, text: str, details: dict[str, Any], failed: bool) -> None:
    """Nothing a tool says breaks the reading of it."""
    log = WorkLog()
    log.ran(command, text, details, is_error=failed, at="", entry_id=None)
    log.wrote("write", {"path": command, "content": text})
    last_error(text)
    assert len(list(log.families())) <= MOST_FAMILIES


@given(st.sampled_from(["todowrite", "update_plan", "taskcreate", "taskupdate", "todo"]), st.dictionaries(st.sampled_from(["todos", "plan", "taskId", "status", "subject", "action"]), JSON, max_size=4), st.text(max_size=60))  # fmt: skip
def test_any_todo_call_is_safe(name: str, arguments: dict[str, Any], answer: str) -> None:
    """Tools are called with anything."""
    board = TodoBoard()
    board.called(name, arguments, answer)
    board.open_items()


@pytest.mark.parametrize(
    "unit", ["'", '"', "a && ", "<<E ", "\\", "(", "echo > ", "1 failed, ", "FAIL\tx\n", "Error: ", "\n"]
)
def test_hostile_repetition_ends(unit: str) -> None:
    """A quadratic expression would not come back within the suite's patience."""
    steps(unit * 20_000)
    outcome(unit * 20_000, {}, is_error=False, is_test=True)
    written_files(unit * 20_000)
    commit_subject("git commit -m " + unit * 20_000)


def test_memory_is_bounded() -> None:
    """However much a session does."""
    log = WorkLog()
    for number in range(MOST_FILES * 2):
        log.changed(f"f{number}.py")
        ran(log, f"python s{number}.py", code=1)
    assert len(log.files()) <= MOST_FILES
    assert len(list(log.families())) <= MOST_FAMILIES
