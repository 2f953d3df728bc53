"""What the tools did in a session, exactly: commits, commands with their last outcome, files changed, todo lists.

It is told from tool calls and their results alone; nothing here depends on the language people spoke.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.signals.families import Family, Runs
from jsonlstore.signals.outcome import Outcome, outcome, told_error
from jsonlstore.signals.references import References
from jsonlstore.signals.refusals import Refusals
from jsonlstore.signals.shell import Purpose, Step, commit_subject, may_commit, merely_looks, steps, written_files
from jsonlstore.signals.todos import TodoBoard
from jsonlstore.signals.undone import RESET, TAKES_BACK, after_step, removed_by_name, reverted_subject, without_reverted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jsonlstore.signals.plans import WrittenPlan

MOST_COMMITS = 200
MOST_FILES = 400
MOST_MEMORY_WRITES = 100
_LONGEST_COMMAND = 4_000
_MOST_FAILED = 16
_BARE_EXIT = 32
_MERGED = re.compile(
    r"[Mm]erged pull request (?:\S+)?#(\d+) \((.{1,300})\)\s*$", re.MULTILINE
)  # by gh, which names its title
_COMMITTED = re.compile(r"^\[([^\]\n]{1,80}?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)
# in what another program prints, git's next line must be there, too
_COMMITTED_INSIDE = re.compile(_COMMITTED.pattern.removesuffix("$") + r"\n \d+ files? changed", re.MULTILINE)
# a push that arrived: "5c58d1f..edcb7a2  main -> main"
_SENT = re.compile(
    r"^ {1,4}[ +*]? ?(?:[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}|\[new (?:branch|tag)\]) +\S+ +-> +\S+", re.MULTILINE
)
# a command that was not understood: it never ran
_MISUSED = re.compile(
    r"(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Ii]nvalid|[Nn]o such) (?:option|flag|argument|switch)s?\b|[Mm]issing script:|InvalidEndOfLine"
    r"|unexpected argument '|flag provided but not defined|can't open file '|the following arguments are required"
)
_UNTOLD = Outcome(None)
_MAY_SCRIPT = frozenset({Purpose.RUN, Purpose.SHIP})
_UPDATED = re.compile(r"^[AMD] (\S.*)$", re.MULTILINE)
_IN_THE_WAY = frozenset({Purpose.TEST, Purpose.BUILD, Purpose.RUN, Purpose.SHIP, Purpose.INSTALL})
_OTHER_WAYS = frozenset({Purpose.RUN, Purpose.INSTALL})
# programs that take away what was in the way of another
_CLEARS = frozenset({"kill", "pkill", "killall", "fuser", "kill-port", "taskkill", "mkdir", "chmod", "chown", "rm", "mv", "cp", "ln", "export", "createdb", "systemctl", "service", "docker", "docker-compose", "xargs"})  # fmt: skip
_KEEPING = frozenset(
    {"git add", "git commit"}
)  # nobody runs them to find something out: where they fail, work is not kept
_NOTHING = re.compile(r"nothing (?:added )?to commit|no changes added to commit")
_HOME = re.compile(r"^(?:/home/[^/]+|/Users/[^/]+|[A-Za-z]:/Users/[^/]+|/root)(?=/)")
_WRITERS = frozenset({"write", "edit", "multiedit", "apply_patch", "notebookedit", "str_replace", "create", "str_replace_editor", "str_replace_based_edit_tool", "write_file", "edit_file", "create_file", "replace", "insert"})  # fmt: skip
_PATH_KEYS = ("path", "file_path", "filePath", "file", "filename", "notebook_path", "target_file")


def memory_path(path: str) -> str | None:
    """The path below `memory/` that a shown path means; None if it lies elsewhere (decision 37)."""
    plain = posixpath.normpath(path)
    return plain if plain.startswith("memory/") else None


@dataclass(frozen=True, slots=True)
class GitCommit:
    """One commit the session made."""

    subject: str
    at: str
    entry_id: str | None
    sha: str = ""
    turn: int = 0
    branch: str = ""


@dataclass(slots=True)
class ChangedFile:
    """A file the session changed: how often, and whether since the last commit."""

    path: str
    changes: int = 0
    uncommitted: bool = False
    last: int = 0
    turn: int = 0  # of the last change


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that ended with an error, and what the error says."""

    what: str
    summary: str
    at: str
    entry_id: str | None
    is_command: bool


@dataclass(slots=True)
class WorkLog:
    """Collects the evidence of one stretch in bounded memory.

    Without `looks`, commands that merely look at something are not followed: how they went is told only in facts.
    """

    looks: bool = True
    commits: list[GitCommit] = field(default_factory=list)
    todos: TodoBoard = field(default_factory=TodoBoard)
    memory_writes: list[tuple[int, str]] = field(default_factory=list)
    references: References = field(default_factory=References)
    refusals: Refusals = field(default_factory=Refusals)
    made: list[GitCommit] = field(default_factory=list)  # by the command that ran last
    taken_back: list[GitCommit] = field(default_factory=list)  # by the same
    _dropped: list[GitCommit] = field(default_factory=list)  # by the last reset, which another may bring back
    _pushed: GitCommit | None = None
    _failed: dict[str, str] = field(
        default_factory=dict
    )  # commands that failed and did not pass since, the latest last
    plan: WrittenPlan | None = None
    stopped_at: Failed | None = None  # the result that came last, where it was an error
    failed_in_a_row: int = 0  # commands that said nothing but their exit code, up to the last one
    bare_exit: str = ""
    turn: int = 0
    base: str = ""
    _home: str = ""
    _files: dict[str, ChangedFile] = field(default_factory=dict)
    runs: Runs = field(default_factory=Runs)
    _changes: int = 0

    def next_turn(self) -> None:
        """The user spoke."""
        self.turn += 1

    # what calls and results say

    def answered(self, what: str, text: str, *, failed: bool, is_command: bool, at: str, entry_id: str | None) -> None:
        """A tool answered, whatever it was for: only the last answer is kept, and how many commands failed before it."""
        if is_command:
            silent = failed and len(text) <= _BARE_EXIT  # a shell that is broken says no more than its exit code
            self.failed_in_a_row = self.failed_in_a_row + 1 if silent else 0
            self.bare_exit = " ".join(text.split()) if silent else ""
        self.stopped_at = Failed(what, told_error(text), at, entry_id, is_command) if failed else None
        if self.stopped_at:
            self.refusals.failed(what, self.stopped_at.summary, text, self.turn, at, entry_id)
        else:
            self.refusals.passed(what)

    def ran(self, command: str, text: str, details: Mapping[str, Any], *, is_error: bool, at: str, entry_id: str | None) -> Outcome:  # fmt: skip
        """A command and what it answered."""
        self.made, self.taken_back = [], []
        done = steps(command)
        if not is_error and any(one.family.partition(" ")[0] in _CLEARS for one in done):
            self.runs.acts += 1
        if not self.looks and merely_looks(command):
            return _UNTOLD
        went = outcome(text, details, is_error=is_error, is_test=any(one.purpose is Purpose.TEST for one in done))
        if went.interrupted:
            self.runs.started_again(done)
            return went
        if went.failed and _SENT.search(text) and any(one.family == "git push" for one in done):
            went = Outcome(False)  # git reports on stderr, which some shells take for a failure
        self.references.ran(command, text, entry_id)
        if went.failed or self._failed:
            self._note_failure(command, went)
        if not (went.failed and _MISUSED.search(text[:_LONGEST_COMMAND])):  # it hides no failure before it
            nothing_to_do = bool(went.failed and _NOTHING.search(text[:4_000]))
            self._note_steps(done, went, text, at, entry_id, nothing_to_do=nothing_to_do)
        self._note_history(command, done, text, went, at, entry_id)
        if went.failed is not True:
            listed = (
                _UPDATED.findall(text[:2_000]) if "*** " in command and "Updated the following files" in text else []
            )
            for path in listed or written_files(command):
                self.changed(path)
        return went

    def _note_history(self, command: str, done: tuple[Step, ...], text: str, went: Outcome, at: str, entry_id: str | None) -> None:  # fmt: skip
        """The commits a command made, took back or pushed, in its order."""
        back = [one for one in done if one.family in TAKES_BACK] if "git" in command and went.failed is not True else []
        first = next((place for place, one in enumerate(done) if one.family == "git commit"), len(done)) if back else 0
        for one in back:
            if one in done[:first]:
                self._step_back(one, text)
        if may_commit(command) or "gh pr merge" in command:
            made = [*self._confirmed(_COMMITTED, text, at, entry_id), *self._merged(text, at, entry_id)]
            self._note_commits(made, command, went, at, entry_id)
        elif " changed" in text and any(one.purpose in _MAY_SCRIPT for one in done):
            self._note_commits(self._confirmed(_COMMITTED_INSIDE, text, at, entry_id), "", went, at, entry_id)
        for one in back:
            if one not in done[:first]:
                self._step_back(one, text)
        if self.commits and went.failed is not True and any(one.family == "git push" for one in done):
            self._pushed = self.commits[-1]

    def _step_back(self, step: Step, text: str) -> None:
        dropped = self._leave(after_step(step, text, self.commits, self._dropped, self._pushed))
        if step.family == RESET:
            self._dropped = dropped

    def _leave(self, left: list[GitCommit]) -> list[GitCommit]:
        """Only these commits are left; returns those that are gone."""
        gone = [one for one in self.commits if one not in left]
        self.taken_back += gone
        self.made = [one for one in left if one not in self.commits or one in self.made]
        self.commits = left
        return gone

    def undone(self, text: str) -> None:
        """An agent's own undo command said which commits it removed."""
        self.made, self.taken_back = [], []
        left = removed_by_name(self.commits, text)
        if left is not None:
            self._leave(left)

    def _note_failure(self, command: str, went: Outcome) -> None:
        plain = " ".join(command[:_LONGEST_COMMAND].split())
        self._failed.pop(plain, None)
        if went.failed:
            self._failed[plain] = went.summary
            if len(self._failed) > _MOST_FAILED:
                del self._failed[next(iter(self._failed))]

    def _note_steps(self, done: tuple[Step, ...], went: Outcome, text: str, at: str, entry_id: str | None, *, nothing_to_do: bool) -> None:  # fmt: skip
        telling = [one for one in done if one.purpose in _IN_THE_WAY]
        kept = [one for one in done if one.family in _KEEPING]
        if kept and went.failed and not telling and not nothing_to_do:
            telling = kept[-1:]
        elif kept and not went.failed:  # it went well, which matters where it had not before
            telling = [
                one for one in done if one in telling or (one.family in _KEEPING and self.runs.knows(one.family))
            ]
        # of a chain that failed the last telling step is taken to be the one that did: what came before it had passed
        for place, one in enumerate(telling):
            failed = bool(went.failed) and place == len(telling) - 1
            if went.failed is None and not failed and one.purpose is Purpose.TEST:
                self.runs.started_again((one,))
                continue  # a test run that says nothing of its outcome neither breaks nor mends anything
            said = went.summary if failed or one.purpose is Purpose.TEST else ""
            self.runs.note(one, said, text, at, entry_id, turn=self.turn, failed=failed)
            self.runs.acts += not failed

    def _confirmed(self, told: re.Pattern[str], text: str, at: str, entry_id: str | None) -> list[GitCommit]:
        return [
            GitCommit(" ".join(said.split())[:200], at, entry_id, sha, turn=self.turn, branch=branch)
            for branch, sha, said in told.findall(text[:20_000])
        ]

    def _merged(self, text: str, at: str, entry_id: str | None) -> list[GitCommit]:
        return [
            GitCommit(f"{' '.join(title.split())[:190]} (#{number})", at, entry_id, turn=self.turn)
            for number, title in _MERGED.findall(text[:20_000])
        ]

    def _note_commits(self, made: list[GitCommit], command: str, went: Outcome, at: str, entry_id: str | None) -> None:
        subject = commit_subject(command)
        if not made and subject and went.failed is False:
            made = [GitCommit(subject, at, entry_id, turn=self.turn)]
        if not made:
            return
        if "--amend" in command and self.commits:
            self.commits.pop()
        for one in made:
            if subject := reverted_subject(one.subject):
                self._leave(without_reverted(self.commits, subject))
        self.commits += made
        self.made += made
        self._dropped = []
        for one in made:
            self.references.committed(one.subject, entry_id)
        del self.commits[:-MOST_COMMITS]
        self.plan = None
        for file in self._files.values():
            file.uncommitted = False

    def changed(self, path: str) -> None:
        """A file was written or edited, and the tool did not say that it failed."""
        key = self._shown(path.strip().replace("\\", "/"))
        if not key or len(key) > 400 or "\n" in key:
            return
        self._changes += 1
        self.runs.acts += 1
        known = self._files.get(key)
        if known is None:
            if len(self._files) >= MOST_FILES:
                oldest = min(self._files.values(), key=lambda one: (one.uncommitted, one.last))
                del self._files[oldest.path]
            known = self._files[key] = ChangedFile(key)
        known.changes += 1
        known.uncommitted = True
        known.last = self._changes
        known.turn = self.turn

    def _shown(self, path: str) -> str:
        """One spelling for one file: from where the session was started, or from home."""
        if self.base and path.lower().startswith(self.base.lower() + "/"):
            return path[len(self.base) + 1 :]
        path = _HOME.sub("~", path)
        return (
            path[len(self._home) + 1 :] if self._home and path.startswith(self._home + "/") else path.removeprefix("./")
        )

    def start_in(self, directory: str) -> None:
        """Where the session was started."""
        self.base = directory.replace("\\", "/").rstrip("/")
        self._home = _HOME.sub("~", self.base)

    def wrote(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """The files a tool of this name changed; what it wrote may hold a checklist."""
        if name not in _WRITERS:
            return []
        paths = [value for key in _PATH_KEYS if isinstance(value := arguments.get(key), str) and value][:1]
        patch = arguments.get("patch") or arguments.get("input")
        if not paths and isinstance(patch, str):
            paths = written_files(patch)
        for path in paths:
            self.changed(path)
            self.todos.wrote(path, arguments)
            self._note_memory(path)
        return paths

    def _note_memory(self, path: str) -> None:
        kept = memory_path(self._shown(path.strip().replace("\\", "/")))
        if kept and len(kept) <= 400:
            self.memory_writes.append((self.turn, kept))
            del self.memory_writes[:-MOST_MEMORY_WRITES]

    # what there is to tell

    def files(self) -> list[ChangedFile]:
        """The files changed: those not committed yet first, then those changed most and last."""
        return sorted(self._files.values(), key=lambda one: (not one.uncommitted, -one.changes, -one.last))

    def families(self) -> Iterable[Family]:
        """The command families, the one run last at the end."""
        return self.runs.families()

    def failing(self, reach: int = 2, *, done_by_hand: bool = False) -> Family | None:
        """The command still failing at the end: run in one of the last turns, and neither passed nor started again since.

        Where others went well after it in the same turn, what was merely run or installed was done in another way.
        So was a commit or push of an earlier turn, if the user says that they did it themselves (`done_by_hand`).
        """
        running = self.runs.running()
        late: list[Family] = []
        went_on = False
        for one in reversed(self.runs.families()):
            by_hand = done_by_hand and one.name in _KEEPING and one.turn < self.turn
            if (
                one.failed
                and not (one.untold or any(one is known for known in running))
                and self.turn - one.turn < reach
                and not by_hand
                and not (went_on and one.purpose in _OTHER_WAYS)
            ):
                late.insert(0, one)
            went_on = went_on or (not one.failed and one.turn == self.turn and one.purpose in _IN_THE_WAY)
        if not late:
            return None
        order = {Purpose.TEST: 3, Purpose.BUILD: 2, Purpose.SHIP: 2}
        return max(reversed(late), key=lambda one: (order.get(one.purpose, 1), one.turn))

    @property
    def pushed(self) -> bool:
        """Whether anything was pushed since the last commit, or nobody can say because no git ran."""
        if not self.commits and not any(one.name.startswith("git ") for one in self.families()):
            return True
        known = self.runs.knows("git push")
        return known is not None and not known.failed and (not self.commits or self._pushed == self.commits[-1])

    @property
    def last_failed(self) -> tuple[str, str] | None:
        """The command run last of those that failed and did not pass since, with the error; whatever it was for."""
        return next(reversed(self._failed.items()), None)
