"""The runtimes whose transcripts are read, and the registry of them.

A runtime finds its sources, names the directories to watch, and answers questions about one session from its own files.
To add one, write a `Runtime` and register it: no other module of the package names a runtime.

Hook calls load this module, so it imports next to nothing. Of the built-in runtimes they load only those that answer
questions about one session; these load their readers when they are asked to read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jsonlstore.transcripts.session import RecordedSession
    from jsonlstore.transcripts.source import Transcript, TranscriptSource


class BuiltIn(NamedTuple):
    """The registration of a runtime of this package: its module, whose `RUNTIME` is taken when it is first needed."""

    module: str
    answers: bool = False  # whether its `Runtime` has one of SESSION_QUESTIONS, so that hook calls load it


BUILT_IN = (
    BuiltIn("jsonlstore.transcripts.openclaw", answers=True),
    BuiltIn("jsonlstore.transcripts.goclaw"),
    BuiltIn("jsonlstore.transcripts.own", answers=True),
)
SESSION_QUESTIONS = ("has_transcript", "utility_key", "resets", "was_answered")  # what hook calls ask a runtime
_registered: list[Runtime] = []


class Discovery(NamedTuple):
    """The sources found, and warnings about sources that may exist but cannot be read."""

    sources: list[TranscriptSource]
    warnings: tuple[str, ...] = ()


class Runtime(ABC):
    """One agent runtime. Only `discover` must be written."""

    ignored: tuple[str, ...] = ()  # parts of file names whose changes are irrelevant to transcripts

    @abstractmethod
    def discover(self, state_dir: Path) -> Discovery:
        """Every source of this runtime, in the state directory or wherever else it keeps them."""

    def watched(self, state_dir: Path) -> list[Path]:
        """The directories in or below which a write to a transcript shows; they need not exist yet."""
        return []

    def unknown_formats(self, state_dir: Path) -> Iterator[str]:
        """Warnings about files that look like transcripts and have no reader."""
        return iter(())

    # -- paths that a user names

    def is_state_dir(self, path: Path) -> bool:
        """Whether `path` is a whole state directory, in which `discover` finds every source."""
        return False

    def sources_in(self, path: Path) -> list[TranscriptSource]:
        """The sources directly in a directory, wherever it is."""
        return []

    def open_file(self, path: Path) -> tuple[TranscriptSource, Transcript] | None:
        """A transcript file outside any source; None if it is none of this runtime's. Raises if it is broken."""
        return None

    # -- questions about one session, answered from the runtime's own files; a hook call asks the SESSION_QUESTIONS

    def has_transcript(self, state_dir: Path, agent: str, session_id: str) -> bool:
        """Whether it keeps a transcript of this session, which then tells when the session ended (decision 54)."""
        return False

    def utility_key(self, state_dir: Path, agent: str, session_id: str) -> str | None:
        """The key of a sub-agent's, cron job's or utility run that has this id (decision 50)."""
        return None

    def resets(self, state_dir: Path, agent: str, session_id: str) -> list[str]:
        """The ids of the reset records of a session, oldest first."""
        return []

    def was_answered(self, state_dir: Path, agent: str, session_id: str) -> bool:
        """Whether the newest stretch of this session holds an answer of the model."""
        return False

    def copies(self, state_dir: Path, agent: str, session_id: str) -> list[tuple[TranscriptSource, Transcript]]:
        """The copies of one session of one agent; a runtime that need not list all of them for it says so itself."""
        sources = [one for one in self.discover(state_dir).sources if one.agent_id == agent]
        return [(one, each) for one in sources for each in one.transcripts() if each.session_id == session_id]

    def agent_is_gone(self, state_dir: Path, agent: str, file: str) -> bool:
        """Whether the agent directory that held `file`, as our logs name it, is certainly gone."""
        return False

    def channels(self, state_dir: Path, agent: str) -> Mapping[str, str]:
        """The channel of each conversation this agent has now, by session key."""
        return {}


def register_runtime(runtime: Runtime) -> None:
    """Add a runtime after those registered before: its transcripts are read, watched and asked from now on."""
    _registered.append(runtime)


def unregister_runtime(runtime: Runtime) -> None:
    """Undo `register_runtime`."""
    _registered.remove(runtime)


def registered_runtimes() -> list[Runtime]:
    """The built-in runtimes and every registered one."""
    return [*(_load(one) for one in BUILT_IN), *_registered]


def _answering_runtimes() -> list[Runtime]:
    """The runtimes that answer `SESSION_QUESTIONS`: a hook call does not load the others."""
    return [*(_load(one) for one in BUILT_IN if one.answers), *_registered]


def _load(built_in: BuiltIn) -> Runtime:
    runtime: Runtime = import_module(built_in.module).RUNTIME
    return runtime


def discover(state_dir: Path) -> Discovery:
    """Every source of every runtime."""
    found = [runtime.discover(state_dir) for runtime in registered_runtimes()]
    return Discovery(
        [one for each in found for one in each.sources], tuple(one for each in found for one in each.warnings)
    )


def has_transcript(state_dir: Path, agent: str, session_id: str) -> bool:
    """Whether any runtime keeps a transcript of this session."""
    return any(runtime.has_transcript(state_dir, agent, session_id) for runtime in _answering_runtimes())


def was_answered(state_dir: Path, agent: str, session_id: str) -> bool:
    """Whether any runtime's transcript shows that the model answered in this session since it began."""
    return any(runtime.was_answered(state_dir, agent, session_id) for runtime in _answering_runtimes())


def recorded_session(state_dir: Path, agent: str, session_id: str) -> RecordedSession | None:
    """One session by its id, without a catalogue of all of them; None if no runtime has it."""
    from jsonlstore.transcripts.session import RecordedSession, copy_order

    copies = [one for runtime in registered_runtimes() for one in runtime.copies(state_dir, agent, session_id)]
    return RecordedSession(agent, session_id, tuple(sorted(copies, key=copy_order))) if copies else None


def utility_key(state_dir: Path, agent: str, session_id: str) -> str | None:
    """The key of the utility run that has this id, if a runtime knows it as one."""
    keys = (runtime.utility_key(state_dir, agent, session_id) for runtime in _answering_runtimes())
    return next((key for key in keys if key is not None), None)


def current_stretch(state_dir: Path, agent: str, session_id: str, *, before_last_reset: bool = False) -> str:
    """Our id of the stretch that a call with the runtime's id means: the newest, or the one its last reset closed."""
    resets = next((found for one in _answering_runtimes() if (found := one.resets(state_dir, agent, session_id))), [])
    if before_last_reset:
        resets = resets[:-1]
    if not resets:
        return session_id
    from jsonlstore.transcripts.stretches import stretch_id

    return stretch_id(session_id, resets[-1])


def may_exist(path: Path) -> bool:
    """Whether `path` may exist; True if that cannot be checked, so that the source reports the problem itself."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
