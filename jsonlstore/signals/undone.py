"""Commits that were taken back: by `git reset`, by `git revert`, by an agent's undo command.

What a reset or a revert took away is no deed any more, and it closes nothing. Where it is not certain how far a reset
went, more is taken away rather than less: a missing commit costs less than one that is not there.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.evidence import GitCommit
    from jsonlstore.signals.shell import Step

RESET, REVERT = "git reset", "git revert"
TAKES_BACK = frozenset({RESET, REVERT})
_MOST_BACK = 1_000
_REMOVED = re.compile(r"^Removed: ([0-9a-f]{7,40}) (.+)$", re.MULTILINE)
_NOW_AT = re.compile(r"^HEAD is now at ([0-9a-f]{7,40})\b[ \t]*(.*)$", re.MULTILINE)
_PLACE = re.compile(r"^(?P<base>HEAD|@|[0-9a-f]{7,40})(?P<back>(?:~\d{0,3}|\^\d{0,1})*)$")
_BACK = re.compile(r"~(\d*)|\^")
_BEFORE = re.compile(r"^(?:ORIG_HEAD|(?:HEAD|@)@\{1\})$")
_UPSTREAM = re.compile(r"^(?:(?:origin|upstream)/\S+|@\{u(?:pstream)?\}|FETCH_HEAD)$")
_REVERTS = re.compile(r"^revert(?:s|ed)?:? +[\"“']?(.+?)[\"”']?$", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"']+")


def reverted_subject(subject: str) -> str:
    """The subject a commit takes back by its own subject ('Revert "Add the chart"'); empty if it does not."""
    match = _REVERTS.match(subject)
    return match[1] if match else ""


def without_reverted(commits: Sequence[GitCommit], subject: str) -> list[GitCommit]:
    """The commits without the latest of this subject."""
    for at in range(len(commits) - 1, -1, -1):
        if commits[at].subject == subject:
            return [*commits[:at], *commits[at + 1 :]]
    return list(commits)


def removed_by_name(commits: Sequence[GitCommit], text: str) -> list[GitCommit] | None:
    """The commits without those an output calls removed ("Removed: 1234abc Add the chart"); None if it names none."""
    named = _REMOVED.findall(text[:2_000]) if "Removed: " in text else []
    if not named:
        return None
    left = list(commits)
    for sha, subject in named:
        at = _place_of(left, sha)
        left = left[:at] + left[at + 1 :] if at is not None else without_reverted(left, subject.strip())
    return left


def after_step(step: Step, text: str, commits: Sequence[GitCommit], dropped: Sequence[GitCommit], pushed: GitCommit | None) -> list[GitCommit]:  # fmt: skip
    """The commits that are left after a `git reset` or `git revert` that went well."""
    words = _WORD.findall(step.text)
    words = words[words.index(step.family.partition(" ")[2]) + 1 :] if step.family.partition(" ")[2] in words else []
    if step.family == REVERT:
        return _after_revert(words, commits)
    named = removed_by_name(commits, text)
    if named is not None:
        return named
    places = [word for word in words if not word.startswith("-")]
    if len(places) != 1 or "--" in words or "-p" in words:
        return list(commits)  # of files, or of nothing: the commits stay
    now_at = _NOW_AT.search(text)
    at = _place_of(commits, now_at[1]) if now_at else None
    if at is None and now_at:  # a commit whose number nobody printed is known by its subject
        at = next(
            (place for place, one in enumerate(commits) if not one.sha and one.subject == now_at[2].strip()), None
        )
    if at is not None:
        return list(commits[: at + 1])
    return _after_reset(places[0], commits, dropped, pushed)


def _after_reset(place: str, commits: Sequence[GitCommit], dropped: Sequence[GitCommit], pushed: GitCommit | None) -> list[GitCommit]:  # fmt: skip
    if _BEFORE.match(place):
        return [*commits, *dropped] if dropped else list(commits[:-1])
    if _UPSTREAM.match(place):
        return list(commits[: commits.index(pushed) + 1]) if pushed in commits else []
    match = _PLACE.match(place)
    if match is None:
        return list(commits)  # a file or a branch
    base = len(commits) - 1
    if match["base"] not in {"HEAD", "@"}:
        known = _place_of(commits, match["base"])
        if known is None:
            return []  # a commit from before the session: none of its own is left
        base = known
    return list(commits[: max(base + 1 - _steps_back(match["back"]), 0)])


def _after_revert(words: Sequence[str], commits: Sequence[GitCommit]) -> list[GitCommit]:
    """Without what the command names; its output may have named it by subject already."""
    left = list(commits)
    for word in words:
        match = _PLACE.match(word)
        if match is None:
            continue
        base = len(commits) - 1 if match["base"] in {"HEAD", "@"} else _place_of(commits, match["base"])
        at = -1 if base is None else base - _steps_back(match["back"])
        if 0 <= at < len(commits) and commits[at] in left:
            left.remove(commits[at])
    return left


def _steps_back(told: str) -> int:
    return min(sum(int(match[1] or 1) if match[0] != "^" else 1 for match in _BACK.finditer(told)), _MOST_BACK)


def _place_of(commits: Sequence[GitCommit], sha: str) -> int | None:
    for at in range(len(commits) - 1, -1, -1):
        known = commits[at].sha
        if known and (known.startswith(sha) or sha.startswith(known)):
            return at
    return None
