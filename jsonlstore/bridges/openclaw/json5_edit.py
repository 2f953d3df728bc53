"""Change a JSON5 text and leave all of it that is not ours as it stands: comments, order, spacing, line ends, BOM.

An edit is a list of splices. Each knows what it put in and what it took out, so that `undo` gives the old text back
character for character. Every edit is read back and compared with the value it was meant to give.
"""

from __future__ import annotations

import copy
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw.json5_tree import Child, Node, NotEditable, decode, last_comment_end, parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Path = tuple[str, ...]

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_INCLUDE = "$include"


@dataclass(frozen=True, slots=True)
class Splice:
    """At `at`, `old` was replaced by `new`."""

    at: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Put:
    """Make the member at `path` be `value`; objects on the way are made where they are missing."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Add:
    """Make `item` be in the array at `path`, which is made where it is missing."""

    path: Path
    item: Any


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove the member at `path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class DropItem:
    """Remove `item` from the array at `path`."""

    path: Path
    item: Any


Change = Put | Add | Drop | DropItem


@dataclass(frozen=True, slots=True)
class Edit:
    """A text after an edit, and the splices that made it, in their order."""

    after: str
    splices: tuple[Splice, ...]


def edit(text: str, changes: Iterable[Change]) -> Edit:
    """Apply `changes`; raises `NotEditable` rather than give a text that does not read as intended."""
    intended = decode(text)
    done: list[Splice] = []
    now = text
    for change in changes:
        for splice in _splices(now, parse_tree(now), change):
            now = now[: splice.at] + splice.new + now[splice.at + len(splice.old) :]
            done.append(splice)
        intended = applied(intended, change)
    if not same(decode(now), intended):
        raise NotEditable("the changed text would not read as intended")
    return Edit(now, tuple(done))


def undo(text: str, splices: Sequence[Splice]) -> str:
    """The text before the splices; raises `NotEditable` if they are not what is there."""
    for splice in reversed(splices):
        end = splice.at + len(splice.new)
        if text[splice.at : end] != splice.new:
            raise NotEditable("the text is not the one that was edited")
        text = text[: splice.at] + splice.old + text[end:]
    return text


def lookup(value: Any, path: Path) -> Any:
    """What stands at `path`, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def applied(value: Any, change: Change) -> Any:
    """The value after a change: what the edited text must read as."""
    value = copy.deepcopy(value)
    if not isinstance(value, dict):
        raise NotEditable("the file does not hold an object")
    here = value
    for key in change.path[:-1]:
        if isinstance(change, (Drop, DropItem)) and key not in here:
            return value
        here = here.setdefault(key, {})
        if not isinstance(here, dict):
            raise NotEditable(f"{'.'.join(change.path)}: {key!r} is not an object")
    _apply(here, change.path[-1], change)
    return value


def _apply(parent: dict[str, Any], key: str, change: Change) -> None:
    if isinstance(change, Put):
        parent[key] = change.value
    elif isinstance(change, Drop):
        parent.pop(key, None)
    else:
        items = parent.setdefault(key, []) if isinstance(change, Add) else parent.get(key, [])
        if not isinstance(items, list):
            raise NotEditable(f"{'.'.join(change.path)} is not a list")
        if isinstance(change, DropItem) and change.item in items:
            items.remove(change.item)
        elif isinstance(change, Add) and change.item not in items:
            items.append(change.item)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: types count, order of keys does too, and NaN is NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _splices(text: str, root: Node, change: Change) -> list[Splice]:
    """The splices of one change, each to be applied to the text the one before it left."""
    chain = _descend(root, change.path)
    missing = change.path[len(chain) - 1 :]
    if isinstance(change, (Put, Add)):
        value = change.value if isinstance(change, Put) else [change.item]
        if missing:
            return _insert(text, chain, missing[0], _nested(missing[1:], value))
        if isinstance(change, Put):
            return _replace(text, chain, value)
        return [] if _item(text, chain[-1], change.item) else _insert(text, chain, None, change.item)
    if missing:
        return []
    parent = chain[-1] if isinstance(change, DropItem) else chain[-2]
    child = _item(text, parent, change.item) if isinstance(change, DropItem) else parent.member(change.path[-1])
    return _remove(text, parent, child) if child else []


def _replace(text: str, chain: list[Node], value: Any) -> list[Splice]:
    node = chain[-1]
    old = text[node.start : node.end]
    if same(decode(old), value):
        return []
    style = _Style(text, chain)
    new = style.tall(value, style.unit * (len(chain) - 1)) if style.in_lines[-1] else style.flat(value)
    return [Splice(node.start, old, new)]


def _descend(root: Node, path: Path) -> list[Node]:
    """The nodes along `path` as far as they exist, root first."""
    if root.kind != "object":
        raise NotEditable("the file does not hold an object")
    chain = [root]
    for number, key in enumerate(path):
        here = chain[-1]
        if here.kind != "object":
            raise NotEditable(f"{'.'.join(path[:number])} is not an object")
        if here.member(_INCLUDE) is not None:
            where = ".".join(path[:number]) or "the file's top level"
            raise NotEditable(f"{where} takes its content from another file ({_INCLUDE})")
        child = here.member(key)
        if child is None:
            break
        chain.append(child.node)
    return chain


def _nested(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _item(text: str, node: Node, item: Any) -> Child | None:
    if node.kind != "array":
        raise NotEditable("a list was expected")
    return next((child for child in node.children if same(decode(text[child.node.start : child.node.end]), item)), None)


class _Style:
    """How the neighbours are written, so that what is added looks the same."""

    def __init__(self, text: str, chain: Sequence[Node]) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self._text = text
        root = chain[0]
        first = root.children[0] if root.children else None
        self.unit = (self.indent_of(first.start) if first else "") or "  "
        self.bare = first is not None and text[first.start] not in "\"'"
        self.in_lines = [self._spread(node) for node in chain]

    def indent_of(self, at: int) -> str:
        """The white space a line begins with, if nothing else stands before `at` in it."""
        head = re.split(r"[\n\r\u2028\u2029]", self._text[:at])[-1]
        return head if not head.strip(" \t") and self._line_start(at) else ""

    def _line_start(self, at: int) -> bool:
        return bool(re.search(r"[\n\r\u2028\u2029][ \t]*\Z", self._text[:at]))

    def _spread(self, node: Node) -> bool:
        """Whether a container's children stand on lines of their own; an empty one does as its neighbours do."""
        if node.children:
            return self._line_start(node.children[0].start)
        return "\n" in self._text or not self._text.strip(" \t{}\ufeff")

    def key(self, name: str) -> str:
        return name if self.bare and _NAME.match(name) else json.dumps(name, ensure_ascii=False)

    def flat(self, value: Any) -> str:
        if isinstance(value, dict) and value:
            return "{ " + ", ".join(f"{self.key(key)}: {self.flat(inner)}" for key, inner in value.items()) + " }"
        return json.dumps(value, ensure_ascii=False)

    def tall(self, value: Any, indent: str) -> str:
        if not isinstance(value, (dict, list)) or not value:
            return json.dumps(value, ensure_ascii=False)
        deeper = indent + self.unit
        if isinstance(value, dict):
            lines = [f"{deeper}{self.key(key)}: {self.tall(inner, deeper)}" for key, inner in value.items()]
        else:
            lines = [deeper + self.tall(inner, deeper) for inner in value]
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + self.newline + f",{self.newline}".join(lines) + self.newline + indent + closing


def _insert(text: str, chain: Sequence[Node], key: str | None, value: Any) -> list[Splice]:
    """Put a child at the end of the last container of `chain`."""
    node, depth = chain[-1], len(chain)
    style = _Style(text, chain)
    label = "" if key is None else style.key(key) + ": "
    last = node.children[-1] if node.children else None
    closing = node.end - 1
    after = node.start + 1 if last is None else last.node.end if last.comma is None else last.comma + 1
    at = last_comment_end(text, after, closing)
    rest = text[at:closing]
    line_comment = at > after and not text[:at].endswith("*/")
    splices = []
    if last is not None and last.comma is None:
        splices.append(Splice(last.node.end, "", ","))
        at += 1
    comma = "," if last is not None and last.comma is not None else ""
    if style.in_lines[-1] or line_comment:
        indent = (style.indent_of(last.start) if last is not None else "") or style.unit * depth
        new = style.newline + indent + label + style.tall(value, indent) + comma
        if not re.search(r"[\n\r]", rest):
            new += style.newline + style.unit * (depth - 1)
    else:
        new = (" " if last is not None else "") + label + style.flat(value) + comma
    return [*splices, Splice(at, "", new)]


def _remove(text: str, parent: Node, child: Child) -> list[Splice]:
    """Take a child out, with its comma and the white space before it; comments are nobody's but the user's."""
    number = parent.children.index(child)
    end = child.node.end
    splices = []
    # a line break is taken along only if another follows: it may be what ends a comment
    breaks = r"(?:\r\n|[\n\r])?" if re.compile(r"[ \t]*,?[ \t]*[\n\r]").match(text, end) else ""
    before = re.search(breaks + r"[ \t]*\Z", text[: child.start])
    start = before.start() if before else child.start
    if child.comma is not None:
        splices.append(Splice(child.comma, ",", ""))
    splices.append(Splice(start, text[start:end], ""))
    previous = parent.children[number - 1] if number else None
    if child.comma is None and previous is not None and previous.comma is not None:
        splices.append(Splice(previous.comma, ",", ""))
    return splices
