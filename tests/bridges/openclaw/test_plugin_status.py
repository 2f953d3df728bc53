"""`openclaw status` tells loaded from merely installed, and working from failing."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.bridges.openclaw.status import plugin_status
from jsonlstore.core.clock import format_time
from jsonlstore.core.paths import StatePaths

if TYPE_CHECKING:
    from tests.bridges.openclaw.conftest import Home

AT, LATER = "2026-11-18T08:00:00.000Z", "2026-11-18T08:00:01.000Z"
NOBODY = 2**22 + 1  # above any process number


def beat(home: Home, **fields: Any) -> None:
    """What the plugin writes."""
    now = format_time(datetime.now(UTC))
    document = {
        "plugin_version": "0.1.0", "openclaw_version": None, "pid": os.getpid(), "path": "plugin",
        "loaded_at": now, "last_fired_at": now, "last_result": "preamble", "last_error": None, "last_wait_ms": 41.5,
        "session_id": "s1", **fields,
    }  # fmt: skip
    (home.state_dir / "sessions/states").mkdir(parents=True, exist_ok=True)
    (home.state_dir / "sessions/states/openclaw-plugin.json").write_text(json.dumps(document))


def gateway(proc: Path, state_dir: Path, pid: int = 77) -> None:
    """A gateway as the system shows it."""
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(b"openclaw-gateway\0")
    (folder / "environ").write_bytes(b"PATH=/bin\0OPENCLAW_STATE_DIR=" + os.fsencode(state_dir) + b"\0")


def test_installed_and_no_gateway_is_no_problem(home: Home) -> None:
    home.say("openclaw", "install")
    told = home.ask("openclaw", "status")
    assert (told["installed"], told["files_present"], told["files_current"], told["loaded"]) == (
        True,
        True,
        True,
        False,
    )
    assert told["problems"] == []
    assert "never loaded so far" in home.say("openclaw", "status")


def test_a_living_process_that_loaded_it_since_has_it(home: Home) -> None:
    home.say("openclaw", "install")
    beat(home)
    told = home.ask("openclaw", "status")
    assert told["loaded"] is True
    assert (told["gateway_pid"], told["last_result"], told["last_wait_ms"]) == (os.getpid(), "preamble", 41.5)
    said = home.say("openclaw", "status")
    assert "loaded just now" in said
    assert "preamble, 4" in said


def test_the_version_is_the_one_the_running_gateway_reports(home: Home) -> None:
    """Not the one on PATH, which may be another, nor a guess from what is on disk."""
    home.package("2026.9.6")
    home.say("openclaw", "install")
    beat(home, openclaw_version="2026.7.1")
    told = home.ask("openclaw", "status")
    assert (told["openclaw_version"], told["openclaw_known_by"]) == ("2026.7.1", "the running gateway")
    assert "OpenClaw 2026.7.1 (as the running gateway reports)" in home.say("openclaw", "status")
    assert home.ask("openclaw", "install", "--dry-run")["openclaw"]["version"] == "2026.7.1"
    beat(home, openclaw_version="2026.7.1", pid=NOBODY)
    assert home.ask("openclaw", "status")["openclaw_version"] == "2026.9.6"


def test_a_gateway_that_has_not_loaded_the_plugin_is_known_by_its_program(home: Home, tmp_path: Path) -> None:
    package = home.package("2026.9.6", tmp_path / "elsewhere" / "openclaw")
    gateway(tmp_path / "proc", home.state_dir)
    (tmp_path / "proc/77/cmdline").write_bytes(
        b"/usr/bin/node\0" + os.fsencode(package / "openclaw.mjs") + b"\0gateway\0"
    )
    told = plugin_status(StatePaths.of(home.state_dir), env={"HOME": str(tmp_path)}, proc=tmp_path / "proc")
    assert (told.openclaw_version, told.openclaw_path) == ("2026.9.6", str(package))


@pytest.mark.parametrize(
    ("traces", "said"),
    [
        ("settings", "OpenClaw 2026.3.1 (judging by openclaw.json)"),
        ("transcripts", "OpenClaw 2026.8 or later (judging by its transcripts)"),
    ],
)
def test_a_guess_is_called_one(home: Home, traces: str, said: str) -> None:
    if traces == "settings":
        home.write('{ meta: { lastTouchedVersion: "2026.3.1" } }')
    else:
        folder = home.state_dir / "agents/main/agent"
        folder.mkdir(parents=True)
        (folder / "openclaw-agent.sqlite").touch()
    assert said in home.say("openclaw", "status")


def test_a_dead_process_has_it_no_longer(home: Home) -> None:
    home.say("openclaw", "install")
    beat(home, pid=NOBODY)
    told = home.ask("openclaw", "status")
    assert told["loaded"] is False
    assert "last loaded" in home.say("openclaw", "status")


def test_a_process_number_that_was_given_to_another_is_not_the_gateway(home: Home) -> None:
    """This very process is younger than the report that bears its number."""
    home.say("openclaw", "install")
    beat(home, loaded_at=format_time(datetime.now(UTC) - timedelta(days=30)))
    assert home.ask("openclaw", "status")["loaded"] is False


def test_a_gateway_that_loaded_it_before_the_last_change_has_not_loaded_that(home: Home) -> None:
    age = float(Path("/proc/uptime").read_text().split()[0]) if Path("/proc/uptime").exists() else 0
    if age < 120:
        pytest.skip("the first process is too young here to have loaded anything earlier")
    beat(home, pid=1, loaded_at=format_time(datetime.now(UTC) - timedelta(seconds=60)))
    home.say("openclaw", "install")
    told = home.ask("openclaw", "status", code=1)
    assert (told["loaded"], told["gateway_pid"]) == (False, 1)
    beat(home, pid=1)
    assert home.ask("openclaw", "status")["loaded"] is True


def test_a_running_gateway_without_it_is_a_problem(home: Home, tmp_path: Path) -> None:
    home.say("openclaw", "install")
    gateway(tmp_path / "proc", home.state_dir)
    told = plugin_status(StatePaths.of(home.state_dir), proc=tmp_path / "proc")
    assert told.gateway_pid == 77
    assert any("has not loaded it" in one for one in told.problems)


def test_a_gateway_of_another_home_is_none_of_ours(home: Home, tmp_path: Path) -> None:
    home.say("openclaw", "install")
    gateway(tmp_path / "proc", tmp_path / "another")
    assert plugin_status(StatePaths.of(home.state_dir), proc=tmp_path / "proc").gateway_pid is None


@pytest.mark.parametrize("result", ["error", "timeout"])
def test_a_failure_it_last_ended_in_is_told(home: Home, result: str) -> None:
    home.say("openclaw", "install")
    beat(home, last_result=result, last_error="exit 3")
    assert any(result in one and "exit 3" in one for one in home.ask("openclaw", "status", code=1)["problems"])


def test_files_that_are_gone_or_old_are_told(home: Home) -> None:
    home.say("openclaw", "install")
    entry = home.state_dir / "sessions/states/openclaw/plugin/index.js"
    entry.write_text("// an older one\n")
    assert any("another jsonlstore version" in one for one in home.ask("openclaw", "status", code=1)["problems"])
    home.say("openclaw", "install")
    assert home.ask("openclaw", "status")["files_current"]


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b'{"pid": "x", "loaded_at": 7}', b"\xff"])
def test_a_report_nobody_can_read_is_no_report(home: Home, broken: bytes) -> None:
    home.say("openclaw", "install")
    (home.state_dir / "sessions/states/openclaw-plugin.json").write_bytes(broken)
    assert home.ask("openclaw", "status")["loaded"] is False


def test_settings_nobody_can_read_are_a_problem_not_an_end(home: Home) -> None:
    home.write("{ broken")
    assert "JSON5" in " ".join(home.ask("openclaw", "status")["problems"])


def test_status_shows_the_bridge(home: Home) -> None:
    assert home.ask("status")["bridges"]["openclaw_plugin"] is None
    home.say("openclaw", "install")
    beat(home)
    assert home.ask("status")["bridges"]["openclaw_plugin"]["loaded"] is True
    beat(home, last_result="timeout")
    assert any("timeout" in one for one in home.ask("status")["warnings"])


def test_uninstalling_takes_the_report_along(home: Home) -> None:
    home.say("openclaw", "install")
    beat(home)
    home.say("openclaw", "uninstall")
    assert not (home.state_dir / "sessions/states/openclaw-plugin.json").exists()


@pytest.mark.parametrize("command", ["jsonlstore-of-mine", ["jsonlstore-of-mine"], ["jsonlstore-of-mine", "-q"]])
def test_a_command_on_path_is_a_command(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str | list[str]
) -> None:
    """The settings may name a program, with or without arguments, that the shell would find."""
    program = tmp_path / "own-bin" / "jsonlstore-of-mine"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    home.write(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"command": command}}}}}))
    home.say("openclaw", "install")
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert home.ask("openclaw", "status")["problems"] == []
    program.unlink()
    assert "cannot be run any more" in home.ask("openclaw", "status", code=1)["problems"][0]


@pytest.mark.parametrize(
    ("delivery", "said"),
    [
        ({"given_at": None}, "nothing was given yet"),
        ({"given_at": AT}, "unconfirmed since 2026-11-18T08"),
        (
            {"given_at": AT, "seen_at": LATER},
            "last seen in what the model",
        ),
        (
            {"given_at": AT, "missed_at": LATER},
            "never arrived: the request",
        ),
    ],
)
def test_status_says_whether_the_block_arrived(home: Home, delivery: dict[str, Any], said: str) -> None:
    """Known from what the plugin saw the model being sent; a hook log is named where there is one."""
    home.say("openclaw", "install")
    beat(home, delivery=delivery)
    (home.state_dir / "sessions/states/openclaw-hook.log").write_text("== hook turn-end\n")
    told = home.ask("status")["bridges"]["openclaw_plugin"]
    assert said in told["delivery"]
    assert told["hook_log"].endswith("openclaw-hook.log")


def test_status_names_the_reason_nothing_arrives(home: Home) -> None:
    home.say("openclaw", "install")
    beat(home, last_result="timeout", last_error="no answer in 2000 ms", delivery=None)
    assert "timeout: no answer in 2000 ms" in home.ask("status")["bridges"]["openclaw_plugin"]["delivery"]
