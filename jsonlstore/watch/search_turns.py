"""What the full-text index takes of a transcript's entries and of a session's log: turns of talk, all redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.recall import Turn
from jsonlstore.redact import is_secret_id, redact_text
from jsonlstore.transcripts import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonlstore.core.model import SessionState
    from jsonlstore.redact import Redactor
    from jsonlstore.transcripts import Entry

_SPOKEN = {Speaker.USER: "user", Speaker.ASSISTANT: "assistant"}
_SAYS_NOTHING = frozenset({"HEARTBEAT_OK", "NO_REPLY"})
_TOOL_CHARS = 2000
_SHORT_ID = 16


def talk_turns(entry: Entry, redactor: Redactor, *, tools: bool) -> Iterator[Turn]:
    """What an entry says; with `tools`, the commands it runs and what failed ones said, too."""
    speaker = entry.speaker
    if speaker in _SPOKEN:
        text = entry.text.strip()
        if text and text not in _SAYS_NOTHING:
            yield Turn(_id(entry), entry.timestamp, _SPOKEN[speaker], redactor.heard(text))
    for command in _commands(entry):
        shown = redactor.text(command)  # a command may teach a value that is said later, whether it is kept or not
        if tools:
            yield Turn(_id(entry), entry.timestamp, "tool", shown[:_TOOL_CHARS])
    if tools and speaker is Speaker.TOOL and entry.is_error:
        yield Turn(_id(entry), entry.timestamp, "tool", redactor.text(entry.text)[:_TOOL_CHARS])


def _id(entry: Entry) -> str | None:
    """The id of an entry, unless it is a secret."""
    plain = entry.id is None or (len(entry.id) <= _SHORT_ID and entry.id.isalnum())
    return entry.id if plain or not is_secret_id(entry.id or "") else None


def _commands(entry: Entry) -> Iterator[str]:
    """The commands an assistant ran."""
    for call in entry.tool_calls:
        command = call.arguments.get("command") or call.arguments.get("cmd")
        if isinstance(command, str):
            yield command


def state_turns(state: SessionState) -> list[Turn]:
    """What a session's log knows besides the talk: topics, projects, tasks, notes, commits, files."""
    known: dict[str, Any] = state.to_dict()
    named: list[tuple[str, str]] = []
    named += [("project", name) for name in known.get("active_projects") or ()]
    named += [("topic", name) for name in known.get("hot_topics") or ()]
    fields = (
        ("task", "pending_tasks", "title"), ("note", "notes", "content"), ("commit", "commits", "subject"),
        ("file", "files", "path"), ("pin", "working_memory", "content"),
    )  # fmt: skip
    for label, name, key in fields:
        named += [(label, str(item[key])) for item in known.get(name) or () if isinstance(item, dict) and item.get(key)]
    named += [("learning", str(text)) for text in known.get("recent_learnings") or ()]
    named += [("next step", known["next_step"])] if known.get("next_step") else []
    return [Turn(None, None, "state", redact_text(f"{label}: {text}")) for label, text in named]
