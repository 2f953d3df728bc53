"""`session_states` and its three indexes, as the specification words them in `session_states.sql`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE = "session_states"
IMPORTER = "import"  # who, in our logs, says what was read from a row

CREATE_TABLE, *_CREATE_INDEX = (
    Path(__file__).with_name("session_states.sql").read_text("utf-8").rstrip(";\n").split(";\n\n")
)
_ON = re.compile(r"(\w+)\s+ON session_states\((.*)\)")

# index -> the statement that makes it, and the columns it needs
INDEXES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    name: (statement, tuple(columns.split(", ")))
    for statement in _CREATE_INDEX
    for name, columns in _ON.findall(statement)
}
COLUMNS = tuple(re.findall(r"^    (\w+) (?:TEXT|INTEGER)\b", CREATE_TABLE, re.MULTILINE))
LISTS = tuple(re.findall(r"^    (\w+) TEXT NOT NULL DEFAULT '\[]'", CREATE_TABLE, re.MULTILINE))
