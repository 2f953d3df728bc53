"""What a session closes, so that a later restore can take it off what earlier sessions left open."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals import Distiller
from jsonlstore.signals.closings import tells_deed
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.language import languages
from jsonlstore.signals.tasks import hash_id
from jsonlstore.transcripts import parse_entry

Story: Any = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))["Story"]


def closed_by(story: Any) -> dict[str, dict[str, Any]]:
    """What a story closes, by title."""
    distiller = Distiller()
    for line in story.lines():
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
    return {one["title"]: one for one in distiller.result().to_fields()["closed"]}


def test_a_ticked_item_closes_what_another_session_opened() -> None:
    """The item has the id its open twin had, though it was never seen open here."""
    closed = closed_by(Story("x").user("- [x] Order the tide gauge").says_("Good."))
    assert closed["Order the tide gauge"]["id"] == hash_id("Order the tide gauge")
    assert closed["Order the tide gauge"]["evidence"] == {"entry_ids": ["e1"], "kind": "ticked"}


@pytest.mark.parametrize(
    ("said", "by"),
    [
        ("The tide table for Husum is done.", "user"),
        ("Die Gezeitentabelle für Husum ist erledigt.", "user"),
        ("La tabla de mareas de Husum está lista.", "user"),
        ("Таблица приливов для Хузума готова.", "user"),
        ("潮汐表数据已完成。", "user"),
        ("I added the tide table for Husum.", "assistant"),
    ],
)
def test_a_done_statement_closes(said: str, by: str) -> None:
    """Either side may say that something is done, in any language with rules."""
    story = Story("x").user(said if by == "user" else "How far are you with the chart?")
    closed = closed_by(story.says_(said if by == "assistant" else "OK."))
    assert any(title.rstrip(".。") == said.rstrip(".。") for title in closed), closed


@pytest.mark.parametrize(
    "said",
    [
        "The tide table is not done yet.",
        "Is the tide table done?",
        "If the tide table is done, print it.",
        "Done.",
        "The tide table will be finished tomorrow.",
        "> The tide table is done.",
    ],
)
def test_what_does_not_say_done_closes_nothing(said: str) -> None:
    """Negations, questions, conditions, plans and quotations are no done statements."""
    assert not closed_by(Story("x").user(said).says_("OK."))


def test_only_an_assistants_last_word_counts() -> None:
    """What it says between two tool calls may turn out wrong in the next."""
    story = Story("x").user("Draw the soundings in blue")
    story.says_("I fixed the soundings colour table.").run("ls", "a").says_("It is still grey.")
    assert not closed_by(story)


def test_commits_and_passed_checks_close() -> None:
    """A commit and a check that passes are evidence, whoever asked for them."""
    story = Story("x").user("Add the tide table")
    story.run("git commit -am 'Add tide table'", "[main 1234abc] Add tide table").run("pytest -q", "9 passed in 0.4s")
    closed = closed_by(story.says_("There."))
    assert closed["Add tide table"]["how"] == "commit 1234abc"
    assert closed["pytest"]["how"] == "passed"


def test_a_todo_list_closes_what_it_ticks_and_what_a_newer_list_leaves_out() -> None:
    """Items done in an earlier list stay closed when the list is replaced."""
    first = [{"content": "Sort the buoys", "status": "completed"}, {"content": "Paint the mole", "status": "pending"}]
    second = [{"content": "Print the chart", "status": "pending"}]
    story = Story("x").user("Do the buoys").call("TodoWrite", {"todos": first}, "ok")
    closed = closed_by(story.call("TodoWrite", {"todos": second}, "ok").says_("Half-way there."))
    assert closed["Sort the buoys"]["how"] == "ticked"
    assert closed["Paint the mole"]["how"] == "dropped from the plan"
    assert "Print the chart" not in closed


def test_a_reversal_closes_the_decision_and_its_rule() -> None:
    """What the user takes back is told as taken back, and no longer holds."""
    story = Story("x").user("From now on never draw hexagons.").says_("OK.").user("never mind, forget it").says_("OK.")
    distiller = Distiller()
    for line in story.lines():
        entry = parse_entry(line.encode())
        assert entry is not None
        distiller.feed(entry)
    told = distiller.result()
    assert [one.how for one in told.closed] == ["taken back"]
    assert not told.constraints
    assert not [one for one in told.notes if one.type == "decision"]


def test_an_id_nobody_opened_here_is_closed_by_its_id() -> None:
    """`task-017 is done` closes it for the session that left it open."""
    closed = closed_by(Story("x").user("task-017 is done").says_("Good."))
    assert [one["id"] for one in closed.values() if one.get("id")] == ["task-017"]


_STEPS = st.lists(
    st.sampled_from(
        [
            "- [x] Order the tide gauge",
            "- [ ] Order the tide gauge",
            "The tide gauge order is done.",
            "TODO: order the tide gauge again",
            "never mind, forget it",
            "From now on never draw hexagons.",
            "thanks",
        ]
    ),
    max_size=8,
)


@given(_STEPS, st.integers(0, 16))
def test_decision_47_holds_for_what_is_closed(steps: list[str], stop: int) -> None:
    """The same transcript closes the same things, looked at in between or not, and each thing once."""
    story = Story("x")
    for step in steps:
        story.user(step).says_("I updated the tide gauge order.")

    def told(look_at: int) -> list[dict[str, Any]]:
        distiller = Distiller()
        for number, line in enumerate(story.lines()):
            entry = parse_entry(line.encode())
            assert entry is not None
            distiller.feed(entry)
            if number == look_at:
                distiller.result()
        closed: list[dict[str, Any]] = distiller.result().to_fields()["closed"]
        return closed

    closed = told(stop)
    assert closed == told(-1)
    keys = [one.get("id") or one["title"].lower() for one in closed]
    assert len(keys) == len(set(keys))
    assert all(orjson.dumps(one["evidence"]["entry_ids"]) != b"[]" for one in closed)


DEEDS = [
    ("en", "I wired the relay for valve 2 today"),
    ("en", "We've finally painted the box"),
    ("en", "Today I sent the invoice to Anna"),
    ("de", "Ich habe heute die Kiste gestrichen"),
    ("es", "Ya he pintado la caja grande"),
    ("fr", "J'ai commandé les joints hier"),
    ("pt", "Já pintei a caixa grande"),
    ("ru", "Я уже покрасил большой ящик"),
    ("uk", "Я вже пофарбувала велику скриню"),
    ("zh", "我已经把箱子刷好了"),
    ("ja", "箱の塗装を完了しました"),
    ("ko", "상자 도장을 완료했습니다"),
]
NOT_DEEDS = [
    ("en", "I tried to paint the box"),
    ("en", "I need to paint the box"),
    ("en", "I asked Bob to paint the box"),
    ("en", "I painted half of the box"),
    ("en", "I painted the box but it peeled"),
    ("en", "I painted the box, except the lid"),
    ("en", "I should have painted the box"),
    ("en", "Have I painted the box?"),
    ("en", "I started painting the box"),
    ("de", "Ich habe versucht, die Kiste zu streichen"),
    ("de", "Ich habe die Kiste gestrichen, aber nur oben"),
    ("fr", "J'ai oublié les joints"),
    ("ru", "Я хотел покрасить ящик"),
    ("zh", "我想刷箱子"),
]


@pytest.mark.parametrize(("code", "said"), DEEDS)
def test_what_a_person_says_they_did_is_done(code: str, said: str) -> None:
    assert tells_deed(said, languages()[code])


@pytest.mark.parametrize(("code", "said"), NOT_DEEDS)
def test_what_was_tried_planned_or_half_done_is_not(code: str, said: str) -> None:
    assert not tells_deed(said, languages()[code])


@pytest.mark.parametrize("code", sorted(languages()))
def test_a_deed_in_a_long_text_is_looked_for_in_linear_time(code: str) -> None:
    """Twice the text, about twice the time: no expression of a language goes back over what it read."""
    import time

    def cost(words: int) -> float:
        text = "ich habe 我已经 i have eu j'ai я уже 상자 箱の " * words
        began = time.process_time()
        languages()[code].says("deed", text)
        return time.process_time() - began

    cost(10)
    assert cost(4000) < 40 * max(cost(400), 0.002)


@pytest.mark.parametrize(
    ("code", "said", "done"),
    [
        ("ru", "Порядок выполнения таблицы", False),  # a noun that begins like the word for "done"
        ("ru", "Создание карты отложено", False),
        ("ru", "Карта гавани создана", True),
        ("uk", "Порядок виконання робіт", False),
        ("uk", "Карту гавані створено", True),
        ("ko", "조석표 추가가 완료되지 않았습니다", False),  # denied behind the verb
        ("ko", "조석표 추가를 완료했습니다", True),
        ("ja", "潮汐表の追加は完了していません", False),
        ("ja", "潮汐表の追加が完了しました", True),
        ("en", "task-777 must be closed by Friday", False),  # wished for, not done
        ("en", "We had to restart, but it is done", True),
        ("de", "Die Aufgabe sollte erledigt sein", False),
        ("zh", "这个任务必须完成", False),
    ],
)
def test_done_is_the_word_and_is_not_denied(code: str, said: str, done: bool) -> None:
    """Stems go on in Cyrillic, and verbs stand last in Japanese and Korean."""
    assert says_done(said, languages()[code]) is done
