"""The line that is told of an answer: what came of the request, not the words around it.

An answer often begins with what was found or what is about to be done, and says below what came of it: under "Result:",
under "What changed", or in the first sentence that says something is done. Where its opening does not say it, that
sentence is told behind the opening's first one.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.offers import is_heading_of_next, spoken_languages
from jsonlstore.signals.requests import LONGEST_LINE
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten, with_named_code
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.signals.language import Language

_LEAST_SAID = 6  # words of content
_LEAST_OUTCOME = 2
_LONGEST_LEAD = 80
_LONGEST_LABEL = 40
_LONGEST_END = 110
_LEAST_END = 30
_LAST_LINES = 3
_LIST_NUMBER = re.compile(r"(?:\s\d{1,2}[.)])+\s*$")  # its item is left out
_FULL_STOPS = (".", "!", "?", "。", "！", "？", ")", "…")
_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,2}[.)])\s")
_EXCLAMATION = re.compile(r"\A(?:[^\W\d]++[ ,]{0,2}){1,3}[!！]\s+(?=\S)")  # "Great!", "All done!"
_PUSHED = re.compile(
    r"\b(?:pushed|gepusht|pushead[oa]s?|poussée?s?)\b|\bpush (?:is |was )?(?:done|complete|successful|succeeded|realizad|hech|feit|conclu[ií]d|réussi|effectué|erledigt)"
    r"|\b(?:and|und|y|et|e|&) push (?:\w+ )?(?:done|complete|success|realizad|hech|feit|conclu[ií]d|réussi|effectué|erledigt|erfolgreich)"
    r"|запушен|запушил|已推送|推送(?:成功|完成|了)|プッシュ(?:しました|済み|完了)|푸시(?:했|완료)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"n't\b|\b(?:not|never|no|nicht|kein|nunca|pas|não|не|ще|if|once|when|after|wenn|si)\b|[未没不]", re.IGNORECASE
)


def answer_line(text: str, language: Language | None, *, pushed: bool = True, worked: bool = False) -> str:
    """What an answer says, in one line: its first words that are more than a heading, and not against the evidence.

    Where it `worked`, files were changed for it: then it says somewhere what came of that.
    """
    known = spoken_languages(text, language)
    text = with_named_code(_without_opening(text, known), most=1)
    if not pushed and _PUSHED.search(text):
        told = (one for line in prose_lines(text) for one in sentences(line))
        text = "\n".join(one for one in told if not _PUSHED.search(one) or _NOT.search(one))
    said: list[str] = []
    for line in _lines(text, known):
        said.append(line)
        if sum(map(len, said)) >= LONGEST_LINE:
            break
    if len(said) > 1 and said[-1].endswith((":", "：")):
        said.pop()  # what it leads on to is a table or code
    opening = shorten(" ".join(said) or plain_text(text), LONGEST_LINE)
    said_there = not worked or _tells(opening, known) or (said and said[0].endswith((":", "：")))
    outcome = _result(text, known) or ("" if said_there else _first_done(text, known))
    if outcome and outcome[:_LONGEST_LEAD] not in opening:
        lead = sentences(said[0])[:1] if said else []
        whole = " ".join([*(shorten(one, _LONGEST_LEAD) for one in lead), outcome])
    else:
        whole = " ".join(said) or plain_text(text)
    return _with_end(whole, text, known)


def _with_end(whole: str, text: str, known: Sequence[Language]) -> str:
    """An answer's outcome and its last words, which say what it asks for or leaves to the user: the middle is left out."""
    said = shorten(whole, LONGEST_LINE)
    end = shorten(_end(text, known), _LONGEST_END)
    if not end or end[:_LEAST_END] in said.removesuffix("…")[:-_LEAST_END] or said.endswith(end):
        return said
    if len(whole) + len(end) < LONGEST_LINE:
        return f"{whole} {end}" if end not in whole else whole
    room = LONGEST_LINE - len(end) - 3
    at = 0
    for one in sentences(whole):
        after = whole.find(one, at) + len(one)
        if not at <= after <= room:
            break
        at = after
    head = _LIST_NUMBER.sub("", whole[:at]).rstrip()
    if len(head) < room // 2:
        head = _LIST_NUMBER.sub("", shorten(whole, room + 1).removesuffix("…")).rstrip() + "…"
    return f"{head} {end}" if head.endswith("…") else f"{head} … {end}"


def _end(text: str, known: Sequence[Language]) -> str:
    """The last sentence of an answer that is no courtesy; none where it ends with a list, a table or code."""
    lines = [line for line in prose_lines(text) if content_words(plain_text(line))]
    for line in reversed(lines[-_LAST_LINES:]):
        if _ITEM.match(line) or line.lstrip().startswith(("#", "|", "---")):
            return ""
        for sentence in reversed(sentences(line)):
            plain = plain_text(sentence).strip(" -–—|")
            least = 1 if plain.endswith(("?", "？")) else _LEAST_OUTCOME
            if not plain.endswith(_FULL_STOPS):
                return ""  # a signature, a status line: no sentence
            if len(content_words(plain)) >= least and plain[0] not in "(（" and not _is_courtesy(plain, known):
                return plain
    return ""


def _is_courtesy(plain: str, known: Sequence[Language]) -> bool:
    """Whether a sentence only takes leave: "Let me know if you have any questions", "Hope this helps"."""
    said = plain.replace("’", "'")
    return any(each.says("courtesy", said) for each in known)


def _lines(text: str, known: Sequence[Language]) -> Iterator[str]:
    """The lines of an answer that say something, without headings, rows of tables and what it was about to do."""
    first = True
    for line in prose_lines(text):
        plain = plain_text(line).strip(" -–—|")
        if not content_words(plain) or line.lstrip().startswith(("|", "---")) or (line[:1] == "#" and not first):
            continue
        if line[:1] == "#":  # where nothing is said before it, a heading says what the lines below are about
            if len(content_words(plain)) >= _LEAST_OUTCOME:
                yield f"{plain.rstrip(' :：')}:"
        elif not line.lstrip().startswith("#"):
            yield _without_plans(plain, known)
        first = False


def _without_plans(plain: str, known: Sequence[Language]) -> str:
    """A line without the sentences that only say what comes now ("Let me check that."), where others are left."""
    told = sentences(plain)
    kept = [one for one in told if not any(each.announces(one.replace("’", "'")) for each in known)]
    if len(kept) == len(told) or len(content_words(" ".join(kept))) < _LEAST_OUTCOME:
        return plain
    return " ".join(kept)


def _without_opening(text: str, known: Sequence[Language]) -> str:
    """An answer without the exclamation it begins with, and without "now let me sum up:"."""
    text = _EXCLAMATION.sub("", text.lstrip(), count=1) or text
    first, _, rest = text.partition("\n")
    plain = plain_text(first).replace("’", "'")
    if not plain.endswith((":", "：")) or len(sentences(first)) > 1 or len(content_words(rest)) < _LEAST_SAID:
        return text
    return rest if any(one.announces(plain) for one in known) else text


def _result(text: str, known: Sequence[Language]) -> str:
    """What stands behind "Result:" or "Outcome", in its line or below it; the last one counts."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = ""
    for at, line in enumerate(lines):
        plain = plain_text(line)
        label, _, rest = plain.replace("：", ":").partition(":")
        if len(label) > _LONGEST_LABEL or line.lstrip().startswith("|"):
            continue
        bare = label.strip(" .-–—")
        if not any(one.pattern("result_label").fullmatch(bare) for one in known):
            continue
        said = _told(rest, known)
        if not rest.strip():
            below = ("\n".join(lines[at + 1 : at + 4])).split("\n#")[0]
            said = " ".join(one for each in _lines(below, known) if (one := _told(each, known)))
        found = said or found
    return found


def _told(said: str, known: Sequence[Language]) -> str:
    plain = plain_text(said).strip(" -–—|")
    if len(content_words(plain)) >= _LEAST_SAID:
        plain = plain.rstrip(" :：")  # it says enough without the table it leads on to
    return plain if len(content_words(plain)) >= _LEAST_OUTCOME and not _asks(plain, known) else ""


def _asks(plain: str, known: Sequence[Language]) -> bool:
    return plain.endswith(("?", "？", ":", "：")) or any(one.pattern("conditional").match(plain) for one in known)


def _tells(said: str, known: Sequence[Language]) -> bool:
    """Whether words say that something was done."""
    return any(_is_done(one, known) for one in sentences(said)) or bool(_behind_label(said, known))


def _is_done(sentence: str, known: Sequence[Language]) -> bool:
    plain = sentence.replace("’", "'")
    return any(says_done(plain, one) and not one.pattern("conditional").match(plain) for one in known)


def _first_done(text: str, known: Sequence[Language]) -> str:
    """From the first sentence on that says what was done, or stands under words that say so."""
    below = False
    for line in prose_lines(text):
        plain = plain_text(line).strip(" -–—|")
        if line.lstrip().startswith("|") or (_ITEM.match(line) and not below):
            continue  # an item belongs to what stands above it
        if is_heading_of_next(line, known):
            break  # from here on it is about what is left
        if line.lstrip().startswith("#") or (plain.endswith((":", "：")) and len(plain) <= _LONGEST_LABEL):
            below = any(one.says("applied_heading", plain) for one in known)
            continue
        labelled = _behind_label(plain, known)
        told = [labelled] if labelled else sentences(plain)
        for at, sentence in enumerate(told):
            if _told(sentence, known) and (below or labelled or _is_done(sentence, known)):
                return " ".join(told[at:]).rstrip(" :：")
    return ""


def _behind_label(plain: str, known: Sequence[Language]) -> str:
    """What stands behind a label that says it was done: "Fix: the parser now lives in core"."""
    label, colon, rest = plain.replace("：", ":").partition(":")
    if not colon or len(label) > _LONGEST_LABEL or not any(one.says("applied_heading", label) for one in known):
        return ""
    return plain if len(content_words(rest)) >= _LEAST_OUTCOME else ""
