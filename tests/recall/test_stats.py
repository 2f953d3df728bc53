"""`stats` counts what is kept, once each, and says nothing where nothing is known."""

from __future__ import annotations

import json
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.context import TranscriptStore
from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.files import Disk
from jsonlstore.recall.stats import _monday, _weeks, statistics
from tests.context.conftest import assistant, user
from tests.home import START, task

if TYPE_CHECKING:
    from datetime import datetime

    from tests.home import Home

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


def test_projects_tasks_and_tokens(home: Home) -> None:
    """A task counts once, from the first session that had it; one reported as done is not open."""
    home.past("one", active_projects=["radio"], pending_tasks=[task(1), task(2)])
    home.later(days=9)
    done = {"id": "n", "type": "accomplishment", "content": "task-002 is done", "confidence": 0.9}
    home.past("two", active_projects=["radio", "kite"], pending_tasks=[task(1)], notes=[done])
    home.later(hours=2)
    home.past("three", pending_tasks=[task(3)], tokens={"used": 1500, "window": 2000, "estimated": False})
    found = statistics(home.store, Config(), home.now, compactions={"three": 2})
    assert found.sessions == {"total": 3, "open": 0, "crashed": 0}
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
    found = statistics(home.store, Config(), home.now, days=7)
    assert found.sessions == {"total": 2, "open": 1, "crashed": 0}
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
    counted = {row["session_id"]: row["compactions"] for row in rows}
    assert counted == {ids["jsonlstore:fox:main"]: None, ids["jsonlstore:owl:main"]: 1}
    assert "compacted 1 time" in " ".join(home.run("stats").stdout.split())
