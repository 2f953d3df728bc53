"""The wrapper around a preamble, and how other people's words are made safe to stand inside it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from jsonlstore.redact import sanitised

OPEN = '<session-continuity hint="inherited from prior sessions">'
CLOSE = "</session-continuity>"

# what could close our wrapper, open another, fence code, or end a quotation, and what stands in its place
_REPLACED = str.maketrans({"<": "‹", ">": "›", "`": "'", '"': "'", "“": "'", "”": "'", "„": "'", "＜": "‹", "＞": "›"})
_LONGEST_HALF = 24  # what is longer and without a space is no word
_SPACES = re.compile(r"\s+")
_PLAIN_WORDS = re.compile(r"[\w.+#@/&-]+(?: [\w.+#@/&-]+)?\Z")
_NOT_IN_AN_ID = re.compile(r"[^\w.:#/@+-]")


def wrap(preamble: str) -> str:
    """`preamble` as it goes into a prompt."""
    return f"{OPEN}\n{preamble}\n{CLOSE}"


WRAPPER_LENGTH = len(wrap(""))


@lru_cache(maxsize=512)  # a preamble is put together dozens of times until it fits
def flat(text: str, longest: int) -> str:
    """`text` as one harmless line: no controls, no invisible characters, no markup, no secrets."""
    head = text[: longest * 8]  # enough to fill the line whatever is dropped; a huge text costs nothing
    # redacted when it was stored, and looked at again on its way out
    cleaned = sanitised(head).translate(_REPLACED)
    if not cleaned.isascii() or not cleaned.isprintable():
        cleaned = "".join(map(_visible, cleaned))
    cleaned = _SPACES.sub(" ", cleaned).strip()
    if len(cleaned) <= longest:
        return cleaned
    cut = cleaned[: longest - 1]
    space = cut.rfind(" ", -_LONGEST_HALF)  # half a word says nothing
    return (cut[:space] if space > 0 and cleaned[longest - 1] != " " else cut).rstrip() + "…"


def quoted(text: str, longest: int) -> str:
    """`text` in quotation marks that it cannot leave."""
    return f'"{flat(text, longest - 2)}"'


def named(text: str, longest: int) -> str:
    """A topic or project: plain if it is one or two words, quoted if it could read as a sentence."""
    line = flat(text, longest)
    return line if _PLAIN_WORDS.match(line) or not line else quoted(line.replace(",", ""), longest)


def identifier(text: str, longest: int = 64) -> str:
    """A task id with nothing in it but what ids are made of."""
    return _NOT_IN_AN_ID.sub("", "".join(map(_visible, text[: longest * 4])))[:longest] or "task"


def _visible(char: str) -> str:
    kind = unicodedata.category(char)
    if kind in ("Cc", "Zl", "Zp", "Zs"):
        return " "
    return "" if kind[0] == "C" or "\ufe00" <= char <= "\ufe0f" else char
