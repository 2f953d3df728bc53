"""The plugin in plain Node, against a host that is enough of OpenClaw and a jsonlstore that misbehaves."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import jsonlstore
from jsonlstore.core.config import Config, load_config
from jsonlstore.core.paths import StatePaths

BRIDGE = Path(jsonlstore.__file__).parent / "bridges" / "openclaw"
SCRIPTS = Path(__file__).parent / "js"


def test_the_plugin_keeps_its_promises_in_plain_node(tmp_path: Path) -> None:
    """Each promise is a test of its own in js/*.test.mjs."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    if subprocess.run([node, "-e", "require('node:test')"], capture_output=True, check=False).returncode:
        pytest.skip("this Node.js has no test runner")
    command = [node, "--test", *map(str, sorted(SCRIPTS.glob("*.test.mjs")))]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("not ok") or "error:" in line]
    assert done.returncode == 0, "\n".join(failed) or done.stderr[-2000:]


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BRIDGE / "plugin" / "openclaw.plugin.json").read_text())
    return found


def test_openclaw_accepts_every_setting_we_document_and_no_other() -> None:
    schema = manifest()["configSchema"]
    assert schema["additionalProperties"] is False
    besides = {"brain_db", "search", "handoff", "redact", "status", "session", "command", "timeoutMs"}
    assert set(schema["properties"]) == {item.name for item in fields(Config)} | besides


def test_each_setting_has_the_same_words_default_and_range_for_openclaw_and_for_us() -> None:
    """OpenClaw refuses what is out of range when it is set, and says so, instead of a warning nobody reads."""
    properties = manifest()["configSchema"]["properties"]
    for item in fields(Config):
        told = properties[item.name]
        assert told["description"] == item.metadata["help"]
        assert told["default"] == (list(item.default) if isinstance(item.default, tuple) else item.default), item.name
        for rule in ("minimum", "maximum"):
            assert told.get(rule) == item.metadata.get(rule), item.name
        if "choices" in item.metadata:
            assert told.get("enum", told.get("items", {}).get("enum")) == list(item.metadata["choices"])


def test_the_nested_way_to_write_a_setting_has_the_same_range() -> None:
    properties = manifest()["configSchema"]["properties"]
    for group in ("brain_db", "search", "handoff", "redact", "status"):
        for name, told in properties[group]["properties"].items():
            flat = properties[f"{group}_{name}"]
            assert told == {key: value for key, value in flat.items() if key not in ("description", "default")}


def test_the_settings_that_are_the_plugins_own_are_no_unknown_settings_of_ours(tmp_path: Path) -> None:
    config = {"command": ["/opt/jsonlstore"], "timeoutMs": 900, "lookback_days": 9, "mistake": 1}
    document = {"plugins": {"entries": {"jsonlstore": {"config": config}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(document))
    loaded = load_config(tmp_path)
    assert loaded.config.lookback_days == 9
    assert [name.rpartition(" ")[2] for name in loaded.unknown] == ["mistake"]


def test_manifest_packages_and_program_have_one_version_and_one_name() -> None:
    packages = [json.loads((BRIDGE / place / "package.json").read_text()) for place in ("plugin", "hook")]
    assert {manifest()["version"], *(one["version"] for one in packages)} == {jsonlstore.__version__}
    assert manifest()["id"] == packages[0]["name"] == "jsonlstore"  # up to 2026.3 the two are compared


def test_the_report_is_where_status_looks_for_it(tmp_path: Path) -> None:
    path = StatePaths.of(tmp_path).plugin_heartbeat
    source = (BRIDGE / "plugin" / "heartbeat.js").read_text()
    assert f'"{path.name}"' in source
    assert path.parent == tmp_path / "sessions" / "states"
    kept = StatePaths.of(tmp_path).hook_log
    assert f'"{kept.name}"' in (BRIDGE / "plugin" / "trace.js").read_text()
    assert kept.parent == path.parent


def test_the_plugin_has_no_dependencies() -> None:
    for place in ("plugin", "hook"):
        package = json.loads((BRIDGE / place / "package.json").read_text())
        assert not {"dependencies", "peerDependencies", "scripts"} & set(package)
    for script in BRIDGE.rglob("*.js"):
        imported = [line.split('"')[1] for line in script.read_text().splitlines() if line.startswith("import ")]
        assert all(name.startswith(("node:", "./", "../../plugin/")) for name in imported), script
