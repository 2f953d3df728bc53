"""`setup` takes a newcomer all the way, asks before it changes anything, and can be run again."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bridges.openclaw.conftest import PLAIN, Home
from tests.watch.conftest import Database, OpenClaw, Talk

AGENTS = Path(__file__).parents[3] / "fixtures/transcripts/agents"


@pytest.fixture
def lived_in(home: Home, monkeypatch: pytest.MonkeyPatch, make: Any) -> Home:
    """A home with some history of both eras, on a machine without a service manager."""
    shutil.copytree(AGENTS / "main", home.state_dir / "agents/main")
    talk = Talk("5c9a1f54-6d9b-4f3e-9a53-0c6d3d6a7b11", day=22, version=4)
    records = [talk.header, *talk.turn("lighthouse lamp")]
    Database(OpenClaw(home.state_dir, "work"), make).add(talk.session_id, records)
    home.package("2026.9.6")
    monkeypatch.setenv("PATH", str(home.root / "bin"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


def services(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A service manager that notes what it is asked, and says yes."""
    asked = home.root / "asked"
    for name in ("systemctl", "launchctl"):
        script = home.root / "bin" / name
        script.write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(asked))}\necho ActiveState=active\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home.root / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr("jsonlstore.cli.setup._WATCHER_SECONDS", 0.0)  # nobody is really started here
    return asked


def test_one_command_reads_history_and_installs_plugin_and_service(
    lived_in: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = services(lived_in, monkeypatch)
    told = lived_in.ask("setup", "--yes")
    assert told["openclaw"]["version"] == "2026.9.6"
    assert {row["kind"] for row in told["sources"]} >= {"jsonl", "sqlite"}
    assert told["backfill"]["written"] > 3
    assert told["overview"]["last"]
    assert told["plugin"]["settings_changed"]
    assert told["service"]["installed"]
    started = asked.read_text()
    assert ("enable" in started and "restart" in started) or "bootstrap" in started
    assert told["status"]["bridges"]["openclaw_plugin"]["installed"]
    assert told["status"]["store"]["sessions"] == told["overview"]["sessions"] > 3


def test_setup_installs_the_service_that_service_install_would(lived_in: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service written by setup may write to brain.db just as one written by `service install`."""
    services(lived_in, monkeypatch)
    (lived_in.root / "cortex").mkdir()
    (lived_in.root / "cortex" / "brain.db").touch()
    monkeypatch.setenv("CORTEX_DATA_DIR", str(lived_in.root / "cortex"))
    told = lived_in.ask("setup", "--yes", "--no-plugin")
    assert Path(told["service"]["path"]).read_text() == lived_in.say("service", "print")


def test_running_it_again_changes_nothing(lived_in: Home) -> None:
    lived_in.ask("setup", "--yes")
    before = lived_in.files()
    told = lived_in.ask("setup", "--yes")
    assert (told["backfill"]["written"], told["plugin"]["changed"]) == (0, False)
    assert lived_in.files() == before


def test_people_see_what_they_were_working_on(lived_in: Home) -> None:
    said = lived_in.say("setup", "--yes")
    for part in ("OpenClaw 2026.9.6", "Here is what you were working on", "openclaw uninstall", "Status"):
        assert part in said
    assert max(map(len, said[said.index("Here") : said.index("Plugin")].splitlines())) <= 80


def test_without_a_service_manager_it_says_what_works_anyway_and_how(lived_in: Home) -> None:
    """The plugin does; and what just failed is not recommended a line later."""
    said = lived_in.say("setup", "--yes")
    assert "not installed: " in said
    assert f"--state-dir {lived_in.state_dir} watch" in said
    assert "It works without: the plugin reads each conversation after every turn." in said
    assert "service install" not in said
    assert said.splitlines()[-1].startswith("Done. Now start OpenClaw's gateway, begin a new session")


@pytest.mark.skipif(sys.platform == "darwin", reason="systemd's")
@pytest.mark.parametrize("runtime_dir", [None, "/run/user/0/nowhere"])
def test_systemd_without_a_user_session_is_reached_by_linger_or_a_variable(
    lived_in: Home, monkeypatch: pytest.MonkeyPatch, runtime_dir: str | None
) -> None:
    script = lived_in.root / "bin" / "systemctl"
    script.write_text("#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n")
    script.chmod(0o755)
    if runtime_dir is None:
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_dir)
    told = lived_in.ask("setup", "--yes", "--no-plugin")["service"]
    assert "no user session here: " in told["detail"]
    reachable = runtime_dir is None and Path(f"/run/user/{os.getuid()}").is_dir()
    assert ("export XDG_RUNTIME_DIR=" if reachable else "sudo loginctl enable-linger") in told["hint"]
    assert "watch" in told["hint"]


LOGINCTL = """#!/bin/sh
echo "loginctl $@" >> {log}
case "$1" in
  show-user) cat {state};;
  enable-linger) echo yes > {state};;
  disable-linger) echo no > {state};;
esac
"""


def logins(home: Home, lingers: str) -> Path:
    """A login manager with one user, who lingers or does not; the file says which."""
    state, script = home.root / "lingers", home.root / "bin" / "loginctl"
    state.write_text(f"{lingers}\n")
    script.write_text(LOGINCTL.format(log=shlex.quote(str(home.root / "asked")), state=shlex.quote(str(state))))
    script.chmod(0o755)
    return state


@pytest.mark.skipif(sys.platform == "darwin", reason="systemd's")
def test_linger_is_explained_switched_on_when_asked_for_and_undone(
    lived_in: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's logins change without a word; what we switched on, `service uninstall` switches off."""
    services(lived_in, monkeypatch)
    state = logins(lived_in, "no")
    assert "it stops when you log out" in lived_in.say("setup", "--yes", "--no-plugin")
    assert state.read_text() == "no\n"
    assert lived_in.ask("setup", "--yes", "--no-plugin", "--linger")["service"]["lingers"] is True
    assert state.read_text() == "yes\n"
    assert "lingering, which we had switched on, is off again" in lived_in.say("service", "uninstall")
    assert state.read_text() == "no\n"
    assert "it goes on after you log out" in lived_in.say("service", "install", "--linger")
    lived_in.say("service", "uninstall")
    assert state.read_text() == "no\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="systemd's")
def test_linger_that_was_on_before_stays_on(lived_in: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    services(lived_in, monkeypatch)
    state = logins(lived_in, "yes")
    lived_in.say("setup", "--yes", "--no-plugin", "--linger")
    lived_in.say("service", "uninstall")
    assert state.read_text() == "yes\n"


def test_a_part_that_failed_is_not_called_done(lived_in: Home) -> None:
    lived_in.write("{ plugins: { $include: './mine.json5' } }")
    assert lived_in.ask("setup", "--yes", code=1)["next"].startswith("Not done: the plugin could not be installed")


def test_without_the_plugin_it_says_what_is_missing(lived_in: Home) -> None:
    said = lived_in.ask("setup", "--no-plugin", "--no-service")["next"]
    assert said.startswith("Done without the plugin")
    assert "`jsonlstore list`" in said


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_with_nobody_to_ask_it_does_nothing(
    lived_in: Home, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    before = lived_in.files()
    with open(os.devnull) as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        assert "--yes" in lived_in.say("setup", *words, code=2)
    assert lived_in.files() == before


def test_history_alone_needs_nobody_to_ask(lived_in: Home) -> None:
    told = lived_in.ask("setup", "--no-plugin", "--no-service")
    assert told["plugin"] == told["service"] == {"skipped": True}
    assert told["backfill"]["written"] > 3
    assert lived_in.config.read_text() == PLAIN


def test_a_dry_run_changes_nothing(lived_in: Home) -> None:
    before = lived_in.files()
    told = lived_in.ask("setup", "--dry-run")
    assert told["backfill"]["behind"] > 3
    assert "jsonlstore" in told["plugin"]["diff"]
    assert lived_in.files() == before


def test_a_refused_part_does_not_keep_the_others_from_being_done(lived_in: Home) -> None:
    lived_in.write("{ plugins: { $include: './mine.json5' } }")
    told = lived_in.ask("setup", "--yes", code=1)
    assert told["plugin"]["error"]["code"] == "not_editable"
    assert "add these lines yourself" in told["plugin"]["error"]["hint"]
    assert told["backfill"]["written"] > 3
    assert "service" in told


def test_where_there_is_no_openclaw_it_says_so(home: Home) -> None:
    home.config.unlink()
    home.state_dir.rmdir()
    assert "jsonlstore demo" in home.say("setup", "--yes", code=1)
    assert not home.state_dir.exists()


def test_an_openclaw_that_never_spoke_is_set_up_too(home: Home) -> None:
    told = home.ask("setup", "--yes", "--no-service")
    assert told["sources"] == []
    assert told["plugin"]["settings_changed"]


def at_a_terminal(home: Home, answers: str, *words: str) -> str:
    """`setup` with somebody at the keyboard."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(home.state_dir), "setup", *words]
    try:
        with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            os.write(ours, answers.encode())
            said = (process.communicate(timeout=60)[0]).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    return said


@pytest.mark.parametrize(("answers", "installed"), [("y\ny\nn\n", True), ("y\nn\nn\n", False)])
def test_each_part_is_asked_for(lived_in: Home, answers: str, installed: bool) -> None:
    """At a terminal, `n` leaves the settings alone."""
    said = at_a_terminal(lived_in, answers)
    assert "at every login" in said
    assert ("jsonlstore" in lived_in.config.read_text()) is installed
    assert "Here is what you were working on" in said


def test_it_asks_before_it_reads_and_writes_nothing_when_told_not_to(lived_in: Home) -> None:
    """The first question comes before any transcript is read and any file is written."""
    before = lived_in.files()
    said = at_a_terminal(lived_in, "n\nn\nn\n")
    assert "without secrets; nothing leaves this machine. Read them? [Y/n]" in " ".join(said.split())
    assert "Here is what you were working on" not in said
    assert lived_in.files() == before
