"""Where things live, and what may become a file name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.errors import InvalidSessionId
from jsonlstore.core.paths import StatePaths, check_session_id, resolve_state_dir, shorten_home


@pytest.mark.parametrize(
    ("option", "env", "expected"),
    [
        ("/opt/x", {"OPENCLAW_STATE_DIR": "/a", "OPENCLAW_HOME": "/b"}, "/opt/x"),
        (None, {"OPENCLAW_STATE_DIR": "/a", "OPENCLAW_HOME": "/b"}, "/a"),
        (None, {"OPENCLAW_HOME": "/b"}, "/b/.openclaw"),
        (None, {"OPENCLAW_STATE_DIR": ""}, "~/.openclaw"),
        ("~/y", {}, "~/y"),
    ],
)
def test_the_state_dir_is_the_option_then_the_environment_then_home(
    option: str | None, env: dict[str, str], expected: str
) -> None:
    assert resolve_state_dir(option, env) == Path(expected).expanduser()


@given(st.text(max_size=200))
def test_an_accepted_id_is_always_one_plain_file_name(text: str) -> None:
    try:
        accepted = check_session_id(text)
    except InvalidSessionId:
        return
    paths = StatePaths.of(Path("/state"))
    for path in (paths.log(accepted), paths.mirror(accepted), paths.archived_log(accepted, "2026-02")):
        assert path.parent in (paths.states, paths.sessions, paths.archive / "2026-02")
        assert path not in (paths.index, paths.metrics)
        assert not path.name.startswith(".")


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True))
def test_every_plain_id_is_accepted(text: str) -> None:
    if text.endswith(".lock") or text.lower() in ("sessions", "metrics", "archive", "states"):
        with pytest.raises(InvalidSessionId):
            check_session_id(text)
    else:
        assert check_session_id(text) == text


def test_home_is_shortened_only_at_a_directory_boundary() -> None:
    assert shorten_home("/home/u/Projects/x", "/home/u") == "~/Projects/x"
    assert shorten_home("/home/u", "/home/u/") == "~"
    assert shorten_home("/home/user2/x", "/home/u") == "/home/user2/x"
