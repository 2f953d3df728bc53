"""An external command that words a checkpoint anew: JSON in, JSON out, bounded in time, redacted both ways.

The evidence stays ours: a command may write the summary, topics, open questions and decisions, and nothing else.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.context.checkpoint import Checkpoint, bounded
from jsonlstore.core.logs import logger
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.core.session_settings import CheckpointSettings

log = logger("jsonlstore.session")

_MOST_ANSWER = 64 * 1024
_LONGEST_SUMMARY = 2_000
_LONGEST_LINE = 300


def generated(made: Checkpoint, settings: CheckpointSettings) -> Checkpoint:
    """The checkpoint in the words of the configured command; unchanged without one, or if it fails or is late."""
    if not settings.command:
        return made
    given = orjson.dumps(sanitised({"checkpoint": made.to_dict()}))
    try:
        done = subprocess.run(
            list(settings.command), input=given, capture_output=True, timeout=settings.command_seconds, check=True
        )
        answer = orjson.loads(done.stdout[:_MOST_ANSWER])
    except (OSError, subprocess.SubprocessError, ValueError) as problem:
        log.warning("checkpoint.command wrote nothing, ours is kept: %s", type(problem).__name__)
        return made
    return reworded(made, answer)


def reworded(made: Checkpoint, answer: object) -> Checkpoint:
    """`made` with what a generator wrote, without secrets and within bounds; unchanged if that is no checkpoint."""
    inner = answer.get("checkpoint", answer) if isinstance(answer, dict) else None
    summary = inner.get("summary") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(summary, str) or not summary.strip():
        log.warning("a checkpoint's generator gave no summary, ours is kept")
        return made
    told = replace(
        made,
        summary=_line(summary, _LONGEST_SUMMARY),
        topics=_lines(inner, "topics", 10, made.topics),
        open_questions=_lines(inner, "openQuestions", 5, made.open_questions),
        key_decisions=_lines(inner, "keyDecisions", 12, made.key_decisions),
    )
    return bounded(told)


def _lines(inner: Mapping[str, Any], key: str, most: int, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    given = inner.get(key)
    if not isinstance(given, list):
        return otherwise
    texts = [one for one in given if isinstance(one, str) and one.strip()]
    return tuple(_line(one, _LONGEST_LINE) for one in texts[:most])


def _line(text: str, longest: int) -> str:
    safe: str = sanitised(" ".join(text.split()))
    return safe[:longest]
