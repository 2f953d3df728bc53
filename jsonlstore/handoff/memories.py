"""Memory files that speak of a project: named with path and date, never quoted."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from jsonlstore.core.clock import format_time

_MOST_FILES = 400
_MOST_NAMED = 5
_READ = 64 * 1024


def related_memories(folder: Path, project: str) -> list[dict[str, str]]:
    """The newest `memory/*.md` whose name or text has the project as a word; none for "general"."""
    if not project or project.lower() == "general":
        return []
    word = re.compile(rf"(?<!\w){re.escape(project)}(?!\w)", re.IGNORECASE)
    found = []
    try:
        files = sorted(folder.glob("*.md"), key=lambda path: path.stat().st_mtime, reverse=True)[:_MOST_FILES]
        for path in files:
            with path.open("rb") as file:
                text = file.read(_READ).decode("utf-8", "replace")
            if word.search(path.stem) or word.search(text):
                at = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
                found.append({"path": f"memory/{path.name}", "date": format_time(at)[:10]})
            if len(found) == _MOST_NAMED:
                break
    except OSError:
        return found  # somebody else's folder: what cannot be read is not named
    return found
