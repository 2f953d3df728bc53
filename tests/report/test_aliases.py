"""With --redact-names, no name that is known to be one is in the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.model import FileInWork, Note, SessionState
from jsonlstore.report import Aliases, History
from jsonlstore.report.aliases import Aliases as Direct
from jsonlstore.restore import Pipeline
from jsonlstore.store import IndexEntry
from tests.report.pages import NOW, details_in, page_of, rows_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.home import Home

# names that are no part of what the page itself says or of an alias
NAMES = st.text("qxzjQXZJé方", min_size=4, max_size=10) | st.lists(
    st.text("qxzj", min_size=2, max_size=5), min_size=2, max_size=3
).map("-".join)
JOINS = st.sampled_from([" ", ", ", "/", "_", "-", "'s ", "", ".", "(", "\n"])


def history(states: tuple[SessionState, ...]) -> History:
    entries = tuple(IndexEntry(state.session_id, state.start_time) for state in states)
    return History(NOW, None, None, entries, states, (), {}, Pipeline(None))


@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), JOINS, st.sampled_from([str.upper, str.lower, str.title]))
def test_a_known_name_is_nowhere_in_the_file(names: list[str], join: str, written: Any) -> None:
    """Not in a text, not in a topic, not in another case or with other separators, not in the packed details."""
    project, agent, *rest = names
    said = f"about {join.join(written(name) for name in names)} and {project.replace('-', ' ')}"
    state = SessionState(
        "5f0c1d9e",
        "2026-11-17T10:00:00.000Z",
        agent_id=agent,
        session_key=f"agent:{agent}:telegram:dm:{rest[0] if rest else project}",
        active_projects=(project, *rest),
        hot_topics=(said, project),
        next_step=said,
        notes=(Note("n", "decision", said, confidence=0.9),),
        files=(FileInWork(f"~/{project}/main.py"),),
    )
    page = page_of(history((state,)), hidden=True)
    shown = json.dumps([rows_in(page), details_in(page)], ensure_ascii=False) + page.decode()
    for name in names:
        assert name.lower() not in shown.lower()


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("write to ann@example.org today", "write to [mail] today"),
        ("see https://example.org/a?b=c for it", "see [link] for it"),
        ("edit ~/garden/secret/plan.md", "edit [path]"),
        ("call +49 170 1234567 back", "call [number] back"),
        ("ping @annabel", "ping [handle]"),
        ("host 192.168.7.12 is down", "host [address] is down"),
        ("2026-11-17 10:00", "2026-11-17 10:00"),
        ("maintain the main branch", "maintain the main branch"),
        ("an ox in a box", "an project-1 in a box"),
    ],
)
def test_what_has_a_shape_becomes_what_it_is(text: str, hidden: str) -> None:
    """Addresses go, times and ordinary words stay; a short name counts only as a word of its own."""
    assert Direct({"main": "agent-1", "ox": "project-1"}).text(text) == hidden


def test_the_same_name_has_the_same_alias_everywhere() -> None:
    """So that a filter by project still finds its sessions."""
    state = SessionState("one", "2026-11-17T10:00:00.000Z", active_projects=("Kite-Works",), hot_topics=("kite",))
    aliases = Aliases.of(history((state,)))
    assert {aliases.text(one) for one in ("Kite-Works", "kiteworks", "KITE works", "kite_works")} == {"project-1"}


def test_the_command_hides_names(home: Home, tmp_path: Path) -> None:
    """Also the one given with --project."""
    home.past(
        "zephyr-session", active_projects=["Zephyr"], hot_topics=["zephyr wind"], session_key="agent:x:sms:dm:zoe99"
    )
    target = tmp_path / "shared.html"
    home.run("report", str(target), "--project", "zephyr", "--redact-names")
    page = target.read_bytes()
    shown = json.dumps([rows_in(page), details_in(page)]) + page.decode()
    assert "zephyr" not in shown.lower()
    assert "zoe99" not in shown
    assert rows_in(page)[0]["projects"] == ["project-1"]
