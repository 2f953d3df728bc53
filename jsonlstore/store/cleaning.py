"""What may reach the disk: checked, redacted, capped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jsonlstore.store.fields import check_fields
from jsonlstore.store.limits import cap

if TYPE_CHECKING:
    from collections.abc import Mapping

# Times, ids, channel and agent names: short words without anything that could name or be a secret. Loading the
# redactor costs a session start more than everything else, and most session starts carry nothing but these.
_PLAIN = re.compile(r"(?!.*(?:pass|pwd|secret|token|key|auth|cred|bearer|private))[\w.:/@+~ -]{0,200}\Z", re.IGNORECASE)
_LONG_RUN = re.compile(r"[A-Za-z0-9_]{16}")


def clean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event as they are written; raises `UsageError` naming the first one that is wrong."""
    checked = check_fields(fields)
    return cap(checked if _plainly_clean(checked) else redact(checked))


def redact(value: Any) -> Any:
    """The package's own redactor, loaded on first use."""
    from jsonlstore.signals.redact import redact_value

    return redact_value(value)


def _plainly_clean(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_PLAIN.match(value)) and not _LONG_RUN.search(value)
    if isinstance(value, dict):
        return all(key in _SHORT_FIELDS and _plainly_clean(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_plainly_clean, value))
    return value is None or isinstance(value, (bool, int, float))


_SHORT_FIELDS = frozenset(
    {"start_time", "end_time", "updated_at", "channel", "agent_id", "session_key", "previous_session_id"}
    # what a restore records: whose sessions, which scores, how much
    | {"data", "from", "scores", "pins", "tasks", "why", "agent", "across", "forced"}
)
