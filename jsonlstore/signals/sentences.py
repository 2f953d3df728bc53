"""From a message to the sentences a person or an agent said in it: no code, no logs, no quotations."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST_SENTENCE = 600
_LINE_HEAD = 200  # what a line is shows at its beginning; looking further would cost time on hostile input

FENCES = ("```", "~~~")
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n]*\n.*?(?P<end>^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_LINE = re.compile(r"\s|--|\Z")  # indented, a comment in SQL, or empty
_THINKING = re.compile(r"<(think(?:ing)?)>.*?(?:</\1>|\Z)", re.DOTALL)
# of a very long message its beginning and end are read: that is where people and agents say what matters
_READ_HEAD, _READ_TAIL = 12_000, 4_000
_OPENING = 800
_LONGEST_CODE = 100  # of a block that the line above it names
_LOG_LINE = re.compile(
    r"""\s*(?:
        [│├└┌╭╰┃⎿⏺] | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \w{3}\s+\d{1,2}\ \d\d:\d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|ERR|FAILED|PASSED|OK|FAIL|PASS)\b[\]:\s]
      | (?:FAILED|PASSED|ERROR)\ \S+::
      | Traceback\b | File\ "[^"]+",\ line | at\ [\w.$<>]+\s?\(.*\) | at\ (?:async\ )?\S+:\d+ | npm\ (?:ERR|error|WARN)
      | [\w.]*(?:Error|Exception|Warning|Panic)(?:\ \[\w+\])?:\ | (?:error|warning)(?:\[\w+\]|\ TS\d+)?:\ \S
      | thread\ '[^']*'\ panicked | Caused\ by: | goroutine\ \d+ | panic: | fatal: | make(?:\[\d+\])?:\ | E\ {3}
      | \$\ | >>>\  | \#\ ?[$!] | PS\ [A-Z]:\\
      | (?:[\w.-]{1,40}@[\w.-]{1,40}\ )?[A-Za-z]:\\[^<>|?*"\n]{0,80}> | \w+@[\w.-]+:[^\s]*[$#]\ | root@
      | \d{1,5}\ (?:[-+]\ {2}|\ {3})
      | [+-]{3}\ [ab]?/ | @@\ | diff\ --git | index\ [0-9a-f]{7}
      | [{}\]<|] | \[["'\d{\[] | "[\w-]+"\s*:
      | (?:import|from|const|let|var|def|class|return|function|public|private|if|for|while)\b [^.!?]*[;{(:=]\s*\S*$
      | \S+:\d+(?::\d+)?:
      | =+\ .*\ =+$ | -{4,} | ={4,} | (?:\d+\ (?:passed|failed|skipped|errors?|warnings?)\b[, ]*)+
    )""",
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*(?:[-*+•–]\s+|\d{1,3}[.)]\s+|\d{1,2}、\s*|#{1,6}\s+)?(?:\[[ xX]\]\s+)?")
# ends where the group begins; all marks in one class, because that is what a search runs ahead by
_SENTENCE_END = re.compile(r"[.!?…。！？](?:(?<=[。！？])|([\"')\]*_”“]*\s+)(?=\S))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|z\.b|d\.h|bzw|ca|approx|resp|Mr|Dr|No|Nr|fig|cf|usw)|\b[A-Za-z])\.$", re.IGNORECASE
)
_LONGEST_ABBREVIATION = 9  # with its dot and a character before it


def without_code(text: str) -> str:
    """`text` without its fenced blocks, whatever language they are in."""
    backticks, tildes = FENCES
    if backticks not in text and tildes not in text:
        return text
    return _FENCE.sub("\n", text)


def with_named_code(text: str, most: int) -> str:
    """`text` in which the first line of a block stands behind the words that name it ("Run the command:").

    At most so many blocks are named; another such line is left out: without its block it says nothing.
    """
    if not any(fence in text for fence in FENCES):
        return text
    kept: list[str] = []
    in_code = False
    named = 0
    waiting = -1  # the line that waits for its block's first one
    for line in text.split("\n"):
        plain = line.strip()
        if plain.startswith(FENCES):
            in_code = not in_code
            last = next((at for at in range(len(kept) - 1, -1, -1) if kept[at].strip()), -1)
            waiting = last if in_code and last >= 0 and kept[last].rstrip(" *_`").endswith((":", "：")) else -1
            if waiting >= 0 and named == most:
                kept.pop(waiting)
                waiting = -1
        elif not in_code:
            kept.append(line)
        elif waiting >= 0 and plain:
            kept[waiting] = f"{kept[waiting].rstrip(' *_`')} {plain[:_LONGEST_CODE]}"
            named, waiting = named + 1, -1
    return "\n".join(kept)


def without_open_fence(text: str) -> str:
    """`text` without the code of a fence that nobody closed: a prompt copied from a page often goes on behind it.

    Its code lasts until a blank line at least; from there on it is the lines that are set in, and others are prose.
    """
    if not any(fence in text for fence in FENCES):
        return text
    block = next((one for one in _FENCE.finditer(text) if not one["end"]), None)
    if block is None:
        return text
    _, _, rest = block[0].partition("\n\n")
    return text[: block.start()] + "\n".join(line for line in rest.split("\n") if not _CODE_LINE.match(line))


_ERROR_LINE = re.compile(
    r"^[ \t]*+(?:[\w.]*(?:Error|Exception)\b:? |(?:Uncaught|Unhandled|Traceback|FATAL|ERROR|error\[|panic:|npm ERR!)"
    r"|.{0,160}\bFailed to load resource)"
)


def without_output(text: str) -> str:
    """What a user wrote before they pasted what a program printed; where they pasted only, its first lines."""
    if "rror" not in text and "Exception" not in text and "Failed" not in text:
        return text
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if _ERROR_LINE.match(line)), len(lines))
    return "\n".join(lines[: max(first, 1)])


def without_reasoning(text: str) -> str:
    """An answer without what some models leave in it of their thinking, also where the turn died in the middle."""
    return _THINKING.sub("", text) if "<think" in text else text


def prose_lines(text: str, wanted: Callable[[str], bool] | None = None) -> tuple[str, ...]:
    """The lines somebody said: not fenced, not indented as code, not quoted, not log output; all or those `wanted`."""
    return _prose(text) if wanted is None else tuple(_prose_among(text, wanted))


@lru_cache(maxsize=32)  # a closing message is asked for its lines by every rule that reads the end of a session
def _prose(text: str) -> tuple[str, ...]:
    return tuple(_prose_among(text))


def _prose_among(text: str, wanted: Callable[[str], bool] | None = None) -> Iterator[str]:
    after_blank = True
    in_code = False
    for line in without_code(text).split("\n"):
        stripped = line.strip()
        if not stripped:
            after_blank = True
            continue
        indented = (
            line[0] in " \t"
            and line.startswith(("    ", "\t"))
            and not stripped.startswith(("-", "*", "+", "•"))
            and not stripped[0].isdigit()
        )
        in_code = indented and (after_blank or in_code)
        after_blank = False
        if in_code or stripped[0] == ">" or (wanted is not None and not wanted(line)):
            continue
        if not _is_log(line[:_LINE_HEAD]):
            yield line


@lru_cache(maxsize=256)
def _is_log(head: str) -> bool:
    return _LOG_LINE.match(head) is not None


@lru_cache(maxsize=256)
def sentences(line: str) -> tuple[str, ...]:
    """The sentences of a line, list markers taken off; an abbreviation's dot ends none."""
    marker = _BULLET.match(line)
    text = line[marker.end() if marker else 0 :].strip()
    if len(text) < 3:
        return ()
    parts: list[str] = []
    for part in _split(text):
        if parts and parts[-1].endswith(".") and _ABBREVIATION.search(parts[-1][-_LONGEST_ABBREVIATION:]):
            parts[-1] += " " + part
        elif part:
            parts.append(part)
    return tuple(part.strip()[:LONGEST_SENTENCE] for part in parts if part.strip())


def _split(text: str) -> Iterator[str]:
    at = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[at : end.start(1) if end[1] else end.end()]
        at = end.end()
    yield text[at:]


def shorten(sentence: str, most: int) -> str:
    """`sentence` in at most `most` characters, cut between words."""
    head = sentence[: 2 * most]
    # all space but the plain one is unprintable: what is tidy already need not be taken apart
    tidy = head.isprintable() and "  " not in head and head[:1] != " " and head[-1:] != " "
    text = head if tidy else " ".join(head.split())
    if len(text) <= most:
        if tidy and len(sentence) <= most:
            return sentence
        text = " ".join(sentence.split())  # short, or mostly space
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > most // 2 else cut).rstrip(" ,;:.-") + "…"


_DOCUMENT_FROM = 1_500
_DOCUMENT_LINES = 12
_LEAST_CLOCKS = 2
_STRUCTURE = re.compile(
    r"^[^\S\n]*+(?:#{1,6} |\*{3}|```|diff --git|@@ |\|.*\||[-*] \*\*|<[a-z_-]+>|\d{1,2}\.\s)", re.MULTILINE
)
_LIST_ITEM = re.compile(r"^[^\S\n]*+(?:[-*+•]|\d{1,2}[.)])\s", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_ROLE = re.compile(r"\s*(?:you are (?:an? |the )\S|act as (?:an? |the )|your (?:task|role|job) is to )", re.IGNORECASE)
_LONGEST_LAST = 200  # characters of what somebody adds below a template
_TEMPLATE_FROM = 400  # characters of a text with headings and lists, or of one that begins with whom to play
_PROMPT_LINE = re.compile(r"\s*(?:[$➜❯] |>>> |PS [A-Z]:\\|\w+@[\w.-]+:[^\s]*[$#] )")
_HANDED_PLAN = re.compile(r"(?:please )?implement (?:this|the following) plan:[ \t]*\n{1,4}[^\n]{1,200}", re.IGNORECASE)
_MARKS = re.compile(r"[*_`~]{1,3}|^#{1,6}\s+|^>\s?|\[\[|\]\]", re.MULTILINE)
_CODE_SIGN = re.compile(r"[*_~#>\[\]]")
_MARK_SIGN = re.compile(r"[*_`~#>\[\]]")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
# without the arrows that mean "to": "10s→60s" says nothing once they are gone
_PICTURE = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b55\ufe0f\u200d\u2190\u2191\u2193-\u21d1\u21d3-\u21ff\u23e9-\u23fa]+"
)
_SNAKE = re.compile(r"(?<=\w)_(?=\w)")


@lru_cache(maxsize=256)  # the rules that read a message ask one after the other
def plain_text(line: str) -> str:
    """A line without marks of emphasis, headings, links and pictures; names in snake_case keep their strokes."""
    text = _SNAKE.sub("\0", _LINK.sub(r"\1", line)) if "_" in line or "](" in line else line
    if _MARK_SIGN.search(text):  # most lines have none, and the expression has to try every character
        if text.count("`") > 1 and _CODE_SIGN.search(
            text
        ):  # code keeps what are marks elsewhere: `__init__`, `a[b[c]]`
            parts = text.split("`")
            text = "".join(part if place % 2 else _MARKS.sub("", part) for place, part in enumerate(parts))
        else:
            text = _MARKS.sub("", text)
    text = text.replace("\0", "_")
    if not text.isascii():
        text = _PICTURE.sub("", text)
    return " ".join(text.split())


@lru_cache(maxsize=16)
def is_document(text: str) -> bool:
    """Whether a message is a pasted document, log or prompt rather than speech."""
    if len(text) < _DOCUMENT_FROM:
        return len(text) >= _TEMPLATE_FROM and _is_template(text)
    lines = [line for line in text.split("\n") if line.strip()]
    return (
        len(lines) >= _DOCUMENT_LINES
        or _is_template(text)
        or len(_STRUCTURE.findall(text)) >= 3
        or 2 * sum(1 for _ in prose_lines(text)) < len(lines)
    )


def _is_template(text: str) -> bool:
    """Whether a message is a prompt that somebody keeps for many occasions."""
    items = len(_LIST_ITEM.findall(text))
    return (_ROLE.match(text) is not None and items >= 2) or (items >= 3 and len(_HEADING.findall(text)) >= 2)


_CLOCK_LINE = re.compile(r"^[ \t]*\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?(?:\]?[ \t]*$|, \d)", re.MULTILINE)


def _before_a_chat(text: str) -> str:
    """`text` up to a conversation that was copied into it: lines that are but a time, or begin with time and date."""
    clocks = list(_CLOCK_LINE.finditer(text)) if ":" in text else []
    if len(clocks) < _LEAST_CLOCKS:
        return text
    above = text[: clocks[0].start()]
    paragraph = above.rstrip().find("\n\n")  # what was said first is copied, too: it stands above its time
    return above[:paragraph] if paragraph >= 0 else above


@lru_cache(maxsize=16)  # a message is asked for its words several times in a row
def own_lines(text: str) -> tuple[str, ...]:
    """The lines of a user's message that are the user's: of a document the first and the last, else all prose."""
    handed = _HANDED_PLAN.match(text)
    if handed:  # an approved plan is put into the next session as its first request: the plan is not the user's words
        return tuple(line for line in text[: handed.end()].split("\n") if line.strip())
    lines = tuple(prose_lines(_before_a_chat(text)))
    if not is_document(text):
        return lines
    first = next((line for line in text.split("\n") if line.strip()), "")
    last = next((line for line in reversed(text.split("\n")) if line.strip()), "")
    if (
        (len(last) > _LONGEST_LAST and _is_template(text))
        or _STRUCTURE.match(last)
        or last.lstrip().startswith(("-", "*", "•"))
    ):
        last = ""  # the document's own last item
    return tuple(line for line in dict.fromkeys((first, last)) if line in lines)


def own_sentences(text: str) -> list[str]:
    """The sentences of a user's message that are the user's own words; a heading or a pasted comment is none."""
    return [sentence for line in own_lines(text) if not line.lstrip().startswith("#") for sentence in sentences(line)]


def spoken_sentences(text: str) -> list[str]:
    """The same without what a program printed beneath a command or between lines of its log."""
    spoken = _spoken_lines(text)
    return [
        sentence
        for line in own_lines(text)
        if line in spoken and not line.lstrip().startswith("#")
        for sentence in sentences(line)
    ]


def _spoken_lines(text: str) -> frozenset[str]:
    """The lines of a message that do not stand in one block with a command or a line of a log above them."""
    found: list[str] = []
    printed = False
    for line in text.split("\n"):
        if not line.strip():
            printed = False
        elif _is_log(line[:_LINE_HEAD]) or _PROMPT_LINE.match(line):
            printed = True
        elif not printed:
            found.append(line)
    return frozenset(found)


def head_and_tail(text: str) -> str:
    """A message whole, or the beginning and end of a very long one, cut at line ends so that no word is halved."""
    if len(text) <= _READ_HEAD + _READ_TAIL:
        return text
    head, tail = text[:_READ_HEAD], text[-_READ_TAIL:]
    return head[: head.rfind("\n") + 1 or _READ_HEAD] + "\n" + tail[tail.find("\n") + 1 :]


def opening(prose: str) -> str:
    """The beginning of an answer, which says what it is about, up to a word's end."""
    if len(prose) <= _OPENING:
        return prose
    space = prose.find(" ", _OPENING)
    return prose[: min(space, _OPENING + 200)] if space > 0 else prose[:_OPENING]
