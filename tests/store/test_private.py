"""What we create is the user's alone, lies where it may lie, and is never named by a hostile id."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.errors import InvalidSessionId
from tests.faults.runner import assert_private, run
from tests.faults.scenarios import SCENARIOS, Scenario, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jsonlstore.store.store import SessionStore

HOSTILE = (
    "../x", "/etc/passwd", "a/b", "a\x00b", "x" * 300, "x" * 129, "states", "Metrics", "sessions", "archive", "x.lock",
    "", ".", "..", ".hidden", "-option", "a\n", "ä", " ",
)  # fmt: skip


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_modes_and_places(scenario: Scenario, tmp_path: Path) -> None:
    """Under the laxest umask, whatever is created is 0600 or 0700, and only mirrors lie directly in `sessions/`."""
    before = os.umask(0)
    try:
        scenario.prepare(open_store(tmp_path))
        outcome = run(tmp_path, scenario.steps, None)
    finally:
        os.umask(before)
    assert outcome.acknowledged == len(scenario.steps)
    assert_private(tmp_path)
    sessions = str(tmp_path / "sessions")
    for path in outcome.created:  # also what was renamed or removed since
        parent, name = os.path.split(path.rstrip("/"))
        if parent == sessions:
            assert name in ("archive", "states") or (name.endswith(".json") and name != "sessions.json")


def test_modes_under_any_umask(umask: int, tmp_path: Path) -> None:
    """A umask can neither widen nor narrow what we create."""
    root = tmp_path / "state"
    store = open_store(root)
    store.start("a", channel="cli")
    store.end("a", reason="new", end_time="2026-02-14T08:00:00Z")
    store.archive("a")
    store.update("a", {"next_step": "again"})
    assert_private(root)


def calls(store: SessionStore, bad: Any) -> dict[str, Callable[[], object]]:
    return {
        "start": lambda: store.start(bad),
        "update": lambda: store.update(bad, {"next_step": "x"}),
        "end": lambda: store.end(bad),
        "recover": lambda: store.recover(bad, "2026-02-14T08:00:00Z"),
        "resume": lambda: store.resume(bad),
        "link": lambda: store.link(bad, "a"),
        "link to": lambda: store.link("a", bad),
        "note": lambda: store.note(bad, "flush.offered", {}),
        "archive": lambda: store.archive(bad),
        "finish_archiving": lambda: store.finish_archiving(bad),
        "forget": lambda: store.forget(bad),
        "get": lambda: store.get(bad),
        "folded": lambda: store.folded(bad),
        "entry": lambda: store.entry(bad),
        "resolve": lambda: store.resolve(bad),
        "stretches": lambda: store.stretches(bad),
        "chain": lambda: store.chain(bad),
    }


@pytest.mark.parametrize("bad", [*HOSTILE, None, 7, b"a"], ids=lambda bad: repr(bad)[:20])
def test_no_method_takes_a_hostile_id(bad: Any, tmp_path: Path) -> None:
    """Every public method refuses an id that is not a plain one, and nothing is created for it."""
    store = open_store(tmp_path / "state")
    store.start("a", channel="cli")
    before = sorted(tmp_path.rglob("*"))
    methods = calls(store, bad)
    if isinstance(bad, str):  # a link that is not given is no link
        methods["start after"] = lambda: store.start("fine", previous_session_id=bad)
    for name, call in methods.items():
        try:
            call()
        except InvalidSessionId:
            continue
        pytest.fail(f"{name} took {bad!r}")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bad", [each for each in HOSTILE if not each.startswith("-")], ids=lambda bad: repr(bad)[:20])
@pytest.mark.parametrize("command", [["show"], ["chain"], ["forget", "--yes"]], ids=lambda command: command[0])
def test_no_command_takes_a_hostile_id(
    command: list[str], bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that takes an id exits 2 on one that cannot be, with the error's code for scripts."""
    open_store(tmp_path).start("a", channel="cli")
    assert main(["--state-dir", str(tmp_path), *command, bad, "--json"]) == 2
    assert '"invalid_session_id"' in capsys.readouterr().out
