"""Tasks have a life: opened, closed by a later session or by hand, opened again; the last word counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.cli.main import main
from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.errors import UsageError
from jsonlstore.core.model import SessionState
from jsonlstore.restore import RestoreRequest, Scope, SessionPersistenceManager, TaskList, current_block
from jsonlstore.restore.block import items_of, without
from jsonlstore.restore.closings import Item, closed_items, closings_in
from jsonlstore.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 10, 9, tzinfo=UTC)
KEY = "agent:main:telegram:dm:1"
THREE = ["wire the relay for valve 2", "order the seals", "paint the box"]


def task(title: str, task_id: str | None = None) -> dict[str, Any]:
    from jsonlstore.signals import hash_id

    told = {"confidence": 0.9, "evidence": {"entry_ids": [], "kind": "user"}}
    return {"task_id": task_id or hash_id(title), "title": title, "stage": "", "flagged_incomplete": True, **told}


class History:
    """Sessions of conversations, an hour each."""

    def __init__(self, store: SessionStore) -> None:
        self.store, self.hours, self.count = store, 0, 0

    def session(self, key: str = KEY, *, by: str = "watcher", **fields: Any) -> str:
        self.count += 1
        self.hours += 1
        session_id = f"s{self.count:03}"
        at = START + timedelta(hours=self.hours)
        self.store.start(session_id, by=by, start_time=format_time(at), session_key=key, agent_id="main", channel="x")
        self.store.update(session_id, fields, by=by)
        self.store.end(session_id, reason="new", end_time=format_time(at + timedelta(minutes=30)), by=by)
        return session_id

    @property
    def now(self) -> datetime:
        return START + timedelta(hours=self.hours + 2)

    def restored(self, key: str = KEY, **settings_: Any) -> str:
        config = Config(max_sessions_scored=10, preamble_max_chars=20000, relevance_threshold=0.1, **settings_)
        manager = SessionPersistenceManager(self.store, config, clock=lambda: self.now)
        return manager.preview(RestoreRequest("", "x", "main", key)).preamble or ""


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(SessionStore.open(tmp_path))


@pytest.mark.parametrize("by", ["watcher", "hook"])
def test_what_a_later_session_closed_is_not_told_again(history: History, by: str) -> None:
    """The story: three tasks, then a statement, a tick and a label; the third session is told none, and no step."""
    history.session(pending_tasks=[task(one) for one in THREE], next_step="paint the box", by=by)
    assert all(title in history.restored() for title in THREE)
    said = ["I wired the relay for valve 2 today", "order the seals", "Done: paint the box"]
    history.session(closed=[{"title": one, "how": "said"} for one in said], hot_topics=["valves"], by=by)
    told = history.restored()
    assert not [title for title in THREE if title in told], told
    assert "NEXT STEP" not in told


def test_through_both_writers_at_once(history: History) -> None:
    """The hook told of the tasks, the watcher read that they are done."""
    history.session(pending_tasks=[task("paint the box", "task-7")], by="hook")
    second = history.session(pending_tasks=[], by="hook")
    history.store.update(second, {"closed": [{"title": "task-7 is done", "id": "task-7", "how": "said"}]}, by="watcher")
    assert "paint the box" not in history.restored()


def test_opened_again_and_closed_again(history: History) -> None:
    """The last session that speaks of a task decides."""
    shut = [{"title": "paint the box", "how": "ticked"}]
    history.session(pending_tasks=[task("paint the box")])
    history.session(closed=shut, hot_topics=["box"])
    history.session(pending_tasks=[task("paint the box")])
    assert "paint the box" in history.restored()
    history.session(closed=shut, hot_topics=["box"])
    assert "paint the box" not in history.restored()


def test_what_an_archived_session_closed_stays_closed(history: History) -> None:
    """Whoever archives after a day still has a lookback of seven."""
    history.session(pending_tasks=[task(one) for one in THREE], hot_topics=["box"])
    second = history.session(closed=[{"title": "paint the box", "how": "ticked"}], hot_topics=["box"])
    history.store.archive(second)
    told = history.restored()
    assert "paint the box" not in told
    assert "order the seals" in told


def test_another_number_is_another_task(history: History) -> None:
    """`valve 3` is done says nothing of `valve 2`; neither do words that two titles share."""
    history.session(pending_tasks=[task("wire the relay for valve 2"), task("write tests for the parser")])
    history.session(closed=[{"title": "wired the relay for valve 3"}, {"title": "wrote docs for the parser"}])
    told = history.restored()
    assert "valve 2" in told
    assert "tests for the parser" in told
    from jsonlstore.signals import hash_id

    ticked = "wire the relay for valve 3"
    history.session(closed=[{"title": ticked, "id": hash_id(ticked), "how": "ticked"}])
    assert "valve 2" in history.restored(), "nor by an id that is made of the words"
    history.session(closed=[{"title": "I wired the relay for valve 2.", "how": "said by the user"}])
    assert "valve 2" not in history.restored()


def test_blockers_questions_and_next_steps_are_settled_too(history: History) -> None:
    blocker = {"id": "n1", "type": "blocker", "content": "the paint shop is closed", "confidence": 0.9}
    history.session(notes=[blocker], next_step="call the harbour office", pending_tasks=[task("sort the buoys")])
    assert "paint shop" in history.restored()
    history.session(closed=[{"title": "called the harbour office"}, {"title": "x", "id": "n1"}], hot_topics=["sea"])
    told = history.restored()
    assert "paint shop" not in told
    assert "harbour office" not in told
    assert "sort the buoys" in told


def test_neglected_tasks_expire(history: History) -> None:
    """`task_stale_days`: said in the explanation, and a longer setting brings it back."""
    history.session(pending_tasks=[task(one) for one in THREE])
    history.hours += 15 * 24
    assert "paint the box" not in history.restored(lookback_days=30)
    assert "paint the box" in history.restored(lookback_days=30, task_stale_days=20)
    config = Config(lookback_days=30)
    manager = SessionPersistenceManager(history.store, config, clock=lambda: history.now)
    reasons = [one.reason for one in manager.preview(RestoreRequest("", "x", "main", KEY)).candidates]
    assert any("3 of 3 tasks closed or stale since" in one for one in reasons), reasons


def test_closing_in_one_chat_never_changes_another(history: History) -> None:
    """Two people and a group with the same task: each closes only its own."""
    keys = [KEY, "agent:main:telegram:dm:2", "agent:main:telegram:group:-100"]
    for key in keys:
        history.session(key, pending_tasks=[task("paint the box", "task-7")])
    for number, key in enumerate(keys):
        history.session(key, closed=[{"title": "paint the box", "id": "task-7"}], hot_topics=["box"])
        shown = ["paint the box" in history.restored(one) for one in keys]
        assert shown == [other > number for other in range(len(keys))]


def test_the_index_carries_closings_and_is_rebuilt_byte_for_byte(history: History) -> None:
    session = history.session(closed=[{"title": "paint the box", "id": "task-7"}])
    history.store.change_tasks(session, lambda _: {"closed": [{"title": "ring", "id": "t-1", "how": "done"}]})
    entry = history.store.index.entries()[session]
    assert entry["closed"] == [["t-1", "ring"], ["task-7", "paint the box"]]
    assert history.store.index.expected() == history.store.paths.index.read_bytes()
    assert closings_in({session: entry}, "9")[0].id == "t-1"


def test_a_hand_closes_reopens_and_adds(history: History) -> None:
    """By number, id or words; a transcript that opens it again afterwards has the last word."""
    first = history.session(pending_tasks=[task(one) for one in THREE])
    scope = Scope.of("conversation", "main", KEY, "x")

    def listed() -> list[str]:
        return [one.title for one in TaskList(history.store, Config(), scope, history.now).open]

    def say(action: str, *wanted: str, into: str = first) -> None:
        TaskList(history.store, Config(), scope, history.now).change(action, wanted, into, who="operator")

    say("done", "2")
    assert listed() == [THREE[0], THREE[2]]
    assert "order the seals" not in history.restored()
    say("reopen", "seals")
    assert set(listed()) == set(THREE)
    say("add", "buy a brush")
    assert "buy a brush" in history.restored()
    second = history.session(hot_topics=["boxes"])
    say("drop", "paint the box", into=second)
    assert "paint the box" not in history.restored()
    history.store.update(second, {"pending_tasks": [task("paint the box")]}, by="watcher")
    assert "paint the box" in history.restored()


def test_the_block_loses_what_its_session_closed_and_nothing_else(history: History) -> None:
    """The bytes are those given at the start, but for lines of what was closed; a reopened task comes back."""
    history.session(pending_tasks=[task(one) for one in THREE], next_step="paint the box")
    manager = SessionPersistenceManager(history.store, Config(), clock=lambda: history.now)
    given_ = manager.on_session_start("s900", "x", agent_id="main", session_key=KEY).block
    assert given_ is not None
    scope = Scope.of("conversation", "main", KEY, "x")

    def block() -> str | None:
        again = manager.on_session_start("s900", "x", agent_id="main", session_key=KEY)
        assert again.already_restored
        assert again.block == current_block(history.store.folded("s900"), history.store.now())
        return again.block

    assert block() == given_
    TaskList(history.store, Config(), scope, history.now).change("done", ["seals"], "s900", who="agent")
    listed = [line for line in given_.splitlines() if not (line.startswith("- [") and "order the seals" in line)]
    assert block() == "\n".join(line.replace(f'; "{THREE[1]}"', "") for line in listed)
    assert "order the seals" not in (block() or "")
    TaskList(history.store, Config(), scope, history.now).change("reopen", ["seals"], "s900", who="operator")
    assert block() == given_
    history.store.update("s900", {"closed": [{"title": "painted the box"}]}, by="watcher")
    left = block() or ""
    assert "paint the box" not in left
    assert "order the seals" in left


def test_a_task_closed_by_its_id_is_not_the_next_step_either(history: History) -> None:
    history.session(pending_tasks=[task(one) for one in THREE], next_step="paint the box")
    manager = SessionPersistenceManager(history.store, Config(), clock=lambda: history.now)
    manager.on_session_start("s900", "x", agent_id="main", session_key=KEY)
    scope = Scope.of("conversation", "main", KEY, "x")
    TaskList(history.store, Config(), scope, history.now).change("done", ["paint"], "s900", who="agent")
    left = current_block(history.store.folded("s900"), history.store.now()) or ""
    assert "NEXT STEP" not in left
    assert "paint the box" not in left
    assert "order the seals" in left


def test_what_a_hand_reopened_a_transcript_may_close_again(history: History) -> None:
    """And what it had closed before the hand spoke does not count against the hand."""
    shut = {"title": "paint the box", "id": task("paint the box")["task_id"], "how": "ticked"}
    history.session(pending_tasks=[task("paint the box"), task("order the seals")])
    second = history.session(closed=[shut], hot_topics=["box"])
    scope = Scope.of("conversation", "main", KEY, "x")
    TaskList(history.store, Config(), scope, history.now).change("reopen", ["paint"], second, who="operator")
    assert "paint the box" in history.restored()
    third = history.session(hot_topics=["box"], pending_tasks=[task("order the seals")])
    TaskList(history.store, Config(), scope, history.now).change("done", ["seals"], third, who="operator")
    TaskList(history.store, Config(), scope, history.now).change("reopen", ["seals"], third, who="operator")
    assert "order the seals" in history.restored()
    closing = {"title": "order the seals", "id": task("order the seals")["task_id"], "how": "ticked"}
    history.store.update(third, {"pending_tasks": [], "closed": [closing]}, by="watcher")
    assert "order the seals" not in history.restored()


def test_the_command_line(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    history.session("agent:main:telegram:dm:2", pending_tasks=[task("another chat's")])
    history.session(pending_tasks=[task(one) for one in THREE])
    base = ["--state-dir", str(history.store.paths.state_dir)]
    now = ["--now", format_time(history.now), "--json"]

    def run(*words: str) -> Any:
        assert main([*base, *words, *now]) == 0
        return json.loads(capsys.readouterr().out)

    assert [one["title"] for one in run("task", "list")["tasks"]] == THREE
    assert run("task", "done", "1", "--dry-run")["dry_run"] is True
    assert len(run("task", "list")["tasks"]) == 3
    run("task", "done", "1", "paint")
    assert [one["title"] for one in run("task", "list")["tasks"]] == [THREE[1]]
    run("task", "reopen", "paint the box")
    run("task", "add", "buy a brush", "--session-key", "agent:main:telegram:dm:2")
    assert len(run("task", "list")["tasks"]) == 2
    assert len(run("task", "list", "--session-key", "agent:main:telegram:dm:2")["tasks"]) == 2
    assert main([*base, "task", "done", "nothing of that name"]) == 2


@pytest.mark.parametrize("wrong", ["9", "0", "991", "rder", "x"])
def test_a_mistyped_name_closes_nothing(history: History, wrong: str) -> None:
    """A number beyond the list is no word of a title, and half a word names no task."""
    session = history.session(pending_tasks=[task("order 9 seals for the FT-991A"), task("mix the paint")])
    scope = Scope.of("conversation", "main", KEY, "x")
    tasks = TaskList(history.store, Config(), scope, history.now)
    with pytest.raises(UsageError) as caught:
        tasks.change("done", [wrong], session, who="operator")
    assert "task list" in (caught.value.hint or "")
    assert len(TaskList(history.store, Config(), scope, history.now).open) == 2
    assert [one.title for one in tasks.change("done", ["ft-991"], session, who="operator")] == [
        "order 9 seals for the FT-991A"
    ]


def test_reopening_by_a_number_names_what_is_closed(history: History) -> None:
    """`task list` has no numbers for closed tasks, so the hint names them."""
    session = history.session(pending_tasks=[task(one) for one in THREE])
    scope = Scope.of("conversation", "main", KEY, "x")
    TaskList(history.store, Config(), scope, history.now).change("done", ["seals"], session, who="operator")
    with pytest.raises(UsageError, match="no closed task has the number 2") as caught:
        TaskList(history.store, Config(), scope, history.now).change("reopen", ["2"], session, who="operator")
    assert "order the seals" in (caught.value.hint or "")


TITLES = ["oil the northern hinge", "grease seven bearings", "repaint lighthouse door"]
CHATS = (KEY, "agent:main:telegram:group:-100")
SAID = st.dictionaries(st.integers(0, 2), st.sampled_from(["open", "close", "tick"]), max_size=3)
BY_HAND = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["done", "drop", "reopen"])), max_size=2)
STEPS = st.lists(st.tuples(st.integers(0, 1), SAID, BY_HAND), min_size=1, max_size=6)


@settings(max_examples=500, deadline=None)
@given(STEPS)
def test_random_histories_show_what_a_simple_model_says(steps: list[tuple[int, Any, Any]]) -> None:
    """The model: in each chat, of each task, the last word counts, whether a session or a hand said it."""
    history = History(SessionStore.in_memory())
    model: dict[int, dict[int, bool]] = {0: {}, 1: {}}
    for chat, said, by_hand in steps:
        opened = [task(TITLES[one]) for one, what in said.items() if what == "open"]
        closed = [
            {"title": TITLES[one] if what == "tick" else f"{TITLES[one]} is finally done"}
            for one, what in said.items()
            if what != "open"
        ]
        session = history.session(CHATS[chat], pending_tasks=opened, closed=closed, hot_topics=["harbour"])
        model[chat].update({one: what == "open" for one, what in said.items()})
        tasks = TaskList(history.store, Config(), Scope.of("conversation", "main", CHATS[chat], "x"), history.now)
        for one, what in by_hand:
            known = {state.title for session_ in tasks.sessions for state in session_.pending_tasks}
            if model[chat].get(one) is (what != "reopen") and TITLES[one] in known:
                tasks.change(what, [TITLES[one]], session, who="operator")
                model[chat][one] = what == "reopen"
        listed = {one.title for one in tasks.open}
        assert listed == {TITLES[one] for one, is_open in model[chat].items() if is_open}
    for chat, key in enumerate(CHATS):
        told = history.restored(key)
        expected = {one for one, is_open in model[chat].items() if is_open}
        assert {one for one in range(3) if TITLES[one] in told} == expected


@given(st.lists(st.text("abc xyz;", min_size=1, max_size=20), max_size=4), st.data())
def test_a_block_is_cut_only_where_it_is_told(titles: list[str], data: st.DataObject) -> None:
    lines = [f'- [t-{number}] "{title}" (1d ago)' for number, title in enumerate(titles)]
    block = "\n\n".join(
        ["[SESSION CONTINUITY] x", *(["\n".join(["PENDING TASKS:", *lines])] if lines else []), "HOT TOPICS: a"]
    )
    keys = [one.key for one in items_of(block)]
    assert keys == [f"task:t-{number}" for number in range(len(titles))]
    assert without(block, frozenset()) == block
    gone = frozenset(data.draw(st.sets(st.sampled_from(keys)))) if keys else frozenset()
    left = without(block, gone) or ""
    assert [one.key for one in items_of(left)] == [one for one in keys if one not in gone]


def test_one_word_is_not_enough_to_close_by_words() -> None:
    items = [Item("a", "", "refactor"), Item("b", "", "refactor the loader")]
    closings = closings_in({"s": {"end_time": "1", "closed": [["", "refactored the whole parser and its tests"]]}}, "9")
    assert not closed_items(items, closings)
    assert SessionState("s", "t").closed == ()
