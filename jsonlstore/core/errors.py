"""One error base, one leaf per situation.

Every error carries a stable `code` for scripts (by default its class name in lower case) and, where one helps, a `hint`
for the person at the keyboard.
"""

from __future__ import annotations

from pathlib import Path

_LONGEST_QUOTED = 60


def quoted_value(value: object) -> str:
    """A wrong value as an error quotes it: whole, or not at all: half a secret no longer looks like one."""
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_QUOTED else f"{len(shown)} characters"


class JsonlStoreError(Exception):
    """Something jsonlstore could not do; the message says what, `hint` what to try.

    Arguments:
        message: what could not be done
        hint: what to try
        path: the file it is about
    """

    code = "error"

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            cls.code = "".join(f"_{char.lower()}" if char.isupper() else char for char in cls.__name__)[1:]

    def __init__(self, message: str, *, hint: str | None = None, path: Path | str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path

    def to_dict(self) -> dict[str, str | None]:
        """The error envelope that `--json` prints."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class UsageError(JsonlStoreError):
    """The input itself is wrong: exit 2."""

    code = "usage"


class InvalidSessionId(UsageError):
    """The id is not a plain session id and must never become a file name."""


class SessionNotFound(JsonlStoreError):
    """No session has this id or prefix."""


class AmbiguousSessionId(JsonlStoreError):
    """The prefix fits more than one session."""


class SessionForgotten(JsonlStoreError):
    """The session was forgotten on request; writing to it again is refused."""


class SessionOpen(JsonlStoreError):
    """The session has not ended, so it cannot be archived."""


class NewerSchema(JsonlStoreError):
    """A newer jsonlstore wrote this log; reading is fine, writing would lose what we do not know."""


class LockTimeout(JsonlStoreError):
    """Another process held a lock for longer than we may wait."""


class OverBudget(JsonlStoreError):
    """The time budget of a session start is used up; no further work is done."""


class OutOfScope(JsonlStoreError):
    """The session belongs to another conversation, which this caller must not read."""


class StaleSource(JsonlStoreError):
    """Another writer moved the transcript cursor since this update was computed; nothing was written."""


class WriteFailed(JsonlStoreError):
    """The disk refused a write or a sync; the previous content is intact."""


class Unreadable(JsonlStoreError):
    """A file exists but cannot be read."""


class ConfigError(UsageError):
    """A setting is unknown to its schema, of the wrong type or out of range."""

    code = "config_invalid"


class SourceUnreadable(JsonlStoreError):
    """A transcript source exists but cannot be read."""


class PlaceRefused(UsageError):
    """Our transcripts would be written to a directory where another program keeps its own."""


class RecordRefused(UsageError):
    """A transcript record is not one that OpenClaw, pi or we could read back."""


class TranscriptConflict(JsonlStoreError):
    """Two stores hold different histories of one session; neither was changed."""


class SearchUnavailable(JsonlStoreError):
    """The full-text index is missing, damaged, locked for too long, or this Python's SQLite has no FTS5."""
