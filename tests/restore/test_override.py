"""FR-011, NFR-002: the manual override takes any age, keeps the caps, answers as specified, and leaves a trail."""

from __future__ import annotations

import json
import re

import pytest

from jsonlstore.core.errors import SessionNotFound, SessionOpen, UsageError
from jsonlstore.restore.override import reply
from tests.home import Home, task


def old_session(home: Home) -> None:
    pins = [{"content": f"c{n}", "label": f"pin {n}"} for n in range(7)]
    home.past("a1b2c3d4-full-id", hot_topics=["x", "y"], pending_tasks=[task(1), task(2)], working_memory=pins)
    home.later(days=40)


def test_fr_011_any_age_but_not_the_caps(home: Home) -> None:
    old_session(home)
    home.pin(*({"content": "own", "label": f"own {n}"} for n in range(6)))
    context = home.manager().force_inherit_session("a1b2c3d4-full-id", agent="main")
    assert [pin.content for pin in context.inherited_pins] == ["c0", "c1", "c2", "c3"]
    assert len(home.pinned()) == 10
    assert context.preamble is not None
    again = home.manager().force_inherit_session("a1b2c3d4-full-id", agent="main")
    assert again.inherited_pins == ()
    assert len(home.pinned()) == 10


def test_api_7_the_reply(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    old_session(home)
    context = home.manager().force_inherit_session("a1b2c3d4-full-id")
    said = reply(context, home.store.get("a1b2c3d4-full-id")).splitlines()
    assert re.fullmatch(r"Inherited from session a1b2c3d4 \(2026-11-10 \d\d:\d\d [A-Z+0-9-]+\):", said[0])
    assert said[1:] == [
        "- 5 working memory pins restored",
        "- 2 pending tasks surfaced",
        "- 2 hot topics loaded",
        "Pins written to working memory.",
    ]


def test_nfr_002_the_audit_has_agent_and_time(home: Home) -> None:
    old_session(home)
    home.manager().on_session_start("now", "cli")
    home.run("continue", "a1b2", "--into", "now", "--agent", "helper", "--now", "2026-12-24T18:00:00Z")
    events = [json.loads(line) for line in home.store.paths.log("a1b2c3d4-full-id").read_bytes().splitlines()]
    audit = next(event for event in events if event["type"] == "session.override")
    assert audit["at"] == "2026-12-24T18:00:00.000Z"
    assert audit["data"]["agent"] == "helper"
    assert audit["data"]["into"] == "now"
    assert home.store.get("a1b2c3d4-full-id").continued_by == "now"
    inherited = [json.loads(line) for line in home.store.paths.log("now").read_bytes().splitlines()][-1]
    assert (inherited["type"], inherited["data"]["forced"]) == ("session.inherited", True)


def test_dry_run_and_mistakes_change_nothing(home: Home) -> None:
    old_session(home)
    home.store.start("open", channel="cli")
    before = home.files()
    shown = json.loads(home.run("continue", "a1b2", "--dry-run", "--json").stdout)
    assert shown["pending_task_count"] == 2
    assert "5 working memory pins" in shown["reply"]
    with pytest.raises(SessionOpen):
        home.manager().force_inherit_session("open")
    with pytest.raises(SessionNotFound):
        home.manager().force_inherit_session("nobody")
    with pytest.raises(UsageError, match="itself"):
        home.manager().force_inherit_session("a1b2c3d4-full-id", into="a1b2c3d4-full-id")
    assert home.files() == before
