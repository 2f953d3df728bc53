"""What is in the way when a session stops: named as such, said to be impossible, reported by the user, failed.

Prose counts only near the end, and never a heading, a conditional or a quotation.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.closings import tells_deed
from jsonlstore.signals.conversation import ASSISTANT, USER
from jsonlstore.signals.finished import says_done
from jsonlstore.signals.labels import labelled
from jsonlstore.signals.language import may_any_say, recognise, small_kinds
from jsonlstore.signals.offers import Opened, open_rows, spoken_languages
from jsonlstore.signals.outcome import last_error
from jsonlstore.signals.sentences import own_sentences, plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language

LABELS_REACH = REFUSALS_REACH = 3  # exchanges
_MET = ("cannot", "refused")
_UNMARKED = str.maketrans({"*": None, "`": None, "’": "'"})
_OPENING = 60
_LONGEST = 260
_SHORTEST = {"cannot": 15, "refused": 8}  # fewer signs say "I cannot" of anything
_LEAST_ASKED = 3
_LONG_REPORT = 110
_LONGEST_REPORT = 240
_HEAD = 600
_LONGEST_LABEL = 40
_FEW_WORDS = 4  # of an item that says little without what it is about
_ITEM = re.compile(r"\s*(?:[-*+•–]|\d{1,2}[.)])\s")
_ERROR_REACH = 4  # exchanges
_ERROR_HEAD = 2_000
# in the words of programs, whatever language people speak
_SAYS_WRONG = re.compile(
    r"(?i)\b(?:timed? ?out|fail(?:ed|ure)|unavailable|refused|denied|unauthori[sz]ed|forbidden|not found|cannot|could not|unable to|invalid|missing|unexpected|exception|errors?|aborted|unreachable|unsupported|[45]\d\d)\b"
)
_UNINDENTED = re.compile(r"^[ \t│├└⎿⏺●]+", re.MULTILINE)  # what people copy from a page or a terminal is set in
_MENDED = re.compile(
    r"(?<!not )(?<!n't )\b(?:fixed|resolved|solved|behoben|gefixt|gelöst|corregid[oa]s?|solucionad[oa]s?|arreglad[oa]s?|corrig(?:é|ée|és|ées)|réparée?s?|résolue?s?|corrigid[oa]s?|resolvid[oa]s?|risolt[oaie]|corrett[oaie])\b|исправ(?:ил|лен)|починил|виправ(?:ив|лен)|已(?:经)?(?:修复|解决|修正)|修正しました|解決しました|修复(?:了|完成)|수정(?:했|하였|완료)|해결(?:했|됐|되었)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[,;，；]\s*|\b(?:however|but|though|aber|jedoch|pero|aunque|mais|cependant|mas|porém)\s+|(?<!\w)(?:но|однако|але)\s+",
    re.IGNORECASE,
)


def in_the_way(talk: Sequence[Exchange], at: int, language: Language | None) -> list[Opened]:
    """What is in the way at the end: labelled as such by either side, or said in the closing message."""
    found = labelled_lately(talk, "block_label", language, (USER, ASSISTANT))
    closing = talk[at].closing
    if closing:
        back = len(talk) - 1 - at
        spoken = spoken_languages(closing.text, language)
        stuck = [row for row in open_rows(closing.text, spoken) if any(one.says("cannot", row) for one in spoken)]
        mended = talk[at].changed and _MENDED.search(closing.text) is not None
        unable = () if _explains(talk[at], language) else _inabilities(talk[at], spoken, mended=mended)
        for said in (*stuck[:2], *unable):
            found.append(Opened(said, closing.id, closing.at, back, closing.turn, "said", 0.75))
        if not unable:
            found += _put_aside(talk, at, language)
    last = talk[at]
    if not last.changed and not _says_mended(last):
        answered = last.called and last.last.ends_with == "said" and not (last.last.aborted or last.last.error)
        found += _reported_trouble(last.user, spoken_languages(last.user.text, language), answered=answered)
    return found


def _explains(one: Exchange, language: Language | None) -> bool:
    """Whether an answer explains something it was asked, without a tool: what cannot be is told there, not met."""
    if one.called:
        return False
    return any(known.says("explain", one.user.text[:_HEAD]) for known in spoken_languages(one.user.text, language))


def _says_mended(one: Exchange) -> bool:
    """Whether the answer opens with its being fixed; that is believed until somebody says otherwise."""
    opening = one.closing.text[:_HEAD] if one.closing and one.closing is one.last else ""
    return _MENDED.search(opening) is not None


def _reported_trouble(moment: Moment, known: Sequence[Language], *, answered: bool) -> list[Opened]:
    """What the user says does not work, where nothing was changed since; who asked why and was `answered` knows it."""
    said = (plain_text(one).replace("’", "'") for one in own_sentences(moment.text))
    return [
        Opened(shorten(_trouble_itself(one, known), 160), moment.id, moment.at, 0, moment.turn, "reported", 0.75)
        for one in said
        if not (answered and one.endswith(("?", "？")))
        and (15 if one.isascii() else 6) <= len(one) <= 260
        and any(language.says("trouble", one) for language in known)
    ][:2]


def _trouble_itself(sentence: str, known: Sequence[Language]) -> str:
    """Of a long sentence the clause that tells the trouble: what stands before it is cut off first when it is shown."""
    found = next((match for one in known if (match := one.pattern("trouble").search(sentence))), None)
    if found is None or len(sentence) <= _LONG_REPORT:
        return sentence
    begins = [clause.end() for clause in _CLAUSE.finditer(sentence, 0, found.start())]
    rest = sentence[begins[-1] :] if begins else sentence
    return rest if len(content_words(rest)) >= 3 else sentence


def labelled_lately(
    talk: Sequence[Exchange], kind: str, language: Language | None, who: tuple[str, ...]
) -> list[Opened]:
    """What either side named outright by a label, in the last exchanges."""
    found: list[Opened] = []
    for back, exchange in enumerate(reversed(talk[-LABELS_REACH:])):
        for moment in (exchange.closing, exchange.user):
            if moment is not None and moment.text and moment.who in who:
                said = labelled(moment.text, kind, spoken_languages(moment.text, language))
                by_user = moment.who == USER
                found += [
                    Opened(one, moment.id, moment.at, back, moment.turn, "labelled", 0.8, by_user) for one in said
                ]
    return found


def _put_aside(talk: Sequence[Exchange], at: int, language: Language | None) -> list[Opened]:
    """What could not be done a few requests ago, where the user went on to something else and never came back to it."""
    since: list[str] = []
    for place in range(at - 1, max(at - 1 - REFUSALS_REACH, -1), -1):
        since.append(talk[place + 1].user.text[:_HEAD])
        one, closing = talk[place], talk[place].closing
        if closing is None or closing is not one.last or _explains(one, language):
            continue
        unable = _inabilities(one, spoken_languages(closing.text, language), ("refused",), mended=one.changed)
        if unable:
            asked = content_words(one.user.text[:_HEAD])
            for said in since:
                words = content_words(said)
                again = words & content_words(unable[0]) or len(words & asked) > 1
                if again or len(words) < _LEAST_ASKED or _settles(said, spoken_languages(said, language)):
                    return []
            return [Opened(unable[0], closing.id, closing.at, at - place, closing.turn, "said", 0.7)]
    return []


def _settles(said: str, known: Sequence[Language]) -> bool:
    """Whether a later request says that something is settled, to be tried again, or to be done in another way."""
    clauses = [part for one in own_sentences(said) for part in _CLAUSE.split(plain_text(one).replace("’", "'"))]
    return any(
        (" " in clause and small_kinds(clause) == {"nudge"})
        or any(one.pattern("deed").match(clause) or one.says("decide", clause) for one in known)
        for clause in clauses
    )


def _inabilities(
    one: Exchange, known: Sequence[Language], kinds: Sequence[str] = _MET, *, mended: bool = False
) -> list[str]:
    """Sentences of a closing message that say what cannot be done, or what was refused: no heading, question, condition
    or quotation, and not what happens to somebody else.

    Where something was `mended`, what stands below or behind "Cause:" is what was in the way before.
    """
    text = one.closing.text if one.closing else ""
    # asked of a message first: hardly any tells of such things
    if _MENDED.search(text[:_OPENING]) or not may_any_say(known, _MET, text.translate(_UNMARKED)):
        return []
    if not one.called and one.user.text.rstrip().endswith(("?", "？")):  # it tells how things are, not what was met
        kinds = [kind for kind in kinds if kind != "refused"]
    found = []
    of_cause = False
    label = ""  # of the list an item stands in
    for line in prose_lines(text):
        plain = plain_text(line)
        is_item = _ITEM.match(line) is not None
        if not is_item:
            label = plain.replace("：", ":").partition(":")[0]
        if _heads(plain, line):
            of_cause = mended and any(each.says("cause_label", plain[-_LONGEST_LABEL:]) for each in known)
        if of_cause or line.lstrip().startswith(("#", "|", ">")):
            continue
        if mended and any(each.pattern("cause_label").match(plain) for each in known):
            continue
        for sentence in sentences(line):
            plain = plain_text(sentence).replace("’", "'")
            if _tells_met(plain, kinds, known):
                bare = is_item and label and len(label) <= _LONGEST_LABEL and len(content_words(plain)) <= _FEW_WORDS
                found.append(shorten(f"{label}: {plain}" if bare else plain, 160))
    return found[:2]


def _tells_met(plain: str, kinds: Sequence[str], known: Sequence[Language]) -> bool:
    """Whether a sentence says in one of the kinds what was met; a question or a few signs say nothing."""
    if len(plain) > _LONGEST or plain.endswith(("?", "？", ":")) or len(content_words(plain)) < 2:
        return False
    return any(_is_met(plain, kind, each) for each in known for kind in kinds if len(plain) >= _SHORTEST[kind])


def _is_met(sentence: str, kind: str, language: Language) -> bool:
    """Whether a sentence tells of something met just now: not of a case, of others, in quotes, or got over since."""
    match = language.pattern(kind).search(sentence)
    if match is None:
        return False
    told_off = language.pattern("conditional").match(sentence) or language.says("hedge", sentence)
    if told_off or _got_over(sentence, language):
        return False
    before, rest = sentence[: match.start()], sentence[match.end() :]
    if language.says("whoever", sentence[: match.end()]) or before.count('"') % 2:
        return False
    if kind == "cannot":
        return True
    mended = says_done(rest, language) or language.says("deed", rest) or language.says("works", rest)
    return not (mended or language.says("conditional", before))


def _heads(plain: str, line: str) -> bool:
    """Whether a line is a heading or leads on to others."""
    return line.lstrip().startswith("#") or plain.endswith((":", "："))


def _got_over(sentence: str, language: Language) -> bool:
    """Whether a sentence goes on to say that it went well: "I could not run it at first, but now it passes"."""
    but = language.pattern("but").search(sentence)
    rest = sentence[but.end() :] if but else ""
    return bool(rest) and (language.says("works", rest) or language.says("done", rest))


def reported_error(talk: Sequence[Exchange], language: Language | None = None) -> Opened | None:
    """The error a user pasted with one of the last requests; an earlier one while the work on it goes on."""
    for back, one in enumerate(reversed(talk[-_ERROR_REACH:])):
        error = _pasted_error(one.user.text) if "\n" in one.user.text else ""
        if not error:
            if _says_works(one.user, language):
                return None
            continue
        cut_off = one.last.aborted or one.last.ends_with != "said"
        if back:  # explained, and nobody did anything since
            since = [each for exchange in talk[-1 - back :] for each in (exchange.user, *exchange.answers)]
            cut_off = (back == 1 and cut_off) or (back == 1 and not any(each.changes for each in since))
            cut_off = cut_off or _goes_on(error, one.user.text, talk[-1])
        if back == 0 or cut_off:
            return Opened(error, one.user.id, one.user.at, back, one.user.turn, "reported", 0.75)
    return None


def _pasted_error(text: str) -> str:
    """The last line of what a user pasted that names an error; else what they put below "the error is:"."""
    found = last_error(_UNINDENTED.sub("", text))
    if found:
        return found
    led = False
    for line in text[:_ERROR_HEAD].split("\n"):
        plain = line.strip()
        if led and plain and len(plain) <= _LONGEST and _is_a_program_s(plain):
            return plain
        led = (plain.endswith((":", "：")) and not _asks_meaning(plain)) if plain else led
    return ""


def _is_a_program_s(line: str) -> bool:
    """Whether a line names an error as programs do: in English, or with the error before a colon; people write of them."""
    wrong = _SAYS_WRONG.search(line)
    if wrong is None:
        return False
    own = recognise(line)
    return own is None or own.code == "en" or ":" in line[wrong.start() : wrong.end() + _LONGEST_LABEL]


def _asks_meaning(lead: str) -> bool:
    """Whether what leads on to a quotation asks what it means."""
    return any(one.says("explain", lead.replace("’", "'")) for one in spoken_languages(lead, None))


def _says_works(said: Moment, language: Language | None) -> bool:
    return len(said.text) <= _LONGEST_REPORT and any(
        known.says("works", said.text.replace("’", "'")) for known in spoken_languages(said.text, language)
    )


def _goes_on(error: str, pasted: str, last: Exchange) -> bool:
    """Whether a request that was cut off is still about an error: it names what stood around it."""
    if last.last.ends_with == "said" and not last.last.aborted:
        return False
    about = content_words(error) | content_words(pasted[:_LONGEST])
    return len(about & content_words(last.user.text[:_HEAD])) > 1


def failed_before(one: Exchange | None, language: Language | None) -> bool:
    """Whether an answer says of a failure that it was there before, or belongs to something else."""
    text = one.closing.text if one and one.closing else ""
    return any(known.says("not_ours", text) for known in spoken_languages(text, language)) if text else False


def did_themselves(said: Moment, language: Language | None) -> bool:
    """Whether the user's words report something done."""
    return len(said.text) <= _LONGEST_REPORT and any(
        tells_deed(plain_text(sentence), known) or says_done(plain_text(sentence), known)
        for known in spoken_languages(said.text, language)
        for sentence in own_sentences(said.text)
    )
