"""Languages as data: every file is whole, recognised by its own words, and nothing matches what it should not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.regex import compiled, searcher
from jsonlstore.signals.choices import directives, explicit
from jsonlstore.signals.labels import labelled
from jsonlstore.signals.language import Language, languages, may_any_say, may_be_said, recognise, small_kinds, widened
from jsonlstore.signals.offers import closing_offer, listed_next, spoken_languages
from jsonlstore.signals.replies import choice, decided
from jsonlstore.signals.requests import is_nudge, request_line
from jsonlstore.signals.sentences import own_sentences, plain_text

CODES = ("de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "uk", "zh")
SENTENCES = {
    "en": "could you please look at the harbour chart and tell me what is missing",
    "de": "kannst du bitte die Hafenkarte ansehen und mir sagen was noch fehlt",
    "es": "puedes mirar la carta del puerto y decirme qué falta por favor",
    "fr": "peux-tu regarder la carte du port et me dire ce qui manque",
    "it": "puoi guardare la carta del porto e dirmi cosa manca per favore",
    "pt": "você pode olhar a carta do porto e me dizer o que está faltando",
    "ru": "посмотри на карту гавани и скажи, что ещё нужно",
    "uk": "подивись на карту гавані і скажи, що ще потрібно",
    "zh": "请看一下港口图，告诉我还缺什么",
    "ja": "港の図を見て、足りないものを教えてください",
    "ko": "항구 지도를 보고 부족한 것을 알려줘",
}
EVERYBODY = [*languages().values()]


def test_the_languages_there_are() -> None:
    """Adding one is adding a file; these are the ones promised."""
    assert set(CODES) <= languages().keys()


@pytest.mark.parametrize("code", sorted(languages()))
def test_every_file_has_every_kind(code: str) -> None:
    """A kind left out would be silently unread in that language."""
    wanted = {kind for kind in languages()["en"]._data if kind not in {"name", "words", "script"}}
    for kind in wanted:
        assert languages()[code].phrases(kind), kind
        languages()[code].pattern(kind)


@pytest.mark.parametrize(("code", "sentence"), SENTENCES.items())
def test_a_sentence_is_known_by_its_language(code: str, sentence: str) -> None:
    """By script, or by the small words of its language."""
    found = recognise(sentence)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize("text", ["", "git push origin main", "12345", "Tegn kaiene rødt nå takk", "B", "🚢"])
def test_what_shows_no_language_is_read_in_none(text: str) -> None:
    """Evidence only: no rule of a language holds for it."""
    assert recognise(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "yes please",
        "continue",
        "weiter",
        "sí",
        "dale",
        "oui",
        "продолжай",
        "далі",
        "继续",
        "はい",
        "네",
        "thanks!",
        "/new",
    ],
)
def test_nudges_ask_for_nothing(text: str) -> None:
    """In any language, whatever the session speaks."""
    assert is_nudge(text)


@pytest.mark.parametrize(
    "text", ["ok, cap the retries", "yes then push it all", "继续修复登录", "weiter mit der Karte", "does it work"]
)
def test_a_nudge_with_a_request_is_a_request(text: str) -> None:
    """Agreement in front of work is work."""
    assert small_kinds(text) == frozenset()


@pytest.mark.parametrize(
    ("said", "picked"),
    [
        ("B", ["vector"]),
        ("b", ["vector"]),
        ("option b please", ["vector"]),
        ("A and C", ["raster", "image"]),
        ("a bit later", []),
        ("what is B?", []),
        ("D", []),
    ],
)
def test_a_letter_picks_what_was_offered(said: str, picked: list[str]) -> None:
    """Only a letter that was offered, and only in a short answer."""
    offered = "Shall I use\n- A) raster\n- B) vector\n- C) image"
    assert [option for _, option in choice(said, None, offered)] == picked


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_is_safe(text: str, before: str) -> None:
    """Whatever was said, reading it never fails."""
    speakers = spoken_languages(text, languages()["en"])
    offer = closing_offer(before, EVERYBODY)
    decided(text, offer, before)
    directives(text, speakers)
    directives(text, EVERYBODY)
    explicit(text, EVERYBODY)
    listed_next(text, EVERYBODY)
    labelled(text, "block_label", EVERYBODY)
    assert len(request_line(text)) <= 200
    assert "\n" not in plain_text(text)
    own_sentences(text)
    small_kinds(text)


@pytest.mark.parametrize(
    "unit", ["a ", "not ", "(", "if ((", "ok ", "`", "'", "好", "[[", "A) x\n", "- ", "Next: ", "WORT ", "use x "]
)
def test_hostile_repetition_ends(unit: str) -> None:
    """A quadratic rule would not come back within the suite's patience."""
    text = unit * 4_000
    for language in EVERYBODY:
        directives(text, [language])
        explicit(text, [language])
    closing_offer(text, EVERYBODY)
    listed_next(text, EVERYBODY)
    labelled(text, "next_label", EVERYBODY)
    request_line(text)


TASK_PHRASES = [(code, phrase) for code, one in languages().items() for phrase in one.phrases("task")]


@given(st.data())
def test_every_task_phrase_holds_its_cue(data: st.DataObject) -> None:
    """A sentence without a cue is not read for tasks, so no phrase may do without one."""
    code, phrase = data.draw(st.sampled_from(TASK_PHRASES))
    said = data.draw(st.from_regex(re.compile(phrase.rstrip(), re.IGNORECASE), fullmatch=True))
    assert languages()[code].may_say(("task_cue",), said)


@given(st.sampled_from(["rule", "decide", "works", "scope", "revert", "done", "decided", "insight"]), st.data())
def test_the_fast_look_misses_no_phrase(kind: str, data: st.DataObject) -> None:
    """What a rule finds, the look that goes before it finds too, in one language or among several."""
    language = data.draw(st.sampled_from(EVERYBODY))
    phrase = data.draw(st.sampled_from(language.phrases(kind)))
    said = data.draw(st.text(max_size=5)) + data.draw(st.from_regex(re.compile(phrase.rstrip()), fullmatch=True))
    if language.says(kind, said):
        assert language.may_say((kind,), said)
        assert may_any_say(EVERYBODY, (kind,), said)
        assert may_be_said((kind,), said)


GLANCED = ["rule", "decide", "want", "reject", "weak_rule", "edit", "works", "scope", "revert", "done", "decided"]


@given(st.sampled_from(GLANCED), st.text(max_size=20), st.text(max_size=20), st.data())
def test_a_message_is_asked_for_all_that_its_sentences_may_say(
    kind: str, head: str, tail: str, data: st.DataObject
) -> None:
    """The look at a whole message finds every phrase of its sentences, wherever they stand."""
    language = data.draw(st.sampled_from(EVERYBODY))
    phrase = data.draw(st.sampled_from(language.phrases(kind)))
    said = data.draw(st.from_regex(re.compile(phrase.rstrip(), re.IGNORECASE | re.ASCII), fullmatch=True))
    if language.says(kind, said):
        assert language.may_say((kind, "insight"), f"{head}\n{said.swapcase() if said.isascii() else said}\n{tail}")


PIECES = st.sampled_from(
    [
        r"\w",
        r"\d",
        r"\s",
        r"\S",
        ".",
        "a",
        "é",
        "я",
        "[a-é]",
        r"[\w-]",
        r"[^\s,]",
        r"[^\w]",
        "[，。\\s]",
        r"\.",
        "[.[]",
        "^",
        "$",
        r"\b",
    ]
)
COUNTS = st.sampled_from(["", "+", "*", "?", "{0,3}", "{2,40}", "{0,12}?"])


@given(st.lists(st.tuples(PIECES, COUNTS), min_size=1, max_size=5), st.text(max_size=40), st.data())
def test_a_widened_expression_finds_whatever_the_expression_does(
    pieces: list[tuple[str, str]], around: str, data: st.DataObject
) -> None:
    """Letters of all scripts, unusual spaces, classes that are turned round, gaps that are counted, edges of words."""
    phrase = "".join(piece + (count if piece not in {"^", "$", r"\b"} else "") for piece, count in pieces)
    said = around + data.draw(st.from_regex(phrase, fullmatch=True) | st.text(max_size=40))
    if re.search(phrase, said, re.IGNORECASE):
        look = searcher(compiled(f"(?i){widened(phrase)}", text=True, groups=False))
        assert look(said.encode("utf-8", "replace"), 0)[0][0] >= 0


@pytest.mark.parametrize(
    ("phrase", "told"),
    [
        (r"(?:the |all )?(?:\S+ ){1,3}stays? (?:just )?", "stay"),
        (r"^(?:please,? )*wait for (?:me|us).{0,40}", "wait for (?:me|us)"),
        (r"(?:it|that) works?", "(?:it|that) work"),
        (r"the harbour|a ?", "the harbour|a ?"),
        (r"(?:please )?", "(?:please )?"),
    ],
)
def test_a_fast_look_is_for_the_words_that_tell(phrase: str, told: str) -> None:
    """What may be missing at the beginning or end, and gaps there, find no more: they only make its automaton large."""
    assert widened(phrase) == told


def test_a_french_label_is_read_with_its_no_break_space() -> None:
    """French typography sets one before the colon; the fast look must not stop at it."""
    text = "Décision\u00a0: le quai est dessiné avant la bouée du port."
    assert [said.kind for said in explicit(text, [languages()["fr"]])] == ["decision"]


def test_the_expressions_of_a_kind_come_in_the_order_of_the_file_however_far_somebody_read_before() -> None:
    data = {"name": "Test", "words": [], "task": ["remind me to (.+)", "later: (.+)", "do not forget (.+)"]}
    language = Language("xx", data)
    first = next(language.patterns("task"))
    one, two = language.patterns("task"), language.patterns("task")
    mixed = [next(one), next(two), next(two), next(one), next(one), next(two)]
    whole = list(language.patterns("task"))
    assert whole[0] is first
    assert mixed == [whole[0], whole[0], whole[1], whole[1], whole[2], whole[2]]
    texts = ("remind me to oil the gate", "later: oil the gate", "do not forget oil")
    assert all(expression.fullmatch(text) for expression, text in zip(whole, texts, strict=True))
    assert list(language.patterns("ordinals")) == []
