"""`SessionCapture`: what a session amounts to, written down after every turn and once more at its end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from jsonlstore.core.clock import Clock, format_time, system_clock
from jsonlstore.core.config import Config
from jsonlstore.core.errors import JsonlStoreError, SessionNotFound
from jsonlstore.core.files import read_bytes
from jsonlstore.core.logs import logger
from jsonlstore.core.model import Closed, PendingTask, SessionState, WorkingMemoryPin, read_parts
from jsonlstore.restore.pins import UNPINNED, PinFile, own_pins, pin_mark, same_pin
from jsonlstore.restore.restorer import emit_captured
from jsonlstore.restore.scope import Scope
from jsonlstore.restore.tasks import Pipeline, pin_tasks
from jsonlstore.store import SessionFold, SessionStore, check_fields

log = logger("jsonlstore.session")

_START_FIELDS = ("channel", "agent_id", "session_key", "start_time", "previous_session_id")
_ARCHIVED_AT_ONCE = 100
_FROM_FILE = "pins_in_file"  # which of the recorded pins stood in the pin file, so that its word on them counts


class SessionCapture:
    """Adds to what a runtime tells of a session what only its workspace knows: pins and open tasks. One write each."""

    def __init__(self, store: SessionStore, config: Config, *, clock: Clock = system_clock, by: str = "hook") -> None:
        self._store = store
        self._config = config
        self._clock = clock
        self._by = by
        self.warnings: list[str] = []  # what could not be captured, for whoever asked

    def update(self, session_id: str, fields: Mapping[str, Any]) -> bool:
        """Record a turn: the given fields, the pins and the open tasks as they are now; False if none is news."""
        known = self._known(session_id, fields)
        if known.ended and (known.crash_recovered or "told" not in known.ends):
            self._store.resume(session_id, by=self._by)  # it speaks: it was taken for dead or gone too early
        return self._store.update(session_id, self._completed(session_id, fields, known), by=self._by)

    def capture(
        self, session_id: str, fields: Mapping[str, Any] | None = None, *, reason: str | None = None
    ) -> tuple[SessionState, bool]:
        """Close a session with its final state, and count it; False if it had ended, and nothing is news."""
        given = dict(fields or {})
        known = self._known(session_id, given)
        end_time = given.pop("end_time", None)
        if "told" in known.ends and not known.crash_recovered:
            final = given  # what is pinned and open by now is another session's
        else:
            final = self._completed(session_id, given, known)
            if not final.get("hot_topics") and not known.to_dict()["hot_topics"]:
                final |= _topics_of_pins(final.get("working_memory") or ())
        news = self._store.end(
            session_id, final, reason=reason, end_time=end_time, by=self._by,
            on_close=lambda: emit_captured(self._store, session_id),
        )  # fmt: skip
        return self._store.get(session_id), news

    def archive_old(self) -> list[str]:
        """Archive what is old enough, at most once a day (decision 56); returns what was moved."""
        store, stamp = self._store, self._store.paths.states / "archive.stamp"
        today = format_time(self._clock())[:10].encode()
        try:
            if read_bytes(stamp) == today:
                return []
            store.prepare()
            store.disk.replace(stamp, today, store.paths.states)
            return store.archive_older(timedelta(days=self._config.archive_after_days), most=_ARCHIVED_AT_ONCE)
        except JsonlStoreError as problem:
            log.warning("old sessions not archived: %s", problem)
            return []

    def _known(self, session_id: str, fields: Mapping[str, Any]) -> SessionFold:
        """The session so far; one nobody announced is started now (decision 52)."""
        try:
            return self._store.folded(session_id)
        except SessionNotFound:
            check_fields(fields)  # what is refused leaves no trace, not even a session that was never announced
            first = {key: fields[key] for key in _START_FIELDS if fields.get(key) is not None}
            self._store.start(session_id, by=self._by, **first)
            return self._store.folded(session_id)

    def _completed(self, session_id: str, fields: Mapping[str, Any], known: SessionFold) -> dict[str, Any]:
        given = dict(fields)
        layer = known.layers.get(self._by, {})
        state = known.state()
        scope = Scope.of(
            self._config.scope,
            given.get("agent_id") or state.agent_id,
            given.get("session_key") or state.session_key,
            given.get("channel") or state.channel,
        )
        pins = self._pins(session_id, given, scope, layer, state.start_time)
        if pins is not None:
            given["working_memory"] = pins
        found, done = pin_tasks(_as_pins(pins or ()))
        done = self._news_of_pins(done, _as_pins(pins or ()), scope, state)
        tasks = self._tasks(given, layer, found, {str(one.id) for one in done})
        if tasks is not None:
            given["pending_tasks"] = tasks
        removed = self._unpinned(pins, given, layer)
        if done or removed is not None:
            given["closed"] = self._closed(given, layer, done, removed)
        return given

    @staticmethod
    def _unpinned(pins: Sequence[Any] | None, given: Mapping[str, Any], layer: Mapping[str, Any]) -> set[str] | None:
        """The pins that stood in the file in this session and do not any more; None if that is no news.

        A transcript still tells that they were set: this is what says that they are gone.
        """
        if _FROM_FILE not in given:
            return None
        before = {str(one.get("id")) for one in layer.get("closed", ()) if isinstance(one, Mapping)}
        known = {one for one in before if one.startswith(UNPINNED)}
        gone = (known | set(layer.get(_FROM_FILE) or ())) - {pin_mark(pin) for pin in _as_pins(pins or ())}
        return None if gone == known else gone

    def _pins(
        self, session_id: str, given: dict[str, Any], scope: Scope, layer: Mapping[str, Any], since: str
    ) -> list[Any] | None:
        """The pin file as this conversation sees it, after what was given; None to leave what is recorded.

        A valid file says what of itself is still pinned, also that nothing is. A missing or broken one erases nothing,
        and what was given without ever standing in the file stays.
        """
        pinned = PinFile.of(self._store, self._config).read()
        if pinned.problem:
            self._warn(f"pins not captured: {pinned.problem}")
        raw = self._store.index.entries() if pinned.pins else {}
        own = own_pins(pinned.pins, scope, session_id, raw, format_time(self._clock()))
        recorded = _as_pins(layer.get("working_memory", ()))
        from_file = set(layer.get(_FROM_FILE) or ())
        before = {key for pin in recorded for key in same_pin(pin)}
        mine = [pin for pin in pinned.pins if pin in own or same_pin(pin) & before]
        clean = _as_pins([pin.to_dict() for pin in mine])
        told = given.get("working_memory")
        if told is not None and not isinstance(told, (list, tuple)):
            return None  # the store says what is wrong with it
        first = _as_pins(told or ())
        seen = {key for pin in first for key in same_pin(pin)}
        unknown = [
            pin
            for pin in pinned.pins
            if pin not in mine and not same_pin(pin) & seen and (pin.pinned_at or since) >= since
        ]
        if unknown:
            critical = sum(pin.critical for pin in unknown)
            self._warn(
                f"{len(unknown)} of {len(pinned.pins)} pins not captured ({critical} of them CRITICAL): they were set "
                "while another conversation was open, and only a transcript can say in which"
            )
        if pinned.is_there and (mine or from_file):
            given[_FROM_FILE] = sorted(map(pin_mark, clean))
        if told is None:
            if not (pinned.is_there and (mine or before)):
                return None
            there = {key for pin in clean for key in same_pin(pin)}
            kept = [pin for pin in recorded if not same_pin(pin) & there and pin_mark(pin) not in from_file]
            return [pin.to_dict() for pin in (*kept, *mine)]
        return [*told, *(pin.to_dict() for pin in mine if not same_pin(pin) & seen)]

    def _warn(self, message: str) -> None:
        self.warnings.append(message)
        log.warning("%s", message)

    def _news_of_pins(
        self, done: Sequence[Closed], pins: Sequence[WorkingMemoryPin], scope: Scope, state: SessionState
    ) -> list[Closed]:
        """What pins say is done, without what a pin of an earlier session said to an earlier session already."""
        if not done:
            return []
        reaches = scope.in_reach()
        taken = {
            str(one[0]).lower()
            for other, entry in self._store.index.entries().items()
            if other != state.session_id and entry.get("closed") and reaches(entry)
            for one in entry["closed"]
        }
        fresh = [pin for pin in pins if not pin.pinned_at or pin.pinned_at >= state.start_time]
        said_now = {str(one.id) for one in pin_tasks(fresh)[1]}
        return [one for one in done if str(one.id) in said_now or str(one.id) not in taken]

    @staticmethod
    def _closed(
        given: Mapping[str, Any], layer: Mapping[str, Any], done: Sequence[Closed], removed: set[str] | None
    ) -> list[Any]:
        """What was given or said before as closed, what pins say is done, and which pins were taken away."""
        told = given.get("closed")
        before = list(told if isinstance(told, (list, tuple)) else layer.get("closed", ()))
        fresh = [one.to_dict() for one in done]
        if removed is not None:
            before = [
                one for one in before if not (isinstance(one, Mapping) and str(one.get("id")).startswith(UNPINNED))
            ]
            fresh += [{"id": one, "title": "", "how": "unpinned"} for one in sorted(removed)]
        seen = {str(one.get("id")).lower() for one in before if isinstance(one, Mapping)}
        return [*before, *(one for one in fresh if str(one["id"]).lower() not in seen)]

    def _tasks(
        self, given: Mapping[str, Any], layer: Mapping[str, Any], pinned: Sequence[PendingTask], done: Collection[str]
    ) -> list[Any] | None:
        """What was given, else what was open before and is not done, then what pipeline and pins show to be open."""
        pipeline = Pipeline.read(self._store.paths, self._config)
        found = [*pipeline.open_tasks(self._config.pending_stages), *pinned]
        told = given.get("pending_tasks")
        if told is not None and not isinstance(told, (list, tuple)):
            return None  # the store says what is wrong with it
        if told is None:
            before = read_parts(PendingTask, layer.get("pending_tasks", ()))
            unpinned = {task.task_id for task in pin_tasks(_as_pins(layer.get("working_memory", ())))[0]}
            told = [
                task
                for task in pipeline.still_open(before)
                if task.task_id not in unpinned and task.task_id.lower() not in done
            ]
            if not told and not found and not before:
                return None
        listed = [task.to_dict() if isinstance(task, PendingTask) else task for task in told]
        seen = {task.get("task_id") for task in listed if isinstance(task, dict)}
        for task in found:
            if task.task_id not in seen and task.task_id.lower() not in done:
                seen.add(task.task_id)
                listed.append(task.to_dict())
        return listed


def _as_pins(items: Sequence[Any]) -> tuple[WorkingMemoryPin, ...]:
    """Pins without secrets: what is derived from a pin no longer shows that a word in it was one."""
    pins = [pin.to_dict() if isinstance(pin, WorkingMemoryPin) else pin for pin in items]
    if not pins:
        return ()
    from jsonlstore.redact import redact_value

    return read_parts(WorkingMemoryPin, map(redact_value, pins))


def _topics_of_pins(pins: Sequence[Any]) -> dict[str, Any]:
    """Topics for a session of which nothing is known but its pins."""
    labelled = _as_pins(pins)
    if not labelled:
        return {}
    from jsonlstore.core.model import strip_provenance
    from jsonlstore.signals import HotTopicExtractor

    extractor = HotTopicExtractor()
    for pin in labelled:
        if pin.label:
            extractor.record_working_memory_label(strip_provenance(pin.label))
        extractor.record_text(pin.content)
    return {"hot_topics": extractor.current_topics()}
