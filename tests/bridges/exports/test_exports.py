"""Exports hold what the store holds, once; a further one writes only what is new."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore import SessionStore
from jsonlstore.bridges.exports import export_tables
from jsonlstore.bridges.exports.formats import Format, JsonLines, Parquet
from tests.home import START, Home, task

KINDS = ["jsonl", "parquet"]
PAGE = Path(__file__).parents[3] / "docs" / "analysis.md"


def form_of(kind: str) -> Format:
    if kind == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow (extra `parquet`) is not installed")
    return JsonLines() if kind == "jsonl" else Parquet()


def rows_in(folder: Path, kind: str) -> list[dict[str, Any]]:
    form = form_of(kind)
    return [row for path in sorted(folder.rglob(f"*.{kind}")) for row in form.load(path)]


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_export_writes_only_what_is_new(home: Home, tmp_path: Path, kind: str) -> None:
    """Nothing happened: no byte changes. A new session: one new file with it alone, the others untouched."""
    form = form_of(kind)
    home.past("one", hot_topics=["radio"], pending_tasks=[task(1)])
    home.past("two", hot_topics=["kite"])
    home.run("export", kind, str(tmp_path / "out"), "--host", "laptop")
    first = files_in(tmp_path / "out")
    assert {path.parent.name for path in first} == {"month=2026-11"}
    assert {path.parents[1].name for path in first} == {"host=laptop"}
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in first)
    told = json.loads(home.run("export", kind, str(tmp_path / "out"), "--host", "laptop", "--json").stdout)
    assert (told["added"], told["updated"], told["unchanged"], told["files"]) == (0, 0, 2, [])
    assert files_in(tmp_path / "out") == first
    home.past("three", hot_topics=["boat"])
    home.run("export", kind, str(tmp_path / "out"), "--host", "laptop", "--dry-run")
    assert files_in(tmp_path / "out") == first
    home.run("export", kind, str(tmp_path / "out"), "--host", "laptop")
    after = files_in(tmp_path / "out")
    assert {path: after[path] for path in first} == first
    (fresh,) = after.keys() - first.keys()
    assert [row["session_id"] for row in form.load(fresh)] == ["three"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_changed_or_was_forgotten_leaves_the_old_file(home: Home, tmp_path: Path, kind: str) -> None:
    """A changed session is there once, as it is now; a forgotten one's words are in no file."""
    out = tmp_path / "out"
    for name in ("one", "two", "three"):
        home.past(name, hot_topics=[f"topic-{name}"])
    export_tables(home.store, out, kind, host="h")
    home.store.update("two", {"hot_topics": ["changed"]})
    home.store.forget("three")
    report = export_tables(home.store, out, kind, host="h")
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 1, 1, 1)
    rows = {row["session_id"]: row["hot_topics"] for row in rows_in(out, kind)}
    assert rows.keys() == {"one", "two"}
    assert "changed" in rows["two"]
    assert len(rows_in(out, kind)) == 2
    assert not any(b"topic-three" in data for data in files_in(out).values())


def test_events_since_and_odd_hosts(home: Home, tmp_path: Path) -> None:
    """Every event of a log is a line; --since leaves older sessions out; a host's name cannot leave the folder."""
    home.past("old", hot_topics=["a"])
    home.later(days=20)
    home.past("new", hot_topics=["b"])
    line = ("--events", "--since", "5d", "--host", "../x y", "--now", home.now.isoformat())
    home.run("export", "jsonl", str(tmp_path / "out"), *line)
    rows = rows_in(tmp_path / "out", "jsonl")
    assert {row["session_id"] for row in rows} == {"new"}
    assert [row["type"] for row in rows] == [event.type for event in home.store.events("new")]
    assert {row["host"] for row in rows} == {"../x y"}
    assert [path.name for path in (tmp_path / "out" / "events").iterdir()] == ["host=..%2Fx%20y"]


def test_a_host_that_is_a_secret_names_no_folder(home: Home, tmp_path: Path) -> None:
    """It is hidden before it is quoted: `%3A` is no colon to the redactor."""
    home.past("old", hot_topics=["a"])
    secret = "Qk7x9NVP8mcmCzw8Z"
    home.run("export", "jsonl", str(tmp_path / "out"), "--host", f"db.internal:6432:app:bob:{secret}")
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert secret.encode() not in written
    assert not [path for path in (tmp_path / "out").rglob("*") if secret in str(path)]
    assert {row["host"] for row in rows_in(tmp_path / "out", "jsonl")} == {"db.internal:6432:app:bob:[REDACTED]"}


STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "update", "forget", "export", "stopped"]), st.integers(0, 4)), max_size=14
)


@given(STEPS)
@settings(max_examples=40, deadline=None)
def test_whatever_happens_each_session_is_there_once_as_it_is(steps: list[tuple[str, int]]) -> None:
    """Over random histories, with exports that are stopped after writing their new files, the last one is exact."""
    store = SessionStore.in_memory(clock=lambda: START + timedelta(days=1))
    target = store.paths.state_dir / "out"
    for number, (what, which) in enumerate(steps):
        name = f"s-{which}"
        known = {one.session_id for one in store.entries()}
        if what == "start" and not (store.index.entries().get(name) or {}).get("forgotten"):
            store.start(name, hot_topics=[f"t{number}"])
        elif what == "update" and name in known:
            store.update(name, {"hot_topics": [f"t{number}"]})
        elif what == "forget" and name in known:
            store.forget(name)
        elif what in ("export", "stopped"):
            before = files_in(target)
            export_tables(store, target, "jsonl", host="h")
            if what == "stopped":
                for path, data in before.items():
                    path.write_bytes(data)
    export_tables(store, target, "jsonl", host="h")
    rows = rows_in(target, "jsonl")
    assert sorted(row["session_id"] for row in rows) == sorted(one.session_id for one in store.entries())
    for row in rows:
        assert row["hot_topics"] == list(store.get(row["session_id"]).hot_topics)


# -- the queries of docs/analysis.md


def queries() -> dict[str, str]:
    found = re.findall(r"```sql\n-- ([a-z ]+)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return dict(found)


def two_hosts(home: Home, target: Path, kind: str) -> None:
    home.past("one", hot_topics=["radio"], active_projects=["ham"], pending_tasks=[task(1)])
    export_tables(home.store, target, kind, host="laptop")
    home.later(days=40)
    home.past("two", hot_topics=["radio", "kite"], active_projects=["ham", "air"])
    export_tables(home.store, target, kind, host="server")


@pytest.mark.parametrize("kind", KINDS)
def test_the_queries_of_the_page_run_in_duckdb(home: Home, tmp_path: Path, kind: str) -> None:
    """Each over both exports, from two hosts, with the answers that the store gives."""
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    form_of(kind)
    two_hosts(home, tmp_path / "exports", kind)
    views = re.findall(r"CREATE VIEW sessions AS .*?;", PAGE.read_text())
    view = next(one for one in views if ("jsonl" in one) == (kind == "jsonl"))
    base = duckdb.connect()
    base.execute(view.replace("'exports/", f"'{tmp_path}/exports/"))
    got = {name: base.execute(text).fetchall() for name, text in queries().items() if "clickhouse" not in name}
    assert [(host, count) for host, _, count in got["weeks"]] == [("laptop", 1), ("server", 1), ("server", 1)]
    assert [row[:2] for row in got["projects"]] == [("ham", 3), ("air", 1)]
    assert [(row[0], row[1], row[2]) for row in got["open tasks"]] == [
        ("laptop", "one", "task-001"),
        ("server", "one", "task-001"),
    ]
    assert got["topics"] == [("radio", 3, 2), ("kite", 1, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_queries_of_the_page_run_in_clickhouse(home: Home, tmp_path: Path, kind: str) -> None:
    """chdb is ClickHouse in a process; one of its own, because it stays in memory for good."""
    form_of(kind)
    if importlib.util.find_spec("chdb") is None:
        pytest.skip("chdb is not installed")
    two_hosts(home, tmp_path / "exports", kind)
    source = next(one for one in re.findall(r"`(file\('exports/[^`]*)`", PAGE.read_text()) if f".{kind}'" in one)
    table = source.replace("'exports/", f"'{tmp_path}/exports/")
    asked = {name: text for name, text in queries().items() if "clickhouse" in name}
    code = "import json, sys, chdb\nfor one in json.load(sys.stdin): print(json.dumps(str(chdb.query(one, 'CSV'))))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([text.replace("FROM sessions", f"FROM {table}") for text in asked.values()]),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line).replace('"', "").splitlines() for line in done.stdout.splitlines()]
    got = dict(zip(asked, answers, strict=True))
    assert got["clickhouse weeks"] == ["laptop,2026-11-09,1", "server,2026-11-09,1", "server,2026-12-14,1"]
    assert [row.split(",")[:2] for row in got["clickhouse projects"]] == [["ham", "3"], ["air", "1"]]
    assert got["clickhouse open tasks"] == ["laptop,one,task-001,Job number 1", "server,one,task-001,Job number 1"]
    assert got["clickhouse topics"] == ["radio,3,2", "kite,1,1"]


def test_datasette_shows_the_exported_database(home: Home, tmp_path: Path) -> None:
    """The way the page describes, without opening a port: `datasette FILE --get` answers one request and leaves."""
    home.past("one", hot_topics=["radio"])
    base = tmp_path / "look.db"
    home.run("export", "brain-db", str(base))
    command = [sys.executable, "-m", "datasette", str(base), "--get", "/look/session_states.json?_shape=array"]
    if subprocess.run([*command[:3], "--version"], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip("Datasette is not installed")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert [row["id"] for row in json.loads(done.stdout)] == ["one"]
