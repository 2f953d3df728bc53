"""Store -> brain.db -> fresh store loses nothing the specification knows."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.bridges.braindb import export_sessions, import_sessions
from jsonlstore.bridges.braindb.desired import read_desired
from jsonlstore.bridges.braindb.rows import read_row, to_row
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.fold import fold_events
from jsonlstore.store.store import SessionStore

SPECIFIED = (
    "session_id",
    "start_time",
    "end_time",
    "channel",
    "working_memory",
    "hot_topics",
    "active_projects",
    "pending_tasks",
    "recent_learnings",
    "confidence_updates",
    "sop_interactions",
    "previous_session_id",
    "continued_by",
    "crash_recovered",
    "schema_version",
    "updated_at",
)

text = st.text(max_size=30)
ids = st.from_regex(r"[a-z0-9]{4}(-[a-z0-9]{2,4}){1,3}", fullmatch=True)
# hypothesis wants its bounds without a zone
_FIRST, _LAST = datetime(2001, 1, 1), datetime(2099, 1, 1)  # noqa: DTZ001
times = st.datetimes(_FIRST, _LAST).map(lambda moment: moment.isoformat() + "Z")
scores = st.floats(0, 1)
fields = st.fixed_dictionaries(
    {},
    optional={
        "channel": st.sampled_from(["cli", "signal", "discord", "ünï", "unknown"]),
        "working_memory": st.lists(
            st.fixed_dictionaries(
                {"content": text, "pinnedAt": times}, optional={"label": text, "importance": st.just("CRITICAL")}
            ),
            max_size=4,
        ),
        "hot_topics": st.lists(text, max_size=5),
        "active_projects": st.lists(text, max_size=3),
        "pending_tasks": st.lists(
            st.fixed_dictionaries(
                {"task_id": ids, "title": text, "stage": text, "flagged_incomplete": st.booleans()},
            ),
            max_size=4,
        ),
        "recent_learnings": st.lists(text, max_size=4),
        "confidence_updates": st.lists(
            st.fixed_dictionaries(
                {"memory_id": ids, "old_score": scores, "new_score": scores, "reason": text, "timestamp": times}
            ),
            max_size=3,
        ),
        "sop_interactions": st.lists(
            st.fixed_dictionaries(
                {"sop_path": text, "injected_at": times, "acknowledged": st.booleans(), "tool_call": text}
            ),
            max_size=3,
        ),
        "previous_session_id": ids,
    },
)
sessions = st.fixed_dictionaries(
    {
        "fields": fields,
        "more": fields,
        "start_time": times,
        "end": st.sampled_from([None, "ended", "recovered"]),
        "end_time": times,
        "continued_by": st.none() | ids,
    }
)


def record(store: SessionStore, session_id: str, given_session: dict) -> None:
    store.start(session_id, start_time=given_session["start_time"], **given_session["fields"])
    store.update(session_id, given_session["more"])
    if given_session["end"] == "ended":
        store.end(session_id, end_time=given_session["end_time"])
    elif given_session["end"] == "recovered":
        store.recover(session_id, given_session["end_time"])
    if given_session["continued_by"]:
        store.link(session_id, given_session["continued_by"])


def specified(store: SessionStore, session_id: str) -> dict:
    state = store.get(session_id).to_dict()
    return {key: state[key] for key in SPECIFIED}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(ids, sessions, min_size=1, max_size=3))
def test_every_field_survives_the_way_there_and_back(given_sessions):
    store, fresh = SessionStore.in_memory(), SessionStore.in_memory()
    for session_id, session in given_sessions.items():
        record(store, session_id, session)
    with tempfile.TemporaryDirectory() as folder:
        brain = Path(folder) / "brain.db"
        assert export_sessions(store, brain).added == len(given_sessions)
        report = import_sessions(fresh, brain)
        assert sorted(report.imported) == sorted(given_sessions)
        assert report.problems == {}
        for session_id in given_sessions:
            assert specified(fresh, session_id) == specified(store, session_id)
        again = import_sessions(fresh, brain)
        assert (again.imported, again.completed, again.known) == ([], [], len(given_sessions))
        # and what was imported exports to the very same rows
        assert export_sessions(fresh, brain).written == 0


anything = st.none() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20)
json_text = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
).map(json.dumps)


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries(
        {"id": anything},
        optional=dict.fromkeys(
            (*SPECIFIED[1:], "created_at", "mood", "notes", "by", "owner", "source", "agent_id", "tokens"),
            anything | json_text,
        ),
    )
)
def test_any_row_can_be_read(row):
    """Whatever a column holds, the row is read; what is wrong with it is said, not raised."""
    read = read_row(row)
    assert isinstance(read.problems, tuple)


@settings(max_examples=40, deadline=None)
@given(
    ids,
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            (*SPECIFIED[1:], "created_at", "mood", "notes", "by", "owner", "source", "agent_id", "tokens"),
            anything | json_text,
        ),
    ),
)
def test_any_row_becomes_a_session_or_is_reported(session_id, row):
    store = SessionStore.in_memory()
    columns = {"id": session_id, **row}
    with tempfile.TemporaryDirectory() as folder:
        brain = Path(folder) / "brain.db"
        with closing(sqlite3.connect(brain)) as db:
            try:
                db.execute(f"CREATE TABLE session_states ({', '.join(columns)})")
                db.execute(
                    f"INSERT INTO session_states VALUES ({', '.join('?' * len(columns))})", tuple(columns.values())
                )
            except (OverflowError, UnicodeEncodeError):
                return  # not a value SQLite can hold
            db.commit()
        report = import_sessions(store, brain)
    assert (session_id in report.imported) != (session_id in report.skipped)
    if report.imported:
        assert store.get(session_id).session_id == session_id


steps = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.sampled_from(["hook", "watcher", "import"]), fields),
        st.tuples(st.sampled_from(["end", "recover", "resume"])),
        st.tuples(st.just("link"), ids),
    ),
    max_size=6,
)


@settings(max_examples=60)
@given(first=fields, steps=steps)
def test_a_row_says_what_folding_the_whole_log_says(first, steps):
    """However a session went on, the short way to its row and the long one lead to the same."""
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(StatePaths.of(Path(folder)), disk=Disk(sync=False))
        store.start("s-1", **first)
        for step, *given_ in steps:
            match step, given_:
                case "update", (by, changed):
                    store.update("s-1", changed, by=by)
                case "end", _:
                    store.end("s-1")
                case "recover", _:
                    store.recover("s-1", "2026-11-10T10:00:00Z")
                case "resume", _:
                    store.resume("s-1")
                case "link", (successor,):
                    store.link("s-1", successor)
        log = store.open_log(store.paths.log("s-1")).scan()
        folded = fold_events("s-1", log.events)
        said = set().union(*folded.layers.values())
        assert read_desired(store, "s-1").row == to_row("s-1", folded.to_dict(), said)
