"""The page is one file that holds everything, and nothing in it can be taken for markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.model import (
    Closed,
    Commit,
    FileInWork,
    LastRequest,
    Note,
    PendingTask,
    SessionState,
    Tokens,
    WorkingMemoryPin,
)  # fmt: skip
from jsonlstore.report import History, RestoreRecord, make_view
from jsonlstore.restore import Pipeline
from jsonlstore.store import IndexEntry
from tests.report.pages import NOW, details_in, history_of, made_up, page_of, rows_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.home import Home

PIECES = [
    "<script>window.hit = 1</script>", "</script>", "</style>", "<!--", "-->", "]]>", "<img src=x onerror=hit()>",
    '"', "'", "&lt;", "&", "{{ 7 * 7 }}", "{% raw %}", "javascript:hit()", "\u2028", "\u202e", "\x00", "<plaintext>",
    "\\u003c", "é方", "</title>", "</svg>", "<svg/onload=hit()>", "</button>", "</option>", "\r\n",
]  # fmt: skip
HOSTILE = st.one_of(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), st.text(max_size=30))


class Structure(HTMLParser):
    """The elements of a page with their attributes' names, and its text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))

    def handle_comment(self, data: str) -> None:
        self.elements.append(("!--", ()))


def structure(page: bytes) -> list[tuple[str, tuple[str, ...]]]:
    parser = Structure()
    parser.feed(page.decode())
    return parser.elements


def history_with(text: str) -> History:
    """Two sessions that say `text` wherever a text may stand."""
    said: dict[str, Any] = {
        "end_time": "2026-11-17T10:30:00.000Z",
        "channel": text,
        "agent_id": text,
        "session_key": text,
        "end_reason": text,
        "hot_topics": (text,),
        "active_projects": (text,),
        "pending_tasks": (PendingTask("t-1", text, text),),
        "notes": (Note("n-1", "decision", text, "2026-11-17T10:00:00.000Z", 0.9), Note("n-2", text, text)),
        "working_memory": (WorkingMemoryPin(text, label=text),),
        "last_request": LastRequest(text, "", text),
        "last_answer": text,
        "next_step": text,
        "open_questions": (text,),
        "constraints": (text,),
        "commits": (Commit(text, text),),
        "files": (FileInWork(text),),
        "closed": (Closed(text, text),),
        "tokens": Tokens(1000, 2000),
    }
    states = tuple(SessionState(f"s-{n}", f"2026-11-{17 - n}T10:00:00.000Z", **said) for n in range(2))
    entries = tuple(IndexEntry(state.session_id, state.start_time, state.end_time) for state in states)
    restores = (RestoreRecord("s-0", "2026-11-17T10:00:00.000Z", ("s-1", text), (0.5,), 1, (text,), text=text),)
    return History(NOW, None, None, entries, states, restores, {}, Pipeline(None), {"s-0": 1})


PLAIN = structure(page_of(history_with("plain")))


@given(HOSTILE)
def test_no_text_changes_the_structure_of_the_page(text: str) -> None:
    """With any text in every place, the page has the same elements and attributes as with a plain word."""
    page = page_of(history_with(text or "plain"))
    assert structure(page) == PLAIN


@given(HOSTILE)
def test_every_text_arrives_in_the_data_as_it_was(text: str) -> None:
    """Rows and details say in the browser what the store says, whatever it is."""
    history = history_with(text)
    page, view = page_of(history), make_view(history)
    same = text.encode("utf-8", "replace").decode()
    if same == text:
        assert rows_in(page) == json.loads(json.dumps(view.rows))
        assert details_in(page) == json.loads(json.dumps(view.details))


def test_the_page_names_one_script_and_one_style_and_nothing_else() -> None:
    """The policy has no source but the two hashes, and no element points anywhere."""
    page = page_of(history_with("plain")).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    text = policy[1].replace("&#39;", "'")
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; "
        r"base-uri 'none'; form-action 'none'",
        text,
    )
    assert not re.search(r"\b(src|srcset|action|poster)=", page[: page.index("<script")])
    assert set(re.findall(r'href="(.)', page)) == {"#"}
    assert "://" not in re.sub(r"(?s)<script.*?</script>", "", page)


def test_a_page_stays_within_its_size_and_says_what_it_left_out(tmp_path: Path) -> None:
    """Newest sessions keep their details; the table has them all."""
    store, _ = made_up(tmp_path, 130)
    history = history_of(store)
    whole = page_of(history)
    assert details_in(whole) == json.loads(json.dumps(make_view(history).details))
    small = page_of(history, most_bytes=len(whole) - 1000)
    assert len(small) < len(whole) - 1000
    kept = details_in(small)
    assert 0 < len(kept) < len(rows_in(small)) == 130
    assert kept == details_in(whole)[: len(kept)]
    assert details_in(page_of(history, most_bytes=0)) == []


def test_the_command_writes_a_private_file_and_says_what_is_in_it(home: Home, tmp_path: Path) -> None:
    """Mode 0600, nothing with --dry-run, and --open hands the file to the browser."""
    home.past("one", active_projects=["radio"], hot_topics=["ft-991a"])
    home.past("two", active_projects=["kite"])
    target = tmp_path / "report.html"
    home.run("report", str(target), "--dry-run")
    assert not target.exists()
    seen = tmp_path / "seen"
    opener = tmp_path / "browser"
    opener.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    opener.chmod(0o755)
    done = home.run("report", str(target), "--project", "Radio", "--open", "--json", env={"BROWSER": str(opener)})
    document = json.loads(done.stdout)
    assert (document["sessions"], document["without_details"]) == (1, 0)
    assert document["bytes"] == target.stat().st_size
    assert target.stat().st_mode & 0o777 == 0o600
    assert seen.read_text().strip() == target.as_uri()
    assert b"Sessions of Radio" in target.read_bytes()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".tmp-")] == []


def test_a_report_of_nothing_is_a_page(home: Home, tmp_path: Path) -> None:
    """An empty store gives a page that says so."""
    home.run("report", str(tmp_path / "empty.html"))
    assert b"No sessions in this period." in (tmp_path / "empty.html").read_bytes()


def test_days_that_no_calendar_has_break_nothing() -> None:
    """Times at the ends of the calendar, in the future or unreadable are in the table and do no harm."""
    starts = ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.000Z", "2031-01-01T00:00:00.000Z", "yesterday"]
    states = tuple(SessionState(f"s-{n}", start, end_time=start) for n, start in enumerate(starts))
    entries = tuple(IndexEntry(state.session_id, state.start_time, state.end_time) for state in states)
    page = page_of(History(NOW, None, None, entries, states, (), {}, Pipeline(None)))
    assert [row["id"] for row in rows_in(page)] == ["s-0", "s-1", "s-2", "s-3"]
