"""What was refused from outside, and what an answer ends with."""

from __future__ import annotations

import pytest

from jsonlstore.signals.answers import answer_line
from jsonlstore.signals.language import recognise
from tests.signals.told import Story, noted, told


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Send the lock times", "The mail account's password is missing, so nothing was sent."),
        ("Draw the canal map", "The map service needs a paid plan for maps of that size."),
        ("Load the gauges", "The gauge server is not responding."),
        ("Convert the soundings", "The conversion stopped: gdal is not installed."),
        ("Read the logbook", "I don't have access to the folder of the logbook."),
        ("Open the gate log", "I'm not able to open the gate log."),
        ("Lies das Logbuch", "Der Zugriff auf das Logbuch wird verweigert."),
        ("Lee el diario", "La cuota del servicio está agotada."),
        ("Lis le journal", "Le mot de passe du serveur est expiré."),
        ("Leia o diário", "A chave do serviço não está configurada."),
        ("Leggi il diario", "Il server delle chiuse non risponde."),
        ("Прочитай журнал", "Квота сервиса исчерпана."),
        ("Прочитай щоденник", "Доступ до щоденника заборонено."),
        ("读取航海日志", "没有访问日志的权限。"),
        ("日誌を読んで", "サーバーのパスワードが設定されていません。"),
        ("일지를 읽어줘", "일지 접근 권한이 없습니다."),
    ],
)
def test_what_was_refused_is_in_the_way(asked: str, said: str) -> None:
    """Payment, quota, permission, a service that is down, what is missing: said in prose alone."""
    assert noted(told(Story("refused").user(asked).says_(said)), "blocker", 0.7)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Guard the lock page", "Users without an account are denied access to the lock page."),
        ("Handle quotas", "Added a line that is shown when the quota is used up."),
        ("Mend the upload", "Fixed. The token was invalid; uploads go through."),
        ("Convert the soundings", "gdal was not installed, so I installed it and converted all of them."),
        ("What does the free plan hold?", "Large maps require a paid plan."),
        ("Schütze die Seite", "Wer kein Konto hat, dem wird der Zugriff verweigert."),
        ("把上传修好", "已修复：之前没有权限，现在正常。"),
    ],
)
def test_what_others_meet_or_what_was_got_over_is_not(asked: str, said: str) -> None:
    """A case, a rule of the program, an explanation, something mended."""
    assert not noted(told(Story("others").user(asked).says_(said)), "blocker", 0.7)


@pytest.mark.parametrize(
    ("then", "still"),
    [
        ("Meanwhile paint the lock gates green", True),
        ("use the other mail account", False),
        ("I set the password, try again", False),
        ("what now?", False),
    ],
)
def test_what_was_refused_stays_until_it_is_taken_up(then: str, still: bool) -> None:
    """A request for something else leaves it in the way; one that may be about it does not."""
    story = Story("aside").user("Send the lock times").says_("The mail account's password is missing.")
    assert bool(noted(told(story.user(then).says_("That is done.")), "blocker", 0.7)) is still


LONG = "The lock page shows the times of all four locks in one table, sorted by the hour and coloured by the direction "
LONG += "of travel, and the old page leads there."


@pytest.mark.parametrize(
    "end", ["Shall I add the bridges as well?", "Run make ship on the lock machine.", "The bridges are still missing."]
)
def test_a_long_answer_is_told_with_its_end(end: str) -> None:
    """What came of it and what it leaves to the user: the middle is left out, courtesies are no end."""
    line = answer_line(f"{LONG} {LONG}\n\n{end}\n\nLet me know if you have any questions!", recognise(LONG))
    assert line.startswith("The lock page shows")
    assert line.endswith(end)
    assert len(line) <= 200
