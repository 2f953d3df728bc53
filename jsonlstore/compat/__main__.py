"""`python -m jsonlstore.compat recent [DAYS]` and `chain ID`: sessions of brain.db as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import orjson

from jsonlstore.compat.session_manager import SessionManager, default_path
from jsonlstore.core.errors import JsonlStoreError

_USAGE = "usage: python -m jsonlstore.compat recent [DAYS] | chain SESSION_ID"


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
        found = _ask(arguments[1] if days is None else None, days or 0)
    except JsonlStoreError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    sys.stdout.write(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() + "\n")
    return 0


def _ask(chain: str | None, days: int) -> list[dict[str, Any]]:
    path = default_path()
    if not path.exists():  # asking makes none
        print(f"there is no {path} yet", file=sys.stderr)
        return []
    manager = SessionManager(path)
    return manager.get_recent_sessions(days) if chain is None else manager.get_session_chain(chain)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
