"""May this hold a secret? Answered from the rules' own literals, without RE2 and without compiling the rules.

A session start cannot wait for the redactor to load, and most of what it writes is times, ids and plain words. Every
rule names strings one of which stands in whatever it finds; a text without any of them is left alone by the redactor.
The answer may be yes for nothing. It is never no for something: a test draws texts from every rule and compares.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, TypeAlias

from jsonlstore.core import expressions as re
from jsonlstore.redact.phrases import TELL_LITERALS
from jsonlstore.redact.rules import RUN_HINT as HINT
from jsonlstore.redact.rules import literals, names, own_rules, shapes, words

JSON: TypeAlias = Any

_LONGEST = 4096  # a longer text is no id and no sentence; looking at it costs more than loading the rules
_DEEPEST = 8
# A token cut over two literals shows none of its letters in one piece. Two quotes with nothing but an operator, a
# literal's prefix or a call between them may be such a cut, and so may a quote in the middle of a word.
_CUT = re.compile(
    r"""["'`](?:[^"'`\w]++\w{0,8}+)?[^"'`\w]*+["'`]|[A-Za-z0-9_-]["'][A-Za-z0-9_-]{12}|\\[\r\n]|\\["'`nu]|&quot;|&#3|\}\$\{"""
)
_RUN = re.compile(HINT)
_DISGUISE = re.compile("[\x1b\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\uff01-\uff5e]|\\\\u[0-9a-fA-F]|&#")
_HEAD = re.compile(r"[\[(\\]")
_OPERATORS = frozenset("=:<>%&\\→：＝")


def may_match(value: JSON) -> bool:
    """Whether the redactor may find something to hide in a text or a JSON value; False is certain."""
    if own_rules().shapes:
        return True  # only RE2 is sure to come to an end with an expression that is not ours
    texts: list[str] = []
    keys: list[str] = []
    if not _gather(value, texts, keys, 0) or any(len(text) > _LONGEST for text in texts):
        return True
    told = _rule_literals()
    # no literal holds a line break: one look at all texts says which literals the single ones need to be asked for
    everything = "\n".join(texts).lower()
    for number, vendors in _vendors():
        if number.search(everything):
            squeezed = _BETWEEN.sub("", everything)  # Alpha Vantage, alpha_vantage
            if any(one in squeezed for one in vendors):
                return True
    if any(literal in everything for literal in told.anywhere):
        return True
    if keys and any(key.lower().endswith(told.before_operator) for key in keys):
        return True
    there = told._replace(
        before_operator=tuple(literal for literal in told.before_operator if literal in everything),
        at_the_start_of_a_word=tuple(literal for literal in told.at_the_start_of_a_word if literal in everything),
    )
    return any(_may_hold(text, there) for text in texts)


def _gather(value: JSON, texts: list[str], keys: list[str], depth: int) -> bool:
    """Collect the texts and, once more, the keys of a value; False if it is nested too deeply to look at."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict | list):
        if depth > _DEEPEST:
            return False
        if isinstance(value, dict):
            # a key may announce a secret, or be one; what a weak name ends in says what it is
            named = list(map(str, value))
            keys += named
            texts += named
        items = value.values() if isinstance(value, dict) else value
        return all(_gather(item, texts, keys, depth + 1) for item in items)
    return True


def _may_hold(text: str, told: _Literals) -> bool:
    """Whether one text may hold a secret, `anywhere` aside."""
    low = text.lower()
    if told.before_operator and not _OPERATORS.isdisjoint(low) and any(each in low for each in told.before_operator):
        return True
    begun = [literal for literal in told.at_the_start_of_a_word if literal in low]
    if begun and (not text.isascii() or "\\" in text or "%" in text or any(_begins(low, each) for each in begun)):
        return True
    return any(expression.search(text) for expression in (told.rest, _CUT, _RUN, _DISGUISE))


def _begins(low: str, literal: str) -> bool:
    """Whether a literal stands where no word goes on: `sk-` does not in "task-17"."""
    at = low.find(literal)
    while at > 0 and low[at - 1].isalnum():
        at = low.find(literal, at + 1)
    return at >= 0


class _Literals(NamedTuple):
    """What a text must contain to hold a secret, in lower case."""

    anywhere: tuple[str, ...]
    at_the_start_of_a_word: tuple[str, ...]
    before_operator: tuple[str, ...]
    rest: re.Pattern[str]  # the triggers of the few rules that have no literal


@cache
def _rule_literals() -> _Literals:
    anywhere = {"private", "cookie", "x-auth", *TELL_LITERALS}  # blocks, headers and phrases, which are code
    before_operator: set[str] = set()
    for name in names():
        (before_operator if name.level == "weak" else anywhere).update(name.has)
    leading: set[str] = set()
    rest: list[str] = []
    for shape in shapes():
        found = literals(shape)
        # the literal is known to begin the token only where the trigger begins with it
        begins = shape.leads and all(_HEAD.split(branch)[0].lower() in found for branch in shape.trigger.split("|"))
        (leading if begins else anywhere).update(found)
        if not found:
            rest.append(shape.trigger)
    return _Literals(
        tuple(anywhere), tuple(leading - anywhere), tuple(before_operator - anywhere), re.compile("|".join(rest))
    )


@cache
def _vendors() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """What is looked for near the names of providers and has none of the marks of a run, and these names."""
    issued = words("vendors-uuid")
    named = words("vendors") | words("vendors-words") | words("vendors-saying") | {"key"}
    some = (("[0-9a-f]{32}", named), ("[0-9a-f]{8}-[0-9a-f]{4}-", issued))
    return tuple((re.kept(value), tuple(name.replace("_", "") for name in names)) for value, names in some)


_BETWEEN = re.compile("[^a-z0-9]+")


def forget_rules() -> None:
    """Read the rules again when next asked."""
    _rule_literals.cache_clear()
