"""Installed by our command, loaded by real OpenClaw of either era, and gone again without a trace.

pytest -m openclaw tests/openclaw/test_install_real.py
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.openclaw.lab import OpenClaw, installed, wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.openclaw, pytest.mark.slow]

VERSIONS = ["2026.2.26", "2026.7.1", "2026.9.6"]


def ours(openclaw: OpenClaw, version: str, *words: str, ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """One of our commands, as the user of that home would give it."""
    named = ["--openclaw", str(installed(version)[1])] if words[0] in ("install", "status") else []
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(openclaw.state_dir), "openclaw", *words]
    done = subprocess.run([*command, *named, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode in ok, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def stop(openclaw: OpenClaw, version: str) -> None:
    """End the gateway; one that restarted itself for new settings is no longer the process that was started."""
    openclaw.stop(signal.SIGKILL)
    while pid := ours(openclaw, version, "status", ok=(0, 1))["gateway_pid"]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def listed(openclaw: OpenClaw) -> dict[str, Any]:
    """What OpenClaw says of our plugin; older versions print warnings before the document."""
    said = openclaw.run("plugins", "list", "--json")
    plugins = json.loads(said[said.index("\n{") if not said.startswith("{") else 0 :])["plugins"]
    return next((one for one in plugins if one["id"] == "jsonlstore"), {})


@pytest.mark.parametrize("version", VERSIONS)
def test_openclaw_loads_what_was_installed_and_the_settings_come_back(version: str, tmp_path: Path) -> None:
    """`plugins list` says loaded; a running gateway takes it up by itself; uninstalling gives the old bytes back."""
    openclaw = OpenClaw(version, tmp_path, 9, plugins={"allow": ["memory-core"]})
    config = openclaw.state_dir / "openclaw.json"
    openclaw.start()
    try:
        before = config.read_bytes()
        assert ours(openclaw, version, "install")["settings_changed"]
        assert not ours(openclaw, version, "install")["changed"]
        wait_until(lambda: ours(openclaw, version, "status", ok=(0, 1))["loaded"], 120, "the plugin's loading")
        told = ours(openclaw, version, "status")
        assert told["openclaw_version"] == version
        assert told["problems"] == []
        assert listed(openclaw)["status"] == "loaded"
        assert ours(openclaw, version, "uninstall")["exact"]
        assert config.read_bytes() == before
        assert listed(openclaw) == {}
    finally:
        stop(openclaw, version)
    assert config.read_bytes() == before
    assert not (openclaw.state_dir / "sessions/states/openclaw").exists()


@pytest.mark.parametrize("version", ["2026.2.26", "2026.9.6"])
def test_openclaw_loads_the_hook_where_plugins_are_not_wanted(version: str, tmp_path: Path) -> None:
    """With plugins switched off altogether the hook reports from inside the gateway."""
    openclaw = OpenClaw(version, tmp_path, 9, plugins={"enabled": False})
    before = (openclaw.state_dir / "openclaw.json").read_bytes()
    ours(openclaw, version, "install", "--via", "hook")
    openclaw.start()
    try:
        wait_until(lambda: ours(openclaw, version, "status", ok=(0, 1))["loaded"], 120, "the hook's loading")
        assert ours(openclaw, version, "status")["via"] == "hook"
    finally:
        stop(openclaw, version)
    ours(openclaw, version, "uninstall")
    assert json.loads((openclaw.state_dir / "openclaw.json").read_bytes()).get("hooks") == json.loads(before).get(
        "hooks"
    )


def test_openclaw_s_own_doctor_leaves_our_files_alone(tmp_path: Path) -> None:
    """The plugin's files and the record lie where OpenClaw's repair does not look."""
    openclaw = OpenClaw("2026.9.6", tmp_path, 9)
    ours(openclaw, "2026.9.6", "install")
    openclaw.run("plugins", "list", "--json")
    before = snapshot(openclaw)
    openclaw.run("doctor", "--fix", "--non-interactive", "--yes")
    assert snapshot(openclaw) == before
    assert listed(openclaw)["status"] == "loaded"
    ours(openclaw, "2026.9.6", "uninstall")
    assert b"jsonlstore" not in (openclaw.state_dir / "openclaw.json").read_bytes()


def snapshot(openclaw: OpenClaw) -> dict[str, bytes]:
    """Everything of ours but what the plugin reports of itself."""
    root = openclaw.state_dir / "sessions"
    return {
        str(path): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "openclaw-plugin.json"
    }
