"""The store against a simple model in memory: any sequence of operations, reopened at any point."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import orjson
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from jsonlstore.core.errors import SessionForgotten, SessionNotFound, SessionOpen
from jsonlstore.core.files import Disk
from jsonlstore.store.doctor import Doctor
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore
from tests.conftest import FakeClock

ids = st.sampled_from(["alpha", "beta", "gamma.1"])
topics = st.lists(st.sampled_from(["radio", "Radio", "antenna", "funk"]), max_size=3)
writers = st.sampled_from(["hook", "watcher"])


class Model:
    """What one session ought to be."""

    def __init__(self) -> None:
        self.topics: dict[str, list[str]] = {}
        self.next_step: dict[str, str] = {}
        self.ends: dict[str, str] = {}
        self.crashed = False
        self.continued: str | None = None
        self.forgotten = False

    def hot_topics(self) -> list[str]:
        out: list[str] = []
        for by in ("hook", "watcher"):
            seen = {word.lower() for word in out}
            for word in self.topics.get(by, []):
                if word.lower() not in seen:
                    seen.add(word.lower())
                    out.append(word)
        return out


class StoreMachine(RuleBasedStateMachine):
    """Every rule does the same to the store and to the model; the invariants compare them."""

    sessions = Bundle("sessions")

    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="jsonlstore-stateful-"))
        self.clock = FakeClock()
        self.model: dict[str, Model] = {}
        self.reopen()

    def teardown(self) -> None:
        if hasattr(self, "root"):
            shutil.rmtree(self.root)

    @rule()
    def reopen(self) -> None:
        opened = SessionStore.open(self.root, clock=self.clock)
        self.store = SessionStore(opened.paths, clock=self.clock, disk=Disk(sync=False))

    @rule(session_id=ids, by=writers)
    def start(self, session_id: str, by: str) -> None:
        self.clock.advance(seconds=1)
        known = self.model.get(session_id)
        if known and known.forgotten:
            self._refused(SessionForgotten, lambda: self.store.start(session_id, by=by))
            return
        assert self.store.start(session_id, by=by) is (known is None)
        self.model.setdefault(session_id, Model())

    def _refused(self, kind: type[Exception], call: Any) -> None:
        try:
            call()
        except kind:
            return
        raise AssertionError(f"{kind.__name__} expected")

    def _live(self, session_id: str, call: Any) -> Model | None:
        """The model of a session that may be written to; otherwise the store must refuse."""
        known = self.model.get(session_id)
        if known is None:
            self._refused(SessionNotFound, call)
            return None
        if known.forgotten:
            self._refused(SessionForgotten, call)
            return None
        call()
        return known

    @rule(session_id=ids, by=writers, words=topics)
    def update(self, session_id: str, by: str, words: list[str]) -> None:
        self.clock.advance(seconds=1)
        known = self._live(session_id, lambda: self.store.update(session_id, {"hot_topics": words}, by=by))
        if known:
            known.topics[by] = words

    @rule(session_id=ids, by=writers, size=st.sampled_from([1, 30_000]))
    def update_much(self, session_id: str, by: str, size: int) -> None:
        self.clock.advance(seconds=1)
        text = f"step at {self.store.now()} " + "x" * size
        known = self._live(session_id, lambda: self.store.update(session_id, {"next_step": text}, by=by))
        if known:
            known.next_step[by] = text

    @rule(session_id=ids, by=writers, reason=st.sampled_from(["new", "idle"]))
    def end(self, session_id: str, by: str, reason: str) -> None:
        self.clock.advance(seconds=1)
        when = self.store.now()
        known = self._live(session_id, lambda: self.store.end(session_id, reason=reason, by=by))
        if known:
            known.ends["told" if by == "hook" else by] = when
            known.crashed = known.crashed and by == "watcher"

    @rule(session_id=ids)
    def recover(self, session_id: str) -> None:
        self.clock.advance(seconds=1)
        when = self.store.now()
        known = self._live(session_id, lambda: self.store.recover(session_id, when))
        if known and not known.ends:
            known.ends["told"], known.crashed = when, True

    @rule(session_id=ids)
    def resume(self, session_id: str) -> None:
        known = self._live(session_id, lambda: self.store.resume(session_id))
        if known:
            known.ends, known.crashed = {}, False

    @rule(session_id=ids, successor=ids)
    def link(self, session_id: str, successor: str) -> None:
        known = self._live(session_id, lambda: self.store.link(session_id, successor))
        if known:
            known.continued = successor

    @rule(session_id=ids)
    def archive(self, session_id: str) -> None:
        known = self.model.get(session_id)
        if known is None:
            self._refused(SessionNotFound, lambda: self.store.archive(session_id))
        elif known.forgotten:
            self._refused(SessionForgotten, lambda: self.store.archive(session_id))
        elif not known.ends:
            self._refused(SessionOpen, lambda: self.store.archive(session_id))
        else:
            self.store.archive(session_id)

    @rule(session_id=ids)
    def forget(self, session_id: str) -> None:
        self.store.forget(session_id)
        self.model.setdefault(session_id, Model()).forgotten = True

    @rule(session_id=ids, junk=st.binary(min_size=1, max_size=20).filter(lambda data: b"\n" not in data))
    def tear(self, session_id: str, junk: bytes) -> None:
        """A writer died in the middle of an append."""
        path = self.store.paths.log(session_id)
        if path.exists() and not self.model[session_id].forgotten:
            with open(path, "ab") as file:
                file.write(junk)

    @rule()
    def lose_the_index(self) -> None:
        self.store.paths.index.unlink(missing_ok=True)

    @invariant()
    def every_session_is_what_the_model_says(self) -> None:
        for session_id, known in self.model.items():
            if known.forgotten:
                self._refused(SessionForgotten, lambda each=session_id: self.store.get(each))
                continue
            state = self.store.get(session_id)
            assert list(state.hot_topics) == known.hot_topics()
            assert state.next_step == (known.next_step.get("hook") or known.next_step.get("watcher"))
            assert state.end_time == (known.ends.get("told") or known.ends.get("watcher"))
            assert state.crash_recovered is known.crashed
            assert state.continued_by == known.continued
            assert problems("state", state.to_dict()) == []

    @invariant()
    def the_index_agrees_with_the_model_and_with_a_rebuild(self) -> None:
        entries = {entry.session_id: entry for entry in self.store.entries()}
        assert set(entries) == {key for key, known in self.model.items() if not known.forgotten}
        for session_id, entry in entries.items():
            known = self.model[session_id]
            assert entry.end_time == (known.ends.get("told") or known.ends.get("watcher"))
            assert entry.continued_by == known.continued
        if self.store.paths.index.exists():
            assert self.store.paths.index.read_bytes() == self.store.index.expected()
            assert problems("index", orjson.loads(self.store.paths.index.read_bytes())) == []

    @invariant()
    def nothing_but_ours_lies_in_sessions(self) -> None:
        directory = self.store.paths.sessions
        for path in directory.iterdir() if directory.exists() else ():
            assert path.name in ("archive", "states") or path.suffix == ".json"
            assert path.name != "sessions.json"

    @rule()
    def see_the_doctor(self) -> None:
        assert all(check.ok for check in Doctor(self.store).examine(fix=True))
        assert all(check.ok for check in Doctor(self.store).examine())


StoreMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=25)
TestStore = StoreMachine.TestCase
