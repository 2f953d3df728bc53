"""`hook turn-end` tells a runtime that asks how large its model's window is, as far as the store knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.home import Home


def test_the_window_is_told_to_whoever_asks(home: Home) -> None:
    """Unknown is null; the question is no part of the session's state."""
    home.hook("session-start", session_id="s", channel="cli")
    assert home.hook("turn-end", session_id="s", tell_window=True) == {
        "session_id": "s",
        "updated": True,
        "window": None,
    }
    home.hook("turn-end", session_id="s", tokens={"used": 10, "window": 64_000, "estimated": False})
    assert home.hook("turn-end", session_id="s", tell_window=True)["window"] == 64_000
    assert "window" not in home.hook("turn-end", session_id="s")
    assert "tell_window" not in home.store.get("s").to_dict()


def test_a_switch_that_is_none_is_refused_by_name(home: Home) -> None:
    """A wrong type is a usage error that names the field."""
    done = home.run("hook", "turn-end", stdin='{"session_id": "s", "tell_window": 1}', check=False)
    assert done.returncode == 2
    assert "tell_window must be true or false" in done.stderr
