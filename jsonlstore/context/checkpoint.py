"""A checkpoint: where a session stands, made of evidence while all of it is in sight. Pure and deterministic.

`make_checkpoint` turns a distilled stretch into a document of at most 8 KB. `checkpoint_due` says when one is made, and
`extended` brings an old one up to date by what came after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.context.flush import percent_used
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.core.session_settings import CheckpointSettings
    from jsonlstore.signals import SessionFacts, Signals
    from jsonlstore.transcripts import Entry

MOST_BYTES = 8 * 1024
_FOR_COUNTS = 200  # bytes that `omitted` may take
_LONGEST_SUMMARY = 700
_MOST_RULES = 24
_MOST_DECISIONS = 12
_LONGEST_COMMAND = 160
_SHORT_ASK = 240
# what goes first when there is too much, and how many of each stay as long as anything else can go
_TRIMMED = (
    ("asks", 10), ("closed", 0), ("constraints", 12), ("identifiers", 8), ("commands", 6), ("asks", 6), ("done", 10),
    ("files", 12), ("blocked", 3), ("inProgress", 3), ("tasks", 5), ("memoryFiles", 3), ("constraints", 5),
)  # fmt: skip
_LISTS = tuple(dict.fromkeys(name for name, _ in _TRIMMED))
# which item of a list is missed least: the oldest, but the first request set the goal, and files begin with the newest
_LEAST_MISSED = {"asks": 1, "files": -1}
# what else may go, in this order, if the lists alone do not make room: words of another generator may be long
_SINGLE = ("projects", "next", "lastRequest", "failing", "lastFailed")
_LONG_LISTS = (("key_decisions", 4), ("open_questions", 1), ("topics", 3))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A summary made while the whole conversation was still in sight."""

    id: str | None
    timestamp: str | None
    summary: str
    tokens: int
    message_count: int
    topics: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: Entry) -> Checkpoint:
        """What a `checkpoint` record says; fields it lacks are empty."""
        return cls.from_dict(entry.raw.get("checkpoint"), entry.id, entry.timestamp)

    @classmethod
    def from_dict(cls, raw: object, id: str | None = None, timestamp: str | None = None) -> Checkpoint:  # noqa: A002
        """A checkpoint as it is stored; fields it lacks are empty."""
        inner: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
        evidence = inner.get("evidence")
        return cls(
            id,
            timestamp,
            str(inner.get("summary") or ""),
            _number(inner.get("tokensAtCheckpoint")),
            _number(inner.get("messageCountAtCheckpoint")),
            _texts(inner.get("topics")),
            _texts(inner.get("openQuestions")),
            _texts(inner.get("keyDecisions")),
            evidence if isinstance(evidence, dict) else {},
        )

    def to_dict(self) -> dict[str, Any]:
        """The stored form."""
        return {
            "summary": self.summary,
            "tokensAtCheckpoint": self.tokens,
            "messageCountAtCheckpoint": self.message_count,
            "topics": list(self.topics),
            "openQuestions": list(self.open_questions),
            "keyDecisions": list(self.key_decisions),
            **({"evidence": dict(self.evidence)} if self.evidence else {}),
        }

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of the evidence."""
        return _texts(self.evidence.get(name))


def checkpoint_due(
    settings: CheckpointSettings, facts: SessionFacts, used: int | None, window: int | None, last: Mapping[str, Any]
) -> str | None:
    """Why a checkpoint is due after this turn (`tokens` or `messages`); None if it is not.

    `last` is the latest `checkpoint.created`; what it counted before a compaction says nothing of the window now.
    """
    if not facts.turn_over:
        return None
    before = _number(last.get("percent")) if last.get("compactions", 0) == facts.compactions else 0
    return trigger_of(settings, facts.user_messages - _number(last.get("userMessages")), used, window, before)


def trigger_of(
    settings: CheckpointSettings, asked: int, used: int | None, window: int | None, before: int
) -> str | None:
    """What makes a checkpoint due: so many messages `asked` since the last one, or a percentage that was not reached
    `before`.
    """
    if not settings.enabled or (used is not None and used < settings.min_tokens_for_gen):
        return None
    if asked >= settings.turn_threshold:
        return "messages"
    if not used or not window:
        return None
    percent = percent_used(used, window)
    return "tokens" if any(before < one <= percent for one in settings.token_threshold_percents) else None


def make_checkpoint(signals: Signals, facts: SessionFacts, tokens: int = 0) -> Checkpoint:
    """Where a session stands, at most 8 KB."""
    notes = {kind: [one.content for one in signals.notes if one.type == kind] for kind in ("decision", "blocker")}
    evidence: dict[str, Any] = {
        "projects": list(signals.active_projects[:2]),
        "userMessages": facts.user_messages,
        "asks": list(facts.asks),
        "constraints": _rules(facts.rules, signals.constraints),
        "done": [f"{one.sha} {one.subject}".strip() for one in facts.commits],
        "closed": [one.title[:120] for one in signals.closed[-20:]],
        "inProgress": list(signals.in_progress),
        "tasks": [one.title for one in signals.pending_tasks],
        "blocked": notes["blocker"],
        "files": [
            f"{one.path} (uncommitted)" if one.uncommitted and facts.commits else one.path for one in facts.files
        ],
        "commands": [_command(one.name, one.command, one.failed, one.summary) for one in facts.commands],
        "identifiers": list(facts.identifiers),
        "memoryFiles": list(facts.memory_files),
    }
    if facts.last_failed:
        evidence["lastFailed"] = {"command": _shown(facts.last_failed[0]), "summary": _shown(facts.last_failed[1])}
    if facts.taken_back:
        evidence["takenBack"] = facts.taken_back
    if signals.next_step:
        evidence["next"] = signals.next_step
    if signals.last_request:
        evidence["lastRequest"] = {"text": signals.last_request.text, "fate": signals.last_request.fate}
    if signals.failing:
        evidence["failing"] = {"command": signals.failing.command, "summary": signals.failing.summary}
    made = Checkpoint(
        None,
        signals.end_time,
        "",
        tokens,
        facts.messages,
        signals.hot_topics[:10],
        signals.open_questions[:5],
        _newest_decisions(notes["decision"], evidence["constraints"]),
        evidence,
    )
    return bounded(replace(made, summary=_summary(made)))


def _rules(quoted: tuple[str, ...], noted: tuple[str, ...]) -> list[str]:
    """The user's rules: those found in long instructions, then those that were clearly given; none said twice."""
    known = [one.casefold() for one in noted]
    more = [one for one in quoted if not any(one.casefold() in each or each in one.casefold() for each in known)]
    return [*more, *noted][-_MOST_RULES:]


def _newest_decisions(decisions: list[str], rules: list[str]) -> tuple[str, ...]:
    """The latest decisions, oldest first; a rule, which stands among the rules as well, takes no other's place."""
    kept: list[str] = []
    places = _MOST_DECISIONS
    for one in reversed(decisions[-2 * _MOST_DECISIONS :]):
        places -= not any(_is_any(rule, {one.casefold()}) for rule in rules)
        if places < 0:
            break
        kept.append(one)
    return tuple(reversed(kept))


def extended(old: Checkpoint, new: Checkpoint) -> Checkpoint:
    """`old` brought up to date by a checkpoint of what came after it: what is newer outranks what is older."""
    old = _without_taken_back(old, _number(new.evidence.get("takenBack")))
    closed = {title.casefold() for title in new.texts("closed")}
    counted = (_number(one.evidence.get("userMessages")) for one in (old, new))
    evidence: dict[str, Any] = {
        "projects": list(dict.fromkeys([*new.texts("projects"), *old.texts("projects")]))[:2],
        "userMessages": sum(counted),
    }
    for name in _LISTS:
        before, after = old.evidence.get(name) or [], new.evidence.get(name) or []
        evidence[name] = _merged_commands(before, after) if name == "commands" else _merged(name, before, after)
    evidence["tasks"] = [one for one in evidence["tasks"] if one.casefold() not in closed]
    # these describe the moment: the later part tells it alone, unless nothing happened in it
    for name in ("next", "lastRequest", "inProgress"):
        evidence[name] = (new if new.evidence.get("asks") else old).evidence.get(name)
    evidence["blocked"], evidence["failing"] = _still_failing(old, new)
    evidence["lastFailed"] = new.evidence.get("lastFailed") or _not_passed(old.evidence.get("lastFailed"), new)
    united = replace(
        new,
        message_count=old.message_count + new.message_count,
        tokens=max(old.tokens, new.tokens),
        topics=tuple(dict.fromkeys([*new.topics, *old.topics]))[:10],
        open_questions=new.open_questions if new.evidence.get("asks") else old.open_questions,
        key_decisions=_newest_decisions(
            list(dict.fromkeys([*old.key_decisions, *new.key_decisions])), evidence["constraints"]
        ),
        evidence={name: value for name, value in evidence.items() if value},
    )
    return bounded(replace(united, summary=_summary(united)))


def _without_taken_back(old: Checkpoint, count: int) -> Checkpoint:
    """`old` without its latest decisions, as many as were taken back later, and without the rules among them."""
    if not count:
        return old
    gone = {one.casefold() for one in old.key_decisions[-count:]}
    rules = [one for one in old.texts("constraints") if not _is_any(one, gone)]
    return replace(old, key_decisions=old.key_decisions[:-count], evidence={**old.evidence, "constraints": rules})


def _is_any(rule: str, decisions: set[str]) -> bool:
    """Whether a rule is one of these decisions, which may be noted cut off."""
    return any(rule.casefold().startswith(one.rstrip("…").rstrip()) for one in decisions)


def _still_failing(old: Checkpoint, new: Checkpoint) -> tuple[list[str], Any]:
    """Blockers and the failing command: what ran again since is told by its later run alone."""
    if not new.evidence.get("asks") and not new.evidence.get("commands"):
        return list(old.texts("blocked")), old.evidence.get("failing")
    return list(new.texts("blocked")), new.evidence.get("failing")


def _not_passed(failed: Any, new: Checkpoint) -> Any:
    """The command that failed last, unless it passed since."""
    commands = new.evidence.get("commands")
    passed = [one.get("command") for one in commands if isinstance(one, dict)] if isinstance(commands, list) else []
    return failed if isinstance(failed, dict) and failed.get("command") not in passed else None


def _merged(name: str, before: list[str], after: list[str]) -> list[str]:
    if name == "files":
        bare = {one.removesuffix(" (uncommitted)") for one in after}
        return [*after, *(one for one in before if one.removesuffix(" (uncommitted)") not in bare)]
    return list(dict.fromkeys([*(one for one in before if one not in after), *after]))


def _merged_commands(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    again = {one.get("family") for one in after}
    return [*(one for one in before if one.get("family") not in again), *after]


def _command(family: str, command: str, failed: bool, summary: str) -> dict[str, Any]:
    told = {"family": family, "command": _shown(command), "outcome": "failed" if failed else "passed"}
    return {**told, "summary": _shown(summary)} if summary else told


def _shown(text: str) -> str:
    """What was run, without secrets; cut only then, because half a secret is not known for what it is."""
    safe: str = sanitised(text)
    return safe[:_LONGEST_COMMAND]


def _summary(made: Checkpoint) -> str:
    """A few sentences for a person: about what, how far, what is in the way, what is next."""
    told = made.evidence
    about = ", ".join(dict.fromkeys([*made.texts("projects"), *made.topics[:4]]))
    count = _number(told.get("userMessages"))
    said = [f"About {about}." if about else "", f"{count} message{'' if count == 1 else 's'} of the user so far."]
    last, failing, commits, files = (
        told.get("lastRequest"),
        told.get("failing"),
        made.texts("done"),
        made.texts("files"),
    )
    if isinstance(last, dict):
        said.append(f'Last request: "{last.get("text", "")}" ({last.get("fate") or "unknown"}).')
    if commits:
        number = "1 commit" if len(commits) == 1 else f"{len(commits)} commits, the last one"
        said.append(f'{number} "{commits[-1].partition(" ")[2] or commits[-1]}".')
    if files:
        said.append(f"{len(files)} file{'' if len(files) == 1 else 's'} changed.")
    if isinstance(failing, dict):
        said.append(f"`{failing.get('command', '')}` fails.")
    if isinstance(told.get("next"), str):
        said.append(f'Next: "{told["next"]}".')
    return " ".join(one for one in said if one)[:_LONGEST_SUMMARY]


def bounded(made: Checkpoint) -> Checkpoint:
    """`made` with as much as 8 KB hold; `omitted` counts what was left out of each list."""
    if _size(made) <= MOST_BYTES:
        return made
    made = _with_shorter_lists(_with_shorter_asks(made))
    for name, keep in (*_LONG_LISTS, *((name, 0) for name, _ in _LONG_LISTS)):
        while _size(made) > MOST_BYTES and len(getattr(made, name)) > keep:
            items = getattr(made, name)
            made = replace(made, **{name: items[1:] if name == "key_decisions" else items[:-1]})
    for name in _SINGLE:
        if _size(made) > MOST_BYTES:
            made = replace(made, evidence={key: value for key, value in made.evidence.items() if key != name})
    while _size(made) > MOST_BYTES and made.summary:
        made = replace(made, summary=made.summary[: len(made.summary) * 3 // 4])
    return made


def _size(made: Checkpoint) -> int:
    return len(orjson.dumps(made.to_dict()))


def _with_shorter_asks(made: Checkpoint) -> Checkpoint:
    """Long requests cut short until it fits, the older ones first; the first, which set the goal, last of all."""
    asks = list(made.texts("asks"))
    size = _size(made)
    for at in (*range(1, len(asks)), *range(min(1, len(asks)))):
        if size > MOST_BYTES and len(asks[at]) > _SHORT_ASK:
            short = f"{asks[at][: _SHORT_ASK - 1].rstrip()}…"
            size -= len(orjson.dumps(asks[at])) - len(orjson.dumps(short))
            asks[at] = short
    return replace(made, evidence={**made.evidence, "asks": asks}) if asks else made


def _with_shorter_lists(made: Checkpoint) -> Checkpoint:
    evidence: dict[str, Any] = {name: list(v) if isinstance(v, list) else v for name, v in made.evidence.items()}
    before = made.evidence.get("omitted")
    omitted: dict[str, int] = dict(before) if isinstance(before, dict) else {}
    size = _size(made) + _FOR_COUNTS
    for least in (1, 0):
        for name, keep in _TRIMMED:
            items = evidence.get(name)
            while size > MOST_BYTES and isinstance(items, list) and len(items) > keep * least:
                at = _LEAST_MISSED.get(name, 0)
                gone = items.pop(at if at < len(items) else 0)
                size -= len(orjson.dumps(gone)) + 1
                omitted[name] = omitted.get(name, 0) + 1
    return replace(made, evidence={**evidence, **({"omitted": omitted} if omitted else {})})


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
