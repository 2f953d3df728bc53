"""The budget of a text: real text is read whole, hostile text is dropped, never kept as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from jsonlstore.redact import redact, redact_text

ROOT = Path(__file__).resolve().parents[2]


def test_source_code_about_nothing_but_secrets_is_read_whole() -> None:
    """The densest text at hand: our own rules, each file as it is."""
    for path in sorted((ROOT / "jsonlstore" / "redact").rglob("*.py")):
        assert "unread" not in {found.kind for found in redact(path.read_text())[1]}


@pytest.mark.parametrize("room", ["store", "watch", "cli", "restore"])
def test_a_megabyte_of_source_code_is_read_whole(room: str) -> None:
    """A long message is not cut off because its code speaks of keys and tokens now and then."""
    source = "".join(path.read_text() for path in sorted((ROOT / "jsonlstore" / room).rglob("*.py")))
    text = (source.replace("private>", "privat>") * (1_000_000 // len(source) + 1))[:1_000_000]
    assert "unread" not in {found.kind for found in redact(text)[1]}


@pytest.mark.parametrize("fragment", ["token= ", 'x-auth"+"', "key=a\n", "-chave ", "password\t="])
def test_a_megabyte_of_triggers_leaves_nothing_unread_as_it_was(fragment: str) -> None:
    """A secret behind more triggers than anybody writes is hidden or dropped with them."""
    secret = "hunter2-Zk19ddQp03xx"
    assert secret not in redact_text(fragment * (1_000_000 // len(fragment)) + f"\npassword={secret}\n")
