"""OpenClaw is found by looking, wherever package managers put it, and never run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jsonlstore.bridges.openclaw.discovery import Installation, find_openclaw

if TYPE_CHECKING:
    from tests.bridges.openclaw.conftest import Home


def test_the_command_on_the_path_is_a_link_into_the_package(home: Home) -> None:
    package = home.package("2026.7.1", "opt/lib/node_modules/openclaw")
    (home.root / "bin/openclaw").symlink_to(package / "openclaw.mjs")
    assert find_openclaw(home.state_dir) == Installation("2026.7.1", package, "PATH")


def test_the_command_on_the_path_is_a_shell_wrapper(home: Home) -> None:
    package = home.package("2026.7.1", "pnpm/global/5/node_modules/openclaw")
    wrapper = home.root / "bin/openclaw"
    wrapper.write_text('#!/bin/sh\nexec node "$basedir/../pnpm/global/5/node_modules/openclaw/openclaw.mjs" "$@"\n')
    wrapper.chmod(0o755)
    assert find_openclaw(home.state_dir) == Installation("2026.7.1", package, "PATH")


def test_what_the_gateway_s_service_runs_comes_first(home: Home) -> None:
    """The one that will load the plugin is the one that matters."""
    home.package("2026.2.26")
    package = home.package("2026.9.6", "srv/openclaw")
    units = home.root / ".config/systemd/user"
    units.mkdir(parents=True)
    (units / "openclaw-gateway.service").write_text(
        f"[Service]\nExecStart=/usr/bin/node {package}/dist/index.js gateway\n"
    )
    assert find_openclaw(home.state_dir) == Installation("2026.9.6", package, "the gateway's service file")


@pytest.mark.parametrize(
    "where",
    [
        ".npm-global/lib/node_modules/openclaw",
        ".nvm/versions/node/v24.1.0/lib/node_modules/openclaw",
        ".local/share/pnpm/global/5/node_modules/openclaw",
        ".bun/install/global/node_modules/openclaw",
        ".openclaw/lib/node_modules/openclaw",
    ],
)
def test_global_packages_are_found_without_a_path(home: Home, where: str) -> None:
    package = home.package("2026.8.1", where)
    found = find_openclaw(home.state_dir)
    assert (found.version, found.package) == ("2026.8.1", package)


def test_of_several_the_newest_is_taken(home: Home) -> None:
    home.package("2026.2.26", ".nvm/versions/node/v22.0.0/lib/node_modules/openclaw")
    home.package("2026.10.1", ".nvm/versions/node/v24.0.0/lib/node_modules/openclaw")
    assert find_openclaw(home.state_dir).version == "2026.10.1"


def test_the_settings_tell_who_wrote_them_last(home: Home) -> None:
    assert find_openclaw(home.state_dir, {"meta": {"lastTouchedVersion": "2026.7.1-beta.2"}}).release == (2026, 7, 1)


def test_a_transcript_database_tells_the_era(home: Home) -> None:
    database = home.state_dir / "agents/main/agent/openclaw-agent.sqlite"
    database.parent.mkdir(parents=True)
    database.touch()
    assert find_openclaw(home.state_dir).release >= (2026, 8)


@pytest.mark.parametrize("inside", ["", "openclaw.mjs", "dist"])
def test_one_may_be_named(home: Home, inside: str) -> None:
    package = home.package("2026.9.6", "odd/place")
    assert find_openclaw(home.state_dir, named=str(package / inside)) == Installation("2026.9.6", package, "--openclaw")


def test_what_is_named_and_is_none_is_a_usage_error(home: Home) -> None:
    assert "--openclaw takes" in home.say("openclaw", "install", "--openclaw", "/nowhere", code=2)


def test_without_any_openclaw_it_says_so_and_how_to_name_one(home: Home) -> None:
    assert not find_openclaw(home.state_dir).is_known
    said = home.say("openclaw", "install")
    assert "no OpenClaw was found" in said
    assert "--openclaw PATH" in said


def test_one_that_is_too_old_is_refused_untouched(home: Home) -> None:
    home.package("2026.1.24")
    before = home.files()
    assert "too old" in home.say("openclaw", "install", code=1)
    assert home.files() == before
    assert "too old" in " ".join(home.ask("openclaw", "status")["problems"])


def test_another_package_of_that_directory_name_is_none(home: Home) -> None:
    package = home.package("2026.9.6")
    (package / "package.json").write_text('{"name": "something-else", "version": "9.9.9"}')
    assert not find_openclaw(home.state_dir).is_known
    (package / "package.json").write_text("not json")
    assert not find_openclaw(home.state_dir).is_known
