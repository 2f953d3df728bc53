"""What is left of the work when a session stops, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import listed_next, rules_of
from jsonlstore.signals.requests import request_line
from tests.signals.told import Story, noted, told

DONE_ROWS = "| Part | Status |\n|---|---|\n| 5 - Sensor | Done |\n| 6 - Siren | Done |"


def _titles(fields: dict[str, Any]) -> list[str]:
    return [task["title"] for task in fields["pending_tasks"]]


def _edited(asked: str = "Draw the harbour chart") -> Any:
    return Story("x").user(asked).call("edit", {"path": "chart.py"}, "ok")


def test_a_turn_the_user_stopped_is_interrupted_and_no_error() -> None:
    """Its record bears an error's words too; what it led on to was being done."""
    story = Story("x").user("Move the lighthouse into a layer of its own")
    story.says_("Going. Writing the layer:", stopReason="aborted", errorMessage="Request was aborted.")
    fields = told(story)
    assert fields["last_request"]["fate"] == "interrupted"
    assert "Writing the layer" in fields["in_progress"][0]
    assert not noted(fields, "blocker")


def test_every_request_that_nothing_came_of_is_told() -> None:
    """Not only the last: both turns failed."""
    story = _edited().says_("Drawn.").user("Start the tide service on the harbour server")
    story.says_("", stopReason="error", errorMessage="429 monthly limit reached")
    story.user("Write the log of today into tides.txt")
    story.says_("", stopReason="error", errorMessage="429 monthly limit reached")
    assert [title[:9] for title in _titles(told(story))] == ["Start the", "Write the"]


def test_what_a_plan_says_in_steps_is_not_told_as_a_whole_again() -> None:
    """The step in work is the next one."""
    story = Story("x").user("Build the tide alarm: sensor, threshold, siren")
    todos = [
        {"content": "Wire the sensor", "status": "completed"},
        {"content": "Set the threshold", "status": "in_progress"},
        {"content": "Mount the siren", "status": "pending"},
    ]
    story.call("TodoWrite", {"todos": todos}, "ok").run("make threshold", None)
    fields = told(story)
    assert _titles(fields) == ["Set the threshold", "Mount the siren"]
    assert fields["next_step"] == "Set the threshold"


@pytest.mark.parametrize(
    "item",
    [
        "Log lines in the tide reader: intentional, they feed the dashboard",
        "Three console warnings are real error output, kept",
        "Renaming the buoys is out of scope for this pass",
        "The old chart format: no change needed",
    ],
)
def test_an_item_that_says_it_stays_as_it_is_is_no_task(item: str) -> None:
    """It stands under a heading of open work all the same."""
    fields = told(_edited().says_(f"Drawn.\n\n## Not done\n\n- Soundings of the north mole are missing\n- {item}"))
    assert _titles(fields) == ["Soundings of the north mole are missing"]


@pytest.mark.parametrize(
    ("code", "heading", "item"),
    [
        ("en", "Recommendations", "Cache the soundings per harbour"),
        ("en", "Possible improvements", "Cache the soundings per harbour"),
        ("de", "Empfehlungen", "Die Lotungen je Hafen zwischenspeichern"),
        ("es", "Recomendaciones", "Guardar los sondeos de cada puerto"),
        ("fr", "Recommandations", "Mettre en cache les sondages du port"),
        ("it", "Raccomandazioni", "Salvare i sondaggi di ogni porto"),
        ("pt", "Melhorias futuras", "Guardar as sondagens de cada porto"),
        ("ru", "Рекомендации", "Сохранять промеры каждой гавани"),
        ("uk", "Рекомендації", "Зберігати проміри кожної гавані"),
        ("zh", "优化建议", "缓存每个港口的水深数据"),
        ("ja", "改善案", "港ごとの水深データを保存する"),
        ("ko", "개선 제안", "항구별 수심 자료를 저장하기"),
    ],
)
def test_a_suggestion_is_no_task_and_no_step(code: str, heading: str, item: str) -> None:
    text = f"## {heading}\n\n- {item}\n"
    assert listed_next(text, rules_of(languages()[code])) == []


def test_suggestions_are_told_as_such() -> None:
    fields = told(_edited().says_("The chart is drawn.\n\n## Recommendations\n\n- Cache the soundings per harbour"))
    assert (fields["pending_tasks"], fields["next_step"]) == ([], None)
    assert fields["open_questions"] == ["Suggested, not agreed on: Cache the soundings per harbour"]


@pytest.mark.parametrize(
    "item", ["Optional: a night palette for the chart", "You could add a night palette", "Fallback: a printed chart"]
)
def test_an_idea_among_steps_is_no_task(item: str) -> None:
    fields = told(_edited().says_(f"Drawn.\n\n## Next steps\n\n1. Load the tide table of May\n2. {item}"))
    assert _titles(fields) == ["Load the tide table of May"]


def test_questions_with_a_section_each_come_before_the_offer_that_points_at_them() -> None:
    """ "Either of the two" says nothing alone."""
    closing = (
        "The audit is done.\n\n## Two open questions (need your call)\n\n"
        "**1. Old buoy names: keep or drop?**\n\nNobody reads them.\n\n"
        "**2. Remove the packages for the tide dial?**\n\nThey are no longer imported.\n\n"
        "Want me to act on either of the two, or call this done?"
    )
    fields = told(_edited("Audit the chart code").says_(closing))
    assert _titles(fields) == ["Old buoy names: keep or drop?", "Remove the packages for the tide dial?"]
    assert fields["next_step"] == "Old buoy names: keep or drop?"


def test_what_the_user_has_to_do_comes_before_an_offer_on_top_of_it() -> None:
    closing = (
        "Fertig, die Lampe ist gebaut.\n\n## Dein Workflow danach\n\n1. Setup im Menü ausführen\n"
        "2. Netz der Lampe importieren\n\nSoll ich dir noch eine kurze Anleitung dazu schreiben?"
    )
    fields = told(_edited("Baue bitte die Lampe mit dem Setup").says_(closing))
    assert fields["next_step"] == "Setup im Menü ausführen"


@pytest.mark.parametrize(
    "closing",
    [
        "Play a round until the tide turns, then send me the log: if it jumps, the sensor is loose.",
        "The refactoring is done. Run the chart tests to confirm.\n\n"
        + "\n\n".join(f"**chart{number}.py** has a class less now." for number in range(8)),
        "You can test the new charts and delete the old ones once they are fine.",
    ],
)
def test_a_hand_over_is_found_at_the_end_and_behind_the_first_words(closing: str) -> None:
    assert told(_edited().says_(closing))["next_step"] is not None


@pytest.mark.parametrize(
    "closing",
    ["Validate the tide service now.\n\n**If a step fails, please paste from your side:**", "確認してください。"],
)
def test_what_is_asked_for_a_case_or_out_of_courtesy_is_no_step(closing: str) -> None:
    assert told(_edited().says_(closing))["next_step"] is None


def test_a_block_that_ships_the_work_is_the_next_step() -> None:
    closing = "Built, nothing is pushed.\n\nAfter your review:\n\n```bash\ngit push origin main\n```\n"
    assert told(_edited().says_(closing))["next_step"] == "After your review: git push origin main"
    closing = "All of it is pushed:\n\n```bash\ngit push origin main\n```\n"
    assert told(_edited().says_(closing))["next_step"] is None


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ("Why does the tide chart stay black?", "The fix is to load the palette before the first frame."),
        ("Por que o mapa da maré não abre?", "A solução é carregar a paleta antes do primeiro quadro."),
        ("Warum bleibt die Gezeitenkarte schwarz?", "Die Lösung ist, die Palette vor dem ersten Bild zu laden."),
    ],
)
def test_a_remedy_nobody_applied_is_left_to_do(asked: str, remedy: str) -> None:
    said = f"{remedy} {remedy[:3]} …"
    assert told(Story("x").user(asked).says_(said))["next_step"] == remedy
    worked = Story("x").user(asked).call("edit", {"path": "palette.py"}, "ok")
    assert remedy not in _titles(told(worked.says_(said)))


def test_a_failure_that_was_there_before_is_no_blocker() -> None:
    """It is still told as what fails."""
    story = _edited().run("pytest tests/tides", "1 failed, 47 passed in 3.2s", failed=True)
    fields = told(story.says_("Built to the list. 47 passed, 1 pre-existing unrelated failure."))
    assert fields["failing"]
    assert not noted(fields, "blocker")


def test_a_commit_the_user_made_themselves_no_longer_fails() -> None:
    story = _edited().run("git commit -m 'Draw the harbour'", "fatal: unable to detect email address", failed=True)
    story.says_("Git does not know who you are.")
    assert told(story)["failing"]
    story.user("I committed and pushed it by hand").says_("Thanks, then the pages are built now.")
    assert told(story)["failing"] is None


@pytest.mark.parametrize(
    "said",
    [
        "I can't guarantee that the tide is right.",
        "Its causes cannot be determined from one table.",
        "No se puede saber cuántas mareas faltan.",
        "Es lässt sich leider nicht sagen, wie tief die Rinne war.",
        "无法确定潮汐表的来源是哪个港口。",
    ],
)
def test_the_limit_of_a_claim_is_nothing_in_the_way(said: str) -> None:
    assert not noted(told(_edited().says_(f"The chart is drawn. {said}")), "blocker")


def test_a_file_name_is_no_label_of_a_task() -> None:
    """ "todo-harbour.md" is a file."""
    story = _edited("Create a todo-harbour.md to look at the mole later").says_("Created the file.")
    assert not [title for title in _titles(told(story)) if title.startswith("harbour")]


@pytest.mark.parametrize("said", ["commit and push", "deploy"])
def test_an_order_that_says_what_is_wanted_needs_none_before_it(said: str) -> None:
    fields = told(_edited("Explain the tide table of the north harbour").says_("It is sorted by hour.").user(said))
    assert fields["last_request"]["text"] == said


def test_an_answer_without_words_before_its_first_heading_says_what_it_is_about() -> None:
    closing = (
        "## Charts nobody opens\n\nThese are copies of older ones:\n\n- harbour-2.chart\n\n## Keep\n\n- mole.chart"
    )
    answer = told(Story("x").user("Which charts can go?").says_(closing))["last_answer"]
    assert answer.startswith("Charts nobody opens: These are copies")


def test_an_arrow_between_words_is_kept() -> None:
    assert request_line("raise the limit 10s→60s in `tide.py`") == "raise the limit 10s→60s in tide.py"


@pytest.mark.parametrize(
    ("asked", "heading", "step"),
    [
        ("Draw the harbour chart", "## What to do now", "### Step 1: Load the tide table"),
        ("Draw the harbour chart", "## Your steps", "**1. Load the tide table**"),
        ("请画一张港口图", "## 你现在需要做的", "### 第 1 步：加载潮汐数据表"),
        ("Zeichne bitte die Karte des Hafens", "## Nächste Schritte", "### Schritt 1: Gezeitentafel laden"),
        ("Dibuja por favor el mapa del puerto", "## Próximos pasos", "### Paso 1: Cargar la tabla de mareas"),
    ],
)
def test_a_step_may_have_a_section(asked: str, heading: str, step: str) -> None:
    """It is told without its number."""
    closing = f"{heading}\n\n{step}\n\n```bash\nmake tides\n```\n"
    told_step = step.strip("#* ").replace("：", ":").rpartition(":")[2].strip().removeprefix("1. ")
    fields = told(_edited(asked).says_(closing))
    assert (_titles(fields), fields["next_step"]) == ([told_step], told_step)


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ("Commit the chart", "I need you to paste the ferry timetable of the north harbour."),
        ("Fai il commit della mappa", "Ora ho bisogno che tu esporti il registro delle maree."),
        ("Pode fazer o commit do mapa", "Quando confirmar que exportou o registro, faço o último commit."),
        ("提交这个潮汐图", "需要你先把今天的潮汐记录导出来。"),
    ],
)
def test_what_the_user_is_needed_for_is_the_next_step(asked: str, needed: str) -> None:
    assert told(_edited(asked).says_(f"OK.\n\n{needed}"))["next_step"] == needed


def test_the_first_box_of_a_checklist_in_the_last_answer_is_the_next_step() -> None:
    closing = "## Checklist\n\n- [ ] A1: split the tide reader\n- [ ] A2: move the siren into its own file"
    fields = told(Story("x").user("Plan the rework of the alarm, no code").says_(closing))
    assert fields["next_step"] == "A1: split the tide reader"


def test_code_in_a_sentence_keeps_its_signs() -> None:
    assert request_line("`__init__` of `tide` takes `list[list[int]]`, **nothing** else") == (
        "__init__ of tide takes list[list[int]], nothing else"
    )


@pytest.mark.parametrize(
    ("closing", "step"),
    [
        (
            f"{DONE_ROWS}\n\nThe next phase is the tide alarm. Want me to proceed?",
            "The next phase is the tide alarm. Want me to proceed?",
        ),
        (
            "Tudo pronto.\n\nA próxima fase é o alarme de maré. Quer que eu prossiga?",
            "A próxima fase é o alarme de maré. Quer que eu prossiga?",
        ),
        ("The chart is drawn. Want me to proceed?", None),
    ],
)
def test_a_short_offer_is_told_with_what_it_is_about(closing: str, step: str | None) -> None:
    """Rows that are done are no options of it."""
    assert told(_edited().says_(closing))["next_step"] == step


def test_an_item_that_says_little_is_told_with_what_it_is_about() -> None:
    closing = "The tables are copied.\n\n**Direct access:** as before\n- Blocked by the vendor's protection"
    assert noted(told(_edited().says_(closing)), "blocker") == ["Direct access: Blocked by the vendor's protection"]


def test_a_list_of_another_section_is_nothing_to_choose_from() -> None:
    closing = (
        "## What I will add\n\n1. A layer for the buoys\n2. A layer for the lights\n\n"
        "## One thing to confirm\n\nDoes the chart know the lights already?\n\nReady on your go."
    )
    assert "buoys" not in (told(Story("x").user("Plan the layers").says_(closing))["next_step"] or "")


def test_a_turn_that_died_says_what_it_was_at() -> None:
    story = _edited("Write the tests of the tide alarm").says_("Now the siren, with both of its tests:")
    story.call("write", {"path": "test_siren.py", "content": "x"}, "ok")
    story.says_("", stopReason="error", errorMessage="429 limit reached")
    assert told(story)["last_request"]["doing"] == "Now the siren, with both of its tests"


def test_a_prompt_of_windows_is_no_word_of_the_user_s() -> None:
    text = "deploy@port C:\\tide-bot>type tide.log\n2026-05-04 10:00:00 [error] gauge lost\nis the gauge fine?"
    assert request_line(text) == "is the gauge fine?"


@pytest.mark.parametrize(
    "closing",
    [
        "All fixed.\n\n**Before you compact:** export the tide log into the harbour folder.",
        "## What I'd do right now, in order\n\n1. Mend the tide gauge\n2. Run the chart\n\nIf you say go, I start.",
    ],
)
def test_what_comes_before_or_after_a_go_is_the_next_step(closing: str) -> None:
    assert told(_edited().says_(closing))["next_step"]


def test_a_question_accepts_no_offer() -> None:
    """ "все норм?" holds a word of agreement."""
    story = _edited("Добавь лог прилива").says_("Готово. Если хочешь, могу добавить журнал ветра.")
    assert told(story.user("все норм?"))["last_request"]["text"].startswith("все норм?")
    assert "журнал ветра" not in told(story)["last_request"]["text"]


PLANNED = "# Lock table\n\n- [ ] 1. Draw the table\n- [ ] 2. Enter the spring times\n"


def _titles_after(story: Any) -> list[str]:
    return [one["title"] for one in told(story)["pending_tasks"]]


def test_a_plan_of_tasks_is_carried_out_once_later_work_was_committed() -> None:
    """Nobody ticked it; what was changed and committed afterwards came of it."""
    story = (
        Story("plan")
        .user("Plan the lock table")
        .call("write", {"path": "specs/lock/tasks.md", "content": PLANNED}, "ok")
    )
    story.says_("The plan is in tasks.md.").user("go ahead")
    story.call("edit", {"path": "lock.py", "oldText": "a", "newText": "b"}, "ok")
    assert _titles_after(story.says_("The table is drawn."))
    story.user("commit it").run("git commit -am 'Draw lock times'", "[main 4c1d2e3] Draw lock times\n 1 file changed")
    assert _titles_after(story.says_("Committed.")) == []


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        ({}, []),
        (
            {"edits": [{"oldText": "- [ ] 1. Draw the table", "newText": "- [x] 1. Draw the table"}]},
            ["2. Enter the spring times"],
        ),
        ({"old_string": "- [ ] 1. Draw the table\n", "new_string": ""}, ["2. Enter the spring times"]),
    ],
)
def test_the_final_state_of_a_checklist_counts(edit: dict[str, Any], left: list[str]) -> None:
    """Ticked by several edits at once, taken out, or edited in a way that nobody recorded."""
    story = (
        Story("ticked")
        .user("Plan the lock table")
        .call("write", {"path": "specs/lock/tasks.md", "content": PLANNED}, "ok")
    )
    story.says_("The plan is in tasks.md.").user("go ahead")
    story.call("edit", {"path": "../specs/lock/tasks.md", **edit}, "ok")
    assert _titles_after(story.says_("Brought up to date.")) == left


def test_an_item_among_others_heads_none_of_them() -> None:
    """A report of what was mended names a state of the program's."""
    fixed = "Both are mended.\n\nChanges in siren.py:\n- Pending alarms: 5 → 30 min\n- Also look for rung alarms\n"
    fixed += "- Wait and look again\n"
    assert _titles_after(Story("fixed").user("Why does the siren stop at once?").says_(fixed)) == []


@pytest.mark.parametrize(
    ("closing", "offered"),
    [
        (
            "It is loud.\n\nIf you want me to swap it for the bell, let me know. Else turn it down.",
            "swap it",
        ),
        ("La sirena suena demasiado.\n\nSi quieres, cambio la sirena por la campana.\n\nAsí la oyen todos.", "campana"),
        ("La sirena suena mal.\n\nSi quieres, hago lo útil de verdad:\n**cambio la sirena** por la campana", "campana"),
        ("A sirene está boa.\n\nQuando avisar, troco a sirene pelo sino do porto.", "sino"),
        ("A sirene está alta demais.\n\nSe quiser, troco a sirene pelo sino do porto.", "sino"),
        ("Die Sirene ist zu laut.\n\nWenn du willst, tausche ich die Sirene gegen die Glocke.", "Glocke"),
    ],
)
def test_an_offer_needs_no_question_mark(closing: str, offered: str) -> None:
    """The last thing said offers to go on."""
    user = {"It ": "Why do they hear it?", "La ": "¿Por qué la oyen?", "A s": "Por que não gostam da sirene?"}
    story = Story("offered").user(user.get(closing[:3], "Warum ist die Sirene nicht gut?")).says_(closing)
    assert offered in str(told(story)["next_step"])


def test_what_tells_the_user_how_is_no_offer() -> None:
    closing = "La sirena suena demasiado.\n\nSi quieres, puedes bajar la sirena en el panel."
    assert told(Story("how").user("¿Por qué la oyen todos?").says_(closing))["next_step"] is None


def test_what_was_missing_in_a_file_was_filled_in() -> None:
    """The next request names the part, and the file was changed."""
    listed = "The log is copied.\n\n## Still open\n\n- harbour.md: the section on sirens is empty\n"
    listed += "- gates.md: the times of the north gate are those of last year\n"
    story = Story("filled").user("Copy the log").says_(listed).user("do the sirens")
    story.call("edit", {"path": "docs/harbour.md", "oldText": "a", "newText": "b"}, "ok").says_("Filled in.")
    assert [title.partition(":")[0] for title in _titles_after(story)] == ["gates.md"]
