"""Taking over a conversation that OpenClaw began: its messages are read, ours are written under a key of our own.

Messages of the user and the assistant come along, each once, with the summary of what was compacted and with
checkpoints (what tools said stays behind). OpenClaw's files are only read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.core.logs import logger
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.transcripts.context import active_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonlstore.core.session_settings import InheritSettings
    from jsonlstore.transcripts.records import Entry
    from jsonlstore.transcripts.session import Session as Found

log = logger(__name__)

_CARRIED = frozenset({"checkpoint", "compaction"})
_AGENT_FOLDERS = frozenset({"sessions", "agent"})


def inherited_records(state_dir: Path, key: str, settings: InheritSettings) -> list[dict[str, Any]]:
    """What a new session begins with: OpenClaw's session `key` as the model would see it; nothing if there is none."""
    found = find_session(state_dir, key, settings)
    if found is None:
        log.debug("nothing to inherit: no session %s", key)
        return []
    reading = found.read()
    path = _after_reset(active_path(reading))
    for problem in reading.problems:
        log.warning("inherited in part: %s", problem)
    records = _carried(path)
    if not records:
        return []
    told = {"from": key, "sessionId": found.session_id, "records": len(records)}
    note = {"type": "custom", "customType": "jsonlstore.inherited", "data": told}
    return [*records, {**note, "parentId": records[-1]["id"]}]


def find_session(state_dir: Path, key: str, settings: InheritSettings) -> Found | None:
    """OpenClaw's current session of that key, of either era; else the one that was current last."""
    catalogue = Catalogue.open(_state_dir_of(state_dir, settings.source), skip=frozenset())
    candidates = [
        one
        for one in catalogue.sessions
        if one.session_key == key and (settings.format == "auto" or settings.format in one.kinds)
    ]
    for warning in catalogue.warnings:
        log.warning("%s", warning)
    return max(candidates, key=lambda one: (one.ending is None, one.updated_at or ""), default=None)


def _state_dir_of(state_dir: Path, source: str | None) -> Path:
    """The state directory around a named `agents/<id>/sessions`; what is named may also be the state directory."""
    if source is None:
        return state_dir
    place = Path(os.path.abspath(os.path.join(state_dir, os.path.expanduser(source))))
    if place.name in _AGENT_FOLDERS and place.parent.parent.name == "agents":
        return place.parent.parent.parent
    return place.parent.parent if place.parent.name == "agents" else place


def _after_reset(path: Sequence[Entry]) -> Sequence[Entry]:
    """What a new conversation in the same file left behind is another conversation."""
    last = next((at for at in range(len(path) - 1, -1, -1) if path[at].type == "reset"), -1)
    return path[last + 1 :]


def _carried(path: Sequence[Entry]) -> list[dict[str, Any]]:
    """The records that come along, linked to each other; what a compaction put away stays behind."""
    cut = next((at for at in range(len(path) - 1, -1, -1) if path[at].type == "compaction"), None)
    if cut is not None:
        first = path[cut].raw.get("firstKeptEntryId")
        start = next((at for at in range(cut) if path[at].id == first), cut)
        path = path[start:]
    wanted = {id(entry) for entry in each_once(path)}
    wanted |= {id(entry) for entry in path if entry.type in _CARRIED}
    records: list[dict[str, Any]] = []
    parent: str | None = None
    for entry in path:
        record = _record(entry) if id(entry) in wanted else None
        if record is None or entry.id is None:
            continue
        records.append({**record, "parentId": parent})
        parent = entry.id
    return _with_kept(records)


def _record(entry: Entry) -> dict[str, Any] | None:
    """One record as it is taken over, without tool calls: a provider refuses a call whose result stayed behind."""
    raw = dict(entry.raw)
    if entry.type != "message":
        return raw
    content = entry.message.get("content")
    if not isinstance(content, list):
        return raw if isinstance(content, str) and content else None
    blocks = [one for one in content if isinstance(one, dict) and one.get("type") not in {"toolCall", "thinking"}]
    return {**raw, "message": {**_without_tools(entry.message), "content": blocks}} if blocks else None


def _without_tools(message: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(message)
    if fields.get("stopReason") == "toolUse":
        fields["stopReason"] = "stop"
    return fields


def _with_kept(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compactions keep from the first record that came along, where the one they name did not."""
    carried = list(records)
    ids = {record["id"] for record in carried}
    for at, record in enumerate(carried):
        if record["type"] == "compaction":
            kept = record.get("firstKeptEntryId")
            if kept not in ids:
                record["firstKeptEntryId"] = carried[0]["id"] if at else record["id"]
            record.setdefault("tokensBefore", 0)
    return carried


def each_once(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The user's and the assistant's messages, each id once."""
    seen: set[str] = set()
    for entry in entries:
        if entry.type != "message" or entry.role not in {"user", "assistant"} or entry.id in seen:
            continue
        if entry.id is not None:
            seen.add(entry.id)
        yield entry
