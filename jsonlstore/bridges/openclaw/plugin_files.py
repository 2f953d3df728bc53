"""The JavaScript that OpenClaw loads: kept beside our state, not in the Python environment.

OpenClaw up to 2026.7 does not start at all when a path in its settings is missing, and an environment goes away with a
`pip uninstall` or a new Python. So a copy is loaded, which at worst finds no jsonlstore to call and stays silent.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.core.files import TEMP_PREFIX, read_bytes, write_failed

if TYPE_CHECKING:
    from jsonlstore.core.files import Disk
    from jsonlstore.core.paths import StatePaths

WAYS = ("plugin", "hook")


def root_of(paths: StatePaths) -> Path:
    """Everything of ours that OpenClaw loads."""
    return paths.states / "openclaw"


def folder_of(paths: StatePaths, via: str) -> Path:
    """What OpenClaw is pointed at."""
    return root_of(paths) / via


def packaged() -> dict[str, bytes]:
    """The files this version of jsonlstore comes with, by their relative names: the hook uses parts of the plugin."""
    root = Path(__file__).parent
    return {name: data for via in WAYS for name, data in _files(root / via, root).items()}


def deployed(paths: StatePaths) -> dict[str, bytes]:
    """The files OpenClaw finds now."""
    return _files(root_of(paths), root_of(paths))


def _files(folder: Path, root: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(TEMP_PREFIX))
    return {path.relative_to(root).as_posix(): read_bytes(path) or b"" for path in found}


def unfinished(paths: StatePaths) -> list[Path]:
    """What an interrupted copy left."""
    return sorted(root_of(paths).rglob(f"{TEMP_PREFIX}*"))


def deploy(paths: StatePaths, disk: Disk, files: dict[str, bytes]) -> None:
    """Bring the copy up to date, file by file: a gateway that looks meanwhile never finds the folder missing."""
    root, there = root_of(paths), deployed(paths)
    # the entry points last: they must not run with parts older than themselves
    for name in sorted(files, key=lambda one: (one.endswith(("index.js", "handler.js")), one)):
        if there.get(name) != files[name]:
            target = root / name
            disk.make_dir(target.parent)
            disk.replace(target, files[name], target.parent)
    for name in there.keys() - files.keys():
        disk.remove(root / name)


def withdraw(paths: StatePaths, disk: Disk) -> None:
    """Remove every copy."""
    root = root_of(paths)
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            disk.remove(path)
    try:
        root.rmdir()
        disk.sync_dir(root.parent)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise write_failed(root, problem) from problem


def own_command() -> tuple[str, ...]:
    """How OpenClaw can call this very jsonlstore, whatever its PATH is."""
    script = Path(sys.executable).parent / "jsonlstore"
    if os.access(script, os.X_OK):
        return (os.fspath(script),)
    return (sys.executable, "-m", "jsonlstore")
