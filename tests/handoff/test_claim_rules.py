"""Who has a handoff, after any sequence of asking, answering, ending, waiting and clearing: as the rules say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.handoff import capture, claim, clear, confirm
from jsonlstore.store.store import SessionStore
from tests.handoff.test_resume import LEFT

ASKING = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), ASKING),
        st.tuples(st.just("answer"), ASKING),
        st.tuples(st.just("end"), ASKING),
        st.tuples(st.just("wait"), st.sampled_from([10, 61, 301, 90_000])),
        st.tuples(st.just("clear"), st.just(0)),
    ),
    max_size=25,
)


class Rules:
    """The rules in a few lines, to compare with."""

    def __init__(self, now: datetime) -> None:
        self.started = now
        self.holder: int | None = None
        self.since = now
        self.answered = self.cleared = False
        self.ended: set[int] = set()

    def may_have(self, asking: int, now: datetime) -> bool:
        if self.cleared or now - self.started >= timedelta(hours=24):
            return False
        if self.holder in (None, asking):
            return True
        age, ended = now - self.since, self.holder in self.ended
        if self.answered:
            return ended and age > timedelta(minutes=5)
        return ended or age > timedelta(minutes=1)


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_a_handoff_has_one_holder_and_it_is_the_one_the_rules_name(steps: list[tuple[str, int]]) -> None:
    now = [datetime(2026, 11, 10, 10, 0, tzinfo=UTC)]
    store = SessionStore.in_memory(clock=lambda: now[0])
    store.start("a")
    store.end("a", LEFT, reason="reset")
    capture(store, "a", "reset", now=now[0], expires_hours=24)
    for number in range(4):
        store.start(f"s{number}")
        store.note(f"s{number}", "session.inherited", {"handoff": "a"})
    rules = Rules(now[0])
    for step, value in steps:
        if step == "wait":
            now[0] += timedelta(seconds=value)
        elif step == "clear":
            clear(store, "a")
            rules.cleared = True
            rules.holder = None
        elif step == "end":
            store.end(f"s{value}", reason="new")
            rules.ended.add(value)
        elif step == "answer":
            done = confirm(store, f"s{value}")
            assert done == (rules.holder == value and not rules.answered)
            rules.answered |= rules.holder == value
        else:
            allowed = rules.may_have(value, now[0])
            found = claim(store, "a", f"s{value}", now=now[0], expires_hours=24)
            assert found.won == allowed
            if allowed and rules.holder != value:
                rules.holder, rules.since, rules.answered = value, now[0], False
            elif not allowed and found.by is not None:
                assert found.by == f"s{rules.holder}"
