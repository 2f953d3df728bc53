"""`recall` finds the session that was meant, says why, and reads no more than it must."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsonlstore.recall.match import Prefilter, normalise, terms_of, words_of
from jsonlstore.recall.question import Question, read_question
from jsonlstore.recall.search import RecallResult, recall
from jsonlstore.recall.when import Interval
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from tests.home import Home

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)  # a monday


def ask(home: Home, text: str, zone: Any = UTC, **options: Any) -> RecallResult:
    return recall(home.store, read_question([text], NOW, zone), now=NOW, zone=zone, **options)


def ids(found: RecallResult) -> list[str]:
    return [one.state.session_id for one in found.found]


@pytest.fixture
def week(home: Home) -> Home:
    """A week of work: one session a day, tuesday to saturday, from 14:00 on."""
    sessions: list[tuple[str, dict[str, Any]]] = [
        ("radio", {"hot_topics": ["ft991a", "ham radio"], "active_projects": ["lbf-ham-radio"],
                   "pending_tasks": [{"task_id": "task-017", "title": "CAT control for the FT-991A", "stage": "build"}],
                   "next_step": "solder the PTT line"}),
        ("website", {"hot_topics": ["css grid", "footer"], "active_projects": ["club-website"]}),
        ("funk", {"hot_topics": ["Funkgerät"], "last_topic": "Antennenbau",
                  "notes": [{"id": "n", "type": "decision", "content": "Straße statt Wald", "confidence": 0.9}]}),
        ("denpa", {"hot_topics": ["電波", "自作アンテナ"], "recent_learnings": ["アンテナの長さは波長の四分の一"]}),
        ("ratsiya", {"hot_topics": ["рация"], "working_memory": [
            {"content": "batteries: two, 12 V", "pinnedAt": "2026-11-14T14:00:00.000Z", "label": "power"}]}),
    ]  # fmt: skip
    for number, (session_id, fields) in enumerate(sessions):
        home.now = datetime(2026, 11, 10 + number, 14, 2, tzinfo=UTC)
        home.past(session_id, minutes=88, agent_id="main", **fields)
    home.now = NOW
    return home


def test_last_tuesday_is_last_tuesday(week: Home) -> None:
    found = ask(week, "what was I working on last Tuesday?")
    assert ids(found) == ["radio"]
    assert found.found[0].why == "tuesday 14:02-15:30"


def test_an_answer_says_what_matched_and_where(week: Home) -> None:
    found = ask(week, "last tuesday ft991a")
    assert found.found[0].why == "tuesday 14:02-15:30; topic 'ft991a'; task 'CAT control for the FT-991A'"
    assert ask(week, "task-017").found[0].why.endswith("task 'task-017'")


@pytest.mark.parametrize(
    ("words", "session"),
    [
        ("radios", "radio"), ("FT-991A", "radio"), ("ft991", "radio"), ("soldering", "radio"), ("club", "website"),
        ("funkgerat", "funk"), ("FUNKGERÄTE", "funk"), ("strasse", "funk"), ("antenne", "funk"), ("decision", "funk"),
        ("電波", "denpa"), ("アンテナ", "denpa"), ("波長", "denpa"), ("рации", "ratsiya"), ("РАЦИЯ", "ratsiya"),
        ("battery", "ratsiya"), ("power", "ratsiya"),
    ],
)  # fmt: skip
def test_words_are_found_in_every_field_and_script(week: Home, words: str, session: str) -> None:
    assert ids(ask(week, words))[:1] == [session]


def test_a_rare_word_outweighs_a_common_one(home: Home) -> None:
    for number in range(6):
        home.past(f"s{number}", hot_topics=["openclaw", "zinc" if number == 0 else "copper"])
        home.later(days=1)
    assert ids(ask(home, "openclaw zinc"))[0] == "s0"


def test_an_archived_session_is_found_by_time_and_by_words(week: Home) -> None:
    week.store.archive("radio")
    assert ids(ask(week, "last tuesday")) == ["radio"]
    assert ids(ask(week, "solder")) == ["radio"]
    assert ids(ask(week, "ham")) == ["radio"]


def test_a_session_that_only_touches_the_day_counts_but_comes_after_one_that_filled_it(home: Home) -> None:
    home.now = datetime(2026, 11, 9, 23, 30, tzinfo=UTC)
    home.past("over-midnight", minutes=60, hot_topics=["x"])
    home.past("of-the-day", minutes=60, hot_topics=["y"])
    assert ids(ask(home, "last tuesday")) == ["of-the-day", "over-midnight"]
    assert ids(ask(home, "2026-11-09")) == ["over-midnight"]


def test_the_day_is_the_asker_s(home: Home) -> None:
    home.now = datetime(2026, 11, 10, 2, 0, tzinfo=UTC)  # monday evening in New York
    home.past("late", minutes=30)
    assert ids(ask(home, "2026-11-10")) == ["late"]
    assert ids(ask(home, "2026-11-10", ZoneInfo("America/New_York"))) == []
    assert ids(ask(home, "2026-11-09", ZoneInfo("America/New_York"))) == ["late"]


def test_an_open_session_counts_up_to_its_last_sign_of_life(home: Home) -> None:
    home.now = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
    home.store.start("open", channel="cli")
    home.later(hours=2)
    home.store.update("open", {"hot_topics": ["late topic"]})
    home.now = NOW
    assert ids(ask(home, "last tuesday late")) == ["open"]
    assert ids(ask(home, "last wednesday")) == []


def test_nothing_found_offers_the_same_words_at_another_time_then_the_closest(week: Home) -> None:
    elsewhere = ask(week, "last month radio")
    assert (elsewhere.found, elsewhere.nearest[0].state.session_id) == ((), "radio")
    closest = ask(week, "2026-11-09")
    assert closest.found == ()
    assert [one.state.session_id for one in closest.nearest] == ["radio", "website", "funk"]
    assert len(ask(week, "zebra").nearest) == 3


def test_without_a_question_the_latest_come_first(week: Home) -> None:
    assert ids(ask(week, "")) == ["ratsiya", "denpa", "funk", "website", "radio"]
    assert len(ids(ask(week, "", limit=2))) == 2


def test_project_and_agent_narrow_the_search(week: Home) -> None:
    assert ids(ask(week, "", project="LBF-ham-radio")) == ["radio"]
    assert ids(ask(week, "", project="website")) == ["website"]
    week.past("site", active_projects=["website"])
    assert ids(ask(week, "", project="website")) == ["site"]
    assert ids(ask(week, "", agent="nobody")) == []
    assert len(ids(ask(week, "", agent="main"))) == 6


def test_what_started_after_now_has_not_happened(week: Home) -> None:
    earlier = datetime(2026, 11, 12, 0, 0, tzinfo=UTC)
    found = recall(week.store, read_question([], earlier, UTC), now=earlier)
    assert set(ids(found)) == {"radio", "website"}


def test_a_forgotten_session_is_not_recalled(week: Home) -> None:
    week.store.forget("radio")
    assert ids(ask(week, "solder ft991a")) == []
    assert ids(ask(week, "last tuesday")) == []


TEXT = st.text(st.sampled_from("abcdeyisßäöéйия電波アンテナ안테나-_.'/ 12"), max_size=14) | st.text(max_size=10)


@example(["11y"], "11ys")
@example(["11"], "1__1_1")
@example(["y"], "\rY")
@example(["1"], "1ア")
@given(st.lists(TEXT, min_size=1, max_size=3), TEXT)
def test_the_sieve_lets_everything_through_that_matches(words: list[str], text: str) -> None:
    terms = terms_of(tuple(words))
    hits = Prefilter(terms).hits(orjson.dumps({"content": text}))
    folded = normalise(text)
    for number, term in enumerate(terms):
        quality = term.quality(folded, words_of(folded))
        assert 0.0 <= quality <= 1.0
        if quality:
            assert hits.get(number, 0.0) >= quality, (term, text)


@given(TEXT)
def test_a_word_matches_itself(word: str) -> None:
    for term in terms_of((word,)):
        assert term.quality(normalise(word), words_of(normalise(word))) == 1.0


WORD = st.sampled_from(["radio", "radios", "zinc", "zincs", "antenna", "電波", "grid"])
STATE = st.fixed_dictionaries(
    {
        "hot_topics": st.lists(WORD, max_size=3),
        "active_projects": st.lists(WORD, max_size=1),
        "recent_learnings": st.lists(WORD, max_size=2),
        "next_step": WORD,
    }
)


@given(
    st.lists(st.tuples(STATE, st.integers(0, 5000), st.integers(0, 600)), min_size=1, max_size=8),
    st.lists(WORD, max_size=2),
    st.none() | st.integers(0, 80),
    st.integers(1, 4),
)
def test_fewer_answers_are_the_first_of_more(
    sessions: list[tuple[dict[str, Any], int, int]], words: list[str], day: int | None, limit: int
) -> None:
    moment = NOW
    store = SessionStore.in_memory(clock=lambda: moment)
    for number, (state, back, minutes) in enumerate(sessions):
        moment = NOW - timedelta(minutes=20 * back + 601)
        store.start(f"s{number}", channel="cli")
        moment += timedelta(minutes=minutes)
        store.end(f"s{number}", state, reason="new")
    start = NOW - timedelta(days=day or 0)
    when = None if day is None else Interval(start, start + timedelta(days=7), "")
    question = Question(when, tuple(words))
    all_of_them = recall(store, question, now=NOW, zone=UTC, limit=100).found
    assert recall(store, question, now=NOW, zone=UTC, limit=limit).found == all_of_them[:limit]
    scores = [one.score for one in all_of_them]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    if when is not None:
        assert all(when.overlaps(one.start, one.end) for one in all_of_them)


def test_the_command_prints_the_documented_keys(week: Home) -> None:
    done = week.run("recall", "last", "tuesday", "radio", "--now", "2026-11-16T12:00:00Z", "--json", env={"TZ": "UTC"})
    (row,) = json.loads(done.stdout)
    assert set(row) == {
        "session_id", "start_time", "end_time", "score", "why", "hot_topics", "active_projects", "pending_tasks",
        "agent_id", "passages",
    }  # fmt: skip
    assert (row["session_id"], row["agent_id"]) == ("radio", "main")
    assert row["pending_tasks"][0]["task_id"] == "task-017"


def test_the_command_uses_the_local_zone(home: Home) -> None:
    home.now = datetime(2026, 11, 10, 2, 0, tzinfo=UTC)
    home.past("late", minutes=30)
    for zone, expected in (("America/New_York", "monday 21:00-21:30"), ("UTC", "tuesday 02:00-02:30")):
        day = expected.split()[0]
        done = home.run("recall", day, "--now", "2026-11-12T12:00:00Z", "--json", env={"TZ": zone})
        assert [row["why"] for row in json.loads(done.stdout)] == [expected]


def test_the_command_says_what_it_searched_when_it_finds_nothing(week: Home) -> None:
    arguments = ("recall", "last", "month", "zebra", "--now", "2026-11-16T12:00:00Z")
    assert json.loads(week.run(*arguments, "--json").stdout) == []
    shown = week.run(*arguments, env={"TZ": "UTC"}).stdout
    assert "nothing found" in shown
    assert "last month (Thu 2026-10-01 to Sat 2026-10-31)" in shown
    assert '"zebra"' in shown
    assert "nearest" in shown


def test_words_behind_two_dashes_are_words(week: Home) -> None:
    now = ("--now", "2026-11-16T12:00:00Z", "--json")
    assert json.loads(week.run("recall", *now, "tuesday").stdout)
    assert json.loads(week.run("recall", *now, "--", "tuesday").stdout) == []


def test_an_empty_store_is_told_what_to_do_next(home: Home) -> None:
    assert "jsonlstore backfill" in home.run("recall", "yesterday").stdout
    assert json.loads(home.run("recall", "yesterday", "--json").stdout) == []


def test_tab_completes_times_and_the_projects_there_are(week: Home) -> None:
    def completed(*words: str) -> list[str]:
        line = {
            "_JSONLSTORE_COMPLETE": "bash_complete",
            "COMP_CWORD": str(len(words)),
            "OPENCLAW_STATE_DIR": str(week.path),
        }
        line["COMP_WORDS"] = " ".join(["jsonlstore", *words])
        done = subprocess.run(
            [sys.executable, "-c", "from jsonlstore.cli.main import cli; cli(prog_name='jsonlstore')"],
            env={**os.environ, **line}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return [found.partition(",")[2] for found in done.stdout.split()]

    assert completed("recall", "last", "tu") == ["tuesday"]
    assert completed("recall", "--project", "l") == ["lbf-ham-radio"]
