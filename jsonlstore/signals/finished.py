"""Whether a sentence says that something is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.language import CYRILLIC, HANGUL, KANA, languages, recognise

if TYPE_CHECKING:
    from jsonlstore.signals.language import Language

_DENIED = 12  # signs behind a verb in which it is denied
_CLAUSE = re.compile(r"[,;.]|\bbut\b|\baber\b|\bpero\b|\bmais\b")
_CLAUSE_BEHIND = re.compile(r"[,.。、\s]{2,}|[.。、]")


def says_done(sentence: str, spoken: Language | None = None) -> bool:
    """Whether a sentence says that something is finished, in the language spoken or the one it shows, else English."""
    plain = sentence.replace("’", "'")
    if plain.rstrip().endswith(("?", "？")):
        return False
    language = spoken or recognise(plain) or languages()["en"]
    for match in language.pattern("done").finditer(plain):
        clause = _CLAUSE.split(plain[: match.start()])[-1]
        if not language.says("not_done", clause) and _stands(match, language):
            return True
    return False


def _stands(match: re.Match[str], language: Language) -> bool:
    """Whether a word for "done" is that word and is not denied behind: Russian nouns begin like it ("выполнение"),
    and where verbs stand last, so does "not"."""
    rest = match.string[match.end() :]
    if language.script == CYRILLIC:
        return not rest[:1].isalpha()
    return language.script not in {KANA, HANGUL} or not language.says(
        "not_done", _CLAUSE_BEHIND.split(rest)[0][:_DENIED]
    )
