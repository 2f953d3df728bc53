"""Where things stand in a JSON5 text: the spans of its objects, arrays and values, comments and commas kept in place.

Grammar is not checked here: `parse` first lets pyjson5 read the whole text, then walks what is known to be valid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsonlstore.core.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 200

_TRIVIA = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_WORD = re.compile(r"[^\s\ufeff{}\[\]:,/'\"]+")
_COMMENT = re.compile(r"//[^\n\r\u2028\u2029]*|/\*.*?\*/", re.DOTALL)


class NotEditable(JsonlStoreError):
    """The file is not in a shape we can change without risk; nothing was changed."""

    code = "not_editable"


@dataclass(slots=True)
class Node:
    """One value: `text[start:end]`; `children` are the members or items of a container."""

    start: int
    end: int = 0
    kind: str = "value"
    children: list[Child] = field(default_factory=list)

    def member(self, key: str) -> Child | None:
        """The member called `key`; two of that name cannot be told apart by a reader, so they are refused."""
        found = [child for child in self.children if child.key == key]
        if len(found) > 1:
            raise NotEditable(f"the key {key!r} stands twice in the same object")
        return found[0] if found else None


@dataclass(slots=True)
class Child:
    """A member or an item: from its key (or value) on, with the comma that follows it, if one does."""

    start: int
    node: Node
    key: str | None = None
    comma: int | None = None


def decode(text: str) -> Any:
    """The value of a JSON5 text."""
    import pyjson5

    try:
        return pyjson5.decode(text.removeprefix("\ufeff"), maxdepth=MAX_DEPTH)
    except pyjson5.Json5Exception as problem:
        # only the first part: the others hold what was read so far, secrets included
        raise NotEditable(f"not valid JSON5: {problem.args[0] if problem.args else 'unreadable'}") from None
    except RecursionError as problem:
        raise NotEditable("nested too deeply") from problem


def parse_tree(text: str) -> Node:
    """The tree of spans of a valid JSON5 text."""
    decode(text)
    walker = _Walker(text)
    root = walker.value(walker.skip(0), 0)
    if walker.skip(root.end) != len(text):
        raise NotEditable(f"not understood from character {root.end} on")
    return root


def last_comment_end(text: str, start: int, end: int) -> int:
    """Where the last comment between two places ends; `start` if there is none."""
    return max([start, *(found.end() for found in _COMMENT.finditer(text, start, end))])


def mask_unchanged_values(*texts: str) -> tuple[str, ...]:
    """The texts without the strings and numbers that stand in every one of them: what only surrounds a change."""
    try:
        found = [dict(_scalars(text, parse_tree(text))) if text else {} for text in texts]
    except NotEditable:
        return texts
    common = set.intersection(*(set(scalars.values()) for scalars in found)) - {"true", "false", "null"}
    return tuple(_masked(text, scalars, common) for text, scalars in zip(texts, found, strict=True))


def _scalars(text: str, node: Node) -> Iterator[tuple[int, str]]:
    if node.kind == "value":
        yield node.start, text[node.start : node.end]
    for child in node.children:
        yield from _scalars(text, child.node)


def _masked(text: str, scalars: dict[int, str], hidden: set[str]) -> str:
    for start, said in reversed(scalars.items()):
        if said in hidden:
            text = text[:start] + "…" + text[start + len(said) :]
    return text


class _Walker:
    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, at: int) -> int:
        """The next place that is neither white space nor comment."""
        found = _TRIVIA.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise NotEditable("nested too deeply")
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._container(at, "object", "}", depth)
        if opening == "[":
            return self._container(at, "array", "]", depth)
        return Node(at, self._scalar(at))

    def _container(self, at: int, kind: str, closing: str, depth: int) -> Node:
        node = Node(at, kind=kind)
        here = self.skip(at + 1)
        while self._text[here : here + 1] != closing:
            child = self._child(here, kind, depth)
            node.children.append(child)
            here = self.skip(child.node.end)
            if self._text[here : here + 1] == ",":
                child.comma = here
                here = self.skip(here + 1)
        node.end = here + 1
        return node

    def _child(self, at: int, kind: str, depth: int) -> Child:
        if kind == "array":
            return Child(at, self.value(at, depth + 1))
        key_end = self._scalar(at)
        (key,) = decode("{" + self._text[at:key_end] + ":0}")
        colon = self.skip(key_end)
        if self._text[colon : colon + 1] != ":":
            raise NotEditable(f"not understood at character {colon}")
        return Child(at, self.value(self.skip(colon + 1), depth + 1), key)

    def _scalar(self, at: int) -> int:
        pattern = _STRING if self._text[at : at + 1] in ("'", '"') else _WORD
        found = pattern.match(self._text, at)
        if found is None:
            raise NotEditable(f"not understood at character {at}")
        return found.end()
