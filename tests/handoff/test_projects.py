"""Projects: inferred or set, they filter what is noted and what is offered, and go on with a resume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.handoff import ProjectContext, capture, kept_handoff, set_project
from tests.handoff.test_resume import KEY, LEFT, start, told
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

TUI = "agent:main:tui-4711"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path)
    found.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **LEFT)
    found.later(minutes=5)
    return found


def test_the_project_can_be_set_and_filters(home: Home) -> None:
    set_project(home.store, "a", ProjectContext("boat", started_at=home.store.now()))
    capture(home.store, "a", "command", now=home.now, expires_hours=24)
    found = kept_handoff(home.store.folded("a"))
    assert found is not None
    assert found.document.project == "boat"
    set_project(home.store, "a", ProjectContext("boat", handoff_enabled=False))
    assert capture(home.store, "a", "command", now=home.now, expires_hours=24) is None


def test_a_project_that_hands_nothing_over_is_not_offered_either(home: Home) -> None:
    """Nothing was captured, and a start does not make up for it."""
    set_project(home.store, "a", ProjectContext("radio", handoff_enabled=False))
    assert start(home, "b").handoff is None
    assert start(home, "c", resume="a").handoff is None, "nor when somebody insists"


def test_an_inactive_project_has_a_summary_and_no_patterns(home: Home) -> None:
    assert [note.id for note in captured(home).patterns] == ["d1"]
    set_project(home.store, "a", ProjectContext("radio", active=False))
    found = captured(home)
    assert found.patterns == ()
    assert found.summary.next_step == LEFT["next_step"]


def test_general_has_a_summary_and_no_patterns(home: Home) -> None:
    set_project(home.store, "a", ProjectContext("general"))
    found = captured(home)
    assert (found.project, found.patterns) == ("general", ())
    assert found.summary.decisions == ("use the copper wire",)
    assert "CURRENT PROJECT" not in told(start(home, "b").preamble)


def captured(home: Home) -> Any:
    capture(home.store, "a", "command", now=home.now, expires_hours=24)
    found = kept_handoff(home.store.folded("a"))
    assert found is not None
    return found.document


@pytest.mark.parametrize(
    ("cwd", "offered"),
    [("/home/u/src/radio", True), ("/home/u/src/Radio/lib", True), ("/home/u/src/boat", False), (None, True)],
)
def test_under_a_new_key_the_project_must_be_the_same(home: Home, cwd: str | None, offered: bool) -> None:
    """Where the directory says nothing of a project, nothing speaks against the last one."""
    settings = {"project_roots": ("/home/u/src",)}
    assert (start(home, "b", key=TUI, cwd=cwd, settings=settings).handoff is not None) == offered


def test_under_a_new_key_a_project_that_was_set_is_not_left_by_accident(home: Home) -> None:
    """A new conversation that names no project does not get one that somebody keeps apart."""
    set_project(home.store, "a", ProjectContext("radio"))
    assert start(home, "b", key=TUI).handoff is None


@pytest.mark.parametrize("key", ["agent:main:telegram:dm:7", "agent:main:whatsapp:group:x", "agent:other:tui-1"])
def test_a_key_of_somebody_or_of_another_agent_gets_nothing(home: Home, key: str) -> None:
    agent = key.split(":")[1]
    given = home.manager().on_session_start("b", "webchat", agent_id=agent, session_key=key)
    assert given.handoff is None


def test_a_resume_that_was_accepted_sets_the_project(home: Home) -> None:
    start(home, "b")
    assert ProjectContext.of(home.store.folded("b")) is None, "an offer is no answer"
    start(home, "c", resume="newest")
    found = ProjectContext.of(home.store.folded("c"))
    assert found is not None
    assert replace_started(found) == ProjectContext("radio")


def replace_started(project: ProjectContext) -> ProjectContext:
    return project._replace(started_at="")


def test_notes_of_another_project_are_not_handed_over(home: Home) -> None:
    boat = {"id": "d2", "type": "decision", "content": "paint the boat red", "confidence": 0.9, "project": "boat"}
    home.store.update("a", {"notes": [*LEFT["notes"], boat]})  # type: ignore[misc]
    assert told(start(home, "b").preamble)["DECISIONS"] == '"use the copper wire"'
