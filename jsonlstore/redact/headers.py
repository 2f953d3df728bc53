"""Secrets in headers: `Authorization: Bearer …`, `Cookie: …`."""

# An expression is easier to read whole than in pieces.
# ruff: noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.redact.looks import is_placeholder, looks_random, looks_secret
from jsonlstore.redact.positions import is_address
from jsonlstore.redact.sources import is_code_text
from jsonlstore.redact.values import GLANCE, OPEN, SKIP

if TYPE_CHECKING:
    from jsonlstore.redact.budget import Steps

_COOKIE_NAME = re.compile(r"[\w.%!$*+~^|-]{1,120}\Z")
_HEADER_VALUE = re.compile(rb"[^\r\n\"'`\\<>]++")
_SCHEME = re.compile(
    rb"(?i)(?:bearer|basic|digest|token|apikey|api-key|negotiate|ntlm|hawk|oauth|ssws|key|aws4-hmac-sha256|[a-z][a-z0-9_-]{0,30})(?:[ \t]+|%20)(?=[^\s])"
)

_KNOWN_SCHEMES = frozenset((b"bearer", b"basic", b"token", b"digest", b"apikey", b"negotiate"))
_DOTTED = re.compile(r"[\w-]+(?:\.[\w-]+){1,3}\Z")
# config.token, process.env.X, this.auth.jwt
_REFERENCE = re.compile(
    r"(?i)\A(?:process|config|cfg|conf|self|this|settings?|options?|opts?|env|os|req|request|res|response|user|session|auth|data|state|ctx|context"
    r"|props|params|args|kwargs|credentials?|creds|client|app|module|window|import|secrets?|vars?|values?|inputs?|example|www)\."
    r"|(?:token|key|secret|jwt|passw|pwd|cred|auth)"
)


def header_value(data: bytes, at: int, budget: Steps, *, cookie: bool) -> list[tuple[int, int]]:  # noqa: PLR0911 - one exit per answer
    """The span to hide in `Authorization: Bearer …` and `Cookie: …`; the scheme stays."""
    pos = SKIP.match(data, at).end()  # type: ignore[union-attr]
    opened = OPEN.match(data, pos)
    start = opened.end() if opened else pos
    scheme = None if cookie else _SCHEME.match(data, start, start + 40)
    begin = scheme.end() if scheme else start
    found = _HEADER_VALUE.match(data, begin, begin + GLANCE)
    if not found:
        return []
    budget.weigh(len(found.group()))
    # a longer one is judged by its beginning, and taken whole by whoever asked
    end = begin + (GLANCE if len(found.group()) == GLANCE else len(found.group().rstrip()))
    text = data[begin:end].decode("utf-8", "replace")
    first = text.split(" ")[0]
    if first[-1:] == "+" and not opened and data[end : end + 1] in b"\"'`":
        return []  # scheme+" "+token
    if is_address(text) or "](" in text or (not opened and is_code_text(first)):
        return []  # authorization: "https://…/authorize?scope=email"; [Authorization: Policy](…)
    known = scheme is not None and scheme.group().strip().lower() in _KNOWN_SCHEMES
    if known and opened is None and _DOTTED.match(first) and not _REFERENCE.search(first):
        return [(begin, end)]  # Bearer a.b: behind a scheme only what names a variable is one
    labelled = first[-1:] == "=" and first[:-1].isalpha() and first.islower()  # Digest username="…"
    if labelled or is_placeholder(text, bare=True) or is_placeholder(first, bare=True):
        return []
    if cookie:
        name, equals, value = text.partition("=")
        first = value.split(";")[0]
        odd = len(first) >= 16 or any(c.isdigit() for c in first)
        ok = equals and _COOKIE_NAME.match(name) and len(first) > 3 and odd and not is_placeholder(first)
        return [(begin, end)] if ok else []
    if known:
        return (
            [(begin, end)]
            if (len(first) >= 6 and (any(c.isdigit() for c in first) or len(first) > 14)) or "=" in first
            else []
        )
    generated = scheme and len(first) >= 20 and any(c.isdigit() for c in first)
    return [(begin, end)] if generated or looks_random(first) or looks_secret(first) else []
