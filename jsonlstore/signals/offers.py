"""What an assistant's message leaves open: lists of next steps, an offer or question with its options."""

# ruff: noqa: E501 - expressions are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.language import languages, recognise
from jsonlstore.signals.sentences import plain_text, sentences, shorten, with_named_code, without_code
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonlstore.signals.language import Language

PROPOSED, MISSING = "next_heading", "open_heading"  # what could be done next, and what is known to be undone
HEADINGS = (PROPOSED, MISSING)
IDEAS = "idea_heading"  # what somebody might do some day
DECIDED_HEADINGS = ("decision_heading",)
LONGEST_ITEM = 160
LONGEST_OFFER = 200
MOST_ITEMS = 6
_LAST_LINES, _LAST_SAID = 16, 3
_MOST_AFTER_QUESTION = 240
_ITEM = re.compile(r"^[ \t]*(?:[-*+•–]|\d{1,2}[.)]|[a-z]\))[ \t]+(?:\[[ ]\][ \t]+)?(\S.*)$")
_MARK = re.compile(r"[ \t]*[-*+•–][ \t]+")
# steps that have a section each, under a heading or a line in bold
_NUMBERED_HEADING = re.compile(
    r"^(?:#{2,6}[ \t]+\**|\*\*)(?:(?:step|schritt|paso|étape|etape|passo|passaggio|шаг|крок|단계|ステップ|手順)[ \t]*\d{1,2}[ \t]*[:：.)—–-]"
    r"|第[ \t]*[\d一二三四五六]{1,2}[ \t]*步[ \t]*[:：.、]|\d{1,2}(?:[.)]|단계[:.]))[ \t]*(\S.*)$",
    re.IGNORECASE,
)
_TICKED = re.compile(r"\[[xX]\]|✅|✓|✔|☑|~~")
_OPTION = re.compile(
    r"^[\s>|*_#-]*+(?:\b(?:option|variante|opción|opcion|opção|вариант|варіант|方案|选项|案|plan)\s*)?[*_]*[(（]?([A-Fa-f]|[1-9一二三四])[*_]*\s?[)）.:：、|–-]+[*_]*\s*\|?\s*(\S.*)$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^[#\d.\s]*$")
_CROSSES = ("❌", "🔴", "🚨")
_LONGEST_HEADING = 60
_OPEN_SIGNS = "⏳🔄🚧⬜🔲☐⌛️ "
_OPEN_BEFORE = "⏳🚧⬜🔲☐⌛"
_OPEN_AFTER = "⏳🔄🚧⬜🔲☐⌛🟡🟠"
_STATUS = re.compile(r"(?<!\s)\s*+[(（\[]([^()（）\[\]]{2,24})[)）\]]\s*$")
_FEW_WORDS = 3
_ASKS_WHICH = 60
_LEAST_NAMED = 2  # words of a question that names what it offers
_LONGEST_REST = 40  # of a heading behind its first words
_LEAST_NAME = 5  # "tests (partial)" names nothing that could be taken up
_LONGEST_STATUS = 24
_LONGEST_PHRASE, _LONGEST_CALL = 24, 10
_TABLE_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_RULE_LINE = re.compile(r"^[\s|:=*_-]+$")
_BRACKETS = re.compile(r"(?<!\s)\s*+[(（][^()（）]{1,60}[)）]\s*$")
_FIRST_OF_LIST = frozenset({"1", "A"})
_DIGITS = {"一": "1", "二": "2", "三": "3", "四": "4"}
_ENGLISH_TOO = frozenset({"de", "fr", "ru", "uk", "zh", "ja", "ko"})  # elsewhere "todo" is an everyday word
_NEAR = {"ru": ("uk",), "uk": ("ru",)}  # a short sentence may be either
OR_ELSE = re.compile(r"(?:or|oder|ou|or else|или|або|чи)\b|或者|还是|それとも|아니면", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offer:
    """The question a message ends with, and the options it lets choose from."""

    text: str
    options: tuple[tuple[str, str], ...] = ()
    is_offer: bool = True

    def option(self, key: str) -> str | None:
        """What stands behind a letter or number."""
        return next((text for name, text in self.options if name == key.upper()), None)


@dataclass(frozen=True, slots=True)
class Opened:
    """Something left open, with where it was said: exchanges counted back from the end."""

    text: str
    entry_id: str | None
    at: str
    back: int
    turn: int
    kind: str
    confidence: float
    by_user: bool = False


def spoken_languages(text: str, fallback: Language | None) -> list[Language]:
    """The languages whose rules hold for a message: its own, or the session's where it does not show one."""
    return rules_of(recognise(text) or fallback)


def rules_of(own: Language | None) -> list[Language]:
    """The languages whose rules hold where `own` is spoken."""
    if own is None:
        return []
    english = languages()["en"]
    near = [languages()[code] for code in _NEAR.get(own.code, ())]
    return [own, *near, english] if own.code in _ENGLISH_TOO else [own]


# a whole sentence that says it is done, or that nothing is left: people write it where a report asks what is open
_SETTLED = re.compile(
    r"^(?:none|nothing|n/?a|keine?|nichts|ninguno|nada|aucune?|rien|nenhum|nessuno|niente|нет|немає|无|没有|なし|特になし|없음)(?: (?:left|open|known|remaining|offen|bekannt))?$"
    r"|(?:済み(?:です|で.{0,40}(?:なし|ません))?|該当なし|問題なし|問題(?:は)?(?:あり|残ってい)ません)。?$|已(?:经)?(?:全部|完全)(?:完成|解决|修复|清除|移除).{0,20}$",
    re.IGNORECASE,
)
# a heading of what is still to be decided, whichever word of deciding it begins with
_UNDECIDED = re.compile(
    r"(?<!\w)(?:open|pending|needed|required|outstanding|unresolved|deferred|to (?:be )?(?:ma[dk]e|take|taken)|for you|left|remaining|offen\w*|ausstehend\w*|anstehend\w*|nötig\w*"
    r"|abiert\w+|pendiente\w*|por tomar|ouvert\w+|en (?:attente|suspens)|à prendre|apert[eio]|in sospeso|da prendere|abert[oa]s?|a tomar|откры\w+|нереш\w+|принять|відкрит\w+)(?!\w)"
    r"|待|未|需要|必要|미정|미결|필요|대기",
    re.IGNORECASE,
)
_LEAD = 60  # characters at its end
# an item that says nothing without what stands below it: "decide whether to:"; "add tests:" does
_LEADS_ON = re.compile(
    r"(?:\b(?:to|whether|either|with|of|for|like|as|and|or|includes?|contains?|following|zu|ob|mit|wie|folgend\w*|de|con|como|que|si|à|avec|comme"
    r"|suivante?s?|com|se|di|на|с|что|как|следующ\w*|наступн\w*)|包含|包括|例如|如下|以下|下記|次の|다음)[\s*_]*[:：][\s*_]*\Z",
    re.IGNORECASE,
)


def listed_next(text: str, speakers: Iterable[Language], kinds: Sequence[str] = HEADINGS) -> list[str]:
    """The items under a heading such as "Next steps" or "Still open"."""
    known = list(speakers)
    if not known:
        return []
    found: list[str] = []
    asking = known if set(kinds) <= set(HEADINGS) else ()  # only work can be left alone
    lines = without_code(with_named_code(text, MOST_ITEMS)).split("\n")
    collecting = False
    heading = ""
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if is_heading_of_next(line, known, kinds) and not _is_one_of_several(line, lines, number):
            for step in _step_sections(lines[number + 1 :]):
                _take(found, step, asking)
            collecting = not found
            heading = plain_text(line).strip(" :：")
            continue
        item = _ITEM.match(line)
        row = _TABLE_ROW.match(line)
        if collecting and item and not line.startswith(("   ", "\t")):
            _take(
                found, "" if _LEADS_ON.search(item[1][-_LEAD:]) else _with_parts(item[1], lines[number + 1 :]), asking
            )
        elif collecting and row:
            cells = [cell.strip() for cell in row[1].split("|") if cell.strip()]
            is_head = number + 1 < len(lines) and _RULE_LINE.match(lines[number + 1])
            if cells and not _RULE_LINE.match(line) and not is_head:
                _take(found, _open_row(cells, known) or f"{heading}: {' '.join(cells[:2])}", asking)
        elif not line.startswith(("   ", "\t")) and not _RULE_LINE.match(line):
            collecting = collecting and not found and not line.lstrip().startswith("#")
    return found[:MOST_ITEMS]


def _is_one_of_several(line: str, lines: Sequence[str], number: int) -> bool:
    """Whether a line is an item among others of its kind: "- Pending signals: 5 to 30 min" heads none of them."""
    mark = _MARK.match(line)
    if mark is None:
        return False
    return any(other.startswith(mark[0]) for other in lines[number + 1 : number + 2])


def _with_parts(item: str, below: Sequence[str]) -> str:
    """An item with those that are set in below it, where it is a mere title: "Frontend:" and what is to be done."""
    if not item.rstrip(" *_").endswith((":", "：")):
        return item
    parts: list[str] = []
    for line in below:
        part = _ITEM.match(line)
        if line.strip() and not (part and line.startswith((" ", "\t"))):
            break
        if part and not _TICKED.search(part[1]):
            parts.append(part[1].strip())
    return f"{item.rstrip(' *_')} {'; '.join(parts[:MOST_ITEMS])}"


def defects_listed(text: str) -> list[str]:
    """The items under a heading that bears a cross: what an answer found to be wrong, in whatever language."""
    found: list[str] = []
    collecting = False
    for line in without_code(text).split("\n"):
        item = _ITEM.match(line)
        if not item and line.strip():
            collecting = len(line) <= _LONGEST_HEADING and line.strip(" *#_").startswith(_CROSSES)
        elif item and collecting and not line.startswith(("    ", "\t")):
            _take(found, item[1])
    return found[:MOST_ITEMS]


def _step_sections(lines: Sequence[str]) -> list[str]:
    """The steps that have a section each, where the first line is the heading of such a section."""
    steps: list[str] = []
    for line in lines:
        step = _NUMBERED_HEADING.match(line)
        if step:
            steps.append(step[1])
        elif line.startswith("#") or (line.strip() and not steps):
            break
    return steps


def open_rows(text: str, speakers: Iterable[Language]) -> list[str]:
    """The rows and items whose status says that they are not done: "pending", "in progress", an hourglass."""
    known = list(speakers)
    found: list[str] = []
    for line in without_code(text).split("\n"):
        row = _TABLE_ROW.match(line)
        item = None if row else _ITEM.match(line)
        if row and not _RULE_LINE.match(line):
            _take(found, _open_row([cell.strip() for cell in row[1].split("|")], known))
        elif item:
            _take(found, _open_item(item[1].strip(), known))
    return found[:MOST_ITEMS]


def _open_item(item: str, known: Iterable[Language]) -> str:
    """An item that is marked as not done, without its mark: "UI tests (pending)", "⏳ UI tests"; else empty."""
    status = _STATUS.search(item)
    if item[0] in _OPEN_BEFORE or item[-1] in _OPEN_AFTER:
        bare = item
    elif status is not None and _says_open(status[1], known):
        bare = item[: status.start()]
    else:
        return ""
    name = bare.strip(_OPEN_SIGNS + _OPEN_AFTER + "❌⚠ -–—:：")
    return name if len(name) >= _LEAST_NAME and len(content_words(name)) >= 2 else ""


def _open_row(cells: list[str], known: Iterable[Language]) -> str:
    """What a row says is not done: its name and what is added to it; empty if its status does not say so."""
    status = next((cell for cell in cells[1:] if _says_open(cell, known)), None)
    if status is None:
        return ""
    told = [cell for cell in cells if cell and cell is not status and not _NUMBER.match(cell)]
    added = [cell for cell in told[1:2] if not _TICKED.search(cell) and len(content_words(cell)) > 1]
    return ": ".join([*told[:1], *added])


def _says_open(cell: str, known: Iterable[Language]) -> bool:
    bare = plain_text(cell).strip(" .:!-–—")
    if not bare:
        return bool(cell) and not cell.strip(_OPEN_SIGNS)
    return len(bare) <= _LONGEST_STATUS and any(one.pattern("open_status").fullmatch(bare) for one in known)


def is_heading_of_next(line: str, known: Iterable[Language], kinds: Sequence[str] = HEADINGS) -> bool:
    """Whether a line heads a list of what is left; a sentence that begins so does not."""
    plain = _BRACKETS.sub("", plain_text(line)).replace("’", "'").strip(" :：.-–—0123456789")
    if not 2 <= len(plain) <= 60 or (kinds == DECIDED_HEADINGS and _UNDECIDED.search(line)):
        return False
    longest_rest = 0 if len(plain) <= 6 else _LONGEST_REST if line.lstrip().startswith(("#", "**")) else 28
    for heading in (language.heading(kind) for language in known for kind in kinds):
        if heading.fullmatch(plain):
            return True
        match = heading.match(plain)
        if match and len(plain) - match.end() <= longest_rest and "." not in plain[match.end() :]:
            return True
    return False


def _take(found: list[str], item: str, known: Iterable[Language] = ()) -> None:
    """Take an item, unless it is ticked, says nothing, or says itself that it is to stay as it is or only an idea."""
    plain = plain_text(item).rstrip(" :;.,")
    if _SETTLED.search(plain) or any(
        one.says("left_alone", plain) or one.pattern("idea").match(plain) for one in known
    ):
        return
    if _TICKED.search(item) or len(plain) < (6 if plain.isascii() else 3) or not content_words(plain):
        return
    found.append(shorten(plain, LONGEST_ITEM))


def closing_offer(text: str, speakers: Iterable[Language]) -> Offer | None:
    """The question or offer a message ends with; None if it ends with a statement or asks for nothing in particular."""
    known = list(speakers)
    lines = [line for line in without_code(text).split("\n") if line.strip() and not _RULE_LINE.match(line)]
    last = lines[-_LAST_LINES:]
    asked = _last_question(last, known)
    if asked is None:  # numbered questions look like options
        return _offered_list(last, len(last) - 1, known) if last and _ITEM.match(last[-1]) else None
    at, question, is_offer = asked
    if _ITEM.match(last[at]):
        # a question in the middle of an item asks about that item, not what comes next
        ends_so = last[at].rstrip(" )*_").endswith(("?", "？")) or at == len(last) - 1
        alone = Offer(shorten(question, LONGEST_OFFER), (), is_offer) if ends_so else None
        return _offered_list(last, at, known) or alone
    # options follow their question; a bare "what would you like?" refers to those before it
    options = tuple(_options(last[at:]) or (_options(_section(last[:at])) if len(content_words(question)) < 4 else ()))
    after = sum(len(line) for line in last[at + 1 :] if not _OPTION.match(line) and not _ITEM.match(line))
    if after > _MOST_AFTER_QUESTION:
        return None
    if options and (question.endswith((":", "：")) or len(content_words(question)) < 4 or len(question) < _ASKS_WHICH):
        listed = " ".join(f"{name}) {said}" for name, said in options)
        return Offer(shorten(f"{question} {listed}", LONGEST_OFFER), options, is_offer)
    if _is_empty(question, known):
        return None if not options else Offer(shorten(question, LONGEST_OFFER), options, is_offer)
    return Offer(shorten(question, LONGEST_OFFER), options, is_offer)


def _offered_list(lines: list[str], at: int, known: list[Language]) -> Offer | None:
    """An offer whose things stand as a list under it ("Want me to add:" and what), or a list of questions."""
    top = at
    while top > 0 and _ITEM.match(lines[top - 1]):
        top -= 1
    end = at
    while end + 1 < len(lines) and _ITEM.match(lines[end + 1]):
        end += 1
    lead = plain_text(lines[top - 1]) if top else ""
    items = [plain_text(match[1]) for line in lines[top : end + 1] if (match := _ITEM.match(line))]
    asked = sum(item.endswith(("?", "？")) for item in items)
    offers = any(language.says("offer", lead) for language in known) or (asked > 1 and asked == len(items))
    if not lead.endswith((":", "：", "…")) or not offers:
        return None
    listed = tuple((str(number), shorten(item, 100)) for number, item in enumerate(items, 1))
    return Offer(shorten(f"{lead} {'; '.join(items)}", LONGEST_OFFER), listed)


def _is_empty(question: str, known: list[Language]) -> bool:
    """Whether a question offers nothing in particular: beyond the words of offering it names hardly anything."""
    bare = question
    for kind in ("empty_offer", "offer", "ask_leave"):
        for language in known:
            bare = language.pattern(kind).sub(_without_phrase, bare)
    needed = 3 if any(language.says("empty_offer", question) for language in known) else 1
    return len(content_words(bare)) < needed


def _without_phrase(match: re.Match[str]) -> str:
    """Nothing for the words of offering; a phrase that spans what is offered stays."""
    spans = len(match[0]) > (_LONGEST_CALL if match[0].endswith(("?", "？")) else _LONGEST_PHRASE)
    return match[0] if spans else " "


def _last_question(lines: list[str], known: list[Language]) -> tuple[int, str, bool] | None:
    for at in range(len(lines) - 1, -1, -1):
        if _TABLE_ROW.match(lines[at]):
            continue
        said = [plain_text(one) for one in sentences(lines[at])]
        for place in range(len(said) - 1, -1, -1):
            sentence = said[place]
            is_question = sentence.rstrip(' )*_"”').endswith(("?", "？"))
            asks_leave = is_question and any(language.says("ask_leave", sentence) for language in known)
            offered = asks_leave or any(language.says("offer", sentence) for language in known)
            if (is_question and not _OPTION.match(lines[at])) or (
                offered and (is_question or sentence.endswith((":", "：")))
            ):
                if place and said[place - 1].endswith(("?", "？")) and OR_ELSE.match(sentence):
                    sentence = f"{said[place - 1]} {sentence}"  # half an offer says nothing without its other half
                elif place and len(content_words(sentence)) <= _LEAST_NAMED and _looks_ahead(said[place - 1], known):
                    sentence = f"{said[place - 1]} {sentence}"  # "The next phase is the siren. Shall I go on?"
                aside = " ".join(one for one in said[place + 1 :] if one.startswith("("))
                below = "".join(lines[at + 1 : at + 2]) if sentence.endswith((":", "：")) else ""
                if offered and place + 1 == len(said) and not (_ITEM.match(below) or _OPTION.match(below)):
                    aside = aside or plain_text(below)  # "If you want, I do one thing more:" and what
                if not aside and place + 1 < len(said) and len(content_words(sentence)) <= _FEW_WORDS:
                    aside = said[place + 1]  # "Keep both? We could give the log a file of its own."
                return at, f"{sentence.strip()} {aside}".strip(), offered
            if offered and at >= len(lines) - _LAST_SAID and not is_question and len(sentence) < 240:
                return at, sentence.strip(), True
    return None


def _section(lines: list[str]) -> list[str]:
    """The lines behind the last heading: a list in another section offers nothing to choose from."""
    return lines[max((place for place, line in enumerate(lines) if line.startswith("#")), default=-1) + 1 :]


def _looks_ahead(sentence: str, known: list[Language]) -> bool:
    """Whether a sentence names what comes next."""
    return any(one.says("next_heading", sentence) or one.pattern("left").match(sentence) for one in known)


def _options(lines: list[str]) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for line in lines:
        match = _OPTION.match(line)
        if not match or (_TABLE_ROW.match(line) and any(map(says_done, line.split("|")))):
            continue
        key = _DIGITS.get(match[1], match[1]).upper()
        text = plain_text(match[2].replace("|", " ")).strip(" -–:")
        if key in _FIRST_OF_LIST and key in found:
            found.clear()  # another list begins: the one nearest to the question is meant
        if text:
            found[key] = shorten(text, 100)
    return list(found.items()) if len(found) >= 2 else []


def all_options(text: str) -> tuple[tuple[str, str], ...]:
    """Every option a message lists, wherever it does."""
    return tuple(_options(without_code(text).split("\n")))
