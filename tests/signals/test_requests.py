"""Requests that settle something, requests that say little alone, and answers that only announce or ask back."""

from __future__ import annotations

from typing import Any

import pytest

from jsonlstore.signals.choices import directives
from jsonlstore.signals.facts import hear_rules
from jsonlstore.signals.language import languages
from tests.signals.told import Story, noted, told

SURE = 0.7  # what a preamble shows
OPENING = {
    "en": "please look at the harbour chart and tell me what it does",
    "de": "bitte sieh dir die Hafenkarte an und sag mir was sie macht",
    "es": "por favor mira la carta del puerto y dime qué hace",
    "fr": "regarde la carte du port et dis-moi ce que ça fait",
    "pt": "por favor olhe a carta do porto e me diga o que ela faz",
    "ru": "посмотри на карту гавани и скажи, что она делает",
    "uk": "подивись на карту гавані і скажи, що вона робить",
    "zh": "请看一下港口图，告诉我它做什么",
    "ja": "港の図を見て、何をするものか教えてください",
    "ko": "항구 지도를 보고 무엇을 하는지 알려줘",
}
SHAPED = [
    ("en", "move the legend below the tide table"),
    ("en", "add a --depth switch, pass it to the Sounder"),
    ("en", "in draw_pier, round the corners to 4 px"),
    ("en", "on zoom, cache the rendered buoys in self.tiles"),
    ("en", "can you also enable tides=true ?"),
    ("en", "could you please rename the mooring column to berth?"),
    ("de", "verschiebe die Legende unter die Gezeitentafel"),
    ("de", "kannst du die Spalte Liegeplatz in Ankerplatz umbenennen?"),
    ("es", "mueve la leyenda debajo de la tabla de mareas"),
    ("es", "¿puedes agregar el nombre del muelle al título?"),
    ("fr", "déplace la légende sous la table des marées"),
    ("fr", "peux-tu ajouter le nom du quai dans le titre ?"),
    ("pt", "coloque a legenda abaixo da tabela de marés"),
    ("ru", "перенеси легенду под таблицу приливов"),
    ("ru", "можешь добавить название причала в заголовок?"),
    ("uk", "перенеси легенду під таблицю припливів"),
    ("zh", "把图例放到潮汐表下面"),
    ("zh", "航标列表里没有颜色，可以增加颜色吗？"),
    ("ja", "凡例を潮汐表の下に移動してください"),
    ("ko", "범례를 조석표 아래로 이동해 줘"),
]


def worked(story: Any, said: str, code: str = "en") -> Any:
    """The session opens, the user asks for something, it is done, and something else is asked."""
    story.user(OPENING[code]).says_("It draws the harbour.")
    story.user(said).call("edit", {"path": "chart.py", "old_string": "a", "new_string": "b"}, "ok").says_("Finished.")
    return story.user("and what does the second gauge measure?").says_("The height of the water.")


@pytest.mark.parametrize(("code", "said"), SHAPED)
def test_a_request_that_was_carried_out_is_no_decision(code: str, said: str) -> None:
    """It is done, and nobody speaks of it again."""
    assert noted(told(worked(Story("x"), said, code)), "decision", SURE) == []


@pytest.mark.parametrize(("code", "said"), SHAPED)
def test_a_request_the_user_comes_back_to_is_one(code: str, said: str) -> None:
    story = worked(Story("x"), said, code).user(f"{said} …?").says_("It is so.").user("42?").says_("Yes.")
    assert len(noted(told(story), "decision", SURE)) == 1


@pytest.mark.parametrize(("code", "said"), SHAPED)
def test_a_request_that_changed_nothing_is_none(code: str, said: str) -> None:
    story = Story("x").user(OPENING[code]).says_("It draws the harbour.").user(said).says_("The reasons are many.")
    story.user("and what does the second gauge measure?").says_("The height of the water.")
    assert noted(told(story), "decision", SURE) == []


def test_the_first_request_is_the_work_and_an_undone_one_is_none() -> None:
    first = Story("x").user("move the legend below the tide table").call("edit", {"path": "chart.py"}, "ok")
    first.says_("Moved.").user("what does the gauge measure?").says_("The height of the water.")
    assert noted(told(first), "decision", SURE) == []
    undone = Story("x").user(OPENING["en"]).says_("It draws.").user("move the legend below the tide table")
    undone.call("edit", {"path": "chart.py"}, "ok").says_("Moved.").user("/undo").says_("Removed.")
    undone.user("what does the gauge measure?").says_("The height of the water.")
    assert noted(told(undone), "decision", SURE) == []


def test_a_go_ahead_carries_out_what_was_planned() -> None:
    story = Story("x").user(OPENING["en"]).says_("It draws.").user("add the name of the quay to every title")
    story.says_("Plan: one label per quay.").user("Implement the plan as specified.")
    story.call("edit", {"path": "chart.py"}, "ok").says_("Finished.").user("what is a mole?").says_("A wall.")
    story.user("is the name of the quay in the titles of both pages?").says_("It is.").user("42?").says_("Yes.")
    assert noted(told(story), "decision", SURE) == ["add the name of the quay to every title"]


@pytest.mark.parametrize(
    "said",
    [
        "add tests",
        "make it so",
        "keep going with the soundings and the buoys",
        "run the soundings and check the buoys",
        "fix the crash in the harbour view",
        "can you explain why the legend moves below the table?",
        "can you show me the table of tides and moons?",
        "what if we move the legend below the table?",
    ],
)
def test_plain_work_and_questions_are_no_decisions(said: str) -> None:
    assert noted(told(worked(Story("x"), said)), "decision", SURE) == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "it opens the list instead of the map"),
        ("en", "same problem when the chart is drawn twice rather than once"),
        ("de", "es zeigt die Liste anstatt der Karte vom Hafen"),
        ("es", "aparece la lista en vez de la carta del puerto"),
        ("fr", "ça affiche la liste au lieu de la carte du port"),
        ("pt", "aparece a lista em vez da carta do porto"),
        ("ru", "показывает список вместо карты гавани"),
        ("uk", "показує список замість карти гавані"),
        ("zh", "这里显示的是列表而不是地图"),
    ],
)
def test_a_contrast_that_reports_is_no_decision(code: str, said: str) -> None:
    assert [one for one in directives(said, [languages()[code]]) if one.confidence >= SURE] == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "tabs instead of spaces please"),
        ("en", "show the map instead of the list"),
        ("en", "the legend should be below the map rather than beside it"),
        ("de", "bitte die Karte anstatt der Liste"),
        ("es", "pon la carta en vez de la lista"),
        ("zh", "用地图而不是列表"),
    ],
)
def test_a_contrast_that_orders_still_is_one(code: str, said: str) -> None:
    assert [one for one in directives(said, [languages()[code]]) if one.confidence >= SURE]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("港の図の仕様書を探してください", "仕様書が見つかりました。最新版を確認します。"),
        ("find the specification of the harbour chart", "I found two of them. I'll read the newer one now."),
        ("найди описание карты гавани", "Нашёл два файла. Сейчас прочитаю новый."),
    ],
)
def test_an_answer_that_announces_is_no_answer(asked: str, said: str) -> None:
    """Something was looked at, nothing changed, and the last words say what comes: that is where it stopped."""
    fields = told(Story("x").user(asked).run("ls docs", "chart_v2.md chart_v3.md").says_(said))
    assert fields["last_request"]["fate"] == "interrupted"
    assert fields["next_step"] in said
    assert [one["title"] for one in fields["pending_tasks"]] == [asked]


def test_what_sums_up_a_change_is_an_answer() -> None:
    story = Story("x").user("round the corners of the pier").call("edit", {"path": "pier.py"}, "ok")
    assert told(story.says_("Rounded. I'll keep the old shape in git."))["last_request"]["fate"] == "answered"


@pytest.mark.parametrize(
    ("said", "told_as"),
    [
        ("and without sockets?", "and without sockets? (after: how would the tide server send its readings)"),
        ("ok, make those changes", "ok, make those changes (after: how would the tide server send its readings)"),
        ("check tide_server.py", "check tide_server.py"),
        ("now describe the pier, the mole and the buoys", "now describe the pier, the mole and the buoys"),
        ("/clear\nThe tide gauge broke again", "The tide gauge broke again"),
    ],
)
def test_a_request_that_says_little_alone_is_told_with_the_one_before(said: str, told_as: str) -> None:
    story = Story("x").user("how would the tide server send its readings").says_("Over a socket.").user(said)
    assert told(story.says_("It would poll once a minute."))["last_request"]["text"] == told_as


def test_a_task_whose_file_was_changed_is_worked_off() -> None:
    story = Story("x").user("read the notes. we still need to port over tide_dialog.ts like the others").says_("Yes.")
    story.call("edit", {"path": "src/tide_dialog.ts"}, "ok").says_("Ported.").user("what is a mole?").says_("A wall.")
    assert told(story)["pending_tasks"] == []
    other = Story("x").user("read the notes. we still need to port over tide_dialog.ts like the others").says_("Yes.")
    other.call("edit", {"path": "src/mole.ts"}, "ok").says_("Drawn.").user("what is a mole?").says_("A wall.")
    assert len(told(other)["pending_tasks"]) == 1


def test_the_nearest_list_says_what_an_offer_is_about() -> None:
    answer = (
        "There are three ways:\n\n1. Draw the pier\n2. Draw the mole\n3. Draw the quay\n\nWe could start so:\n\n"
        "1. Create pier.py\n2. Move the corners there\n\nWould you like me to proceed with this?"
    )
    story = Story("x").user("what should be split off first?").says_(answer).user("yes")
    story.call("edit", {"path": "pier.py"}, "ok").says_("Split off.")
    asked = told(story)["last_request"]["text"]
    assert "Create pier.py" in asked
    assert "quay" not in asked


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Great! The tide server answers again.", "The tide server answers again."),
        ("All done! The pier has round corners now.", "The pier has round corners now."),
        (
            "Теперь давайте составим сводку:\n\nУглы причала скруглены, таблица приливов обновлена, карта готова.",
            "Углы причала скруглены, таблица приливов обновлена, карта готова.",
        ),
        ("Great!", "Great!"),
    ],
)
def test_an_answer_begins_with_what_it_says(said: str, answer: str) -> None:
    story = Story("x").user("repair the tide server of the harbour").call("edit", {"path": "tide.py"}, "ok")
    assert told(story.says_(said))["last_answer"] == answer


@pytest.mark.parametrize(
    "said",
    [
        "No globals, use the harbour object",
        "Soundings in metres everywhere",
        "be thorough with the soundings",
        "let me know if you are unsure about a buoy",
        "Die Tafel soll ab heute nur für Lotsen sein",
        "gib mir bescheid, wenn eine Boje fehlt",
        "beachte immer die Tide vor dem Auslaufen",
        "Mantén todo el puerto en una sola capa",
        "avísame antes de mover una boya",
        "préviens-moi quand une bouée manque",
    ],
)
def test_how_the_work_is_to_be_done_is_a_rule_of_a_checkpoint(said: str) -> None:
    rules: dict[str, None] = {}
    hear_rules(rules, said)
    assert list(rules) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "No idea, the harbour is empty",
        "the buoys were everywhere in the picture of last summer, was that the storm?",
        "I let them know when the tide turned",
        "Wo soll die Tafel stehen?",
        "Die Boje muss repariert werden, glaube ich",
        "no encuentro la boya del puerto viejo",
    ],
)
def test_what_only_sounds_like_a_rule_is_none(said: str) -> None:
    rules: dict[str, None] = {}
    hear_rules(rules, said)
    assert rules == {}
