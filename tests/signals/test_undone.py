"""Commits that were taken back are no deeds, and close nothing."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.evidence import WorkLog
from tests.signals.told import Story, told


def three_commits() -> WorkLog:
    log = WorkLog()
    for number, subject in enumerate(("Draw the pier", "Paint the mole", "Sort the buoys"), 1):
        run(log, f"git commit -am '{subject}'", f"[main {number}{number}aa11{number}] {subject}\n 1 file changed")
    return log


def run(log: WorkLog, command: str, text: str = "", *, code: int = 0) -> None:
    log.ran(command, text, {"exitCode": code}, is_error=code != 0, at="2026-01-01T00:00:00.000Z", entry_id="e1")


@pytest.mark.parametrize(
    ("command", "text", "left"),
    [
        ("git reset --hard HEAD~1", "HEAD is now at 22aa112 Paint the mole", 2),
        ("git reset --hard HEAD~1", "", 2),
        ("git reset --soft HEAD^", "", 2),
        ("git reset HEAD~2", "Unstaged changes after reset:\nM\ta.py", 1),
        ("git reset @~", "", 2),
        ("git -C /srv/map reset --hard HEAD^^", "", 1),
        ("cd /srv/map && git reset --hard 'HEAD~3' && git status", "", 0),
        ("git reset --hard 22aa112", "", 2),
        ("git reset --hard 22aa112^", "", 1),
        ("git reset --hard 22aa112~1", "", 1),
        ("git reset --hard 0123456", "HEAD is now at 0123456 Begin", 0),
        ("git reset --hard origin/main", "HEAD is now at 11aa111 Draw the pier", 1),
        ("git reset --hard origin/main", "HEAD is now at 0123456 Begin", 0),
        ("git reset --hard HEAD@{1}", "", 2),
        ("git reset --hard", "HEAD is now at 33aa113 Sort the buoys", 3),
        ("git reset --hard HEAD", "HEAD is now at 33aa113 Sort the buoys", 3),
        ("git reset HEAD~1 -- a.py", "", 3),
        ("git reset HEAD~1 a.py", "", 3),
        ("git reset a.py", "", 3),
        ("echo 'git reset --hard HEAD~1'", "git reset --hard HEAD~1", 3),
        ("grep -rn 'git reset' docs", "docs/a.md: git reset --hard HEAD~1", 3),
    ],
)
def test_a_reset_takes_commits_away(command: str, text: str, left: int) -> None:
    """As many as it names; a reset of files, or words about one, takes none."""
    log = three_commits()
    run(log, command, text)
    assert [one.subject for one in log.commits] == ["Draw the pier", "Paint the mole", "Sort the buoys"][:left]


def test_a_reset_that_failed_takes_nothing() -> None:
    """Git refused: the commits are there."""
    log = three_commits()
    run(log, "git reset --hard HEAD~9", "fatal: ambiguous argument 'HEAD~9': unknown revision", code=128)
    assert len(log.commits) == 3


def test_a_reset_before_a_commit_in_one_line_squashes() -> None:
    """The commits that were put together are one."""
    log = three_commits()
    run(
        log,
        "git reset --soft HEAD~2 && git commit -m 'Mole and buoys'",
        "[main 44aa114] Mole and buoys\n 2 files changed",
    )
    assert [one.subject for one in log.commits] == ["Draw the pier", "Mole and buoys"]


def test_a_reset_can_be_taken_back_itself() -> None:
    """Back to where HEAD was before it."""
    log = three_commits()
    run(log, "git reset --hard HEAD~2")
    run(log, "git reset --hard ORIG_HEAD")
    assert len(log.commits) == 3


def test_what_was_pushed_stays_when_the_tree_goes_back_to_it() -> None:
    """A reset to the remote's branch drops what the remote does not have."""
    log = three_commits()
    run(log, "git push", "To example.org:map.git")
    run(log, "git commit -am 'Try hexagons'", "[main 44aa114] Try hexagons\n 1 file changed")
    run(log, "git fetch && git reset --hard origin/main", "HEAD is now at 0123456 Other work")
    assert [one.subject for one in log.commits] == ["Draw the pier", "Paint the mole", "Sort the buoys"]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("git revert --no-edit HEAD~1", '[main 44aa114] Revert "Paint the mole"\n 1 file changed'),
        ("git revert --no-edit 22aa112", '[main 44aa114] Revert "Paint the mole"\n 1 file changed'),
        ("git revert -n 22aa112", ""),
        ("git commit -am 'Revert \"Paint the mole\"'", '[main 44aa114] Revert "Paint the mole"\n 1 file changed'),
    ],
)
def test_a_revert_takes_one_commit_away(command: str, text: str) -> None:
    """The commit it names, and no other."""
    log = three_commits()
    run(log, command, text)
    subjects = [one.subject for one in log.commits]
    assert "Paint the mole" not in subjects
    assert subjects[:2] == ["Draw the pier", "Sort the buoys"]


def test_what_an_undone_commit_had_closed_is_open_again() -> None:
    """Neither the commit nor its revert closes the task."""
    story = Story("x").user("TODO: draw the tide table of Husum").says_("Noted.").user("Do it")
    story.run("git commit -am 'Draw tide table of Husum'", "[main 1234abc] Draw tide table of Husum\n 1 file changed")
    closed = told(story.says_("There."))
    assert not closed["pending_tasks"]
    story.user("That is wrong, revert it")
    story.run("git revert --no-edit HEAD", '[main 1234abd] Revert "Draw tide table of Husum"\n 1 file changed')
    fields = told(story.says_("Reverted."))
    assert [one["title"] for one in fields["pending_tasks"]] == ["draw the tide table of Husum"]
    assert not [one for one in fields["closed"] if "tide table" in one["title"]]
    assert [one["subject"] for one in fields["commits"]] == ['Revert "Draw tide table of Husum"']


def test_an_undo_command_names_what_it_removed() -> None:
    """Some agents undo by a command of their own and say so in words."""
    story = Story("x").user("Draw the pier in blue")
    story.run("git commit -am 'feat: Blue pier'", "[main 1234abc] feat: Blue pier\n 1 file changed").says_("Blue.")
    story.user("/undo").says_("Removed: 1234abc feat: Blue pier\nNow at:  0123456 Begin")
    fields = told(story)
    assert not fields["commits"]
    assert not [one for one in fields["notes"] if "Blue pier" in one["content"]]


def test_words_about_something_removed_undo_nothing() -> None:
    """Nobody gave an undo command."""
    story = Story("x").user("Draw the pier in blue")
    story.run("git commit -am 'feat: Blue pier'", "[main 1234abc] feat: Blue pier\n 1 file changed")
    assert told(story.says_("Removed: 1234abc feat: Blue pier"))["commits"]


_COMMANDS = st.sampled_from(
    [
        "git reset --hard HEAD~1", "git reset --hard HEAD^^", "git reset ORIG_HEAD", "git revert HEAD", "git revert 22aa112",
        "git reset --hard 11aa111", "git reset --hard origin/main", "git push", "git commit -am 'More'", "git reset a.py",
    ]
)  # fmt: skip


@given(st.lists(_COMMANDS, max_size=12), st.text(max_size=40))
def test_no_order_of_resets_invents_or_doubles_a_commit(commands: list[str], noise: str) -> None:
    """Whatever is reset, every commit told was made, and is told once."""
    log = three_commits()
    made = {id(one): one for one in log.commits}
    for command in commands:
        run(log, command, noise)
        made.update((id(one), one) for one in log.commits)
        assert len(made) <= 3 + commands.count("git commit -am 'More'")
        assert len({id(one) for one in log.commits}) == len(log.commits)


def test_a_commit_whose_number_nobody_printed_is_known_by_its_subject() -> None:
    """A reset that ends at it keeps it and what was before."""
    log = WorkLog()
    for subject in ("Draw the pier", "Paint the mole", "Sort the buoys"):
        run(log, f"git commit -qm '{subject}'")
    run(log, "git reset --hard 0a1b2c3", "HEAD is now at 0a1b2c3 Paint the mole")
    assert [one.subject for one in log.commits] == ["Draw the pier", "Paint the mole"]
