"""Disguises: what stands inside a word and is not seen, or is another way to write a letter.

Terminal colours, zero-width characters, soft hyphens, full-width letters and `\\u0070` escapes. A name or token is
looked for in the text without them too.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.regex import compiled, searcher

if TYPE_CHECKING:
    from jsonlstore.core.regex import Search

# RE2, over bytes: where a disguise may begin. Of the escapes those of letters, arrows and what is not seen: dashes,
# quotes and emoji stand in no name.
_LETTERS = r"00[2-7cdefCDEF]|0[1-6]|[3-9a-cA-C][0-9a-fA-F]|d[0-7]|D[0-7]|ff[0-5]|FF[0-5]"
_UNSEEN = r"001[bB]|00[aA][dD]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-4])|2192|[fF][eE][fF][fF]"
_ESCAPE = rf"\\u(?:{_LETTERS}|{_UNSEEN})"
FOLDED = (
    r"\x1b\[|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]"
    rf"|{_ESCAPE}|&#x?[0-9a-fA-F]{{2,3}};"
)
_FOLDED = re.compile(
    rb"(?:\x1b|\\{1,8}u001[bB])\[[0-9;:?]{0,32}[A-Za-z]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad"
    rb"|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]|((?:\\{1,8}u(?=%s)[0-9a-fA-F]{4})++)"
    rb"|&#(x[2-7][0-9a-fA-F]|[3-9][0-9]|1[01][0-9]|12[0-6]);" % f"{_LETTERS}|{_UNSEEN}".encode()
)
_ESCAPES = re.compile(rb"(?:\\++u[0-9a-fA-F]{4})++")
_UNIT = re.compile(rb"u([0-9a-fA-F]{4})")
_NOT_SEEN = dict.fromkeys((0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)))
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}  # full-width forms lie in the order of ASCII
_CODES = str.maketrans(_NOT_SEEN | _NARROW)


def folds(data: bytes, most: int) -> list[tuple[int, int, str]]:
    """Every disguise as a span whose kind is `=` and what it stands for; no more than `most`."""
    cuts: list[tuple[int, int, str]] = []
    find, at = _search(), 0
    while len(cuts) < most and (start := find(data, at)[0][0]) >= 0:
        # of the backslashes before an escape as many belong to it as stand there, up to eight
        first = start - len(_BACKSLASHES.search(data, max(at, start - 7), start).group())  # type: ignore[union-attr]
        found = _FOLDED.match(data, first) if data[start] == _BACKSLASH else _FOLDED.match(data, start)
        if found:
            cuts.append((*found.span(), f"={_meaning(found)}"))
        at = found.end() if found else start + 1
    return cuts


@cache
def _search() -> Search:
    """RE2 finds the next one in a text that holds few of them ten times as fast."""
    return searcher(compiled(FOLDED))


_BACKSLASHES, _BACKSLASH = re.compile(rb"\\*+\Z"), ord("\\")


def escapes_end(data: bytes, at: int) -> int:
    """Where the escaped letters at `at` end; they are seen together once they are unfolded."""
    found = _ESCAPES.match(data, at, at + 4096)
    return found.end() if found else at


def _meaning(found: re.Match[bytes]) -> str:
    if found[1]:
        return "".join(chr(int(unit, 16)) for unit in _UNIT.findall(found[1])).translate(_CODES)
    if found[2]:
        return chr(int(found[2][1:], 16) if found[2][:1] == b"x" else int(found[2]))
    if found[0][:1] == b"\xef":
        return found[0].decode().translate(_CODES)
    return ""
