"""Settings: nine of the specification and ours; sources, ranges, provenance."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.config import Config, load_config
from jsonlstore.core.errors import ConfigError
from jsonlstore.store.schema import load, problems

if TYPE_CHECKING:
    from pathlib import Path

SPECIFIED = {
    "enabled": True,
    "lookback_days": 7,
    "relevance_threshold": 0.25,
    "max_sessions_scored": 3,
    "max_inherited_pins": 5,
    "decay_min_floor": 0.3,
    "critical_inheritance_days": 7,
    "debug": False,
}
RANGES = {
    "lookback_days": (1, 30),
    "relevance_threshold": (0.1, 1.0),
    "max_sessions_scored": (1, 10),
    "max_inherited_pins": (1, 8),
    "decay_min_floor": (0.1, 0.9),
    "critical_inheritance_days": (1, 30),
}


def write(directory: Path, document: str) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "openclaw.json").write_text(document)
    return directory


def test_the_defaults_are_the_specification_s(tmp_path: Path) -> None:
    """cortex-api 10."""
    loaded = load_config(tmp_path, env={})
    assert {name: getattr(loaded.config, name) for name in SPECIFIED} == SPECIFIED
    assert set(loaded.origins.values()) == {"default"}


@pytest.mark.parametrize("name", RANGES)
def test_values_outside_their_range_are_refused_by_name(tmp_path: Path, name: str) -> None:
    low, high = RANGES[name]
    for value in (low, high):
        assert getattr(Config(**{name: value}), name) == value
    for value in (low - 0.1 if isinstance(low, float) else low - 1, high + 1):
        with pytest.raises(ConfigError, match=f"{name} must be between {low} and {high}"):
            Config(**{name: value})
        write(tmp_path, json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {name: value}}}}}))
        with pytest.raises(ConfigError, match=name):
            load_config(tmp_path, env={})
        lenient = load_config(tmp_path, lenient=True, env={})
        assert getattr(lenient.config, name) == SPECIFIED[name]
        assert name in lenient.warnings[0]


def test_decision_33_later_sources_win_and_say_where_they_are(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        // JSON5, as OpenClaw writes and people edit it
        {
          plugins: {
            cortex: {session_persistence: {lookback_days: 1, max_inherited_pins: 1, decay_min_floor: 0.1}},
            entries: {
              cortex: {config: {session_persistence: {lookback_days: 2, max_inherited_pins: 2}}},
              jsonlstore: {config: {lookback_days: 3, brain_db: {enabled: true}, restore_on: ["new"],}},
            },
          },
        }
        """,
    )
    loaded = load_config(tmp_path, env={"CORTEX_SESSION_DEBUG": "1"})
    found = loaded.config
    assert (found.lookback_days, found.max_inherited_pins, found.decay_min_floor) == (3, 2, 0.1)
    assert (found.brain_db_enabled, found.restore_on, found.debug) == (True, ("new",), True)
    assert loaded.origins["lookback_days"] == "openclaw.json: plugins.entries.jsonlstore.config"
    assert loaded.origins["max_inherited_pins"].endswith("plugins.entries.cortex.config.session_persistence")
    assert loaded.origins["decay_min_floor"].endswith("plugins.cortex.session_persistence")
    assert loaded.origins["debug"] == "CORTEX_SESSION_DEBUG"


def test_a_file_named_on_the_command_line_takes_the_place_of_openclaw_json(tmp_path: Path) -> None:
    write(tmp_path, json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"lookback_days": 3}}}}}))
    own = tmp_path / "own.json5"
    own.write_text("{lookback_days: 9}")
    assert load_config(tmp_path, str(own), env={}).config.lookback_days == 9
    own.write_text(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"lookback_days": 4}}}}}))
    assert load_config(tmp_path, str(own), env={}).config.lookback_days == 4
    with pytest.raises(ConfigError, match="no such config file"):
        load_config(tmp_path, str(tmp_path / "absent"), env={})
    other = write(tmp_path / "elsewhere", json.dumps({"plugins": {"cortex": {"session_persistence": {"debug": True}}}}))
    assert load_config(tmp_path, env={"OPENCLAW_CONFIG_PATH": str(other / "openclaw.json")}).config.debug


@pytest.mark.parametrize("document", ["{", "[]", "5", "{plugins: {entries: {jsonlstore: {config: 7}}}}", "\x00"])
def test_a_file_that_is_not_a_config_is_an_error_for_people_and_a_warning_for_hooks(
    tmp_path: Path, document: str
) -> None:
    write(tmp_path, document)
    with pytest.raises(ConfigError):
        load_config(tmp_path, env={})
    lenient = load_config(tmp_path, lenient=True, env={})
    assert lenient.config == Config()
    assert lenient.warnings


@pytest.mark.parametrize(
    "section",
    [
        {"enabled": "yes"}, {"lookback_days": True}, {"lookback_days": "7"}, {"scope": "everyone"},
        {"restore_on": ["never"]}, {"restore_on": "new"}, {"pending_stages": [1]}, {"sessions_dir": ""},
        {"debug": None},
    ],
)  # fmt: skip
def test_values_of_the_wrong_type_are_refused(tmp_path: Path, section: dict[str, Any]) -> None:
    write(tmp_path, json.dumps({"plugins": {"entries": {"jsonlstore": {"config": section}}}}))
    with pytest.raises(ConfigError, match=next(iter(section))):
        load_config(tmp_path, env={})
    assert problems("config", section) != []


def test_unknown_settings_are_named_not_swallowed(tmp_path: Path) -> None:
    write(tmp_path, json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"lookback_dayz": 3}}}}}))
    assert load_config(tmp_path, env={}).unknown == ("openclaw.json: plugins.entries.jsonlstore.config: lookback_dayz",)


def test_the_schema_knows_every_setting_with_its_default_and_range() -> None:
    schema = load("config")["properties"]
    assert set(schema) == {item.name for item in fields(Config)} | {
        "brain_db",
        "search",
        "session",
        "handoff",
        "redact",
        "status",
    }
    for item in fields(Config):
        default = list(item.default) if isinstance(item.default, tuple) else item.default
        assert schema[item.name]["default"] == default
        assert schema[item.name].get("minimum") == item.metadata.get("minimum")
        assert schema[item.name].get("maximum") == item.metadata.get("maximum")
        assert schema[item.name]["description"] == item.metadata["help"]


values = st.one_of(st.none(), st.booleans(), st.integers(-5, 40), st.floats(0, 2), st.sampled_from(["all", "x"]))
sections = st.dictionaries(st.sampled_from([item.name for item in fields(Config)]), values, max_size=3)


@given(sections)
def test_schema_and_loader_agree_on_what_is_valid(section: dict[str, Any]) -> None:
    try:
        Config(**section)
        accepted = True
    except ConfigError:
        accepted = False
    assert accepted is (problems("config", section) == [])
