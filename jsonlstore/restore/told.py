"""What a block tells, read back from its text, and the block without what was closed since.

The text kept with a session is never written anew: lines of what the session itself closed are left out when it is
told, so that its bytes change with a closing and with nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jsonlstore.restore.settled import Item, closed_items, own_closings
from jsonlstore.restore.wrapper import flat

if TYPE_CHECKING:
    from jsonlstore.store import SessionFold

_TASK = re.compile(r'- \[([^\]]+)\](?: "([^"]*)")?')
_NEXT = re.compile(r'NEXT STEP(?: \(session [^)]*\))?: "([^"]*)"\Z')
_BLOCKERS = "BLOCKERS: "
_QUOTED = re.compile(r'"([^"]*)"')
_TASKS = "PENDING TASKS:"
_MEMORY = "MEMORY FILES written in this session before its context was compacted: "
_MOST_FILES = 8
_LONGEST_PATH = 100
_HEADS = ("[SESSION CONTINUITY", "SESSIONS: ", "LAST SESSION", "## ", "### ", "The previous session ended at ")
# the sections of a handoff whose lines are things still open
_SECTION = "### "
_OPEN_SECTIONS = ("### In Progress", "### Recent Blockers", "### Suggested Next Step")
_ENTRY = re.compile(r'(?:- )?"([^"]*)"\Z')


def current_block(folded: SessionFold, now: str) -> str | None:
    """The block of a session as it stands; None if there is nothing to tell.

    It lacks what the session closed. After a compaction it names the memory files written before that: what the agent
    noted there it does not see any more.
    """
    parts = [_still_open(folded, now), _memory_line(folded.memory_files)]
    return "\n\n".join(part for part in parts if part) or None


def _memory_line(files: tuple[str, ...]) -> str | None:
    if not files:
        return None
    return f"{_MEMORY}{', '.join(flat(one, _LONGEST_PATH) for one in files[-_MOST_FILES:])}"


def _still_open(folded: SessionFold, now: str) -> str | None:
    if folded.block is None:
        return None
    closings = own_closings(folded.state(), now)
    if not closings:
        return folded.block
    told = items_of(folded.block)
    closed = {*closed_items(told, closings)}
    # a task is closed by its id, which a handoff's line of the same words does not show
    closed |= {f"handoff:{item.title}" for item in told if item.key in closed}
    return without(folded.block, frozenset(closed)) if closed else folded.block


def items_of(block: str) -> list[Item]:
    """What a block tells as open: tasks, the next step and blockers."""
    found, section = [], ""
    for line in block.splitlines():
        section = _section(line, section)
        if section in _OPEN_SECTIONS and (entry := _ENTRY.match(line)):
            found.append(Item(f"handoff:{entry[1]}", "", entry[1]))
        elif task := _TASK.match(line):
            found.append(Item(f"task:{task[1]}", task[1], task[2] or ""))
        elif step := _NEXT.match(line):
            found.append(Item("next", "", step[1]))
        elif line.startswith(_BLOCKERS):
            found += [Item(f"blocker:{text}", "", text) for text in _QUOTED.findall(line)]
    return found


def without(block: str, closed: frozenset[str]) -> str | None:
    """The block without the closed items, and without headings that stand for nothing."""
    parts = []
    for part in block.split("\n\n"):
        lines: list[str] = []
        section = ""
        for line in part.split("\n"):
            section = _section(line, section)
            if (kept := _kept(line, section, closed)) is not None:
                if kept.startswith(_SECTION) and lines and lines[-1].startswith(_SECTION):
                    lines.pop()  # nothing is left under that heading
                lines.append(kept)
        if lines and lines[-1].startswith(_SECTION):
            lines.pop()
        if lines and lines != [_TASKS]:
            parts.append("\n".join(lines))
    told = [line for part in parts for line in part.split("\n") if not line.startswith(_HEADS)]
    return "\n\n".join(parts) if told else None


def _section(line: str, before: str) -> str:
    """The section a line stands in: headings begin one, a line of another form ends it."""
    if line.startswith(_SECTION):
        return line
    return before if line.startswith(("- ", '"')) else ""


def _kept(line: str, section: str, closed: frozenset[str]) -> str | None:
    entry = _ENTRY.match(line) if section in _OPEN_SECTIONS else None
    if entry and f"handoff:{entry[1]}" in closed:
        return None
    task = _TASK.match(line)
    if (task and f"task:{task[1]}" in closed) or ("next" in closed and _NEXT.match(line)):
        return None
    if not line.startswith(_BLOCKERS):
        return line
    left = [text for text in _QUOTED.findall(line) if f"blocker:{text}" not in closed]
    return _BLOCKERS + "; ".join(f'"{text}"' for text in left) if left else None
