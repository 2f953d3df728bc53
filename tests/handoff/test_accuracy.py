"""Pattern accuracy: synthetic conversations in ten languages, what was decided and asked for is in the document, small
talk is not; every note names the message it came from.

python -m tests.handoff.test_accuracy [SEEDS]     precision and recall of documents made of long invented sessions
"""

from __future__ import annotations

import json
import runpy
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jsonlstore.core.model import SessionState
from jsonlstore.handoff import HandoffOptions, MessageWindow, build
from jsonlstore.signals import Distiller
from jsonlstore.transcripts import Entry
from tests.watch.conftest import Talk

NOW = datetime(2026, 9, 21, 15, 0, tzinfo=UTC)
FIELDS = ("pending", "decisions", "blockers", "next")
_MADE = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_sessions.py"))
# (small talk, what the user decides, a word of the decision)
SAID = {
    "en": ("hello, how are you today?", "Decision: we use hamlib, not raw serial.", "hamlib"),
    "de": ("Hallo, wie geht es dir heute?", "Entscheidung: wir nehmen hamlib.", "hamlib"),
    "es": ("hola, ¿qué tal estás hoy?", "Vamos con hamlib en vez de serial.", "hamlib"),
    "fr": ("bonjour, comment vas-tu ?", "Décision : on prend hamlib.", "hamlib"),
    "pt": ("olá, como você está hoje?", "Vamos usar hamlib em vez de serial.", "hamlib"),
    "ru": ("привет, как дела сегодня?", "Решение: используем hamlib.", "hamlib"),
    "uk": ("привіт, як справи сьогодні?", "Будемо використовувати hamlib, а не serial.", "hamlib"),
    "zh": ("你好，今天怎么样？", "决定：我们用hamlib。", "hamlib"),
    "ja": ("こんにちは、元気ですか？", "シリアルではなくhamlibを使いましょう。", "hamlib"),
    "ko": ("안녕하세요, 오늘 어때요?", "시리얼 대신 hamlib로 하자.", "hamlib"),
}


def converse(*texts: str) -> tuple[SessionState, MessageWindow]:
    talk, window, distiller = Talk("s"), MessageWindow(), Distiller()
    for text in texts:
        for record in (talk.user(text), talk.assistant("OK.")):
            entry = Entry(record)
            window.feed(entry)
            distiller.feed(entry)
    fields = distiller.result().to_fields()
    return SessionState.from_dict({"session_id": "s", "start_time": "2026-09-21T14:00:00.000Z", **fields}), window


@pytest.mark.parametrize("code", SAID)
def test_a_decision_is_noted_and_small_talk_is_not(code: str) -> None:
    small_talk, decision, word = SAID[code]
    state, window = converse(small_talk, decision, "TODO: solder the antenna", small_talk)
    document = build(state, window.facts(), NOW, HandoffOptions(project="radio"))
    noted = [note for note in document.patterns if note.type == "decision"]
    assert [word in note.content for note in noted] == [True]
    assert noted[0].source_message_index == 2
    assert any(word in line for line in document.summary.decisions)
    assert any("antenna" in line for line in document.summary.in_progress)
    assert document.last_message_index == 7


@pytest.mark.parametrize("code", SAID)
def test_nothing_is_made_of_small_talk(code: str) -> None:
    state, window = converse(*[SAID[code][0]] * 3)
    document = build(state, window.facts(), NOW, HandoffOptions(project="radio"))
    assert document.patterns == ()
    assert document.summary.decisions == document.summary.blockers == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Let's go with hamlib instead of raw serial.", "decision"),
        ("We learned that the FT-991A needs RTS low.", "insight"),
    ],
)
def test_the_kinds(text: str, kind: str) -> None:
    state, window = converse(text)
    document = build(state, window.facts(), NOW, HandoffOptions(project="radio"))
    assert [note.type for note in document.patterns] == [kind]


def figures(seeds: range) -> dict[str, float]:
    """Of long sessions in ten languages with six endings: what is right of what is said, and what is said of it all."""
    counts: Counter[str] = Counter()
    for session in _MADE["sessions"](seeds):
        window, distiller = MessageWindow(), Distiller()
        for line in session.story.lines():
            entry = Entry(json.loads(line))
            window.feed(entry)
            distiller.feed(entry)
        fields = {"session_id": "s", "start_time": "2026-09-21T14:00:00.000Z", **distiller.result().to_fields()}
        document = build(SessionState.from_dict(fields), window.facts(), NOW)
        told = document.summary
        said = {"pending": told.in_progress, "decisions": told.decisions, "blockers": told.blockers,
                "next": (told.next_step,) if told.next_step else ()}  # fmt: skip
        for field, texts in said.items():
            gold = getattr(session, field)
            # any open thing may be in progress, and the command that an interrupted session was running is
            running = ["pytest -q"] if "interrupted" in session.name else []
            allowed = gold if field != "pending" else [*gold, *session.next, *running]
            counts[f"{field} right"] += sum(any(name in text for name in allowed) for text in texts)
            counts[f"{field} said"] += len(texts)
            wanted = gold[:1] if field == "next" else gold[:5]
            counts[f"{field} wanted"] += len(wanted)
            counts[f"{field} found"] += sum(
                any(one in text for text in texts for one in (gold if field == "next" else [name])) for name in wanted
            )
    out = {"precision": sum(counts[f"{one} right"] for one in FIELDS) / sum(counts[f"{one} said"] for one in FIELDS)}
    return out | {f"{one} recall": counts[f"{one} found"] / counts[f"{one} wanted"] for one in FIELDS}


def test_documents_of_long_sessions_say_what_is_true() -> None:
    found = figures(range(1))
    assert found["precision"] >= 0.95, found
    assert min(found[f"{one} recall"] for one in FIELDS) >= 0.8, found


if __name__ == "__main__":
    print({name: round(value, 2) for name, value in figures(range(int((sys.argv[1:] or ["3"])[0]))).items()})
