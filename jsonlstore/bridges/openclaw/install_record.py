"""What an install did to openclaw.json, so that an uninstall can take exactly that back: edits, never the file."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.openclaw.json5_edit import Add, Change, Path, Put, Splice
from jsonlstore.core.files import Disk, read_bytes

if TYPE_CHECKING:
    from pathlib import Path as FilePath

    from jsonlstore.core.paths import StatePaths

NAME = "openclaw-install.json"
VERSION = 1


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """One edit of the file: from the bytes of one digest to those of another. No `before`: the file was made."""

    before: str | None
    after: str
    splices: tuple[Splice, ...]
    at: str


@dataclass(slots=True)
class InstallRecord:
    """Everything of ours in one openclaw.json."""

    config_path: str
    via: str
    edits: list[AppliedEdit] = field(default_factory=list)
    ours: list[Change] = field(default_factory=list)
    containers: list[Path] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    compaction: bool = False
    workspace_files: list[str] = field(default_factory=list)
    workspace_folders: list[str] = field(default_factory=list)  # made for these files

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "config_path": self.config_path,
            "via": self.via,
            "edits": [{**asdict(one), "splices": [astuple(splice) for splice in one.splices]} for one in self.edits],
            "ours": [asdict(one) for one in self.ours],
            "containers": self.containers,
            "backups": self.backups,
            "compaction": self.compaction,
            "workspace_files": self.workspace_files,
            "workspace_folders": self.workspace_folders,
        }

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> InstallRecord:
        ours: list[Change] = [
            Add(tuple(one["path"]), one["item"]) if "item" in one else Put(tuple(one["path"]), one["value"])
            for one in raw["ours"]
        ]
        edits = [
            AppliedEdit(one["before"], one["after"], tuple(Splice(*splice) for splice in one["splices"]), one["at"])
            for one in raw["edits"]
        ]
        made = [tuple(path) for path in raw["containers"]]
        record = cls(raw["config_path"], raw["via"], edits, ours, made, list(raw["backups"]))
        record.compaction = raw.get("compaction") is True
        record.workspace_files = [str(one) for one in raw.get("workspace_files", ())]
        record.workspace_folders = [str(one) for one in raw.get("workspace_folders", ())]
        return record


def record_path(paths: StatePaths) -> FilePath:
    return paths.states / NAME


def read_record(paths: StatePaths) -> InstallRecord | None:
    """The record; one that cannot be understood counts as none, and what is ours is then told by its name."""
    data = read_bytes(record_path(paths))
    if data is None:
        return None
    try:
        return InstallRecord.from_dict(orjson.loads(data))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def write_record(paths: StatePaths, record: InstallRecord, disk: Disk) -> None:
    disk.make_dir(paths.states)
    disk.replace(record_path(paths), orjson.dumps(record.to_dict(), option=orjson.OPT_INDENT_2), paths.states)
