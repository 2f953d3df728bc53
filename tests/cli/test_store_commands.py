"""The command line over the store, as CLI.md promises it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import COMMANDS, main

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore
    from tests.conftest import FakeClock

NOW = "2026-02-20T12:00:00Z"


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(["--state-dir", str(store.paths.state_dir), *arguments])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def filled(store: SessionStore, clock: FakeClock) -> SessionStore:
    store.start("aaa-1", channel="cli", agent_id="main")
    store.update("aaa-1", {"hot_topics": ["ft991a", "ham radio"], "active_projects": ["lbf-ham-radio"]})
    store.update("aaa-1", {"pending_tasks": [{"task_id": "task-017", "title": "CAT control", "stage": "build"}]})
    store.end("aaa-1", reason="new")
    clock.advance(days=1)
    store.start("bbb-2", channel="telegram", agent_id="other", previous_session_id="aaa-1")
    store.link("aaa-1", "bbb-2")
    return store


def test_list_gives_the_documented_keys_newest_first(run: Any, filled: SessionStore) -> None:
    rows = run("list", "--json").json
    assert [row["session_id"] for row in rows] == ["bbb-2", "aaa-1"]
    assert rows[1] | {"end_reason": 0, "archived": 0, "tokens": 0, "updated_at": 0} == {
        "session_id": "aaa-1", "agent_id": "main", "channel": "cli", "start_time": "2026-02-18T12:00:00.000Z",
        "end_time": "2026-02-18T12:00:00.000Z", "hot_topics": ["ft991a", "ham radio"],
        "active_projects": ["lbf-ham-radio"], "pending_task_count": 1, "pin_count": 0, "crash_recovered": False,
        "previous_session_id": None, "continued_by": "bbb-2", "end_reason": 0, "archived": 0, "tokens": 0,
        "updated_at": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--agent", "main"], ["aaa-1"]),
        (["--project", "LBF-ham-radio"], ["aaa-1"]),
        (["--limit", "1"], ["bbb-2"]),
        (["--days", "1", "--now", "2026-02-20T12:00:00Z"], ["bbb-2"]),
        (["--days", "30", "--now", NOW], ["bbb-2", "aaa-1"]),
        (["--agent", "nobody"], []),
    ],
)
def test_list_filters(run: Any, filled: SessionStore, options: list[str], expected: list[str]) -> None:
    assert [row["session_id"] for row in run("list", "--json", *options).json] == expected


def test_archived_sessions_are_listed_with_their_topics(run: Any, filled: SessionStore) -> None:
    done = run("archive", "--older-than", "1d", "--now", NOW, "--json")
    assert done.json == {"archived": ["aaa-1"], "dry_run": False}
    row = run("list", "--json").json[1]
    assert (row["session_id"], row["hot_topics"], row["archived"]) == ("aaa-1", ["ft991a", "ham radio"], True)
    assert run("show", "aaa", "--json").json["pending_tasks"][0]["task_id"] == "task-017"


def test_dry_runs_change_nothing(run: Any, filled: SessionStore) -> None:
    before = {path: path.read_bytes() for path in filled.paths.state_dir.rglob("*") if path.is_file()}
    assert run("archive", "--older-than", "1h", "--now", NOW, "--dry-run", "--json").json["archived"] == ["aaa-1"]
    assert run("forget", "aaa", "--dry-run", "--json").json["forgotten"] == ["aaa-1"]
    assert {path: path.read_bytes() for path in filled.paths.state_dir.rglob("*") if path.is_file()} == before


def test_show_and_chain_take_a_unique_prefix(run: Any, filled: SessionStore) -> None:
    assert run("show", "aaa", "--json").json["session_id"] == "aaa-1"
    assert [state["session_id"] for state in run("chain", "bbb", "--depth", "5", "--json").json] == ["aaa-1", "bbb-2"]
    assert [state["session_id"] for state in run("chain", "bbb", "--depth", "1", "--json").json] == ["bbb-2"]


def test_people_see_relative_times_and_nothing_that_moves_their_cursor(run: Any, filled: SessionStore) -> None:
    filled.update("bbb-2", {"next_step": "evil \x1b[2J\x1b]0;title\x07 text", "hot_topics": ["漢字", "\x1b[31mred"]})
    shown = run("show", "bbb", "--now", NOW)
    assert "(1d ago)" in shown.out
    assert "open, last heard of 1d ago" in shown.out
    listing = run("list", "--now", NOW)
    assert "2d ago" in listing.out
    for outcome in (shown, listing, run("chain", "bbb")):
        assert "\x1b" not in outcome.out
        assert "\x07" not in outcome.out
        assert all(len(line) <= 80 for line in outcome.out.splitlines() if "next step" not in line)


def test_forget_leaves_nothing_and_says_so(run: Any, filled: SessionStore) -> None:
    done = run("forget", "aaa-1", "--yes", "--json")
    assert done.code == 0
    assert done.json["forgotten"] == ["aaa-1"]
    gone = run("show", "aaa-1", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (1, "session_forgotten")
    assert [row["session_id"] for row in run("list", "--json").json] == ["bbb-2"]


@pytest.fixture
def stretched(store: SessionStore) -> SessionStore:
    for name, seq in (("whole", 1), ("stretch", 9)):
        store.start(name, by="watcher", source={"kind": "sqlite", "session_id": "whole", "seq": seq})
    return store


def test_decision_48_forget_covers_every_stretch_of_a_transcript_and_says_so(run: Any, stretched: SessionStore) -> None:
    asked = run("forget", "whole", "--dry-run", "--json")
    assert "whole covers 2 stretches of one OpenClaw session: whole, stretch; --only" in " ".join(asked.err.split())
    assert sorted(run("forget", "whole", "--yes", "--json").json["forgotten"]) == ["stretch", "whole"]


def test_forget_only_takes_the_one_that_was_named(run: Any, stretched: SessionStore) -> None:
    done = run("forget", "whole", "--only", "--yes", "--json")
    assert (done.json["forgotten"], done.err) == (["whole"], "")
    assert [one.session_id for one in stretched.entries() if not one.forgotten] == ["stretch"]
    assert run("forget", "stretch", "--yes", "--json").json["forgotten"] == ["stretch"]


def test_forget_refuses_where_nobody_can_be_asked(run: Any, filled: SessionStore) -> None:
    before = {path: path.read_bytes() for path in filled.paths.sessions.rglob("*") if path.is_file()}
    refused = run("forget", "aaa-1", "--json")
    assert (refused.code, "--yes" in refused.json["error"]["hint"]) == (2, True)
    assert before == {path: path.read_bytes() for path in filled.paths.sessions.rglob("*") if path.is_file()}


def test_forget_asks_people_and_takes_no_for_an_answer(filled: SessionStore) -> None:
    """On a terminal of its own: whoever says no keeps everything."""
    import pty

    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(filled.paths.state_dir), "forget", "aaa-1"]
    for said, left in (("n", 2), ("y", 1)):
        ours, theirs = pty.openpty()
        os.write(ours, f"{said}\n".encode())
        subprocess.run(command, stdin=theirs, capture_output=True, timeout=60, check=False)
        os.close(ours)
        os.close(theirs)
        assert sum(not one.forgotten for one in filled.entries()) == left


def test_forget_previews_what_it_would_remove_and_who_inherited(run: Any, filled: SessionStore) -> None:
    """The preview names what the deed then removes, and changes nothing."""
    pin = {"content": "c", "label": "p [inherited from aaa-1 @ 2026-02-18T12:00:00.000Z]"}
    filled.update("bbb-2", {"working_memory": [pin]})
    files = {path for path in filled.paths.sessions.rglob("*") if path.is_file() and path.suffix != ".lock"}
    seen = run("forget", "aaa-1", "--dry-run", "--json").json
    assert files == {path for path in filled.paths.sessions.rglob("*") if path.is_file() and path.suffix != ".lock"}
    assert seen["inherited_by"] == ["bbb-2"]
    assert sorted(seen["removed"]) == sorted(map(str, (filled.paths.log("aaa-1"), filled.paths.mirror("aaa-1"))))
    told = run("forget", "aaa-1", "--dry-run")
    assert "would remove" in told.out
    assert "stay in the logs of: bbb-2" in told.err
    done = run("forget", "aaa-1", "--yes", "--json").json
    assert {**done, "dry_run": True} == seen


def test_forget_names_the_sessions_that_were_given_its_words(run: Any, filled: SessionStore) -> None:
    """A preamble made of a session's words is in the log of the session that got it: `forget` says so."""
    filled.note("bbb-2", "session.inherited", {"from": ["aaa-1"], "block": "words of aaa-1"})
    assert run("forget", "aaa-1", "--dry-run", "--json").json["inherited_by"] == ["bbb-2"]
    done = run("forget", "aaa-1", "--yes")
    assert "stay in the logs of: bbb-2" in done.err
    assert run("forget", "bbb-2", "--yes", "--json").json["inherited_by"] == []


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_pin_that_cannot_be_added_says_which_reason_it_is(run: Any, dry: list[str]) -> None:
    """Pinned already, or no room: a dry run says the same, and changes nothing."""
    assert run("pin", "add", "one").code == 0
    again = run("pin", "add", "one", *dry)
    assert (again.code, "it is pinned already" in again.err) == (1, True)
    for number in range(2, 11):
        assert run("pin", "add", f"pin number {number}").code == 0
    full = run("pin", "add", "one more", *dry)
    assert (full.code, "no room for another pin" in full.err) == (1, True)
    assert len(run("pin", "list", "--json").json["pins"]) == 10


def test_config_shows_every_value_whole(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow terminal a long value goes on below itself."""
    monkeypatch.setenv("COLUMNS", "80")
    told = run("config").out
    assert "…" not in told
    assert {"validate", "deploy"} <= set(told.replace(",", " ").split())
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["show", "zzz"], 1, "session_not_found"),
        (["show", "../x"], 2, "invalid_session_id"),
        (["show", ""], 2, "invalid_session_id"),
        (["chain", "/etc/passwd"], 2, "invalid_session_id"),
        (["forget", "x" * 300], 2, "invalid_session_id"),
    ],
)
def test_errors_have_a_code_a_message_and_a_hint(
    run: Any, filled: SessionStore, arguments: list[str], code: int, kind: str
) -> None:
    failed = run(*arguments, "--json")
    assert failed.code == code
    assert failed.json["error"]["code"] == kind
    assert failed.json["error"]["hint"]
    assert failed.err.startswith("error: ")
    assert "hint: " in failed.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["show"],
        ["list", "--days", "x"],
        ["list", "--now", "tuesday"],
        ["archive", "--older-than", "soon"],
    ],
)
def test_usage_errors_exit_2(run: Any, arguments: list[str]) -> None:
    assert run(*arguments).code == 2


def test_config_says_where_each_value_came_from(run: Any, store: SessionStore) -> None:
    store.paths.state_dir.mkdir()
    (store.paths.state_dir / "openclaw.json").write_text(
        "{plugins: {cortex: {session_persistence: {lookback_days: 9}}}}"
    )
    settings = run("config", "--json").json["settings"]
    assert (settings["lookback_days"]["value"], settings["lookback_days"]["default"]) == (9, 7)
    assert settings["lookback_days"]["origin"].endswith("plugins.cortex.session_persistence")
    assert settings["debug"]["origin"] == "default"
    assert "lookback_days" in run("config").out
    (store.paths.state_dir / "openclaw.json").write_text(
        "{plugins: {cortex: {session_persistence: {lookback_days: 99}}}}"
    )
    failed = run("config", "--json")
    assert (failed.code, failed.json["error"]["code"]) == (2, "config_invalid")
    examined = run("doctor", "--json")
    assert (examined.code, examined.json["checks"][0]["ok"]) == (1, False)


def test_config_lists_the_session_block(run: Any, store: SessionStore) -> None:
    """Every key of it in the specification's spelling, with its value, its default and where it came from."""
    assert {row["origin"] for row in run("config", "--json").json["session"].values()} == {"default"}
    store.paths.state_dir.mkdir()
    (store.paths.state_dir / "openclaw.json").write_text(
        "{plugins: {entries: {jsonlstore: {config: {session: "
        "{storage: 'jsonl', inherit: true, compaction: {reserveTokens: 9000}, "
        "memoryFlush: {thresholds: [{percent: 60, prompt: 'write it down'}]}}"
        "}}}}}"
    )
    session = run("config", "--json").json["session"]
    given = {name: (row["value"], row["default"]) for name, row in session.items() if row["origin"] != "default"}
    stages = given.pop("session.memoryFlush.thresholds")
    assert given == {
        "session.store": ("jsonl", "sqlite"),
        "session.inherit.enabled": (True, False),
        "session.compaction.reserveTokens": (9000, 4000),
    }
    assert stages[0] == [{"percent": 60, "prompt": "write it down", "injectAs": "marked"}]
    assert [stage["percent"] for stage in stages[1]] == [50, 75, 90]
    assert session["session.store"]["origin"].endswith("plugins.entries.jsonlstore.config")
    shown = run("config").out
    assert "session.compaction.reserveTokens" in shown
    assert "60%" in shown


def test_doctor_and_metrics_verify_exit_1_when_something_is_wrong(run: Any, filled: SessionStore) -> None:
    filled.metrics.emit(
        {
            "event": "session_chain_traversal",
            "start_session_id": "a",
            "requested_depth": 1,
            "sessions_found": 1,
            "oldest_session_age_hours": 1,
        }
    )
    assert run("doctor").code == 0
    assert run("metrics", "verify", "--json").json["ok"] is True
    assert run("metrics", "--event", "session_chain_traversal", "--json").json[0]["sessions_found"] == 1
    filled.paths.metrics.write_bytes(
        filled.paths.metrics.read_bytes().replace(b'"sessions_found":1', b'"sessions_found":2')
    )
    broken = run("metrics", "verify", "--json")
    assert (broken.code, broken.json["ok"], broken.json["line"]) == (1, False, 1)
    examined = run("doctor", "--json")
    assert examined.code == 1
    assert set(examined.json["checks"][0]) == {"name", "ok", "detail", "fix"}
    filled.paths.index.unlink()
    assert "index" in run("doctor", "--fix").out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_s_help_ends_with_an_example(run: Any, name: str) -> None:
    shown = run(name, "--help")
    assert shown.code == 0
    assert f"jsonlstore {name}" in shown.out.split("Example:")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run: Any, shell: str) -> None:
    assert "_JSONLSTORE_COMPLETE" in run("completion", shell).out


def test_as_a_program_json_is_alone_on_stdout_and_a_closed_pipe_is_no_traceback(filled: SessionStore) -> None:
    env = {**os.environ, "OPENCLAW_STATE_DIR": str(filled.paths.state_dir)}
    done = subprocess.run(
        [sys.executable, "-m", "jsonlstore", "-v", "list", "--json"], env=env, capture_output=True, check=True
    )
    assert len(json.loads(done.stdout)) == 2
    version = subprocess.run(
        [sys.executable, "-m", "jsonlstore", "--version"], env=env, capture_output=True, check=True
    )
    assert version.stdout.startswith(b"jsonlstore ")
    command = f"{sys.executable} -m jsonlstore list --json | true"
    piped = subprocess.run(["bash", "-c", command], env=env, capture_output=True, check=True)
    assert b"Traceback" not in piped.stderr
