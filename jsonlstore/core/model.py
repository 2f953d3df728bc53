"""The distilled session: `SessionState` and its parts.

Keys are the specification's. Unknown keys of a record are kept in `extra` and written back unchanged, so that a newer
writer's fields survive an older reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, field, fields
from typing import Any, ClassVar, Self, TypeVar

from jsonlstore.core.values import value_class

SCHEMA_VERSION = 1

_PROVENANCE = re.compile(r"(?:\s*\[inherited from [^\[\]@]* @ [^\[\]]*\])+\s*\Z")
_CRITICAL = re.compile(r"\bCRITICAL\b")


@value_class(frozen=True, slots=True)
class Part:
    """A value read from and written to a JSON object."""

    KEYS: ClassVar[Mapping[str, str]] = {}  # attribute -> JSON key, where they differ

    extra: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Self:
        """Read a JSON object; raises `ValueError` naming the first field that is missing or of the wrong type."""
        if not isinstance(raw, Mapping):
            raise ValueError("must be an object")
        given: dict[str, Any] = {}
        known = _layout(cls)
        for key, (attribute, kinds, required) in known.items():
            value = raw.get(key)
            if value is None:
                if required:
                    raise ValueError(f"{key} is missing")
                continue
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise ValueError(f"{key} must be {_words(kinds)}")
            given[attribute] = value
        extra = {key: value for key, value in raw.items() if key not in known}
        return cls(**given, extra=extra)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object; optional fields without a value are left out."""
        out: dict[str, Any] = {}
        for key, (attribute, _, required) in _layout(type(self)).items():
            value = getattr(self, attribute)
            if value is not None or required:
                out[key] = value
        out.update(self.extra)
        return out


_LAYOUTS: dict[type[Part], dict[str, tuple[str, tuple[type, ...], bool]]] = {}


def _layout(cls: type[Part]) -> dict[str, tuple[str, tuple[type, ...], bool]]:
    """JSON key -> (attribute, accepted types, required) of a part, derived from its annotations once per class."""
    if cls in _LAYOUTS:
        return _LAYOUTS[cls]
    accepts: dict[str, tuple[type, ...]] = {"str": (str,), "bool": (bool,), "float": (int, float), "int": (int,)}
    layout = _LAYOUTS[cls] = {}
    for item in fields(cls):
        if item.name == "extra":
            continue
        kind = str(item.type).removesuffix(" | None")
        required = item.default is MISSING and item.default_factory is MISSING
        layout[cls.KEYS.get(item.name, item.name)] = (item.name, accepts[kind], required)
    return layout


_OURS_BESIDES = frozenset({"evidence", "confidence", "importance", "by_hand"})


def part_keys(cls: type[Part]) -> frozenset[str]:
    """The keys of a part that have a meaning here; whatever else it holds is another writer's."""
    return _OURS_BESIDES | _layout(cls).keys()


def _words(kinds: tuple[type, ...]) -> str:
    return {str: "a string", bool: "true or false", int: "a number", float: "a number"}[kinds[0]]


def strip_provenance(label: str) -> str:
    """`label` without any `[inherited from … @ …]` suffix, so that provenance never nests."""
    return _PROVENANCE.sub("", label)


def is_critical(pin: Any) -> bool:
    """Whether a pin, as JSON, is tagged CRITICAL or has the word in its label or content."""
    if not isinstance(pin, Mapping):
        return False
    tag = pin.get("importance")
    return (isinstance(tag, str) and tag.upper() == "CRITICAL") or any(
        isinstance(pin.get(key), str) and _CRITICAL.search(pin[key]) for key in ("label", "content")
    )


@value_class(frozen=True, slots=True)
class WorkingMemoryPin(Part):
    """One pin of `working_memory.json`."""

    KEYS: ClassVar[Mapping[str, str]] = {"pinned_at": "pinnedAt"}

    content: str
    pinned_at: str = ""
    label: str | None = None

    @property
    def key(self) -> str:
        """The identity of a pin: pins with the same label (without provenance), else the same content, are one."""
        return "label:" + strip_provenance(self.label) if self.label else "content:" + self.content

    @property
    def critical(self) -> bool:
        """See `is_critical`."""
        return is_critical(self.to_dict())


@value_class(frozen=True, slots=True)
class PendingTask(Part):
    """Work left undone. `flagged_incomplete` marks a task found in text rather than in the pipeline's own state."""

    task_id: str
    title: str = ""
    stage: str = ""
    flagged_incomplete: bool = False


@value_class(frozen=True, slots=True)
class ConfidenceUpdate(Part):
    """One change of a memory's confidence."""

    memory_id: str
    old_score: float
    new_score: float
    reason: str = ""
    timestamp: str = ""


@value_class(frozen=True, slots=True)
class SOPInteraction(Part):
    """An operating procedure that was injected, and whether the agent acknowledged it."""

    sop_path: str
    injected_at: str = ""
    acknowledged: bool = False
    tool_call: str = ""


@value_class(frozen=True, slots=True)
class Note(Part):
    """One sentence worth keeping: a decision, blocker, insight, accomplishment, scope creep or created task."""

    id: str
    type: str
    content: str
    timestamp: str = ""
    confidence: float = 1.0
    source_entry_id: str | None = None
    resolved: bool | None = None


@value_class(frozen=True, slots=True)
class Tokens(Part):
    """The tokens used of the model's context window, and whether that number is an estimate."""

    used: int
    window: int | None = None
    estimated: bool = False


@value_class(frozen=True, slots=True)
class LastRequest(Part):
    """The user's last request and its outcome: answered, unanswered, interrupted, failed or refused."""

    text: str
    at: str = ""
    fate: str = ""
    doing: str | None = None
    error: str | None = None


@value_class(frozen=True, slots=True)
class EarlierRequest(Part):
    """A request before the last one; the fate is empty where nobody can tell."""

    text: str
    at: str = ""
    fate: str = ""


@value_class(frozen=True, slots=True)
class Commit(Part):
    """A commit the session made; sha and branch are empty if the tool's output did not show them."""

    subject: str
    sha: str = ""
    at: str = ""
    branch: str = ""


@value_class(frozen=True, slots=True)
class FileInWork(Part):
    """A file the session changed: how often, and whether since the last commit."""

    path: str
    changes: int = 1
    uncommitted: bool = False


@value_class(frozen=True, slots=True)
class Failing(Part):
    """The command that still failed at the end of the session."""

    command: str
    at: str = ""
    summary: str = ""


@value_class(frozen=True, slots=True)
class Closed(Part):
    """Something this session closed, whoever opened it."""

    title: str
    how: str = ""
    id: str | None = None


@value_class(frozen=True, slots=True)
class Reference(Part):
    """An address, issue or pull request the session worked on: told by its tools, with how often."""

    ref: str
    kind: str = "url"
    times: int = 1


@value_class(frozen=True, slots=True)
class Ground(Part):
    """Why a field that is plain text says what it says: its field, the text, and in `extra` evidence and confidence."""

    field: str
    text: str


PART_LISTS: Mapping[str, type[Part]] = {
    "working_memory": WorkingMemoryPin,
    "pending_tasks": PendingTask,
    "confidence_updates": ConfidenceUpdate,
    "sop_interactions": SOPInteraction,
    "notes": Note,
    "earlier_requests": EarlierRequest,
    "commits": Commit,
    "files": FileInWork,
    "closed": Closed,
    "references": Reference,
    "grounds": Ground,
}
SINGLE_PARTS: Mapping[str, type[Part]] = {"tokens": Tokens, "last_request": LastRequest, "failing": Failing}
STRING_LISTS = (
    "hot_topics", "active_projects", "recent_learnings", "in_progress", "open_questions", "constraints",
)  # fmt: skip
SCALARS = ("channel", "agent_id", "session_key", "end_reason", "last_topic", "next_step", "last_answer")
TIMES = ("start_time", "end_time", "updated_at")
LINKS = ("previous_session_id", "continued_by")
RESTORE_ONLY = ("relevance_score", "inherited_at")

P = TypeVar("P", bound=Part)


def read_parts(kind: type[P], items: Iterable[Any]) -> tuple[P, ...]:
    """The items that parse as `kind`; an item that does not parse stays in the log and is left out here."""
    parts: list[P] = []
    for item in items:
        try:
            parts.append(kind.from_dict(item))
        except ValueError:
            continue
    return tuple(parts)


@value_class(frozen=True, slots=True)
class SessionState:
    """The record of one session. `relevance_score` and `inherited_at` are set on restore and never stored.

    Arguments:
        raw: a state as it is stored, such as a mirror
    """

    session_id: str
    start_time: str
    end_time: str | None = None
    channel: str = "unknown"
    working_memory: tuple[WorkingMemoryPin, ...] = ()
    hot_topics: tuple[str, ...] = ()
    active_projects: tuple[str, ...] = ()
    pending_tasks: tuple[PendingTask, ...] = ()
    recent_learnings: tuple[str, ...] = ()
    confidence_updates: tuple[ConfidenceUpdate, ...] = ()
    sop_interactions: tuple[SOPInteraction, ...] = ()
    previous_session_id: str | None = None
    continued_by: str | None = None
    crash_recovered: bool = False
    schema_version: int = SCHEMA_VERSION
    agent_id: str | None = None
    session_key: str | None = None
    end_reason: str | None = None
    updated_at: str | None = None
    notes: tuple[Note, ...] = ()
    last_topic: str | None = None
    in_progress: tuple[str, ...] = ()
    next_step: str | None = None
    last_request: LastRequest | None = None
    earlier_requests: tuple[EarlierRequest, ...] = ()
    last_answer: str | None = None
    open_questions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    files: tuple[FileInWork, ...] = ()
    failing: Failing | None = None
    closed: tuple[Closed, ...] = ()
    references: tuple[Reference, ...] = ()
    grounds: tuple[Ground, ...] = ()
    tokens: Tokens | None = None
    trimmed: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    relevance_score: float | None = None
    inherited_at: str | None = None

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> SessionState:
        """Read a stored state and keep unknown fields; raises `ValueError` without an id or a start."""
        for key in ("session_id", "start_time"):
            if not isinstance(raw.get(key), str):
                raise ValueError(f"{key} is missing")
        given: dict[str, Any] = {}
        for key in (*SCALARS, *TIMES, *LINKS, "session_id"):
            if isinstance(raw.get(key), str):
                given[key] = raw[key]
        for key, kind in PART_LISTS.items():
            given[key] = read_parts(kind, raw.get(key) or ())
        for key in STRING_LISTS:
            given[key] = tuple(item for item in raw.get(key) or () if isinstance(item, str))
        given["crash_recovered"] = raw.get("crash_recovered") is True
        version = raw.get("schema_version")
        given["schema_version"] = version if isinstance(version, int) else SCHEMA_VERSION
        for key, single in SINGLE_PARTS.items():
            given[key] = next(iter(read_parts(single, [raw.get(key)])), None)
        given["trimmed"] = raw.get("trimmed") or {}
        given["extra"] = {key: value for key, value in raw.items() if key not in _STATE_KEYS}
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """The stored form: every key of the specification, our own keys, and the unknown ones."""
        out: dict[str, Any] = {}
        for key in _STORED:
            value = getattr(self, key)
            if key in PART_LISTS:
                out[key] = [part.to_dict() for part in value]
            elif key in STRING_LISTS:
                out[key] = list(value)
            elif key in SINGLE_PARTS:
                out[key] = value.to_dict() if value else None
            elif key == "trimmed":
                out[key] = dict(value)
            else:
                out[key] = value
        out.update(self.extra)
        return out


_STATE_KEYS = frozenset(item.name for item in fields(SessionState)) - {"extra"}
_STORED = tuple(item.name for item in fields(SessionState) if item.name not in (*RESTORE_ONLY, "extra"))
KNOWN_FIELDS = _STATE_KEYS
