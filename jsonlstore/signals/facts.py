"""What a checkpoint is made of: the evidence of a stretch, with what the user asked, as it stands now."""

# ruff: noqa: E501 - expressions and tables are data, one a line

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.signals.evidence import WorkLog
from jsonlstore.signals.options import ToolNames
from jsonlstore.signals.requests import is_nudge, without_command
from jsonlstore.signals.sentences import is_document, own_lines, prose_lines, shorten, without_open_fence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jsonlstore.redact import Redactor
    from jsonlstore.signals.conversation import Exchange
    from jsonlstore.signals.evidence import ChangedFile, GitCommit
    from jsonlstore.signals.families import Family
    from jsonlstore.transcripts import Entry, ToolCall

_MOST_ASKS = 30  # as many as a checkpoint has room for: it leaves out the older ones first
_LONGEST_ASK = 1200  # where there is room for it: a checkpoint that is full shortens the older ones
_LONGEST_OF_DOCUMENT = 240
_LONGEST_RULE = 240
_LONGEST_LAST_LINE = 160
_MOST_IDENTIFIERS = 24
_READ_BACK = 40  # exchanges whose identifiers are worth keeping
_READ_OF_EACH = 2_000
_IDENTIFIER_SIGN = re.compile(r"[\d:]")  # in every identifier there is one
_SPACE = re.compile(r"\s")
_IDENTIFIER = re.compile(
    r"https?://[^\s<>\"'`)\]]{4,160}|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&])#\d{1,6}\b|\bv\d+\.\d+(?:\.\d+)?\b"
    r"|\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}\b"
)
_MOST_RULES = 24
_SHORTEST_RULE = 12
_SENTENCE_END = re.compile(r"(?<=[.!?。！])\s+")
_MAY_RULE = re.compile(
    r"never|always|n't|not|niemals|immer|auf keinen|nunca|siempre|jamais|toujours|不要|必须|禁止|绝不"
    r"|\bno account|no circ| me (?:first|before|whenever)|without |only|frage? mich|ntame antes|-moi avant|先问我"
    r"|^\W*no |everywhere|throughout|thorough|concise|let me know|if (?:needed|necessary)|muss|soll|kein|nötig|ausführlich|bescheid|beachte"
    r"|mant[eé]n|avísame|solo |uniquement|préviens",
    re.IGNORECASE,
)
# an order, not a statement: "never …", "must never …", and not "I never saw it"
_RULE = re.compile(
    r"^(?:\d+[.)] )?(?:please,? |and |but )?(?:do not|don't|never|always|under no circumstances|on no account)\b"
    r"|\bmust (?:never|not|always|only)\b|\bshould never\b|(?:,|→|->|:) (?:never|always) \w"
    r"|^(?:bitte )?(?:niemals|immer nur|auf keinen fall)\b|^(?:por favor,? )?(?:nunca|siempre)\b"
    r"|\b(?:ask|check with) me (?:first|before|whenever)\b"
    r"|\bwithout (?:asking|my (?:ok|okay|approval|permission|consent))\b"
    r"|\bfrage? mich (?:\w+ ){0,3}(?:bevor|vorher|zuerst)\b|\bpreg[uú]ntame antes\b|\bdemande-moi avant\b|先问我"
    r"|\b(?:il ne faut jamais|toujours utiliser)\b|^(?:请)?(?:不要|必须|禁止|绝不)"
    # how the work is to be done throughout, and when the user is to be asked
    r"|^no [^,.?]{2,60}, (?:use|only|just) |^(?:[\w-]+ ){1,6}(?:everywhere|throughout)$|^(?:please )?be (?:thorough|concise|brief|careful)\b"
    r"|\b(?:let me know|tell me) (?:right away |at once |immediately )?(?:if|when(?:ever)?) you(?:'re| are| have)\b"
    r"|\bif (?:needed|necessary),? (?:use|ask|split|call)\b|\bkeep everything \w+"
    r"|\bmuss (?:immer |stets )?(?:so )?sein\b|\bsoll\b[^.?]{0,40}\bnur\b|^[^.?]{0,40}(?:nur|only)\b[^.?]{0,30}, (?:keine?|no) |\bwenn nötig\b"
    r"|(?:^|\. )sei (?:bitte )?(?:ausführlich|gründlich|vorsichtig|kurz)|\bgib mir bescheid,? (?:wenn|falls|sobald)\b|(?:^|\. )beachte (?:alle|immer|dass)\b"
    r"|^mant[eé]n(?:er|ga)? (?:todo|siempre|el|la)\b|\bav[ií]same (?:si|cuando|antes)\b|\bpréviens-moi (?:si|quand|avant)\b",
    re.IGNORECASE,
)
# what programs print, and code with its comments
_NO_RULE = re.compile(r"[{};]|\bpid=|^[#/(\[]|\w\(|=[\"'\w]|\?$|:$|https?://")


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """The evidence of one stretch. `turn_over` is true while the agent is not at work."""

    user_messages: int
    messages: int
    compactions: int
    turn_over: bool
    asks: tuple[str, ...]
    commits: tuple[GitCommit, ...]
    files: tuple[ChangedFile, ...]
    commands: tuple[Family, ...]
    identifiers: tuple[str, ...]
    memory_writes: tuple[tuple[int, str], ...]  # in which turn, which file
    turn_ends: Mapping[int, str]  # when each of the latest turns was answered
    rules: tuple[str, ...] = ()
    last_failed: tuple[str, str] | None = None
    taken_back: int = 0  # how often something was taken back that was said before these entries

    @property
    def memory_files(self) -> tuple[str, ...]:
        """The files under `memory/` that were written, each once, the latest last."""
        return tuple(dict.fromkeys(path for _, path in self.memory_writes))

    def redacted(self, redactor: Redactor) -> SessionFacts:
        """The same without secrets, those included that were found after a text was heard."""
        safe = redactor.text
        return replace(
            self,
            asks=tuple(map(safe, self.asks)),
            commits=tuple(replace(one, subject=safe(one.subject)) for one in self.commits),
            files=tuple(replace(one, path=safe(one.path)) for one in self.files),
            commands=tuple(replace(one, command=safe(one.command), summary=safe(one.summary)) for one in self.commands),
            identifiers=tuple(map(safe, self.identifiers)),
            memory_writes=tuple((turn, safe(path)) for turn, path in self.memory_writes),
            rules=tuple(map(safe, self.rules)),
            last_failed=(safe(self.last_failed[0]), safe(self.last_failed[1])) if self.last_failed else None,
        )


def memory_files_in(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The files under `memory/` that were written, read from the tool calls alone: each once, the latest last."""
    work = WorkLog()
    waiting: dict[str, ToolCall] = {}
    for entry in entries:
        if entry.type == "session" and isinstance(cwd := entry.raw.get("cwd"), str):
            work.start_in(cwd)
        elif entry.role == "assistant":
            waiting.update((call.id, call) for call in entry.tool_calls if "memory/" in str(call.arguments))
        elif waiting and entry.role == "toolResult":
            call = waiting.pop(entry.tool_call_id or "", None)
            if call and not entry.is_error:
                work.wrote(ToolNames.plain(call.name), call.arguments)
    return tuple(dict.fromkeys(path for _, path in work.memory_writes))


def requests_in(talk: Sequence[Exchange]) -> tuple[str, ...]:
    """What the user asked, in their words: the first request, which set the goal, and the latest ones."""
    said = [_asked(without_command(one.user.text)) for one in talk if one.user.text and not is_nudge(one.user.text)]
    kept = said if len(said) <= _MOST_ASKS else [said[0], *said[1 - _MOST_ASKS :]]
    return tuple(dict.fromkeys(kept))


def _asked(text: str) -> str:
    """A request in the user's words: how it begins, and its last line if what lies between is a pasted document."""
    pasted = len(text) > _LONGEST_OF_DOCUMENT and is_document(text)
    begun = shorten(text, _LONGEST_OF_DOCUMENT if pasted else _LONGEST_ASK)
    own = own_lines(text) if pasted else ()
    last = shorten(own[-1], _LONGEST_LAST_LINE) if own else ""
    return begun if not last or begun.startswith(last[:_SHORTEST_RULE]) else f"{begun} {last}"


def hear_rules(rules: dict[str, None], text: str) -> None:
    """Add what the user rules here, sentence by sentence in their words, also inside long instructions; newest last."""
    if not _MAY_RULE.search(text):
        return
    for line in prose_lines(without_open_fence(text)):
        for sentence in _SENTENCE_END.split(line.strip()):
            plain = sentence.replace("*", "").strip(" -•\t")
            if _SHORTEST_RULE <= len(plain) <= _LONGEST_RULE and _RULE.search(plain) and not _NO_RULE.search(plain):
                rules.pop(plain, None)
                rules[plain] = None
    while len(rules) > _MOST_RULES:
        del rules[next(iter(rules))]


def identifiers_in(talk: Sequence[Exchange], commits: Iterable[GitCommit]) -> tuple[str, ...]:
    """Addresses, ids, issue numbers and versions that were named lately, and the newest commits, newest last."""
    found: dict[str, None] = {}
    for text in _texts(talk[-_READ_BACK:]):
        for piece in _identifier_candidates(text[:_READ_OF_EACH]):
            for match in _IDENTIFIER.finditer(piece):
                name = match[0].rstrip(".,;:")
                found.pop(name, None)
                found[name] = None
    for commit in commits:
        if commit.sha:
            found[commit.sha] = None
    return tuple(found)[-_MOST_IDENTIFIERS:]


def _identifier_candidates(text: str) -> Iterator[str]:
    """The pieces between spaces that may hold an identifier: most of a text does not, and is passed over fast."""
    end = 0
    for sign in _IDENTIFIER_SIGN.finditer(text):
        at = sign.start()
        if at >= end:
            begin = max(text.rfind(" ", end, at), text.rfind("\n", end, at), end - 1) + 1
            space = _SPACE.search(text, at)
            end = space.start() if space else len(text)
            yield text[begin:end]


def _texts(talk: Iterable[Exchange]) -> Iterator[str]:
    for one in talk:
        yield one.user.text
        if one.closing:
            yield one.closing.text
