"""The documents' SessionManager: code written for them runs unchanged."""

from __future__ import annotations

import inspect
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from jsonlstore.bridges.braindb import resolve_brain_db
from jsonlstore.compat import SessionManager
from jsonlstore.core.config import Config
from jsonlstore.core.errors import UsageError
from tests.bridges.conftest import database_backups


def ago(**by):
    return (datetime.now(UTC) - timedelta(**by)).isoformat()


def a_session(session_id="s-1", **fields):
    return {
        "session_id": session_id,
        "start_time": ago(hours=3),
        "end_time": ago(hours=1),
        "channel": "cli",
        "working_memory": [{"content": "pin", "pinnedAt": "2026-11-10T08:00:00Z"}],
        "hot_topics": ["cortex"],
        "active_projects": [],
        "pending_tasks": [],
        "recent_learnings": ["mem-1"],
        "confidence_updates": [],
        "sop_interactions": [],
        "previous_session_id": None,
        "continued_by": None,
        "schema_version": 1,
        **fields,
    }


@pytest.fixture
def manager(brain):
    return SessionManager(brain)


def test_the_signatures_are_the_documents():
    signatures = {
        name: str(inspect.signature(getattr(SessionManager, name), eval_str=False))
        for name in (
            "__init__",
            "save_session",
            "get_recent_sessions",
            "get_crashed_sessions",
            "mark_continued",
            "recover_crashed",
            "get_session_chain",
        )
    }
    names = {name: list(inspect.signature(getattr(SessionManager, name)).parameters) for name in signatures}
    assert names == {
        "__init__": ["self", "db_path"],
        "save_session": ["self", "session_dict"],
        "get_recent_sessions": ["self", "days", "limit"],
        "get_crashed_sessions": ["self", "active_session_id"],
        "mark_continued": ["self", "session_id", "next_id"],
        "recover_crashed": ["self", "session_id", "estimated_end_time"],
        "get_session_chain": ["self", "session_id", "depth"],
    }
    assert "days: 'int' = 7, limit: 'int' = 20" in signatures["get_recent_sessions"]
    assert "depth: 'int' = 5" in signatures["get_session_chain"]
    returns = {name: text.rpartition("-> ")[2].strip("'") for name, text in signatures.items()}
    lists = {"get_recent_sessions", "get_crashed_sessions", "get_session_chain"}
    assert returns == {name: "list[dict[str, Any]]" if name in lists else "None" for name in names}
    assert "= None" in signatures["__init__"]


def test_what_is_saved_comes_back_with_lists_as_lists(manager):
    manager.save_session(a_session(hot_topics='["as", "json"]'))
    (found,) = manager.get_recent_sessions()
    assert found["session_id"] == "s-1"
    assert found["hot_topics"] == ["as", "json"]
    assert found["working_memory"] == [{"content": "pin", "pinnedAt": "2026-11-10T08:00:00Z"}]
    assert found["crash_recovered"] is False
    assert found["start_time"].endswith("Z")


def test_an_update_changes_only_what_is_given_and_never_erases_links(manager):
    manager.save_session(a_session(previous_session_id="s-0"))
    manager.mark_continued("s-1", "s-2")
    with closing(sqlite3.connect(manager.db_path)) as db:
        db.execute("ALTER TABLE session_states ADD COLUMN mood TEXT")
        db.execute("UPDATE session_states SET mood = 'good'")
        db.commit()
    manager.save_session({"session_id": "s-1", "hot_topics": ["other"], "continued_by": None, "start_time": None})
    manager.save_session(a_session(hot_topics=["third"], pending_tasks=None))
    (found,) = manager.get_recent_sessions()
    assert (found["continued_by"], found["previous_session_id"], found["mood"]) == ("s-2", "s-0", "good")
    assert found["hot_topics"] == ["third"]


def test_recent_means_ended_within_the_days_latest_first_in_any_zone(manager):
    for session_id, end in {
        "zulu": ago(hours=2),
        "open": None,
        "too old": ago(days=7, minutes=5),
        "just in": ago(days=6, hours=23),
    }.items():
        manager.save_session(a_session(session_id, end_time=end))
    naive = (datetime.now() - timedelta(hours=1)).isoformat()  # noqa: DTZ005 - as other writers write
    ahead = datetime.now(UTC).astimezone(timezone(timedelta(hours=14)))
    with closing(sqlite3.connect(manager.db_path)) as db:
        for session_id, end in (("naive", naive), ("ahead", ahead.isoformat()), ("odd", "9999 bad time")):
            db.execute(
                "INSERT INTO session_states (id, start_time, end_time, created_at) VALUES (?, ?, ?, '')",
                (session_id, naive, end),
            )
        db.commit()
    found = [session["session_id"] for session in manager.get_recent_sessions()]
    assert found == ["ahead", "naive", "zulu", "just in"]
    assert [session["session_id"] for session in manager.get_recent_sessions(days=7, limit=2)] == ["ahead", "naive"]
    assert [session["session_id"] for session in manager.get_recent_sessions(1)] == ["ahead", "naive", "zulu"]


def test_crashed_sessions_are_found_and_recovered(manager):
    for session_id in ("crashed", "active"):
        manager.save_session(a_session(session_id, end_time=None))
    assert [session["session_id"] for session in manager.get_crashed_sessions("active")] == ["crashed"]
    assert len(manager.get_crashed_sessions(None)) == 2, "nobody is active"
    manager.recover_crashed("crashed", ago(hours=2))
    assert manager.get_crashed_sessions("active") == []
    (found,) = manager.get_recent_sessions()
    assert (found["session_id"], found["crash_recovered"]) == ("crashed", True)


def test_the_chain_is_oldest_first_bounded_and_safe_in_circles(manager):
    for number in range(8):
        manager.save_session(a_session(f"s-{number}", previous_session_id=f"s-{number - 1}" if number else None))
    assert [session["session_id"] for session in manager.get_session_chain("s-3")] == ["s-0", "s-1", "s-2", "s-3"]
    assert [session["session_id"] for session in manager.get_session_chain("s-7", 3)] == ["s-5", "s-6", "s-7"]
    assert len(manager.get_session_chain("s-7")) == 5
    manager.save_session({"session_id": "s-0", "previous_session_id": "s-3"})
    assert [session["session_id"] for session in manager.get_session_chain("s-2")] == ["s-3", "s-0", "s-1", "s-2"]
    assert manager.get_session_chain("nobody") == []


def test_secrets_never_reach_the_file(manager):
    manager.save_session(
        a_session(
            channel="password=hunter2-Xyz9!",
            working_memory=[{"content": "api_key=sk-ant-api03-" + "x1Y2" * 12, "pinnedAt": ago(hours=1)}],
            previous_session_id="token=hunter3-Xyz9!",
            pending_tasks='[{"task_id": "t", "title": "AWS_SECRET_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz"}]',
        )
    )
    manager.mark_continued("s-1", "password=hunter4-Xyz9!")
    with pytest.raises(UsageError, match="secret"):
        manager.save_session(a_session("password=hunter5-Xyz9!"))
    data = Path(manager.db_path).read_bytes()
    for secret in (b"hunter", b"x1Y2x1Y2", b"wJalrXUtn"):
        assert secret not in data
    assert b"[REDACTED]" in data


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"start_time": "2026-01-01T00:00:00Z"}, "session_id"),
        ({"session_id": "a", "hot_topics": "nope"}, "hot_topics"),
        ({"session_id": "a", "hot_topics": {"a": 1}}, "hot_topics"),
        ({"session_id": "a", "hot_topics": [object()]}, "hot_topics"),
        ({"session_id": "a", "end_time": "tomorrow"}, "end_time"),
    ],
)
def test_what_cannot_be_saved_is_refused_by_name_and_leaves_no_row(manager, bad, named):
    with pytest.raises(UsageError, match=named):
        manager.save_session(bad)
    assert manager.get_crashed_sessions("") == []


def test_an_existing_brain_is_backed_up_and_otherwise_left_alone(cortex, neighbours):
    before = neighbours(cortex)
    SessionManager(str(cortex)).save_session(a_session())
    SessionManager(str(cortex)).save_session(a_session("s-2"))
    assert neighbours(cortex) == before
    assert len(database_backups(cortex)) == 1


def test_where_brain_db_is(tmp_path, monkeypatch):
    """Decision 30: config, else the environment, else the workspace, else an existing old place."""
    usual, old = tmp_path / "workspace" / "memory" / "brain.db", tmp_path / "brain.db"
    assert resolve_brain_db(Config(), tmp_path, {}) == usual
    old.touch()
    assert resolve_brain_db(Config(), tmp_path, {}) == old
    usual.parent.mkdir(parents=True)
    usual.touch()
    assert resolve_brain_db(Config(), tmp_path, {}) == usual
    assert resolve_brain_db(Config(), tmp_path, {"CORTEX_DATA_DIR": "/data"}) == Path("/data/brain.db")
    named = Config(brain_db_path="my/brain.db")
    assert resolve_brain_db(named, tmp_path, {"CORTEX_DATA_DIR": "/data"}) == tmp_path / "my" / "brain.db"
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(tmp_path / "fresh"))
    monkeypatch.delenv("CORTEX_DATA_DIR", raising=False)
    manager = SessionManager()
    assert manager.db_path == str(tmp_path / "fresh" / "workspace" / "memory" / "brain.db")
    assert Path(manager.db_path).exists()


def test_the_module_prints_json(tmp_path):
    env = {"CORTEX_DATA_DIR": str(tmp_path), "HOME": str(tmp_path)}
    SessionManager(tmp_path / "brain.db").save_session(a_session("s-2", previous_session_id="s-1"))
    SessionManager(tmp_path / "brain.db").save_session(a_session("s-1", end_time=ago(days=3)))

    def module(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "jsonlstore.compat", *arguments],
            capture_output=True,
            text=True,
            env=env,
            check=False,
        )

    assert [each["session_id"] for each in json.loads(module("recent").stdout)] == ["s-2", "s-1"]
    assert [each["session_id"] for each in json.loads(module("recent", "1").stdout)] == ["s-2"]
    assert [each["session_id"] for each in json.loads(module("chain", "s-2").stdout)] == ["s-1", "s-2"]
    assert [each["session_id"] for each in json.loads(module("recent", "9999999").stdout)] == ["s-2", "s-1"]
    assert module("nonsense").returncode == 2
    assert "usage" in module().stderr
    env["CORTEX_DATA_DIR"] = str(tmp_path / "elsewhere")
    nothing = module("recent")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (0, [])
    assert str(tmp_path / "elsewhere") in nothing.stderr
    assert json.loads(module("chain", "s-2").stdout) == []
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("days", [10**6, 10**12, float("inf")])
def test_more_days_than_there_are_means_all_of_them(manager, days):
    manager.save_session(a_session())
    assert [session["session_id"] for session in manager.get_recent_sessions(days)] == ["s-1"]


def test_a_recovery_without_a_time_or_a_link_without_a_session_is_refused(manager):
    """Else a session would be recovered and still open, or go on in one called None."""
    manager.save_session(a_session(end_time=None))
    before = manager.get_session_chain("s-1")
    for nothing in (None, "", 5, b"s-2"):
        with pytest.raises(UsageError, match="next_id"):
            manager.mark_continued("s-1", nothing)
    for no_time in (None, "", "soon", b"2026"):
        with pytest.raises(UsageError, match="estimated_end_time"):
            manager.recover_crashed("s-1", no_time)
    assert manager.get_session_chain("s-1") == before


def test_times_may_be_datetimes_as_python_programs_have_them(manager):
    end = datetime.now(UTC).replace(microsecond=0)
    manager.save_session(a_session(end_time=end, start_time=end.replace(tzinfo=None)))
    manager.recover_crashed("s-1", end + timedelta(seconds=1))
    (found,) = manager.get_recent_sessions()
    assert datetime.fromisoformat(found["end_time"]) == end + timedelta(seconds=1)
    assert datetime.fromisoformat(found["start_time"]) == end.replace(tzinfo=None).astimezone(UTC)


@pytest.mark.parametrize("version", [2**70, -(2**70), True, None, "2", 1.5])
def test_a_schema_version_that_is_none_is_the_first(manager, version):
    manager.save_session(a_session(schema_version=version))
    assert manager.get_session_chain("s-1")[0]["schema_version"] == 1


def test_half_characters_and_long_numbers_are_kept_as_well_as_they_can_be(manager):
    """A text cut in the middle of an emoji must not cost the session."""
    manager.save_session(a_session(channel="a\ud83d", hot_topics=["cut \ud83d", "whole"], recent_learnings=[2**70]))
    (found,) = manager.get_recent_sessions()
    assert (found["channel"], found["hot_topics"]) == ("a?", ["cut ?", "whole"])
    assert found["recent_learnings"] == [float(2**70)]
