"""A new session picks up where the last one stood: once, in scope, in time, unless it was cleared."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.clock import format_time
from jsonlstore.handoff import ProjectContext, capture, claim, clear, confirm, kept_handoff
from jsonlstore.restore import RestoreRequest
from tests.home import Home

if TYPE_CHECKING:
    from pathlib import Path

KEY = "agent:main:main"
HEADING = "## Previous Session Context\n"
LEFT = {
    "in_progress": ["solder the antenna"],
    "next_step": "measure the standing wave",
    "active_projects": ["radio"],
    "notes": [{"id": "d1", "type": "decision", "content": "use the copper wire", "confidence": 0.9}],
    "last_request": {"text": "which wire is best?", "at": "2026-11-10T10:10:00Z", "fate": "unanswered"},
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path)
    found.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **LEFT)
    found.later(minutes=5)
    return found


def start(home: Home, session_id: str, key: str = KEY, **more: Any) -> Any:
    settings = more.pop("settings", {})
    return home.manager(**settings).on_session_start(session_id, "webchat", agent_id="main", session_key=key, **more)


def test_the_block_tells_the_handoff_in_the_words_of_every_block(home: Home) -> None:
    given = start(home, "b")
    assert given.handoff["claimed"] is True
    assert given.handoff["offer"].startswith("[Session handoff: ")
    assert (
        """
## Previous Session Context
LAST SESSION: 2026-11-10 10:30 UTC, ended by reset
CURRENT PROJECT: radio
IN PROGRESS: "solder the antenna"
LAST REQUEST: "which wire is best?" (unanswered)
NEXT STEP: "measure the standing wave"
DECISIONS: "use the copper wire"
"""
        in given.block + "\n"
    )
    assert len(given.to_dict()["block"]) <= 2800
    assert given.to_dict()["block"].count("<session-continuity") == 1
    again = start(home, "b")
    assert (again.block, again.already_restored) == (given.block, True)


def test_the_others_are_told_by_whom_it_was_claimed(home: Home) -> None:
    start(home, "b", pid=None)
    other = start(home, "c")
    assert other.handoff == {"session_id": "a", "claimed": False, "claimed_by": "b"}
    assert "LAST SESSION" in other.block
    assert HEADING not in other.block
    assert "\nPICKED UP: session a is continued by session b\n" in other.block
    assert "PICKED UP" not in start(home, "b").block


@pytest.mark.parametrize(("hours", "offered"), [(23, True), (25, False)])
def test_it_expires_after_a_day(home: Home, hours: int, offered: bool) -> None:
    home.later(hours=hours)
    assert (start(home, "b").handoff is not None) == offered


def test_a_cleared_one_is_not_offered_and_not_made_again(home: Home) -> None:
    capture(home.store, "a", "command", now=home.now, expires_hours=24, by="operator")
    assert clear(home.store, "a")
    assert not clear(home.store, "a")
    capture(home.store, "a", "reset", now=home.now, expires_hours=24)
    assert start(home, "b").handoff is None


def test_a_session_nothing_was_captured_of_is_cleared_all_the_same(home: Home) -> None:
    assert clear(home.store, "a")
    assert start(home, "b").handoff is None


def test_clearing_discards_what_the_session_picked_up_too(home: Home) -> None:
    """Otherwise the older one would be back five minutes after the session has ended."""
    start(home, "b")
    confirm(home.store, "b")
    home.store.update("b", {"next_step": "paint the mast"})
    assert clear(home.store, "b")
    home.store.end("b", reason="reset")
    home.later(minutes=10)
    assert start(home, "c").handoff is None
    assert not clear(home.store, "b"), "there is nothing left"


def test_another_session_s_claim_is_not_cleared(home: Home) -> None:
    start(home, "b")
    home.later(minutes=2)
    assert start(home, "c").handoff["claimed"] is True, "the claim of b has lapsed"
    clear(home.store, "b")
    found = kept_handoff(home.store.folded("a"))
    assert found is not None
    assert (found.claimed_by, found.cleared_at) == ("c", None)


def test_work_after_a_clearing_is_handed_over(home: Home) -> None:
    clear(home.store, "a")
    home.later(minutes=1)
    home.store.resume("a")
    home.store.update("a", {"next_step": "paint the mast", "updated_at": home.store.now()})
    capture(home.store, "a", "messages", now=home.now, expires_hours=24)
    home.store.end("a", reason="reset")
    home.later(minutes=1)
    assert start(home, "b").handoff["claimed"] is True


def test_quiet_gives_it_without_the_question(home: Home) -> None:
    given = start(home, "b", settings={"handoff_offer": "quiet"})
    assert given.handoff["offer"] is None
    assert HEADING in given.block


def test_switched_off_there_is_nothing(home: Home) -> None:
    given = start(home, "b", settings={"handoff_enabled": False})
    assert given.handoff is None
    assert "LAST SESSION" in given.block
    assert HEADING not in given.block


def test_restore_on_holds_for_handoffs_too(home: Home) -> None:
    assert start(home, "b", settings={"restore_on": ("new", "idle")}).handoff is None


def test_nobody_else_s_conversation_gets_it(home: Home) -> None:
    assert start(home, "b", key="agent:main:telegram:dm:7").handoff is None
    other = home.manager().on_session_start("c", "webchat", agent_id="other", session_key="agent:other:main")
    assert other.handoff is None


def test_a_new_key_that_names_nobody_gets_it(home: Home) -> None:
    assert start(home, "b", key="agent:main:tui-4711").handoff["session_id"] == "a"


def test_an_unanswered_claim_lapses_and_an_answered_one_stands(home: Home) -> None:
    start(home, "b")
    home.later(minutes=2)
    assert start(home, "c").handoff["claimed"] is True
    assert confirm(home.store, "c")
    home.later(minutes=2)
    assert start(home, "d", key="agent:main:tui-1").handoff["claimed_by"] == "c"


def test_resume_takes_it_claimed_expired_or_not(home: Home) -> None:
    start(home, "b")
    confirm(home.store, "b")
    home.later(hours=30)
    given = start(home, "c", resume="newest")
    assert given.handoff["claimed"] is True
    assert HEADING in given.block
    assert ProjectContext.of(home.store.folded("c")) is not None
    assert start(home, "c").block == given.block, "the session keeps it"


def test_a_marked_session_hands_over_before_it_ends(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.store.start("a", channel="webchat", agent_id="main", session_key=KEY)
    home.store.update("a", LEFT)
    home.later(minutes=1)
    assert start(home, "b", key="agent:main:tui-2").handoff is None
    capture(home.store, "a", "command", now=home.now, expires_hours=24)
    assert start(home, "c", key="agent:main:tui-3").handoff["session_id"] == "a"


def _ask(path: str, number: int, ready: Any, answers: Any) -> None:
    from pathlib import Path

    home = Home(Path(path))
    home.later(minutes=35)
    ready.wait()
    answers.put(claim(home.store, "a", f"s{number}", now=home.now, expires_hours=24))


@pytest.mark.parametrize("rounds", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_of_eight_that_race_one_claims(rounds: int, tmp_path: Path) -> None:
    """Eight processes ask for one handoff at the same time: one has it, and all agree who."""
    context = multiprocessing.get_context("fork")
    for number in range(rounds):
        place = tmp_path / str(number)
        home = Home(place)
        home.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **LEFT)
        for one in range(8):
            home.store.start(f"s{one}", channel="webchat", agent_id="main", session_key=KEY)
        ready, answers = context.Barrier(8), context.Queue()
        racers = [context.Process(target=_ask, args=(str(place), one, ready, answers)) for one in range(8)]
        for racer in racers:
            racer.start()
        found = [answers.get(timeout=60) for _ in racers]
        for racer in racers:
            racer.join(60)
        assert sum(one.won for one in found) == 1
        assert len({one.by for one in found}) == 1


@pytest.mark.parametrize("keys", ["one key", "keys that name nobody"])
def test_of_eight_session_starts_one_has_it_and_seven_are_told_by_whom(keys: str, tmp_path: Path) -> None:
    """The same through the hook, each in a process of its own."""
    home = Home(tmp_path)
    home.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **LEFT)
    home.later(minutes=5)
    # eight processes on a busy machine take longer than one
    patient = {"plugins": {"entries": {"jsonlstore": {"config": {"restore_budget_ms": 10_000}}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(patient))
    started = []
    for number in range(8):
        key = KEY if keys == "one key" else f"agent:main:tui-{number}"
        document = {"session_id": f"s{number}", "channel": "webchat", "agent_id": "main", "session_key": key}
        call = home.command("hook", "session-start", "--now", format_time(home.now))
        process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(json.dumps(document).encode())
        started.append(process)
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
    answers = [json.loads(process.stdout.read()) for process in started if process.stdout is not None]
    for process in started:
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()
    assert [one for one in answers if "handoff" not in one] == []
    won = [one for one in answers if one["handoff"]["claimed"]]
    assert len(won) == 1
    assert {one["handoff"]["claimed_by"] for one in answers if one not in won} == {won[0]["session_id"]}
    assert [one for one in answers if HEADING in (one["block"] or "")] == won


def told(text: str) -> dict[str, str]:
    """What a block says, by label."""
    return {line.partition(": ")[0]: line.partition(": ")[2] for line in text.split("\n") if ": " in line}


def test_a_handoff_tells_everything_that_the_same_session_is_told_without_it(tmp_path: Path) -> None:
    """However much there is: more decisions than are shown, unsure ones, what fails, commits, files, a longer past."""
    home = Home(tmp_path)
    notes = [{"id": f"d{n}", "type": "decision", "content": f"use wire number {n}", "confidence": 0.65 + n / 20}
             for n in range(7)]  # fmt: skip
    notes += [{"id": f"b{n}", "type": "blocker", "content": f"the {n}. fuse is missing", "confidence": 0.9}
              for n in range(4)]  # fmt: skip
    earlier = [{"id": "e", "type": "decision", "content": "build the mast of ash", "confidence": 0.9}]
    home.past("a0", channel="webchat", agent_id="main", session_key=KEY, reason="reset", notes=earlier)
    home.later(minutes=5)
    left = {**LEFT, "notes": notes, "last_answer": "The mast is up.", "hot_topics": ["mast"],
            "failing": {"command": "make check", "summary": "2 failed"},
            "files": [{"path": f"src/f{n}.py", "uncommitted": True} for n in range(6)],
            "commits": [{"sha": "ab12", "subject": "Raise the mast"}]}  # fmt: skip
    home.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", **left)
    home.later(minutes=5)
    plain = told(start(home, "b", settings={"handoff_enabled": False}).preamble)
    given = start(home, "c").preamble
    assert HEADING in given
    assert plain.items() <= told(given).items()
    for label in ("LAST SESSION", "LAST REQUEST", "LAST ANSWER", "NEXT STEP", "FAILING", "BLOCKERS", "DECISIONS",
                  "DONE", "FILES"):  # fmt: skip
        assert label in plain, label
    assert plain["DECISIONS"].count('"') == 2 * 4
    assert told(given).keys() - plain.keys() == {"CURRENT PROJECT", "IN PROGRESS"}


def test_a_handoff_repeats_no_listed_task(tmp_path: Path) -> None:
    """What PENDING TASKS says is not said again as in progress; what else was in progress is."""
    home = Home(tmp_path)
    tasks = [{"task_id": f"t{n}", "title": f"paint panel {n} of the boat house"} for n in range(3)]
    progress = [tasks[1]["title"], "sand the keel"]
    home.past("a", channel="webchat", agent_id="main", session_key=KEY, reason="reset", pending_tasks=tasks,
              **{**LEFT, "in_progress": progress})  # fmt: skip
    home.later(minutes=5)
    given = home.manager().preview(RestoreRequest("b", "webchat", "main", KEY)).preamble or ""
    assert given.count("paint panel 1") == 1
    assert told(given)["IN PROGRESS"] == '"sand the keel"'


def test_a_marked_session_is_not_said_to_have_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.store.start("a", channel="webchat", agent_id="main", session_key=KEY)
    home.store.update("a", LEFT)
    capture(home.store, "a", "command", now=home.now, expires_hours=24)
    assert told(start(home, "c", key="agent:main:tui-3").preamble)["LAST SESSION"].endswith(" UTC, not ended")
