"""brain.db for whoever uses the library, as README says: written through where it exists, made where that is forced."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

import jsonlstore
from jsonlstore.compat import SessionManager
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

WHERE = ("workspace", "memory", "brain.db")


def settings(state_dir: Path, **given: Any) -> None:
    state_dir.mkdir(parents=True, exist_ok=True)
    document = {"plugins": {"entries": {"jsonlstore": {"config": given}}}}
    (state_dir / "openclaw.json").write_text(json.dumps(document))


def rows(path: Path) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT id, channel, hot_topics FROM session_states").fetchall()


@pytest.fixture
def brain_db(tmp_path: Path) -> Path:
    path = tmp_path.joinpath(*WHERE)
    path.parent.mkdir(parents=True)
    SessionManager(path)
    return path


def use(state_dir: Path) -> None:
    """README's example."""
    store = jsonlstore.SessionStore.open(state_dir)
    store.start("my-session", channel="cli")
    store.update("my-session", {"hot_topics": ["ham radio"]})
    store.end("my-session", reason="new")


def test_a_library_users_store_writes_through_to_an_existing_brain_db(tmp_path: Path, brain_db: Path) -> None:
    use(tmp_path)
    assert rows(brain_db) == [("my-session", "cli", '["ham radio"]')]


def test_and_leaves_it_alone_where_that_is_switched_off(tmp_path: Path, brain_db: Path) -> None:
    settings(tmp_path, brain_db={"enabled": False})
    use(tmp_path)
    assert rows(brain_db) == []


def test_where_there_is_none_the_library_makes_none(tmp_path: Path) -> None:
    use(tmp_path)
    assert not tmp_path.joinpath(*WHERE).exists()


def test_where_it_is_forced_file_and_table_are_made(tmp_path: Path) -> None:
    settings(tmp_path, brain_db={"enabled": True})
    use(tmp_path)
    assert rows(tmp_path.joinpath(*WHERE)) == [("my-session", "cli", '["ham radio"]')]


def test_a_hook_makes_file_and_table_as_well(home: Home) -> None:
    settings(home.path, brain_db={"enabled": True})
    home.hook("session-start", session_id="s", channel="cli")
    assert [row[0] for row in rows(home.path.joinpath(*WHERE))] == ["s"]


def test_a_library_users_manager_reads_the_confidence_of_memories(tmp_path: Path, brain_db: Path) -> None:
    with sqlite3.connect(brain_db) as connection:
        connection.execute("CREATE TABLE stm (id TEXT PRIMARY KEY, content TEXT, confidence REAL)")
        connection.execute("INSERT INTO stm VALUES ('m-1', 'x', 0.5)")
    store = jsonlstore.SessionStore.open(tmp_path)
    store.start("a", channel="cli")
    store.end("a", {"recent_learnings": ["m-1", "m-2"], "hot_topics": ["x"]}, reason="new")
    manager = jsonlstore.SessionPersistenceManager(store, jsonlstore.Config())
    found = {one.memory_id: one.original_confidence for one in manager.on_session_start("b", "cli").memories}
    assert found == {"m-1": 0.5, "m-2": 1.0}


def test_the_command_line_writes_each_change_once(home: Home, brain_db: Path) -> None:
    """It puts its own stores together: a library user in the same process changes nothing about that."""
    from jsonlstore.cli.app import App

    assert jsonlstore.SessionStore is not None
    store = App(brain_db.parents[2]).open_store()
    assert sum(type(one).__name__ == "BrainDbSync" for one in store.listeners) == 1
