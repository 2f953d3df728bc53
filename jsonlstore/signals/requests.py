"""What the user asked last, in one line, and what became of it: answered, interrupted, failed, refused, or nothing."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.conversation import ASSISTANT
from jsonlstore.signals.language import small_kinds
from jsonlstore.signals.offers import closing_offer, spoken_languages
from jsonlstore.signals.outcome import last_error
from jsonlstore.signals.replies import begins_with_yes, choice, opens_with_yes
from jsonlstore.signals.sentences import FENCES, is_document, own_lines, plain_text, prose_lines, sentences, shorten
from jsonlstore.signals.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.signals.conversation import Exchange, Moment
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Offer

LONGEST_LINE = 200
ANSWERED, UNANSWERED, INTERRUPTED, FAILED, REFUSED = "answered", "unanswered", "interrupted", "failed", "refused"
UNFINISHED = frozenset({UNANSWERED, INTERRUPTED, FAILED})
_MOST_COMPARED, _LEAST_COMPARED, _LONG_ANSWER = 600, 3, 200
_NUDGES_BACK = 6
_FEW_WORDS, _FEW_SIGNS = 2, 9
_OPERATIONS = content_words(
    "commit push merge deploy release publish rebase tests lint build"
)  # say what is wanted alone
_SHORT_ANSWER = 400
_LEAST_TEMPLATE, _LEAST_LINES = 400, 4
_LONGEST_LEAD, _LEAST_SHOWN = 70, 40
_MOST_ASKS = 2  # of many tasks the first tell more than the last
_LONGEST_YES = 120
_SLASH = re.compile(r"^/[\w:-]+(?:\s|$)")
# commands that steer the agent itself; what others are given is a task
_OF_THE_AGENT = frozenset({"model", "models", "compact", "clear", "reset", "new", "login", "logout", "config", "cost", "usage", "status", "help", "exit", "quit", "resume", "continue", "doctor", "mcp", "agents", "permissions", "add", "drop", "read-only", "tokens", "undo", "think", "thinking", "verbose", "reasoning", "effort", "fast", "export", "memory", "hooks", "plugin", "plugins", "theme", "vim", "approvals", "context", "rename", "add-dir", "settings", "cwd", "cd", "ls", "run", "rewind", "fork", "side", "btw", "btw:"})  # fmt: skip
_SHELL = re.compile(
    r"(?:ls|ll|la|pwd|dir|clear|cls|exit|quit|export|logout|whoami|history|:q|:wq|cd)(?:[ \t]+[\w.~/\\-]{1,80})?[ \t]*;?"
)
_COMMAND_BEFORE = re.compile(r"\s*/(?:[\w:-]+[ \t]*\n|(?:ask|code|architect|btw)\s)")
_BOXES = re.compile(r"^[ \t]*[│├└⎿⏺●][ \t]*", re.MULTILINE)  # an agent's own signs before what its tools said
_BARE_HEADING = re.compile(r"\s*#{1,6} +([^\n]{1,30})\n")
_FRAMES = re.compile(r"^[ \t]+File \"[^\"\n]+\", line \d+[^\n]*\n(?:[ \t]+[^\n]*\n)*", re.MULTILINE)  # of a stack trace
_FAILED_TURN = re.compile(
    r"^(?:API Error\b|(?:Invalid|Incorrect) API key|OAuth (?:token|authentication)|Please run /login|Credit balance is too low|(?:Claude(?: AI)?|Codex)? ?usage limit reached|(?:5-hour|Session|Weekly) limit reached|Rate limit|Internal server error|Overloaded\b|stream disconnected|Connection error|⚠️ Agent failed|Agent failed before reply|LLM (?:request|error)|Request (?:failed|timed out)|Prompt is too long|Unable to connect to API|Error: \d{3}\b|You've (?:hit|reached) your (?:usage )?limit)",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(
    r"^\[Request interrupted by user|^(?:Cancelled|Canceled|Aborted|\[aborted\])\.?$", re.IGNORECASE
)
_PROMPT_COMMAND = re.compile(
    r"(?:^|[$%❯#>~»⚡]\s{0,3}|\) (?:\S+ )?)((?:sudo )?(?:uv|npm|pnpm|yarn|bun|npx|python3?|pytest|cargo|go|docker|docker-compose|make|node|deno|uvicorn|flask|java|mvn|gradle|\./\w[\w.-]*|dotnet|ruby|rails|php|kubectl|terraform|git push|pip3?|poetry|streamlit)\s[^\n]{2,140})",
    re.MULTILINE,
)
_PROMPT = re.compile(r"(?<!\s)\s*+\([\w.-]+\)[^()\n]{0,60}$")  # "(venv) main ~ " before a pasted command


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked last, with what became of it."""

    text: str
    at: str
    fate: str
    entry_id: str | None
    doing: str = ""  # what was being done when it stopped
    error: str = ""
    accepted: str = ""  # the offer it said yes to
    announced: bool = False  # it stopped before what it said it would do
    worked: bool = False  # its own work was done before it stopped


def is_nudge(text: str) -> bool:
    """Whether a message asks for nothing of its own: agreement, "go on", small talk, a slash command."""
    plain = text.strip()
    return not plain or _is_command(plain) or bool(small_kinds(plain)) or bool(_INTERRUPTED.match(plain))


def _is_command(plain: str) -> bool:
    """Whether a message is a slash command, or one typed into the wrong window; what has a task in words is a request."""
    if _SHELL.fullmatch(plain):
        return True
    command = _SLASH.match(plain)
    if command is None:
        return False
    least = _LEAST_COMPARED if command[0].strip("/ \n").lower() in _OF_THE_AGENT else 1
    return len(content_words(plain[command.end() :][:_MOST_COMPARED])) < least


def last_substantive(talk: Sequence[Exchange]) -> int | None:
    """The last exchange that was about something: small talk and slash commands that were answered are not."""
    for at in range(len(talk) - 1, -1, -1):
        text = talk[at].user.text.strip()
        kinds = small_kinds(text)
        empty = not text or _is_command(text) or kinds == {"talk"} or _INTERRUPTED.match(text)
        if not empty and not (kinds and at == 0 and not talk[at].answers):
            return at
    return None


def fate_of(talk: Sequence[Exchange], at: int, language: Language | None) -> str:
    """What became of the request of an exchange."""
    return _what_came_of_it(talk, at, language)[0]


def last_request(talk: Sequence[Exchange], at: int, language: Language | None) -> Request:
    one = talk[at]
    text, accepted = _asked(talk, at, language)
    fate, doing, error = _what_came_of_it(talk, at, language)
    announced = fate == INTERRUPTED and bool(doing) and doing == _announced(one, language)
    return Request(text, one.user.at, fate, one.user.id, doing, error, accepted, announced)


def _asked(talk: Sequence[Exchange], at: int, language: Language | None) -> tuple[str, str]:
    """The words of a request, and what it accepted where it was an answer to an offer."""
    command = _expanded_command(talk, at)
    if command:
        return command, ""
    text = request_line(talk[at].user.text)
    kinds = small_kinds(text)
    before = talk[at - 1].closing if at else None
    offer = offer_of(before, language) if before else None
    picked = choice(text, offer, before.text) if before else []
    if picked:
        return text, shorten("; ".join(option for _, option in picked), LONGEST_LINE)
    if (
        offer
        and not text.endswith(("?", "？"))
        and (kinds & {"yes", "nudge"} or (len(text) < _LONGEST_YES and (begins_with_yes(text) or opens_with_yes(text))))
    ):
        return text, _question_of(offer)
    if kinds and at:
        for earlier in range(at - 1, max(at - _NUDGES_BACK, -1), -1):
            if not is_nudge(talk[earlier].user.text):
                said, accepted = _asked(talk, earlier, language)
                return (text, accepted) if accepted else (shorten(f"{text} ({said})", LONGEST_LINE), "")
    whole = talk[at].user.text
    if at and _points_back(text) and not whole.startswith("/") and not last_error(whole):
        before_that = next((one for one in reversed(talk[:at]) if not is_nudge(one.user.text)), None)
        said = request_line(before_that.user.text) if before_that else ""
        if len(content_words(said)) > _FEW_WORDS and not said.startswith(text):
            return shorten(f"{text} (after: {said})", LONGEST_LINE), ""
    return text, ""


def _question_of(offer: Offer) -> str:
    """What an offer asks, without the list beside it that a yes does not choose from, where it says enough alone."""
    at = min((place for mark in "?？" if (place := offer.text.find(mark)) >= 0), default=-1)
    asked = offer.text[: at + 1]
    return asked if offer.options and len(content_words(asked)) >= _FEW_WORDS else offer.text


@cache  # a range this large takes a millisecond to compile
def _unspaced() -> re.Pattern[str]:
    return re.kept("[\u3040-\u30ff\u3400-\u9fff]")


def _expanded_command(talk: Sequence[Exchange], at: int) -> str:
    """The slash command that a message is the text of: what the user typed stands before it, and nothing between."""
    before = talk[at - 1] if at else None
    typed = before.user.text.strip() if before and not before.answers else ""
    whole = talk[at].user.text
    if not _SLASH.match(typed) or "\n" in typed or (len(whole) < _LEAST_TEMPLATE and whole.count("\n") < _LEAST_LINES):
        return ""
    given = content_words(typed.partition(" ")[2])
    return shorten(typed if given else f"{typed} ({request_line(whole)})", LONGEST_LINE)


def _points_back(text: str) -> bool:
    """Whether a request says little without the one before it ("and without sockets?"); one that names a file does not."""
    if text.startswith("@") or "/" in text or "\\" in text:
        return False  # a file or a part of one was handed over
    words = content_words(text)
    if words and words <= _OPERATIONS:
        return False
    few = len(text) <= _FEW_SIGNS if not text.isascii() and _unspaced().search(text) else len(words) <= _FEW_WORDS
    return few and all(word.isalpha() for word in words)


def without_command(text: str) -> str:
    """A message without the slash command on its first line, and without one that only says in what way to answer."""
    match = _COMMAND_BEFORE.match(text) if text.lstrip().startswith("/") else None
    rest = text[match.end() :].strip() if match else ""
    return rest or text


def request_line(text: str) -> str:
    """A request in one line: its own words, of a pasted document only the user's, cut before what was pasted."""
    text = without_command(text)
    spoken = _FRAMES.sub("", text) if ", line " in text else text
    lines = [plain_text(line) for line in _below_heading(text) or own_lines(spoken)]
    said = " ".join(line for line in lines if any(map(str.isalnum, line)))
    if not said:  # nothing but a paste: the error it holds is what it is about
        said = (last_error(text) if "\n" in text else "") or plain_text(text.strip().split("\n", 1)[0])
    elif is_document(text) and not _below_heading(text):
        said = lines[0] if len(content_words(lines[0])) >= 2 or len(lines) == 1 else said
    if said.endswith((":", "：")) and "\n" in text:  # "Unhandled exception:" and a trace, or "Add these:" and what
        said = f"{said} {last_error(_BOXES.sub('', text)) or _object_of(said, text)}".strip()
    asking = _asking(lines, said, text)
    if asking:
        return asking
    pasted = _PROMPT_COMMAND.search(said)
    if pasted and pasted.start(1) > 12 and is_document(text):
        said = _PROMPT.sub("", said[: pasted.start(1)]).rstrip(" ($⚡~:")
    return shorten(said, LONGEST_LINE)


def _below_heading(text: str) -> list[str]:
    """What stands below the heading a message begins with, where that says nothing: "# Task" and the task."""
    head = _BARE_HEADING.match(text)
    if head is None or len(content_words(head[1])) >= _FEW_WORDS:
        return []
    section = text[head.end() :].split("\n#", 1)[0][: _MOST_COMPARED * 2]
    return list(prose_lines(section))


def _asking(lines: Sequence[str], said: str, text: str) -> str:
    """A long request by its first words and the sentence that asks, where that stands behind what a line can show."""
    if sum(map(len, lines)) <= LONGEST_LINE:
        return ""  # most are shorter: no sentence need be told from the next
    told = [one for line in lines if line for one in sentences(line)]
    if len(told) < 2 or sum(map(len, told)) <= LONGEST_LINE:
        return ""
    known = spoken_languages(text, None)
    asking = [at for at, one in enumerate(told) if _asks(one, known)]
    if (
        not asking
        or asking[0] == 0
        or len(asking) > _MOST_ASKS
        or told[asking[-1]][:_LEAST_SHOWN] in said[: LONGEST_LINE - _LEAST_SHOWN]
    ):
        return ""
    ask = shorten(told[asking[-1]], LONGEST_LINE - _LONGEST_LEAD - 3)
    return f"{shorten(told[0], _LONGEST_LEAD).rstrip('…')}… {ask}"


def _asks(sentence: str, known: Sequence[Language]) -> bool:
    plain = sentence.replace("’", "'")
    return plain.endswith(("?", "？")) or any(one.pattern("asked").match(plain) for one in known)


def _object_of(said: str, text: str) -> str:
    """What stands below a request that ends with a colon: the lines people wrote, or what they pasted if there are none."""
    lines = text.split("\n")
    at = next((place for place, line in enumerate(lines) if plain_text(line) and said.endswith(plain_text(line))), 0)
    rest = "\n".join(lines[at + 1 :])[:_MOST_COMPARED]
    told = [plain_text(line) for line in prose_lines(rest)]
    if not any(map(content_words, told)):
        pasted = [" ".join(line.split()) for line in rest.split("\n") if not line.lstrip().startswith(FENCES)]
        told = [line for line in pasted if content_words(line)]
    return " ".join(line for line in told if line)[:LONGEST_LINE]


def _what_came_of_it(talk: Sequence[Exchange], at: int, language: Language | None) -> tuple[str, str, str]:
    """The fate of a request, what was being done when it stopped, and the error it ended with."""
    one = talk[at]
    after = talk[at + 1] if at + 1 < len(talk) else None
    last = one.last
    stopped = after is not None and bool(_INTERRUPTED.match(after.user.text.strip()))
    doing = _under_way(last)
    if (
        not doing and not last.text.strip() and len(one.answers) > 1
    ):  # nothing but the error: what came before it says it
        before = one.answers[-2]
        doing = _led_on_to(before) or _under_way(before)
    failed_turn = last.who == ASSISTANT and not last.calls and bool(_FAILED_TURN.match(last.text.strip()))
    if last.error or failed_turn:
        return FAILED, doing, last.error or shorten(plain_text(last.text), 120)
    if last.aborted or stopped or last.ends_with in {"called", "answered"}:
        return INTERRUPTED, doing or _led_on_to(last), ""
    if last.who == "user" or not one.answers:
        return UNANSWERED, doing, ""
    if _is_refused(one, language):
        return REFUSED, "", ""
    announced = _announced(one, language)
    if announced:
        return INTERRUPTED, announced if len(content_words(announced)) > 1 else "", ""
    return (UNANSWERED if _is_off_topic(one) or _asks_for_material(one, language) else ANSWERED), "", ""


def _under_way(last: Moment) -> str:
    """The calls that were never answered; one that was is finished, and a tool's bare name tells nothing."""
    return "; ".join([what for what in last.waiting.values() if what][:2])


def _led_on_to(last: Moment) -> str:
    """What a message that was cut off led on to: "Writing the parser:"."""
    told = sentences(last.text.rstrip().rpartition("\n")[2]) if last.who == ASSISTANT else []
    led = plain_text(" ".join(told[-2:])).rstrip(" :：") if told and told[-1].endswith((":", "：")) else ""
    return shorten(led, 160) if len(content_words(led)) > 1 else ""  # "Starting:" alone says nothing of what


def _asks_for_material(one: Exchange, language: Language | None) -> bool:
    """Whether all that came of a request is "please send me the file": nothing was looked at, the work is still to do."""
    text = one.last.text
    if len(text) > _SHORT_ANSWER or any(moment.calls for moment in (one.user, *one.answers)):
        return False
    return any(known.says("hand_over", text) for known in spoken_languages(text, language))


def _is_refused(one: Exchange, language: Language | None) -> bool:
    """Whether the assistant declined, and did nothing."""
    opening = one.last.text[:300]
    declined = any(known.says("refuse", opening) for known in spoken_languages(opening, language))
    return declined and not any(moment.calls for moment in one.answers)


def _announced(one: Exchange, language: Language | None) -> str:
    """What an assistant was about to do: a turn that ends with "Now I'll update the chart:" stopped before it did."""
    last = one.last
    if last.who != ASSISTANT or last.silent:
        return ""
    lines = [line for line in prose_lines(last.text) if line.strip()]
    told = sentences(lines[-1]) if lines else []
    if not told:
        return ""
    plain = plain_text(told[-1]).replace("’", "'")
    known = spoken_languages(last.text, language)
    if plain.endswith(("?", "？")) or any(each.says("offer", plain) for each in known):
        return ""
    # without a colon it may sum up what was done; not where nothing was changed at all
    idle = len(last.text) <= _SHORT_ANSWER and not any(moment.changes for moment in (one.user, *one.answers))
    stops_short = plain.endswith((":", "：", "…", "...")) or idle
    return shorten(plain.rstrip(" :："), 160) if stops_short and any(each.announces(plain) for each in known) else ""


def _is_off_topic(one: Exchange) -> bool:
    """Whether what followed a request is about something else: long, no tool used, and not one word in common.

    A message sent while the agent was busy is stored before the end of the answer to the one before it.
    """
    closing = one.closing
    if closing is None or any(moment.calls for moment in (one.user, *one.answers)):
        return False
    asked = content_words(one.user.text[:_MOST_COMPARED])
    answer = closing.text.lower()
    return len(asked) >= _LEAST_COMPARED and len(answer) >= _LONG_ANSWER and not any(word in answer for word in asked)


def pasted_command(text: str) -> str:
    """The command whose output a user pasted, as it stands behind the prompt; empty if there is none."""
    command = _PROMPT_COMMAND.search(text)
    return command[1].strip() if command else ""


def offer_of(moment: Moment | None, language: Language | None) -> Offer | None:
    """The offer or question a message ends with."""
    return closing_offer(moment.text, spoken_languages(moment.text, language)) if moment else None
