"""`export brain-db` and `import brain-db`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from jsonlstore.cli.main import main
from jsonlstore.store.store import SessionStore


@pytest.fixture
def cli(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("CORTEX_DATA_DIR", raising=False)
    monkeypatch.delenv("OPENCLAW_CONFIG_PATH", raising=False)

    def run(*arguments, state="state"):
        code = main(["--state-dir", str(tmp_path / state), *(str(each) for each in arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_export_and_import_with_json(cli, store, tmp_path, brain):
    store.start("s-1", start_time="2026-11-01T10:00:00Z")
    store.end("s-1", end_time="2026-11-01T11:00:00Z")
    code, out, _ = cli("export", "brain-db", brain, "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)["added"] == 1
    assert not brain.exists()
    _, out, _ = cli("export", "brain-db", brain, "--json")
    report = json.loads(out)
    assert (report["added"], report["created"], report["path"]) == (1, True, str(brain))
    _, out, _ = cli("export", "brain-db", brain, "--json")
    assert json.loads(out)["unchanged"] == 1
    _, out, _ = cli("import", "brain-db", brain, "--json", state="other")
    assert json.loads(out)["imported"] == ["s-1"]
    assert SessionStore.open(tmp_path / "other").get("s-1").end_time == "2026-11-01T11:00:00.000Z"


def test_without_a_path_the_usual_place_is_meant(cli, store, tmp_path):
    store.start("s-1")
    code, out, _ = cli("export", "brain-db")
    assert code == 0
    assert "1 added" in out
    assert (tmp_path / "state" / "workspace" / "memory" / "brain.db").exists()


@pytest.mark.parametrize(
    ("since", "added"), [("7d", 1), ("2026-11-20T00:00:00Z", 0), ("2026-11-09", 1), ("999999w", 1)]
)
def test_since(cli, store, brain, since, added):
    store.start("s-1")
    _, out, _ = cli("export", "brain-db", brain, "--since", since, "--now", "2026-11-12T00:00:00Z", "--json")
    assert json.loads(out)["added"] == added


def test_nonsense_is_a_usage_error(cli, brain):
    for nonsense in ("lately", "", "-5d", "2026-13-01", "5y", "1762000000"):
        code, _, err = cli("export", "brain-db", brain, "--since", nonsense, "--json")
        assert (code, "--since" in err) == (2, True), nonsense
    assert not brain.exists()


def test_errors_name_the_file_and_what_to_do(cli, store, brain):
    brain.write_bytes(b"garbage" * 1000)
    code, out, err = cli("import", "brain-db", brain, "--json")
    assert code == 1
    assert json.loads(out)["error"]["code"] == "unreadable"
    assert str(brain) in err
    assert "hint:" in err


def test_skipped_rows_are_told_to_people_too(cli, brain):
    with closing(sqlite3.connect(brain)) as db:
        db.execute("CREATE TABLE session_states (id, start_time, hot_topics)")
        db.execute("INSERT INTO session_states VALUES ('no good', '2026-01-01', '[]'), ('good', '2026-01-01', '[')")
        db.commit()
    code, out, err = cli("import", "brain-db", brain)
    assert code == 0
    assert "imported 1, 0 already known, 0 forgotten, 1 skipped" in out
    assert "skipped no good" in err
    assert "good: hot_topics is not JSON" in err


@pytest.mark.parametrize("command", [("export",), ("import",), ("export", "brain-db"), ("import", "brain-db")])
def test_help_ends_with_an_example(cli, command):
    _, out, _ = cli(*command, "--help")
    assert "Example:" in out
    assert "jsonlstore" in out.strip().splitlines()[-1]


def test_forget_and_archive_reach_the_row_as_well(cli, store, tmp_path, rows):
    """What `forget` promises, everywhere we keep it, includes brain.db."""
    brain = tmp_path / "state" / "workspace" / "memory" / "brain.db"
    for session_id in ("cold", "gone", "kept"):
        store.start(session_id)
        store.end(session_id)
    store.start("open")
    cli("export", "brain-db")
    assert set(rows(brain)) == {"cold", "gone", "kept", "open"}
    assert cli("forget", "gone", "--yes")[0] == 0
    assert set(rows(brain)) == {"cold", "kept", "open"}
    assert cli("archive", "--older-than", "30d", "--now", "2027-01-01T00:00:00Z")[0] == 0
    assert set(rows(brain)) == {"open"}
