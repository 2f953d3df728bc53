"""Which sessions died without an end: their owner process is gone, or nobody has heard of them (decision 19)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from jsonlstore.core.clock import format_time, parse_time, time_before
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.logs import logger
from jsonlstore.core.process import process_exists
from jsonlstore.restore.result import RestoreRequest
from jsonlstore.restore.scope import Scope
from jsonlstore.store import IndexEntry, SessionReader

log = logger("jsonlstore.session")

_WITHOUT_ACTIVITY = timedelta(hours=1)
_PROC = "/proc/self"
_TOLD = ("new", "reset", "idle", "daily")  # boundaries that end one session and start the next


def owner_of(pid: int) -> dict[str, Any]:
    """The owner record of a running process the caller named: its id, and what tells it from a later one."""
    owner = {"pid": pid, "started": process_started(pid), "namespace": _namespace()}
    return {key: value for key, value in owner.items() if value is not None}


def process_started(pid: int) -> str | None:
    """When a process was started, in a form that differs between any two processes with the same id; None if gone."""
    return _shown(pid)[1]


def _shown(pid: int) -> tuple[str, str | None]:
    """The state of a process and when it was started; nothing if it is gone or hidden."""
    return _shown_by_kernel(pid) if os.path.isdir(_PROC) else _shown_by_ps(pid)


def _shown_by_kernel(pid: int) -> tuple[str, str | None]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].decode("ascii").split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read(8)
    except OSError:
        return "", None
    return fields[0], f"{boot}:{fields[19]}"


def _shown_by_ps(pid: int) -> tuple[str, str | None]:
    """The same where there is no /proc, as on macOS."""
    import subprocess

    try:
        shown = subprocess.run(
            ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],  # noqa: S607 - the system's own, wherever it is
            capture_output=True,
            text=True,
            timeout=1,
            check=False,
            env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
        )
    except (OSError, subprocess.TimeoutExpired):
        return "", None
    state, _, started = shown.stdout.strip().partition(" ")
    return state, " ".join(started.split()) or None


def _namespace() -> str | None:
    """The process-id namespace we live in: a number from inside a container means nothing outside it."""
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return None


def is_dead(owner: Mapping[str, Any]) -> bool:
    """Whether an owner process is certainly gone. What cannot be told counts as alive."""
    pid = owner.get("pid")
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    namespace = owner.get("namespace")
    if namespace is not None and namespace != _namespace():
        return False
    if not process_exists(pid):
        return True
    state, started = _shown(pid)
    if state[:1] in ("Z", "X"):
        return True  # only not yet buried by its parent
    return started is not None and isinstance(owner.get("started"), str) and owner["started"] != started


class Crashed(NamedTuple):
    """A session found dead or left behind, when it is taken to have ended, why, and how that counts."""

    session_id: str
    end_time: str
    reason: str
    end_reason: str = "crash"


def find_crashed(
    store: SessionReader,
    entries: Iterable[IndexEntry],
    now: datetime,
    *,
    stale_after: timedelta,
    current: str | None = None,
    has_transcript: Callable[[IndexEntry], bool] = lambda _entry: False,
    most: int | None = None,
) -> list[Crashed]:
    """The crashed sessions among `entries`, in their order. Reads only; the one being started is never among them.

    At most `most` that look dead are looked at closely: a session start has no time for thousands.
    """
    line = time_before(now, stale_after)
    suspects = (
        entry
        for entry in entries
        if not (entry.end_time or entry.forgotten or entry.archived or entry.source or entry.session_id == current)
        and (is_dead(entry.owner) if entry.owner else (entry.updated_at or entry.start_time) < line)
    )
    found: list[Crashed] = []
    for entry in islice(suspects, most):
        try:
            if not has_transcript(entry):
                found += _examine(store, entry, now, line)
        except JsonlStoreError as problem:
            log.warning("session %s could not be examined for a crash: %s", entry.session_id, problem)
    return found


def find_superseded(
    store: SessionReader, entries: Iterable[IndexEntry], now: datetime, scope: Scope, request: RestoreRequest
) -> Iterator[Crashed]:
    """The sessions a runtime has moved on from by starting another one under the same key (decision 54).

    One whose owner lives in another process is a session at the same time, and one the watcher follows ends by what its
    transcript shows, unless the runtime itself says that it went on; where nobody watches, this is the only sign there
    will ever be.
    """
    current, reason, runtime = request.session_id, request.reason, request.pid
    if not scope.session_key or not current:
        return
    for entry in entries:
        if entry.session_id == current or entry.session_key != scope.session_key or entry.archived:
            continue
        if not scope.same_conversation(entry) or (entry.source and runtime is None):
            continue
        if entry.owner and entry.owner.get("pid") != runtime and not is_dead(entry.owner):
            continue
        try:
            folded = store.folded(entry.session_id)
        except JsonlStoreError as problem:
            log.warning("session %s could not be examined for its end: %s", entry.session_id, problem)
            continue
        if not folded.ended and (runtime is not None or not folded.source):
            ended = last_activity(folded.updated_at or entry.start_time, entry.start_time, now)
            how = reason if reason in _TOLD else "rollover"
            yield Crashed(entry.session_id, ended, f"{current} was started under the same key", how)


def _examine(store: SessionReader, entry: IndexEntry, now: datetime, line: str) -> list[Crashed]:
    """The log has the last word: the index may lag behind it."""
    folded = store.folded(entry.session_id)
    if folded.ended or folded.source:
        return []
    if not entry.owner and (folded.updated_at or entry.start_time) >= line:
        return []
    reason = (
        f"owner process {entry.owner.get('pid')} is gone"
        if entry.owner
        else "no owner, no transcript, no sign of life for too long"
    )
    return [Crashed(entry.session_id, last_activity(folded.last_active_at, entry.start_time, now), reason)]


def last_activity(active: str | None, started: str, now: datetime) -> str:
    """The last activity, else an hour after the start; never later than now."""
    if active is None:
        try:
            active = format_time(parse_time(started) + _WITHOUT_ACTIVITY)
        except (ValueError, OverflowError):
            active = started
    return min(active, format_time(now))
