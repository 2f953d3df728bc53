"""Rules are asked only where words they cannot do without are said; nobody must be able to tell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.redact.text import redact
from jsonlstore.signals import pattern_words
from jsonlstore.signals.distil import is_plain
from jsonlstore.signals.pattern_matcher import matching, may_tell
from jsonlstore.signals.pattern_rules import RULES
from jsonlstore.signals.patterns import detect
from jsonlstore.signals.sentences import without_code
from jsonlstore.signals.tasks import TaskBook
from tests.signals import telling

PATTERNS = Path(__file__).parents[2] / "fixtures" / "patterns"
SENTENCES = [json.loads(line)["text"] for path in PATTERNS.glob("*.jsonl") for line in path.read_text().splitlines()]
WORDS = sorted({word for text in SENTENCES for word in text.split()})
SCRAPS = [
    "\n",
    "`code`",
    "…",
    "’s",
    "-",
    "password=hunter2hunter2",
    "sk-ant-api03-abcdefghijkl",
    "```",
    "task-7",
    "[ ]",
]

talk = st.lists(st.sampled_from(WORDS) | st.sampled_from(SCRAPS) | st.text(max_size=8), max_size=30).map(" ".join)


def asked_one_by_one(text: str) -> list[int]:
    return [at for at, rule in enumerate(RULES) if re2.search("(?i)" + rule.pattern, text)]


def test_the_words_are_those_of_the_rules() -> None:
    """A rule that changes wants `python -m tests.signals.telling`."""
    assert Path(pattern_words.__file__).read_text() == telling.table()


@pytest.mark.parametrize("text", SENTENCES)
def test_no_rule_is_missed_in_what_people_say(text: str) -> None:
    assert [RULES.index(rule) for rule in matching(text)] == asked_one_by_one(text)


@given(talk)
def test_no_rule_is_missed_in_a_jumble(text: str) -> None:
    assert [RULES.index(rule) for rule in matching(text)] == asked_one_by_one(text)
    assert may_tell(text) or not matching(text)


@pytest.mark.parametrize("at", range(len(RULES)))
def test_no_rule_is_missed_in_what_it_describes(at: int) -> None:
    """Texts made from the rule itself, each alternative among them, in whatever case and company."""
    for alternative in telling.alternatives(RULES[at].pattern):
        _search_in_examples(at, alternative)


def _search_in_examples(at: int, alternative: str) -> None:
    plain = alternative.replace("^", "").replace("$", "")
    rule = re2.compile("(?i)" + RULES[at].pattern)

    @given(st.from_regex(re.compile(f"(?i:{plain})", re.ASCII), fullmatch=True), st.sampled_from(["", " ", "x", "\n"]))
    def search(text: str, beside: str) -> None:
        said = beside + text + beside
        if rule.search(said):
            assert RULES[at] in matching(said)
            assert may_tell(said)
            assert not is_plain(said)

    search()


@given(talk)
def test_a_plain_text_has_nothing_to_find(text: str) -> None:
    """What is not looked at more closely would have come out the same."""
    if is_plain(text):
        assert redact(text) == (text, [])
        assert without_code(text) == text
        assert detect(text) == []
        assert TaskBook().read(text) == []


def test_talk_about_nothing_in_particular_is_plain() -> None:
    assert is_plain("show me the antenna on the roof of the garden shed")
    assert not is_plain("the antenna on the roof is broken")
    assert not is_plain("my password: hunter2hunter2")
    assert not is_plain("TODO: paint the roof")
    assert not is_plain("das Dach läuft")
