"""What rules in a long sentence, what replaces what was said before, and what only looks like a decision."""

# ruff: noqa: E501, ISC004 - sentences are data

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.choices import LONGEST_RULING, directives
from jsonlstore.signals.corrections import correction
from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import rules_of
from jsonlstore.signals.replies import choice
from jsonlstore.signals.rulings import clauses, together, whole_clauses
from jsonlstore.signals.sentences import is_document, spoken_sentences
from tests.signals.told import Story, noted, told

SETTLED = {"decision", "constraint"}


def settled(code: str, text: str) -> list[str]:
    return [one.text for one in directives(text, rules_of(languages()[code])) if one.kind in SETTLED]


@pytest.mark.parametrize(
    ("code", "text", "ruling"),
    [
        (
            "en",
            "I don't want the buoys drawn as triangles because the pilots read those as wrecks and one of them turned round "
            "in the middle of the fairway last autumn, draw them as filled circles",
            "draw them as filled circles",
        ),
        (
            "en",
            "Instead of asking the tide server for every single berth, which takes half a minute when the line is bad, "
            "load the table once a day",
            "load the table once a day",
        ),
        (
            "en",
            "The old pilot book says the depth in fathoms and half of the crew still thinks that way, but the harbour office "
            "wants metres, so use metres",
            "use metres",
        ),
        (
            "de",
            "Ich will nicht, dass die Tiefen bei jedem Start neu geladen werden, weil die Leitung am Kai so langsam ist, dass "
            "die Lotsen zehn Minuten warten, sondern nur einmal am Morgen",
            "sondern nur einmal am Morgen",
        ),
        (
            "fr",
            "Non, pas de carte satellite ici, les images datent de trois ans et le nouveau quai n'y figure même pas encore, "
            "utilise la carte marine",
            "utilise la carte marine",
        ),
        (
            "ru",
            "Я не хочу, чтобы карта загружалась целиком, потому что связь на дальнем причале очень плохая и капитаны жалуются, "
            "загружай только видимую часть",
            "загружай только видимую часть",
        ),
        (
            "ko",
            "항구 전체 지도를 매번 다시 그리지 말고, 부두의 회선이 느려서 선장들이 십 분씩 기다리니까, 보이는 부분만 갱신하도록 해 주세요",
            "보이는 부분만 갱신하도록 해 주세요",
        ),
    ],
)
def test_a_long_sentence_is_told_by_what_it_rules(code: str, text: str, ruling: str) -> None:
    """What is refused stands first; a head of so many characters would tell of nothing else."""
    (said,) = settled(code, text)
    assert ruling in said
    assert len(said) <= LONGEST_RULING


def test_what_it_replaces_stands_before_what_rules_where_there_is_room() -> None:
    text = "Not the northern quay, it is closed for repairs until the end of spring and nobody knows whether it will "
    text += "open again this year, use the ferry pier"
    assert settled("en", text) == ["Not the northern quay, use the ferry pier"]


@pytest.mark.parametrize(
    ("code", "text", "ruling"),
    [
        ("en", "After every tide that changed the sandbanks, update the chart of the basin and the list of the berths, and tell the ferries", "update the chart"),
        ("en", "Before every sailing of the northern line, check the weather at the outer buoy, and leave it out of the log", "check the weather"),
        ("de", "Nach jedem Sturm immer die Liste der Bojen ergänzen, die Karte des Hafens nachziehen und alles in einem Schritt festhalten", "die Liste der Bojen ergänzen"),
    ],
)  # fmt: skip
def test_when_something_holds_is_not_told_without_what_holds(code: str, text: str, ruling: str) -> None:
    """A clause of time or condition alone rules nothing."""
    (said,) = settled(code, text)
    assert ruling in said


def test_a_ruling_that_points_back_is_not_told_without_what_it_is_about() -> None:
    refused = (
        "when the wind is over eight the small ferries must not leave the inner harbour of the northern island town"
    )
    assert together(refused, "hold it instead", LONGEST_RULING) != "hold it instead"
    assert together("No", "draw the piers", LONGEST_RULING) == "draw the piers"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("write the depth of every berth in the northern and in the southern basin", True),
        ("write the depth of every berth in the northern and in the southern basin but never of a wreck", False),
        ("schreib die Tiefe jedes Liegeplatzes im nördlichen und im südlichen Becken nicht in die Karte", False),
    ],
)
def test_nothing_is_cut_off_that_turns_the_rest(said: str, kept: bool) -> None:
    """Silence is better than half a sentence that says the opposite."""
    assert bool(whole_clauses(said, 60)) is kept


def test_what_is_left_of_a_sentence_rules_by_itself() -> None:
    """The words that ruled may be the ones cut off: then their clause is told."""
    text = (
        "The table of the tides has had fathoms in it ever since the old harbour master wrote the first one by hand, "
    )
    assert settled("en", f"{text}from now on write metres") == ["from now on write metres"]
    assert settled("en", f"{text}which is just how things are here") == []


@given(st.text(max_size=400), st.integers(min_value=20, max_value=160))
def test_a_whole_part_fits(said: str, most: int) -> None:
    """However it is cut, it is at most as long as asked for."""
    assert len(whole_clauses(said, most)) <= most


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_clauses_hold_only_what_was_said(said: str) -> None:
    """Clauses and quotations are parts of the sentence; nothing stands in for them afterwards."""
    for one in clauses(said, list(languages().values())):
        assert all(part in " ".join(said.split()) or part in said for part in one.text.split(", ")[:1])


def test_a_comma_in_a_quotation_ends_no_clause() -> None:
    text = (
        'The sign says "no mooring, always keep clear of the pier" and I have been asking myself for a week now what '
    )
    text += "the harbour master could have had in mind when he put it there in the middle of the season"
    assert settled("en", text) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Ask me before you move a buoy."),
        ("en", "We only work in the charts folder."),
        ("en", "The soundings stay as they are."),
        ("en", "One commit per basin."),
        ("en", "I run the uploads to the pilots myself."),
        ("en", "Nothing goes to the harbour office without my okay."),
        ("en", "You are not allowed to touch the tide tables."),
        ("en", "If you are unsure about a depth, stop and ask."),
        ("en", "Wait for my go before you publish a chart."),
        ("en", "All depths are in metres in this project."),
        ("de", "Frag mich, bevor du eine Boje verschiebst."),
        ("de", "Die Lotungen bleiben, wie sie sind."),
        ("de", "Das Hochladen mache ich selbst."),
        ("es", "Pregúntame antes de mover una boya."),
        ("es", "Los sondeos se quedan como están."),
        ("fr", "Demande-moi avant de déplacer une bouée."),
        ("fr", "Les sondes restent telles quelles."),
        ("pt", "Me pergunte antes de mover uma boia."),
        ("it", "Chiedimi prima di spostare una boa."),
        ("ru", "Спрашивай меня, прежде чем двигать буй."),
        ("uk", "Питай мене, перш ніж рухати буй."),
        ("zh", "移动浮标之前先问我。"),
        ("ja", "ブイを動かす前に必ず聞いてください。"),
        ("ko", "부표를 옮기기 전에 먼저 물어봐 주세요."),
    ],
)
def test_a_rule_said_plainly_is_a_rule(code: str, text: str) -> None:
    """How to work together, what to touch and what not, and who does what."""
    assert settled(code, text) == [text]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The lights stay red even at noon."),
        ("en", "I did the uploads myself and they failed."),
        ("en", "Every time I click a buoy, the chart jumps."),
        ("en", "We only see this at low tide."),
        ("de", "Die Lampen bleiben rot."),
        ("es", "Los sondeos siguen fallando."),
        ("ko", "제가 직접 해 봤는데 안 됩니다."),
    ],
)
def test_how_things_are_is_no_rule(code: str, text: str) -> None:
    assert settled(code, text) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Only reply with the depth, nothing else."),
        ("en", "Just tell me which pier it is, don't show me the table."),
        ("en", "show me the berths as a table instead of a list"),
        ("de", "Gib mir nur die Tiefe, keine Erklärung."),
        ("es", "Responde solo con la profundidad."),
        ("fr", "Réponds en une seule phrase."),
        ("zh", "只给我深度，不要解释。"),
        ("ja", "深さだけ教えて、説明はいらない。"),
    ],
)
def test_how_one_answer_is_to_look_is_no_decision(code: str, text: str) -> None:
    """It is done with that answer; "always answer in Dutch" is not."""
    assert settled(code, text) == []
    assert settled("en", "Always answer in Dutch, please.") != []


OFFERED = "There are three ways:\n1. dredge the basin\n2. move the ferry pier\n3. close the quay\n\nWhich one?"


@pytest.mark.parametrize(
    ("reply", "picked"),
    [
        ("2", ["2"]),
        ("let's take 2, please", ["2"]),
        ("1 and 3", ["1", "3"]),
        ("we have 2 ferries here", []),
        ("chart 3 came out in May", []),
        ("I see 2 of them now", []),
    ],
)
def test_a_number_picks_where_a_choice_stands(reply: str, picked: list[str]) -> None:
    """Before a noun it counts something, behind one it names something."""
    assert [key for key, _ in choice(reply, None, OFFERED)] == picked


def test_a_template_is_nobody_s_rule() -> None:
    """A prompt that is kept for many occasions says who to play, or comes with headings and lists."""
    rules = "\n".join(f"- Never draw pier number {number} of the outer basin by hand" for number in range(8))
    assert is_document(f"You are a careful pilot. You will be given a chart.\n\n{rules}\n\nBegin with the outer piers.")
    assert (
        settled("en", f"You are a careful pilot. You will be given a chart.\n\n{rules}\n\nBegin with the piers.") == []
    )
    assert not is_document("Never draw the pier by hand.\n- and no buoys\n- and no lights\n- and no wrecks")


def test_what_a_program_printed_below_a_command_is_not_said() -> None:
    """It lasts until the next blank line."""
    text = "$ charts check\nuse metres instead of fathoms\nnever leave a depth empty\n\nAlways round the depths down."
    assert spoken_sentences(text) == ["Always round the depths down."]


@pytest.mark.parametrize(
    ("before", "later", "gone", "stands"),
    [
        ("Use a red light for the pier", "no, I meant a green light", "red", "green"),
        ("Always store the depths in fathoms", "actually, store the depths in metres", "fathoms", "metres"),
        ("Keep the ferry table on the left", "sorry, keep the ferry table on the right", "left", "right"),
        ("Add the wrecks to every chart", "on reflection only add the wrecks to the first chart", "every", "first"),
        ("Nimm für die Bojen rote Dreiecke", "nein, ich meinte grüne Kreise für die Bojen", "rote", "grüne"),
        ("Usa metros para la tabla", "en realidad usa brazas para la tabla", "metros", "brazas"),
        ("潮汐表保留三十天", "不对，我是说潮汐表保留九十天", "三十", "九十"),
    ],
)
def test_the_later_word_replaces_the_earlier_one(before: str, later: str, gone: str, stands: str) -> None:
    """And what the user said last is told in its place."""
    story = (
        Story("later")
        .user("Hello, here are the charts" if before.isascii() else "我们来看港口的海图")
        .says_("I see them.")
    )
    for said in (before, later):
        story.user(said).call("edit", {"path": "charts.py", "oldText": "a", "newText": "b"}, "ok").says_("Done.")
    fields = told(story.user("?").says_("Yes."))
    shown = noted(fields, "decision", 0.7)
    assert any(stands in one for one in shown)
    assert not any(gone in one and stands not in one for one in (*shown, *fields["constraints"]))


@pytest.mark.parametrize(
    "later",
    [
        "No, the upload is still red",
        "actually, can you also sort the ferries?",
        "Use metres for the tide tables of the harbour, not fathoms",
        "Actually, add a page about the harbour lights",
    ],
)
def test_a_rule_stands_when_something_else_is_corrected(later: str) -> None:
    """One word in common may be the name of the project."""
    fields = told(
        Story("other").user("Never upload our harbour chart without asking me").says_("OK.").user(later).says_("Yes.")
    )
    assert fields["constraints"][0] == "Never upload our harbour chart without asking me"


def test_only_what_announces_it_or_speaks_against_something_corrects() -> None:
    english = rules_of(languages()["en"])
    assert correction("Draw the piers in blue", english) is None
    assert correction("no, what was the colour of the piers?", english) is None
    later = correction("draw the piers in blue instead of grey", english)
    assert later is not None
    assert later.replaces("Keep the piers grey")
    assert not later.replaces("Draw the piers with their numbers")
