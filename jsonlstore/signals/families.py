"""The runs of one command family, and which run says something about which: a part that passes mends no whole.

`pytest` failed and `pytest tests/test_a.py::test_one` passed: the whole is still failing, unless the part was all that
had failed. What a run selects is told by the paths and names it is given and by the options that narrow it.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.signals.shell import Purpose, steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.signals.shell import Step

_CHECKERS = frozenset({"ruff", "mypy", "eslint", "flake8", "pyright", "pylint", "black", "prettier", "biome", "tsc", "shellcheck"})  # fmt: skip
_WHOLE = frozenset({"", ".", "...", "tests", "test", "all", "src", "run", "check", "watch", "unit"})
# of all options these choose what runs; others say how
_NARROWS = re.compile(
    r"(?:-[kgt]|--(?:grep|filter|testNamePattern|test-name-pattern|testPathPatterns?|run|package|project|tests?|spec|match|only|last-failed|lf|changed|shard)|-run|-Dtest)\Z"
)
_RUNS_NOTHING = frozenset({"--collect-only", "--co", "--version", "-V", "--help", "-h", "--list", "--listTests", "--no-run", "--dry-run"})  # fmt: skip
_SAYS_HOW = re.compile(r"-c|-W|-o|--\S*(?:config|cov|out|report|rootdir|settings|ignore)\S*")
_PATH = re.compile(r"[/\\]|::|\.\w{1,5}(?:\Z|:)")
_NAMES_FAILED = re.compile(
    r"^\s*(?:FAILED|FAIL:?|--- FAIL:|not ok \d+ -)\s+(\S+)|^test (\S+) \.\.\. FAILED", re.MULTILINE
)
_HOW_MANY = re.compile(r"\b(\d+) (?:failed|failures?|failing)\b")
_TAIL = 6_000
MOST_FAMILIES = 400
_MOST_STARTED = 64


class RunScope(NamedTuple):
    """What a run chose of all there is to run: paths and names, and what options narrow it to. Empty is everything."""

    targets: frozenset[str] = frozenset()
    filters: frozenset[str] = frozenset()


EVERYTHING = RunScope()


@dataclass(slots=True)
class Family:
    """The runs of one command family over one selection: how the last went, and in which turn."""

    name: str
    purpose: Purpose
    command: str = ""
    failed: bool = False
    was_failing: bool = False
    summary: str = ""
    at: str = ""
    entry_id: str | None = None
    turn: int = 0
    runs: int = 0
    broken: frozenset[str] = field(default_factory=frozenset)  # the names of all that failed, where they were told
    acts: int = 0  # what had been done in the session when it ran
    untold: bool = False  # it was started again after something was done about it, and nobody knows how that went


def selection(step: Step) -> RunScope | None:
    """What a step selects; None if it runs nothing at all ("pytest --version")."""
    if step.purpose is not Purpose.TEST and step.family.partition(" ")[0] not in _CHECKERS:
        return EVERYTHING
    words = [word.strip("\"'") for word in step.text.split()]
    last = step.family.rpartition(" ")[2]
    at = next((place for place, word in enumerate(words) if re.split(r"[/\\]", word)[-1] == last), 0)
    targets: set[str] = set()
    filters: set[str] = set()
    before = ""
    for word in words[at + 1 :]:
        if word in _RUNS_NOTHING:
            return None
        name, _, value = word.partition("=")
        if "<" in word or ">" in word or before in {">", "<"}:
            pass
        elif word.startswith("-"):
            if _NARROWS.match(name) and (value or name in {"--lf", "--last-failed", "--changed"}):
                filters.add(value or name)
        elif _NARROWS.match(before):
            filters.add(word)
        elif not _SAYS_HOW.fullmatch(before) and (
            not before.startswith("-") or before == "--" or re.fullmatch(r"-[vxqsrla]+", before) or _PATH.search(word)
        ):
            targets.add(word.removeprefix("./").removesuffix("...").rstrip("/\\"))
        before = name if not value else ""
    kept = frozenset(one for one in targets if one not in _WHOLE and not one.isdigit())
    # with a whole among them, the parts beside it choose nothing
    return RunScope(
        kept if len(kept) == len(targets) or not targets & {"", ".", "tests", "test"} else frozenset(),
        frozenset(filters),
    )


def says_about(ran: RunScope, known: Family, chosen: RunScope) -> bool:
    """Whether a run over `ran` says how those of a family over `chosen` are."""
    if ran.filters <= chosen.filters and (
        not ran.targets
        or (chosen.targets and all(any(_within(one, part) for part in ran.targets) for one in chosen.targets))
    ):
        return True
    terms = ran.targets | ran.filters
    return bool(known.broken) and all(any(term in name for term in terms) for name in known.broken)


def _within(path: str, part: str) -> bool:
    return path == part or path.startswith((f"{part}/", f"{part}::", f"{part}:"))


def broken_names(output: str, summary: str) -> frozenset[str]:
    """The names of all that failed in a run; empty unless each is told."""
    names = frozenset(one or other for one, other in _NAMES_FAILED.findall(output[-_TAIL:]))
    told = _HOW_MANY.search(summary)
    return names if names and told and len(names) >= int(told[1]) else frozenset()


@dataclass(slots=True)
class Runs:
    """The families of one stretch in bounded memory, the one run last at the end."""

    acts: int = 0  # changes, and commands that may have mended something
    _families: dict[tuple[str, RunScope], Family] = field(default_factory=dict)
    _started: dict[str, tuple[str, int]] = field(default_factory=dict)  # commands that nobody saw the end of

    def families(self) -> list[Family]:
        """All of them, the one run last at the end."""
        return list(self._families.values())

    def knows(self, name: str) -> Family | None:
        """The latest of a name."""
        return next((one for one in reversed(self._families.values()) if one.name == name), None)

    def started(self, call_id: str, command: str) -> None:
        """A command was called; how it went is told later, if ever."""
        if call_id and command:
            self._started[call_id] = (command, self.acts)
        if len(self._started) > _MOST_STARTED:
            del self._started[next(iter(self._started))]

    def ended(self, call_id: str) -> None:
        """A call was answered."""
        self._started.pop(call_id, None)

    def note(self, step: Step, summary: str, output: str, at: str, entry_id: str | None, *, turn: int, failed: bool) -> None:  # fmt: skip
        """One run of a family: it takes the place of every run it says something about."""
        chosen = selection(step)
        if chosen is None:
            return
        before = [
            self._families.pop(key)
            for key, known in list(self._families.items())
            if key[0] == step.family and says_about(chosen, known, key[1])
        ]
        was_failing = any(one.failed for one in before) or (failed and any(one.was_failing for one in before))
        broken = broken_names(output, summary) if failed else frozenset()
        runs = 1 + sum(one.runs for one in before)
        self._families[step.family, chosen] = Family(
            step.family,
            step.purpose,
            step.text,
            failed,
            was_failing,
            summary,
            at,
            entry_id,
            turn,
            runs,
            broken,
            self.acts,
        )
        if len(self._families) > MOST_FAMILIES:
            del self._families[next(iter(self._families))]

    def started_again(self, done: Iterable[Step]) -> None:
        """Commands were started of which nobody will say how they went."""
        for known in self._asked_again(done, self.acts):
            known.untold = True

    def running(self) -> list[Family]:
        """The families of which a run was started that nobody saw the end of."""
        return [one for command, acts in self._started.values() for one in self._asked_again(steps(command), acts)]

    def _asked_again(self, done: Iterable[Step], acts: int) -> list[Family]:
        """The runs of which a further one, started after so many acts, would tell: nobody knows how they are now."""
        chosen = [(one.family, selection(one)) for one in done]
        return [
            known
            for (name, of), known in self._families.items()
            for family, ran in chosen
            if name == family and ran is not None and acts > known.acts and says_about(ran, known, of)
        ]
