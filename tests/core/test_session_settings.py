"""The `session` block: every key of the specification, with its range, and a clear word for each bad value."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.config import load_config
from jsonlstore.core.errors import ConfigError
from jsonlstore.core.session_settings import SessionSettings, own_key_for, read_session_settings, settings_from
from jsonlstore.store.schema import problems

if TYPE_CHECKING:
    from pathlib import Path

# the two blocks of the specification, as it prints them
SPECIFIED: dict[str, Any] = {
    "storage": "jsonl",
    "path": "~/.openclaw/agents/main/sessions",
    "inherit": True,
    "defaultKey": "agent:main:main",
    "checkpoint": {
        "enabled": True,
        "model": "anthropic/claude-3-haiku",
        "fallbackToMain": True,
        "tokenThresholdPercents": [25, 50, 75],
        "turnThreshold": 15,
        "minTokensForGen": 10000,
    },
    "memoryFlush": {
        "enabled": True,
        "showInSystemPrompt": True,
        "thresholds": [{"percent": 90, "prompt": "now", "injectAs": "user"}, {"percent": 50, "prompt": "soon"}],
    },
    "compaction": {"reserveTokens": 4000, "preferCheckpoint": True},
}
SPECIFIED_LATER = {
    "store": "sqlite",
    "path": "~/.openclaw/goclaw/sessions.db",
    "inherit": {"enabled": True, "source": "~/.openclaw/agents/main/sessions", "format": "jsonl"},
}


def test_the_specifications_own_blocks_are_read() -> None:
    """Both of them, `storage` and `store`, `inherit` as a bool and as an object."""
    settings = read_session_settings(SPECIFIED)
    assert (settings.store, settings.inherit.enabled, settings.checkpoint.turn_threshold) == ("jsonl", True, 15)
    assert [stage.percent for stage in settings.memory_flush.thresholds] == [50, 90]
    assert settings.memory_flush.thresholds[0].inject_as == "marked"
    later = read_session_settings(SPECIFIED_LATER)
    assert (later.store, later.inherit.source, later.inherit.format) == (
        "sqlite",
        "~/.openclaw/agents/main/sessions",
        "jsonl",
    )


def test_the_defaults_are_the_specifications() -> None:
    """But for the model, which we do not call, and inheriting, which is asked for."""
    settings = SessionSettings()
    assert settings.store == "sqlite"
    assert settings.key == "jsonlstore:main:main"
    assert settings.checkpoint.token_threshold_percents == (25, 50, 75)
    assert [stage.percent for stage in settings.memory_flush.thresholds] == [50, 75, 90]
    assert settings.compaction.reserve_tokens == 4000
    assert own_key_for("agent:fox:telegram:1") == "jsonlstore:fox:telegram:1"


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ([], "session must be an object"),
        ({"store": "mysql"}, "session.store must be one of sqlite, jsonl, not 'mysql'"),
        ({"storage": 7}, "session.storage must be one of sqlite, jsonl"),
        ({"path": ""}, "session.path must be a text"),
        ({"inherit": "yes"}, "session.inherit must be an object"),
        ({"inherit": {"format": "xml"}}, "session.inherit.format must be one of auto, jsonl, sqlite"),
        ({"maxTokens": 10}, "session.maxTokens must be a whole number between 1000 and 100000000, not 10"),
        ({"maxTokens": True}, "session.maxTokens must be"),
        ({"checkpoint": {"turnThreshold": 0}}, "session.checkpoint.turnThreshold must be"),
        ({"checkpoint": {"tokenThresholdPercents": [25, 120]}}, "tokenThresholdPercents must hold whole numbers"),
        ({"checkpoint": {"tokenThresholdPercents": 25}}, "tokenThresholdPercents must be a list"),
        ({"checkpoint": {"enabled": 1}}, "session.checkpoint.enabled must be true or false"),
        ({"memoryFlush": {"thresholds": [{"percent": 101}]}}, r"session.memoryFlush.thresholds\[0\].percent must be"),
        ({"memoryFlush": {"thresholds": [{"injectAs": "shout"}]}}, "injectAs must be one of system, user, marked"),
        ({"compaction": {"reserveTokens": -1}}, "session.compaction.reserveTokens must be"),
        ({"compaction": {"reserveTokens": 5000}, "maxTokens": 5000}, "must be less than session.maxTokens"),
        ({"path": "a\0b"}, "session.path must be a text of printable characters"),
        ({"path": "x" * 5000}, "session.path must be a text of 1 to 4096 characters"),
        ({"inherit": {"source": "\ud800"}}, "session.inherit.source must be a text of printable"),
        ({"inherit": {"enabled": 1}}, "session.inherit.enabled must be true or false"),
        ({"inherit": None}, "session.inherit must be an object"),
        ({"defaultKey": "a\nb"}, "session.defaultKey must be a text of printable"),
        ({"ownKey": 7}, "session.ownKey must be a text"),
        ({"maxTokens": float("nan")}, "session.maxTokens must be"),
        ({"checkpoint": {"model": 7}}, "session.checkpoint.model must be a text"),
        ({"checkpoint": {"fallbackToMain": "no"}}, "session.checkpoint.fallbackToMain must be true or false"),
        ({"checkpoint": {"minTokensForGen": -1}}, "session.checkpoint.minTokensForGen must be"),
        ({"memoryFlush": {"enabled": "x"}}, "session.memoryFlush.enabled must be true or false"),
        ({"memoryFlush": {"showInSystemPrompt": 0}}, "session.memoryFlush.showInSystemPrompt must be"),
        ({"memoryFlush": {"oncePerCycle": None}}, "session.memoryFlush.oncePerCycle must be true or false"),
        ({"memoryFlush": {"thresholds": {}}}, "session.memoryFlush.thresholds must be a list"),
        ({"memoryFlush": {"thresholds": [{"percent": 50}]}}, r"thresholds\[0\].prompt is missing"),
        ({"memoryFlush": {"thresholds": [{"prompt": "a"}, {"prompt": "b"}]}}, r"thresholds\[1\].percent is 90, as"),
        ({"compaction": {"preferCheckpoint": "x"}}, "session.compaction.preferCheckpoint must be true or false"),
        ({"compactions": {}}, "session.compactions is not a setting; there are checkpoint, compaction"),
    ],
)
def test_a_bad_value_is_named_in_full(block: Any, problem: str) -> None:
    """With what it should have been; a hook that must not fail goes on with the default."""
    with pytest.raises(ConfigError, match=problem):
        read_session_settings(block)
    told: list[str] = []
    assert isinstance(settings_from(block, told.append), SessionSettings)
    assert told


def test_the_block_stands_in_openclaw_json(tmp_path: Path) -> None:
    """Under `plugins.entries.jsonlstore.config.session`; bad ones raise, or warn where nothing may fail."""
    document = {"plugins": {"entries": {"jsonlstore": {"config": {"session": {"maxTokens": 5}, "debug": True}}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(document))
    with pytest.raises(ConfigError, match=r"session\.maxTokens .*plugins\.entries\.jsonlstore\.config"):
        load_config(tmp_path)
    lenient = load_config(tmp_path, lenient=True)
    assert (lenient.config.debug, lenient.session.max_tokens, len(lenient.warnings)) == (True, 200_000, 1)
    document["plugins"]["entries"]["jsonlstore"]["config"]["session"] = {"maxTokens": 5000}
    (tmp_path / "openclaw.json").write_text(json.dumps(document))
    assert load_config(tmp_path).session.max_tokens == 5000
    assert not load_config(tmp_path).unknown


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*sorted(SPECIFIED), "x"]), inner),
    max_leaves=8,
)


@given(ANYTHING | st.fixed_dictionaries({}, optional=dict.fromkeys(SPECIFIED, ANYTHING)))
def test_no_block_breaks_a_lenient_reader(block: Any) -> None:
    """Whatever stands there, settings of the right types come out."""
    told: list[str] = []
    _check_types(settings_from(block, told.append))


def _check_types(settings: Any) -> None:
    for item in fields(settings):
        value = getattr(settings, item.name)
        if is_dataclass(value):
            _check_types(value)
        elif str(item.type) == "int":
            assert type(value) is int
            assert item.metadata["minimum"] <= value <= item.metadata["maximum"]
        elif str(item.type) == "bool":
            assert type(value) is bool


def test_the_schema_knows_what_the_reader_knows() -> None:
    """`config.schema.json` takes the specification's blocks and refuses what the reader refuses."""
    assert problems("config", {"session": SPECIFIED}) == []
    assert problems("config", {"session": SPECIFIED_LATER}) == []
    for bad in ({"store": "mysql"}, {"maxTokens": 10}, {"checkpoint": {"turnThreshold": 0}}, {"compactions": {}}):
        assert problems("config", {"session": bad}) != []
