"""From JSONL to SQLite and back: the same bytes, however often it is interrupted; what differs is not touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jsonlstore.context import TranscriptStore
from jsonlstore.context.jsonl import JsonlBackend
from jsonlstore.context.migrate import migrate_transcripts
from jsonlstore.context.sqlite import SqliteBackend
from jsonlstore.core.files import Disk
from tests.context.conftest import user

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.context.backend import Backend
    from tests.home import Home

FAST = Disk(sync=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
IDS = st.sampled_from(["a", "b", "c", "d", "e/f", "", "k:1/a"]) | st.text(max_size=6)
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "compaction", "checkpoint", "custom", "unheard_of", "session", ""])},
    optional={
        "id": IDS | st.integers(),
        "parentId": st.none() | IDS,
        "timestamp": st.sampled_from(["2026-01-01T00:00:00.000Z", "2025-01-01", "never", 1_790_000_000_000, -5, 2**70]),
        "firstKeptEntryId": IDS,
        "message": JSON,
        "data": JSON,
    },
)
# as other writers write them: with spaces, escapes, half characters, bytes that are no text, a carriage return
STYLES = (
    lambda record: json.dumps(record).encode(),
    lambda record: json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
    lambda record: b" " + json.dumps(record).encode() + b"\r",
    lambda record: json.dumps({**record, "half": "\ud83d"}).encode(),
    lambda record: json.dumps({**record, "odd": "@@"}).encode().replace(b"@@", b"\xff\xfe"),
)
LINES = st.lists(st.tuples(RECORDS, st.sampled_from(STYLES)).map(lambda pair: pair[1](pair[0])), max_size=12)


def write_files(place: Path, sessions: dict[str, list[bytes]]) -> JsonlBackend:
    """Session files as they are found, past every check of ours."""
    place.mkdir(parents=True)
    index = {}
    for number, (key, lines) in enumerate(sessions.items()):
        header = {"type": "session", "version": 3, "id": f"s{number}", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
        (place / f"s{number}.jsonl").write_bytes(
            b"".join(line + b"\n" for line in [json.dumps(header).encode(), *lines])
        )
        index[key] = {"sessionId": f"s{number}", "updatedAt": 5, "metadata": {"flushActioned": True}}
    (place / "sessions.json").write_text(json.dumps(index))
    return JsonlBackend(place, disk=FAST)


def everything(backend: Backend) -> dict[str, tuple[list[bytes], Any]]:
    return {one.key: (list(backend.lines(one.key)), one.details.get("metadata")) for one in backend.sessions()}


@given(st.dictionaries(st.sampled_from(["k:1", "k:2", "agent:main:x"]), LINES, min_size=1))
def test_there_and_back_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, sessions: dict[str, list[bytes]]
) -> None:
    """Trees, compactions, unknown types, records without ids, ids that sessions share: byte for byte, in order."""
    place = tmp_path_factory.mktemp("migrate")
    before = write_files(place / "before", sessions)
    database, after = SqliteBackend(place / "x.db", disk=FAST), JsonlBackend(place / "after", disk=FAST)
    there, back = migrate_transcripts(before, database), migrate_transcripts(database, after)
    assume(not there.hidden)  # a key drawn at random may be a secret's name, such as PW
    assert (there.conflicts, back.conflicts, there.bad) == ([], [], 0)
    assert everything(after) == everything(before) == everything(database)
    assert (
        migrate_transcripts(before, database).records == migrate_transcripts(database, before).records == 0
    )  # again is nothing
    for key in sessions:
        ends = (backend.lines_back(key) for backend in (before, database, after))
        assert len({tuple(lines) for lines in ends}) == 1
    database.close()


def test_what_is_no_record_is_counted_and_a_secret_is_not_carried(tmp_path: Path) -> None:
    """Torn lines stay behind in the old file; a secret that an older rule missed is hidden on the way."""
    lines = [b'{"type":"message","id":"to', b"[]", b'{"type":"custom","id":"x","note":"password=hunter2hunter2"}']
    before = write_files(tmp_path / "before", {"k:1": lines})
    database = SqliteBackend(tmp_path / "x.db", disk=FAST)
    told = migrate_transcripts(before, database)
    assert (told.bad, told.hidden, told.records) == (2, 1, 2)
    assert json.loads(list(database.lines("k:1"))[1])["note"] == "password=[REDACTED]"
    database.close()


def test_two_histories_of_one_session_are_left_alone(tmp_path: Path) -> None:
    """Where the target does not begin as the source does nothing is changed, and the other sessions are carried."""
    before = write_files(tmp_path / "before", {"k:1": [b'{"type":"x","id":"1"}'], "k:2": [b'{"type":"x","id":"2"}']})
    store = TranscriptStore(SqliteBackend(tmp_path / "x.db", disk=FAST), state_dir=tmp_path)
    store.append("k:1", user("another story"))
    kept = list(store.read("k:1"))
    told = migrate_transcripts(before, store.backend)
    assert told.conflicts == ["k:1 has another history in the target"]
    assert list(store.read("k:1")) == kept
    assert list(store.read("k:2")) == list(before.lines("k:2"))
    store.close()


def test_after_going_back_and_forth_new_records_follow(tmp_path: Path) -> None:
    """Work goes on in the new store; going back carries only what is new."""
    files = TranscriptStore.open(tmp_path, {"store": "jsonl"}, disk=FAST)
    files.append(None, user("one"))
    database = TranscriptStore.open(tmp_path, {"store": "sqlite"}, disk=FAST)
    migrate_transcripts(files.backend, database.backend)
    database.append(None, user("two"))
    told = migrate_transcripts(database.backend, files.backend)
    assert (told.records, told.present) == (1, 2)
    assert [message["content"] for message in files.load().messages] == ["one", "two"]
    database.close()


MIGRATE = """
import os, signal, sys
from pathlib import Path
from jsonlstore.context.store import open_backend
from jsonlstore.context import migrate as room
from jsonlstore.core.session_settings import SessionSettings
state, to, after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
room._BATCH_LINES = 7
source = open_backend(state, SessionSettings(), "jsonl" if to == "sqlite" else "sqlite")
target = open_backend(state, SessionSettings(), to)
append, count = target.append, 0
def counted(*given):
    global count
    count += 1
    if count > after:
        os.kill(os.getpid(), signal.SIGKILL)
    return append(*given)
target.append = counted
room.migrate_transcripts(source, target)
"""


@pytest.mark.parametrize("to", ["sqlite", "jsonl"])
def test_killed_in_the_middle_it_goes_on(to: str, tmp_path: Path) -> None:
    """kill -9 after every few batches: each run carries on, and in the end both stores tell the same."""
    source = TranscriptStore.open(tmp_path, {"store": "jsonl" if to == "sqlite" else "sqlite"}, disk=FAST)
    for number in range(60):
        source.append(f"k:{number % 2}", user(f"message {number}"))
    runs = 0
    while True:
        done = subprocess.run([sys.executable, "-c", MIGRATE, tmp_path, to, "2"], capture_output=True, check=False)
        runs += 1
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert runs > 3
    target = TranscriptStore.open(tmp_path, {"store": to}, disk=FAST)
    for key in ("k:0", "k:1"):
        assert list(target.read(key)) == list(source.read(key))
    target.close()
    source.close()


def test_the_command_carries_over_and_says_what_it_did(home: Home) -> None:
    """`--dry-run` changes nothing; the real run tells counts; going back works, too."""
    with TranscriptStore.open(home.path, {"store": "sqlite"}) as store:
        store.append(None, user("one"))
        store.append("jsonlstore:main:other", user("two"))
    before = home.files()
    told = json.loads(home.run("transcripts", "migrate", "--to", "jsonl", "--dry-run", "--json").stdout)
    assert (told["sessions"], told["records"], told["dry_run"]) == (2, 4, True)
    assert home.files() == before
    assert "2 sessions, 4 records" in home.run("transcripts", "migrate", "--to", "jsonl").stdout
    with TranscriptStore.open(home.path, {"store": "jsonl"}) as files:
        assert {one.key for one in files.list()} == {"jsonlstore:main:main", "jsonlstore:main:other"}
        files.append(None, user("three"))
    told = json.loads(home.run("transcripts", "migrate", "--to", "sqlite", "--json").stdout)
    assert (told["records"], told["present"], told["conflicts"]) == (1, 4, [])
    with TranscriptStore.open(home.path, {"store": "sqlite"}) as store:
        assert len(store.load().messages) == 2
        store.append(None, user("diverging"))
    with TranscriptStore.open(home.path, {"store": "jsonl"}) as files:
        files.append(None, user("otherwise"))
    done = home.run("transcripts", "migrate", "--to", "jsonl", check=False)
    assert done.returncode == 1
    assert "another history" in done.stderr
    assert os.path.exists(home.path / "jsonlstore" / "sessions.db")
