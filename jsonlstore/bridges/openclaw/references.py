"""Who still names a folder of ours: OpenClaw up to 2026.7 does not start when what its settings name is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw.json5_tree import NotEditable, decode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST_FILES = 100


def naming(folder: Path, config: Path, text: str | None) -> list[Path]:
    """The settings files that name something in `folder`: `config` with this text, and all it includes."""
    found = []
    waiting: list[tuple[Path, str | None]] = [(config, text)]
    seen = {config}
    while waiting and len(seen) <= _MOST_FILES:
        path, content = waiting.pop()
        if content is None:
            continue
        try:
            value = decode(content)
        except NotEditable:
            value = [content]  # what cannot be read may name it wherever the words stand
        if any(str(folder) in word for word in _words(value)):
            found.append(path)
        for name in _includes(value):
            other = path.parent / name
            if other not in seen:
                seen.add(other)
                waiting.append((other, _read(other)))
    return found


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)


def _includes(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        named = value.get("$include")
        yield from (name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str))
        for inner in value.values():
            yield from _includes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _includes(inner)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
