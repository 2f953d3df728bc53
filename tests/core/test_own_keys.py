"""Keys of our own sessions say what OpenClaw's say, and are nobody else's by mistake."""

from __future__ import annotations

import pytest

from jsonlstore.core.session_key import agent_of, channel_of, names_a_peer, skip_reason, window_of


def test_a_key_of_ours_names_agent_channel_and_kind() -> None:
    """`jsonlstore:<agent>:<channel>:…`, as `agent:<agent>:<channel>:…`."""
    assert agent_of(None, "jsonlstore:fox:telegram:7") == "fox"
    assert channel_of({}, "jsonlstore:fox:telegram:7") == "telegram"
    assert skip_reason("jsonlstore:fox:temp:x") == "temp"
    assert skip_reason("jsonlstore:fox:main") is None


@pytest.mark.parametrize(
    ("key", "is_peers"), [("jsonlstore:fox:main", False), ("jsonlstore:fox:bob", True), ("jsonlstore:fox:main:x", True)]
)
def test_only_the_main_conversation_is_nobodys_in_particular(key: str, is_peers: bool) -> None:
    """An agent may name a conversation after a person, so any other name counts as somebody's."""
    assert names_a_peer(key) is is_peers


@pytest.mark.parametrize("value", [None, True, -5, 0, "200000", 2.5])
def test_a_window_is_a_positive_whole_number(value: object) -> None:
    """Anything else is no window."""
    assert window_of({"contextTokens": value}) is None
    assert window_of({"contextTokens": 8000}) == 8000
