"""What the stories need from npm is there whole or not at all, and a test that cannot have it says why."""

from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest

from tests.openclaw import packages
from tests.openclaw.packages import Installer, NotToBeHad, Package

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = Package("thing", "thing@1", "thing/main.js")
INSTALLS = 'echo run >> "$RUNS"; mkdir -p node_modules/thing; sleep 0.2; echo 1 > node_modules/thing/main.js\n'


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for npm that does what the test writes into it, and an empty cache."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n" + INSTALLS)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    return program


def test_a_package_is_installed_once_and_found_from_then_on(npm: Path, tmp_path: Path) -> None:
    assert installer(tmp_path).need(PACKAGE).read_text() == "1\n"
    npm.unlink()
    assert installer(tmp_path).need(PACKAGE).exists()
    assert (tmp_path / "runs").read_text() == "run\n"


def test_an_install_that_fails_leaves_nothing_and_says_what_npm_said(npm: Path, tmp_path: Path) -> None:
    npm.write_text("#!/bin/sh\nmkdir -p node_modules/thing; echo 'npm error no such package' >&2; exit 1\n")
    with pytest.raises(NotToBeHad, match=r"thing@1 is not in .*no such package"):
        installer(tmp_path).need(PACKAGE)
    assert [name for name in os.listdir(tmp_path / "cache") if not name.endswith(".lock")] == []


def test_an_install_cut_short_is_not_taken_for_whole(npm: Path, tmp_path: Path) -> None:
    """Nor does it keep the next one from coming to an end."""
    npm.write_text('#!/bin/sh\nmkdir -p node_modules/thing; echo half > node_modules/thing/main.js; kill -9 "$PPID"\n')
    process = multiprocessing.get_context("fork").Process(target=_need, args=(tmp_path,))
    process.start()
    process.join(30)
    assert process.exitcode == -9
    assert not PACKAGE.below(tmp_path / "cache" / PACKAGE.directory).exists()
    npm.write_text("#!/bin/sh\n" + INSTALLS)
    assert installer(tmp_path).need(PACKAGE).read_text() == "1\n"


def test_of_two_test_runs_at_once_one_installs_and_both_have_it(npm: Path, tmp_path: Path) -> None:
    pair = [multiprocessing.get_context("fork").Process(target=_need, args=(tmp_path,)) for _ in range(2)]
    for process in pair:
        process.start()
    for process in pair:
        process.join(30)
    assert [process.exitcode for process in pair] == [0, 0]
    assert (tmp_path / "runs").read_text() == "run\n"


def test_without_npm_the_reason_is_that(npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotToBeHad, match="npm is not installed"):
        installer(tmp_path).need(PACKAGE)


def test_an_install_that_takes_too_long_is_given_up(npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(packages, "INSTALL_SECONDS", 1)
    with pytest.raises(NotToBeHad, match="within 1 s"):
        installer(tmp_path).need(PACKAGE)


def installer(tmp_path: Path) -> Installer:
    return Installer(tmp_path / "cache", os.environ)


def _need(tmp_path: Path) -> None:
    installer(tmp_path).need(PACKAGE)
