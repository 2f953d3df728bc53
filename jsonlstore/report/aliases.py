"""Hiding names, for a report that is shown to others.

Known names (projects, agents, conversations, sessions, files, this user and host) become aliases wherever they stand,
inside other words too: a word garbled is better than a name shown. Addresses that have a shape (mail, links, paths,
numbers, handles) become what they are. A person's name in the middle of a sentence cannot be known, and stays.
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from jsonlstore.core.session_key import names_a_peer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.report.history import History
    from jsonlstore.report.view import Drawings, ReportView

# everybody's: hiding them would hide nothing
_NOBODYS = frozenset({"main", "default", "general", "unknown", "cli", "root", "localhost", "user"})
_SHORT = 4  # a name of fewer characters counts only as a word of its own
_SEPARATORS = re.compile(r"[-_. ]+")
_SHAPES = (
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[mail]"),
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+", re.IGNORECASE), "[link]"),
    (re.compile(r"(?:~|\.{1,2})?(?:/[\w.@%+~-]+)+/?|[\w.@%+~-]+(?:/[\w.@%+~-]+)+/?"), "[path]"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"), "[address]"),
    (re.compile(r"(?<!\w)@\w[\w.-]+"), "[handle]"),
    (re.compile(r"(?<![\w-])\+?\d(?:[\d ()/-]{6,}\d)(?![\w-])"), "[number]"),
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")


class Aliases:
    """Names and what stands in their place, the same throughout one report."""

    def __init__(self, names: dict[str, str]) -> None:
        self._exact = {name: alias for name, alias in names.items() if name.lower() not in _NOBODYS}
        self._by_form = {_form(name): alias for name, alias in reversed(self._exact.items())}
        self._pattern = _any_name(self._exact)

    @classmethod
    def of(cls, history: History) -> Aliases:
        """Every name that the history knows to be one."""
        states = history.states
        names: dict[str, str] = {}
        projects = Counter(name for state in states for name in state.active_projects)
        _number(names, "project", [name for name, _ in projects.most_common()])
        _number(names, "agent", (state.agent_id for state in states))
        keys = list(dict.fromkeys(state.session_key for state in states))
        _number(names, "conversation", keys)
        _number(names, "person", (key.split(":")[-1] for key in keys if key and names_a_peer(key)))
        linked = (one for state in states for one in (state.session_id, state.previous_session_id, state.continued_by))
        sources = (one for record in history.restores for one in record.sources)
        _number(names, "session", (*linked, *sources))
        for path in dict.fromkeys(file.path for state in states for file in state.files):
            names.setdefault(path, f"file-{len(names) + 1}{PurePosixPath(path).suffix[:8]}")
        _number(names, "user", [os.path.basename(os.path.expanduser("~"))])
        _number(names, "host", [socket.gethostname(), socket.gethostname().partition(".")[0]])
        return cls(names)

    def text(self, text: str) -> str:
        """`text` without names."""
        if text in self._exact:
            return self._exact[text]
        if _TIME.fullmatch(text):
            return text  # not a telephone number
        for shape, what in _SHAPES:
            text = shape.sub(what, text)
        return self._without_names(text)

    def _without_names(self, text: str) -> str:
        if self._pattern is None:
            return text
        out, at, start = [], 0, 0
        while (found := self._pattern.search(text, start)) is not None:
            start, end = found.span()
            if end - start < _SHORT and (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
                start += 1  # part of another word
                continue
            out += [text[at:start], self._by_form.get(_form(found[0]), "[name]")]
            at = start = end
        return "".join(out) + text[at:]

    def value(self, value: Any) -> Any:
        """JSON without names in its texts; keys are ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        return value

    def view(self, view: ReportView) -> ReportView:
        """A report's view without names."""
        return replace(
            view,
            texts=self.value(view.texts),
            rows=self.value(view.rows),
            details=self.value(view.details),
            drawings=self._drawings(view.drawings),
        )

    def _drawings(self, drawings: Drawings) -> Drawings:
        lanes, topics = drawings.timeline, drawings.topics
        if lanes:
            lanes = replace(lanes, lanes=tuple(replace(one, name=self.text(one.name)) for one in lanes.lanes))
        if topics:
            topics = replace(topics, lanes=tuple(replace(one, name=self.text(one.name)) for one in topics.lanes))
        return replace(drawings, timeline=lanes, topics=topics)


def _number(names: dict[str, str], kind: str, found: Iterable[str | None]) -> None:
    """Give each name that is not known yet an alias: `project-1`, `project-2` …"""
    fresh = dict.fromkeys(name for name in found if name and name.strip() and name not in names)
    names.update((name, f"{kind}-{number}") for number, name in enumerate(fresh, 1))


def _form(name: str) -> str:
    """What the ways of writing a name have in common: `Ham_Radio` is `ham-radio`."""
    return _SEPARATORS.sub("", name.casefold())


def _any_name(names: Iterable[str]) -> Any:
    """One expression for every way of writing any of the names, the longest first; None without names."""
    import re2

    patterns = []
    for name in sorted(names, key=len, reverse=True):
        parts = [part for part in _SEPARATORS.split(name) if part]
        if parts:
            patterns.append("[-_. ]*".join(map(re2.escape, parts)))
    if not patterns:
        return None
    options = re2.Options()
    options.max_mem = 256 << 20  # thousands of sessions
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile("|".join(patterns), options)
