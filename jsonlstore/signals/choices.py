"""What the user decided, in the user's own words: directives, standing rules, tasks set; replies are read in `replies`."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.language import may_any_say, may_be_said
from jsonlstore.signals.offers import DECIDED_HEADINGS, listed_next
from jsonlstore.signals.rulings import QUOTED, begins_with_refusal, clauses, together, whole_clauses
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten, spoken_sentences
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonlstore.signals.language import Language

DECISION, CONSTRAINT, TASK, SCOPE, REVERT, WORKS = "decision", "constraint", "task", "scope_creep", "revert", "works"
CHOICE, DECIDED, INSIGHT = "choice", "decided", "insight"
LONGEST = 160
_SHORT_NO = 5  # letters: a bare no refuses what stands behind it
LONGEST_RULING = 100  # what a note holds: cut there once more, it would lose what it rules
_MOST_ASKED = 1_000  # characters of a message that may ask what something means
_LONGEST_SENTENCE = 240
_LONG = 140
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
_LONGEST_EXTRA = 90
_LONGEST_REMARK = 100
_LONGEST_PICK = 100
NAMED_OPTION = re.compile(
    r"(?:\b(?:option|plan|variante|opción|opcion|opção|opzione|вариант|варіант)|方案|选项|選項|案)\s*[A-Fa-f1-9一二三四](?![A-Za-z0-9])",
    re.IGNORECASE,
)
_CONFIDENCE = {SCOPE: 0.65, REVERT: 0.7, WORKS: 0.7}  # scope creep as DECISION 44 has it
_CONTRAST = re.compile(
    r"instead|rather than|, not |(?:,|and) just |(?:don't|do not) use .{1,80}[,;:.] use |\bnot\b.+\bbut\b|statt|en (?:vez|lugar) de|au lieu|plutôt que|em vez|invés|вместо|замість|а не|而不是|ではなく|代わりに|대신|말고",
    re.IGNORECASE,
)
WEAK_RULE = 0.75  # "only", "must", "don't": it is told before a mere choice, and fades like one
# how sure a sentence of each kind is a decision, and how long it may be: a rule is crisp, a long sentence is a request
_DIRECTIVES = (
    ("rule", 0.85, 200),
    ("reject", 0.8, 160),
    ("decide", 0.7, 140),
    ("weak_rule", WEAK_RULE, 140),
    ("want", 0.7, 140),
)
_WITHOUT_WISHES = _DIRECTIVES[:-1]
_RULES = frozenset({"rule", "weak_rule"})
_WITH_CONTRAST = 0.8
_ASKED = (
    *(kind for kind, _, _ in _DIRECTIVES),
    *("forbid_cue", "pick", "edit", "task_cue", "works", "scope", "revert"),
)
# [type=url_parsing, input_value=…]: a program said that; a branch or a line with its comment was copied from code
_MESSAGE = re.compile(r"\[\w+=[^\]\n]+\]|^case\s.{0,80}:|\S\s*//\s")
# what heads the rules of a task, mostly in English whatever language follows
_RULES_HEADING = re.compile(
    r"^#{1,6} +(?:\S+ )?(?:constraints?|restrictions?|rules|do not|don'ts|einschränkungen|regeln|vorgaben|restricciones|reglas|contraintes|règles"
    r"|restrições|regras|vincoli|regole|ограничения|правила|обмеження|约束|限制|规则|要求和限制|制約(?:条件)?|ルール|禁止事項|제약(?: ?조건)?|규칙)\W*\n",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+(\S.{5,200})$", re.MULTILINE)
_REFUSING = re.compile(
    r"\b(?:not|no|never|only|without|avoid|nicht|kein\w*|nur|ohne|nie|sin|s[oó]lo|nunca|ne|pas|jamais|sans|não|sem|apenas|non|mai|senza|не|нельзя|только|без|ні|лише)\b|n't\b|ない|禁止|のみ|不(?:要|得|能|可)|勿|只|仅|말|않|금지|만 ",
    re.IGNORECASE,
)
_MOST_RULED = 2
_CUE = ("task_cue",)
_EXPLAIN = ("explain",)
_FORBID = ("forbid_cue",)
_TOLD = ("decided", "insight")
_THEREFORE = re.compile(
    r"(?:so|but|therefore|thus|hence|also|aber|deshalb|daher|así que|por eso|pero|entonces|donc|mais|alors|então|por isso|portanto|mas|quindi|perciò|ma|поэтому|так что|но|тому|тож|але)(?!\w)|所以|因此|但|那就",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,;:，；：](?=\s|[^\x00-\x7f])")
_CONCLUDES = re.compile(rf"[,;，；] ?(?:{_THEREFORE.pattern})", re.IGNORECASE)
_NUMBER_AFTER = re.compile(
    r"(?<!\s)\s*+(?:[；;,，]\s*+)?(\d{1,2})[.、)]$"
)  # the next item's number, left behind by its sentence
_AFTER_NUMBER = (".", "、", ")")
_LOOSE_END = re.compile(
    r"(?<![\s,，])[\s,，]++(?:and|or|und|oder|y|et|ou|e|и|і|та)$", re.IGNORECASE
)  # the next line goes on
# what editors add to a plan that is handed to the agent
_PLAN_TOOL = re.compile(
    r"Do NOT edit the plan file itself\.|To-?do'?s from the plan have already been created\.|Do not create them again\."
    r"|Mark them as in_progress as you work[^.\n]*\.|Don['’]t stop until you have completed all the to-?dos\.",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing a message says: its kind, the words, and how surely."""

    kind: str
    text: str
    confidence: float

    @property
    def source(self) -> str:
        """Whose words it rests on: a choice rests on what was offered, too."""
        return CHOICE if self.kind == CHOICE else "user"


def directives(text: str, speakers: Sequence[Language], *, opening: bool = False) -> list[Said]:
    """What a user's message decides, rules, asks to be remembered, takes back or calls working.

    In the message that opens a session a wish ("I want to have …") is the work asked for, not a decision about it.
    """
    # asked of the whole message first: most say nothing of the kind, and sentences are many
    whole = text.replace("’", "'")
    ruled = _ruled_below_heading(text) if opening and "#" in text else []
    known = [one for one in speakers if one.may_say(_ASKED, whole)]
    if not known or any(one.may_say(_EXPLAIN, whole) and one.says("explain", whole[:_MOST_ASKED]) for one in known):
        return ruled  # who asks what a sentence means did not say it
    found: list[Said] = ruled
    for sentence in spoken_sentences(_PLAN_TOOL.sub("", text) if "plan" in text else text):
        said = _read(_without_next_number(sentence, text), known, _WITHOUT_WISHES if opening else _DIRECTIVES)
        if said:
            found.append(said)
    return found


def _ruled_below_heading(text: str) -> list[Said]:
    """What the message that opens a session lists under "Constraints": the last items say what is not to be done."""
    head = _RULES_HEADING.search(text)
    if head is None:
        return []
    items = _ITEM_LINE.findall(text[head.end() :].split("\n#", 1)[0][:_MOST_ASKED])
    told = [plain_text(item) for item in items]
    refusing = [one for one in told if _REFUSING.search(one.replace("’", "'"))] or told
    return [Said(CONSTRAINT, shorten(one, LONGEST), WEAK_RULE) for one in refusing[-_MOST_RULED:]]


def _without_next_number(sentence: str, text: str) -> str:
    """A sentence of "1. do this 2. do that" without the next item's number; "valve 2." keeps its own."""
    plain = sentence.rstrip()
    number = _NUMBER_AFTER.search(plain) if plain.endswith(_AFTER_NUMBER) and plain[-2:-1].isdigit() else None
    if number is None or not re.search(rf"(?<!\d){int(number[1]) - 1}[.、)]", text):
        return sentence
    return plain[: number.start()]


def explicit(text: str, speakers: Sequence[Language], kinds: tuple[str, ...] = _TOLD) -> list[Said]:
    """What an assistant says outright it decided or found out; its other prose counts for nothing."""
    known = [one for one in speakers if one.may_say(_TOLD, text)]  # one automaton, whichever kinds are wanted
    if not known:
        return []
    found: list[Said] = []
    for sentence in (one for line in prose_lines(text) for one in sentences(line)):
        plain = plain_text(sentence).replace("’", "'").strip()
        if (
            not 20 <= len(plain) <= _LONGEST_SENTENCE
            or plain.endswith(("?", "？", ":"))
            or len(content_words(plain)) < 3
        ):
            continue
        bare = QUOTED.sub("…", plain)
        for language in known:
            if language.pattern("conditional").match(plain):
                continue
            if DECIDED in kinds and language.says(DECIDED, bare):
                found.append(Said(DECISION, shorten(plain, LONGEST), 0.7))
            elif language.says(INSIGHT, bare):
                found.append(Said(INSIGHT, shorten(plain, LONGEST), 0.7))
            else:
                continue
            break
    return found


def may_list_decisions(text: str) -> bool:
    """Whether a heading such as "Decisions" may be there in any language: asked before the text's own is worked out."""
    return may_be_said(DECIDED_HEADINGS, text)


def listed_decisions(text: str, speakers: Sequence[Language]) -> list[Said]:
    """The items under a heading such as "Decisions": whoever wrote such a list said outright what was decided."""
    if not may_any_say(speakers, DECIDED_HEADINGS, text):
        return []
    items = listed_next(text, speakers, DECIDED_HEADINGS)
    settled = (item for item in items if not item.endswith(("?", "？")))
    return [Said(DECISION, item, 0.7) for item in settled if len(content_words(item)) >= 2]


def length(plain: str) -> int:
    """How long a sentence is to read: a sign of Chinese or Japanese counts twice."""
    return len(plain) if plain.isascii() else len(plain) + sum(map(len, _DENSE.findall(plain)))


def _read(sentence: str, known: Sequence[Language], kinds: Sequence[tuple[str, float, int]]) -> Said | None:
    plain = plain_text(sentence).replace("’", "'").strip()
    plain = _LOOSE_END.sub("", plain) if _may_tell(plain, known) else ""
    if len(plain) < 4 or _MESSAGE.search(plain):
        return None
    bare = QUOTED.sub("…", plain)
    asks = plain.endswith(("?", "？")) or any(language.pattern("asks").match(plain) for language in known)
    if len(plain) <= _LONGEST_SENTENCE:
        task = _asked_to_remind(plain, known) if asks else task_in(plain, known)
        if task:
            return Said(TASK, task, 0.85)
        kind = _small_kind(bare, known, asks=asks)
        if kind:
            return Said(kind, shorten(plain, LONGEST), _CONFIDENCE[kind])
    # "use TypeScript" names one thing and is enough; "let's do it" names none
    if asks or len(content_words(plain)) < (1 if plain.count(" ") >= 1 else 2):
        return None
    if NAMED_OPTION.search(plain) and not content_words(NAMED_OPTION.sub(" ", plain)):
        return None  # "let's go with option 3" is told with what the option is, or says nothing
    return _told(plain, bare, known, kinds)


def _may_tell(plain: str, known: Sequence[Language]) -> bool:
    """Whether a sentence may say anything of the kind: few do, and to tidy each would cost more than to ask."""
    if may_any_say(known, _ASKED, plain):
        return True
    bare = QUOTED.sub("…", plain)  # without its quotation it may be short enough for an expression that spans it
    return bare != plain and may_any_say(known, _ASKED, bare)


def _told(plain: str, bare: str, known: Sequence[Language], kinds: Sequence[tuple[str, float, int]]) -> Said | None:
    """What a sentence decides, short enough for a note without losing what it rules."""
    said = _decision(plain, bare, known, kinds)
    if said and len(plain) <= LONGEST_RULING:
        return said
    if not said and length(plain) <= _LONG and not begins_with_refusal(plain) and not _CONCLUDES.search(plain):
        return None
    ruled = _ruling(plain, known, said)
    if ruled or not said:
        return ruled
    # what is left must rule by itself: the words that did may be what was cut off
    text = whole_clauses(plain, LONGEST_RULING)
    left = _decision(text, QUOTED.sub("…", text), known, kinds) if text else None
    return Said(said.kind, text, said.confidence) if left else None


def _asked_to_remind(plain: str, known: Sequence[Language]) -> str | None:
    """ "Can you remind me to …?" asks for the same as "remind me to …"; any other question asks for an answer."""
    for language in known:
        lead = language.pattern("polite").match(plain)
        rest = plain[lead.end() :].strip("?？ ") if lead else ""
        if rest and language.pattern("task").match(rest):
            return task_in(rest, [language])
    return None


def _ruling(plain: str, known: Sequence[Language], whole_said: Said | None) -> Said | None:
    """What a sentence of several clauses rules: what stands behind a refusal, else its first clause that decides.

    People dictate, and decide on the way; a mere wish in passing is no decision.
    """
    if any(is_form(plain, one) for one in known):
        return None
    refused = ""
    refusal: Said | None = None
    opposed = False
    complains = any(one.says("trouble", plain) for one in known)
    for clause in clauses(plain, known):
        bare = clause.bare
        if any(language.pattern("asks").match(bare) for language in known):
            continue
        words = len(content_words(bare))
        least = 1 if clause.orders or _says("rule", bare, known) else 3
        said = _decision(clause.text, bare, known, _WITHOUT_WISHES) if words >= least else None
        if clause.refuses:
            opposed = True
            refused = refused if len(refused) > _SHORT_NO else clause.text
            refusal = refusal or said
        elif (words or len(refused) > _SHORT_NO) and (said or clause.orders):
            if not (opposed or _THEREFORE.match(bare)) and (complains or not said):
                continue
            text = together(refused, clause.text, LONGEST_RULING)
            kind, sure = (said.kind, said.confidence) if said else (DECISION, 0.7)
            if whole_said and (kind == DECISION or whole_said.kind == CONSTRAINT):
                kind, sure = whole_said.kind, max(sure, whole_said.confidence)
            if text:
                return Said(kind, text, sure)
            break
    text = whole_clauses(refusal.text, LONGEST_RULING) if refusal else ""
    return Said(refusal.kind, text, refusal.confidence) if refusal and text else None


def is_order(plain: str, known: Sequence[Language]) -> bool:
    """Whether a sentence says what is to be, be it as an order or as a request."""
    return any(clause.orders for clause in clauses(plain, known)) or any(
        one.pattern("shape").match(plain) or one.says("want", plain) for one in known
    )


def is_form(bare: str, language: Language) -> bool:
    """Whether a sentence says how one answer is to look; "always answer in Dutch" is a rule."""
    return language.says("form", bare) and not language.says("rule", bare)


def _decision(plain: str, bare: str, known: Sequence[Language], kinds: Sequence[tuple[str, float, int]]) -> Said | None:
    """A rule, a preference or a choice that is not only about the answer to its message."""
    said = _settled(plain, bare, known, kinds)
    if said and any(one.says("this_turn", bare) or _only_says_why(bare, one) or is_form(bare, one) for one in known):
        return None  # "don't change anything yet", "in one sentence"
    return said


def _settled(plain: str, bare: str, known: Sequence[Language], kinds: Sequence[tuple[str, float, int]]) -> Said | None:
    """What a sentence settles. "Change A to B" alone is work to be done once: it takes a contrast or a reason."""
    contrast = bool(_CONTRAST.search(bare))
    size = length(plain)
    if size <= _LONG and not _says("rule", bare, known) and _forbids(bare, known):
        return Said(CONSTRAINT, shorten(plain, LONGEST), _WITH_CONTRAST if contrast else WEAK_RULE)
    for kind, sure, longest in kinds:
        if size > longest or not _says(kind, bare, known) or (kind == "reject" and not _has_object(bare, known)):
            continue
        if kind in _RULES and any(one.says("trouble", bare) for one in known):
            continue  # "it does not work and must", "that always fails" complain
        if kind != "decide" or not contrast or not _only_reports(bare, known):
            confidence = max(sure, _WITH_CONTRAST) if contrast else sure
            return Said(CONSTRAINT if kind in _RULES else DECISION, shorten(plain, LONGEST), confidence)
    if size <= _LONGEST_PICK and _picks(bare, known):
        return Said(DECISION, shorten(plain, LONGEST), 0.7)
    if _says("edit", bare, known) and (contrast or any(language.says("reason", bare) for language in known)):
        return Said(DECISION, shorten(plain, LONGEST), 0.7)
    return None


def _only_says_why(bare: str, language: Language) -> bool:
    """Whether a clause is a reason ("because then there is no need for it") without what it is the reason for."""
    return language.pattern("reason").match(bare) is not None and not _COMMA.search(bare)


def _only_reports(bare: str, known: Sequence[Language]) -> bool:
    """Whether a contrast tells how things are ("it opens the list instead of the map") and not how they are to be."""
    for one in known:
        found = one.pattern("decide").search(bare)
        if found and _CONTRAST.search(found[0]) and one.says("report", bare):
            return not (one.pattern("shape").match(bare) or one.pattern("pick").match(bare) or one.says("want", bare))
    return False


def _has_object(bare: str, known: Sequence[Language]) -> bool:
    """Whether a refusal says what is refused: "no longer needed" alone tells nobody what."""
    rest = bare
    for language in known:
        rest = language.pattern("reject").sub(" ", rest)
    return bool(content_words(rest))


def _picks(bare: str, known: Sequence[Language]) -> bool:
    """Whether a sentence says outright what is to be used; "use curl to fetch it" tells how to do one thing."""
    return any(one.pattern("pick").match(bare) and not one.says("purpose", bare) for one in known)


def _forbids(bare: str, known: Sequence[Language]) -> bool:
    """Whether a sentence tells somebody not to do something: "I don't know" does not."""
    return any(
        one.may_say(_FORBID, bare) and one.says("forbid", bare) and not one.says("no_order", bare) for one in known
    )


def _small_kind(bare: str, known: Sequence[Language], *, asks: bool) -> str | None:
    """Whether a sentence goes beyond what was asked, takes something back or says that it works."""
    if _says("scope", bare, known):
        return SCOPE
    if asks or len(bare) >= _LONGEST_REMARK:
        return None
    return next((kind for kind in (REVERT, WORKS) if _says(kind, bare, known)), None)


def _says(kind: str, bare: str, known: Sequence[Language]) -> bool:
    """Whether a sentence holds a phrase of a kind; the fast look first, because most hold none."""
    return any(language.may_say((kind,), bare) and language.says(kind, bare) for language in known)


def task_in(plain: str, known: Iterable[Language]) -> str | None:
    """What a sentence asks to be kept for later."""
    for language in known:
        if not language.may_say(_CUE, plain) or not language.says("task", plain):
            continue
        for expression in language.patterns("task"):
            match = expression.match(plain) or (expression.search(plain) if len(plain) < _LONGEST_EXTRA * 2 else None)
            if not match:
                continue
            title = next((group for group in match.groups() if group), "").strip(" .,;:!+。！、")
            if len(title) >= 3 and content_words(title):
                return shorten(title, LONGEST)
    return None
