"""What may reach the disk: checked, redacted, capped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.redact import sanitised
from jsonlstore.store.fields import check_fields
from jsonlstore.store.limits import MAX_STATE_BYTES, cap, shrink

if TYPE_CHECKING:
    from collections.abc import Mapping


def clean(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event as they are written; raises `UsageError` naming the first one that is wrong."""
    return cap(redact(check_fields(fields)))


def clean_event(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an event that is not made of state fields: JSON, without secrets, of bounded size."""
    checked: dict[str, Any] = check_fields({"data": dict(data)})["data"]
    return shrink(redact(checked), MAX_STATE_BYTES)


def redact(record: dict[str, Any]) -> dict[str, Any]:
    """A record without secrets."""
    cleaned: dict[str, Any] = sanitised({key: value for key, value in record.items() if key != _ADDRESS})
    if _ADDRESS not in record:
        return cleaned
    # in its old place: the order of the fields is part of what readers and tests see
    address = sanitised(record[_ADDRESS])
    rest = iter(cleaned.items())
    return dict((key, address) if key == _ADDRESS else next(rest) for key in record)


# The one name of ours that reads like a secret's: `agent:main:main` is an address, and every session start has one.
_ADDRESS = "session_key"
