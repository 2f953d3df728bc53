"""Links to the session before, found without looking at every session there ever was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.watch.cursors import EndedSession, EndedSessions

KEYS = st.sampled_from([None, "agent:main:main", "agent:main:tg:dm:u"])
CHANNELS = st.sampled_from(["unknown", "webchat", "telegram"])
TIMES = st.integers(0, 6).map(lambda hour: f"2026-09-21T0{hour}:00:00.000Z")
PASTS = st.builds(EndedSession, st.sampled_from("abcdef"), TIMES, CHANNELS, KEYS)


@given(st.lists(PASTS, max_size=20), TIMES, CHANNELS, KEYS, st.sets(st.sampled_from("abcdef"), max_size=2))
def test_the_closest_conversation_comes_first_then_the_latest_end(
    pasts: list[EndedSession], start: str, channel: str, key: str | None, but: set[str]
) -> None:
    """Compared with ranking all of them; a session that is added again counts as it was added last."""
    history = EndedSessions()
    for past in pasts:
        history.add(past)
    ranked = [
        (
            2 * (key is not None and past.session_key == key) + (channel != "unknown" and past.channel == channel),
            past.end_time,
            past.session_id,
        )
        for past in {past.session_id: past for past in pasts}.values()
        if past.end_time <= start and past.session_id not in but
    ]
    assert history.latest(start, channel, key, but) == (max(ranked)[2] if ranked else None)
