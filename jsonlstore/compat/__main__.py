"""`python -m jsonlstore.compat recent [DAYS]` and `chain ID`: sessions of brain.db as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson

from jsonlstore.compat.session_manager import SessionManager, default_path
from jsonlstore.core.errors import JsonlStoreError

_USAGE = "usage: python -m jsonlstore.compat recent [DAYS] | chain SESSION_ID"


def run_compat(arguments: Sequence[str]) -> int:
    """Print what was asked for; 0 ok, 1 failed, 2 usage."""
    match list(arguments):
        case ["recent", *days] if len(days) < 2 and all(map(str.isdecimal, days)):
            ask = partial(SessionManager.get_recent_sessions, days=int(days[0]) if days else 7)
        case ["chain", session_id]:
            ask = partial(SessionManager.get_session_chain, session_id=session_id)
        case _:
            print(_USAGE, file=sys.stderr)
            return 2
    found: list[dict[str, Any]] = []
    try:
        path = default_path()
        if path.exists():
            found = ask(SessionManager(path))
        else:  # asking makes none
            print(f"there is no {path} yet", file=sys.stderr)
    except JsonlStoreError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    sys.stdout.write(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(run_compat(sys.argv[1:]))
