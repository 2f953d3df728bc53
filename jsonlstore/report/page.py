"""The page: one HTML file with everything in it, that asks the network for nothing.

Texts go through Jinja2's autoescape or stand as JSON in data blocks that no browser runs; the script puts them on the
page as text only. The policy in the page's head allows exactly one script and one style sheet, named by their hashes.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.hashes import sha256
from jsonlstore.report.view import MOST_LISTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment

    from jsonlstore.report.view import ReportView

MOST_BYTES = 6_000_000
_ELEMENT = 100  # bytes, at most, of the marks around a block
_BLOCK = 40  # sessions: what is unpacked together compresses well together
_HERE = Path(__file__).parent / "templates"
# JSON inside HTML: nothing in it may end the element it stands in, or begin a comment
_UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


@dataclass(frozen=True, slots=True)
class Page:
    """A report's bytes, and how many of its sessions have no details in it."""

    data: bytes
    left_out: int


def render_page(view: ReportView, *, title: str, made: str, most_bytes: int = MOST_BYTES) -> Page:
    """The whole file. Details of the oldest sessions are left out where it would be larger than `most_bytes`."""
    style, script = (_HERE / "report.css").read_text(), (_HERE / "report.js").read_text()
    rows = json_text(view.rows)
    template = _environment().get_template("report.html.j2")
    page = {
        "title": title,
        "made": made,
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "rows": rows,
        "view": view,
        "numbers": view.numbers,
        "drawings": view.drawings,
        "listed": MOST_LISTED,
        **view.texts,
    }
    bare = len(template.render(page, blocks=()).encode("utf-8", "replace"))
    blocks = list(_within(_packed(view.details), most_bytes - bare))
    shown = min(len(view.details), blocks[-1][0] + _BLOCK) if blocks else 0
    return Page(template.render(page, blocks=blocks).encode("utf-8", "replace"), len(view.details) - shown)


def json_text(value: Any) -> str:
    """A value as JSON that may stand inside an HTML element."""
    try:
        text = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        import json

        try:
            text = json.dumps(value)  # what others wrote may hold half characters or long numbers, which orjson refuses
        except RecursionError as problem:
            raise JsonlStoreError("a record is nested too deeply for a report") from problem
    return text.translate(_UNSAFE)


def _packed(details: Sequence[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    """Blocks of sessions, compressed: the number of the first, and the bytes in base64."""
    for first in range(0, len(details), _BLOCK):
        data = json_text(details[first : first + _BLOCK]).encode("utf-8", "replace")
        yield first, base64.b64encode(zlib.compress(data, 9)).decode()


def _within(blocks: Iterator[tuple[int, str]], most: int) -> Iterator[tuple[int, str]]:
    """As many blocks as there is room for, newest sessions first."""
    for first, data in blocks:
        most -= len(data) + _ELEMENT
        if most < 0:
            return
        yield first, data


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded from anywhere; the one script and the one style sheet are known by their hashes."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
