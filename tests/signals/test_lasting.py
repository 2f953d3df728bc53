"""What is worth telling as a decision: what lasts, and not what a program said or why something is so."""

from __future__ import annotations

import pytest

from jsonlstore.signals.applied import choices_in
from jsonlstore.signals.choices import directives
from jsonlstore.signals.language import heard_in, languages, speaks_another
from jsonlstore.signals.offers import rules_of
from jsonlstore.signals.projects import ProjectTally
from tests.signals.told import Story, noted, told

SETTLED = {"decision", "constraint"}


def settled(code: str, text: str) -> list[str]:
    return [one.text for one in directives(text, rules_of(languages()[code])) if one.kind in SETTLED]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "ok let's focus on the moorings and the buoys of the harbour"),
        ("en", "let's start with the tide tables of the northern harbour"),
        ("pt", "vamos começar com as tabelas de marés do porto"),
        ("es", "vamos a empezar con las tablas de mareas del puerto"),
        ("ru", "давай начнём с таблиц приливов в порту"),
        ("uk", "давай почнемо з таблиць припливів у порту"),
        ("ko", "이 항구 지도를 마지막으로 확인해보세요"),
    ],
)
def test_what_to_look_at_next_is_no_decision(code: str, text: str) -> None:
    """It is done with the next answer."""
    assert settled(code, text) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "because then there is no need for a second copy of the chart"),
        ("de", "weil dann besser ohne zweite Karte gearbeitet wird"),
        ("es", "porque es mejor que la carta quede en un solo lugar"),
    ],
)
def test_a_bare_reason_is_no_decision(code: str, text: str) -> None:
    """With what it is the reason for it may be one."""
    assert settled(code, text) == []


def test_a_reason_with_its_rule_is_a_rule() -> None:
    assert settled("en", "Since the gauge is slow, never read it twice in a minute.") != []


def test_a_prohibition_in_korean_is_a_rule_and_neither_trouble_nor_success() -> None:
    """The word for "must not" holds the ones for "does not work" and "works"."""
    korean = languages()["ko"]
    assert settled("ko", "항구 지도의 색을 바꾸면 안됩니다.") != []
    assert not korean.says("trouble", "항구 지도의 색을 바꾸면 안됩니다.")
    assert korean.says("trouble", "지도가 안됩니다.")
    assert not korean.says("works", "지도가 안됩니다.")
    assert korean.says("works", "이제 지도가 잘 됩니다.")


def test_a_sign_of_chinese_is_as_long_as_two_letters() -> None:
    """A long dictated sentence is no rule as a whole; the clause that rules is told."""
    talk = "我看了你昨天画的港口地图和所有的浮标位置还有北边码头的水深数据"
    talk += "觉得整体上做得很不错但是颜色有一点点暗而且字也太小了看不太清楚"
    told_of = settled("zh", f"{talk}，潮汐表必须每小时更新一次")
    assert told_of == ["潮汐表必须每小时更新一次"]


@pytest.mark.parametrize(
    ("copied", "line"),
    [
        (True, 'case "north", "": // the default harbour'),
        (True, "depth := 4 // must be positive"),
        (False, "The depth must be positive."),
    ],
)
def test_a_line_of_code_is_nothing_the_user_ruled(copied: bool, line: str) -> None:
    assert bool(settled("en", line)) is not copied


def test_english_output_in_another_language_s_session_is_not_the_user_s() -> None:
    """A program's sentences read like rules and requests."""
    heard = heard_in(["Покажи карту гавани со всеми причалами", "Теперь добавь туда буи и глубину", "а где маяк"])
    pasted = "The gauge is in use by another program. Either stop that program, or start it with a different port."
    assert speaks_another(pasted, heard)
    assert not speaks_another(pasted, {"en": 3, "ru": 3})
    assert not speaks_another("Добавь маяк на карту гавани", heard)
    made = Story("foreign")
    for asked in [
        "Покажи карту гавани со всеми причалами",
        "Теперь добавь туда буи и глубину",
        pasted,
        "а где маяк на карте",
    ]:
        made.user(asked).call(
            "edit", {"path": "map.py", "oldText": "a", "newText": "b"}, "Successfully replaced text in map.py"
        )
        made.says_("Готово.")
    fields = told(made)
    assert not [one for one in noted(fields, "decision", 0.7) if "program" in one]
    assert "program" not in str(fields["earlier_requests"])


@pytest.mark.parametrize(
    ("item", "is_one"),
    [
        ("The reader now uses `tide.db` instead of the cache", True),
        ("Value comes from `~/.tide/config.toml` (instead of false by default)", False),
        ("`DEPTH` -> `DEPTH_M`", True),
        ("`is_low(tide) == False` -> reads `tide.db` as usual", False),
    ],
)
def test_an_aside_or_a_condition_is_nothing_an_agent_chose(item: str, is_one: bool) -> None:
    """What stands in brackets is not the point, and what happens in a case was not settled against anything."""
    assert bool(choices_in(f"Changes:\n- {item}", [languages()["en"]])) is is_one


@pytest.mark.parametrize(
    ("code", "item"),
    [
        ("en", "Changes:\n- `GaugeError` now stores `self.depth` separately"),
        ("en", "Changes:\n- `tide_port` defaults to `7070`"),
        ("en", "Changes:\n- `board.py` is refreshed only when `gauge_1` answers"),
        ("de", "Änderungen:\n- `tide_port` ist standardmäßig `7070`"),
        ("es", "Cambios:\n- `board.py` se actualiza solo cuando `gauge_1` responde"),
        ("ru", "Изменения:\n- `board.py` обновляется только если `gauge_1` ответил"),
        ("zh", "修改内容：\n- `tide_port` 默认为 `7070`"),
    ],
)
def test_how_something_behaves_is_nothing_an_agent_chose(code: str, item: str) -> None:
    """A report tells much in passing; a choice names what it was made against."""
    assert choices_in(item, [languages()[code]]) == []


def test_a_folder_beside_the_start_is_a_project_of_its_own() -> None:
    """The folder above both holds projects and is none, whatever it is called."""
    tally = ProjectTally()
    tally.start_in("/Users/kim/Documents/Harbour things/old-map")
    assert tally.visit("/Users/kim/Documents/Harbour things/tide-table/src/a.ts", is_file=True) == "tide-table"
    assert tally.visit("/Users/kim/Documents/Harbour things/old-map/b.ts", is_file=True) == "old-map"
    assert tally.visit("/Users/kim/Documents/Other/c.ts", is_file=True) == "Other"
    assert tally.visit("/Users/kim/code/v/buoys/src") == "buoys"


@pytest.mark.parametrize(
    "chat",
    [
        "Which harbour?\n\n15:19\nAlways the northern one.\n\n15:20\nNever the southern one.",
        "[3:47 PM, 9/28/2026] Kim: Always use the northern harbour\n[3:49 PM, 9/28/2026] Lee: Never the southern one",
    ],
)
def test_a_copied_conversation_is_not_the_user_s_own(chat: str) -> None:
    """What others said in it rules nothing here; what stands above it is the user's."""
    assert settled(
        "en", f"Look at this, the last question breaks. Never ask for the same harbour twice.\n\n{chat}"
    ) == ["Never ask for the same harbour twice."]
    assert settled("en", "Always read the gauge at 15:19\nand at 15:20") != []


OFFER = (
    "Which way?\n\n1. Read the gauge every minute\n2. Read the gauge every hour\n3. Read the gauge at each tide\n\n"
    "Which do you prefer?"
)


@pytest.mark.parametrize(
    "reply",
    [
        "Let's go with option 3.",
        "Let's go with option 3. As for the table, call it harbour_tides and keep it beside the moorings for now.",
        "Option 3",
    ],
)
def test_an_option_named_in_a_sentence_is_told_with_what_it_is(reply: str) -> None:
    """By itself its number says nothing at the next session."""
    fields = told(Story("option").user("How often should we read the gauge?").says_(OFFER).user(reply).says_("Fine."))
    shown = noted(fields, "decision", 0.7)
    assert "Read the gauge at each tide (option 3)" in shown
    assert not [one for one in shown if one.startswith("Let's go with option")]


def test_a_rule_of_the_user_stands_before_their_choices() -> None:
    """It lasts, and what was chosen is mostly done with the next answer."""
    one = Story("ranked").user("Draw the harbour map").says_("Drawn.")
    one.user("The depth must come from the gauge.").says_("It does.")
    one.user("I'd prefer the chart with the northern moorings").says_("It is there.").user("Which boats?").says_(
        "Three."
    )
    sure = {note["content"]: note["confidence"] for note in told(one)["notes"] if note["type"] == "decision"}
    assert sure["The depth must come from the gauge."] > sure["I'd prefer the chart with the northern moorings"]


@pytest.mark.parametrize(("stop", "shown"), [("aborted", False), ("stop", True)])
def test_a_yes_that_was_stopped_in_the_middle_is_no_decision(stop: str, shown: bool) -> None:
    """Whoever interrupts what they agreed to has thought better of it."""
    one = Story("stopped").user("Draw the harbour map").says_("Drawn. Shall I store the tides as well?").user("yes")
    one.says_("Now the tide store.")
    one.messages[-1]["stopReason"] = stop
    one.user("Which boats are in the harbour today?").says_("Three boats.")
    assert any("store the tides" in text for text in noted(told(one), "decision", 0.7)) is shown
