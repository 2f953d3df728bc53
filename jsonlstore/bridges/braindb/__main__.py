"""`python -m jsonlstore.bridges.braindb recent [DAYS]` and `chain ID`: sessions of brain.db as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import orjson

from jsonlstore.bridges.braindb.manager import SessionManager
from jsonlstore.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = "usage: python -m jsonlstore.bridges.braindb recent [DAYS] | chain SESSION_ID"


def main(arguments: Sequence[str]) -> int:
    """Print what was asked for; 0 ok, 1 failed, 2 usage."""
    match list(arguments):
        case ["recent"]:
            days: int | None = 7
        case ["recent", number] if number.isdecimal():
            days = int(number)
        case ["chain", _]:
            days = None
        case _:
            print(_USAGE, file=sys.stderr)
            return 2
    try:
        manager = SessionManager()
        found = manager.get_session_chain(arguments[1]) if days is None else manager.get_recent_sessions(days)
    except JsonlStoreError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    sys.stdout.write(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
