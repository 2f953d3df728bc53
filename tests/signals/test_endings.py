"""Where a session stood: requests behind slash commands, what later work closed, what is no step at all."""

from __future__ import annotations

import pytest

from tests.signals.told import Story, noted, told

TRACE = (
    'Traceback (most recent call last):\n  File "/srv/map/tide.py", line 12, in <module>\n    main()\n'
    '  File "/srv/map/tide.py", line 8, in main\n    print(gauge)\n'
    "NameError: name 'gauge' is not defined"
)

PLAN_TOOL = (
    "Implement the plan as specified, it is attached for your reference. Do NOT edit the plan file itself.\n\n"
    "To-do's from the plan have already been created. Do not create them again. Mark them as in_progress as you "
    "work, starting with the first one. Don't stop until you have completed all the to-dos."
)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("/clear\nDraw the soundings in blue", "Draw the soundings in blue"),
        (
            f"/clear\nUnhandled error in the loop:\n{TRACE}",
            "Unhandled error in the loop: NameError: name 'gauge' is not defined",
        ),
        (f"/clear\n{TRACE}", "NameError: name 'gauge' is not defined"),
        (f"/clear\nThe gauge is broken again\n\n{TRACE}", "The gauge is broken again"),
        ("/ask which soundings are drawn in blue here?", "which soundings are drawn in blue here?"),
        ("/clear", "Paint the mole white"),
        ("/help", "Paint the mole white"),
        ("/undo", "Paint the mole white"),
        ("/chart-review the soundings of the outer harbour", "/chart-review the soundings of the outer harbour"),
    ],
)
def test_a_slash_command_is_never_the_request(said: str, asked: str) -> None:
    """The user's own words after it count, or the request before it; a command given a task in words is one."""
    story = Story("x").user("Paint the mole white").says_("The mole is white.").user(said)
    assert told(story.says_("All right."))["last_request"]["text"] == asked


@pytest.mark.parametrize(
    ("subject", "standing"),
    [
        ("fix: Define gauge before it is printed", False),
        ("Fix NameError in tide chart", False),
        ("Define the name gauge, which was not defined", False),
        ("Paint the mole white", True),
        ("Add a gauge legend", True),
    ],
)
def test_a_pasted_error_that_a_commit_fixes_is_no_blocker(subject: str, *, standing: bool) -> None:
    """The commit after it names it as fixed; any other commit leaves it."""
    story = Story("x").user(f"It breaks\n\n{TRACE}").says_("I see.").call("edit", {"path": "tide.py"}, "ok")
    story.run(f"git commit -am '{subject}'", f"[main 1234abc] {subject}\n 1 file changed")
    assert bool([one for one in noted(told(story), "blocker") if "gauge" in one]) is standing


def test_a_pasted_error_whose_command_passed_is_no_blocker() -> None:
    """The command behind the prompt ran again and went well."""
    story = Story("x").user(f"$ make chart\n{TRACE}").says_("I see.").call("edit", {"path": "tide.py"}, "ok")
    assert noted(told(story), "blocker")
    story.call("exec", {"command": "make chart"}, "done\nProcess exited with code 0")
    assert not noted(told(story), "blocker")


@pytest.mark.parametrize(("waits", "fate"), [(False, "answered"), (True, "interrupted")])
def test_a_request_that_a_commit_covers_was_done(fate: str, *, waits: bool) -> None:
    """Its words are in the commit's subject, and nothing was running when the session stopped."""
    story = Story("x").user("Draw soundings of the outer harbour").says_("On it.")
    story.run(
        "git commit -am 'Draw soundings of outer harbour'",
        "[main 1234abc] Draw soundings of outer harbour\n 1 file changed",
    )
    if waits:
        story.run("make deploy", None)
    fields = told(story)
    assert fields["last_request"]["fate"] == fate
    assert bool(fields["pending_tasks"]) is waits
    assert bool(fields["next_step"]) is waits


def test_an_undone_commit_answers_nothing() -> None:
    """The request is open again when the commit that covered it is gone."""
    story = Story("x").user("Draw soundings of the outer harbour").says_("On it.")
    story.run(
        "git commit -am 'Draw soundings of outer harbour'",
        "[main 1234abc] Draw soundings of outer harbour\n 1 file changed",
    )
    story.run("git reset --hard HEAD~1", "HEAD is now at 0123456 Begin")
    assert told(story)["last_request"]["fate"] == "interrupted"


@pytest.mark.parametrize(
    "said",
    [
        "I moved the pier to the second layer.\n\nThis change draws the pier last, which should resolve the overlap.",
        "The soundings are cached, which would explain the old depths.",
    ],
)
def test_an_explanation_is_no_step(said: str) -> None:
    """It tells what was done and why; "which should …" asks for no choice."""
    story = Story("x").user("Fix the overlap of pier and mole").call("edit", {"path": "a.py"}, "ok")
    fields = told(story.says_(said))
    assert (fields["next_step"], fields["pending_tasks"], fields["open_questions"]) == (None, [], [])


def test_which_still_asks_for_a_choice() -> None:
    """At the beginning of a sentence, or in a question."""
    story = Story("x").user("Fix the overlap of pier and mole")
    assert told(story.says_("There are two layers, which one should be drawn last?"))["next_step"]


@pytest.mark.parametrize(
    "said",
    [
        "Sure. Please provide the file's content so that I can draw the pier.",
        "Claro. Por favor, forneça o conteúdo do arquivo para que eu possa desenhar o molhe.",
        "Klar. Bitte schick mir den Inhalt der Datei, damit ich die Mole zeichnen kann.",
        "Хорошо. Пришлите, пожалуйста, содержимое файла, чтобы нарисовать причал.",
    ],
)
def test_what_the_user_is_to_send_is_no_work_of_ours(said: str) -> None:
    """It is a question to the user; what they asked for is still to do."""
    asked = {"S": "Draw the pier of the old harbour", "C": "Desenhe o molhe do porto antigo por favor"}
    asked |= {"K": "Zeichne bitte die Mole vom alten Hafen", "Х": "Нарисуй причал старого порта на карте"}
    fields = told(Story("x").user(asked[said[0]]).says_(said))
    assert fields["next_step"] == asked[said[0]]
    assert [one["title"] for one in fields["pending_tasks"]] == [asked[said[0]]]
    assert fields["last_request"]["fate"] == "unanswered"
    assert fields["open_questions"]


def test_half_an_offer_is_no_step() -> None:
    """ "Or …?" alone says nothing, and with its other half it is for the user to choose."""
    story = Story("x").user("What does the chart server do?")
    story.says_("It serves charts. Would you like me to draw its parts? Or open the notes about its tiles?")
    fields = told(story)
    assert (fields["next_step"], fields["pending_tasks"]) == (None, [])
    assert fields["open_questions"] == ["Would you like me to draw its parts? Or open the notes about its tiles?"]


IGNORED = "The following paths are ignored by one of your .gitignore files:\ncharts"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("git add charts/pier.py", IGNORED),
        ("git commit -m 'Draw the pier'", "error: gpg failed to sign the data\nfatal: failed to write commit object"),
        ("git add -A && git commit -m 'Draw the pier'", "fatal: unable to auto-detect email address"),
        ("git push", "fatal: unable to access 'https://example.org/map.git/': Could not resolve host"),
    ],
)
def test_a_git_step_that_failed_is_told_until_it_passes(command: str, answer: str) -> None:
    """Where it fails, work is not kept."""
    story = Story("x").user("Commit and push it").call("exec", {"command": command}, answer, failed=True)
    failing = told(story.says_("Committed and pushed."))["failing"]
    assert failing is not None
    assert failing["command"] in command
    story.run(command, "ok\nProcess exited with code 0")
    assert told(story.says_("Now it is."))["failing"] is None


@pytest.mark.parametrize("said", ["nothing to commit, working tree clean", "no changes added to commit"])
def test_nothing_to_commit_is_no_failure(said: str) -> None:
    """Git says so with an exit code, and all is well."""
    story = Story("x").user("Commit it").call("exec", {"command": "git add -A && git commit -m x"}, said, failed=True)
    assert told(story.says_("There was nothing to commit."))["failing"] is None


def test_a_failed_check_before_a_commit_is_the_check_s() -> None:
    """The commit behind it never ran."""
    story = Story("x").user("Commit it")
    story.call("exec", {"command": "pytest -q && git commit -am x"}, "2 failed, 3 passed in 0.1s", failed=True)
    assert told(story.says_("Two fail."))["failing"]["command"] == "pytest -q"


@pytest.mark.parametrize(
    ("claim", "pushes", "kept"),
    [
        ("Committed and pushed to main.", False, False),
        ("Commit y push realizados con éxito:", False, False),
        ("Änderungen sind committet und gepusht.", False, False),
        ("改动已推送。", False, False),
        ("Committed and pushed to main.", True, True),
        ("I have not pushed it yet.", False, True),
    ],
)
def test_a_push_that_never_ran_is_not_told_as_done(claim: str, *, pushes: bool, kept: bool) -> None:
    """The evidence outranks what an answer says of it; the rest of the answer stays."""
    story = Story("x").user("Draw the pier, commit and push")
    story.run("git commit -am 'Draw the pier'", "[main 1234abc] Draw the pier\n 1 file changed")
    if pushes:
        story.run("git push", "To example.org:map.git\n   0123456..1234abc  main -> main")
    answer = told(story.says_(f"The pier is drawn.\n{claim}"))["last_answer"]
    assert answer.startswith("The pier is drawn.")
    assert (claim in answer) is kept


def decisions(*said: str) -> list[str]:
    story = Story("x").user("Draw the pier of the old harbour").says_("Drawn.")
    for one in said:
        story.user(one).says_("OK.")
    notes = told(story.user("Thanks").says_("Welcome."))["notes"]
    return [one["content"] for one in notes if one["type"] == "decision" and one["confidence"] >= 0.7]


@pytest.mark.parametrize(
    "said",
    [
        "Do not commit.",
        "Do not edit files.",
        "don't use TILE_CACHE, use self.tiles",
        "do not touch the legend",
    ],
)
def test_a_short_order_that_lasts_is_a_decision(said: str) -> None:
    """ "Do not …" is no question, and what is set to a value is settled."""
    assert decisions(said) == [said]


def test_a_wish_is_a_decision_where_it_answers_a_question() -> None:
    """Or where the user comes back to it; else it is carried out with the next answer."""
    wish = "Default tile size let's set to 256 pixels"
    assert decisions(wish) == []
    assert decisions(wish, "is the tile size of 256 pixels used for the piers?") == [wish]
    asked = Story("x").user("Draw the pier of the old harbour").says_("Which size do the tiles have?").user(wish)
    assert noted(told(asked.says_("OK.").user("Thanks").says_("Welcome.")), "decision", 0.7) == [wish]


def test_what_to_use_and_what_not_stays_settled() -> None:
    """A contrast is a choice, and does not fade with the next requests."""
    later = [f"Draw chart number {number}" for number in range(20, 40)]
    assert "don't use TILE_CACHE, use self.tiles" in decisions("don't use TILE_CACHE, use self.tiles", *later)


@pytest.mark.parametrize(
    "said",
    [
        "不需要了。",
        "Do you commit after each chart",
        PLAN_TOOL,
    ],
)
def test_words_without_an_object_and_a_tool_s_own_are_no_decisions(said: str) -> None:
    """They tell the next session nothing, or were nobody's words."""
    assert decisions(said) == []
