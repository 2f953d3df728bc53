"""OpenClaw's transcript files: what a file name says, and whether a file's content only grew."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from jsonlstore.core.hashes import blake2b
from jsonlstore.transcripts.json_values import read_time
from jsonlstore.transcripts.source import LIVE

_NAME = re.compile(
    r"(?P<stem>.+?)\.jsonl"
    r"(?:\.(?P<how>reset|deleted)\.(?P<when>[0-9T:.Z-]+?)(?:\.(?P<generation>[0-9a-f]{8,}))?(?P<zst>\.zst)?"
    r"|\.(?P<bak>bak(?:-[\w-]+)?)"
    r"|\.imported-(?P<millis>\d+))?\Z"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ARCHIVE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d(?:\.\d+)?)Z")
_IMPRINTED_WHOLE = 256 * 1024
_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class FileName:
    """The session and the archive state that a transcript's file name gives."""

    stem: str
    state: str
    at: str | None


def parse_name(name: str) -> FileName | None:
    """What a file name says about a transcript; None if it is none (a lock, a trajectory, a temporary file)."""
    match = _NAME.match(name)
    if not match or ".trajectory." in name:
        return None
    stem = match["stem"]
    if match["how"]:
        return FileName(stem, match["how"], _archive_time(match["when"]))
    if match["bak"]:
        return FileName(stem, "backup", None)
    if match["millis"]:
        return FileName(stem, "imported", read_time(int(match["millis"])))
    return FileName(stem, LIVE, None)


def _archive_time(text: str) -> str | None:
    match = _ARCHIVE_TIME.match(text)
    return read_time(f"{match[1]}T{match[2]}:{match[3]}:{match[4]}Z") if match else None


def id_from_stem(stem: str) -> str:
    """The session id in a file name without suffixes; a topic may precede it."""
    found = _UUID.findall(stem)
    return found[-1] if found else stem


def imprint(path: Path, length: int) -> bytes | None:
    """A digest of a file's first `length` bytes, of samples if they are many; None if the file is unreadable.

    It tells a file that only grew from one that was also overwritten, without reading all of it at every event.
    """
    if path.name.endswith(".zst"):
        return None
    digest = blake2b(digest_size=16)
    steps = 1 if length <= _IMPRINTED_WHOLE else _SAMPLES
    piece = length if steps == 1 else _IMPRINTED_WHOLE // _SAMPLES
    try:
        with path.open("rb", buffering=0) as file:
            for step in range(steps):
                digest.update(os.pread(file.fileno(), piece, step * (length - piece) // max(1, steps - 1)))
    except OSError:
        return None
    return digest.digest()
