"""`install --compaction`: our checkpoints as OpenClaw's summaries, only where asked for, and undone byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyjson5
import pytest

from jsonlstore.bridges.openclaw.workspace_files import extension, workspaces
from tests.bridges.openclaw.conftest import Home

if TYPE_CHECKING:
    from pathlib import Path


def compaction_of(home: Home) -> Any:
    return pyjson5.decode(home.config.read_text())["agents"]["defaults"].get("compaction")


def everything(root: Path) -> dict[str, bytes | None]:
    """All below a home but lock files and the package of OpenClaw itself; directories count."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.suffix != ".lock" and ".npm-global" not in path.parts
    }


@pytest.fixture(autouse=True)
def at_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the test's."""
    monkeypatch.setenv("HOME", str(home.root))


@pytest.mark.parametrize("version", ["2026.7.1", "2026.9.6", "2026.5.7"])
def test_a_version_with_providers_is_told_ours(home: Home, version: str) -> None:
    """One key of OpenClaw's own settings, and no file in a workspace."""
    home.package(version)
    before = everything(home.root)
    assert home.ask("openclaw", "install", "--compaction")["notes"] == []
    assert compaction_of(home) == {"provider": "jsonlstore"}
    assert not list(home.root.rglob(".pi"))
    assert home.ask("openclaw", "install")["changed"] is False  # once wanted it stays
    assert home.ask("openclaw", "uninstall")["exact"] is True
    assert {name: data for name, data in everything(home.root).items() if "sessions" not in name} == before


def test_an_older_version_gets_an_extension_in_its_workspace(home: Home) -> None:
    """And the mode in which it is heard; never anything below `agents/`."""
    home.package("2026.2.26")
    (home.state_dir / "agents" / "main").mkdir(parents=True)
    before = everything(home.root)
    home.say("openclaw", "install", "--compaction")
    assert compaction_of(home) == {"mode": "default"}
    assert (home.root / "work/.pi/extensions/jsonlstore.js").read_bytes() == extension()
    assert not list((home.state_dir / "agents" / "main").iterdir())
    assert home.ask("openclaw", "install", "--compaction")["changed"] is False
    assert home.ask("openclaw", "uninstall")["exact"] is True
    assert {name: data for name, data in everything(home.root).items() if "sessions" not in name} == before


def test_every_agent_with_a_workspace_of_its_own_gets_it(home: Home) -> None:
    home.package("2026.2.26")
    agents = [{"id": "main"}, {"id": "ops"}, {"id": "lab", "workspace": "~/lab"}, {"id": "../evil"}]
    home.change(lambda settings: settings["agents"].update(list=agents))
    home.say("openclaw", "install", "--compaction")
    found = sorted(str(path.relative_to(home.root)) for path in home.root.rglob(".pi/extensions/*.js"))
    assert found == [
        ".openclaw/workspace-ops/.pi/extensions/jsonlstore.js",
        "lab/.pi/extensions/jsonlstore.js",
        "work/.pi/extensions/jsonlstore.js",
    ]
    home.say("openclaw", "uninstall")
    assert not list(home.root.rglob(".pi"))


def test_what_others_put_there_stays(home: Home) -> None:
    """Their extensions, a file of our name that is not ours, and the directories they are in."""
    home.package("2026.2.26")
    folder = home.root / "work/.pi/extensions"
    folder.mkdir(parents=True)
    (folder / "theirs.ts").write_text("export default () => {}")
    home.say("openclaw", "install", "--compaction")
    home.say("openclaw", "uninstall")
    assert [path.name for path in folder.iterdir()] == ["theirs.ts"]
    (folder / "jsonlstore.js").write_text("// mine")
    notes = home.ask("openclaw", "install", "--compaction")["notes"]
    assert any("not ours" in note for note in notes)
    home.say("openclaw", "uninstall")
    assert (folder / "jsonlstore.js").read_text() == "// mine"


def test_a_provider_of_the_users_own_is_left(home: Home) -> None:
    home.package("2026.7.1")
    home.change(lambda settings: settings["agents"]["defaults"].update(compaction={"provider": "morph"}))
    notes = home.ask("openclaw", "install", "--compaction")["notes"]
    assert any("agents.defaults.compaction.provider is 'morph'" in note for note in notes)
    home.say("openclaw", "uninstall")
    assert compaction_of(home) == {"provider": "morph"}


@pytest.mark.parametrize("version", ["2026.4.9", None])
def test_a_version_of_which_it_is_not_known_is_left_as_it_is(home: Home, version: str | None) -> None:
    """Older versions refuse to start on the key."""
    if version:
        home.package(version)
    notes = home.ask("openclaw", "install", "--compaction")["notes"]
    assert any("compaction was left as it is" in note for note in notes)
    assert compaction_of(home) is None


def test_it_is_not_switched_on_unless_asked_for(home: Home) -> None:
    home.package("2026.7.1")
    home.say("openclaw", "install")
    assert compaction_of(home) is None
    notes = home.ask("openclaw", "install", "--via", "hook", "--compaction", "--dry-run")["notes"]
    assert any("needs the plugin" in note for note in notes)


def test_a_dry_run_writes_nothing(home: Home) -> None:
    home.package("2026.2.26")
    before = everything(home.root)
    told = home.ask("openclaw", "install", "--compaction", "--dry-run")
    assert told["changed"]
    assert everything(home.root) == before


def test_a_lost_record_leaves_no_provider_behind(home: Home) -> None:
    home.package("2026.7.1")
    home.say("openclaw", "install", "--compaction")
    (home.state_dir / "sessions/states/openclaw-install.json").unlink()
    home.say("openclaw", "uninstall")
    assert not compaction_of(home)


@pytest.mark.parametrize("odd", [None, 7, {"agents": 1}, {"agents": {"list": {"a": 1}, "defaults": []}}])
def test_odd_settings_mean_the_usual_workspace(tmp_path: Path, odd: Any) -> None:
    assert workspaces(odd, tmp_path) == [tmp_path / "workspace"]


def test_nothing_is_written_below_agents(home: Home) -> None:
    home.package("2026.2.26")
    place = str(home.state_dir / "agents" / "main" / "workspace")
    home.change(lambda settings: settings["agents"]["defaults"].update(workspace=place))
    notes = home.ask("openclaw", "install", "--compaction")["notes"]
    assert any("lies below agents/" in note for note in notes)
    assert not list(home.state_dir.rglob(".pi"))
