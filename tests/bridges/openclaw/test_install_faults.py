"""Killed or refused at any call that changes the disk, nothing is left broken, and running it again completes it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import warnings
from typing import TYPE_CHECKING

import pytest

from jsonlstore.bridges.openclaw.config_file import read_config
from jsonlstore.bridges.openclaw.discovery import Installation
from jsonlstore.bridges.openclaw.installer import Installer
from jsonlstore.bridges.openclaw.json5_edit import lookup
from jsonlstore.bridges.openclaw.plugin_files import deployed, packaged
from jsonlstore.bridges.openclaw.plugin_settings import LOAD_PATHS
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from tests.bridges.openclaw.conftest import PLAIN
from tests.conftest import FakeClock
from tests.faults.machine import Fault, Machine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOUND = Installation("2026.9.6")
PASSED, REFUSED = 0, 3


def installer(state_dir: Path) -> Installer:
    return Installer(StatePaths.of(state_dir), state_dir / "openclaw.json", FakeClock(), disk=Disk(sync=False))


def run(state_dir: Path, action: str, fault: Fault | None) -> int:
    """The action in a forked child with a fault: PASSED, REFUSED, or minus the signal that killed it."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # fork with threads about: the child takes no lock of theirs
        child = os.fork()
    if child == 0:
        code = 1
        try:
            with Machine(state_dir, fault).running():
                act(state_dir, action)
            code = PASSED
        except JsonlStoreError:
            code = REFUSED
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def act(state_dir: Path, action: str) -> None:
    made = installer(state_dir)
    if action == "install":
        made.install(FOUND)
    else:
        made.uninstall()


def prepared(root: Path, action: str) -> tuple[Path, bytes]:
    """A home before the action, and the settings as they are when it is done."""
    start = root / "start"
    start.mkdir()
    (start / "openclaw.json").write_text(PLAIN)
    work = root / "state"
    shutil.copytree(start, work)
    installer(work).install(FOUND)
    after = (work / "openclaw.json").read_bytes()
    if action == "install":
        return start, after
    shutil.copytree(work, root / "installed")
    return root / "installed", PLAIN.encode()


def rounds(root: Path, action: str, kind: str, error: int = 0, step: int = 1) -> Iterator[tuple[Path, int, bytes]]:
    """Strike at the first call, the second, …, until it passes untouched; the home is always at the same path."""
    start, done = prepared(root, action)
    work = root / "state"
    for at in range(1, 500, step):
        shutil.rmtree(work)
        shutil.copytree(start, work)
        code = run(work, action, Fault(at, kind, error))
        yield work, code, done
        if code == PASSED:
            return
    raise AssertionError("the run never passed")


def assert_sound(state_dir: Path, *allowed: bytes) -> None:
    """The settings are a whole file, and what they name is all there."""
    data = (state_dir / "openclaw.json").read_bytes()
    assert data in allowed
    for path in lookup(read_config(state_dir / "openclaw.json").settings, LOAD_PATHS) or []:
        assert os.path.isdir(path)
        assert deployed(StatePaths.of(state_dir)) == packaged()


def leftovers(state_dir: Path) -> list[str]:
    return sorted(
        str(path.relative_to(state_dir)) for path in state_dir.rglob("*") if path.is_file() and path.suffix != ".lock"
    )


@pytest.mark.parametrize("action", ["install", "uninstall"])
def test_killed_at_any_call_it_is_completed_by_running_it_again(action: str, tmp_path: Path) -> None:
    struck = 0
    for work, code, done in rounds(tmp_path, action, "kill"):
        struck += code == -signal.SIGKILL
        before = PLAIN.encode() if action == "install" else (tmp_path / "installed/openclaw.json").read_bytes()
        assert_sound(work, before, done)
        act(work, action)
        assert_sound(work, done)
        installer(work).uninstall()
        assert (work / "openclaw.json").read_text() == PLAIN
        assert leftovers(work) == ["openclaw.json"]
    assert struck > 10


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_disk_that_refuses_leaves_the_settings_as_they_were_and_nothing_beside_them(
    step: int, tmp_path: Path
) -> None:
    refused = 0
    for work, code, done in rounds(tmp_path, "install", "full", errno.ENOSPC, step):
        assert code in (PASSED, REFUSED)
        if code == REFUSED:
            refused += 1
            assert (work / "openclaw.json").read_text() in (PLAIN, done.decode())
            if (work / "openclaw.json").read_text() == PLAIN:
                assert leftovers(work) == ["openclaw.json"]
        act(work, "install")
        assert_sound(work, done)
    assert refused > 5
