"""FR-001, 003, 008, AC-001, decisionS 20, 22, 24, 52: what is written of a session, turn by turn and at its end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.core.errors import UsageError
from tests.home import Home, task


def log_lines(home: Home, session_id: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in home.store.paths.log(session_id).read_bytes().splitlines()]


def test_fr_001_all_fields_are_captured_and_mirrored(home: Home) -> None:
    home.pipeline({"task_id": "task-017", "title": "Add CAT", "current_stage": "build"})
    manager = home.manager()
    manager.on_session_start("a", "signal", agent_id="main", session_key="agent:main:main")
    home.pin({"content": "38400 baud", "label": "ft991a"})
    home.later(minutes=12)
    state = manager.on_session_end(
        "a",
        reason="new",
        hot_topics=["ft991a"],
        active_projects=["lbf-ham-radio"],
        recent_learnings=["mem-1"],
        confidence_updates=[{"memory_id": "mem-1", "old_score": 0.5, "new_score": 0.6, "reason": "sop_boost"}],
        sop_interactions=[{"sop_path": "sops/radio.md", "acknowledged": True}],
    )
    assert state is not None
    mirror = json.loads(home.store.paths.mirror("a").read_bytes())
    assert mirror == home.store.get("a").to_dict() == state.to_dict()
    assert mirror["end_time"] == "2026-11-10T10:12:00.000Z"
    assert mirror["working_memory"][0]["label"] == "ft991a"
    assert mirror["pending_tasks"] == [
        {"task_id": "task-017", "title": "Add CAT", "stage": "build", "flagged_incomplete": False}
    ]
    for key in ("hot_topics", "active_projects", "recent_learnings", "confidence_updates", "sop_interactions"):
        assert mirror[key], key


def test_ac_001_credentials_are_redacted_before_they_reach_the_disk(home: Home) -> None:
    home.pin({"content": "api_key=sk-abcdefghijklmnopqrstuvwxyz0123456789", "label": "password=hunter2hunter2"})
    home.manager().on_session_end("a", pending_tasks=[{"task_id": "t", "title": "use ghp_" + "a1B2" * 9}])
    everything = b"".join(data for name, data in home.files().items() if not name.startswith("workspace"))
    assert b"api_key=[REDACTED]" in everything
    for secret in (b"abcdefghijklmnop", b"hunter2", b"a1B2a1B2"):
        assert secret not in everything


def test_one_write_per_turn_and_none_without_news(home: Home) -> None:
    home.pin({"content": "c", "label": "l"})
    manager = home.manager()
    manager.on_session_start("a", "cli")
    before = len(log_lines(home, "a"))
    assert manager.update_session_state(hot_topics=["x"], pending_tasks=[task(1)])
    assert len(log_lines(home, "a")) == before + 1
    assert not manager.update_session_state(hot_topics=["x"])
    assert len(log_lines(home, "a")) == before + 1
    manager.on_session_end("a")
    assert len(log_lines(home, "a")) == before + 2


def test_decision_20_pins_and_tasks_are_snapshotted_every_turn(home: Home) -> None:
    manager = home.manager()
    manager.on_session_start("a", "cli")
    home.pin({"content": "TODO check the antenna", "label": "todo"})
    manager.update_session_state(hot_topics=["x"])
    state = home.store.get("a")
    assert [pin.label for pin in state.working_memory] == ["todo"]
    assert [(one.flagged_incomplete, "antenna" in one.title) for one in state.pending_tasks] == [(True, True)]
    home.pin({"content": "all good", "label": "fine"})
    manager.update_session_state(hot_topics=["y"])
    state = home.store.get("a")
    assert [pin.label for pin in state.working_memory] == ["fine"]
    assert state.pending_tasks == (), "a task that only a pin spoke of goes with the pin"


def test_decision_22_only_pending_stages_count_and_done_never_does(home: Home) -> None:
    home.pipeline(
        {"task_id": "t1", "current_stage": "build"},
        {"task_id": "t2", "current_stage": "design"},
        {"task_id": "t3", "current_stage": "build", "status": "completed"},
        {"task_id": "t4", "current_stage": "done"},
        {"task_id": "t5", "current_stage": "deploy"},
    )
    home.manager().on_session_end("a")
    assert [one.task_id for one in home.store.get("a").pending_tasks] == ["t1", "t5"]
    home.manager(pending_stages=["design"]).on_session_end("b")
    assert [one.task_id for one in home.store.get("b").pending_tasks] == ["t2"]


def test_decision_22_a_pipeline_task_finished_during_the_session_leaves_its_state(home: Home) -> None:
    home.pipeline({"task_id": "task-001", "current_stage": "build"})
    manager = home.manager()
    manager.on_session_start("a", "cli")
    manager.update_session_state(hot_topics=["x"])
    assert home.store.get("a").pending_tasks
    home.pipeline(completed=("task-001",))
    manager.on_session_end("a")
    assert home.store.get("a").pending_tasks == ()


def test_decision_52_capture_never_erases_what_was_given(home: Home) -> None:
    manager = home.manager()
    manager.on_session_start("a", "cli")
    manager.update_session_state(working_memory=[{"content": "given", "label": "g"}], pending_tasks=[task(7)])
    home.pin()
    manager.update_session_state(hot_topics=["x"])
    manager.on_session_end("a")
    state = home.store.get("a")
    assert [pin.label for pin in state.working_memory] == ["g"]
    assert [one.task_id for one in state.pending_tasks] == ["task-007"]


def test_decision_52_a_turn_of_an_unknown_session_starts_it(home: Home) -> None:
    assert home.manager().update_session_state(session_id="late", channel="signal", hot_topics=["x"])
    assert home.store.get("late").channel == "signal"


def test_a_broken_pin_file_costs_only_the_pins(home: Home) -> None:
    home.pin_file.parent.mkdir(parents=True)
    home.pin_file.write_text("{broken")
    manager = home.manager()
    manager.on_session_start("a", "cli")
    state = manager.on_session_end("a", hot_topics=["x"])
    assert state is not None
    assert state.hot_topics == ("x",)
    assert home.pin_file.read_text() == "{broken"


def test_a_session_of_which_only_pins_are_known_still_has_topics(home: Home) -> None:
    home.pin({"content": "38400 baud", "label": "ft991a control"})
    state = home.manager().on_session_end("a")
    assert state is not None
    assert any("ft991a" in topic for topic in state.hot_topics)


def test_nfr_001_a_state_stays_under_50_kb(home: Home) -> None:
    state = home.manager().on_session_end(
        "a", hot_topics=["topic " * 50] * 500, pending_tasks=[task(n, title="x" * 5000) for n in range(300)]
    )
    assert state is not None
    assert len(home.store.paths.mirror("a").read_bytes()) < 60 * 1024
    assert len(json.dumps(state.to_dict(), separators=(",", ":"))) <= 51 * 1024
    assert len(state.pending_tasks) <= 100


def test_the_extractor_of_a_running_session_is_recorded(home: Home) -> None:
    with home.manager() as manager:
        manager.on_session_start("a", "cli")
        manager.extractor.record_exec_workdir("/home/user/Projects/lbf-ham-radio")
        manager.extractor.record_working_memory_label("ft991a")
        manager.extractor.record_learning_id("mem-9")
        manager.update_session_state()
        assert home.store.get("a").active_projects == ("lbf-ham-radio",)
    state = home.store.get("a")
    assert state.end_reason == "exit"
    assert {"ft991a", "lbf-ham-radio"} <= set(state.hot_topics)
    assert state.recent_learnings == ("mem-9",)


def test_leaving_the_block_by_an_error_says_so(home: Home) -> None:
    def live() -> None:
        with home.manager() as manager:
            manager.on_session_start("a", "cli")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        live()
    assert home.store.get("a").end_reason == "error"


def test_wrong_fields_are_named_and_nothing_is_written(home: Home) -> None:
    home.manager().on_session_start("a", "cli")
    before = log_lines(home, "a")
    for field, value in (
        ("hot_topics", "text"),
        ("pending_tasks", 3),
        ("working_memory", "x"),
        ("pending_tasks", [{}]),
    ):
        with pytest.raises(UsageError, match=field):
            home.manager().update_session_state({"session_id": "a", field: value})
    assert log_lines(home, "a") == before
    with pytest.raises(UsageError, match="session_id"):
        home.manager().update_session_state(hot_topics=["x"])


def test_decision_56_old_sessions_are_archived_at_most_once_a_day(home: Home) -> None:
    home.past("old", hot_topics=["x"])
    home.later(days=31)
    assert home.manager().archive_old() == ["old"]
    home.past("older")
    home.now = home.now.replace(hour=0) if home.now.hour else home.now
    assert home.manager().archive_old() == []
    home.later(days=40)
    assert home.manager().archive_old() == ["older"]
    assert home.store.get("old").hot_topics == ("x",)


def test_decision_50_sub_agents_and_utility_runs_are_left_out(home: Home) -> None:
    for key in ("agent:main:subagent:1f", "agent:main:cron:2a", "temp:slug-generator"):
        manager = home.manager()
        assert manager.on_session_start("s", "cli", session_key=key).cold
        assert not manager.update_session_state(session_id="s", session_key=key, hot_topics=["x"])
        assert manager.on_session_end("s", session_key=key) is None
    assert not home.path.exists()
    home.manager(capture_subagents=True).on_session_start("s", "cli", session_key="agent:main:subagent:1f")
    assert home.store.get("s").session_key == "agent:main:subagent:1f"


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["task-001", "task-002", "task-003"]), max_size=6), st.lists(st.booleans(), max_size=4))
def test_tasks_are_listed_once(ids: list[str], turns: list[bool]) -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.pipeline(*({"task_id": one, "current_stage": "build"} for one in ids))
        manager = home.manager()
        manager.on_session_start("a", "cli")
        for given_too in turns:
            manager.update_session_state({"pending_tasks": [task(1)]} if given_too else {"hot_topics": ["x"]})
        manager.on_session_end("a")
        found = [one.task_id for one in home.store.get("a").pending_tasks]
        assert len(found) == len(set(found))
        assert set(ids) <= set(found)
