"""Another program at work in the same brain.db."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import database, export, export_sessions
from jsonlstore.bridges.braindb.database import COMMIT_SECONDS, HOLD_SECONDS, Writer

# Reads and writes in a loop until told to stop; a lock it cannot get within 100 ms is an error, and so is a session
# whose pins and topics are not of the same version.
NEIGHBOUR = """
import json, sqlite3, sys, threading
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
db = sqlite3.connect(sys.argv[1], timeout=float(sys.argv[2]), isolation_level=None)
out = {"writes": 0, "reads": 0, "torn": 0, "locked": 0}
print("ready", flush=True)
while not stop.is_set():
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO messages (role, body, at) VALUES ('user', 'x', 1)")
        db.execute("COMMIT")
        out["writes"] += 1
        for pins, topics in db.execute("SELECT working_memory, hot_topics FROM session_states").fetchall():
            out["torn"] += json.loads(pins)[0]["content"] != json.loads(topics)[0]
            out["reads"] += 1
    except sqlite3.OperationalError as problem:
        if db.in_transaction:
            db.execute("ROLLBACK")
        out["locked"] += 1
print(json.dumps(out), flush=True)
"""


def versioned(store, count, version):
    with store.index.together():
        for number in range(count):
            pin = {"content": f"version {version}", "pinnedAt": "2026-11-10T08:00:00Z"}
            fields = {"working_memory": [pin], "hot_topics": [f"version {version}"], "recent_learnings": ["m"] * 50}
            store.start(f"s-{number:04}", **fields)
            store.update(f"s-{number:04}", fields)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_neighbour_reads_and_writes_all_along_and_never_sees_half_a_session(tmp_path, store, cortex, mode):
    with closing(sqlite3.connect(cortex)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
    versioned(store, 300, 0)
    export_sessions(store, cortex)
    # generous, because a busy machine may not run the neighbour when the lock is free
    neighbour = subprocess.Popen(
        [sys.executable, "-c", NEIGHBOUR, str(cortex), "5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with neighbour:
        assert neighbour.stdout.readline() == "ready\n"
        for version in range(1, 4):
            versioned(store, 300, version)
            assert export_sessions(store, cortex, wait=60).updated == 300
        neighbour.stdin.close()
        seen = json.loads(neighbour.stdout.read())
    assert seen["torn"] == 0
    assert seen["locked"] == 0
    assert seen["writes"] > 0
    assert seen["reads"] > 0


def test_a_transaction_is_told_to_stop_long_before_others_wait_too_long(brain):
    """What we promise is 100 ms; statements get a tenth of that, a commit that has to wait not quite half."""
    assert HOLD_SECONDS + COMMIT_SECONDS < 0.1
    with closing(sqlite3.connect(brain, isolation_level=None)) as db:
        db.execute("CREATE TABLE t (x)")
        turns = []

        def work(full):
            count = 0
            while not full():
                db.execute("INSERT INTO t VALUES (1)")
                count += 1
            turns.append(count)

        writer = Writer(db, brain, 1.0)
        writer.transact(work)
        assert turns[0] > 0
        assert writer.longest >= HOLD_SECONDS
        assert db.execute("SELECT count(*) FROM t").fetchone() == (turns[0],)


def test_a_large_export_is_many_short_transactions(store, cortex, monkeypatch):
    """A neighbour that asks for the lock between two of our transactions gets it: no export is one long transaction."""
    monkeypatch.setattr(export, "_BATCH", 100)
    versioned(store, 400, 1)
    commits = []
    with closing(sqlite3.connect(cortex)) as watcher:
        before = watcher.execute("PRAGMA data_version").fetchone()
        report = export_sessions(
            store,
            cortex,
            progress=lambda done, total: commits.append(
                watcher.execute("SELECT count(*) FROM session_states").fetchone()[0]
            ),
        )
        assert watcher.execute("PRAGMA data_version").fetchone() != before
    assert report.added == 400
    assert len(set(commits)) >= 3, "others see the rows arrive in batches"


def test_work_that_fails_leaves_nothing_and_frees_the_lock(brain):
    with closing(sqlite3.connect(brain, isolation_level=None)) as db:
        db.execute("CREATE TABLE t (x)")

        def work(_full):
            db.execute("INSERT INTO t VALUES (1)")
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            Writer(db, brain, 1.0).transact(work)
        with closing(sqlite3.connect(brain, timeout=0, isolation_level=None)) as another:
            another.execute("BEGIN EXCLUSIVE")
            assert another.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_other_writers_are_given_way_and_nobody_is_waited_for_otherwise(brain, monkeypatch):
    """Without a gap between two transactions, a neighbour that looks for the lock now and then may never find one."""
    pauses = []
    monkeypatch.setattr(database.time, "sleep", pauses.append)
    with (
        closing(sqlite3.connect(brain, isolation_level=None)) as ours,
        closing(sqlite3.connect(brain, isolation_level=None)) as theirs,
    ):
        ours.execute("CREATE TABLE t (x)")
        writer = Writer(ours, brain, 1.0)
        for _ in range(3):
            writer.transact(lambda _full: ours.execute("INSERT INTO t VALUES (1)"))
        assert pauses == []
        theirs.execute("INSERT INTO t VALUES (2)")
        writer.transact(lambda _full: ours.execute("INSERT INTO t VALUES (1)"))
    assert len(pauses) == 1
    assert 0 < pauses[0] <= 2 * HOLD_SECONDS
