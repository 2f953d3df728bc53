"""kill -9 at any write: running again completes, nothing is there twice, the database is sound.

The method is SQLite's own: kill the n-th system call of a kind for n = 1, 2, 3 … until a run gets through untouched.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from jsonlstore.bridges.braindb import export_sessions, import_sessions
from jsonlstore.store.store import SessionStore
from tests.bridges.conftest import database_backups

CALLS = ("pwrite64", "write", "fdatasync", "fsync", "rename", "unlink", "ftruncate")


def _strace_works() -> bool:
    if shutil.which("strace") is None:
        return False
    probe = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:signal=KILL:when=1", "echo"]
    return subprocess.run(probe, capture_output=True, check=False).returncode != 0


needs_strace = pytest.mark.skipif(not _strace_works(), reason="needs strace, and leave to trace")

EXPORT = """
import sys
from pathlib import Path
from jsonlstore.bridges.braindb import export, reconcile
from jsonlstore.store.store import SessionStore
reconcile._BATCH = 2  # several transactions
export.export_sessions(SessionStore.open(sys.argv[1]), Path(sys.argv[2]))
"""
IMPORT = """
import sys
from pathlib import Path
from jsonlstore.bridges.braindb.importer import import_sessions
from jsonlstore.store.store import SessionStore
import_sessions(SessionStore.open(sys.argv[1]), Path(sys.argv[2]))
"""


def killed(code: str, call: str, n: int, *arguments: str) -> bool:
    """Run it and kill it at its n-th call of a kind; False if it got through before that."""
    command = [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={n}",
        sys.executable, "-I", "-c", code, *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, check=False).returncode != 0


def sound(path) -> bool:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def kills(slow: bool, afresh, code: str, *arguments):
    """Kill it at the first, second, … call of each kind until it gets through; short form: at ever fewer of them.

    Yields after each kill, for the caller to look at what is left.
    """
    count = 0
    for call in CALLS:
        n = 1
        afresh()
        while killed(code, call, n, *arguments):
            yield f"{call}-{n}"
            count += 1
            n += 1 if slow else 2 * n
            afresh()
    assert count >= 10


def export_survives(tmp_path, store, cortex, neighbours, rows, mode, slow):
    with closing(sqlite3.connect(cortex)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
    for number in range(6):
        store.start(f"s-{number}", hot_topics=[f"topic {number}"], recent_learnings=["x" * 60] * 40)
        store.end(f"s-{number}")
    before = neighbours(cortex)
    brain = tmp_path / "run" / "brain.db"

    def afresh():
        shutil.rmtree(brain.parent, ignore_errors=True)
        brain.parent.mkdir()
        shutil.copyfile(cortex, brain)
        shutil.rmtree(store.paths.states / "exports", ignore_errors=True)

    for _ in kills(slow, afresh, EXPORT, str(store.paths.state_dir), str(brain)):
        assert sound(brain)
        export_sessions(store, brain)
        assert sound(brain)
        assert sorted(rows(brain)) == [f"s-{number}" for number in range(6)]
        assert neighbours(brain) == before
        for backup in database_backups(brain):
            assert neighbours(backup) == before
        left = {path.name for path in brain.parent.iterdir()} - {backup.name for backup in database_backups(brain)}
        assert left == {"brain.db"}
        assert export_sessions(store, brain).written == 0


def import_survives(tmp_path, store, brain, slow):
    for number in range(3):
        store.start(
            f"s-{number}", hot_topics=[f"topic {number}"], previous_session_id=f"s-{number - 1}" if number else None
        )
        if number == 1:
            store.recover(f"s-{number}", "2026-11-10T10:00:00Z")
        else:
            store.end(f"s-{number}")
        store.link(f"s-{number}", f"s-{number + 1}")
    export_sessions(store, brain)
    wanted = [_plain(store, f"s-{number}") for number in range(3)]
    state_dir = tmp_path / "run"
    for _ in kills(slow, lambda: shutil.rmtree(state_dir, ignore_errors=True), IMPORT, str(state_dir), str(brain)):
        fresh = SessionStore.open(state_dir)
        import_sessions(fresh, brain)
        assert [_plain(fresh, f"s-{number}") for number in range(3)] == wanted
        assert {entry.session_id for entry in fresh.entries()} == {"s-0", "s-1", "s-2"}
        again = import_sessions(fresh, brain)
        assert (again.imported, again.completed, again.known) == ([], [], 3)
        assert fresh.paths.index.read_bytes() == fresh.index.expected()


def _plain(store, session_id):
    state = store.get(session_id).to_dict()
    # why a session ended is not a column of the table
    return {key: value for key, value in state.items() if key != "end_reason"}


@needs_strace
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_export_survives_kill_9_at_many_writes(tmp_path, store, cortex, neighbours, rows, mode):
    export_survives(tmp_path, store, cortex, neighbours, rows, mode, slow=False)


@needs_strace
def test_import_survives_kill_9_at_many_writes(tmp_path, store, brain):
    import_survives(tmp_path, store, brain, slow=False)


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_export_survives_kill_9_at_every_write(tmp_path, store, cortex, neighbours, rows, mode):
    export_survives(tmp_path, store, cortex, neighbours, rows, mode, slow=True)


@needs_strace
@pytest.mark.slow
def test_import_survives_kill_9_at_every_write(tmp_path, store, brain):
    import_survives(tmp_path, store, brain, slow=True)
