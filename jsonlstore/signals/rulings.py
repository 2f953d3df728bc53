"""The part of a long sentence that rules: people say first what they do not want, and at the end what is to be done.

What is told of a sentence keeps its ruling clause whole. Cut at a length, "I don't want X because …, use Y instead"
would tell of X alone.
"""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jsonlstore.core import expressions as re
from jsonlstore.signals.language import HANGUL, KANA
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonlstore.signals.language import Language

QUOTED = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|„[^“”\n]{1,200}[“”]|«[^»\n]{1,200}»|`[^`\n]{1,200}`")
_FIRST_HELD = 0xE000
_HELD = re.compile("[\ue000-\uf8ff]")  # a sign of nobody's stands for a quotation: its commas end no clause
_WHY = r"because|since|weil|denn|porque|ya que|parce qu[e'’]\w*|car|puisqu[e'’]\w*|pois|já que|perché|poiché|dato che|потому что|так как|поскольку|тому що|бо|оскільки"
# a clause ends at a mark, and where a reason begins
_CLAUSE_END = re.compile(
    rf"[,;:，；：](?=\s|[^\x00-\x7f])\s*|(?<=[^\x00-\x7f])[,;:](?=[^\x00-\x7f])|、|\s[–—-]\s|\s(?=(?:{_WHY})\s)",
    re.IGNORECASE,
)
_REASON = re.compile(rf"(?:{_WHY})(?!\w)|que (?:la|el|los|las)(?!\w)|因为|因為|由于|而且", re.IGNORECASE)
# a word that turns what stands beside it: a part of a sentence without it may say the opposite of the whole
_TURNS = re.compile(
    r"n't(?!\w)|(?<!\w)(?:not|no|never|without|unless|until|except|instead|but|only|rather|nor|than|nicht|kein\w*|nie|niemals|ohne|außer|sondern|statt|aber|nur|no|nunca|sin|salvo|excepto|sino|pero|s[oó]lo|pas|jamais|sans|sauf|mais|rien|aucun\w*|plutôt|seulement|uniquement|não|sem|exceto|mas|só|apenas|non|mai|senza|tranne|ma|solo|invece|не|нет|никогда|без|кроме|но|только|вместо|ні|ніколи|крім|але|лише|тільки|замість)(?!\w)|[不别別非除但]|而是",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"(?:(?:(?:please|bitte|por favor|stp|пожалуйста|будь ласка|but|aber|and|so|ok(?:ay)?),? )*)"
    r"(?:(?:no|nope|nein|nee|non|não|нет|ні|いいえ|いや|아니요?|不)$|(?:not|nicht|pas|non|не) (?!sure|bad|sicher|schlecht)|instead of|rather than|(?:an)?statt|en (?:vez|lugar) de|au lieu d|plutôt que|em vez d|ao invés d|invece d|al posto d|вместо|замість|不是"
    r"|forget (?:about )?|skip |i(?:'d| would) not|(?:please )?(?:don'?t|do not) "
    r"|i(?:'m| am) not happy|i (?:do not|don'?t) like|.{0,20}gefällt (?:mir )?(?:\S+ )?nicht|no me gusta|je n'aime pas|não gosto|non mi piace|мне не нравится|мені не подобається|我不喜欢|不喜欢)",
    re.IGNORECASE,
)
_BARE_NO = re.compile(r"(?:no|nope|nein|nee|non|não|нет|ні|いいえ|いや|아니요?|不)$", re.IGNORECASE)
# what a clause begins with that is a part of the one before it
_SUBORDINATE = re.compile(
    r"(?:dass|ob|which|who|whose|where|qui|che|чтобы|что|котор\w+|щоб|що|яки?\w*)(?!\w)", re.IGNORECASE
)
# when or in which case the clause behind it holds: alone it rules nothing
_LEADS_ON = re.compile(
    r"(?:(?:and|but|so|also|und|aber|y|pero|et|mais|e|ma|и|но|та|і),? )?(?:(?:after|before|once|when(?:ever)?|(?:every|each) time|as soon as|while|if|on every|for (?:each|every)"
    r"|nach(?:dem)?|vor|bevor|sobald|solange|(?:immer )?wenn|jedes ?mal|falls|bei jede[mrn]|después de|antes de|cuando|cada vez que|en cuanto|mientras|si"
    r"|après|avant|quand|lorsqu[e'’]|chaque fois|dès qu[e'’]|depois|quando|sempre que|assim que|se|dopo|prima|ogni volta|appena"
    r"|после|перед|до того|когда|каждый раз|как только|если|після|коли|щоразу|щойно|якщо)(?!\w)|每次|每当|如果|当|若)|.*(?:時に?|とき(?:に|は)?|たら|なら|場合(?:は|に)?|면|때(?:마다)?|(?:하기 )?전에|후에?|之前|之后|以后)$",
    re.IGNORECASE,
)
_REFUSES_LATE = re.compile(r"(?:지 ?말고|말고|ではなく|じゃなくて|ないで|やめて)$")
_POINTS_BACK = re.compile(
    r"(?<!\w)(?:it|them|that|those|this|these|there|one|es|sie|ihn|das|damit|lo|la|los|las|le|les|ça|ele|ela|его|её|их|це|їх|його)(?!\w)|[它这]|-(?:le|la|les)(?!\w)",
    re.IGNORECASE,
)
_MOST_READ = 600
_LEAST_WORDS = 3
_LEAST_KEPT = 2
_LEAST_ROOM = 40  # characters in which a refusal still says what it refuses


class Clause(NamedTuple):
    """A clause of a sentence with what hangs on it; whether it refuses something, and whether it gives an order."""

    text: str
    bare: str  # without what it quotes
    refuses: bool
    orders: bool


def begins_with_refusal(sentence: str) -> bool:
    """Whether a sentence begins with what is not wanted: what is wanted may stand behind it."""
    first = _CLAUSE_END.split(sentence[:_MOST_READ], maxsplit=1)[0]
    return _REFUSES.match(first) is not None


def clauses(sentence: str, known: Sequence[Language]) -> Iterator[Clause]:
    """The clauses of a sentence in order, without its reasons."""
    quoted = QUOTED.findall(sentence)
    held = QUOTED.sub(lambda match: chr(_FIRST_HELD + quoted.index(match[0])), _HELD.sub(" ", sentence))
    for part in _main_clauses(held[:_MOST_READ]):
        text = _HELD.sub("…", part)
        refuses = bool(_REFUSES.match(text) or _REFUSES_LATE.search(text)) or any(
            one.says("reject", text) for one in known
        )
        whole_text = _HELD.sub(lambda match: quoted[ord(match[0]) - _FIRST_HELD], part)
        yield Clause(whole_text, text, refuses, not refuses and any(_orders(text, one) for one in known))


def _main_clauses(sentence: str) -> Iterator[str]:
    """The clauses that stand for themselves, each with the one that says what it is about."""
    kept = ""
    for part in _CLAUSE_END.split(sentence):
        text = part.strip()
        if not text or _REASON.match(text):
            continue
        if kept and (_SUBORDINATE.match(text) or _LEADS_ON.match(kept)):
            kept = f"{kept}, {text}"
            continue
        if kept:
            yield kept
        kept = text
    if kept:
        yield kept


def _orders(text: str, language: Language) -> bool:
    """Whether a clause begins with an order; where verbs stand last, ends with one."""
    expression = language.pattern("order")
    if language.script in {KANA, HANGUL}:
        return expression.search(text) is not None
    return expression.match(text) is not None


def together(refused: str, ruled: str, most: int) -> str:
    """What rules, behind what it replaces where there is room; empty where it would not say what it is about."""
    both = f"{refused}, {ruled}" if refused and not _BARE_NO.match(refused) else ruled
    if len(both) <= most:
        return both
    if len(content_words(ruled)) < (_LEAST_WORDS if _POINTS_BACK.search(ruled) else 1):
        room = most - len(ruled) - 1
        return f"{shorten(refused, room)} {ruled}" if room >= _LEAST_ROOM and not _BARE_NO.match(refused) else ""
    return whole_clauses(ruled, most)


def whole_clauses(said: str, most: int) -> str:
    """`said` in so many characters, cut between words or clauses; empty if what is cut off may turn what is left."""
    text = " ".join(said.split())
    if len(text) <= most:
        return text
    cut = shorten(text, most)
    # where words are not parted, the verb stands last
    if " " in cut and not _TURNS.search(text[len(cut) - 1 :]):
        return cut
    kept = max((end.start() for end in _CLAUSE_END.finditer(text, 0, most)), default=0)
    rest = [part for part in _CLAUSE_END.split(text[kept:]) if part and not _REASON.match(part.strip())]
    if kept and len(content_words(text[:kept])) >= _LEAST_KEPT and not any(map(_TURNS.search, rest)):
        return text[:kept] + "…"
    return ""
