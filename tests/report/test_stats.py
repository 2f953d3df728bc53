"""`stats` counts what is kept, once each, and says nothing where nothing is known."""

from __future__ import annotations

import json
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.context import TranscriptStore
from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.files import Disk
from jsonlstore.core.model import SessionState
from jsonlstore.report import Statistics, count_history, read_history
from jsonlstore.report.statistics import _monday, _topics, _weeks
from jsonlstore.restore import Pipeline
from tests.context.conftest import assistant, user
from tests.home import START, task

if TYPE_CHECKING:
    from datetime import datetime

    from tests.home import Home


def counted(home: Home, **chosen: Any) -> Statistics:
    store = home.store
    return count_history(read_history(store, Pipeline.read(store.paths, Config()), home.now, **chosen))


MOMENTS = st.timedeltas(timedelta(0), timedelta(days=900)).map(lambda age: START - age)


@given(st.lists(MOMENTS, max_size=30))
def test_every_session_is_in_one_week_and_no_week_is_left_out(starts: list[datetime]) -> None:
    """The weeks add up to the sessions, begin on Mondays, follow each other and reach until now."""
    weeks = _weeks([format_time(one) for one in starts], START)
    assert sum(week["sessions"] for week in weeks) == len(starts)
    days = [date.fromisoformat(week["week"]) for week in weeks]
    assert all(day.weekday() == 0 for day in days)
    assert all(later - day == timedelta(days=7) for day, later in pairwise(days))
    assert bool(days) == bool(starts)
    if days:
        assert days[-1].isoformat() == _monday(format_time(START))


def test_a_time_nobody_can_read_is_in_no_week() -> None:
    """A damaged start is left out and breaks nothing."""
    assert _weeks(["", "yesterday"], START) == []


def test_a_clock_that_was_wrong_once_does_not_fill_the_list() -> None:
    """With thousands of years between two sessions, only their weeks are listed."""
    weeks = _weeks(["0003-01-01T00:00:00.000Z", format_time(START)], START)
    assert [week["sessions"] for week in weeks] == [1, 1]


def test_projects_tasks_and_tokens(home: Home) -> None:
    """A task counts once, from the first session that had it; one reported as done is not open."""
    home.past("one", active_projects=["radio"], pending_tasks=[task(1), task(2)])
    home.later(days=9)
    done = {"id": "n", "type": "accomplishment", "content": "task-002 is done", "confidence": 0.9}
    home.past("two", active_projects=["radio", "kite"], pending_tasks=[task(1)], notes=[done])
    home.later(hours=2)
    home.past("three", pending_tasks=[task(3)], tokens={"used": 1500, "window": 2000, "estimated": False})
    found = counted(home, compactions={"three": 2})
    assert found.sessions == {"total": 3, "open": 0, "crashed": 0, "unreadable": 0}
    assert [(row["project"], row["sessions"]) for row in found.projects] == [("radio", 2), ("kite", 1)]
    assert found.open_tasks["by_age"] == {"up to a day": 1, "up to a week": 0, "up to a month": 1, "older": 0}
    assert [row["task_id"] for row in found.open_tasks["tasks"]] == ["task-001", "task-003"]
    assert found.open_tasks["tasks"][0]["age_days"] == 9.1
    assert found.tokens["per_session"] == [
        {"session_id": "three", "used": 1500, "window": 2000, "estimated": False, "compactions": 2}
    ]
    assert (found.tokens["median"], found.tokens["largest"], found.tokens["compactions"]) == (1500, 1500, 2)


def test_days_leave_out_what_ended_before(home: Home) -> None:
    """A session counts if it was alive in the last days; what is still open always is."""
    home.past("old", active_projects=["radio"])
    home.store.start("open", channel="cli")
    home.later(days=10)
    home.past("new")
    found = counted(home, days=7)
    assert found.sessions == {"total": 2, "open": 1, "crashed": 0, "unreadable": 0}
    assert found.projects == []


def test_an_empty_store(home: Home) -> None:
    """Nothing kept is no error, and numbers that do not exist are null."""
    document = json.loads(home.run("stats", "--json", "--now", format_time(home.now)).stdout)
    assert document["sessions"]["total"] == 0
    assert document["weeks"] == []
    assert document["tokens"]["median"] is None
    assert "jsonlstore backfill" in home.run("stats").stderr


def test_compactions_come_from_the_runtimes_own_count(home: Home) -> None:
    """An agent's session that was compacted says so; one whose runtime does not count says null."""
    home.path.mkdir(parents=True)
    with TranscriptStore.open(home.path, disk=Disk(sync=False)) as store:
        for key in ("jsonlstore:fox:main", "jsonlstore:owl:main"):
            store.append(key, user("Please mend the greenhouse."))
            kept = store.append(key, assistant("It is mended."))
        record = {"type": "compaction", "summary": "Panes.", "firstKeptEntryId": kept, "tokensBefore": 900}
        store.append("jsonlstore:owl:main", record)
        ids = {one.key: one.session_id for one in store.list()}
    home.run("watch", "--once")
    rows = json.loads(home.run("stats", "--json").stdout)["tokens"]["per_session"]
    times = {row["session_id"]: row["compactions"] for row in rows}
    assert times == {ids["jsonlstore:fox:main"]: None, ids["jsonlstore:owl:main"]: 1}
    assert "compacted 1 time" in " ".join(home.run("stats").stdout.split())


def test_a_topic_counts_once_a_session_in_the_week_it_began(home: Home) -> None:
    """Case does not make two topics of one, and weeks without it are not listed."""
    home.past("one", hot_topics=["Radio", "kite"])
    home.later(days=14)
    home.past("two", hot_topics=["radio"])
    first, second = counted(home).topics
    assert (first["topic"], first["sessions"], second["topic"]) == ("radio", 2, "kite")
    assert first["weeks"] == {"2026-11-09": 1, "2026-11-23": 1}
    shown = home.run("stats", "--now", format_time(home.now), env={"TZ": "UTC"}).stdout
    assert "radio                       2  █ █" in shown


@given(st.lists(st.tuples(MOMENTS, st.lists(st.sampled_from("abcDdA"), max_size=9)), max_size=20))
def test_the_weeks_of_a_topic_add_up_to_its_sessions(drawn: list[tuple[datetime, list[str]]]) -> None:
    """Each session is in one week of each of its topics."""
    states = [
        SessionState(f"s{number}", format_time(at), hot_topics=tuple(topics))
        for number, (at, topics) in enumerate(drawn)
    ]
    for row in _topics(states):
        assert sum(row["weeks"].values()) == row["sessions"]
        assert row["sessions"] == sum(row["topic"] in (one.lower() for one in state.hot_topics[:8]) for state in states)


def test_restores_and_flushes_are_counted_from_the_logs(home: Home) -> None:
    """Also those of an archived session; an event of another shape counts and adds nothing."""
    home.past("one")
    home.store.note("one", "session.inherited", {"from": ["zero"], "scores": [0.5], "pins": 2, "tasks": ["a", "b"]})
    home.store.note("one", "session.inherited", {"from": "?", "scores": ["?"], "pins": "?", "tasks": 3, "forced": True})
    home.store.note("one", "flush.offered", {"percent": 50})
    home.store.note("one", "flush.offered", {"percent": 75})
    home.store.note("one", "flush.actioned", {})
    for _ in range(2):
        found = counted(home)
        assert found.restores == {
            "total": 2, "sessions": 1, "by_hand": 1, "pins": 2, "tasks": 2, "arrived": 0, "missed": 0,
        }  # fmt: skip
        assert found.flushes == {"offered": 2, "actioned": 1}
        home.store.archive("one")


def test_whether_a_restore_arrived_is_what_the_plugin_saw(home: Home) -> None:
    """Seen or missed after it was given; a look from before, or none, confirms nothing."""
    for name in ("seen", "missed", "early", "never"):
        home.past(name)
        home.store.note(name, "session.inherited", {"from": ["zero"], "pins": 0, "tasks": []})
    later, before = format_time(home.now + timedelta(minutes=1)), "2020-01-01T00:00:00.000Z"
    looks = {
        "seen": {"given_at": later, "seen_at": later, "missed_at": before},
        "missed": {"given_at": later, "seen_at": None, "missed_at": later},
        "early": {"given_at": before, "seen_at": before, "missed_at": None},
        "odd": ["?"],
    }
    home.store.paths.plugin_heartbeat.write_text(json.dumps({"deliveries": looks}))
    found = json.loads(home.run("stats", "--json", "--now", "2026-11-18T00:00:00Z").stdout)["restores"]
    assert (found["total"], found["arrived"], found["missed"]) == (4, 1, 1)
    home.run("report", str(home.path / "report.html"), "--now", "2026-11-18T00:00:00Z")
    page = (home.path / "report.html").read_text()
    assert [page.count(f'class="arrived-{one}"') for one in ("yes", "no", "unconfirmed")] == [1, 1, 2]


def test_a_project_leaves_out_the_others(home: Home) -> None:
    """By its name, whatever its case."""
    home.past("one", active_projects=["Radio"])
    home.past("two", active_projects=["kite"])
    document = json.loads(home.run("stats", "--project", "radio", "--json").stdout)
    assert (document["sessions"]["total"], document["project"]) == (1, "radio")
    assert "no session fits these options" in home.run("stats", "--project", "chess").stderr


def test_a_log_that_cannot_be_read_is_counted_as_such(home: Home) -> None:
    """The session stays in the count, and the rest is told all the same."""
    home.past("one", active_projects=["radio"])
    home.past("two")
    log = home.store.paths.archived_log("two", home.store.archive("two"))
    log.unlink()
    log.mkdir()
    found = counted(home)
    assert (found.sessions["total"], found.sessions["unreadable"]) == (2, 1)
    assert found.projects[0]["sessions"] == 1
