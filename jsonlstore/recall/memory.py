"""The user's own memory files (`memory/*.md` of every workspace) in the full-text index; read again on change."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.clock import format_time
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import shorten_home
from jsonlstore.recall.documents import Document, Turn
from jsonlstore.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.recall.fulltext import SearchIndex

log = logger(__name__)

_LARGEST = 4 << 20
_DAY = re.compile(r"(20\d\d-\d\d-\d\d)")
_MARK = "memory/"


class MemoryFiles:
    """The memory files under one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir

    def paths(self) -> list[Path]:
        """Every memory file there is: `MEMORY.md` and what lies below `memory/`, in each workspace."""
        found: list[Path] = []
        for workspace in sorted(self._state_dir.glob("workspace*")):
            found += [workspace / "MEMORY.md", *sorted((workspace / "memory").rglob("*.md"))]
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def update(self, index: SearchIndex) -> bool:
        """Index what is new or changed, take out what is gone; True if anything was."""
        changed = False
        present: set[str] = set()
        for path in self.paths():
            name = self._name(path)
            present.add(name)
            changed |= self._update_one(index, path, name)
        gone = [one for one in index.documents("kind = 'memory'") if one.id not in present]
        if gone:
            with index.transaction():
                index.remove([one.no for one in gone])
                for one in gone:
                    index.drop_source(_MARK + one.id)
        return changed or bool(gone)

    def _name(self, path: Path) -> str:
        try:
            return os.fspath(path.relative_to(self._state_dir))
        except ValueError:
            return shorten_home(path)

    def _update_one(self, index: SearchIndex, path: Path, name: str) -> bool:
        try:
            stat = path.stat()
            mark = f"{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}"
            known = index.source(_MARK + name)
            if (known and known[0] == mark) or stat.st_size > _LARGEST:
                return False
            text = path.read_bytes().decode("utf-8", "replace")
        except OSError as problem:
            log.warning("%s is not indexed: %s", path, problem.strerror)
            return False
        day = _DAY.search(path.name)
        at = f"{day[1]}T00:00:00.000Z" if day else format_time(datetime.fromtimestamp(stat.st_mtime, UTC))
        with index.transaction():
            index.remove([one.no for one in index.documents("kind = 'memory' AND id = ?", (name,))])
            index.append(Document("memory", name, _MARK + name), [Turn(*turn) for turn in _sections(text, at)])
            index.set_source(_MARK + name, mark, None, {})
        return True


def _sections(text: str, at: str) -> Iterator[tuple[str, str, str, str]]:
    """One turn a paragraph, named by the line it begins on. Redacted as a whole first: a secret may span paragraphs."""
    line = 1
    for part in re.split(r"(\n\s*\n)", redact_text(text)):
        if part.strip():
            yield f"L{line}", at, "memory", part
        line += part.count("\n")
