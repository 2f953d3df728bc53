"""Which sessions died without an end: their owner process is gone, or nobody has heard of them (DECISION 19)."""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonlstore.clock import format_time, parse_time
from jsonlstore.errors import JsonlStoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from jsonlstore.continuity.scope import Scope
    from jsonlstore.store.index import IndexEntry
    from jsonlstore.store.reader import SessionReader

log = logging.getLogger("jsonlstore.session")

_WITHOUT_ACTIVITY = timedelta(hours=1)


def owner_of(pid: int) -> dict[str, Any]:
    """The owner record of a running process the caller named: its id, and what tells it from a later one."""
    owner: dict[str, Any] = {"pid": pid}
    started, namespace = process_started(pid), _namespace()
    if started is not None:
        owner["started"] = started
    if namespace is not None:
        owner["namespace"] = namespace
    return owner


def process_started(pid: int) -> str | None:
    """When a process was started, in a form that differs between any two processes with the same id; None if gone."""
    return _started_linux(pid) if os.path.isdir("/proc/self") else _started_ps(pid)


def _started_linux(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read(8)
    except OSError:
        return None
    return f"{boot}:{fields[19].decode('ascii')}"


def _started_ps(pid: int) -> str | None:
    import subprocess

    try:
        shown = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=1,
            check=False,
            env={"LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return shown.stdout.strip() or None


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
    if not _exists(pid) or _is_zombie(pid):
        return True
    started = process_started(pid)
    return started is not None and isinstance(owner.get("started"), str) and owner["started"] != started


def _is_zombie(pid: int) -> bool:
    """Dead, only not yet buried by its parent."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])
    except OSError:
        return False


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's, but there
    return True


class Crashed(NamedTuple):
    """A session found dead, when it is taken to have ended, and why."""

    session_id: str
    end_time: str
    reason: str


class Replaced(NamedTuple):
    """A session its conversation has moved on from, and when it was last heard of."""

    session_id: str
    end_time: str


def find_replaced(store: SessionReader, entries: Iterable[IndexEntry], scope: Scope, current: str, now: datetime
                  ) -> list[Replaced]:  # fmt: skip
    """The open sessions of the conversation `current` starts in: it has one at a time (DECISION 54). Reads only."""
    found: list[Replaced] = []
    for entry in entries:
        if entry.session_id == current or entry.archived or not scope.is_same_conversation(entry):
            continue
        try:
            folded = store.folded(entry.session_id)
        except JsonlStoreError as problem:
            log.warning("session %s could not be examined: %s", entry.session_id, problem)
            continue
        if not folded.ended:
            end = last_sign_of_life(folded.updated_at, entry.start_time, now)
            found.append(Replaced(entry.session_id, end))
    return found


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
    line = format_time(now - stale_after)
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
    return [Crashed(entry.session_id, last_sign_of_life(folded.updated_at, entry.start_time, now), reason)]


def last_sign_of_life(active: str | None, started: str, now: datetime) -> str:
    """The last activity, else an hour after the start; never later than now."""
    if active is None:
        try:
            active = format_time(parse_time(started) + _WITHOUT_ACTIVITY)
        except (ValueError, OverflowError):
            active = started
    return min(active, format_time(now))
