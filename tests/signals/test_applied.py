"""What an agent settled while it changed files, what it hands over to be run, and what only sounds like either."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.applied import choices_in
from jsonlstore.signals.choices import directives
from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import closing_offer, rules_of
from jsonlstore.signals.sentences import own_lines, without_output
from tests.signals.told import Story, noted, told

SUMMARIES = [
    (
        "en",
        "Done.\n\nWhat I changed:\n- `tides.py` now reads the gauge instead of the almanac",
        "instead of the almanac",
    ),
    (
        "en",
        "Fix: `mooring_fee` now lives in `harbour/fees.py`, next to the other fees.",
        "now lives in harbour/fees.py",
    ),
    ("de", "Erledigt.\n\nÄnderungen:\n- `tides.py` liest den Pegel statt des Almanachs", "statt des Almanachs"),
    ("es", "Listo.\n\nCambios realizados:\n- Cambié `almanac.csv` por el sensor `gauge_1`", "por el sensor gauge_1"),
    ("fr", "C'est fait.\n\nModifications :\n- `tides.py` lit la sonde au lieu de l'almanach", "au lieu de l'almanach"),
    ("pt", "Pronto.\n\nAlterações:\n- `tides.py` agora usa o sensor em vez do almanaque", "em vez do almanaque"),
    ("it", "Fatto.\n\nModifiche:\n- `tides.py` ora legge il sensore invece di `almanac.csv`", "invece di almanac.csv"),
    ("ru", "Готово.\n\nИзменения:\n- `tides.py` теперь читает датчик вместо альманаха", "вместо альманаха"),
    ("uk", "Готово.\n\nЗміни:\n- `tides.py` тепер читає датчик замість альманаху", "замість альманаху"),
    ("zh", "完成。\n\n修改内容：\n- 将 `tides.py` 中的年历数据改为读取水位计", "改为读取水位计"),
    ("ja", "完了しました。\n\n変更点：\n- `tides.py` を暦の代わりに水位計から読むように変更", "代わりに"),
    ("ko", "완료했습니다.\n\n변경 사항:\n- `tides.py`를 연감 대신 수위계로 변경", "대신"),
    ("en", "Updated:\n- gauge port → `7070:70`", "gauge port -> 7070:70"),
]


ASKED = "The tides are wrong on the harbour board, look at almanac.csv, the mooring_fee and the gauge port"


def story(answer: str, *, changes: bool = True, asked: str = ASKED) -> Story:
    one = Story("applied").user(asked)
    if changes:
        one.call("edit", {"path": "tides.py", "oldText": "a", "newText": "b"}, "ok")
    return one.says_(answer).user("Which boats are in today?").says_("Three boats are in.")


@pytest.mark.parametrize(("code", "answer", "said"), SUMMARIES)
def test_what_a_summary_says_was_chosen_is_a_decision(code: str, answer: str, said: str) -> None:
    """In a list of what was done, after files were changed."""
    assert any(said in one and against for one, against in choices_in(answer, rules_of(languages()[code])))
    assert any(said in one for one in noted(told(story(answer)), "decision", 0.7))


@pytest.mark.parametrize(("code", "answer", "said"), SUMMARIES)
def test_what_nobody_spoke_of_is_a_detail(code: str, answer: str, said: str) -> None:
    """It is kept, and not shown: the user named none of its things."""
    assert not any(
        said in one for one in noted(told(story(answer, asked="Nothing fits, have a look")), "decision", 0.7)
    )


@pytest.mark.parametrize(("code", "answer", "said"), SUMMARIES)
def test_a_summary_without_a_change_is_talk(code: str, answer: str, said: str) -> None:
    """Nothing backs it: no file was changed."""
    assert not any(said in one for one in noted(told(story(answer, changes=False)), "decision"))


@pytest.mark.parametrize(
    "answer",
    [
        "Next steps:\n- read the gauge `g1` instead of the almanac",
        "The problem:\n- `tides.py` reads the almanac instead of the gauge",
        "You could:\n- use `g1` instead of `g2`?",
        "What I changed:\n- ❌ `g1` instead of `g2`",
        "What I changed:\n- the sea is calm instead of rough",
        "What I changed:\n- Replaced `tide.old()` with `tide.new()`",
        "`tides.py` now reads the gauge instead of the almanac",
    ],
)
def test_what_only_sounds_like_a_choice_is_none(answer: str) -> None:
    """A proposal, a cause, a question, what failed, what names nothing, one call for another, a line of talk."""
    assert not noted(told(story(answer)), "decision", 0.7)


@given(st.text(alphabet="-* →`abc:\n#1.", max_size=300))
def test_any_text_is_read(text: str) -> None:
    """Whatever it holds, and every choice is one of its lines."""
    for said, _ in choices_in(text, [languages()["en"]]):
        assert said
        assert "\n" not in said


RUN = [
    ("en", "Now restart the tide server:\n\n```bash\n./tides.sh restart\npytest -q\n```", "restart"),
    ("de", "Zum Testen:\n\n```bash\npytest tests/tides\n```", "pytest tests/tides"),
    ("es", "Ahora reinicia el servidor:\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("fr", "Pour tester :\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("pt", "Para testar:\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("it", "Ora riavvia il servizio:\n\n```cmd\nnode tides.js\n```", "node tides.js"),
    ("ru", "Команды для проверки:\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("zh", "验证方法：\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("ja", "直しました。\n\n確認方法：\n\n```bash\nnpm run tides\n```", "npm run tides"),
    ("ko", "확인 방법:\n\n```bash\nnpm run tides\n```", "npm run tides"),
]
ASKED = {
    "en": "Please mend the tide board of the harbour",
    "de": "Bitte repariere die Gezeitentafel im Hafen",
    "es": "Arregla por favor la tabla de mareas del puerto",
    "fr": "Répare la table des marées du port s'il te plaît",
    "pt": "Conserte por favor a tabela de marés do porto",
    "it": "Sistema per favore la tabella delle maree del porto",
    "ru": "Почини, пожалуйста, таблицу приливов",
    "zh": "请修一下港口的潮汐表",
    "ja": "港の潮汐表を直してください",
    "ko": "항구의 조석표를 고쳐 주세요",
}


@pytest.mark.parametrize(("code", "answer", "said"), RUN)
def test_commands_handed_over_are_the_next_step(code: str, answer: str, said: str) -> None:
    """Under words that say so, where files were changed; nobody has seen yet whether it works."""
    one = Story("run").user(ASKED[code]).call("edit", {"path": "t.py", "oldText": "a", "newText": "b"}, "ok")
    assert said in (told(one.says_(answer))["next_step"] or "")


@pytest.mark.parametrize(
    "answer",
    [
        "This is what it looked like:\n\n```bash\nnpm run tides\n```",
        "To test:\n\n```python\nprint(1)\n```",
        "To test:\n\n```bash\n# nothing yet\n```",
    ],
)
def test_a_block_that_is_not_to_be_run_is_no_step(answer: str) -> None:
    """What is quoted, what is no shell's, what holds no command."""
    one = Story("quoted").user(ASKED["en"]).call("edit", {"path": "t.py", "oldText": "a", "newText": "b"}, "ok")
    assert told(one.says_(answer))["next_step"] is None


def test_an_explanation_hands_nothing_over() -> None:
    """Asked how a thing is done, with nothing changed and nothing wrong, an agent answers with an example."""
    one = Story("how").user("How do people run the tide board elsewhere?")
    assert told(one.says_("To test:\n\n```bash\nnpm run tides\n```"))["next_step"] is None


def test_a_list_that_only_tells_what_to_do_is_the_next_step() -> None:
    """Each of its items is an instruction; a list of findings is not."""
    one = Story("list").user("Почему датчик порта не отвечает?")
    told_so = told(one.says_("Датчик выключен.\n\nИтог:\n- Запустите датчик g1\n- Проверьте кабель у мола"))
    assert told_so["next_step"] == "Запустите датчик g1; Проверьте кабель у мола"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The tide board has never been wrong before."),
        ("es", "La tabla nunca ha fallado en el puerto."),
        ("de", "Das war noch nie ein Problem im Hafen."),
        ("fr", "J'ai toujours la même erreur sur la carte."),
        ("it", "La tabella è sempre stata giusta, mai stata rotta."),
        ("pt", "A tabela nunca foi um problema no porto."),
    ],
)
def test_how_things_were_is_no_rule(code: str, text: str) -> None:
    """ "Never" and "always" tell of the past as well as of what is to be."""
    assert directives(text, [languages()[code]]) == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The tides still don't get fixed on the board"),
        ("de", "Die Tafel zeigt immer noch den gleichen Fehler"),
        ("es", "La tabla sigue igual, no se ha solucionado"),
        ("fr", "Ça n'a rien changé, la carte est vide"),
        ("pt", "Não resolveu, a tabela continua com o mesmo erro"),
        ("it", "Non ha risolto, esce ancora lo stesso errore"),
        ("ru", "Не помогло, таблица та же"),
        ("zh", "潮汐表还是没解决"),
        ("ja", "潮汐表はまだ直っていません"),
        ("ko", "조석표가 아직도 안 나와요"),
    ],
)
def test_what_the_user_says_is_still_wrong_is_in_the_way(code: str, text: str) -> None:
    """Until something is changed after it."""
    one = Story("still").user(ASKED[code]).call("edit", {"path": "t.py", "oldText": "a", "newText": "b"}, "ok")
    one.says_("OK.").user(text)
    assert noted(told(one), "blocker", 0.7), code
    one.call("edit", {"path": "t.py", "oldText": "b", "newText": "c"}, "ok").says_("OK.")
    assert not noted(told(one), "blocker", 0.7), code


def test_an_error_that_was_only_explained_is_in_the_way() -> None:
    """One exchange before the end as well: nobody did anything about it."""
    one = Story("explained").user("It stopped:\n  GaugeError: no signal from g1\n    at read (g.js:1)")
    one.says_("The gauge has no power. Check its cable.").user("Here is the wiring plan of the mole")
    one.says_("The plan looks right to me.")
    assert noted(told(one), "blocker", 0.7) == ["GaugeError: no signal from g1"]


def test_an_error_that_was_asked_about_and_only_explained_is_in_the_way() -> None:
    """A logger's line as well; until a file is changed."""
    one = Story("asked").user("board - ERROR - no such table: tides\nwhat is this table for?")
    one.run("cat board.py", "x").says_("It holds the tides of the year.")
    assert noted(told(one), "blocker", 0.7) == ["board - ERROR - no such table: tides"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "If you tell me which gauge you have, we can narrow it down."),
        ("de", "Wenn du mir den Pegel nennst, kann ich die Tafel anpassen."),
        ("es", "Si me dices qué sensor tienes, puedo ajustar la tabla."),
        ("it", "Se vuoi, nel prossimo passo ti preparo la tabella delle maree."),
        ("pt", "Se você me disser qual sensor tem, posso ajustar a tabela."),
    ],
)
def test_an_offer_on_a_condition_is_an_offer(code: str, text: str) -> None:
    offer = closing_offer(f"OK.\n\n{text}", [languages()[code]])
    assert offer is not None
    assert offer.is_offer


def test_pasted_output_is_no_topic() -> None:
    """What a program printed is not what the session is about; lines drawn by a terminal are nobody's words."""
    pasted = "The board is empty\nGaugeError: no signal\n  at resolver (x.js:1)\n  > frobnicate = true"
    assert without_output(pasted) == "The board is empty"
    assert without_output("The error is in the board") == "The error is in the board"
    assert own_lines("│ gauge.ts(1,2): error TS1: no\n  └─ Failed in 3ms\nmend the types") == ("mend the types",)


def test_todo_in_capitals_is_a_word_too() -> None:
    """In Spanish "everything" may be shouted, and a colon end the line."""
    one = Story("all").user("¿Qué puede hacer el capitán del puerto?").says_("El capitán puede hacer TODO:\n- entrar")
    assert told(one)["pending_tasks"] == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ho cambiato il molo e mi sono spostato in `berth_4`", "berth_4"),
        ("Usa hamlib per il controllo della radio.", "Usa hamlib"),
        ("D'ora in poi rispondi in tedesco.", "D'ora in poi"),
        ("Non usare mai il vecchio almanacco.", "mai il vecchio almanacco"),
    ],
)
def test_italian_is_read(text: str, kept: str) -> None:
    """A language of its own, with rules, choices and what the user says they did."""
    one = Story("italian").user("Guarda la carta del porto").says_("Va bene.").user(text).says_("Va bene.")
    assert any(kept in one for one in noted(told(one), "decision"))


def test_what_a_todo_tool_ticked_was_done() -> None:
    """Where nothing was committed it is all there is to tell of what was done."""
    todos = [{"content": "Paint the mole", "status": "completed"}, {"content": "Draw the pier", "status": "pending"}]
    one = Story("ticked").user("Paint the mole and draw the pier").call("todowrite", {"todos": todos}, "ok")
    assert "Paint the mole" in noted(told(one.says_("The mole is painted.")), "accomplishment", 0.7)


def test_what_an_answer_found_wrong_is_left_to_do() -> None:
    """Under a heading with a cross, in any language, where nothing was changed since."""
    said = (
        "Audit.\n\n✅ WHAT WORKS\n1. The gauge g1 answers\n\n❌ GEVONDEN PROBLEMEN\n1. The pier lamp board stays dark"
    )
    one = Story("audit").user("Audit the harbour boards").run("cat boards.txt", "dark").says_(said)
    assert [task["title"] for task in told(one)["pending_tasks"]] == ["The pier lamp board stays dark"]
    one = Story("mended").user("Audit the harbour boards and mend them")
    one.call("edit", {"path": "t.py", "oldText": "a", "newText": "b"}, "ok").says_(said)
    assert told(one)["pending_tasks"] == []


def test_a_question_of_few_words_is_told_with_what_follows() -> None:
    """Alone it points back to what nobody reads any more."""
    said = "The log and the chart differ.\n\nKeep both? We could give the log a file of its own."
    offer = closing_offer(said, [languages()["en"]])
    assert offer is not None
    assert offer.text == "Keep both? We could give the log a file of its own."
