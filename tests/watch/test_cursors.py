"""Links to the session before, found without looking at every session there ever was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.watch.cursors import EndedSessions, Position

KEYS = st.sampled_from([None, "agent:main:main", "agent:main:tg:dm:u"])
CHANNELS = st.sampled_from(["unknown", "webchat", "telegram"])
TIMES = st.integers(0, 6).map(lambda hour: f"2026-09-21T0{hour}:00:00.000Z")
PASTS = st.builds(Position, st.sampled_from("abcdef"), end_time=TIMES, channel=CHANNELS, session_key=KEYS)


@given(st.lists(PASTS, max_size=20), TIMES, CHANNELS, KEYS, st.sets(st.sampled_from("abcdef"), max_size=2))
def test_the_closest_conversation_comes_first_then_the_latest_end(
    ended: list[Position], start: str, channel: str, key: str | None, but: set[str]
) -> None:
    """Compared with ranking all of them; a session that is added again counts as it was added last."""
    sessions = EndedSessions()
    for one in ended:
        sessions.add(one)
    ranked = [
        (
            2 * (key is not None and one.session_key == key) + (channel != "unknown" and one.channel == channel),
            one.end_time,
            one.session_id,
        )
        for one in {one.session_id: one for one in ended}.values()
        if one.end_time <= start and one.session_id not in but
    ]
    assert sessions.latest(start, channel, key, but) == (max(ranked)[2] if ranked else None)
