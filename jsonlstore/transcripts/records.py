"""One record of a transcript, as OpenClaw, pi and GoClaw wrote it (header versions 1 to 4), parsed tolerantly.

A short record is parsed when it is read. Of a long one only the envelope is parsed from its first bytes, and the rest
on demand, because most long records are tool output and images whose content is never used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core import expressions as re
from jsonlstore.transcripts.json_values import parse_leniently, parse_object, read_time
from jsonlstore.transcripts.speech import Speaker, cut_continuity, hear, own_words

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Entry", "Speaker", "ToolCall", "parse_entry", "parse_object"]

LAZY_BYTES = 4 * 1024
_LAZY_TALK = 64 * 1024  # the words of users and assistants are nearly always used, unless the record holds an image

_STRING = rb'"([ !#-\[\]-~]{0,256})"'  # ASCII without quote and backslash: such a string needs no JSON decoding
_LONG_HEAD = re.compile(
    rb'\{"type":"message","id":' + _STRING + rb',"parentId":(?:null|' + _STRING + rb'),"timestamp":' + _STRING +
    rb',"message":\{"role":' + _STRING + rb'(?:,"toolCallId":' + _STRING + rb',"toolName":' + _STRING + rb")?,"
)  # fmt: skip
_DATA = b'"data":"'
_TOOL_ROLES = frozenset({"toolResult", "bashExecution", "tool", "function", "pythonExecution"})
_MESSAGE_LIKE = frozenset({"custom_message", "hookMessage"})
_NO_FIELDS: Mapping[str, Any] = {}
_TOOL: tuple[Speaker, str | None] = (Speaker.TOOL, None)
_ASSISTANT: tuple[Speaker, str | None] = (Speaker.ASSISTANT, None)
_NOBODY: tuple[Speaker, str | None] = (Speaker.NONE, "")
_INJECTED: tuple[Speaker, str | None] = (Speaker.SYSTEM, None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call an assistant made."""

    id: str
    name: str
    arguments: Mapping[str, Any]


class Entry:
    """One record; unknown types and fields are kept in `raw`. Treat it as a value."""

    __slots__ = (
        "_calls",
        "_head",
        "_line",
        "_message",
        "_raw",
        "_said",
        "_time",
        "id",
        "parent_id",
        "position",
        "role",
        "type",
    )

    type: str
    id: str | None
    parent_id: str | None
    role: str | None
    position: int

    def __init__(self, raw: dict[str, Any], position: int = 0) -> None:
        get = raw.get
        self.type = get("type", "")
        self.position = position
        self._raw: dict[str, Any] | None = raw
        self._line: bytes | None = None
        self._calls: tuple[ToolCall, ...] | None = None
        self._head: re.Match[bytes] | None = None
        self._time: str | None = ""
        value = get("id")
        self.id = value if value.__class__ is str else None
        value = get("parentId")
        self.parent_id = value if value.__class__ is str else None
        message = get("message")
        if message.__class__ is dict and self.type == "message":
            self._message: Mapping[str, Any] | None = message
            role = message.get("role")
            self.role = role if role.__class__ is str else None
            self._said: tuple[Speaker, str | None] | None = None
            if role == "assistant":
                self._said = _assistant(message)
            elif role == "toolResult":
                self._said = _TOOL
        else:
            self._message = _NO_FIELDS
            self.role = self._said = None

    @classmethod
    def _unread(cls, line: bytes, head: re.Match[bytes], position: int) -> Entry:
        """An entry of which only the first bytes were parsed."""
        entry = cls.__new__(cls)
        entry._calls = None  # noqa: SLF001 - our own
        entry_id, parent, _, role, _, _ = head.groups()
        entry.type = "message"
        entry.id = entry_id.decode()
        entry.parent_id = parent.decode() if parent is not None else None
        entry.role = role.decode()
        entry.position = position
        entry._raw = entry._message = None  # noqa: SLF001 - our own instance
        entry._line = line  # noqa: SLF001
        entry._head = head  # noqa: SLF001
        entry._said = _TOOL if role == b"toolResult" else None  # noqa: SLF001
        entry._time = ""  # noqa: SLF001
        return entry

    @property
    def is_unread(self) -> bool:
        """Whether only the envelope of a long record was parsed so far."""
        return self._raw is None

    @property
    def unread_bytes(self) -> int:
        """The bytes of a long record whose body was not parsed yet, 0 for others: its size, without reading it."""
        return len(self._line) if self._line is not None else 0

    def __repr__(self) -> str:
        return f"<Entry {self.type}{f' {self.role}' if self.role else ''} {self.id} at {self.position}>"

    @property
    def raw(self) -> Mapping[str, Any]:
        """The parsed record. A long record with a damaged body keeps its envelope only."""
        if self._raw is None:
            assert self._line is not None
            self._raw = parse_object(self._line) or self._envelope()
            self._line = None
        return self._raw

    @property
    def is_long(self) -> bool:
        """Whether the record was long enough to be parsed by its envelope first; unchanged by parsing its body."""
        return self._head is not None

    def _envelope(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self.role, "content": []}
        if tool := self._head_part(6):
            message |= {"toolCallId": self._head_part(5), "toolName": tool}
        links = {"id": self.id, "parentId": self.parent_id, "timestamp": self._head_part(3)}
        return {"type": "message", **links, "message": message}

    def _head_part(self, part: int) -> str | None:
        found = self._head[part] if self._head else None
        return found.decode() if found is not None else None

    @property
    def message(self) -> Mapping[str, Any]:
        """The message inside; empty for other records."""
        if self._message is None:
            message = self.raw.get("message")
            self._message = message if isinstance(message, dict) else _NO_FIELDS
        return self._message

    @property
    def timestamp(self) -> str | None:
        """The record's time in our on-disk form; None if it has none."""
        if self._time == "":
            written = self._head_part(3) if self._head else self.raw.get("timestamp")
            self._time = read_time(written)
            if self._time is None:
                self._time = read_time(self.message.get("timestamp"))
        return self._time

    @property
    def speaker(self) -> Speaker:
        """The real speaker, which may differ from the role."""
        said = self._said
        if said is None:
            said = self._said = self._who()
        return said[0]

    @property
    def text(self) -> str:
        """The record's words: text blocks joined, without the gateway's wrapping and our own injected block."""
        speaker, text = self._said or self._who()
        if text is None:
            text = cut_continuity(join_text(self.content))
            if speaker is _ASSISTANT[0]:
                text = own_words(text)
            self._said = (speaker, text)
        return text

    def _who(self) -> tuple[Speaker, str | None]:
        role = self.role
        if role == "user":
            message = self._message or self._without_images()
            said = hear(join_text(message.get("content")), self._when)
            if "provenance" in message and said[0] is Speaker.USER and _is_relayed(message["provenance"]):
                return Speaker.SYSTEM, said[1]
            return said
        if role == "assistant":  # a long record that was not parsed yet
            return _assistant(self.message)
        if role in _TOOL_ROLES:
            return _TOOL
        if role is None and self.type not in _MESSAGE_LIKE:
            return _NOBODY
        words = join_text(self.content)
        rest = cut_continuity(words)
        return (Speaker.CONTINUITY if rest is not words and not rest.strip() else Speaker.SYSTEM), rest

    def _when(self) -> str | None:
        return self.timestamp

    def _without_images(self) -> Mapping[str, Any]:
        """The message; if it is not parsed yet, its images are left out, because they are most of the record."""
        line = self._line
        if line is not None and _DATA in line:
            light = parse_object(_cut_data(line))
            if light and light.get("message").__class__ is dict:
                message: dict[str, Any] = light["message"]
                return message
        return self.message

    @property
    def content(self) -> object:
        """The message's content as written: a string, a list of blocks, or None."""
        if self.type == "message":
            message = self.message
            if self.role == "bashExecution":
                return f"$ {message.get('command', '')}\n{message.get('output', '')}"
            return message.get("content")
        return self.raw.get("content")

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools an assistant called, in order; read once, because every reader of an entry asks."""
        calls = self._calls
        if calls is None:
            calls = self._calls = self._read_calls()
        return calls

    def _read_calls(self) -> tuple[ToolCall, ...]:
        if self.role != "assistant":
            return ()
        blocks = self.message.get("content")
        if not isinstance(blocks, list):
            return ()
        calls = [block for block in blocks if block.__class__ is dict and block.get("type") == "toolCall"]
        return tuple(map(_tool_call, calls)) if calls else ()

    @property
    def tool_name(self) -> str | None:
        """The tool a result came from."""
        return self._tool_field(6, "toolName")

    @property
    def tool_call_id(self) -> str | None:
        """The call a result answers."""
        return self._tool_field(5, "toolCallId")

    def _tool_field(self, part: int, key: str) -> str | None:
        if self._raw is None and (known := self._head_part(part)) is not None:
            return known
        value = self.message.get(key)
        return value if isinstance(value, str) else None

    @property
    def is_error(self) -> bool:
        """Whether a tool result reports a failure."""
        return self.message.get("isError") is True

    @property
    def details(self) -> Mapping[str, Any]:
        """The tool's report about its run (cwd, exitCode, …); empty if it gave none."""
        details = (self.message if self.type == "message" else self.raw).get("details")
        return details if isinstance(details, dict) else _NO_FIELDS

    @property
    def usage(self) -> Mapping[str, Any] | None:
        """The token usage an assistant message reports."""
        usage = self.message.get("usage")
        return usage if isinstance(usage, dict) else None

    @property
    def summary(self) -> str:
        """The text of a compaction or branch summary."""
        summary = self.raw.get("summary")
        return summary if isinstance(summary, str) else ""


def parse_entry(line: bytes, position: int = 0) -> Entry | None:
    """Parse one line; None if it is not a record. Of a long line only the envelope is parsed at first."""
    if len(line) >= LAZY_BYTES:
        head = _LONG_HEAD.match(line)
        if head and line.endswith((b"}}\n", b"}}")) and (head[4] == b"toolResult" or len(line) >= _LAZY_TALK):
            return Entry._unread(line, head, position)  # noqa: SLF001 - the constructor for this case
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError:
        raw = parse_leniently(line)
    if raw.__class__ is not dict or raw.get("type").__class__ is not str:
        return None
    return Entry(raw, position)


def _cut_data(line: bytes) -> bytes:
    """`line` with every value of `data` emptied. Quotes inside a string are escaped, so only real keys match."""
    pieces = []
    at = 0
    while (start := line.find(_DATA, at)) >= 0:
        start += len(_DATA)
        pieces.append(line[at:start])
        at = max(line.find(b'"', start), start)
    return b"".join([*pieces, line[at:]])


def _assistant(message: Mapping[str, Any]) -> tuple[Speaker, str | None]:
    """The assistant, unless the gateway wrote the message in its place."""
    if message.get("provider") == "openclaw" or message.get("model") == "gateway-injected":
        return _INJECTED
    return _ASSISTANT


def _is_relayed(provenance: object) -> bool:
    """Whether the record itself says that it was not typed by a person."""
    return isinstance(provenance, dict) and provenance.get("kind") not in {None, "external_user", "user"}


def join_text(content: object) -> str:
    """The text of a message's content: the string itself, or its text blocks on lines of their own."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    if len(content) == 1 and content[0].__class__ is dict and content[0].get("type") == "text":
        text = content[0].get("text")  # by far the most frequent shape
        return text if isinstance(text, str) else ""
    parts = [
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    return parts[0] if len(parts) == 1 else "\n".join(parts)


def _tool_call(block: dict[str, Any]) -> ToolCall:
    arguments = block.get("arguments")
    return ToolCall(
        id=str(block.get("id") or ""),
        name=str(block.get("name") or ""),
        arguments=arguments if isinstance(arguments, dict) else _NO_FIELDS,
    )
