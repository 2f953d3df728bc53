"""Requests that stopped short, long ones, and those that a provider never answered."""

from __future__ import annotations

import pytest

from jsonlstore.signals.requests import request_line
from tests.signals.told import Story, told

PAD = (
    "The two wardens each keep a log of the lock times, one on paper and one on the tablet, and in spring they differ. "
)
PAD += "Nobody could say why, although both read the same clock and stand at the same gate every morning. "


def _titles(fields: dict[str, object]) -> str:
    return str([one["title"] for one in fields["pending_tasks"]])  # type: ignore[attr-defined]


def test_a_request_whose_work_was_done_is_no_task_and_what_ran_is() -> None:
    """Files changed, words behind them that say so, and the check that was running when the turn stopped."""
    story = Story("checked").user("Move the lock times into one table")
    story.call("edit", {"path": "locks.py", "oldText": "a", "newText": "b"}, "ok")
    fields = told(story.says_("Done, the lock times are in one table. Let me run the tests.").run("pytest", None))
    assert "Move the lock times" not in _titles(fields)
    assert fields["next_step"] == "Not finished: pytest"


def test_an_edit_that_was_under_way_leaves_the_request_open() -> None:
    """What was done so far may be half of it."""
    story = Story("half").user("Move the lock times into one table")
    story.call("edit", {"path": "locks.py", "oldText": "a", "newText": "b"}, "ok").says_("The first half is done.")
    story.call("edit", {"path": "gates.py", "oldText": "a", "newText": "b"}, None)
    assert "Move the lock times" in _titles(told(story))


def test_a_greeting_that_the_provider_failed_is_told() -> None:
    """Nothing was asked, but that nobody answered is worth knowing; it makes no task."""
    fields = told(Story("greeted").user("hi").says_("Credit balance is too low"))
    assert fields["last_request"]["fate"] == "failed"
    assert fields["pending_tasks"] == []


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        (PAD + "Could you put both into one table?", "Could you put both into one table?"),
        (PAD + "Anyway. So for now please compare them.", "please compare them."),
        (PAD + "Schreib mir ein Skript, das beide vergleicht.", ""),
        ("Put both logs into one table. " + PAD, "Put both logs into one table."),
    ],
)
def test_a_long_request_is_told_with_the_sentence_that_asks(text: str, asks: str) -> None:
    """Its first words and the ask, wherever that stands; where none is recognised, its beginning."""
    line = request_line(text)
    assert asks in line
    assert line.startswith(text[:20])
    assert len(line) <= 200


def test_the_text_of_a_slash_command_is_told_as_the_command() -> None:
    """What the user typed, not the template it stands for."""
    template = "You are a careful reviewer.\n\n1. Read the changes\n2. Write a list\n\n## Rules\n- Never praise"
    story = Story("command").user("/review the lock table").user(template).says_("Two findings.")
    assert told(story)["last_request"]["text"] == "/review the lock table"


@pytest.mark.parametrize(
    ("asked", "said", "step"),
    [
        ("Mend the lock page", "Mended.\n\nTo check: open the lock page on a phone.", "open the lock page on a phone"),
        ("Repara la página", "Reparada.\n\nPor comprobar: si se ven las esclusas.", "si se ven las esclusas"),
        ("Repariere die Seite", "Repariert.\n\nZu prüfen: ob die Schleusen stimmen.", "ob die Schleusen stimmen"),
    ],
)
def test_what_is_to_be_checked_is_the_next_step(asked: str, said: str, step: str) -> None:
    """A label says so."""
    assert told(Story("check").user(asked).says_(said))["next_step"] == step


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Mend the lock page", "Mended. Let me know if you have any questions!"),
        ("Repara la página", "Reparada. ¡Avísame si necesitas algo más!"),
        ("ページを直して", "直しました。ほかに質問があれば教えてください。"),
    ],
)
def test_taking_leave_is_no_step(asked: str, said: str) -> None:
    """Courtesies offer nothing in particular."""
    fields = told(Story("leave").user(asked).says_(said))
    assert not fields["next_step"]
    assert not fields["open_questions"]


def test_a_call_with_a_result_is_finished() -> None:
    """The session ends behind the last call's result: what ran is not told as left half done."""
    story = Story("stopped").user("Commit the lock table and then go on with the gate survey")
    story.says_("The table holds. Let me commit it.").run(
        "git add -A && git commit -m 'Add lock table'", "[main 4c1d2e3] Add lock table\n 1 file changed"
    )
    fields = told(story)
    assert "git commit" not in _titles(fields)
    assert "git commit" not in str((fields["in_progress"], fields["next_step"], fields["last_request"]))


@pytest.mark.parametrize("answered", ["ok", None])
def test_a_tool_s_bare_name_is_nothing_in_progress(answered: str | None) -> None:
    """What a call does is told by what it was given; the request says more than its name."""
    story = Story("bare").user("Survey the gates of the northern lock")
    story.call("looked_up_gates_17", {"input": ""}, answered)
    assert told(story)["in_progress"] == ["Survey the gates of the northern lock"]


def test_a_bare_announcement_is_nothing_in_progress() -> None:
    """ "Starting." says nothing of what."""
    fields = told(Story("begun").user("Обследуй ворота северного шлюза").says_("Начинаю:"))
    assert fields["in_progress"] == ["Обследуй ворота северного шлюза"]
    assert fields["last_request"].get("doing") is None
