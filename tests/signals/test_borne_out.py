"""What is told because the rest of the session bears it out: plans, refusals, errors, rules of a task, topics."""

# ruff: noqa: E501 - stories are data

from __future__ import annotations

import pytest

from jsonlstore.signals.choices import directives
from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import rules_of
from jsonlstore.signals.plans import plan_title
from tests.signals.told import Story, noted, told

PLAN = "# Plan: move the tide tables into a database\n\n1. the schema\n2. the import\n"


def planned(path: str = "/home/kim/.claude/plans/calm-otter.md", text: str = PLAN) -> Story:
    story = Story("plan").user("Plan how the tide tables get into a database")
    story.call("write", {"path": path, "content": text}, "ok")
    return story.says_("The plan is written.")


@pytest.mark.parametrize("path", ["/home/kim/.claude/plans/calm-otter.md", "docs/PLAN.md", "tide-plan.md"])
def test_a_plan_that_was_written_last_is_the_next_step(path: str) -> None:
    fields = told(planned(path))
    assert fields["next_step"] == "Carry out the plan: move the tide tables into a database"
    assert "move the tide tables" in fields["pending_tasks"][0]["title"]


def test_a_plan_that_was_carried_out_or_passed_over_is_none() -> None:
    carried_out = planned().user("go").call("write", {"path": "tides.sql", "content": "create"}, "ok").says_("Done.")
    assert told(carried_out)["next_step"] is None
    committed = planned().user("commit it").run('git commit -m "Add the plan"', "[main abc1234] Add the plan")
    assert told(committed.says_("Committed."))["next_step"] is None
    assert told(planned().talk(3))["next_step"] is None
    assert told(planned("docs/airplane.md"))["next_step"] is None


def test_a_part_of_a_plan_keeps_its_title() -> None:
    edited = (
        planned()
        .user("the import first")
        .call(
            "edit",
            {"path": "/home/kim/.claude/plans/calm-otter.md", "oldText": "1. the schema", "newText": "1. x"},
            "ok",
        )
    )
    assert told(edited.says_("Changed."))["next_step"] == "Carry out the plan: move the tide tables into a database"


def refused(closing: str) -> Story:
    story = Story("refused").user("Put the chart on the server of the harbour office")
    story.run(
        "scp chart.png pier.example.org:/srv/charts", "pier.example.org: Permission denied (publickey).", failed=True
    )
    return story.says_(closing)


def test_what_a_tool_was_refused_is_in_the_way_while_the_answer_speaks_of_it() -> None:
    """In whatever language the answer is: the words of the program stand in it."""
    for closing in ["pier.example.org não aceita a chave.", "De server pier.example.org laat ons niet toe."]:
        assert any("Permission denied" in one for one in noted(told(refused(closing)), "blocker", 0.7))


def test_a_refusal_that_was_overcome_is_none() -> None:
    mended = refused("It wants a key.").user("the key is there now")
    mended.run("scp chart.png pier.example.org:/srv/charts", "chart.png 100%").says_("pier.example.org has the chart.")
    assert noted(told(mended), "blocker") == []
    assert noted(told(refused("I put it there.").talk(2)), "blocker", 0.7) == []


PASTED = (
    "The sounder does not start. The error is:\nsounder subsystem unavailable: [Port(-9)] Timed out waiting on line"
)


def reported() -> Story:
    story = Story("reported").user(PASTED).call("edit", {"path": "sounder.rs", "oldText": "a", "newText": "b"}, "ok")
    return story.says_("The timeout is longer now, try it.").user("nope, that was not it").says_("Which line is it on?")


def test_an_error_stays_in_the_way_while_the_work_on_it_goes_on() -> None:
    story = (
        reported().user("the sounder is on line 4, but it always waits on line 1").call("grep", {"pattern": "1"}, None)
    )
    assert any("Timed out waiting" in one for one in noted(told(story), "blocker", 0.7))


def test_an_error_is_gone_when_the_user_says_so_or_turns_to_something_else() -> None:
    works = (
        reported()
        .user("it works now")
        .says_("Good.")
        .user("draw the sounder line")
        .call("grep", {"pattern": "1"}, None)
    )
    assert noted(told(works), "blocker", 0.7) == []
    other = reported().user("draw the pier instead").call("grep", {"pattern": "pier"}, None)
    assert noted(told(other), "blocker", 0.7) == []


TASK = """# Task

You are an engineer who looks after the charts of a harbour. The project draws them with an old library that nobody
maintains any more, and the harbour office waits for a version that builds on its new machines.
Please move the charts to the new library, one chart after the other, so that each can be looked at by the pilots.

## Constraints

- You may change the sources.
- Do not touch the tide tables.
- Change no other library.

## Validation

- Build it
"""


def test_a_task_under_a_bare_heading_is_told_by_what_stands_below() -> None:
    fields = told(Story("task").user(TASK).says_("The charts are drawn with the new library."))
    assert "move the charts to the new library, one chart after the other" in fields["last_request"]["text"]
    assert noted(fields, "decision", 0.7) == ["Do not touch the tide tables.", "Change no other library."]


def test_rules_under_a_heading_count_in_the_message_that_opens_a_session() -> None:
    """Later it is a page that was pasted."""
    assert directives(TASK, rules_of(languages()["en"])) == []


def test_a_sentence_that_says_all_is_done_is_not_left_to_do() -> None:
    story = Story("ja").user("海図の古いライブラリを新しいものに置き換えてください")
    story.says_(
        "完了しました。\n\n## 残っている問題\n\n- 古いライブラリへの参照は完全に除去済みで、検索でも該当なし。\n"
    )
    fields = told(story)
    assert fields["next_step"] is None
    assert fields["pending_tasks"] == []


def test_an_offer_that_was_accepted_and_carried_out_closes_what_was_listed() -> None:
    story = Story("phases").user("Which phase of the harbour plan comes first?")
    story.says_(
        "Still open:\n\n| Phase | Status |\n|---|---|\n| 3. Wreck finder | Pending |\n| 4. Tide forecast | Pending |\n\n"
        "Shall I start with the wreck finder?"
    )
    story.user("yes you may start, take helpers for all of it").call("Agent", {"description": "wrecks"}, "Done")
    titles = [one["title"] for one in told(story.says_("The phase is complete."))["pending_tasks"]]
    assert any("Tide forecast" in one for one in titles)
    assert not any("Wreck finder" in one for one in titles)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("pt", "Me peca autorizacao antes de comecar a desenhar."),
        ("pt", "nao mexa nas tabelas de mares"),
        ("es", "preguntame antes de borrar una carta"),
    ],
)
def test_a_rule_without_its_accents_is_a_rule(code: str, text: str) -> None:
    assert [one.kind for one in directives(text, rules_of(languages()[code]))] == ["constraint"]


def test_the_option_a_longer_reply_begins_with_is_picked() -> None:
    story = Story("options").user("How do we keep the tides?")
    story.says_(
        "Two ways:\n\nOption A: one file for each harbour\nOption B: one table for all\n\nWhich one do you like?"
    )
    story.user("Option B: but I want to talk about the size of that table first, it may get large over the years")
    shown = noted(told(story.says_("It stays small.").user("and the index?").says_("Small, too.")), "decision", 0.7)
    assert any(one.startswith("one table for all") for one in shown)
    asked = Story("options").user("How do we keep the tides?")
    asked.says_(
        "Two ways:\n\nOption A: one file for each harbour\nOption B: one table for all\n\nWhich one do you like?"
    )
    asked.user("Option B has which drawbacks?").says_("It may get large.")
    assert noted(told(asked), "decision") == []


def test_what_one_side_alone_says_is_hardly_a_topic() -> None:
    """A word both sides use comes before one the agent keeps repeating; what only the user does is a way of speaking."""
    story = Story("topics")
    for _ in range(7):
        story.user("honestly frankly the sounder again").says_(
            "Dear Petronella, the sounder is calibrated, Petronella."
        )
    topics = told(story)["hot_topics"]
    assert topics.index("sounder") < topics.index("petronella") if "petronella" in topics else "sounder" in topics
    assert "frankly" not in topics


def test_a_name_in_latin_letters_stands_out_in_another_script() -> None:
    story = Story("zh")
    for _ in range(3):
        story.user("请检查 vercel 的后台设置").says_("vercel 的后台设置已经检查。")
    assert told(story)["hot_topics"].index("vercel") <= 1


def unwritten(answer: str = "The chart is up to date.") -> Story:
    story = Story("unwritten").user("Describe the harbour in pier.md").call("read", {"path": "pier.md"}, "a pier")
    failed = "Error writing file: File has been modified since read"
    return story.call("write", {"path": "docs/pier.md", "content": "x"}, failed, failed=True).says_(answer)


def test_a_file_that_could_not_be_written_is_still_to_write() -> None:
    """Whatever the answer says."""
    fields = told(unwritten())
    assert fields["next_step"].startswith("Not written: pier.md (Error writing file")
    assert [one["title"] for one in fields["pending_tasks"]] == [fields["next_step"]]


def test_what_was_written_at_the_next_try_is_done() -> None:
    story = unwritten("I read it again.").user("now").call("edit", {"path": "docs/pier.md", "oldText": "a"}, "ok")
    assert told(story.says_("Done."))["next_step"] is None
    assert told(unwritten().talk(2))["next_step"] is None


def test_a_yes_with_more_behind_it_is_told_with_what_it_accepts() -> None:
    story = Story("yes").user("Liste os faróis do porto").says_("São três. Quer que eu desenhe os faróis na carta?")
    fields = told(story.user("sim pode desenhar, use as cores do porto").says_("Desenhados."))
    assert fields["last_request"]["text"].endswith("(to: Quer que eu desenhe os faróis na carta?)")
    wish = Story("si").user("Lista los faros").says_("Son tres. ¿Quieres que dibuje los faros en la carta?")
    assert "(to:" not in told(wish.user("si hay mas faros dime cuales").says_("No hay."))["last_request"]["text"]


def test_a_title_in_a_list_of_what_is_left_is_told_with_its_parts() -> None:
    story = Story("parts").user("Draw the harbour board")
    story.says_(
        "The data is there.\n\nStill open:\n\n1. **Board:**\n   - a window for the tides\n   - make the siren button work\n"
    )
    titles = [one["title"] for one in told(story)["pending_tasks"]]
    assert titles == ["Board: a window for the tides; make the siren button work"]


def test_what_an_agent_printed_and_the_user_pasted_is_not_the_request() -> None:
    pasted = "go on with the board, you had an error:\n⏺ Now I add the siren:\n  ⎿  Read 57 lines\n       15    from harbour import siren\n     ...\n  ⎿  API Error: 500 broken"
    story = Story("pasted").user("Draw the board").says_("Drawn.").user(pasted).call("read", {"path": "x"}, None)
    fields = told(story)
    assert "siren" not in fields["last_request"]["text"]
    assert "..." not in fields["last_request"]["text"]
    assert noted(fields, "blocker", 0.7) == ["API Error: 500 broken"]


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        ("## Plan de Implementación: Envío inmediato de mareas\n\n1. x", "Envío inmediato de mareas"),
        ("# Plan: move the tides to a table", "move the tides to a table"),
        ("# 实施计划：把潮汐表放进数据库", "把潮汐表放进数据库"),
        ("Plan\n\nDraw the northern quay: all of it", "Draw the northern quay: all of it"),
    ],
)
def test_a_plan_is_called_by_its_title(plan: str, title: str) -> None:
    assert plan_title(plan) == title


def test_in_which_language_to_answer_is_a_rule() -> None:
    for code, text in [
        ("en", "please answer in german"),
        ("de", "antworte bitte auf Deutsch"),
        ("zh", "请使用中文思考回答"),
    ]:
        assert [one.kind for one in directives(text, rules_of(languages()[code]))] == ["constraint"]


@pytest.mark.parametrize(
    "said",
    [
        "Some questions:\n- what does this mean:\nwe report the correlation between the error vectors of two sounders",
        "Unas dudas:\n- Que significa esto:\nla medimos como correlación entre los vectores de error de dos sondas del puerto",
        "No me queda claro, lo dice en la página dos:\nlas sondas comparten los vectores de error de todo el puerto",
    ],
)
def test_a_quotation_somebody_asks_about_is_no_error(said: str) -> None:
    """It holds the word, and no program printed it."""
    assert noted(told(Story("asked").user(said).says_("It is how often both are off at once.")), "blocker") == []


def test_an_error_in_english_under_another_language_stays() -> None:
    said = "La sonda no arranca. El error es:\nsounder subsystem unavailable: [Port(-9)] Timed out waiting on line"
    assert len(noted(told(Story("pasted").user(said).says_("¿En qué línea está?")), "blocker")) >= 1


def test_a_question_that_was_looked_into_is_not_in_the_way() -> None:
    """The answer says what it was; that it was asked is told by the request."""
    story = Story("why").user("look at the sounder, why is it not working?").run("sounder --status", "line 4 is slow")
    assert noted(told(story.says_("The slow line is the cause: use line 2.")), "blocker") == []
