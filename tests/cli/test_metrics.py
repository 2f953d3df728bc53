"""`metrics` for people: what happened, in numbers and bars; for programs the records themselves."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.formatting import bar
from jsonlstore.cli.main import main
from jsonlstore.core.clock import format_time
from jsonlstore.store.metrics import METRIC_EVENTS
from tests.cli.test_people import METRICS

if TYPE_CHECKING:
    from jsonlstore.store.store import SessionStore
    from tests.conftest import FakeClock


def run(store: SessionStore, capsys: pytest.CaptureFixture[str], clock: FakeClock, *words: str) -> str:
    capsys.readouterr()
    assert main(["--state-dir", str(store.paths.state_dir), "metrics", *words, "--now", format_time(clock())]) == 0
    return capsys.readouterr().out


def test_the_summary_counts_what_was_captured_restored_told_closed_and_decayed(
    store: SessionStore, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    store.metrics.emit(*METRICS)
    store.start("s1", channel="cli")
    store.end("s1", {"closed": [{"title": "solder", "how": "said"}]}, reason="new")
    lines = [" ".join(line.split()) for line in run(store, capsys, clock).splitlines()]
    assert "captured 12 #################### 1 ended by a crash" in lines
    assert "restored 4 ####### and 1 began with nothing to restore" in lines
    assert "surfaced 4 #################### 2 tasks" in lines
    assert "closed 1 #####" in lines
    assert "decayed 2 times, 1 memory left out" in lines
    assert "after 0.45 #########" in lines


def test_the_raw_records_are_there_as_json(
    store: SessionStore, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    store.metrics.emit(*METRICS)
    records = json.loads(run(store, capsys, clock, "--json"))
    assert [record["event"] for record in records] == [record["event"] for record in METRICS]
    assert all({"seq", "at", "prev", "hash"} <= set(record) for record in records)
    only = json.loads(run(store, capsys, clock, "--json", "--event", "session_restored", "-n", "2"))
    assert [record["new_session_id"] for record in only] == ["n3", "n4"]


def test_since_and_until_leave_out_the_rest(
    store: SessionStore, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    first: dict[str, Any] = METRICS[0]
    for _ in range(5):
        store.metrics.emit(first)
        clock.advance(days=1)
    assert len(json.loads(run(store, capsys, clock, "--json", "--since", "36h"))) == 1
    day = format_time(clock() - timedelta(days=3))[:10]
    assert len(json.loads(run(store, capsys, clock, "--json", "--since", day, "--until", day))) == 1


def test_the_help_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    main(["metrics", "--help"])
    text = capsys.readouterr().out
    assert [kind for kind in METRIC_EVENTS if kind not in text] == []


def test_the_block_s_delivery_is_part_of_it(
    store: SessionStore, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    store.metrics.emit(METRICS[0])
    settings = {"plugins": {"load": {"paths": [str(store.paths.states / "openclaw" / "plugin")]}}}
    (store.paths.state_dir / "openclaw.json").write_text(json.dumps(settings))
    seen = {"delivery": {"given_at": format_time(clock()), "seen_at": format_time(clock() - timedelta(minutes=5))}}
    store.paths.plugin_heartbeat.write_text(json.dumps(seen))
    assert "last seen in what the model was sent 5m ago" in run(store, capsys, clock)


@pytest.mark.parametrize(
    ("number", "most", "columns"), [(0, 10, 0), (1, 1000, 1), (5, 10, 10), (10, 10, 20), (3, 0, 0)]
)
def test_a_bar_is_as_long_as_its_share(number: int, most: int, columns: int) -> None:
    assert bar(number, most) == "#" * columns
