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
    assert issubclass(compat.HotTopicExtractor, HotTopicExtractor)


@pytest.mark.parametrize("spelt", ["get_current_topics", "getCurrentTopics"])
def test_the_extractor_has_every_name_of_the_documents(spelt: str) -> None:
    """cortex-api 3.5 and cortex-design 5.7, in their spelling and in Python's; both are the signals' own methods."""
    ours = HotTopicExtractor(["valve"])
    theirs = compat.HotTopicExtractor({"stopwords": ["valve"]})
    for one, prefix in ((ours, ""), (theirs, spelt)):
        snake = not prefix.startswith("getC")
        text, label = (
            (one.record_text, one.record_working_memory_label)
            if snake
            else (one.recordText, one.recordWorkingMemoryLabel)
        )  # type: ignore[attr-defined]
        text("the antenna tuner and the antenna relay, and a valve")
        label("ft991a")
        (one.record_learning_id if snake else one.recordLearningId)("m-1")  # type: ignore[attr-defined]
        (one.record_exec_workdir if snake else one.recordExecWorkdir)("/home/ann/Projects/lbf-ham-radio")  # type: ignore[attr-defined]
    named = getattr(theirs, spelt)
    assert named(5) == ours.current_topics(5) == theirs.get_top_n(5) == theirs.getTopN(5)
    assert "valve" not in named()
    assert theirs.get_all_learning_ids() == theirs.get_recent_learning_ids() == theirs.getAllLearningIds() == ["m-1"]
    assert theirs.get_active_projects() == theirs.getActiveProjects() == ours.active_projects() == ["lbf-ham-radio"]
    assert theirs.get_frequency_map() == theirs.getFrequencyMap() == ours.frequency_map()
    documented = {
        "recordToolCall", "recordMemoryAccess", "recordWorkingMemoryLabel", "recordExecWorkdir", "recordSynapseSubject",
        "recordSynapseSignal", "recordLearningId", "recordText", "getCurrentTopics", "getActiveProjects",
        "getRecentLearningIds", "getTopN", "getFrequencyMap",
    }  # fmt: skip
    for name in documented:
        snake_name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
        assert callable(getattr(theirs, name))
        assert callable(getattr(theirs, snake_name))


def test_the_decay_functions_are_the_decay_engine() -> None:
    """`apply_decay` and `should_inherit` are the engine's own, not a second formula."""
    assert compat.apply_decay(1.0, 48) == DecayEngine.apply_decay(1.0, 48) == pytest.approx(0.886, abs=1e-3)
    assert compat.should_inherit(0.5, 168)
    assert not compat.should_inherit(0.3, 200)
