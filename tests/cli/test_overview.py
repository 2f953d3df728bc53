"""The overview names what was worked on lately, and never fails for one bad session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.cli.overview import overview

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore
    from tests.conftest import FakeClock


def session(store: SessionStore, name: str, project: str, *tasks: str) -> None:
    store.start(name, channel="cli")
    pending = [{"task_id": task, "title": f"do {task}", "stage": "build"} for task in tasks]
    store.update(name, {"active_projects": [project], "hot_topics": [f"{name} topic"], "pending_tasks": pending})


def test_an_empty_store_has_nothing_to_say(store: SessionStore) -> None:
    found = overview(store)
    assert (found.sessions, found.projects, found.tasks, found.last) == (0, (), (), ())


def test_most_worked_on_projects_come_first_and_newest_sessions_and_tasks(
    store: SessionStore, clock: FakeClock
) -> None:
    for number, project in enumerate(["radio", "garden", "radio", "boat"]):
        session(store, f"s{number}", project, f"task-{number}", "task-shared")
        store.end(f"s{number}", reason="new")
        clock.advance(hours=1)
    found = overview(store, tasks=3, sessions=2)
    assert found.sessions == 4
    assert found.projects[0] == "radio"
    assert [one.session_id for one in found.last] == ["s3", "s2"]
    assert [one.task_id for one in found.tasks] == ["task-3", "task-shared", "task-2"]
    assert found.tasks[1].session_id == "s3"


def test_a_session_whose_log_is_gone_is_passed_over(store: SessionStore) -> None:
    session(store, "here", "radio", "task-1")
    session(store, "gone", "radio", "task-2")
    store.end("here", reason="new")
    store.end("gone", reason="new")
    store.entries()
    store.paths.log("gone").write_bytes(b"")
    assert "task-1" in [one.task_id for one in overview(store).tasks]
