"""Restore: what earlier sessions left comes back when the next one starts.

What it promises:
- A session start is never blocked, broken or late: after the budget it is a cold start, and the log says why.
- Nothing crosses from one conversation into another, unless an operator asks for it by name.
- Nothing is changed before everything is worked out, and what another program owns is changed with care.

A session start's way: the `manager` asks the `restorer`, which makes a `plan` within a `deadline`. The plan finds
which sessions crashed (`crash`), which are in `scope`, how relevant each is (`score`), which come back (`select`), and
what is taken over from them (`inherit`, `tasks`, `pins`) and still open (`closings`); the `preamble` says it in words.
`explain` says why the others are left out. The restorer carries it out; `block` leaves out of a given preamble what was
closed since, and `task_list` is what a conversation has open.
`capture` writes down what a running session amounts to; `override` brings one named session back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.restore.block import current_block
    from jsonlstore.restore.capture import SessionCapture
    from jsonlstore.restore.crash import find_crashed, last_activity
    from jsonlstore.restore.deadline import Budget
    from jsonlstore.restore.explain import LeftOut, newest_session
    from jsonlstore.restore.manager import SessionPersistenceManager
    from jsonlstore.restore.override import reply
    from jsonlstore.restore.pins import PinFile, note_removed, own_pins
    from jsonlstore.restore.preamble import PreambleContext, PreambleInjector, PreambleOptions, handoff_lines
    from jsonlstore.restore.restorer import SessionRestorer, cold_start, emit_captured
    from jsonlstore.restore.result import (
        Candidate,
        MemorySource,
        PinDecision,
        RelevanceSource,
        RestoredSessionContext,
        RestoreRequest,
    )
    from jsonlstore.restore.scope import Scope
    from jsonlstore.restore.score import PENDING_WEIGHT, RECENCY_WEIGHT, TOPIC_WEIGHT, ContextScorer, DecayEngine
    from jsonlstore.restore.task_list import TaskList
    from jsonlstore.restore.tasks import Pipeline, surfaced
    from jsonlstore.restore.wrapper import flat, named, quoted, wrap


__all__ = [
    "PENDING_WEIGHT",
    "RECENCY_WEIGHT",
    "TOPIC_WEIGHT",
    "Budget",
    "Candidate",
    "ContextScorer",
    "DecayEngine",
    "LeftOut",
    "MemorySource",
    "PinDecision",
    "PinFile",
    "Pipeline",
    "PreambleContext",
    "PreambleInjector",
    "PreambleOptions",
    "RelevanceSource",
    "RestoreRequest",
    "RestoredSessionContext",
    "Scope",
    "SessionCapture",
    "SessionPersistenceManager",
    "SessionRestorer",
    "TaskList",
    "cold_start",
    "current_block",
    "emit_captured",
    "find_crashed",
    "flat",
    "handoff_lines",
    "last_activity",
    "named",
    "newest_session",
    "note_removed",
    "own_pins",
    "quoted",
    "reply",
    "surfaced",
    "wrap",
]

__getattr__ = lazy(
    __name__,
    {
        "block": "current_block",
        "capture": "SessionCapture",
        "crash": "find_crashed last_activity",
        "deadline": "Budget",
        "explain": "LeftOut newest_session",
        "manager": "SessionPersistenceManager",
        "override": "reply",
        "pins": "PinFile note_removed own_pins",
        "preamble": "PreambleContext PreambleInjector PreambleOptions handoff_lines",
        "restorer": "SessionRestorer cold_start emit_captured",
        "result": "Candidate MemorySource PinDecision RelevanceSource RestoreRequest RestoredSessionContext",
        "scope": "Scope",
        "score": "ContextScorer DecayEngine PENDING_WEIGHT RECENCY_WEIGHT TOPIC_WEIGHT",
        "task_list": "TaskList",
        "tasks": "Pipeline surfaced",
        "wrapper": "flat named quoted wrap",
    },
)
