"""The `session` block of the settings: where an agent's own transcripts go, and when its context window is managed.

Keys are those of the specification, in its spelling. A library user may pass the same block as a dictionary or a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from jsonlstore.core.errors import ConfigError
from jsonlstore.core.session_key import OWN_RUNTIME

Problem = Callable[[str], None]
T = TypeVar("T")

_LONGEST = 4096  # of a text: as long as a path may be
DATABASE = "sessions.db"
FILES = "sessions"


def _key(default: Any, help_text: str, **rules: Any) -> Any:
    return field(default=default, metadata={"help": help_text, **rules})


@dataclass(frozen=True, slots=True)
class InheritSettings:
    """Whether a new session begins with the history of OpenClaw's session of the same name, which is only read."""

    enabled: bool = _key(True, "Begin a new session with the messages of OpenClaw's.")
    source: str | None = _key(None, "An agent's sessions directory (default: the agent of the key).")
    format: str = _key("auto", "Which era to read.", choices=("auto", "jsonl", "sqlite"))


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """When rolling summaries are made."""

    enabled: bool = _key(True, "Make checkpoints during the conversation.")
    model: str | None = _key(None, "The model that writes them (default: none, they are extracted).")
    fallback_to_main: bool = _key(True, "Use the main model where that one is missing.")
    command: tuple[str, ...] = _key((), "An external command (a list of words) that words them: JSON in, JSON out.")
    command_seconds: int = _key(30, "How long that command may take.", minimum=1, maximum=600)
    token_threshold_percents: tuple[int, ...] = _key(
        (25, 50, 75), "At which percentages of the window.", minimum=1, maximum=99
    )
    turn_threshold: int = _key(15, "After how many user messages.", minimum=1, maximum=1000)
    min_tokens_for_gen: int = _key(10_000, "Not below this many tokens.", minimum=0, maximum=10_000_000)


@dataclass(frozen=True, slots=True)
class FlushThreshold:
    """One warning on the way to compaction."""

    percent: int = _key(90, "Percentage of the window.", minimum=1, maximum=100)
    prompt: str = _key("", "What is said.", prose=True)
    inject_as: str = _key("marked", "How it is said.", choices=("system", "user", "marked"))


_FLUSH_STAGES = (
    FlushThreshold(50, "Context at 50%. Consider noting key decisions to memory."),
    FlushThreshold(75, "Context at 75%. Write important context to memory/YYYY-MM-DD.md now."),
    FlushThreshold(
        90,
        "[SYSTEM: pre-compaction memory flush]\nContext at 90%. Compaction imminent.\n"
        "Store durable memories now (use memory/YYYY-MM-DD.md; create memory/ if needed).\n"
        "If nothing to store, reply with NO_REPLY.",
    ),
)


@dataclass(frozen=True, slots=True)
class FlushSettings:
    """When the agent is asked to write down what must outlast a compaction."""

    enabled: bool = _key(True, "Ask at the thresholds.")
    show_in_system_prompt: bool = _key(True, "Show the context line to agents with transcripts of ours.")
    once_per_cycle: bool = _key(True, "Ask once per threshold until the window was emptied.")
    thresholds: tuple[FlushThreshold, ...] = _key(_FLUSH_STAGES, "The warnings, in order.", each=FlushThreshold)


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """When history is compacted."""

    reserve_tokens: int = _key(4000, "How much of the window stays free.", minimum=0, maximum=1_000_000)
    prefer_checkpoint: bool = _key(True, "Take a recent checkpoint for the summary.")


_OFF = InheritSettings(enabled=False)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The settings of an agent's own transcripts."""

    store: str = _key("sqlite", "How transcripts are kept.", choices=("sqlite", "jsonl"), also="storage")
    path: str | None = _key(None, "The database, or the directory of the files (default: in the state directory).")
    inherit: InheritSettings = field(default=_OFF, metadata={"help": "A bool, or an object.", "block": InheritSettings})
    default_key: str = _key("agent:main:main", "OpenClaw's session that is inherited.")
    own_key: str | None = _key(None, "The session written to (default: the inherited one's, as jsonlstore:…).")
    max_tokens: int = _key(200_000, "The model's window.", minimum=1000, maximum=100_000_000)
    checkpoint: CheckpointSettings = field(
        default_factory=CheckpointSettings, metadata={"help": "Rolling summaries.", "block": CheckpointSettings}
    )
    memory_flush: FlushSettings = field(
        default_factory=FlushSettings, metadata={"help": "Warnings before compaction.", "block": FlushSettings}
    )
    compaction: CompactionSettings = field(
        default_factory=CompactionSettings, metadata={"help": "Cutting history.", "block": CompactionSettings}
    )

    @property
    def key(self) -> str:
        """The session an agent writes to unless it names another."""
        return self.own_key or own_key_for(self.default_key)


def transcript_place(state_dir: Path, settings: SessionSettings, kind: str | None = None) -> Path:
    """The database or directory that the settings name; `kind` asks for the other backend's default place."""
    wanted = kind or settings.store
    if settings.path and wanted == settings.store:
        return Path(os.path.abspath(os.path.join(state_dir, os.path.expanduser(settings.path))))
    return state_dir / OWN_RUNTIME / (DATABASE if wanted == "sqlite" else FILES)


def own_key_for(key: str) -> str:
    """Our key for another runtime's session: `agent:main:main` continues as `jsonlstore:main:main`."""
    runtime, _, rest = key.partition(":")
    return f"{OWN_RUNTIME}:{rest}" if rest else f"{OWN_RUNTIME}:{runtime}"


def openclaw_key_for(key: str) -> str:
    """The key of the OpenClaw session that one of our sessions continues."""
    return f"agent:{key.partition(':')[2]}"


def read_session_settings(block: object, *, path: Path | str | None = None) -> SessionSettings:
    """The settings in `block`; the first invalid value raises `ConfigError` with its full name."""

    def refuse(problem: str) -> None:
        raise ConfigError(problem, hint="see docs/transcripts.md", path=path)

    return settings_from(block, refuse)


def settings_from(block: object, problem: Problem) -> SessionSettings:
    """The settings in `block`. Each invalid value is passed to `problem`; its default holds if that returns."""
    settings = _read(SessionSettings, block, "session", problem)
    if settings.compaction.reserve_tokens >= settings.max_tokens:
        problem(
            f"session.compaction.reserveTokens must be less than session.maxTokens ({settings.max_tokens}), "
            f"not {settings.compaction.reserve_tokens}"
        )
        return SessionSettings()
    return settings


def described(settings: SessionSettings, block: object, origin: str) -> dict[str, dict[str, Any]]:
    """Every setting by its full name: its value, its default, and `origin` if `block` sets it."""
    return dict(_rows(settings, SessionSettings(), block, origin, "session"))


def _rows(now: Any, usual: Any, block: object, origin: str, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    given = block if isinstance(block, Mapping) else {}
    for item in fields(now):
        spelt = next((name for name in _names(item) if name in given), None)
        name = f"{where}.{_names(item)[0]}"
        value, default = getattr(now, item.name), getattr(usual, item.name)
        if "block" in item.metadata:
            inner = given[spelt] if spelt else None
            # `inherit: true` is short for an object
            inner = {"enabled": inner} if isinstance(inner, bool) else inner
            yield from _rows(value, default, inner, origin, name)
        else:
            source = origin if spelt else "default"
            row = {"value": _plain(value), "origin": source, "default": _plain(default), "help": item.metadata["help"]}
            yield name, row


def _plain(value: Any) -> Any:
    """A value in the spelling of the settings."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, FlushThreshold):
        return {_names(item)[0]: getattr(value, item.name) for item in fields(value)}
    return value


def _read(kind: type[T], block: object, where: str, problem: Problem) -> T:
    if not isinstance(block, Mapping):
        problem(f"{where} must be an object, not {block!r}")
        return kind()
    known = {name: item for item in fields(kind) for name in _names(item)}  # type: ignore[arg-type]  # a dataclass
    given: dict[str, Any] = {}
    for name, value in block.items():
        item = known.get(name)
        if item is None:
            problem(f"{where}.{name} is not a setting; there are {', '.join(sorted(known))}")
        else:
            given[item.name] = _value(item, value, f"{where}.{name}", problem)
    return kind(**{name: value for name, value in given.items() if value is not MISSING})


def _names(item: Field[Any]) -> tuple[str, ...]:
    first, *rest = item.name.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    return (camel, item.metadata["also"]) if "also" in item.metadata else (camel,)


def _value(item: Field[Any], value: Any, where: str, problem: Problem) -> Any:
    rules = item.metadata
    if "block" in rules:
        if rules["block"] is InheritSettings and isinstance(value, bool):
            return InheritSettings(value)
        return _read(rules["block"], value, where, problem)
    if isinstance(value, list | tuple):
        return _values(item, value, where, problem)
    wrong = _wrong(item, value)
    if wrong:
        problem(f"{where} must be {wrong}, not {value!r}")
        return MISSING
    return int(value) if str(item.type) == "int" else value


def _values(item: Field[Any], values: list[Any] | tuple[Any, ...], where: str, problem: Problem) -> Any:
    """A list of numbers or of blocks, sorted in ascending order because stages follow each other."""
    if not str(item.type).startswith("tuple"):
        problem(f"{where} must be {_wrong(item, values)}, not a list")
        return MISSING
    if "each" in item.metadata:
        read = [_read(item.metadata["each"], one, f"{where}[{at}]", problem) for at, one in enumerate(values)]
        return _stages(read, where, problem)
    if "minimum" not in item.metadata:
        wrong_word = next((one for one in values if _wrong_text(one, prose=False)), None)
        if wrong_word is not None:
            problem(f"{where} must hold texts of 1 to {_LONGEST} printable characters, not {wrong_word!r}")
            return MISSING
        return tuple(values)
    wrong = next((one for one in values if not _is_whole(one) or not _in_range(item, one)), None)
    if wrong is not None:
        problem(f"{where} must hold {_numbers(item)}, not {wrong!r}")
        return MISSING
    return tuple(sorted(set(map(int, values))))


def _stages(read: list[FlushThreshold], where: str, problem: Problem) -> tuple[FlushThreshold, ...]:
    """The stages in ascending order; each has something to say, and no two speak at the same moment."""
    stages: dict[int, FlushThreshold] = {}
    for at, stage in enumerate(read):
        if not stage.prompt:
            problem(f"{where}[{at}].prompt is missing")
        elif stage.percent in stages:
            problem(f"{where}[{at}].percent is {stage.percent}, as that of another stage")
        else:
            stages[stage.percent] = stage
    return tuple(stages[percent] for percent in sorted(stages))


def _wrong(item: Field[Any], value: Any) -> str | None:
    """A description of the type the value should have; None if the value has it."""
    kind, rules = str(item.type), item.metadata
    if kind == "bool":
        return None if isinstance(value, bool) else "true or false"
    if kind == "int":
        return None if _is_whole(value) and _in_range(item, value) else _numbers(item)
    if kind.startswith("tuple"):
        return "a list"
    if "choices" in rules:
        return None if value in rules["choices"] else f"one of {', '.join(rules['choices'])}"
    return None if value is None and kind.endswith("| None") else _wrong_text(value, prose="prose" in rules)


def _wrong_text(value: Any, *, prose: bool) -> str | None:
    if not isinstance(value, str) or not 1 <= len(value) <= _LONGEST:
        return f"a text of 1 to {_LONGEST} characters"
    # a key or a path with a line break or a NUL in it would fail only when it is used, and less clearly
    printable = (value.replace("\n", " ") if prose else value).isprintable()
    return None if printable else "a text of printable characters"


def _numbers(item: Field[Any]) -> str:
    what = "whole numbers" if str(item.type).startswith("tuple") else "a whole number"
    return f"{what} between {item.metadata['minimum']} and {item.metadata['maximum']}"


def _in_range(item: Field[Any], value: float) -> bool:
    return bool(item.metadata["minimum"] <= value <= item.metadata["maximum"])


def _is_whole(value: Any) -> bool:
    """Whether a number is whole: 7.0 counts, because JSON does not tell it from 7."""
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
