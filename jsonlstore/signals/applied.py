"""What an agent settled while it worked, as its summary says: one way instead of another, a name or value for good.

An agent chooses much that nobody asked it to choose. Its prose counts for nothing, but a summary of work that did
change files is backed by them: of its items those that say what replaced what, what is used, or what was taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.choices import LONGEST
from jsonlstore.signals.offers import HEADINGS, is_heading_of_next, spoken_languages
from jsonlstore.signals.requests import ANSWERED, fate_of, is_nudge
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language

APPLIED = "applied"
CONTRAST, CHANGE = "applied", "applied_verb"  # one way instead of another; merely replaced, renamed or taken out
MOST_OF_ONE = 2
_LONGEST_ITEM = 220
_LONGEST_HEADING = 80
_LEAST_TOLD = 20
_LEAST_WORDS = 2
_ITEM = re.compile(r"^\s*(?:[-*+•–✅✔✓☑]|\d{1,2}[.)])\s+(?=\S)")
_MARKED = re.compile(r"[❌⚠⏳🚧❓]|\?\s*$|？\s*$|\[ \]")
_LABEL = re.compile(r"^[^:：]{2,60}[:：]\s+(?=\S)")
_LABEL_LINE = re.compile(r"^\s*[*_]*([^:：*_\n]{2,40})[*_]*[:：][*_]*\s+(?=\S)")
# a name of the work: in backticks, with strokes, dots, humps, capitals or digits
_NAMED = re.compile(r"`|\w[._/=-]\w|[a-z][A-Z]|[A-Z]{2,}|\d|\s--\w|@\w")
_SIGN = re.compile(r"[→⇒➜➡]️?")  # a picture for plain text, and here the word that counts
_ARROW = re.compile(r"^((?:(?![-=]>).){2,80})[-=]>((?:(?![-=]>).){2,80})$")
_ASIDE = re.compile(r"\s?(?:\([^()]*\)|（[^（）]*）)")
_CONDITION = re.compile(r"[=!<>]=|\w\(|\b(?:if|when|wenn|si|se|если|якщо)\b|如果|場合|면 ", re.IGNORECASE)
_CALL = re.compile(r"\w\([^()]{0,40}\)")
_VALUE = re.compile(r"[`\d_./:='\"]|[a-z][A-Z]|[A-Z]{2,}")


def applied_choices(talk: Sequence[Exchange], language: Language | None) -> Iterator[tuple[Moment, str, bool]]:
    """What summaries of work that changed files say was chosen, oldest first, and whether against something else.

    At most two of a message: a long list is a report.
    """
    for at, one in enumerate(talk):
        closing = one.closing
        if closing is None or closing is not one.last or closing.ends_with != "said":
            continue
        changed = _changed(one)
        after = talk[at + 1] if at + 1 < len(talk) else None
        # a plan that was let pass, and carried out, is as good as a summary
        if not changed and not (after is not None and _changed(after) and is_nudge(after.user.text)):
            continue
        found = choices_in(closing.text, spoken_languages(closing.text, language))[:MOST_OF_ONE]
        if found and not (changed and fate_of(talk, at, language) != ANSWERED):
            yield from ((closing, *said) for said in found)


def _changed(one: Exchange) -> bool:
    return any(moment.changes for moment in (one.user, *one.answers))


def choices_in(text: str, known: Sequence[Language]) -> list[tuple[str, bool]]:
    """The items of a summary that say which way was taken, contrasts first, each with whether it is one."""
    found: list[tuple[str, bool]] = []
    told_done = False  # the lines stand under a heading that says they were done
    for line in _whole_items(text):
        item = _ITEM.match(line)
        if line.rstrip(" *_`").endswith((":", "：")) or line.lstrip().startswith("#"):
            told_done = _heads_changes(_plain(line), line, known, told_done)
        elif item:
            found += _chosen(line[item.end() :], known, told_done=told_done)
        else:
            found += _labelled(line, known)
            told_done = False
    return sorted(found, key=lambda one: not one[1])


def _plain(line: str) -> str:
    return plain_text(line).replace("’", "'").strip()


def _chosen(told: str, known: Sequence[Language], *, told_done: bool) -> list[tuple[str, bool]]:
    """What one item says was chosen: none or one."""
    said = _plain(told).strip(" .。;；")
    if len(said) > _LONGEST_ITEM or _MARKED.search(told) or not _NAMED.search(told):
        return []
    kind = _kind(said, known, told_done=told_done) if len(content_words(said)) >= _LEAST_WORDS else ""
    return [(shorten(said, LONGEST), kind == CONTRAST)] if kind else []


def _labelled(line: str, known: Sequence[Language]) -> list[tuple[str, bool]]:
    """What stands in a line behind a label that says it was done: "Fix: the parser now lives in core/parse.py"."""
    label = _LABEL_LINE.match(line)
    if not label or len(line) - label.end() < _LEAST_TOLD or not _says_done(label[1], known):
        return []
    told = line[label.end() :]
    found = [one for each in sentences(told) for one in _chosen(each, known, told_done=True)]
    return [one for one in found if one[1]]


def _kind(said: str, known: Sequence[Language], *, told_done: bool) -> str:
    """Which kind of choice an item tells: a contrast counts in a list of what was done, a verb of its own anywhere."""
    if len(_CALL.findall(said)) > 1:
        return ""  # one call for another is how a line was mended, and nothing that was settled
    said = _ASIDE.sub("", said)  # "(defaults to false)" is not what was chosen
    bare = _LABEL.sub("", said)
    for language in known:
        begins = any(language.pattern(CHANGE).match(part) for part in (said, bare))
        if (told_done or begins) and language.says(CONTRAST, said):
            return CONTRAST
        if begins:
            return CHANGE
    arrow = _ARROW.match(said) if told_done else None
    return CONTRAST if arrow and _VALUE.search(arrow[2]) and not _CONDITION.search(arrow[1]) else ""


def _heads_changes(plain: str, line: str, known: Sequence[Language], before: bool) -> bool:
    """Whether a heading or lead says that what follows was done; one that names a file goes on with what was before."""
    if is_heading_of_next(line, known, HEADINGS):
        return False
    bare = plain.strip(" :：#*.0123456789-–—)")
    named = len(bare) <= _LONGEST_HEADING and _VALUE.search(bare) is not None
    return _says_done(bare, known) or (before and named)


def _says_done(label: str, known: Sequence[Language]) -> bool:
    return any(language.says("applied_heading", label) for language in known)


def _whole_items(text: str) -> Iterator[str]:
    """The lines of a message with arrows spelled out, an item that a terminal broke in one piece."""
    kept = before = ""
    for line in prose_lines(text):
        goes_on = line.startswith("  ") and not _ITEM.match(line) and _ITEM.match(kept) and f"{before}\n{line}" in text
        before = line
        if goes_on and not kept.rstrip().endswith((":", "：", ".", "。")):
            kept = f"{kept} {line.strip()}"
            continue
        if kept:
            yield _SIGN.sub("->", kept)
        kept = line
    if kept:
        yield _SIGN.sub("->", kept)
