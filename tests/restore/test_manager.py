"""cortex-api 3.2 and 5: the manager from many threads, as a public name, and the functional set."""

from __future__ import annotations

import threading

import pytest

import jsonlstore
from jsonlstore import Config, SessionPersistenceManager, SessionStore
from jsonlstore.core.errors import UsageError
from tests.home import Home, task


def test_cli_md_library_example() -> None:
    store = SessionStore.in_memory()
    manager = SessionPersistenceManager(store, Config())
    context = manager.on_session_start("first", "cli")
    assert isinstance(context, jsonlstore.RestoredSessionContext)
    assert manager.update_session_state(hot_topics=["radio"])
    state = manager.on_session_end("first")
    assert state is not None
    assert manager.on_session_start("second", "cli").session_ids == ("first",)


def test_many_threads_lose_nothing(home: Home) -> None:
    manager = home.manager()
    problems: list[BaseException] = []

    def live(number: int) -> None:
        try:
            for turn in range(5):
                manager.update_session_state(session_id=f"s{number}", channel="cli", hot_topics=[f"t{number}-{turn}"])
            manager.on_session_end(f"s{number}", pending_tasks=[task(number)])
        except BaseException as problem:  # noqa: BLE001 - shown by the assertion below
            problems.append(problem)

    threads = [threading.Thread(target=live, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    for number in range(8):
        state = home.store.get(f"s{number}")
        assert state.hot_topics == (f"t{number}-4",)
        assert state.pending_tasks[0].task_id == f"task-{number:03d}"
    assert len(home.metrics("session_captured")) == 8
    assert home.store.metrics.verify().ok


def test_two_starts_at_once_inherit_once(home: Home) -> None:
    home.past("a", working_memory=[{"content": "c", "label": "p"}], hot_topics=["x"])
    threads = [
        threading.Thread(target=home.manager(restore_budget_ms=10000).on_session_start, args=("new", "cli"))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(home.pinned()) == 1
    assert home.store.folded("a").continued == ["new"]


def test_unknown_arguments_and_ids_are_usage_errors(home: Home) -> None:
    with pytest.raises(UsageError):
        home.manager().on_session_start("a", "cli", colour="red")
    with pytest.raises(UsageError):
        home.manager().on_session_start("../a", "cli")
    with pytest.raises(UsageError):
        home.manager().on_session_end()
