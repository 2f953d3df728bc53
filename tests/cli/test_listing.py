"""Listings: order, limits, time, what a pipe gets, following, completion, and mistyped commands."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.cli.listing import Filters, last_active
from jsonlstore.cli.main import cli, main
from jsonlstore.core.clock import format_time
from jsonlstore.store import SessionStore

NOW = datetime(2026, 2, 20, 12, tzinfo=UTC)
LONG = "the tuner needs a relay that " + "switches quietly and " * 12 + "holds"


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.moment = NOW

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> SessionStore:
    return SessionStore.open(tmp_path, clock=clock)


def lived(store: SessionStore, clock: Clock, name: str, began: float, ended: float | None, **fields: Any) -> None:
    """A session that began and ended so many days before now."""
    clock.moment = NOW - timedelta(days=began)
    store.start(name, channel="cli", agent_id="main")
    if fields:
        store.update(name, fields)
    if ended is not None:
        clock.moment = NOW - timedelta(days=ended)
        store.end(name, reason="new")
    clock.moment = NOW


def listed(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[list[str], str]:
    main(["--state-dir", str(root), "list", "--json", "--now", format_time(NOW), *options])
    out, err = capsys.readouterr()
    return [row["session_id"] for row in json.loads(out)], err


def test_the_session_that_was_active_last_comes_first(
    store: SessionStore, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the one that began last; and what is written about a session long after its end is no activity."""
    lived(store, clock, "long", 9, 1)
    lived(store, clock, "short", 3, 2.9)
    lived(store, clock, "running", 5, None)
    clock.moment = NOW - timedelta(hours=1)
    store.update("running", {"hot_topics": ["antenna"]})
    clock.moment = NOW
    store.link("short", "running")
    assert listed(tmp_path, capsys)[0] == ["running", "long", "short"]


def test_an_open_session_shows_what_its_log_knows(
    store: SessionStore, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The index is written at boundaries; the list does not wait for the next one."""
    lived(store, clock, "running", 1, None)
    store.update("running", {"active_projects": ["tuner"], "pending_tasks": [{"task_id": "t-1", "title": "solder"}]})
    main(["--state-dir", str(tmp_path), "list", "--json"])
    row = json.loads(capsys.readouterr().out)[0]
    assert (row["active_projects"], row["pending_task_count"]) == (["tuner"], 1)
    assert listed(tmp_path, capsys, "--project", "TUNER")[0] == ["running"]


def test_a_list_that_is_cut_says_so_on_stderr(
    store: SessionStore, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many there are, and how to see them all."""
    for number in range(3):
        lived(store, clock, f"s-{number}", 3 - number, 2.5 - number if number < 2 else 0.5)
    assert listed(tmp_path, capsys, "-n", "2")[1] == "2 of 3 sessions; -n 3 shows all\n"
    assert listed(tmp_path, capsys, "--limit", "3")[1] == ""


def test_since_and_until_take_times_as_people_say_them(
    store: SessionStore, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A day is meant whole, at both ends; what is no time is refused with an example."""
    lived(store, clock, "early", 9, 8.9)
    lived(store, clock, "middle", 5, 4.9)
    lived(store, clock, "late", 1, 0.9)
    assert listed(tmp_path, capsys, "--since", "2026-02-14")[0] == ["late", "middle"]
    assert listed(tmp_path, capsys, "--until", "2026-02-15")[0] == ["middle", "early"]
    assert listed(tmp_path, capsys, "--since", "yesterday")[0] == ["late"]
    assert listed(tmp_path, capsys, "--since", "2026-02-14", "--until", "2026-02-16")[0] == ["middle"]
    assert main(["--state-dir", str(tmp_path), "list", "--since", "soonish"]) == 2
    assert "hint: such as 2026-02-14" in capsys.readouterr().err


SPANS = st.lists(st.tuples(st.floats(0, 40), st.floats(0, 5), st.booleans()), max_size=8)


@given(SPANS, st.floats(0, 45))
def test_days_leaves_out_exactly_what_ended_before(spans: list[tuple[float, float, bool]], days: float) -> None:
    """Whatever the sessions: an open one is always there, an ended one if it ended in time, in order of activity."""
    clock = Clock()
    store = SessionStore.in_memory(clock=clock)
    for number, (began, length, is_open) in enumerate(spans):
        lived(store, clock, f"s-{number}", began, None if is_open else max(0.0, began - length))
    found = Filters(days=days).apply(store, NOW)
    since = format_time(NOW - timedelta(days=days))
    wanted = {entry.session_id for entry in store.entries() if entry.end_time is None or entry.end_time >= since}
    assert {entry.session_id for entry in found} == wanted
    assert [last_active(entry) for entry in found] == sorted(map(last_active, found), reverse=True)


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "jsonlstore", *words]


@pytest.fixture
def talkative(store: SessionStore, clock: Clock, tmp_path: Path) -> Path:
    notes = [{"id": f"n-{n}", "type": "decision", "content": f"decision {n}: {LONG}"} for n in range(14)]
    lived(store, clock, "talkative", 2, 1, notes=notes, next_step=LONG, hot_topics=[f"topic-{n}" for n in range(12)])
    return tmp_path


def test_recall_shows_all_of_a_session_with_full_and_in_a_pipe(
    store: SessionStore, clock: Clock, tmp_path: Path
) -> None:
    """On a terminal the first tasks and topics, and how to see the others."""
    tasks = [{"task_id": f"t-{n}", "title": f"relay number {n}", "stage": "build"} for n in range(9)]
    lived(store, clock, "many", 2, 1, pending_tasks=tasks, hot_topics=[f"topic-{n}" for n in range(15)])
    words = ("--state-dir", str(tmp_path), "recall", "relay", "--now", format_time(NOW))
    short = on_a_terminal(*words)
    assert "relay number 8" not in short
    assert "(--full shows all)" in short
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    piped = subprocess.run(program(*words), env=env, capture_output=True, text=True, check=True).stdout
    for text in (piped, on_a_terminal(*words, "--full")):
        assert "relay number 8" in text
        assert "topic-14" in text
        assert "more" not in text


LISTINGS = (
    ["list"], ["recall"], ["search"], ["metrics"], ["transcripts", "list"], ["handoff", "list"], ["task", "list"],
    ["pin", "list"], ["checkpoint", "list"],
)  # fmt: skip


@pytest.mark.parametrize("words", LISTINGS, ids=" ".join)
def test_every_listing_takes_since_until_and_n(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--since WHEN", "--until WHEN", "-n, --limit N"):
        assert option in text


@pytest.mark.parametrize("words", [["pin", "list"], ["task", "list"], ["handoff", "list"]], ids=" ".join)
def test_a_listing_leaves_out_what_is_outside_its_time(
    words: list[str], store: SessionStore, clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And refuses what is no time, with an example."""
    lived(store, clock, "old", 9, 8, pending_tasks=[{"task_id": "t-1", "title": "solder", "stage": "build"}])
    pins = tmp_path / "workspace" / "memory" / "working_memory.json"
    pins.parent.mkdir(parents=True)
    pinned = {"content": "38400 baud", "pinnedAt": format_time(NOW - timedelta(days=9))}
    pins.write_text(json.dumps({"items": [pinned]}))
    for since in ("2d", "yesterday"):
        main(["--state-dir", str(tmp_path), *words, "--since", since, "--now", format_time(NOW)])
        said = capsys.readouterr().out
        assert "solder" not in said
        assert "38400" not in said
    assert main(["--state-dir", str(tmp_path), *words, "--since", "soonish", "--now", format_time(NOW)]) == 2
    assert "hint: such as 2026-02-14" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["show", "talk"], ["recall", "relay"], ["list"]], ids=lambda words: words[0])
def test_what_goes_into_a_pipe_is_never_cut(words: list[str], talkative: Path) -> None:
    """No ellipsis, no wrapping, and every item of every list."""
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run(
        program("--state-dir", str(talkative), *words), env=env, capture_output=True, text=True, check=True
    )
    if words[0] != "list":
        assert f" {LONG}\n" in done.stdout
    if words[0] == "show":
        assert all(f"decision {number}: {LONG}\n" in done.stdout for number in range(14))


def on_a_terminal(*words: str, columns: int = 60) -> str:
    """What a command prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    with subprocess.Popen(program(*words), env=env, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        pieces = list(iter(lambda: _read(ours), b""))
    os.close(ours)
    assert running.returncode == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # Linux: the other side of the terminal is closed
        return b""


def test_a_terminal_gets_long_values_wrapped_and_long_lists_counted(talkative: Path) -> None:
    """Nothing of a value is lost; of a list the first ten are shown, and all with --full."""
    short = on_a_terminal("--state-dir", str(talkative), "show", "talk")
    assert max(map(len, short.split("\n"))) <= 60
    assert " ".join(f"decision 9: {LONG}".split()) in " ".join(short.split())
    assert "and 4 more (--full shows all)" in short
    assert "decision 13:" not in short
    assert "decision 13:" in on_a_terminal("--state-dir", str(talkative), "show", "talk", "--full")


def test_a_session_as_markdown_is_one_document(store: SessionStore, clock: Clock, capsys: Any, tmp_path: Path) -> None:
    """Headings and lists are ours; what was said cannot become markup."""
    lived(store, clock, "noted", 2, 1, next_step="# run <b>it</b> *now*", in_progress=["[x](http://a)"])
    assert main(["--state-dir", str(tmp_path), "show", "noted", "--markdown"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# noted\n\n- **started:** ")
    assert "- **next step:** \\# run \\<b\\>it\\</b\\> \\*now\\*\n" in text
    assert "## In progress\n\n- \\[x\\](http://a)\n" in text


def lines(stream: Any) -> Iterator[str]:
    while line := stream.readline():
        yield line


def test_following_prints_a_session_when_it_changes(store: SessionStore, clock: Clock, tmp_path: Path) -> None:
    """What was there is counted, what comes is printed, a line of JSON each; Ctrl-C ends it."""
    lived(store, clock, "old", 2, 1)
    with subprocess.Popen(
        program("--state-dir", str(tmp_path), "list", "--follow", "--json"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - ignored in a background shell
    ) as running:  # fmt: skip
        try:
            assert running.stderr is not None
            assert running.stdout is not None
            assert next(lines(running.stderr)) == "following 1 session; Ctrl-C ends\n"
            store.start("new", channel="cli")
            assert json.loads(next(lines(running.stdout)))["session_id"] == "new"
            store.end("new", reason="reset")
            row = json.loads(next(lines(running.stdout)))
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 130
        finally:
            running.kill()
    assert (row["session_id"], row["end_reason"]) == ("new", "reset")


def completed(root: Path, *words: str) -> list[str]:
    found = ShellComplete(cli, {"obj": None}, "jsonlstore", "_X").get_completions(
        ["--state-dir", str(root), *words[:-1]], words[-1]
    )
    return [one.value for one in found]


def test_ids_projects_and_agents_are_completed(store: SessionStore, clock: Clock, tmp_path: Path) -> None:
    """Ids latest first, names sorted, whatever their case."""
    lived(store, clock, "aa-1", 3, 2, active_projects=["Tuner"])
    lived(store, clock, "aa-2", 2, 1, active_projects=["tower"])
    assert completed(tmp_path, "show", "aa") == ["aa-2", "aa-1"]
    assert completed(tmp_path, "chain", "aa-1") == ["aa-1"]
    assert completed(tmp_path, "list", "--project", "t") == ["Tuner", "tower"]
    assert completed(tmp_path, "recall", "--agent", "m") == ["main"]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["lst"], "'list'"),
        (["backfil"], "'backfill'"),
        (["transcripts", "lst"], "'list'"),
        (["stat"], "one of: 'stats', 'status'"),
    ],
    ids=lambda words: words if isinstance(words, str) else "-".join(words),
)
def test_a_mistyped_command_is_answered_with_the_nearest(
    words: list[str], meant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also inside a group of commands."""
    assert main(["--state-dir", str(tmp_path), *words]) == 2
    assert f"Did you mean {meant}" in capsys.readouterr().err


def test_a_command_like_no_other_gets_no_suggestion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A guess that helps nobody is not made."""
    assert main(["--state-dir", str(tmp_path), "xyzzyq"]) == 2
    assert "Did you mean" not in capsys.readouterr().err
