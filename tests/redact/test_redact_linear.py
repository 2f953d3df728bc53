"""No text takes more than linear time: twice the text, about twice the time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from jsonlstore.redact.text import redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE: dict[str, Callable[[int], str]] = {
    "names": lambda n: "password" * (n // 8),
    "assignments": lambda n: 'password="' * (n // 10),
    "mixed quotes": lambda n: "password='\"" * (n // 11),
    "open quote once": lambda n: 'password="' + "a" * n,
    "spaces": lambda n: "password" + " " * n,
    "backslashes": lambda n: "password=" + "\\" * n + '"',
    "quoted backslashes": lambda n: 'password="' + '\\"' * (n // 2),
    "begin without end": lambda n: "-----BEGIN RSA PRIVATE KEY-----\n" * (n // 32),
    "begin then base64": lambda n: "-----BEGIN RSA PRIVATE KEY-----\n" + ("A" * 63 + "\n") * (n // 64),
    "private open": lambda n: "<private>" * (n // 9),
    "private half": lambda n: "<pri" * (n // 4),
    "private with attribute": lambda n: "<private " * (n // 9),
    "private nested": lambda n: "<pri" * (n // 20) + "<private></private>" + "vate>" * (n // 20),
    "urls": lambda n: "a://b:" * (n // 6),
    "urls with at": lambda n: "a://b:c@" * (n // 8),
    "sentence": lambda n: "the password for a b c d e " * (n // 27),
    "is is": lambda n: "password is " * (n // 12),
    "glue": lambda n: "ghp_" + "a'+'" * (n // 4),
    "joints": lambda n: 'a" + "' * (n // 6),
    "joints that never close": lambda n: 'a"' + " " * n,
    "joints in escapes": lambda n: 'a\\"' + "\\n" * (n // 2),
    "joints and names": lambda n: '"token=" + "' * (n // 12),
    "lone quotes": lambda n: 'abcdefghijklmn"' * (n // 15),
    "lines that go on": lambda n: "ab\\\n" * (n // 4),
    "table": lambda n: "user,password\n" + "bob,Maple77\n" * (n // 12),
    "heads": lambda n: "user,password\n" * (n // 14),
    "escaped heads": lambda n: "user,password\\n" * (n // 15),
    "columns": lambda n: "password|" * (n // 9),
    "ragged": lambda n: "a,token\nb\n" * (n // 10),
    "prefixes": lambda n: "sk-" * (n // 3),
    "jwt": lambda n: "eyJ" + "a." * (n // 2),
    "dots": lambda n: "a" * 24 + "." + "b" * 6 + "." + "c" * n,
    "elements": lambda n: "<password>" * (n // 10),
    "element once": lambda n: "<password>" + "a" * n,
    "lists": lambda n: "passwords=[" + '"a",' * (n // 4),
    "yaml": lambda n: "password: |\n" + "  a\n" * (n // 4),
    "keys": lambda n: "key=" * (n // 4),
    "flags": lambda n: "--password " * (n // 11),
    "near": lambda n: "curl " + "-u a:b1 " * (n // 8),
    "marks": lambda n: "password=[REDACTED] " * (n // 20),
    "long secret": lambda n: "token=" + "a1" * (n // 2),
    "many secrets": lambda n: "token=abc123def\n" * (n // 16),
    "cookie": lambda n: "cookie: " * (n // 8),
    "continuations": lambda n: "password=" + "a\\\n" * (n // 3),
}


def _best(text: str) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        redact(text)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_the_text_takes_far_less_than_sixteen_times_as_long(name: str) -> None:
    make = HOSTILE[name]
    small, large = make(25_000), make(100_000)
    _best(small)
    ratio = _best(large) / max(_best(small), 1e-3)
    assert ratio < 10, f"{name}: {ratio:.1f} times as long"


def test_ten_megabytes_are_fine() -> None:
    text = ("some words and a path /usr/lib/x " * 32 + "\n") * 9_500
    hidden, findings = redact(text + "password=hunter2\n")
    assert len(findings) == 1
    assert hidden == text + "password=[REDACTED]\n"


def test_a_value_nested_too_deep_to_look_into_is_hidden_not_raised() -> None:
    value: object = "x"
    for _ in range(5000):
        value = [value]
    hidden = redact_value(value)
    depth = 0
    while isinstance(hidden, list):
        hidden, depth = hidden[0], depth + 1
    assert hidden == "[REDACTED]"
    assert depth > 100


def test_a_run_of_backslashes_beside_a_colour_is_read_once() -> None:
    """Each backslash may begin an escape, and none of them looks to the end of the run."""
    text = "\\" * 125_000 + "\x1b[31mp8e-salts" * 8_000
    short, long = (min(_cpu(part) for _ in range(3)) for part in (text, text * 2))
    assert long <= 3 * short + 0.02


def _cpu(text: str) -> float:
    started = time.process_time()
    redact(text)
    return time.process_time() - started
