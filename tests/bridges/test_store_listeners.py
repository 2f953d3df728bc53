"""What the bridge relies on: listeners hear of every change, and many changes cost one index."""

from __future__ import annotations

import pytest


def test_listeners_hear_of_archiving_and_forgetting_too(store):
    heard = []
    store.listeners.append(lambda session_id, folded: heard.append((session_id, folded.ended, folded.forgotten)))
    store.start("s-1")
    store.end("s-1")
    store.archive("s-1")
    store.forget("s-1")
    assert heard == [("s-1", False, False), ("s-1", True, False), ("s-1", True, False), ("s-1", False, True)]


def test_many_changes_write_the_index_once_and_right(store):
    store.start("before")
    index = store.paths.index.read_bytes()
    with store.index.batch():
        for number in range(20):
            store.start(f"s-{number}")
        with store.index.batch():
            store.end("s-3")
        assert store.paths.index.read_bytes() == index
    assert store.paths.index.read_bytes() == store.index.expected()
    assert len(list(store.entries())) == 21


def test_after_an_error_among_many_changes_the_next_reader_mends_the_index(store):
    def fail():
        with store.index.batch():
            store.start("s-1")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert [entry.session_id for entry in store.entries()] == ["s-1"]
    assert store.paths.index.read_bytes() == store.index.expected()
    store.start("s-2")
    assert store.paths.index.read_bytes() == store.index.expected()
