"""Tamper-evident metrics: a hash chain in `metrics.jsonl`, with its head also in `metrics.head`.

Each line ends in its own hash, taken over the exact bytes before it, which include the previous line's hash. A changed,
dropped or inserted line breaks the chain; a truncated tail or a rewritten file disagrees with the head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson

from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.core.files import Disk, read_bytes, read_from
from jsonlstore.core.hashes import sha256
from jsonlstore.core.locks import Locks
from jsonlstore.core.logs import logger
from jsonlstore.core.paths import StatePaths
from jsonlstore.store.log import SessionLog
from jsonlstore.store.sanitise import without_secrets

log = logger(__name__)

METRIC_EVENTS: Mapping[str, tuple[str, ...]] = {
    "session_captured": (
        "session_id", "channel", "duration_minutes", "pin_count", "learning_count", "task_count", "hot_topic_count",
        "crash_recovered",
    ),
    "session_restored": (
        "new_session_id", "from_session_ids", "pins_inherited", "relevance_scores", "pending_task_count", "cold_start",
    ),
    "confidence_decay_applied": (
        "memory_id", "original_confidence", "decayed_confidence", "hours_elapsed", "excluded",
    ),
    "pending_task_surfaced": ("task_id", "title", "stage", "days_pending", "source"),
    "session_chain_traversal": (
        "start_session_id", "requested_depth", "sessions_found", "oldest_session_age_hours",
    ),
    "handoff_captured": ("session_id", "trigger", "mode", "pattern_count", "bytes"),
    "handoff_offered": ("session_id", "new_session_id"),
    "handoff_claimed": ("session_id", "new_session_id", "forced"),
    "flush_offered": ("session_id", "percent"),
    "flush_actioned": ("session_id", "percent", "actioned", "file_count"),
}  # fmt: skip
RESEALED = "metrics_resealed"

GENESIS = "0" * 64
_HASH_KEY = b',"hash":"'
_LINE_END = b'"}'


class Head(NamedTuple):
    """The number of records in the chain, and the hash of the last one."""

    records: int
    hash: str

    @classmethod
    def of(cls, raw: Any) -> Head | None:
        """Parse a head; None if it is not one."""
        try:
            return cls(int(raw["records"]), str(raw["hash"]))
        except (KeyError, TypeError, ValueError):
            return None


class Verdict(NamedTuple):
    """Whether the chain holds; if not, the line at which it breaks and how."""

    ok: bool
    records: int
    head: str
    line: int | None = None
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"ok": self.ok, "records": self.records, "head": self.head}
        return out if self.ok else {**out, "line": self.line, "problem": self.problem}


class Metrics:
    """The metrics of one store."""

    def __init__(self, paths: StatePaths, disk: Disk, locks: Locks, now: Callable[[], str]) -> None:
        self._paths = paths
        self._disk = disk
        self._locks = locks
        self._now = now
        self._log = SessionLog(paths.metrics, paths.quarantine, disk)
        self.listeners: list[Callable[[Sequence[Mapping[str, Any]]], None]] = []
        self._held: list[Mapping[str, Any]] | None = None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Hold back what is emitted in this block and append it in one write at its end, however the block ends.

        Each write waits for the disk twice. One that fails is only logged: the block's own work is done by then.
        """
        held: list[Mapping[str, Any]] = []
        self._held = held
        try:
            yield
        finally:
            self._held = None
            try:
                self.emit(*held)
            except JsonlStoreError as problem:
                log.warning("metrics not written: %s", problem)

    def emit(self, *events: Mapping[str, Any]) -> None:
        """Append events in one write; each is `{"event": name, …}` with exactly the fields that its name requires."""
        for event in events:
            _check(event)
        if self._held is not None:
            self._held += events
            return
        if not events:
            return
        self._disk.make_dir(self._paths.states)
        with self._locks.metrics():
            self._append(events)
        for listener in self.listeners:
            listener(events)

    def read(self, event: str | None = None) -> Iterator[dict[str, Any]]:
        """Every record, oldest first, optionally of one kind; unreadable lines are skipped."""
        for line in self._lines()[:-1]:
            record = _parse(line)
            if record is not None and event in (None, record.get("event")):
                yield record

    def verify(self) -> Verdict:
        """Walk the chain and compare it with the head.

        Needs no lock: the head is read first and can only lag behind.
        """
        verdict = self._verify()
        return verdict if verdict.ok else self._verify()  # a writer may have been between chain and head the first time

    def _verify(self) -> Verdict:
        head, verdict = self._head(), self._walk()
        if not verdict.ok or (head is None and not verdict.records):
            return verdict
        problem = self._disagreement(head, verdict)
        if problem is None:
            return verdict
        return verdict._replace(ok=False, line=min(verdict.records, head.records if head else 1), problem=problem)

    def _walk(self) -> Verdict:
        """The verdict on the chain alone: every line must follow from the one before it."""
        *lines, torn = self._lines()
        previous = GENESIS
        for number, line in enumerate(lines, 1):
            record_hash = _hash_of(line, previous)
            if record_hash is None:
                return Verdict(False, number - 1, previous, number, "the record does not follow from the one before it")
            previous = record_hash
        if torn:
            return Verdict(False, len(lines), previous, len(lines) + 1, "the record is torn")
        return Verdict(True, len(lines), previous)

    def _disagreement(self, head: Head | None, verdict: Verdict) -> str | None:
        """The disagreement between an unbroken chain and its head.

        A head that lags behind is a crash, not tampering.
        """
        if head is None:
            return "metrics.head is missing"
        if head.records > verdict.records:
            return f"metrics.head counts {head.records} records, the file has {verdict.records}: its tail was cut"
        lines = self._lines()
        if head.records and not _hash_ends(lines[head.records - 1], head.hash):
            return "the record is not the one metrics.head names: the file was rewritten"
        return None

    def repair(self) -> bool:
        """Cut a torn tail into quarantine, and trust an unbroken chain when only the head disagrees.

        A record of the repair is appended before the head is rewritten. True if something was repaired; a broken chain
        stays broken.
        """
        with self._locks.metrics():
            before = self._verify()
            if before.ok:
                return False
            if before.problem == "the record is torn":
                self._log.repair()
                before = self._verify()
            walked = self._walk()
            if not before.ok and walked.ok:
                self._write_head(Head(walked.records, walked.head))
                self._append([_resealed(reason=before.problem)])
            return walked.ok

    def blank(self, session_id: str, task_ids: Iterable[str]) -> int:
        """Blank the titles of a forgotten session's tasks and reseal the chain with a record of that.

        A torn or damaged line is removed too: it may hold a title of the forgotten session.
        """
        wanted = set(task_ids)
        if not wanted:
            return 0
        with self._locks.metrics():
            self._disk.sweep(self._paths.states, self._paths.metrics.name)
            for path in self._paths.quarantine.glob(f"{self._paths.metrics.stem}.*.torn"):
                self._disk.remove(path)
            *lines, torn = self._lines()
            records = [record for record in map(_parse, lines) if record is not None]
            blanked = 0
            for record in records:
                if record.get("task_id") in wanted and record.get("title"):
                    record["title"] = ""
                    blanked += 1
            if blanked or torn or len(records) < len(lines):
                reason = None if self._verify().ok else "the chain was already broken"
                self._reseal(records, _resealed(session_id=session_id, records_blanked=blanked, reason=reason))
            return blanked

    def _reseal(self, records: list[dict[str, Any]], note: Mapping[str, Any]) -> None:
        """Write the whole chain again.

        The head names both chains until the new one is in place, so that a crash in between does not look like a
        rewritten file.
        """
        lines, previous = [], GENESIS
        for number, record in enumerate([*records, {"at": self._now(), **note}], 1):
            line, previous = _seal(number, record, previous)
            lines.append(line)
        after = Head(len(lines), previous)
        self._write_head(self._head() or Head(0, GENESIS), then=after)
        self._disk.replace(self._paths.metrics, b"".join(lines), self._paths.states)
        self._write_head(after)

    def _lines(self) -> list[bytes]:
        """The file's lines; the last item is what follows the last newline: empty, or a record torn by a crash."""
        return (read_bytes(self._paths.metrics) or b"").split(b"\n")

    def _append(self, events: Iterable[Mapping[str, Any]]) -> None:
        if not self._paths.metrics.exists():
            # written before the first record, so that a missing head always means a removed one
            self._write_head(Head(0, GENESIS))
        head = self._resync()
        lines, records, previous, at = [], head.records, head.hash, self._now()
        for event in events:
            records += 1
            line, previous = _seal(records, {"at": at, **without_secrets(dict(event))}, previous)
            lines.append(line)
        self._log.append(b"".join(lines))
        # a power cut may bring back an older head; it lags behind the chain, and the next append repairs that
        self._write_head(Head(records, previous), lasting=False)

    def _resync(self) -> Head:
        """The head to continue from.

        A head that a crash left behind is brought forward; one that disagrees is kept, so that the break stays visible.
        """
        head = self._head() or Head(0, GENESIS)
        lines = self._lines()[:-1] if self._grew_past(head) else []
        if len(lines) <= head.records or (head.records and not _hash_ends(lines[head.records - 1], head.hash)):
            return head
        for line in lines[head.records :]:
            record_hash = _hash_of(line, head.hash)
            if record_hash is None:
                return head
            head = Head(head.records + 1, record_hash)
        return head

    def _grew_past(self, head: Head) -> bool:
        """Whether the file's last record differs from the head's. Cheap: only the tail is read."""
        found = read_from(self._paths.metrics, -67)
        return found is not None and not _hash_ends(found[0].rstrip(b"\n"), head.hash)

    def _head(self) -> Head | None:
        raw = _parse(read_bytes(self._paths.metrics_head) or b"")
        head, then = Head.of(raw), Head.of((raw or {}).get("then"))
        if then is not None:
            lines = self._lines()
            if 0 < then.records < len(lines) and _hash_ends(lines[then.records - 1], then.hash):
                return then
        return head

    def _write_head(self, head: Head, then: Head | None = None, *, lasting: bool = True) -> None:
        names = head._asdict() | ({"then": then._asdict()} if then else {})
        data = orjson.dumps(names, option=orjson.OPT_APPEND_NEWLINE)
        self._disk.replace(self._paths.metrics_head, data, self._paths.states, lasting=lasting)


def _resealed(
    session_id: str | None = None, records_blanked: int = 0, reason: str | None = None
) -> dict[str, str | int | None]:
    return {"event": RESEALED, "session_id": session_id, "records_blanked": records_blanked, "reason": reason}


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _check(event: Mapping[str, Any]) -> None:
    name = str(event.get("event"))
    if name not in METRIC_EVENTS:
        raise UsageError(f"no such metric: {name!r}", hint=f"one of {', '.join(METRIC_EVENTS)}")
    missing = [key for key in METRIC_EVENTS[name] if key not in event]
    if missing:
        raise UsageError(f"metric {name} lacks {', '.join(missing)}")


def _seal(number: int, record: Mapping[str, Any], previous: str) -> tuple[bytes, str]:
    """A record's line and its hash."""
    body = {key: value for key, value in record.items() if key not in ("seq", "prev", "hash")}
    open_line = orjson.dumps({"seq": number, **body, "prev": previous})[:-1]
    record_hash = sha256(open_line).hexdigest()
    return open_line + _HASH_KEY + record_hash.encode() + _LINE_END + b"\n", record_hash


def _hash_of(line: bytes, previous: str) -> str | None:
    """The line's hash if the line is sealed and follows `previous`, else None."""
    open_line, found, rest = line.rpartition(_HASH_KEY)
    if not found or not open_line.endswith(b'"prev":"%s"' % previous.encode()):
        return None
    record_hash = sha256(open_line).hexdigest()
    return record_hash if rest == record_hash.encode() + _LINE_END else None


def _hash_ends(line: bytes, record_hash: str) -> bool:
    return line.endswith(record_hash.encode() + _LINE_END)
