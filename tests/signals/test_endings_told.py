"""What a session's last words tell: a request's object, what the user is to do, what is in the way."""

from __future__ import annotations

import pytest

from jsonlstore.signals.choices import directives
from jsonlstore.signals.evidence import WorkLog
from jsonlstore.signals.language import languages
from jsonlstore.signals.offers import closing_offer, rules_of, spoken_languages
from jsonlstore.signals.outcome import says_error, told_error
from jsonlstore.signals.replies import answered_questions
from jsonlstore.signals.requests import request_line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Add these gauges:\n\n- rain\n- wind", "Add these gauges: - rain - wind"),
        ("TASK 4. New sensor:\n\nAdd `rain_gauge`\n" + "x y z\n" * 400, "TASK 4. New sensor: Add rain_gauge"),
        ("Run this:\n```\nmake tides\n```", "Run this: make tides"),
        ("加上这些：\n雨量计", "加上这些： 雨量计"),
    ],
)
def test_a_request_goes_on_below_its_colon(text: str, told: str) -> None:
    assert request_line(text).startswith(told)
    assert len(request_line(text)) <= 200


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("en", "Please run the migration on the harbour server."),
        ("fr", "Veuillez me fournir les horaires des trois bateaux."),
        ("es", "Ahora reinicia el servidor de mareas."),
        ("pt", "Agora reinicie o servidor de marés."),
        ("it", "Ora riavvia il server delle maree."),
        ("de", "Bitte starte den Gezeitendienst neu."),
        ("ru", "Теперь перезапустите сервер приливов."),
        ("uk", "Тепер перезапустіть сервер припливів."),
        ("zh", "请重新启动潮汐服务。"),
        ("ja", "まず、潮汐サーバーを再起動してください。"),
        ("ko", "이제 조석 서버를 다시 시작해 주세요."),
    ],
)
def test_an_instruction_to_the_user_is_known(code: str, sentence: str) -> None:
    assert languages()[code].pattern("instruct").match(sentence)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("en", "Let me know the result!"),
        ("en", "Please let me know how the tide looks."),
        ("fr", "Veuillez noter que la marée change."),
        ("de", "Bitte beachte die Gezeiten."),
        ("ja", "結果を教えてください！"),
        ("ko", "결과를 알려 주세요."),
    ],
)
def test_a_courtesy_is_neither_instruction_nor_offer(code: str, sentence: str) -> None:
    language = languages()[code]
    assert not language.pattern("instruct").match(sentence)
    if code in {"ja", "ko"}:
        assert closing_offer(sentence, spoken_languages(sentence, language)) is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "Every pump must always drain the tank before it fills. What does this sentence mean?"),
        ("zh", "每次都要先排空水箱，不要直接加水。我不理解这句话"),
        ("en", "The -q flag doesn't work but must."),
    ],
)
def test_a_sentence_somebody_asks_about_or_complains_of_decides_nothing(code: str, text: str) -> None:
    assert not [one for one in directives(text, rules_of(languages()[code])) if one.kind in {"decision", "constraint"}]


def test_a_counter_question_is_no_choice() -> None:
    told = answered_questions('"Which chart?"="Can you look for other chart tools first?" "Which tide?"="Spring tide"')
    assert [one.text for one in told] == ["Spring tide (asked: Which tide?)"]


def test_an_answer_that_calls_itself_an_error_is_one() -> None:
    text = '{\n  "status": "error",\n  "tool": "exec",\n  "error": "tide.Http: \\nHTTPError: 402 Payment Required"\n}'
    assert says_error(text)
    assert "402 Payment Required" in told_error(text)
    assert not says_error('{"status": "ok", "error": null}')
    assert not says_error('the log has {"status": "error"}')


def test_a_shell_that_fails_without_a_word_is_counted_until_a_command_goes_well() -> None:
    work = WorkLog()
    for _ in range(3):
        work.answered("make", "Exit code 1", failed=True, is_command=True, at="", entry_id=None)
    assert (work.failed_in_a_row, work.bare_exit) == (3, "Exit code 1")
    work.answered("read", "", failed=False, is_command=False, at="", entry_id=None)
    assert work.failed_in_a_row == 3
    assert work.stopped_at is None
    work.answered("make", "", failed=False, is_command=True, at="", entry_id=None)
    assert work.failed_in_a_row == 0
