"""The settings: the nine of the specification and our own, with each value's origin and the problems found.

Sources, later ones win: defaults; openclaw.json (`plugins.cortex.session_persistence`, then
`plugins.entries.cortex.config.session_persistence`, then `plugins.entries.jsonlstore.config`); `--config FILE` instead
of openclaw.json; `CORTEX_SESSION_DEBUG=1`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import ConfigError
from jsonlstore.core.values import value_class

if TYPE_CHECKING:
    from jsonlstore.core.session_settings import SessionSettings

_PLUGINS_OWN = ("command", "timeoutMs")  # read by the OpenClaw plugin, which shares our block of openclaw.json
BOUNDARY_NAMES = ("new", "reset", "idle", "daily", "crash", "restart")


def _setting(default: Any, help_text: str, **rules: Any) -> Any:
    return field(default=default, metadata={"help": help_text, **rules})


@value_class(frozen=True, slots=True)
class Config:
    """The settings in force. Construct it with keyword arguments; invalid ones raise `JsonlStoreError`."""

    enabled: bool = _setting(True, "Master switch; with false, jsonlstore records and restores nothing.")
    lookback_days: int = _setting(7, "How many days back prior sessions are considered.", minimum=1, maximum=30)
    relevance_threshold: float = _setting(0.25, "Lowest score a session is restored with.", minimum=0.1, maximum=1.0)
    max_sessions_scored: int = _setting(3, "How many prior sessions may contribute at once.", minimum=1, maximum=10)
    max_inherited_pins: int = _setting(5, "How many pins a session may inherit.", minimum=1, maximum=8)
    decay_min_floor: float = _setting(
        0.3, "Floor of the decay factor, and the line below which a memory is left behind.", minimum=0.1, maximum=0.9
    )
    decay_hours: float = _setting(
        168, "The hours in which an inherited memory loses `decay_span` of its confidence.", minimum=1, maximum=8760
    )
    decay_span: float = _setting(
        0.4, "The share of its confidence an inherited memory loses in `decay_hours`.", minimum=0.0, maximum=1.0
    )
    critical_inheritance_days: int = _setting(
        7, "How many days back CRITICAL pins are inherited whatever the score.", minimum=1, maximum=30
    )
    sessions_dir: str | None = _setting(None, "Where mirrors and archive go; the logs stay in the state directory.")
    debug: bool = _setting(False, "Explain every decision in the log.")

    pin_relevance_threshold: float | None = _setting(
        None, "Lowest score pins are inherited with (default: relevance_threshold).", minimum=0.0, maximum=1.0
    )
    pending_task_override: int = _setting(
        3, "A session with this many open tasks qualifies whatever its score; 0 turns that off.", minimum=0, maximum=100
    )
    task_stale_days: int = _setting(
        14, "A task that no session has touched for this many days is no longer restored.", minimum=1, maximum=3650
    )
    stale_after_minutes: int = _setting(
        120,
        "A session without owner process and transcript counts as crashed after this many silent minutes.",
        minimum=1,
        maximum=525600,
    )
    pending_stages: tuple[str, ...] = _setting(
        ("build", "verify", "validate", "security", "test", "deploy"), "Pipeline stages that mean unfinished."
    )
    pipeline_state: str = _setting("workspace/pipeline/state.json", "The pipeline's state file.")
    working_memory: str = _setting("workspace/memory/working_memory.json", "The pin file.")
    scope: str = _setting(
        "conversation",
        "Whose sessions may be restored: of the same conversation, the same agent, or all.",
        choices=("conversation", "agent", "all"),
    )
    restore_on: tuple[str, ...] = _setting(BOUNDARY_NAMES, "After which boundaries to restore.", choices=BOUNDARY_NAMES)
    restore_for: str = _setting(
        "session", "Whether an OpenClaw agent sees what was restored on every turn, or once.",
        choices=("session", "first_turn"),
    )  # fmt: skip
    restore_budget_ms: int = _setting(1500, "How long a restore may take.", minimum=50, maximum=10000)
    preamble_max_chars: int = _setting(2800, "How long the preamble may be.", minimum=200, maximum=20000)
    archive_after_days: int = _setting(30, "After how many days an ended session is archived.", minimum=1, maximum=3650)
    project_roots: tuple[str, ...] = _setting((), "Directories whose sub-directories are projects.")
    capture_subagents: bool = _setting(False, "Also capture sub-agent, cron and utility runs.")
    brain_db_enabled: bool | None = _setting(None, "Write through to brain.db (default: when the file exists).")
    brain_db_path: str | None = _setting(None, "Where brain.db is.")
    metrics_db: bool = _setting(False, "Also write metrics to an existing metrics.db.")

    search_enabled: bool = _setting(True, "Keep a full-text index of redacted talk; false removes it.")
    search_tools: bool = _setting(False, "Also index the commands an agent ran, and their errors.")
    search_keep_deleted: bool = _setting(False, "Keep sessions findable that were deleted in the runtime.")
    relevance_by_search: bool = _setting(
        True, "Let the full-text index break ties between prior sessions of equal score."
    )

    redact_rules: str | None = _setting(None, "A file of your own redaction rules, in addition to the built-in ones.")

    status_max_lag_minutes: int = _setting(
        10, "How long a transcript may wait to be read before `status` fails when no watcher runs.",
        minimum=1, maximum=525600,
    )  # fmt: skip

    context_line: bool = _setting(False, "Tell an OpenClaw agent with each prompt how full its context is.")

    handoff_enabled: bool = _setting(True, "Capture where a session stands and offer it to the next one.")
    handoff_expires_hours: int = _setting(24, "How long a handoff is offered.", minimum=1, maximum=8760)
    handoff_offer: str = _setting(
        "ask", "Whether the agent is asked to offer to continue, or only told where things stood.",
        choices=("ask", "quiet"),
    )  # fmt: skip
    handoff_every_messages: int = _setting(20, "Capture after this many messages.", minimum=1, maximum=10000)
    handoff_tool_bytes: int = _setting(
        32768, "Capture when a turn's tool results are larger than this.", minimum=1, maximum=1 << 30
    )
    handoff_tool_calls: int = _setting(10, "Capture when a turn has more tool calls.", minimum=1, maximum=10000)
    handoff_summarizer: tuple[str, ...] = _setting(
        (), "An external command (a list of words) that rewrites the summary: JSON in, JSON out."
    )
    handoff_summarizer_seconds: int = _setting(20, "How long that command may take.", minimum=1, maximum=600)

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _settled(str(item.type), getattr(self, item.name)))
            problem = _problem(item.name, getattr(self, item.name))
            if problem:
                raise ConfigError(problem, hint=f"see `jsonlstore config`: {item.metadata['help']}")

    @property
    def pin_threshold(self) -> float:
        """`pin_relevance_threshold`, or `relevance_threshold` where that is not set."""
        return self.relevance_threshold if self.pin_relevance_threshold is None else self.pin_relevance_threshold


_FIELDS = {item.name: item for item in fields(Config)}


@value_class(frozen=True, slots=True)
class LoadedConfig:
    """A config, the origin of each value, and the warnings for values that were refused."""

    config: Config
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    session_block: Mapping[str, Any] | None = None
    session_origin: str = "default"

    @property
    def session(self) -> SessionSettings:
        """The settings of our own transcripts. Invalid ones were raised as an error or are listed in `warnings`."""
        from jsonlstore.core.session_settings import SessionSettings, settings_from

        return SessionSettings() if self.session_block is None else settings_from(self.session_block, lambda _: None)


def _problem(name: str, value: Any) -> str | None:
    """The reason a value is invalid, or None."""
    item = _FIELDS[name]
    kind = str(item.type)
    if value is None:
        return None if kind.endswith("| None") else f"{name} must not be null"
    wanted = kind.removesuffix(" | None")
    if not _TYPES[wanted][0](value):
        return f"{name} must be {_TYPES[wanted][1]}, not {value!r}"
    rules = item.metadata
    if "minimum" in rules and not rules["minimum"] <= value <= rules["maximum"]:
        return f"{name} must be between {rules['minimum']} and {rules['maximum']}, not {value!r}"
    if "choices" in rules:
        bad = [one for one in (value if isinstance(value, tuple) else (value,)) if one not in rules["choices"]]
        if bad:
            return f"{name} must be one of {', '.join(rules['choices'])}, not {bad[0]!r}"
    return None


def _settled(kind: str, value: Any) -> Any:
    """A value as a setting holds it: a list becomes a tuple, and 7.0 becomes 7 because JSON has one number type."""
    if isinstance(value, list):
        return tuple(value)
    return int(value) if kind == "int" and isinstance(value, float) and value.is_integer() else value


_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number"),
    "float": (lambda value: isinstance(value, (int, float)) and not isinstance(value, bool), "a number"),
    "str": (lambda value: isinstance(value, str) and bool(value), "a text"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, tuple) and all(isinstance(item, str) for item in value),
        "a list of texts",
    ),
}


def load_config(
    state_dir: Path,
    config_file: str | None = None,
    *,
    lenient: bool = False,
    env: Mapping[str, str] = os.environ,
) -> LoadedConfig:
    """Read the settings.

    An invalid one raises `ConfigError`; with `lenient` (hooks) it is a warning and the default holds.
    """
    warnings: list[str] = []
    values: dict[str, Any] = {}
    origins = dict.fromkeys(_FIELDS, "default")
    unknown: list[str] = []
    session_block: Mapping[str, Any] | None = None
    session_origin = "default"
    path = Path(config_file).expanduser() if config_file else openclaw_json(state_dir, env)
    problems: list[tuple[str, str | None]] = []
    try:
        sections = list(_sections(path, problems, must_exist=config_file is not None))
    except ConfigError as problem:
        if not lenient:
            raise
        warnings.append(problem.message)
        sections = []
    for origin, section in sections:
        for name, value in _flatten(section).items():
            if name == "session":
                session_block = _checked_session(value, origin, path, warnings if lenient else None)
                session_origin = origin
                continue
            if name not in _FIELDS:
                unknown.append(f"{origin}: {name}")
                continue
            settled = _settled(str(_FIELDS[name].type), value)
            problem_text = _problem(name, settled)
            if problem_text is None:
                values[name] = settled
                origins[name] = origin
            else:
                problems.append((f"{problem_text} ({origin})", _FIELDS[name].metadata["help"]))
    if problems and not lenient:
        raise ConfigError("; ".join(text for text, _ in problems), hint=problems[0][1], path=path)
    warnings += [f"{text}; the default is used" for text, _ in problems]
    config = Config(**values)
    if env.get("CORTEX_SESSION_DEBUG", "").lower() in ("1", "true", "yes", "on"):
        config, origins["debug"] = replace(config, debug=True), "CORTEX_SESSION_DEBUG"
    return LoadedConfig(config, origins, tuple(warnings), tuple(unknown), session_block, session_origin)


def _checked_session(block: Any, origin: str, path: Path, warnings: list[str] | None) -> Mapping[str, Any]:
    """The validated `session` block: an invalid value raises `ConfigError`, or is a warning if the caller is
    lenient.
    """
    from jsonlstore.core.session_settings import settings_from

    def note(problem: str) -> None:
        if warnings is None:
            raise ConfigError(f"{problem} ({origin})", hint="see docs/transcripts.md", path=path)
        warnings.append(f"{problem} ({origin}); the default is used")

    settings_from(block, note)
    return block if isinstance(block, Mapping) else {}


def openclaw_json(state_dir: Path, env: Mapping[str, str] = os.environ) -> Path:
    """The path of OpenClaw's config file, which holds our settings too."""
    named = env.get("OPENCLAW_CONFIG_PATH")
    return Path(named).expanduser() if named else state_dir / "openclaw.json"


def _sections(
    path: Path, problems: list[tuple[str, str | None]], *, must_exist: bool
) -> list[tuple[str, Mapping[str, Any]]]:
    """The blocks of a config file that hold our settings, weakest first. A file without `plugins` is one such block.

    A block that is none goes to `problems`: the others are read all the same.
    """
    document = _read_json5(path, must_exist=must_exist)
    if not isinstance(document, Mapping):
        raise ConfigError(f"{path} must hold a JSON object", path=path)
    if must_exist and "plugins" not in document:
        return [(str(path), document)]
    where = (
        "plugins.cortex.session_persistence",
        "plugins.entries.cortex.config.session_persistence",
        "plugins.entries.jsonlstore.config",
    )
    found = []
    for dotted in where:
        block: Any = document
        for key in dotted.split("."):
            block = block.get(key) if isinstance(block, Mapping) else None
        if block is None:
            continue
        if not isinstance(block, Mapping):
            problems.append((f"{dotted} in {path} must be an object", None))
            continue
        found.append((f"{path.name}: {dotted}", block))
    return found


def _flatten(section: Mapping[str, Any]) -> dict[str, Any]:
    """The block with nested objects flattened: `{"brain_db": {"enabled": true}}` means `{"brain_db_enabled": true}`."""
    flat: dict[str, Any] = {}
    for key, value in section.items():
        if isinstance(value, Mapping) and key in ("brain_db", "search", "handoff", "redact", "status"):
            flat.update({f"{key}_{name}": inner for name, inner in value.items()})
        elif key not in _PLUGINS_OWN:
            flat[key] = value
    return flat


def _read_json5(path: Path, *, must_exist: bool) -> Any:
    import orjson

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if must_exist:
            raise ConfigError(f"no such config file: {path}", path=path) from None
        return {}
    except OSError as problem:
        from jsonlstore.core.files import hint_for

        raise ConfigError(f"cannot read {path}: {problem.strerror}", hint=hint_for(problem), path=path) from problem
    try:
        return orjson.loads(data)  # plain JSON is the common case, and loading pyjson5 costs a hook 30 ms
    except orjson.JSONDecodeError:
        pass  # JSON5 allows comments and trailing commas
    import pyjson5

    try:
        return pyjson5.decode(data.decode("utf-8-sig"))
    except (pyjson5.Json5Exception, UnicodeDecodeError) as problem:
        # only the error's message: its other attributes hold the text read so far, which may include secrets
        reason = problem.args[0] if isinstance(problem, pyjson5.Json5Exception) else "not UTF-8"
        raise ConfigError(f"{path} is not JSON5: {reason}", path=path) from None
