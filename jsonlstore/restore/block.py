"""The block of a session: what it says, read back from its text, and the block without what was closed since.

The text kept with a session is never written anew: lines of what the session itself closed are left out when it is
told, so that its bytes change with a closing and with nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jsonlstore.restore.closings import Item, closed_items, own_closings
from jsonlstore.restore.wrapper import flat

if TYPE_CHECKING:
    from jsonlstore.store import SessionFold

_TASK = re.compile(r'- \[([^\]]+)\](?: "([^"]*)")?')
_NEXT = re.compile(r'NEXT STEP(?: \(session [^)]*\))?: "([^"]*)"\Z')
_LISTS = {"BLOCKERS: ": "blocker", "IN PROGRESS: ": "progress"}  # lines of quoted items that are still open
_QUOTED = re.compile(r'"([^"]*)"')
_TASKS = "PENDING TASKS:"
_MEMORY = "MEMORY FILES written in this session before its context was compacted: "
_MOST_FILES = 8
_LONGEST_PATH = 100
_HEADS = ("[SESSION CONTINUITY", "SESSIONS: ", "LAST SESSION", "PICKED UP", "## ")


def current_block(folded: SessionFold, now: str, memory_files: tuple[str, ...] | None = None) -> str | None:
    """The block of a session as it stands; None if there is nothing to tell.

    It lacks what the session closed. After a compaction it names the memory files written before that: what the agent
    noted there it does not see any more. `memory_files` are told instead of those known from the last compaction.
    """
    parts = [_still_open(folded, now), _memory_line(folded.memory_files if memory_files is None else memory_files)]
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
    # a task is closed by its id, which a line of the same words does not show
    closed |= {f"progress:{item.title}" for item in told if item.key in closed}
    return without(folded.block, frozenset(closed)) if closed else folded.block


def items_of(block: str) -> list[Item]:
    """What a block tells as open: tasks, the next step, blockers and what was in progress."""
    found = []
    for line in block.splitlines():
        if task := _TASK.match(line):
            found.append(Item(f"task:{task[1]}", task[1], task[2] or ""))
        elif step := _NEXT.match(line):
            found.append(Item("next", "", step[1]))
        elif label := _label(line):
            found += [Item(f"{_LISTS[label]}:{text}", "", text) for text in _QUOTED.findall(line)]
    return found


def without(block: str, closed: frozenset[str]) -> str | None:
    """The block without the closed items, and without headings that stand for nothing."""
    parts = []
    for part in block.split("\n\n"):
        lines = [kept for line in part.split("\n") if (kept := _kept(line, closed)) is not None]
        if lines and lines != [_TASKS]:
            parts.append("\n".join(lines))
    told = [line for part in parts for line in part.split("\n") if not line.startswith(_HEADS)]
    return "\n\n".join(parts) if told else None


def _label(line: str) -> str | None:
    return next((label for label in _LISTS if line.startswith(label)), None)


def _kept(line: str, closed: frozenset[str]) -> str | None:
    task = _TASK.match(line)
    if (task and f"task:{task[1]}" in closed) or ("next" in closed and _NEXT.match(line)):
        return None
    label = _label(line)
    if label is None:
        return line
    left = [text for text in _QUOTED.findall(line) if f"{_LISTS[label]}:{text}" not in closed]
    return label + "; ".join(f'"{text}"' for text in left) if left else None
