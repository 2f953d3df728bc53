"""What may reach the disk: checked, redacted, capped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonlstore.store.fields import check_fields
from jsonlstore.store.limits import MAX_STATE_BYTES, cap, shrink

if TYPE_CHECKING:
    from collections.abc import Mapping

# Times, ids, channel and agent names: short words without anything that could name or be a secret. Loading the
# redactor costs a session start more than everything else, and most session starts carry nothing but these.
_PLAIN = re.compile(r"(?!.*(?:pass|pwd|secret|token|key|auth|cred|bearer|private))[\w.:/@+~ -]{0,200}\Z", re.IGNORECASE)
# long and not just words, as in `working_memory_scan`
_LONG_RUN = re.compile(r"(?![a-z_]{16,}(?![A-Za-z0-9_]))[A-Za-z0-9_]{16}")


def clean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event as they are written; raises `UsageError` naming the first one that is wrong."""
    return cap(redact(check_fields(fields), _SHORT_FIELDS))


def clean_event(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an event that is not made of state fields: JSON, without secrets, of bounded size."""
    checked: dict[str, Any] = check_fields({"data": dict(data)})["data"]
    return shrink(redact(checked, _EVENT_FIELDS), MAX_STATE_BYTES)


def redact(record: dict[str, Any], short_fields: frozenset[str]) -> dict[str, Any]:
    """A record without secrets; the redactor is loaded only if more than plain words stand in the short fields."""
    if all(key in short_fields and _plainly_clean(value) for key, value in record.items()):
        return record
    from jsonlstore.redact.text import redact_value

    redacted: dict[str, Any] = redact_value(record)
    return redacted


def _plainly_clean(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_PLAIN.match(value)) and not _LONG_RUN.search(value)
    if isinstance(value, list):
        return all(map(_plainly_clean, value))
    return value is None or isinstance(value, int | float)


_SHORT_FIELDS = frozenset(
    {"start_time", "end_time", "end_reason", "updated_at", "channel", "agent_id", "session_key", "previous_session_id"}
)
# who owns a session, and what a restore records: whose sessions, which scores, how much
_EVENT_FIELDS = frozenset(
    {"pid", "started", "namespace", "from", "scores", "pins", "tasks", "why", "forced", "agent", "across", "at", "into"}
)
