"""The extension that OpenClaw up to 2026.3 loads from `.pi/extensions/` of its workspaces: put there, and taken back.

Later versions know compaction providers and load no such files. Nothing is ever written below `agents/`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.core.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.core.files import Disk

_FOLDER = Path(".pi") / "extensions"
_NAME = "jsonlstore.js"
_OURS = b"// jsonlstore: compaction without a model"


@dataclass(frozen=True, slots=True)
class ExtensionPlan:
    """The files to write, the directories that have to be made for them, and what stands in the way."""

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def extension() -> bytes:
    """The file as this version of jsonlstore brings it."""
    return read_bytes(Path(__file__).parent / "extension" / _NAME) or b""


def workspaces(settings: Any, state_dir: Path) -> list[Path]:
    """The workspaces of all agents, as OpenClaw finds them."""
    agents = _mapping(_mapping(settings).get("agents"))
    usual = _path(_mapping(agents.get("defaults")).get("workspace"), state_dir) or state_dir / "workspace"
    found = [usual]
    listed = agents.get("list")
    for agent in map(_mapping, listed if isinstance(listed, list) else ()):
        named = _path(agent.get("workspace"), state_dir)
        agent_id = agent.get("id")
        if named is None and isinstance(agent_id, str) and agent_id not in ("main", "") and "/" not in agent_id:
            named = usual if agent.get("default") is True else state_dir / f"workspace-{agent_id}"
        found += [named] if named else []
    return list(dict.fromkeys(found))


def plan_extension(settings: Any, state_dir: Path) -> ExtensionPlan:
    """What has to be written: nothing that is there already, and nothing over a file of somebody else's."""
    files, folders, notes = [], [], []
    agents = state_dir / "agents"
    for workspace in workspaces(settings, state_dir):
        target = workspace / _FOLDER / _NAME
        there = read_bytes(target)
        if agents in (workspace, *workspace.parents):
            notes.append(f"the workspace {workspace} lies below agents/, where nothing is written")
        elif there is not None and not there.startswith(_OURS):
            notes.append(f"{target} is not ours and was left alone")
        elif there != extension():
            files.append(target)
            folders += [one for one in reversed(target.parents) if not one.exists()]
    return ExtensionPlan(tuple(files), tuple(dict.fromkeys(folders)), tuple(notes))


def write_extension(plan: ExtensionPlan, disk: Disk) -> None:
    """Carry the plan out."""
    for target in plan.files:
        disk.make_dir(target.parent)
        disk.replace(target, extension(), target.parent)


def remove_extension(files: Iterable[str], folders: Iterable[str], disk: Disk) -> None:
    """Remove our files, and the directories we made if nothing else is in them."""
    for path in map(Path, files):
        if (read_bytes(path) or b"").startswith(_OURS):
            disk.remove(path)
    for path in sorted(map(Path, folders), key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):  # somebody put something into it, or it is gone
            path.rmdir()


def any_extension(files: Iterable[str]) -> bool:
    """Whether one of these files is there and ours."""
    return any((read_bytes(Path(path)) or b"").startswith(_OURS) for path in files)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _path(value: object, state_dir: Path) -> Path | None:
    """A path of the settings; relative ones are relative to where OpenClaw runs, which nobody knows."""
    if not isinstance(value, str) or not value.strip():
        return None
    path = Path(os.path.expanduser(value))
    return path if path.is_absolute() else state_dir / path
