"""An external command that rewrites a handoff's summary: JSON in, JSON out, bounded in time, redacted both ways."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from jsonlstore.core.logs import logger
from jsonlstore.handoff.document import (
    SUMMARIZED_FROM,
    Handoff,
    HandoffSummary,
    bounded_summary,
    digest_of,
    within_limit,
)
from jsonlstore.redact import sanitised

log = logger("jsonlstore.session")

_MOST_ANSWER = 64 * 1024


def summarize(document: Handoff, command: Sequence[str], seconds: float) -> Handoff:
    """The document with the command's summary; unchanged if the command fails, is late, or answers something else.

    A summary that the command has written already is not written again.
    """
    if document.is_summarized:
        return document
    given = orjson.dumps(sanitised({"handoff": document.to_dict()}))
    try:
        done = subprocess.run(list(command), input=given, capture_output=True, timeout=seconds, check=True)
        answer = orjson.loads(done.stdout[:_MOST_ANSWER])
        summary = answer["summary"]
        if not isinstance(summary, Mapping):
            raise TypeError("summary is not an object")  # noqa: TRY301 - one way to fall back
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as problem:
        log.warning("handoff.summarizer gave no summary, the extractive one is kept: %s", type(problem).__name__)
        return document
    merged = bounded_summary(HandoffSummary.from_dict({**document.summary.to_dict(), **sanitised(dict(summary))}))
    evidence = {**document.evidence, SUMMARIZED_FROM: digest_of(document.summary)}
    return within_limit(replace(document, summary=merged, evidence=evidence))
