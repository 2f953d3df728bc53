"""Installing puts us into OpenClaw's settings once; uninstalling gives back what was there."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyjson5
import pytest
from hypothesis import given

from jsonlstore.bridges.openclaw.config_file import BACKUP_MARK, read_config
from jsonlstore.bridges.openclaw.discovery import Installation
from jsonlstore.bridges.openclaw.installer import Installer
from jsonlstore.bridges.openclaw.json5_tree import NotEditable
from jsonlstore.bridges.openclaw.plugin_files import own_command, packaged
from jsonlstore.core.clock import system_clock
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from tests.bridges.openclaw.conftest import PLAIN, Home
from tests.bridges.openclaw.test_json5_edit import configs, documents

FOLDER = "sessions/states/openclaw/plugin"


def settings_of(home: Home) -> Any:
    return pyjson5.decode(home.config.read_text())


def entry_of(home: Home) -> Any:
    return settings_of(home)["plugins"]["entries"]["jsonlstore"]


def test_install_then_uninstall_is_the_old_file_byte_for_byte(home: Home) -> None:
    before = home.files()
    told = home.ask("openclaw", "install")
    assert told["settings_changed"]
    assert settings_of(home)["plugins"]["load"]["paths"] == [str(home.state_dir / FOLDER)]
    assert entry_of(home) == {"enabled": True, "config": {"command": list(own_command())}}
    for comment in ("// what I changed, and why", "// no network", "'agents'"):
        assert comment in home.config.read_text()
    assert home.ask("openclaw", "uninstall")["exact"] is True
    assert home.files() == before


def test_what_openclaw_loads_is_what_the_package_brings(home: Home) -> None:
    home.say("openclaw", "install")
    root = home.state_dir / "sessions/states/openclaw"
    assert {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    } == packaged()
    assert {"plugin/index.js", "plugin/openclaw.plugin.json", "plugin/package.json"} <= packaged().keys()
    for path in [root, *root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert all(check["ok"] for check in home.ask("doctor")["checks"])


def test_installing_twice_is_installing_once(home: Home) -> None:
    home.say("openclaw", "install")
    after = home.files()
    assert "already installed" in home.say("openclaw", "install")
    assert home.files() == after


def test_uninstalling_what_is_not_installed_changes_nothing(home: Home) -> None:
    before = home.files()
    assert "not installed" in home.say("openclaw", "uninstall")
    assert home.files() == before
    assert not (home.state_dir / "sessions").exists()


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_dry_run_shows_the_lines_and_touches_nothing(home: Home, command: str) -> None:
    if command == "uninstall":
        home.say("openclaw", "install")
    before = home.files()
    shown = home.say("openclaw", command, "--dry-run")
    assert FOLDER in shown
    assert home.files() == before


def test_a_dry_run_of_a_file_in_one_line_does_not_show_its_secrets(home: Home) -> None:
    token = "ghp_" + "c4y8lr0au3n5" * 3  # shaped like one, belongs to nobody
    home.write(json.dumps({"env": {"GITHUB_TOKEN": token}}))
    assert token not in home.say("openclaw", "install", "--dry-run")


@pytest.mark.parametrize(
    ("version", "told"),
    [("2026.2.26", False), ("2026.3.13", False), ("2026.5.7", True), ("2026.7.1", True), ("2026.9.6", True)],
)
def test_each_version_gets_the_keys_it_knows(home: Home, version: str, told: bool) -> None:
    """2026.2 does not start with the key that later ones want."""
    home.package(version)
    assert home.ask("openclaw", "install")["openclaw"]["version"] == version
    assert entry_of(home).get("hooks") == ({"allowConversationAccess": True} if told else None)


def test_an_update_of_openclaw_is_followed_by_installing_again(home: Home) -> None:
    home.package("2026.2.26")
    before = home.files()
    home.say("openclaw", "install")
    home.package("2026.9.6")
    assert any("allowConversationAccess" in one for one in home.ask("openclaw", "status", code=1)["problems"])
    home.say("openclaw", "install")
    assert entry_of(home)["hooks"] == {"allowConversationAccess": True}
    assert home.ask("openclaw", "status")["problems"] == []
    assert home.ask("openclaw", "uninstall")["exact"]
    assert home.files() == before


def test_a_new_python_environment_renews_the_command_it_wrote_itself(home: Home) -> None:
    paths, found = StatePaths.of(home.state_dir), Installation("2026.2.26")
    Installer(paths, home.config, system_clock, command=("/old/venv/bin/jsonlstore",)).install(found)
    assert any("/old/venv" in one for one in home.ask("openclaw", "status", code=1)["problems"])
    home.say("openclaw", "install")
    assert entry_of(home)["config"]["command"] == list(own_command())
    assert home.ask("openclaw", "uninstall")["exact"]
    assert home.config.read_text() == PLAIN


def test_values_of_the_user_s_are_never_changed(home: Home) -> None:
    mine = {"enabled": False, "config": {"command": ["/my/wrapper"], "lookback_days": 5}}
    home.change(lambda settings: settings.update(plugins={"entries": {"jsonlstore": mine}, "enabled": False}))
    before = home.config.read_bytes()
    notes = " ".join(home.ask("openclaw", "install")["notes"])
    assert entry_of(home) == mine
    for expected in ("/my/wrapper", "openclaw plugins enable jsonlstore", "plugins.enabled is false"):
        assert expected in notes
    home.say("openclaw", "uninstall")
    assert home.config.read_bytes() == before


@pytest.mark.parametrize(("allow", "after"), [(["telegram"], ["telegram", "jsonlstore"]), ([], []), (None, None)])
def test_an_allow_list_is_joined_and_none_is_started(home: Home, allow: Any, after: Any) -> None:
    """An empty list allows everything: adding to it would lock the others out."""
    home.change(lambda settings: settings.update(plugins={} if allow is None else {"allow": allow}))
    home.say("openclaw", "install")
    assert settings_of(home)["plugins"].get("allow") == after


def test_after_openclaw_rewrote_the_file_only_ours_goes(home: Home) -> None:
    home.say("openclaw", "install")
    home.change(lambda settings: settings.update(meta={"lastTouchedVersion": "2026.2.26"}))
    told = home.ask("openclaw", "uninstall")
    assert told["exact"] is False
    assert settings_of(home) == {**pyjson5.decode(PLAIN), "meta": {"lastTouchedVersion": "2026.2.26"}}
    assert not (home.state_dir / FOLDER).exists()


def test_settings_the_user_added_to_our_entry_stay(home: Home) -> None:
    home.say("openclaw", "install")
    home.change(lambda settings: settings["plugins"]["entries"]["jsonlstore"]["config"].update(lookback_days=5))
    told = home.ask("openclaw", "uninstall")
    assert settings_of(home)["plugins"] == {"entries": {"jsonlstore": {"config": {"lookback_days": 5}}}}
    assert told["notes"]


def test_switched_off_by_openclaw_s_own_command_it_still_goes_entirely(home: Home) -> None:
    home.say("openclaw", "install")
    home.change(lambda settings: settings["plugins"]["entries"]["jsonlstore"].update(enabled=False))
    assert "openclaw plugins enable" in " ".join(home.ask("openclaw", "status", code=1)["problems"])
    home.say("openclaw", "uninstall")
    assert settings_of(home) == pyjson5.decode(PLAIN)


@pytest.mark.parametrize("via", ["plugin", "hook"])
def test_without_the_record_ours_is_told_by_its_name(home: Home, via: str) -> None:
    home.say("openclaw", "install", "--via", via)
    (home.state_dir / "sessions/states/openclaw-install.json").unlink()
    home.say("openclaw", "uninstall")
    assert "jsonlstore" not in home.config.read_text()
    assert settings_of(home)["gateway"] == pyjson5.decode(PLAIN)["gateway"]


def test_a_backup_restored_by_hand_is_no_obstacle(home: Home) -> None:
    """The record says installed, the file says not: the file is right."""
    home.say("openclaw", "install")
    home.write(PLAIN)
    assert home.ask("openclaw", "status")["installed"] is False
    home.say("openclaw", "install")
    assert home.ask("openclaw", "uninstall")["exact"]
    assert home.config.read_text() == PLAIN


def test_the_backup_lies_beside_the_original_for_its_owner_only(home: Home) -> None:
    home.config.chmod(0o644)
    backup = Path(home.ask("openclaw", "install")["backup"])
    assert backup.parent == home.state_dir
    assert backup.read_text() == PLAIN
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o644
    inside = [path for path in (home.state_dir / "sessions").rglob("*") if path.is_file()]
    assert not [path for path in inside if b"not-a-real-one" in path.read_bytes()]


def test_a_linked_settings_file_stays_a_link(home: Home) -> None:
    real = home.root / "dotfiles" / "openclaw.json5"
    real.parent.mkdir()
    home.config.rename(real)
    home.config.symlink_to(real)
    home.say("openclaw", "install")
    assert home.config.is_symlink()
    assert "jsonlstore" in real.read_text()
    assert [path for path in real.parent.iterdir() if BACKUP_MARK in path.name]
    home.say("openclaw", "uninstall")
    assert home.config.is_symlink()
    assert real.read_text() == PLAIN
    assert [path.name for path in real.parent.iterdir()] == [real.name]


def test_settings_somewhere_else_are_found_there(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = home.root / "elsewhere.json"
    elsewhere.write_text("{}")
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(elsewhere))
    home.say("openclaw", "install")
    assert "jsonlstore" in elsewhere.read_text()
    assert home.config.read_text() == PLAIN
    home.say("openclaw", "uninstall")
    assert elsewhere.read_text() == "{}"


def test_where_there_are_no_settings_some_are_made_and_go_again(home: Home) -> None:
    home.config.unlink()
    home.say("openclaw", "install")
    assert settings_of(home).keys() == {"plugins"}
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
    home.say("openclaw", "uninstall")
    assert home.files() == {}


@pytest.mark.parametrize(
    "text",
    [
        "{ plugins: { $include: './plugins.json5' } }",
        "{ $include: './base.json5' }",
        "{ plugins: {}, plugins: {} }",
        "{ this is not json5",
        "",
        "[]",
        "{ plugins: 'none' }",
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_lines_to_paste(home: Home, text: str) -> None:
    home.write(text)
    said = home.say("openclaw", "install", code=1)
    assert "nothing was changed" in said
    lines = said.partition("hint: add these lines yourself:")[2]
    assert json.loads(lines)["plugins"]["load"]["paths"] == [str(home.state_dir / FOLDER)]
    assert home.config.read_text() == text
    assert (home.state_dir / FOLDER / "index.js").exists()  # OpenClaw would not start with a path that is not there


def test_lines_pasted_into_an_included_file_are_seen_and_not_cut_off_from_their_files(home: Home) -> None:
    """What we cannot edit we do not break either: the files stay while a settings file names them."""
    home.write("{ plugins: { $include: './mine.json5' } }")
    lines = home.say("openclaw", "install", code=1).partition("yourself:")[2]
    mine = home.state_dir / "mine.json5"
    mine.write_text(json.dumps(json.loads(lines)["plugins"]))
    told = home.ask("openclaw", "status")
    assert (told["installed"], told["included_by"], told["problems"]) == (True, str(mine), [])
    assert "still names the plugin" in home.say("openclaw", "uninstall", code=1)
    assert (home.state_dir / FOLDER).exists()
    mine.write_text("{}")
    home.say("openclaw", "uninstall")
    assert not (home.state_dir / FOLDER).exists()


def test_lines_pasted_into_the_file_itself_are_as_good_as_installed(home: Home) -> None:
    home.config.chmod(0o400)
    lines = home.say("openclaw", "install", code=1).partition("yourself:")[2]
    home.config.chmod(0o600)
    home.write(lines)
    assert "already installed" in home.say("openclaw", "install")
    home.say("openclaw", "uninstall")
    assert "jsonlstore" not in home.config.read_text()


def test_a_state_directory_that_moved_is_named_anew(home: Home) -> None:
    home.say("openclaw", "install")
    home.state_dir.rename(home.root / "moved")
    home.state_dir, home.config = home.root / "moved", home.root / "moved/openclaw.json"
    home.say("openclaw", "install")
    assert settings_of(home)["plugins"]["load"]["paths"] == [str(home.state_dir / FOLDER)]
    assert home.ask("openclaw", "uninstall")["exact"]
    assert home.config.read_text() == PLAIN


def test_one_state_directory_is_wired_to_one_settings_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uninstalling finds the file it was installed in, whatever the environment says by then."""
    home.say("openclaw", "install")
    other = home.root / "other.json"
    other.write_text("{}")
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(other))
    assert "already installed in" in home.say("openclaw", "install", code=1)
    assert home.ask("openclaw", "uninstall")["exact"]
    assert (home.config.read_text(), other.read_text()) == (PLAIN, "{}")


def test_several_installs_at_once_are_one(home: Home) -> None:
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(home.state_dir), "openclaw", "install"]
    together = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(120) for process in together] == [0, 0, 0, 0]
    assert settings_of(home)["plugins"]["load"]["paths"] == [str(home.state_dir / FOLDER)]
    assert home.ask("openclaw", "uninstall")["exact"]
    assert home.config.read_text() == PLAIN


def test_an_uninstall_that_cannot_edit_names_the_lines(home: Home) -> None:
    home.say("openclaw", "install")
    home.write(home.config.read_text() + "}")
    before = home.files()
    said = home.say("openclaw", "uninstall", code=1)
    assert "line " in said
    assert FOLDER in said
    assert home.files() == before


def test_a_read_only_file_is_left_alone(home: Home) -> None:
    home.config.chmod(0o400)
    said = home.say("openclaw", "install", code=1)
    assert "read-only" in said
    assert FOLDER in said
    assert home.config.read_text() == PLAIN
    assert "read-only" in home.say("openclaw", "install", code=1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_user_s_home_is_left_alone(home: Home) -> None:
    """Files that root makes there could not be read by the OpenClaw that is to load them."""
    os.chown(home.state_dir, 12345, 12345)
    before = home.files()
    assert "as the user who runs OpenClaw" in home.say("openclaw", "install", code=1)
    assert home.files() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_settings_keep_their_owner(home: Home) -> None:
    os.chown(home.config, 12345, 23456)
    home.say("openclaw", "install")
    assert (home.config.stat().st_uid, home.config.stat().st_gid) == (12345, 23456)


def test_without_any_openclaw_directory_nothing_is_made(home: Home, tmp_path: Path) -> None:
    home.config.unlink()
    home.state_dir.rmdir()
    assert "no such directory" in home.say("openclaw", "install", code=1)
    assert not home.state_dir.exists()


def test_a_change_by_openclaw_in_the_same_moment_is_not_lost(home: Home) -> None:
    """Whoever writes while we do is read again, and both changes are in the end in the file."""

    class Meddling(Disk):
        """Another program writes the settings as soon as our record is written."""

        written = False

        def replace(self, target: Path, data: bytes, temp_dir: Path) -> None:
            super().replace(target, data, temp_dir)
            if target.name == "openclaw-install.json" and not Meddling.written:
                Meddling.written = True
                home.change(lambda settings: settings.update(meta={"theirs": True}))

    made = Installer(StatePaths.of(home.state_dir), home.config, system_clock, disk=Meddling())
    made.install(Installation("2026.2.26"))
    assert settings_of(home)["meta"] == {"theirs": True}
    assert "jsonlstore" in settings_of(home)["plugins"]["entries"]
    home.say("openclaw", "uninstall")
    assert settings_of(home) == {**pyjson5.decode(PLAIN), "meta": {"theirs": True}}
    assert not (home.state_dir / "sessions/states/openclaw").exists()


def test_the_hook_instead_of_the_plugin(home: Home) -> None:
    before = home.files()
    home.say("openclaw", "install", "--via", "hook")
    internal = settings_of(home)["hooks"]["internal"]
    assert internal == {
        "load": {"extraDirs": [str(home.state_dir / "sessions/states/openclaw/hook")]},
        "enabled": True,
        "entries": {"jsonlstore": {"enabled": True, "command": list(own_command())}},
    }
    assert (home.state_dir / "sessions/states/openclaw/hook/jsonlstore/HOOK.md").exists()
    assert home.ask("openclaw", "status")["via"] == "hook"
    home.say("openclaw", "uninstall")
    assert home.files() == before


@given(text=configs() | documents())
def test_any_settings_file_comes_back_byte_for_byte(text: str) -> None:
    """Whatever it looks like, it is edited and restored, or refused untouched."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        state_dir = Path(folder)
        config = state_dir / "openclaw.json"
        config.write_bytes(text.encode())
        installer = Installer(StatePaths.of(state_dir), config, system_clock, disk=Disk(sync=False))
        try:
            installer.install(Installation("2026.9.6"))
        except NotEditable:
            assert config.read_bytes() == text.encode()
            return
        installer.install(Installation("2026.9.6"))
        assert read_config(config).settings["plugins"]["load"]["paths"]
        assert installer.uninstall().exact
        assert config.read_bytes() == text.encode()
        assert sorted(os.listdir(state_dir)) == ["openclaw.json", "sessions"]


@pytest.mark.parametrize("text", ['{ env: { DOOR: "swordfish", PIN: 4711 } }', '{\n  "door": "swordfish"\n}\n'])
def test_what_is_shown_of_a_change_has_no_value_of_the_user_s(home: Home, text: str) -> None:
    """A line that only gets a comma, or the only line there is, may hold a secret of no known shape."""
    home.write(text)
    shown = home.say("openclaw", "install", "--dry-run")
    home.say("openclaw", "install")
    shown += home.say("openclaw", "uninstall", "--dry-run")
    assert shown.count(FOLDER) == 2
    assert "swordfish" not in shown
    assert "4711" not in shown


def test_a_command_of_the_user_s_own_is_named_without_its_secrets(home: Home) -> None:
    command = ["env", "API_TOKEN=hunter2-not-real", "jsonlstore"]
    home.write(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"command": command}}}}}))
    said = home.say("openclaw", "install")
    said += json.dumps(home.ask("openclaw", "status"))
    assert "command is ['env', 'API_TOKEN=[REDACTED]'" in " ".join(said.split())
    assert "hunter2" not in said


def test_the_settings_are_shown_without_what_a_terminal_would_obey(home: Home) -> None:
    home.write("{ a: 1, /* \u202e\x07 */ }")
    said = home.say("openclaw", "install", "--dry-run")
    assert FOLDER in said
    assert not {"\u202e", "\x07"} & set(said)


@pytest.mark.parametrize("text", ["", "\n", '{ "a": ', "null"])
def test_what_a_refused_install_left_can_be_taken_away(home: Home, text: str) -> None:
    """Settings that cannot be read and have no word of us in them keep nobody from uninstalling."""
    home.write(text)
    before = home.files()
    home.say("openclaw", "install", code=1)
    home.say("openclaw", "uninstall")
    assert home.files() == before


@pytest.mark.parametrize("text", ['{ "jsonlstore": ', '{ "$include": "./more.json5", '])
def test_settings_that_cannot_be_read_and_may_name_us_keep_the_files(home: Home, text: str) -> None:
    home.write(text)
    home.say("openclaw", "install", code=1)
    home.say("openclaw", "uninstall", code=1)
    assert (home.state_dir / FOLDER / "index.js").exists()


@pytest.mark.parametrize("command", [["openclaw", "install"], ["setup", "--yes", "--no-service"]])
def test_the_lines_to_paste_are_lines(home: Home, command: list[str]) -> None:
    home.write('{ "plugins": { "$include": "./plugins.json5" } }')
    (home.state_dir / "plugins.json5").write_text("{}")
    said = home.say(*command, code=1)
    assert json.loads(said[said.index("yourself:") + len("yourself:") :])["plugins"]["load"]["paths"]
    assert '\n  "plugins": {\n' in said
