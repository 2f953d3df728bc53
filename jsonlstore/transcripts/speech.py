"""Who is really speaking. A record of role `user` is often not the user, and its text is often not all theirs.

OpenClaw's gateway puts its own words in the user's mouth (greeting prompts, audit lines, heartbeat polls, flush
prompts), wraps the user's words (time stamps, sender metadata), and plugins prepend context, ours included.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CONTINUITY_OPEN = "<session-continuity"
CONTINUITY_CLOSE = "</session-continuity>"


class Speaker(StrEnum):
    """Who said a record's words."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    CONTINUITY = "continuity"
    NONE = "none"


# Looking up an enum member costs as much as a search on Python 3.11, and this is asked for every user record.
_USER, _SYSTEM, _CONTINUITY = Speaker.USER, Speaker.SYSTEM, Speaker.CONTINUITY

# the gateway writes "[Sun 2026-11-15 23:37 UTC] ", a channel's envelope is "[Telegram Ann id:1 2026-11-15 23:37 UTC] "
_DATE = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"
_ZONE = r"(?: (?P<zone>[A-Za-z0-9+:/_-]{1,32}))?"
_STAMP = re.compile(rf"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<when>{_DATE}){_ZONE}\][ \n]?")
_ENVELOPE = re.compile(rf"\[[A-Z][A-Za-z]{{2,19}} [^\[\]\n]{{0,200}}?{_DATE}(?: [A-Za-z0-9+:/_-]{{1,32}})?\][ \n]?")
_METADATA_HEAD = re.compile(r"[A-Z][A-Za-z ]{2,60} \(untrusted[^)\n]{0,40}\):\n```json\n")
_AUDIT_LINE = re.compile(r"System(?: \(untrusted\))?: [^\n]*(?:\n|\Z)")
_INTERNAL_OPEN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
_INTERNAL_CLOSE = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"

_GREETING = "A new session was started via /new or /reset"
_LATER_GREETING = f"\n\n{_GREETING}"
_SYSTEM_OPENINGS = (
    _GREETING,
    "Pre-compaction memory flush",
    "[SYSTEM:",
    "[System]",
    "[System Message]",
    "[OpenClaw heartbeat",
    "[Inter-session message",
    "[Subagent Context]",
    "[cron:",
    "Read HEARTBEAT.md if it exists",
    "Continue where you left off. The previous model attempt failed",
    "An async command you ran earlier has completed",
    "An async command completion event was triggered",
    "A scheduled reminder has been triggered",
    "A scheduled cron event was triggered",
)
_SYSTEM_INITIALS = frozenset(opening[0] for opening in _SYSTEM_OPENINGS)
_HEARTBEAT_ANSWER = "HEARTBEAT_OK"
_QUEUE_SLACK = timedelta(minutes=10)
_WIDEST_ZONE = timedelta(hours=15)


def cut_continuity(text: str) -> str:
    """`text` without our own injected blocks; one that is never closed is left alone."""
    start = text.find(CONTINUITY_OPEN)
    if start < 0:
        return text
    return _cut_between(text, CONTINUITY_OPEN, CONTINUITY_CLOSE)


def hear(text: str, said_at: Callable[[], str | None]) -> tuple[Speaker, str]:
    """Who speaks in a record of role `user`, and the words that are theirs.

    `said_at` gives the record's time when it is needed: a stamp in the middle of the text ends injected context only if
    it tells the same time, so that a pasted old conversation stays whole.
    """
    if not text:
        return _USER, text
    bare = cut_continuity(text)
    if bare is not text and not bare.strip():
        return _CONTINUITY, ""
    words = _unwrap(bare, said_at)
    if not words or words.isspace():
        return (_SYSTEM, bare.strip()) if bare.strip() else (_USER, "")
    if _is_systems(words):
        return _SYSTEM, words
    return _USER, words


def _is_systems(words: str) -> bool:
    if words[0] in _SYSTEM_INITIALS and words.startswith(_SYSTEM_OPENINGS):
        return True
    if _LATER_GREETING in words:  # other plugins put their context before the greeting prompt
        return True
    return _HEARTBEAT_ANSWER in words and "HEARTBEAT.md" in words and "reply HEARTBEAT_OK" in words


def _unwrap(text: str, said_at: Callable[[], str | None]) -> str:
    """Take the gateway's wrapping off, layer by layer, until the user's own words begin."""
    if _INTERNAL_OPEN in text:
        text = _cut_between(text, _INTERNAL_OPEN, _INTERNAL_CLOSE)
    if "\n\n[" in text:
        text = _after_injected(text, said_at())
    start = 0
    while (end := _wrapping_end(text, start)) > start:
        start = end
    return text[start:] if start else text


def _wrapping_end(text: str, start: int) -> int:
    """Where the wrapping that begins at `start` ends; `start` if the text is bare from there."""
    first = text[start : start + 1]
    if first.islower():  # no wrapping begins so, most words do
        return start
    if first == "[":
        match = _STAMP.match(text, start) or _ENVELOPE.match(text, start)
        return match.end() if match else start
    if first == "\n":
        return start + 1
    if first == "S":
        match = _AUDIT_LINE.match(text, start)
        if match:
            return match.end()
    return _metadata_end(text, start) if "(untrusted" in text[start : start + 80] else start


def _metadata_end(text: str, start: int) -> int:
    """Where a leading `Label (untrusted …):` JSON block ends, `start` if there is none."""
    head = _METADATA_HEAD.match(text, start)
    if not head:
        return start
    close = text.find("\n```", head.end() - 1)
    return close + 4 if close >= 0 else start


def _after_injected(text: str, said_at: str | None) -> str:
    """Up to 2026.3 a plugin's context is stored before the stamp: what follows the stamp is the user's."""
    if said_at is None:
        return text
    for match in _STAMP.finditer(text):
        start = match.start()
        if start == 0:
            return text
        if text[start - 2 : start] == "\n\n" and _same_moment(match["when"], match["zone"], said_at):
            return text[start:]
    return text


def _same_moment(stamp: str, zone: str | None, said_at: str) -> bool:
    try:
        difference = datetime.fromisoformat(stamp).replace(tzinfo=UTC) - datetime.fromisoformat(said_at)
    except (ValueError, TypeError):
        return False
    slack = _QUEUE_SLACK if zone in {"UTC", "GMT", "Z"} else _WIDEST_ZONE
    return abs(difference) <= slack


def _cut_between(text: str, opening: str, closing: str) -> str:
    """`text` without everything from each `opening` to its `closing`, and the blank line that joined it to the rest."""
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
        while text.startswith("\n", at):
            at += 1
    kept.append(text[at:])
    return "".join(kept)
