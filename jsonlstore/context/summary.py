"""A compaction's summary from a checkpoint: text under the five headings that OpenClaw's audit expects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.context.checkpoint import Checkpoint

HEADINGS = ("Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
MOST_CHARACTERS = 12_000
_EARLIER = 3_000
_MOST_FILES = 20
_NONE = "- none known"
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_ENDED = frozenset({"answered"})
# of an earlier summary these still hold; its to-dos and asks are told anew from the transcript
_LASTING = ("Decisions", "Constraints/Rules", "Exact identifiers")


def summary_text(made: Checkpoint, previous: str | None = None) -> str:
    """The summary, the previous one folded in, at most 12,000 characters."""
    earlier = sections_of(previous or "")
    told = {
        "Decisions": made.key_decisions,
        "Open TODOs": _todos(made),
        "Constraints/Rules": made.texts("constraints"),
        "Pending user asks": _pending(made),
        "Exact identifiers": _identifiers(made),
    }
    for name in _LASTING:
        told[name] = tuple(dict.fromkeys([*earlier.get(name, ()), *told[name]]))[-40:]
    parts = [f"## {name}\n{_listed(told[name])}" for name in HEADINGS]
    # mostly answered, so not pending; these come first because a list that is too long loses its beginning
    asked = [f"asked: {one}" for one in made.texts("asks")]
    parts.append(f"## Where it stands\n{_listed([*asked, made.summary, *_work(made)])}")
    if previous and not all(name in earlier for name in HEADINGS):
        parts.append(f"## Earlier summary\n{_flat(previous)[:_EARLIER]}")
    return _capped(parts)


def sections_of(text: str) -> dict[str, tuple[str, ...]]:
    """The lists of a summary by heading; a text without such headings has none."""
    pieces = _SECTION.split(text)
    found: dict[str, tuple[str, ...]] = {}
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        lines = (line[2:].strip() for line in body.splitlines() if line.startswith("- ") and line != _NONE)
        found.setdefault(name.strip(), tuple(line for line in lines if line))
    return found


def _todos(made: Checkpoint) -> tuple[str, ...]:
    step = made.evidence.get("next")
    steps = [f"next: {step}"] if isinstance(step, str) else []
    return tuple(dict.fromkeys([*made.texts("inProgress"), *made.texts("tasks"), *steps]))


def _pending(made: Checkpoint) -> tuple[str, ...]:
    last = made.evidence.get("lastRequest")
    pending = []
    if isinstance(last, dict) and isinstance(last.get("text"), str):
        fate = last.get("fate") or "unknown"
        pending.append(f"last request ({fate}): {last['text']}")
    return (*pending, *made.open_questions)


def _identifiers(made: Checkpoint) -> tuple[str, ...]:
    """What matters most comes last: too long a list loses its beginning."""
    files = made.texts("files")[:_MOST_FILES]
    return (*made.texts("identifiers"), *reversed(files), *made.texts("memoryFiles"))


def _work(made: Checkpoint) -> Iterable[str]:
    yield from (f"commit {one}" for one in made.texts("done"))
    yield from (f"blocked: {one}" for one in made.texts("blocked"))
    failed = made.evidence.get("lastFailed")
    if isinstance(failed, dict) and failed.get("command"):
        said = f": {failed['summary']}" if failed.get("summary") else ""
        yield f"the last command that failed: `{failed['command']}`{said}"
    commands = made.evidence.get("commands")
    for one in commands if isinstance(commands, list) else ():
        if isinstance(one, dict) and isinstance(one.get("command"), str):
            said = f": {one['summary']}" if one.get("summary") else ""
            yield f"`{one['command']}` {one.get('outcome', '')}{said}"


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {_flat(one)}" for one in items if one.strip()) or _NONE


def _flat(text: str) -> str:
    """One line: a line that begins with `##` would pass for a heading."""
    return " ".join(text.split())


def _capped(parts: list[str]) -> str:
    """As much as fits: every heading stays, and long lists lose what is oldest."""
    share = MOST_CHARACTERS // len(parts) - 2
    spare = MOST_CHARACTERS - sum(min(len(one), share) + 2 for one in parts)
    kept = []
    for one in parts:
        allowed = share + max(0, spare)
        if len(one) > share:
            cut = _cut(one, allowed)
            spare -= max(0, len(cut) - share)
            kept.append(cut)
        else:
            kept.append(one)
    return "\n\n".join(kept)


def _cut(part: str, most: int) -> str:
    if len(part) <= most:
        return part
    head, *lines = part.split("\n")
    while len(lines) > 1 and len(head) + sum(len(line) + 1 for line in lines) > most:
        del lines[0]
    return "\n".join([head, *lines])[:most]
