"""What a row of an export holds: a session's state, or one event of its log, with the host it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.hashes import sha256

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState
    from jsonlstore.store import SessionStore


def month_of(state: SessionState) -> str:
    """The month a session began in, which never changes; `unknown` for a time that is none."""
    month = state.start_time[:7]
    return month if len(month) == 7 and month[4] == "-" and (month[:4] + month[5:]).isdecimal() else "unknown"


def rows_of(store: SessionStore, state: SessionState, host: str, table: str) -> list[dict[str, Any]]:
    """The rows of one session; all carry its `version`, which changes whenever one of them does."""
    if table == "sessions":
        rows = [state.to_dict()]
    else:
        rows = [
            {"seq": event.seq, "at": event.at, "type": event.type, "by": event.by, "data": _text(event.data)}
            for event in store.events(state.session_id)
        ]
    version = sha256(_dumped([host, rows])).hexdigest()[:16]
    head = {"host": host, "session_id": state.session_id, "version": version}
    return [{**head, **row, "session_id": state.session_id} for row in rows]


def _text(value: Any) -> str:
    return _dumped(value).decode()


def _dumped(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS)
