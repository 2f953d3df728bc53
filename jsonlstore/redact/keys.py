"""What stands behind `key`, `auth` and their like: names of anything, so that value or surroundings must tell."""

from __future__ import annotations

from jsonlstore.core import expressions as re
from jsonlstore.redact import rules
from jsonlstore.redact.looks import is_code, is_key_hex, is_type, is_version, is_wordy, looks_random, randomness, tells

_THINGS, _OTHER, _TALK = rules.words("keyed"), rules.words("other"), rules.words("talk")
_VENDORS = rules.words("vendors")
_NAMED = (b"salt", b"cert", b"api")
_HASHED = re.compile(r"[0-9a-f]{32}")
_SIGNED = (b"signature", b"sig")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]{0,2}|[A-Z]+[0-9]{0,2}")
# the names of what opens a door; a session and a salt open none
_OPENS = re.compile(rb"(?:key|api|auth|pat)s?(?:[_-]?(?:[0-9]{1,2}|value|prod|dev|test))?\Z")
_UUID = re.compile(r"(?i)(?:[a-z]{2,8}_)?[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}\Z")
_HEX = re.compile(r"(?i)(?:[a-z]{2,8}[_-]){0,2}(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{18,128}\Z")
_PRODUCT = re.compile(r"[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,6}\Z")  # of a licence
_WORD_BEFORE = re.compile(rb"(?:\A|[\s\"'`#*>(])([A-Za-z][A-Za-z0-9.]{2,24})[ ]\Z")
# Sending a request to the … API: what is called a key near such a word is one
_SPOKEN = re.compile(
    rb"(?i)(?<![a-z])(?:api|token|secret|credential|licen[cs]e|auth(?:entication|orization)?)s?(?![a-z])"
)
_AROUND = 160  # bytes
_LEAST_SHORT, _MOST_SHORT, _LEAST_RANDOM = 10, 128, 4.8
_RUN = re.compile(r"[A-Za-z0-9_+=.~-]+\Z")


def opens(data: bytes, name_at: int, name: bytes, text: str, op: bytes) -> bool:
    """Whether a value behind a weak name is a secret; `name` is in small letters."""
    text = text.strip()
    signed = name.endswith(_SIGNED)
    if looks_random(text):
        return not (signed and _HASHED.match(text))
    if is_key_hex(text) and not signed and (len(name) > 4 or name in _NAMED):
        return True
    if op == b"(" or not _OPENS.search(name) or not (looks_generated(text) or _PRODUCT.match(text)):
        return False
    return _is_vendors(data[name_at : name_at + len(name)]) or (len(name) < 5 and _is_told(data, name_at))


def looks_generated(text: str) -> bool:
    """Made up by a machine, perhaps not long: nothing that a word, a name or a number explains."""
    if looks_random(text) or _UUID.match(text) or _HEX.match(text):
        return True
    if not _LEAST_SHORT <= len(text) <= _MOST_SHORT or not _RUN.match(text):
        return False
    return tells(text) and randomness(text) >= _LEAST_RANDOM and not _is_joined_words(text)


def looks_typed(text: str) -> bool:
    """Typed as a password or made up by a machine: letters and figures mixed as in no word, name, path or version."""
    if not _LEAST_TYPED <= len(text) <= _MOST_SHORT or not _MIXED.match(text) or _NO_PASSWORD.search(text):
        return False
    if is_key_hex(text) or looks_random(text):
        return True
    if is_wordy(text) or is_type(text.rstrip(_FIGURES)) or is_code(text) or is_version(text):
        return False
    parts = [part for part in _SIGNS.split(text) if part]
    if all(part.isdigit() or (is_wordy(part) and not _MIXED.match(part.rstrip(_FIGURES))) for part in parts):
        return False  # version-2, utf8_general_ci
    return tells(text)


_LEAST_TYPED, _FIGURES = 7, "0123456789"
_MIXED = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[^0-9]*[0-9]")
_NO_PASSWORD = re.compile(r"[(){}<>\[\]|`\s]|::|\.\.|[a-z]\.[a-z]|->")
_SIGNS = re.compile(r"[^A-Za-z0-9]+")


def _is_joined_words(text: str) -> bool:
    """`mod_t_Call_Confirm`: words and single letters, without figures."""
    parts = _JOINED.split(text)
    return len(parts) > 2 and all(part.isalpha() and (len(part) < 4 or is_wordy(part)) for part in parts)


_JOINED = re.compile(r"[_.-]")


def _is_vendors(name: bytes) -> bool:
    """`clay_key`, `fbApiKey`: the key of somebody, where `row_key` and `eventKey` are the key of something."""
    parts = [part.lower() for part in _PART.findall(name.decode("utf-8", "replace"))][:-1]
    if not parts or max(map(len, parts)) < 2:
        return False
    return parts[0] in _VENDORS or not any(part in _THINGS or part in _OTHER for part in parts)


def _is_told(data: bytes, name_at: int) -> bool:
    """Whether a word before a bare `key`, or the line above it, says whose it is."""
    around = data[max(0, name_at - _AROUND) : name_at]
    word = _WORD_BEFORE.search(around[-32:])
    if word:
        before = word[1].decode().lower()
        if before in _THINGS or (before in _OTHER and before not in _TALK):
            return False
        if before not in _TALK:
            return True
    line = around.rfind(b"\n", 0, max(0, around.rfind(b"\n")))  # this line and the one above
    return _SPOKEN.search(around, line + 1) is not None
