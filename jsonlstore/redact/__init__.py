"""Secrets never reach our disk.

This room promises: whatever passes `redact`, `redact_text`, `redact_value` or `redact_stream` holds no secret that
a name announces or a shape gives away; the key stays, the value becomes `[REDACTED]`. It never raises, takes linear
time on any input, and doing it twice changes nothing more. Ids, hashes, paths and code stay as they are.

There is one question, `may_hold_secret`, and one way to be safe without paying for an answer that is no: `sanitised`.
Both are cheap to import. The rules themselves (`data/*.tsv`, one line each) are loaded when a text first needs them.

The way of a text: `finder` sees in one pass of RE2 (`automata`) whether anything may be there. `scan` goes from place
to place (`hits`) and looks for the shapes (`triggers`); `assignments` finds what a name announces (`names` judges
names, `values` measures values; `judging`, `keys`, `looks`, `stand_ins`, `positions`, `syntax`, `context` and `things`
judge them; `sentences` finds those that are said, not assigned, `vendors` those behind a provider's name, `headers`
those of HTTP), `tables` reads columns, `blocks`
keys and `<private>` spans, `phrases` those of wallets, `joints` literals that are one text, `folding` undoes
disguises; `budget` says what a look costs. `text` hides what was found, `stream` does so for input of any size,
`memory` for the messages of a session and the answers to `questions`, `outlet` for what is printed, and `generated`
hides, where people read, what only a machine can have made up.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from jsonlstore.core.lazy import lazy
from jsonlstore.redact import prefilter, rules

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.redact.generated import hide_generated, hide_generated_in
    from jsonlstore.redact.logs import log_to_stderr, log_with_time
    from jsonlstore.redact.memory import Redactor
    from jsonlstore.redact.outlet import shown, shown_document
    from jsonlstore.redact.rules import MARK, own_rules
    from jsonlstore.redact.stream import LineFinding, redact_stream
    from jsonlstore.redact.text import Finding, redact, redact_bytes, redact_text, redact_value

__all__ = [
    "MARK",
    "Finding",
    "LineFinding",
    "Redactor",
    "hide_generated",
    "hide_generated_in",
    "is_secret_id",
    "log_to_stderr",
    "log_with_time",
    "may_hold_secret",
    "own_rules",
    "redact",
    "redact_bytes",
    "redact_stream",
    "redact_text",
    "redact_value",
    "sanitised",
    "shown",
    "shown_document",
    "use_rules",
]

__getattr__ = lazy(
    __name__,
    {
        "generated": "hide_generated hide_generated_in",
        "logs": "log_to_stderr log_with_time",
        "memory": "Redactor",
        "outlet": "shown shown_document",
        "rules": "MARK own_rules",
        "stream": "LineFinding redact_stream",
        "text": "Finding redact redact_bytes redact_text redact_value",
    },
)

_REDACTOR = "jsonlstore.redact.text"
_FINDER = "jsonlstore.redact.finder"


def may_hold_secret(value: Any) -> bool:
    """Whether there may be something to hide in a text or a JSON value; False is certain, True is a guess."""
    finder = sys.modules.get(_FINDER)
    if finder is not None and isinstance(value, str):
        return bool(finder.may_hide(value.encode("utf-8", "surrogatepass")))
    return prefilter.may_match(value)


def sanitised(value: Any) -> Any:
    """A text or JSON value without secrets; the rules are loaded only if one may be in it."""
    # once loaded, the redactor answers faster than the question
    if _REDACTOR not in sys.modules and not may_hold_secret(value):
        return value
    from jsonlstore.redact.text import redact_value

    return redact_value(value)


def is_secret_id(session_id: str) -> bool:
    """Whether an id would be hidden in a text: then it must not become a file's name either."""
    return bool(sanitised(session_id) != session_id)


def use_rules(path: Path) -> tuple[str, ...]:
    """Take the user's rules from a file before anything is redacted; returns what is wrong with them."""
    problems = rules.name_rules(path)
    prefilter.forget_rules()
    return problems
