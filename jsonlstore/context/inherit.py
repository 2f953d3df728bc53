"""Taking over a conversation that OpenClaw began: its messages are read, ours are written under a key of our own.

Messages of the user and the assistant come along, each once, with the summary of what was compacted and with
checkpoints (what tools said stays behind). OpenClaw's files are only read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.context.records import prepare
from jsonlstore.core.errors import RecordRefused
from jsonlstore.core.logs import logger
from jsonlstore.transcripts import Catalogue, Entry, active_path, read_millis

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from jsonlstore.context.records import Prepared
    from jsonlstore.core.session_settings import InheritSettings
    from jsonlstore.transcripts import RecordedSession as Found

log = logger(__name__)

_CARRIED = frozenset({"checkpoint", "compaction"})
_AGENT_FOLDERS = frozenset({"sessions", "agent"})


def inherited_records(state_dir: Path, key: str, settings: InheritSettings, now: datetime) -> list[Prepared]:
    """What a new session begins with: OpenClaw's session `key` as the model would see it; nothing if there is none."""
    found = find_session(state_dir, key, settings)
    if found is None:
        log.debug("nothing to inherit: no session %s", key)
        return []
    reading = found.read()
    path = _after_reset(active_path(map(_light, reading)))
    for problem in reading.problems:
        log.warning("inherited in part: %s", problem)
    records = _carried(path, now)
    if not records:
        return []
    told = {"from": key, "sessionId": found.session_id, "records": len(records)}
    note = {"type": "custom", "customType": "jsonlstore.inherited", "data": told}
    return [*records, prepare({**note, "parentId": records[-1].record["id"]}, now)]


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


def _light(entry: Entry) -> Entry:
    """An entry that stays behind is kept as a link only: what tools said is most of a long transcript."""
    return (
        Entry({"type": "message", "id": entry.id, "parentId": entry.parent_id}) if entry.role == "toolResult" else entry
    )


def _carried(path: Sequence[Entry], now: datetime) -> list[Prepared]:
    """The records that come along, linked to each other; what a compaction put away stays behind."""
    cut = next((at for at in range(len(path) - 1, -1, -1) if _is_compaction(path[at])), None)
    if cut is not None:
        first = path[cut].raw.get("firstKeptEntryId")
        start = next((at for at in range(cut) if path[at].id == first), cut)
        path = path[start:]
    wanted = {id(entry) for entry in each_once(path)}
    wanted |= {id(entry) for entry in path if entry.type in _CARRIED}
    records: dict[str, Prepared] = {}
    for entry in path:
        record = _record(entry) if id(entry) in wanted else None
        if record is None or entry.id is None:
            continue
        if entry.type == "compaction" and record.get("firstKeptEntryId") not in records:
            # the record it kept from stayed behind: it keeps from the first that came along
            record["firstKeptEntryId"] = next(iter(records), entry.id)
        try:
            prepared = prepare({**record, "parentId": next(reversed(records), None)}, now)
        except RecordRefused as problem:
            # one that nobody could read back must not keep the whole conversation from going on
            log.warning("record %s is not inherited: %s", entry.id, problem.message)
            continue
        records[prepared.record["id"]] = prepared
    return list(records.values())


def _is_compaction(entry: Entry) -> bool:
    """Whether it stands for what it cut off; without a summary it would only hide it."""
    return entry.type == "compaction" and isinstance(entry.raw.get("summary"), str)


def _record(entry: Entry) -> dict[str, Any] | None:
    """One record as it is taken over, without tool calls: a provider refuses a call whose result stayed behind."""
    raw = dict(entry.raw)
    if read_millis(raw.get("timestamp")) is None:
        raw["timestamp"] = entry.timestamp
    if entry.type == "compaction":
        raw.setdefault("tokensBefore", 0)
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


def each_once(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The user's and the assistant's messages, each id once."""
    seen: set[str] = set()
    for entry in entries:
        if entry.type != "message" or entry.role not in {"user", "assistant"} or entry.id in seen:
            continue
        if entry.id is not None:
            seen.add(entry.id)
        yield entry
