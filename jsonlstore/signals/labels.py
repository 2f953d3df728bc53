"""What stands behind a label in a message: "Blocked: waiting for the key", "NEXT STEP: …"."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.sentences import plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.signals.language import Language

_LONGEST = 160
_LABEL = re.compile(r"^[\s>*_#-]*+([^\n:：]{2,40}?)[*_]*+\s*+[:：]\s*+(?:[*_]++\s*+)?(\S.*)$")
_CAPITALS = re.compile(r"(?<!\w)((?:[^\W\d_a-zà-öø-ÿа-яёіїє]{4,}(?:\s|:|$)\s?){1,3})")


def labelled(text: str, kind: str, speakers: Iterable[Language]) -> list[str]:
    """What stands behind a label of a kind ("Blocked: waiting for the key", "NEXT STEP: …"), one text each."""
    known = list(speakers)
    found = []
    for label, words in _labels(text):
        if not any(language.pattern(kind).fullmatch(label) for language in known):
            continue
        said = plain_text(words).strip(" .:")
        if len(said) >= 6 and content_words(said):
            found.append(shorten(said, _LONGEST))
    return list(dict.fromkeys(found))


@lru_cache(maxsize=32)  # the last messages are asked for several kinds of label, one after the other
def _labels(text: str) -> tuple[tuple[str, str], ...]:
    """The labels of a message in small letters, each with what stands behind it."""
    pairs: list[tuple[str, str]] = []
    for line in prose_lines(text):
        if ":" in line or "：" in line:
            said = [(match[1], match[2]) for sentence in sentences(line) if (match := _LABEL.match(sentence))]
            # a heading may name what is meant ("## Next: wire the relay"); "## Blocked: rights" merely announces it
            is_heading = line.lstrip().startswith("#")
            pairs += [one for one in said if not is_heading or len(content_words(one[1])) >= 2]
        pairs += _shouted(line)
    return tuple((plain_text(label).strip().lower(), words) for label, words in pairs)


def _shouted(line: str) -> list[tuple[str, str]]:
    """The parts of a status report written in one line, each behind a label in capitals."""
    parts = _CAPITALS.split(line)
    if len(parts) < 5:  # one word in capitals is emphasis
        return []
    return list(zip(parts[1::2], parts[2::2], strict=False))
