"""Disguises: what stands inside a word and is not seen, or is another way to write a letter.

Terminal colours, zero-width characters, soft hyphens, full-width letters and `\\u0070` escapes. A name or token is
looked for in the text without them too.
"""

from __future__ import annotations

import re
from itertools import islice

# RE2, over bytes: where a disguise may begin
FOLDED = (
    r"\x1b\[|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]"
    r"|\\u00[2-7][0-9a-fA-F]|&#x?[0-9a-fA-F]{2,3};"
)
_FOLDED = re.compile(
    rb"\x1b\[[0-9;:?]{0,32}[A-Za-z]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad"
    rb"|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]|\\++u00([2-7][0-9a-fA-F])|&#(x[2-7][0-9a-fA-F]|[3-9][0-9]|1[01][0-9]|12[0-6]);"
)


def folds(data: bytes, most: int) -> list[tuple[int, int, str]]:
    """Every disguise as a span whose kind is `=` and what it stands for; no more than `most`."""
    return [(*found.span(), f"={_meaning(found)}") for found in islice(_FOLDED.finditer(data), most)]


def _meaning(found: re.Match[bytes]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    if found[2]:
        return chr(int(found[2][1:], 16) if found[2][:1] == b"x" else int(found[2]))
    if found[0][:1] == b"\xef" and found[0] != b"\xef\xbb\xbf":
        return chr(ord(found[0].decode()) - 0xFEE0)  # full-width forms lie in the order of ASCII
    return ""
