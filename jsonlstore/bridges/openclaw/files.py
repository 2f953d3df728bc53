"""The JavaScript that OpenClaw loads: kept beside our state, not in the Python environment.

OpenClaw up to 2026.7 does not start at all when a path in its settings is missing, and an environment goes away with a
`pip uninstall` or a new Python. So a copy is loaded, which at worst finds no jsonlstore to call and stays silent.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.store.files import read_bytes, write_failed

if TYPE_CHECKING:
    from jsonlstore.paths import StatePaths
    from jsonlstore.store.files import Disk

PACKAGED = Path(__file__).parent


def root_of(paths: StatePaths) -> Path:
    """Everything of ours that OpenClaw loads."""
    return paths.states / "openclaw"


def folder_of(paths: StatePaths, via: str) -> Path:
    """What OpenClaw is pointed at."""
    return root_of(paths) / via


def packaged(via: str, root: Path = PACKAGED) -> dict[str, bytes]:
    """The files this version of jsonlstore comes with, by their relative names."""
    source = root / via
    return {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def deployed(paths: StatePaths, via: str) -> dict[str, bytes]:
    """The files OpenClaw finds now."""
    folder = folder_of(paths, via)
    return {
        path.relative_to(folder).as_posix(): read_bytes(path) or b""
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def deploy(paths: StatePaths, via: str, disk: Disk, files: dict[str, bytes]) -> bool:
    """Bring the copy up to date, file by file: a gateway that looks meanwhile never finds the folder missing."""
    folder, there = folder_of(paths, via), deployed(paths, via)
    if there == files:
        return False
    disk.make_dir(folder)
    # the entry point last: it must not run with parts older than itself
    for name in sorted(files, key=lambda one: one.endswith(("index.js", "handler.js"))):
        if there.get(name) != files[name]:
            target = folder / name
            disk.make_dir(target.parent)
            disk.replace(target, files[name], target.parent)
    for name in there.keys() - files.keys():
        disk.remove(folder / name)
    return True


def withdraw(paths: StatePaths) -> bool:
    """Remove every copy; False if there was none."""
    folder = root_of(paths)
    if not folder.exists():
        return False
    try:
        shutil.rmtree(folder)
    except OSError as problem:
        raise write_failed(folder, problem) from problem
    return True


def own_command() -> tuple[str, ...]:
    """How OpenClaw can call this very jsonlstore, whatever its PATH is."""
    script = Path(sys.executable).parent / "jsonlstore"
    if os.access(script, os.X_OK):
        return (os.fspath(script),)
    return (sys.executable, "-m", "jsonlstore")
