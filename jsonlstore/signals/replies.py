"""What a reply settles: a choice among options, a yes to an offer, an answer to a question, a plan that was approved."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.choices import CHOICE, LONGEST, NAMED_OPTION, Said
from jsonlstore.signals.language import languages, may_be_said, recognise, small_kinds
from jsonlstore.signals.offers import all_options
from jsonlstore.signals.plans import plan_title
from jsonlstore.signals.sentences import plain_text, sentences, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Offer

_LONGEST_CHOICE = 60
_NAMED_FIRST = re.compile(rf"({NAMED_OPTION.pattern})\s?[:：,，;；.。\n]", re.IGNORECASE)
_LONGEST_REPLY = 160
_MOST_BESIDE = 3  # words of content beside the number that picks
_MOST_REPLIED = 12  # words of content: a longer reply is a request of its own
_QUESTION_REACH = 600  # how far from its end a message's question stands
_LETTERS = re.compile(r"(?<![\w'’])([A-Fa-f]|[1-9])(?![\w'’%.:/-]|\s*(?:minute|hour|file|day|time|mal|uhr|h\b|min))")
_CHINESE_NUMBER = re.compile(r"(?:方案|选项|选择|选|第|選項|案|用)\s*([A-Fa-f1-9一二三四])(?!\w*[%个小分天行])")
_COUNTED = re.compile(r"(?<!\w)([A-Fa-f1-9])\s?(?:番(?!目)|번(?!째)|号|號)")
# two ways are offered: who names one of them has chosen, who repeats an only offer has agreed to it
_ALTERNATIVE = re.compile(
    r"(?<!\w)(?:or|oder|o|u|ou|или|чи|або)(?!\w)|还是|或者|還是|それとも|または|아니면|또는", re.IGNORECASE
)
_AND = "and|but|then|also|please|go|do|und|aber|bitte|mach|y|pero|por|et|mais|e|mas|и|но|і|та|але|пожалуйста"
_LISTED = re.compile(r"^[ \t]*(?:[-*+•–]|\d{1,2}[.)])[ \t]+(\S.{4,200})", re.MULTILINE)
_LEAST_OF_ITEM = 3
_ORDINALS = ("ordinals",)
_ASKED_AND_ANSWERED = re.compile(r'"([^"\n]{3,400})"="([^"\n]{1,300})"')
_SIGNS = " \t>|*_#-"  # before the name of an option
_RECOMMENDED = re.compile(r"(?<!\s)\s*+\(recommended\)", re.IGNORECASE)
_MOST_ANSWERS = 10
_DIGITS = {"一": "1", "二": "2", "三": "3", "四": "4"}
_LAST = 4  # the place of "the last one" among a language's ordinals


def choice(text: str, offer: Offer | None, before: str) -> list[tuple[str, str]]:
    """The options a short answer picks from what was offered last, as (key, option text)."""
    plain = text.strip().rstrip(" .。!！")
    if not plain or len(plain) > _LONGEST_CHOICE or plain.endswith("?"):
        return []
    called_so = _called_options(before) if NAMED_OPTION.search(plain) else ()
    options = dict(called_so or (offer.options if offer and offer.options else all_options(before)))
    if not options:
        return []
    place = _place(plain)
    if place is not None:
        return [list(options.items())[place]] if place < len(options) else []
    keys = [_DIGITS.get(key, key).upper() for key in (*_CHINESE_NUMBER.findall(plain), *_COUNTED.findall(plain))]
    if not keys:
        # "a" is a word of many languages: alone it picks only when it is all that was said
        found = [key for key in _LETTERS.finditer(plain) if key[1] not in {"a", "e"} or len(plain) <= 3]
        keys = [key[1].upper() for key in found if NAMED_OPTION.search(plain) or _stands_for_option(plain, key)]
        if len(content_words(_LETTERS.sub(" ", plain))) > _MOST_BESIDE and not NAMED_OPTION.search(plain):
            return []  # "port 2 or 3, because channel 2 is taken": numbers of something else
    return [(key, options[key]) for key in dict.fromkeys(keys) if key in options]


def _called_options(before: str) -> tuple[tuple[str, str], ...]:
    """The options a message calls so ("## Plan 2: …"): who names one does not mean an item of some other list in it."""
    return all_options("\n".join(line for line in before.split("\n") if NAMED_OPTION.match(line.lstrip(_SIGNS))))


def _stands_for_option(plain: str, key: re.Match[str]) -> bool:
    """Whether a number stands where a choice does ("2, please", "let's take 2"): "2 rows", "line 2" count something."""
    before, after = plain[: key.start()].rstrip(), plain[key.end() :].lstrip()
    return (not before or not before[-1].isalnum() or _choosing(at_end=True).search(before) is not None) and (
        not after or not after[0].isalnum() or _choosing(at_end=False).match(after) is not None
    )


@cache
def _choosing(*, at_end: bool) -> re.Pattern[str]:
    """A word of choosing, joining or agreeing at an edge of what stands beside a number."""
    kinds = ("choose", "yes", "no")
    words = {word for one in languages().values() for kind in kinds for word in one.phrases(kind)}
    joined = "|".join(sorted(map(re.escape, sorted(words)), key=len, reverse=True))
    return re.kept(rf"(?<!\w)(?:{joined}|{_AND})$" if at_end else rf"(?:{joined}|{_AND})(?!\w)", re.IGNORECASE)


def _place(plain: str) -> int | None:
    """Which of several a message picks by its place ("the second one", "第二个"), if that is all it says; -1 the last."""
    if not may_be_said(_ORDINALS, plain):
        return None
    for language in languages().values():
        for place, expression in enumerate(language.patterns("ordinals")):
            match = expression.search(plain)
            if match and len(content_words(_chosen(language).sub(" ", expression.sub(" ", plain)))) <= 1:
                return place if place < _LAST else -1
    return None


@cache
def _chosen(language: Language) -> re.Pattern[str]:
    """The words of choosing in a language."""
    words = sorted(map(re.escape, language.phrases("choose")), key=len, reverse=True)
    return re.kept(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


def may_answer(text: str, before: str) -> bool:
    """Whether a message could be a choice or a yes: only then is what was offered worth working out."""
    plain = text.strip()
    if begins_with_yes(plain) or opens_with_yes(plain) or NAMED_OPTION.search(plain[:_LONGEST_CHOICE]):
        return True
    if len(plain) > _LONGEST_REPLY or plain.endswith(("?", "？")) or "\n" in plain:
        return False
    if any(mark in before[-_QUESTION_REACH:] for mark in ("?", "？")):
        offered = before.lower()
        if any(word in offered for word in content_words(plain)):
            return True
    if len(plain) > _LONGEST_CHOICE:
        return False
    if _LETTERS.search(plain) or _CHINESE_NUMBER.search(plain) or _COUNTED.search(plain):
        return True
    return "yes" in small_kinds(plain) or _place(plain) is not None


def decided(text: str, offer: Offer | None, before: str) -> list[Said]:
    """A choice or a yes, resolved to what was offered."""
    picked = choice(text, offer, before) or choice(_opening(text), offer, before)
    if picked:
        # a bare "2" may only walk through a menu; who names the plan has weighed it
        sure = 0.75 if NAMED_OPTION.search(text) else 0.65
        return [Said(CHOICE, shorten(f"{option} (option {key})", LONGEST), sure) for key, option in picked]
    if offer is None:
        return []
    two_ways = _ALTERNATIVE.search(offer.text) is not None  # a mere yes does not say which
    if offer.is_offer and not two_ways and "yes" in small_kinds(text):
        return [Said(CHOICE, shorten(f"Yes to: {offer.text}", LONGEST), 0.55)]
    taken = _taken_up(plain_text(text), offer, before)
    if (
        not taken and offer.is_offer and not two_ways and (begins_with_yes(text) or opens_with_yes(text))
    ):  # and goes on to something else
        return [Said(CHOICE, shorten(f"Yes to: {offer.text}", LONGEST), 0.55)]
    return taken


def _opening(text: str) -> str:
    """The first sentence of a longer reply, if it names an option: "Let's go with option 3. As for the name, …", or
    the option it begins with: "Plan A: all of it, but …"."""
    named = _NAMED_FIRST.match(text.lstrip())
    if named:
        return named[1]
    first = next(iter(sentences(text.strip().split("\n", 1)[0])), "")
    return first if len(first) < len(text.strip()) and NAMED_OPTION.search(first) else ""


def begins_with_yes(text: str) -> bool:
    """Whether a message says yes before it goes on: "yes, and …"; "si quieres" and "great, now …" do not."""
    return _yes_and_more().match(text.lstrip()[:_LONGEST_CHOICE]) is not None


def opens_with_yes(text: str) -> bool:
    """Whether the first word of a message is a yes, whatever follows: "sim pode começar"."""
    first = text[:_LONGEST_CHOICE].split(maxsplit=1)[:1]
    return bool(first) and first[0].strip(",.!:;，。！").lower() in _yes_words() - _ALSO_IF


_ALSO_IF = frozenset({"si"})  # "if" where people leave out its accent


@cache
def _yes_words() -> frozenset[str]:
    return frozenset(word for language in languages().values() for word in language.phrases("plain_yes"))


@cache
def _yes_and_more() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for language in languages().values() for word in language.phrases("plain_yes"))
    return re.kept(rf"(?:{words})(?:\s+(?:{words}))*(?:\s*[,.!;:，。！、]|\s+(?:{_AND})(?!\w))", re.IGNORECASE)


@cache  # as large a range takes a millisecond to compile
def _unspaced() -> re.Pattern[str]:
    return re.kept("[\u3040-\u30ff\u3400-\u9fff]")


def _taken_up(plain: str, offer: Offer, before: str) -> list[Said]:
    """A reply in words that takes up what was offered ("yes, put it into the workflow"), by the words the two share."""
    said = content_words(plain)
    # scripts without spaces are compared by pairs of signs, endings of verbs among them
    part, most = (3, 3 * _MOST_REPLIED) if _unspaced().search(plain) else (2, _MOST_REPLIED)
    if not said or len(plain) > _LONGEST_REPLY or len(said) > most or _asks(plain):
        return []
    shared = said & content_words(" ".join([offer.text, *(option for _, option in offer.options)]))
    # one shared word is enough where it is all that was said; a new request shares one by chance
    if part * len(shared) >= len(said) and (len(shared) >= part or len(said) <= 2):
        weighed = bool(offer.options) or bool(_ALTERNATIVE.search(offer.text))
        return [Said(CHOICE, shorten(f"{plain} (asked: {offer.text})", LONGEST), 0.65 if weighed else 0.55)]
    for item in _LISTED.findall(before):
        same = said & content_words(plain_text(item))
        if len(same) >= _LEAST_OF_ITEM and part * len(same) >= len(said):
            return [Said(CHOICE, shorten(plain, LONGEST), 0.65)]
    return []


def _asks(plain: str) -> bool:
    """Whether a message asks something back, in whatever language it is."""
    own = recognise(plain)
    return plain.endswith(("?", "？")) or (own is not None and own.pattern("asks").match(plain) is not None)


def answered_questions(text: str) -> list[Said]:
    """What a user picked where a tool asked: runtimes store questions and answers as `"question"="answer"` pairs."""
    found = []
    for question, answer in _ASKED_AND_ANSWERED.findall(text)[:_MOST_ANSWERS]:
        picked = _RECOMMENDED.sub("", plain_text(answer)).strip()
        if picked and not _asks(picked) and content_words(f"{question} {picked}"):
            found.append(Said(CHOICE, shorten(f"{picked} (asked: {plain_text(question)})", LONGEST), 0.7))
    return found


def approved_plan(plan: str) -> list[Said]:
    """A plan the user let pass, by its title: the first line that says something beside "Plan"."""
    title = plan_title(plan)
    return [Said(CHOICE, shorten(f"Approved plan: {title}", LONGEST), 0.7)] if title else []
