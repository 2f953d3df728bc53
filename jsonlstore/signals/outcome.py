"""How a command went, told from what its tool reported: exit codes, test runners' own counts, the last error line."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import any_of, compiled, searcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonlstore.core.regex import Search

LONGEST_SUMMARY = 160
_TAIL = 3_000
_HEAD = 600

_EXIT = re.compile(
    r"(?:\(?Command exited with(?: exit)? code|Process exited with code|^Exit code:?|\"exit_code\":|^exit status|exited with code) ?(-?\d+)",
    re.MULTILINE,
)
_RUNNING = re.compile(
    r"^Command still running|still running \(session|running in (?:the )?background|moved to (?:the )?background",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"\[Request interrupted by user|The user doesn't want to (?:proceed|take this action)|user rejected|was rejected by (?:the )?user",
    re.IGNORECASE,
)
_PYTEST = re.compile(
    r"^=*\s?((?:\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)(?:, )?)+)(?: in [\d.:]+s?.*)?\s*=*$",
    re.MULTILINE,
)
_JEST = re.compile(r"^\s*Tests?:?\s+((?:\d+ (?:failed|passed|skipped|todo|total)[,| ]*)+)", re.MULTILINE)
_CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+ passed; \d+ failed)", re.MULTILINE)
_GO = re.compile(r"^(?:FAIL|ok)\s+\S+(?:\s+[\d.]+s|\s+\[|\s+\(cached\))", re.MULTILINE)
_MOCHA = re.compile(r"^\s+(\d+ (?:passing|failing))\b", re.MULTILINE)
_UNITTEST = re.compile(r"^(FAILED \((?:failures|errors)=.*\)|OK(?: \(.*\))?)$", re.MULTILINE)
_DOTNET = re.compile(r"^\s*(?:Passed|Failed)!\s+-\s+(Failed:\s+\d+, Passed:\s+\d+)", re.MULTILINE)
_PHPUNIT = re.compile(r"^(Tests: \d+, Assertions: \d+[^\n]{0,80}?)\.?$", re.MULTILINE)
_RSPEC = re.compile(r"^(\d+ examples?, \d+ failures?)", re.MULTILINE)
_GRADLE = re.compile(r"^(\d+ tests? completed, \d+ failed)", re.MULTILINE)
_MAVEN = re.compile(r"(Tests run: \d+, Failures: \d+, Errors: \d+)", re.MULTILINE)
_LINT = re.compile(r"^(Found \d+ errors?\b.*|✖ \d+ problems?.*|.*\berror TS\d+: .*)$", re.MULTILINE)
_MENDED = re.compile(r"\b0 (?:errors?|problems?|remaining)\b")  # "Found 4 errors (4 fixed, 0 remaining)"
_STATUS_ERROR = re.compile(r'\{\s*(?:"\w+":\s*"[^"\n]{0,80}",\s*){0,3}"status":\s*"(?:error|failed)"')
_CLASSED = re.compile(r"CategoryInfo\s*:\s*(\w+: \S.*)")  # by PowerShell
_COUNTING = (
    "passed",
    "failed",
    "FAIL",
    "failing",
    "passing",
    "Failed:",
    "Failures:",
    "Assertions:",
    " examples, ",
    "\nOK",
    "error TS",
    "Found ",
    "problem",
    "ok  ",
    "ok\t",
    " errors",
)
_FAILED_COUNT = re.compile(r"\b([1-9]\d*) (?:failed|errors?)\b")
_TROUBLE = re.compile(r"^(?:.*(?:command not found|No such file or directory|Permission denied).*|(?:fatal|error|ERROR|npm ERR!|npm error|Error|panic|Traceback)\b.*|error(?:\[\w+\])?: .*|[\w.]*(?:Error|Exception): .*)$", re.MULTILINE)  # fmt: skip
_LAST_ERROR = re.compile(r"^(?:E {3,}\S.*|[\w.]*(?:Error|Exception|Exit)\b:? .*|(?:\[?(?:FATAL|ERROR)\]?:?|fatal:|error(?:\[\w+\])?:|Error:|npm ERR!|npm error|FAILED|panic:|CONFLICT) ?.*|.*(?:command not found|Permission denied|rejected\]| - (?:ERROR|CRITICAL) - | with [1-9]\d{0,4} errors?\b).*)$", re.MULTILINE)  # fmt: skip


# how each runner counts, what in its count means failure, and words one of which is in every count: those are looked
# for as they are, which is faster than any expression
_RUNNERS = (
    (_PYTEST, _FAILED_COUNT, ("failed", "passed", "error", "skipped", "deselected", "warning")),
    (_JEST, _FAILED_COUNT, ("Test",)),
    (_CARGO, re.compile("FAILED"), ("test result: ",)),
    (_GO, re.compile("FAIL"), ("FAIL", "ok")),
    (_MOCHA, re.compile("failing"), ("passing", "failing")),
    (_UNITTEST, re.compile("FAILED"), ("FAILED (", "OK")),
    (_DOTNET, re.compile(r"Failed:\s+[1-9]"), ("Passed!", "Failed!")),
    (_PHPUNIT, re.compile(r"(?:Failures|Errors): [1-9]"), ("Assertions: ",)),
    (_RSPEC, re.compile(r", [1-9]\d* failures?"), (" example",)),
    (_GRADLE, _FAILED_COUNT, (" completed, ",)),
    (_MAVEN, re.compile(r"(?:Failures|Errors): [1-9]"), ("Tests run: ",)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a command failed (None: nobody can say) and one line that says how."""

    failed: bool | None
    summary: str = ""
    interrupted: bool = False


def outcome(text: str, details: Mapping[str, Any], *, is_error: bool, is_test: bool) -> Outcome:
    """What became of a command. A runner's own counts outrank the exit code, which a pipe hides."""
    tail = text[-_TAIL:]
    if is_error and _INTERRUPTED.search(text[:_HEAD]):
        return Outcome(None, interrupted=True)
    if details.get("status") == "running" or _says_running(text[:_HEAD]):
        return Outcome(None)
    failed = _exit_failed(text, tail, details, is_error=is_error)
    counted = _counted(tail)
    # a checker may find no errors and fail for its warnings
    if counted is not None and not (failed and not counted.failed and _MENDED.search(counted.summary)):
        return counted
    if failed is None and (is_test or _opens_with_trouble(tail)):
        failed = True if _opens_with_trouble(tail) else None
    return Outcome(failed, last_error(tail) if failed else "")


def _says_running(head: str) -> bool:
    plain = head.lower()
    # in ASCII every case of a letter is one of two, and most outputs have neither word
    if head.isascii() and "running" not in plain and "background" not in plain:
        return False
    return _RUNNING.search(head) is not None


def _exit_failed(text: str, tail: str, details: Mapping[str, Any], *, is_error: bool) -> bool | None:
    code = details.get("exitCode", details.get("exit_code"))
    if isinstance(code, int) and not isinstance(code, bool):
        return code != 0
    head = text[:_HEAD]
    told = (_EXIT.search(tail) if "xit" in tail else None) or (_EXIT.search(head) if "xit" in head else None)
    if told:
        return int(told[1]) != 0
    if is_error or details.get("status") in {"error", "failed"} or says_error(text):
        return True
    return None


def says_error(text: str) -> bool:
    """Whether an answer is a record that calls itself an error: `{"status": "error", …}`."""
    return text.startswith("{") and _STATUS_ERROR.match(text[:_HEAD]) is not None


def told_error(text: str) -> str:
    """One line of an answer that says what went wrong: the error it names, else how a shell classed it, else its first."""
    plain = text[-_TAIL:].replace("\\n", "\n") if text.startswith("{") else text
    classed = _CLASSED.search(plain[-_TAIL:])
    found = last_error(plain) or (classed[1] if classed else "")
    return found or " ".join(plain.strip().split("\n", 1)[0].split())[:LONGEST_SUMMARY]


def _opens_with_trouble(tail: str) -> bool:
    """Whether what a command printed last is an error: its last lines, not something it quoted on the way."""
    last = "\n".join(tail.rstrip().rsplit("\n", 3)[-3:])
    return _TROUBLE.search(last) is not None


def _counted(tail: str) -> Outcome | None:
    """What a test runner or checker says of its own run, by its last word on it."""
    if _counting()(tail.encode("utf-8", "replace"), 0)[0][0] < 0:
        return None
    found = [
        (match.start(), bool(failed.search(match[0])), match[1] if match.lastindex else match[0])
        for counts, failed, words in _RUNNERS
        if _has_one_of(words, tail)
        for match in counts.finditer(tail)
    ]
    found = found or [(match.start(), not _MENDED.search(match[1]), match[1]) for match in _LINT.finditer(tail)]
    if not found:
        return None
    failed = [one for one in found if one[1]]
    _, is_failure, said = max(failed or found)
    return Outcome(is_failure, " ".join(said.split())[:LONGEST_SUMMARY].rstrip(" ,"))


@cache
def _counting() -> Search:
    """One look for all the words: in a long output that has none, a look for each takes longer."""
    return searcher(compiled(any_of(map(re.escape, _COUNTING)), groups=False))


def _has_one_of(words: Iterable[str], text: str) -> bool:
    for word in words:  # noqa: SIM110 - every output is asked: a generator would take longer than the looks
        if word in text:
            return True
    return False


def last_error(text: str) -> str:
    """The last line of an output that names an error, shortened; empty if none does."""
    lines = _LAST_ERROR.findall(text[-_TAIL:])[-4:]
    if not lines:
        return ""
    # a program's very last word is often just that it gives up
    telling = max(reversed(lines), key=lambda line: min(len(line.split()), 8))
    return " ".join(telling.split())[:LONGEST_SUMMARY]
