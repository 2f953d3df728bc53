"""Which words name a thing: topics are nouns of the work, not what was done to them, nor how, nor when.

There is no dictionary here. A table of English verbs with their endings, adverbs by theirs, and what other languages
show in a word's form: German writes its nouns with a capital, Romance and Slavic languages mark their verbs.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

from jsonlstore.core import expressions as re
from jsonlstore.signals.background import GENERIC, VERBS

_LEAST_ADVERB = 7
_LEAST_PARTICIPLE = 5
_LEAST_UNACCENTED = 3
_NOUNS_IN_ED = frozenset({"embed", "infrared", "hundred", "moped", "biped", "shred"})
_NOUNS_IN_LY = frozenset({"assembly", "butterfly", "anomaly", "monopoly", "bitly", "homily", "panoply"})
# the verbs people tell agents what to do with in Spanish and Portuguese, in the forms that no noun has
_TELLING = (
    "revis analis analiz gener realiz actualiz atualiz agreg adicion cambi mud alter elimin borr quit ejecut execut "
    "inici termin mostr muestr mejor melhor arregl implement configur instal guard envi descarg baix llam cham utiliz "
    "necesit precis confirm continu esper ayud ajud copi organiz optimiz ignor prepar aument reduz calcul compar cri "
    "funcion habilit deshabilit edit detall"
)
_TOLD = "as an am ar ado ada ados adas amos en em emos ou ei ó é aste aron aram ará aré ame alo arlo arla aría aria"
_VERBAL = re.compile(
    rf"""(?:
        [a-záéíóúñãõç]{{3,}}(?:ando|iendo|yendo|mente)            # Spanish, Portuguese: doing, in a manner, to do
      | [a-záéíóúñãõç]{{2,}}(?:izar|ificar|ecer|erar|orar|entar|icar|uzir)(?:lo|la|los|las|me|nos)?
      | (?:{_TELLING.replace(" ", "|")})(?:{_TOLD.replace(" ", "|")})
      | (?:expli|verifi|modifi|bus|colo|publi|indi|apli)(?:c[ao]|cas|cam|cou|cad[ao]|que|ques|quem?|qué|quei)
      | (?:correg|corrig|escrib|escrev|permit|defin|inclu|segu|hac|faz)(?:ir|er|e|a|as|es|id[ao]|ió|iu|imos|emos|en|em)
      | [a-zàâçéèêëîïôûù]{{2,}}(?<!ch)(?<!n)ez                      # French: you do
      | [а-яёіїєґ]{{3,}}(?:(?<!и)(?<!ц)(?:лю|аю|яю|ую|ею)|ємо|имо)    # I do, we do
      | [а-яёіїє]{{3,}}(?:ать|ять|ить|уть|ться|тся|йте|ите|ьте|ешь|ишь|ют|или|али|уй|ай|ити|ати)
      | (?:[가-힣]+하되|것[은는이을도])
      | [가-힣]+(?:해줘|합니다|하는|했어|하고|되는|됩니다|해서|하면|해야|세요|어요|아요|습니다|줘)
    )""",
    re.VERBOSE,
)
_FRENCH_PARTICIPLE = re.compile(r"ée?s?\Z")
_NAMES_IN_VERBAL_FORM = frozenset(
    {
        "modular",
        "regular",
        "неделю",
        "землю",
        "память",
        "печать",
        "кровать",
        "нить",
        "случай",
        "трамвай",
        "урожай",
        "профили",
        "модули",
    }
)
# a German word in small letters that ends so is a verb or says how something is
_SMALL_GERMAN = re.compile(
    r"[a-zäöüß]{3,}(?:en|end|chern|dern|nern|eln|lich|[bdklnrstz]ig|isch|iert)"
    r"|(?:ab|an|auf|aus|ein|um|vor|zu)?(?:ge|ver|be|er|zer|ent)[a-zäöüß]{2,}t"
)


@lru_cache(maxsize=1 << 14)
def names_nothing(word: str) -> bool:
    """Whether a lower-cased word is one of the work itself, of small talk, a verb or an adverb."""
    if word in _common():
        return True
    if word.isascii() and word.isalpha():
        if word.endswith("ly") and len(word) >= _LEAST_ADVERB and word not in _NOUNS_IN_LY:
            return True
        if word.endswith("ed") and len(word) >= _LEAST_PARTICIPLE and word[-3] != "e" and word not in _NOUNS_IN_ED:
            return True
        if not VERBS.isdisjoint(_bases(word)):
            return True
    participle = _FRENCH_PARTICIPLE.search(word)  # of an English verb: "mergée"
    if participle and not VERBS.isdisjoint(_bases(word[: participle.start()] + "ed")):
        return True
    return _VERBAL.fullmatch(word) is not None and word not in _NAMES_IN_VERBAL_FORM


def is_small_german(word: str) -> bool:
    """Whether a word that never had a capital is no noun in German, where nouns have one."""
    return _SMALL_GERMAN.fullmatch(word) is not None


@cache
def _common() -> frozenset[str]:
    """Words that say nothing of what a session was about: those of the work itself, and every language's small talk."""
    from jsonlstore.signals.language import languages  # a session start asks for no topics

    small = ("words", "generic", "yes", "no", "nudge", "talk")
    talk = (one for language in languages().values() for kind in small for one in language.phrases(kind))
    words = GENERIC | frozenset(word for phrase in talk for word in phrase.lower().split())
    accented = (word for word in words if not word.isascii())
    return words | frozenset(map(_without_accents, accented))  # "nao", "tambem", "esta": many type none


def _without_accents(word: str) -> str:
    """A word in Latin letters as those type it who leave the accents out; any other as it is."""
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain if plain.isascii() and len(plain) >= _LEAST_UNACCENTED else word


def _bases(word: str) -> set[str]:
    """What an English word may be a form of: "integrates", "integrated" and "integrating" of "integrate"."""
    bases = {word}
    for ending in ("s", "es", "d", "ed", "ing"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            bases |= {stem, stem + "e"}
            if len(stem) > 3 and stem[-1] == stem[-2]:
                bases.add(stem[:-1])
    if word.endswith(("ies", "ied")):
        bases.add(word[:-3] + "y")
    return bases
