"""The functional set of cortex-api section 5: its names, its shapes, and that it erases nothing."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

from jsonlstore import compat
from jsonlstore.restore import DecayEngine
from jsonlstore.signals.topics import HotTopicExtractor

if TYPE_CHECKING:
    from tests.home import Home


def test_api_5_the_functional_set(home: Home) -> None:
    store = home.store
    compat.save_session_state(
        store,
        {"session_id": "a", "start_time": "2026-11-10T08:00:00Z", "end_time": "2026-11-10T09:00:00Z", "channel": "cli",
         "hot_topics": ["x"], "continued_by": "b"},
    )  # fmt: skip
    compat.save_session_state(
        store, {"session_id": "b", "start_time": "2026-11-10T09:30:00Z", "previous_session_id": "a"}
    )
    compat.save_session_state(store, {"session_id": "a", "active_projects": ["p"]})
    state = store.get("a")
    assert (state.hot_topics, state.active_projects, state.continued_by) == (("x",), ("p",), "b"), (
        "an upsert erases nothing"
    )
    assert [one.session_id for one in compat.get_recent_sessions(store, 7)] == ["a"]
    compat.mark_session_continued(store, "a", "c")
    assert store.get("a").continued_by == "c"
    assert store.folded("a").continued == ["b", "c"]
    home.later(hours=3)
    assert [one.session_id for one in compat.detect_crashed_sessions(store)] == ["b"]
    assert compat.detect_crashed_sessions(store, "b") == []
    assert compat.recover_crashed_session(store, "b")
    assert store.get("b").crash_recovered
    assert not compat.recover_crashed_session(store, "b")
    store.update("b", {"channel": "cli"})
    assert [one.session_id for one in compat.get_session_chain(store, "b", 5)] == ["a", "b"]


def test_every_name_of_the_documents_is_exported() -> None:
    """Whoever knows Cortex finds its names here, each documented."""
    assert {
        "ContextScorer", "DecayEngine", "HotTopicExtractor", "PreambleInjector", "SessionCapture", "SessionManager",
        "SessionPersistenceManager", "SessionRestorer", "apply_decay", "should_inherit", "save_session_state",
        "get_recent_sessions", "mark_session_continued", "detect_crashed_sessions", "recover_crashed_session",
        "get_session_chain",
    } == set(compat.__all__)  # fmt: skip
    assert all(inspect.getdoc(getattr(compat, name)) for name in compat.__all__)
    assert compat.HotTopicExtractor is HotTopicExtractor


def test_the_decay_functions_are_the_decay_engine() -> None:
    """`apply_decay` and `should_inherit` are the engine's own, not a second formula."""
    assert compat.apply_decay(1.0, 48) == DecayEngine.apply_decay(1.0, 48) == pytest.approx(0.886, abs=1e-3)
    assert compat.should_inherit(0.5, 168)
    assert not compat.should_inherit(0.3, 200)
