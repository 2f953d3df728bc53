"""The documents' own checks, run with the `sqlite3` tool on our export, print what the documents say."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from jsonlstore.bridges.braindb import export_sessions
from jsonlstore.bridges.braindb.schema import COLUMNS

pytestmark = pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the sqlite3 command-line tool")


@pytest.fixture
def sqlite(store, cortex, clock):
    for number in range(7):
        store.start(f"s-{number}", channel="cli", hot_topics=["cortex"] * (number > 3), working_memory=[])
        clock.forward(hours=1)
        if number != 2:
            store.end(f"s-{number}")
        clock.forward(hours=1)
    export_sessions(store, cortex)

    def ask(question: str) -> str:
        return subprocess.run(["sqlite3", str(cortex), question], capture_output=True, text=True, check=True).stdout

    return ask


def test_the_schema_is_there(sqlite):
    printed = sqlite(".schema session_states")
    assert printed.startswith("CREATE TABLE session_states (")
    columns = re.findall(r"^    ([a-z_]+) (?:TEXT|INTEGER)\b", printed, re.MULTILINE)
    assert tuple(columns) == COLUMNS


def test_the_indexes_are_there(sqlite):
    named = [word for word in sqlite(".indexes session_states").split() if not word.startswith("sqlite_autoindex")]
    assert sorted(named) == ["idx_session_channel", "idx_session_endtime", "idx_session_prev"]


def test_completed_sessions_are_listed_latest_end_first(sqlite):
    printed = sqlite(
        "SELECT id, start_time, end_time FROM session_states WHERE end_time IS NOT NULL ORDER BY end_time DESC LIMIT 5;"
    )
    lines = printed.splitlines()
    assert [line.split("|")[0] for line in lines] == ["s-6", "s-5", "s-4", "s-3", "s-1"]
    assert lines[0] == "s-6|2026-11-10T21:00:00.000Z|2026-11-10T22:00:00.000Z"


def test_sizes_are_shown_for_the_latest_sessions(sqlite):
    printed = sqlite(
        "SELECT id, length(working_memory), length(hot_topics) FROM session_states ORDER BY created_at DESC LIMIT 3;"
    )
    assert printed.splitlines() == ["s-6|2|10", "s-5|2|10", "s-4|2|10"]


def test_crashed_sessions_are_those_without_an_end(sqlite):
    assert sqlite("SELECT id FROM session_states WHERE end_time IS NULL AND id != 's-9'") == "s-2\n"


def test_the_lookback_query_uses_its_index(sqlite):
    plan = sqlite(
        "EXPLAIN QUERY PLAN SELECT * FROM session_states WHERE end_time >= '2026-11-10' ORDER BY end_time DESC"
    )
    assert "idx_session_endtime" in plan
    assert "TEMP B-TREE" not in plan


def test_the_database_is_sound(sqlite):
    assert sqlite("PRAGMA integrity_check") == "ok\n"
