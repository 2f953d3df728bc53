"""Words nobody typed: of a key no pattern knows, a memory keeps nothing either.

The redactor hides what is named or shaped as a secret and leaves other random-looking text alone, because a transcript
is full of it. What we keep is a few sentences: there a generated word is worth nothing to its reader, and may be a key.
"""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise
from typing import Any

from jsonlstore.core import expressions as re
from jsonlstore.redact.phrases import SHORTEST, recovery_phrases
from jsonlstore.redact.rules import MARK

# on its own: not a part of an address, a path, a hash with its name before it or padded base64
_RUN = re.compile(r"(?<![\w/.:@#%?&=+$-])[A-Za-z0-9][A-Za-z0-9_-]{18,}[A-Za-z0-9](?![\w/=+:@-])")
# with the two signs that base64 has and names have not; hashes with their name before them stay
_BASE64 = re.compile(r"(?<![\w/.:@#%?&=+$-])[A-Za-z0-9+/]{40,}={0,2}(?![\w/=+:@-]|\.\w)")
_LEAST_CHANGES = 0.36  # a random run changes between capitals, small letters and digits at 0.62 of its places
_LEAST_WITH_ONE_DIGIT = 0.45  # as names in camelCase have
_NAMES = ("id", "ids", "path", "at", "time", "timestamp", "key")


def hide_generated(text: str) -> str:
    """`text` with every word and recovery phrase hidden that only a machine can have made up."""
    if len(text) < 20:
        return text
    if len(text) >= SHORTEST:
        for start, end in reversed(recovery_phrases(text)):
            text = text[:start] + MARK + text[end:]
    text = _RUN.sub(lambda run: MARK if is_generated(run[0]) else run[0], text)
    return _BASE64.sub(lambda run: MARK if _is_base64(run[0]) else run[0], text)


def _is_base64(run: str) -> bool:
    """A path has slashes too, but neither a plus nor padding."""
    return ("+" in run or run.endswith("=")) and is_generated(run.rstrip("="))


def hide_generated_in(record: dict[str, Any]) -> dict[str, Any]:
    """A record with generated words hidden in what people read of it; ids, paths and times name things and stay."""
    return {
        key: hide_generated(value) if isinstance(value, str) and key.rpartition("_")[2] not in _NAMES else value
        for key, value in record.items()
    }


def is_generated(word: str) -> bool:
    """Whether a long word mixes capitals, small letters and digits as chance does, and hides no plain text."""
    plain = word.replace("_", "").replace("-", "").replace("+", "").replace("/", "")
    kinds = [0 if c.isdigit() else 1 if c.isupper() else 2 for c in plain]
    if len(set(kinds)) < 3:
        return False
    changes = sum(a != b for a, b in pairwise(kinds)) / (len(kinds) - 1)
    return changes >= (_LEAST_CHANGES if kinds.count(0) > 1 else _LEAST_WITH_ONE_DIGIT) and not _says_something(plain)


def _says_something(word: str) -> bool:
    """Whether a word is the base64 form of readable text."""
    try:
        decoded = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return decoded.isprintable()
