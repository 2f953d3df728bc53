"""The filter: any size, any bytes, and no secret lost at a cut."""

from __future__ import annotations

import io
import sys

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.cli.main import main
from jsonlstore.redact import stream as module
from jsonlstore.redact.stream import LineFinding, redact_stream

KEY = (
    b"-----BEGIN RSA PRIVATE KEY-----\n"
    + b"".join(b"%064d\n" % n for n in range(40))
    + b"-----END RSA PRIVATE KEY-----\n"
)


def run(data: bytes) -> tuple[bytes, list[LineFinding]]:
    pieces = list(redact_stream(io.BytesIO(data)))
    return b"".join(piece.data for piece in pieces), [found for piece in pieces for found in piece.findings]


@pytest.mark.parametrize("lines", [0, 100, 3_300, 3_500, 3_700, 20_000])
def test_a_key_over_many_lines_is_hidden_wherever_the_blocks_are_cut(lines: int) -> None:
    filler = b"some words that fill a line of the log, nothing to see, keep going\n" * lines
    hidden, findings = run(filler + KEY + filler)
    assert hidden == filler + b"[REDACTED]\n" + filler
    assert findings == [LineFinding("private-key", lines + 1)]


@pytest.mark.parametrize("inside", [1, 5_000, 50_000])
def test_a_private_span_is_dropped_however_long(inside: int) -> None:
    filler = b"a plain line of text\n" * 2_000
    hidden, findings = run(filler + b"<private>\n" + b"not for you\n" * inside + b"</private>\n" + filler)
    assert hidden == filler + b"\n" + filler
    assert {found.kind for found in findings} == {"private"}
    assert findings[0].line == 2_001


def test_an_open_private_span_drops_the_rest() -> None:
    assert run(b"a\n<private>\n" + b"b\n" * 300_000)[0] == b"a\n"


def test_memory_is_bounded_by_the_block() -> None:
    most = max(len(piece.data) for piece in redact_stream(io.BytesIO(b"words and words\n" * 200_000)))
    assert most <= 2 * module._BLOCK


def test_json_lines_stay_json_and_plain_ones_stay_bytes() -> None:
    clean = b'{"a":  1.50, "b": "\\u00e9"}\n'
    hidden, findings = run(
        clean + b'{"password": 123456, "n": [1]}\r\n' + b"caf\xe9 \xff\x00 ok\n" + b"token=abc123def\xff\n"
    )
    lines = hidden.split(b"\n")
    assert lines[0] + b"\n" == clean
    assert orjson.loads(lines[1]) == {"password": "[REDACTED]", "n": [1]}
    assert lines[1].endswith(b"\r")
    assert lines[2] == b"caf\xe9 \xff\x00 ok"
    assert lines[3].startswith(b"token=[REDACTED]")
    assert [found.line for found in findings] == [2, 4]


def test_json_between_the_lines_of_a_private_span_is_dropped_with_it() -> None:
    assert run(b'<private>\n{"a": 1}\n</private>\nb\n')[0] == b"\nb\n"


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_pass_and_passing_twice_changes_nothing(data: bytes) -> None:
    once, _ = run(data)
    assert run(once) == (once, [])


def cli(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(["redact", *arguments])


def test_the_command_filters(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli(monkeypatch, b"a\npassword=hunter2\n\xff\n") == 0
    assert capfdbinary.readouterr().out == b"a\npassword=[REDACTED]\n\xff\n"


def test_check_says_where_but_not_what(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli(monkeypatch, b"a\npassword=hunter2\n", "--check") == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "line 2: named" in err
    assert "hunter2" not in err


def test_check_as_json(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli(monkeypatch, b"a\npassword=hunter2\n", "--check", "--json") == 1
    assert orjson.loads(capfd.readouterr().out) == {"findings": [{"kind": "named", "line": 2}]}
    assert cli(monkeypatch, b"the token budget\n", "--check", "--json") == 0
    assert orjson.loads(capfd.readouterr().out) == {"findings": []}


def test_json_without_check_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli(monkeypatch, b"", "--json") == 2
    assert "hint:" in capfd.readouterr().err
