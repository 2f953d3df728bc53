"""The service file says what it should, is what the service manager accepts, and goes without a trace."""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jsonlstore.cli.main import main
from jsonlstore.watch.service import Launchd, Systemd

# Stands in for the service manager's own client: notes what it was asked, and answers as told.
CLIENT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
  *is-enabled*) echo {enabled};;
  *is-active*) echo {active};;
  *show-environment*) exit {session};;
  *show*) if [ -e {refuses} ] && grep -qs "$(cat {refuses})" "$HOME/.config/systemd/user/jsonlstore-watch.service"
    then printf 'ActiveState=activating\\nSubState=auto-restart\\nExecMainStatus=226\\n'
    else printf 'ActiveState=active\\nSubState=running\\nExecMainStatus=0\\n'
    fi;;
esac
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return client(tmp_path, monkeypatch)


def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, session: int = 0) -> Path:
    folder, log = tmp_path / "bin", tmp_path / "asked"
    folder.mkdir(exist_ok=True)
    log.touch()
    quoted = {"log": shlex.quote(str(log)), "refuses": shlex.quote(str(tmp_path / "refuses"))}
    for name in ("systemctl", "launchctl"):
        script = folder / name
        script.write_text(CLIENT.format(**quoted, enabled="enabled", active="active", session=session))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return log


def test_the_unit_is_hardened_and_writes_only_to_our_directories(tmp_path: Path) -> None:
    text = Systemd(tmp_path / "state", sessions_dir=str(tmp_path / "mirrors")).text().decode()
    for setting in (
        "Type=notify", "WatchdogSec=", "Restart=on-failure", "NoNewPrivileges=yes", "ProtectHome=read-only",
        "ProtectSystem=strict", "MemoryMax=", "CPUQuota=", "PrivateNetwork=yes", "ExecReload=/bin/kill -HUP",
        "PrivateUsers=yes", f"ReadOnlyPaths=-{tmp_path}/state/agents",
    ):  # fmt: skip
        assert setting in text
    assert f"ReadWritePaths={tmp_path}/state/sessions {tmp_path}/mirrors" in text
    assert f"ExecStart={sys.executable} -m jsonlstore --state-dir {tmp_path}/state watch\n" in text


def test_what_lies_in_a_temporary_directory_stays_in_sight(tmp_path: Path) -> None:
    """A private one would hide it, and a directory to write to that is not there keeps a unit from starting."""
    text = Systemd(Path("/tmp/state")).text().decode()
    assert "PrivateTmp=no\n" in text
    assert "ReadWritePaths=/tmp/state/sessions /tmp /var/tmp\n" in text


def test_a_dollar_is_doubled_in_the_command_line_and_nowhere_else(tmp_path: Path) -> None:
    text = Systemd(tmp_path / "dol$lar", environment={"CORTEX_DATA_DIR": "/a$b"}).text().decode()
    assert f"--state-dir {tmp_path}/dol$$lar watch\n" in text
    assert f"ReadWritePaths={tmp_path}/dol$lar/sessions" in text
    assert "Environment=CORTEX_DATA_DIR=/a$b\n" in text


def test_a_brain_db_that_is_written_through_to_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CORTEX_DATA_DIR", str(tmp_path / "cortex"))
    command = ["--state-dir", str(tmp_path / "state"), "service", "print", "--kind", "systemd"]
    assert main(command) == 0
    assert "cortex " not in capsys.readouterr().out.partition("ReadWritePaths=")[2]
    (tmp_path / "cortex").mkdir()
    (tmp_path / "cortex/brain.db").touch()
    assert main(command) == 0
    text = capsys.readouterr().out
    assert f" -{tmp_path}/cortex" in text.partition("ReadWritePaths=")[2].splitlines()[0]
    assert f"Environment=CORTEX_DATA_DIR={tmp_path}/cortex\n" in text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", ["state", "with space", 'quo"te', "per%cent", "dol$lar"])
def test_systemd_accepts_the_unit_whatever_the_directory_is_called(tmp_path: Path, name: str) -> None:
    unit = tmp_path / "jsonlstore-watch.service"
    unit.write_bytes(Systemd(tmp_path / name).text())
    (tmp_path / "run").mkdir()
    env = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)], capture_output=True, text=True, env=env, check=False
    )
    complaints = [each for each in done.stderr.splitlines() if unit.name in each]
    assert complaints == []


def test_a_brain_db_behind_a_link_can_be_written_where_it_is(tmp_path: Path) -> None:
    """SQLite keeps its log beside the file, not beside the link."""
    real = tmp_path / "cortex" / "brain.db"
    real.parent.mkdir()
    real.touch()
    link = tmp_path / "memory" / "brain.db"
    link.parent.mkdir()
    link.symlink_to(real)
    unit = Systemd(tmp_path / "state", databases=[link]).text().decode()
    writable = next(row for row in unit.splitlines() if row.startswith("ReadWritePaths="))
    assert str(link.parent) in writable
    assert str(real.parent) in writable


def test_the_agent_is_a_plist_that_runs_the_watcher(tmp_path: Path) -> None:
    document = plistlib.loads(Launchd(tmp_path / "state", home=tmp_path).text())
    assert document["ProgramArguments"][-3:] == ["--state-dir", str(tmp_path / "state"), "watch"]
    assert document["RunAtLoad"] is True
    assert document["KeepAlive"] == {"SuccessfulExit": False}


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_install_starts_it_and_uninstall_leaves_no_trace(
    tmp_path: Path, asked: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--state-dir", str(tmp_path / "state"), "service"]
    home = tmp_path / "home"
    assert main([*command, "install", "--kind", kind, "--dry-run"]) == 0
    assert not home.exists()
    assert main([*command, "install", "--kind", kind]) == 0
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) == 1
    wanted = {"systemd": "--user restart --no-block jsonlstore-watch.service", "launchd": "bootstrap gui/"}[kind]
    assert wanted in asked.read_text()
    capsys.readouterr()
    assert main([*command, "print", "--kind", kind]) == 0
    assert capsys.readouterr().out == files[0].read_text()
    assert main([*command, "uninstall", "--kind", kind]) == 0
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert main([*command, "uninstall", "--kind", kind]) == 0


def test_status_reads_it_back(tmp_path: Path, asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    command = ["--state-dir", str(tmp_path / "state"), "service"]
    main([*command, "install", "--kind", "systemd"])
    capsys.readouterr()
    assert main([*command, "status", "--kind", "systemd", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["installed"], told["enabled"], told["active"], told["current"]) == (True, True, True, True)
    Path(told["path"]).write_text("[Unit]\n")
    main([*command, "status", "--kind", "systemd", "--json"])
    assert json.loads(capsys.readouterr().out)["current"] is False


def test_where_user_namespaces_are_refused_it_runs_unconfined_and_says_so(
    tmp_path: Path, asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    (tmp_path / "refuses").write_text("PrivateUsers=yes")
    command = ["--state-dir", str(tmp_path / "state"), "service"]
    assert main([*command, "install", "--kind", "systemd"]) == 0
    assert "confined" in capsys.readouterr().err
    unit = (tmp_path / "home/.config/systemd/user/jsonlstore-watch.service").read_text()
    assert "NoNewPrivileges=yes" in unit
    assert "ProtectHome" not in unit
    main([*command, "status", "--kind", "systemd", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["current"], told["confined"]) == (True, False)


def test_a_service_that_does_not_start_is_an_error(
    tmp_path: Path, asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "refuses").write_text("ExecStart")
    assert main(["--state-dir", str(tmp_path / "state"), "service", "install", "--kind", "systemd"]) == 1
    assert "does not run" in capsys.readouterr().err


def test_nothing_is_installed_where_the_settings_say_off(
    tmp_path: Path, asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "off.json"
    settings.write_text('{"enabled": false}')
    command = ["--state-dir", str(tmp_path / "state"), "--config", str(settings), "service", "install"]
    assert main([*command, "--kind", "systemd"]) == 1
    assert "disabled" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_without_a_user_session_it_says_so_and_names_the_foreground_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client(tmp_path, monkeypatch, session=1)
    assert main(["--state-dir", str(tmp_path / "state"), "service", "install", "--kind", "systemd"]) == 1
    said = capsys.readouterr().err
    assert "no user session" in said
    assert "jsonlstore --state-dir" in said
    assert not (tmp_path / "home").exists()
