"""Where transcripts of ours may be written: in a place of their own, never among another program's files."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from jsonlstore.core.errors import PlaceRefused

APPLICATION_ID = 0x6A736C73  # "jsls": how a database of ours is known from another program's

_HINT = "leave session.path out to write to the default place, or name a directory of your own"


def check_place(path: Path, state_dir: Path, kind: str) -> None:
    """Refuse a place that is OpenClaw's or GoClaw's; links are followed, because bytes land where they lead."""
    try:
        _check(path, state_dir, kind)
    except OSError as problem:  # a name that is too long, say
        raise PlaceRefused(f"{path} cannot be used: {problem.strerror}", hint=_HINT, path=path) from problem


def _check(path: Path, state_dir: Path, kind: str) -> None:
    real = Path(os.path.realpath(path))
    for folder in (real, *real.parents):
        if folder.name == "agents" and folder != real and _is_openclaws(folder, state_dir):
            raise PlaceRefused(f"{path} is among OpenClaw's own files, which are never written", hint=_HINT, path=path)
        if folder.name == "goclaw" and folder.parent == Path(os.path.realpath(state_dir)):
            raise PlaceRefused(f"{path} belongs to a GoClaw installation", hint=_HINT, path=path)
    if real == Path(os.path.realpath(state_dir)) or real.is_relative_to(os.path.realpath(state_dir / "sessions")):
        # OpenClaw takes a sessions.json or *.jsonl there for its own of old and moves it; below it our logs lie
        raise PlaceRefused(f"{path} is where OpenClaw and our logs keep sessions", hint=_HINT, path=path)
    if kind == "sqlite" and real.exists():
        _check_database(real)
    if kind == "jsonl" and _is_file(real):
        raise PlaceRefused(f"{path} is a file, not a directory", hint=_HINT, path=path)


def _is_file(path: Path) -> bool:
    try:
        # one look, not two: another writer may create the directory between them
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _is_openclaws(agents: Path, state_dir: Path) -> bool:
    home = agents.parent
    return (
        agents == Path(os.path.realpath(state_dir / "agents"))
        or home.name.startswith(".openclaw")
        or (home / "openclaw.json").exists()
    )


def _check_database(path: Path) -> None:
    """Refuse a file that is not a database of ours; an empty one is nobody's yet."""
    if path.is_dir():
        raise PlaceRefused(f"{path} is a directory, not a database", hint=_HINT, path=path)
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as problem:
        raise PlaceRefused(f"cannot read {path}: {problem.strerror}", path=path) from problem
    if not head.strip(b"\0"):
        return  # empty, or the very first transaction was cut short and SQLite will roll it back
    # read from the file's header: to open a database of another program in the ordinary way may already write to it
    if head[:16] != b"SQLite format 3\0" or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise PlaceRefused(f"{path} is another program's database", hint=_HINT, path=path)
