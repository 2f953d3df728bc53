"""`hook EVENT`: a JSON object in, one JSON line out, and never in a session's way.

This path imports neither click nor rich nor jsonschema. A restore problem is exit 0 with `error`; only an input that
is not what it should be is exit 2.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.cli.app import App
from jsonlstore.cli.hook_call import SWITCHES, Answer
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.logs import logger, on_first_message, set_up
from jsonlstore.core.paths import check_session_id, resolve_state_dir
from jsonlstore.redact import is_secret_id, sanitised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import NoReturn

log = logger("jsonlstore.session")

_TEXTS = ("channel", "agent_id", "session_key", "cwd", "prompt", "reason", "resume")
_LEVELS = {"debug": "DEBUG", "v": "INFO", "verbose": "INFO", "q": "ERROR", "quiet": "ERROR"}
# the module whose HOOKS answer an event: a call loads only its own
_MODULES = {
    "session-start": "lifecycle",
    "turn-end": "lifecycle",
    "session-end": "lifecycle",
    "session-recall": "agent",
    "session-task": "agent",
    "handoff": "handoff",
    "flush-offered": "context",
    "compact": "context",
    "compacted": "context",
    "checkpoint": "context",
}


def run_hook(event: str, options: Mapping[str, str]) -> NoReturn:
    """Answer one hook call and leave at once, whatever a thread may still be stuck in."""
    level = next((_LEVELS[name] for name in _LEVELS if name in options), "WARNING")
    on_first_message(partial(_log_to_stderr, level))
    if level in ("DEBUG", "INFO"):
        set_up()  # such messages are dropped before
    code, after = 0, None
    try:
        app = App(
            resolve_state_dir(options.get("state-dir")), options.get("config"), debug="debug" in options, lenient=True
        )
        app.now = _moment(options["now"]) if "now" in options else None
        answer, after = answer_hook(event, sys.stdin.buffer.read(), app, dry_run="dry-run" in options)
        sys.stdout.buffer.write(orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE))
    except JsonlStoreError as problem:
        # a message may quote what it complains about
        sys.stderr.write(sanitised(f"error: {problem.message}\n" + (f"hint: {problem.hint}\n" if problem.hint else "")))
        code = 2 if isinstance(problem, UsageError) else 1
    except OSError as problem:
        log.warning("the answer could not be written: %s", problem)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        if after is not None:
            after()
    except (OSError, JsonlStoreError) as problem:
        log.warning("work after the answer failed: %s", problem)
    finally:
        os._exit(code)


def _log_to_stderr(level: str) -> None:
    from jsonlstore.redact import log_to_stderr

    log_to_stderr(level)


def answer_hook(event: str, document: bytes, app: App, *, dry_run: bool) -> Answer:
    """The answer to a hook call, and what may be done once it is given; raises `UsageError` for a bad input."""
    return _handler(event)(read_document(document), app, dry_run)


def _handler(event: str) -> Callable[[dict[str, Any], App, bool], Answer]:
    if event not in _MODULES:
        raise UsageError(f"no such hook: {event}", hint=f"one of {', '.join(_MODULES)}")
    hooks: dict[str, Callable[[dict[str, Any], App, bool], Answer]]
    hooks = import_module(f"jsonlstore.cli.hook_{_MODULES[event]}").HOOKS
    return hooks[event]


def read_document(data: bytes) -> dict[str, Any]:
    """The object on stdin; raises `UsageError` naming the field that is wrong."""
    document = _parsed(data)
    if not isinstance(document, dict):
        raise UsageError("stdin must hold a JSON object")
    if "session_id" not in document:
        raise UsageError("session_id is missing")
    try:
        check_session_id(document["session_id"])
    except UsageError as problem:
        raise UsageError(f"session_id: {problem.message}", hint=problem.hint) from problem
    if is_secret_id(document["session_id"]):
        from jsonlstore.transcripts import usable_id

        document["session_id"] = usable_id(document["session_id"])
    for name in _TEXTS:
        if document.get(name) is not None and not isinstance(document[name], str):
            raise UsageError(f"{name} must be a string")
    for name in SWITCHES:
        if document.get(name) is not None and not isinstance(document[name], bool):
            raise UsageError(f"{name} must be true or false")
    pid = document.get("pid")
    if pid is not None and (isinstance(pid, bool) or not isinstance(pid, int) or not 0 < pid < 2**31):
        raise UsageError("pid must be a process id")
    return document


def _parsed(data: bytes) -> Any:
    """The JSON on stdin. JavaScript writes a text cut in the middle of an emoji as JSON that is not Unicode."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        import json

        try:
            return orjson.loads(json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise UsageError(f"stdin is not a JSON object: {problem}") from problem


def _moment(text: str) -> datetime:
    from jsonlstore.core.clock import parse_time

    try:
        return parse_time(text)
    except ValueError as problem:
        raise UsageError(f"--now must be an ISO 8601 time, not {text!r}") from problem
