"""Tokens are what the provider reported plus an estimate of what follows, and which is which is visible."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.transcripts import tokens
from jsonlstore.transcripts.records import Entry
from jsonlstore.transcripts.tokens import context_line, count_tokens, estimate_tokens, estimator, usage_total

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


@pytest.fixture(params=["bpe", "chars/4"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "chars/4":
        monkeypatch.setitem(sys.modules, "bpe_openai", None)
    else:
        pytest.importorskip("bpe_openai", reason="the `tokens` extra is not installed", exc_type=ImportError)
    tokens._bpe.cache_clear()
    yield request.param
    tokens._bpe.cache_clear()


def entries(talk: Any) -> list[Entry]:
    return [Entry(record) for record in talk.records]


def test_the_estimator_in_use_is_visible(method: str) -> None:
    assert estimator() == method
    assert estimate_tokens("hello world") == {"bpe": 2, "chars/4": 3}[method]
    assert estimate_tokens("") == 0


def test_usage_of_the_last_good_answer_counts_every_part(make: ModuleType, method: str) -> None:
    count = count_tokens(entries(make.ordinary("s", "x")), 200_000)  # DECISION 38
    assert (count.used, count.estimated, count.method) == (126, 0, "usage")


def test_what_follows_the_last_good_answer_is_estimated(make: ModuleType, method: str) -> None:
    talk = make.ordinary("s", "x").user("hello world")
    talk.assistant("", stopReason="error", usage={"input": 9999})
    count = count_tokens(entries(talk))
    assert (count.used, count.method) == (126 + estimate_tokens("hello world"), f"usage+{method}")


def test_after_a_compaction_old_usage_says_nothing(make: ModuleType, method: str) -> None:
    talk = make.Talk("s").user("hello world", id="u").assistant("ok", timestamp=make.START)
    talk.add("compaction", summary="hello world", firstKeptEntryId="u", tokensBefore=900)
    count = count_tokens(entries(talk))
    assert count.method == method
    assert count.used == count.estimated == 2 * estimate_tokens("hello world") + estimate_tokens("ok")
    assert count_tokens(entries(talk.assistant("fresh", timestamp=make.START + 99_000))).used == 126


def test_the_context_line_is_the_specifications() -> None:
    assert context_line(156_000, 200_000) == "[Context: 156k/200k tokens (78%)]"
    assert context_line(999, 200_000) == "[Context: 999/200k tokens (0%)]"


@given(
    st.dictionaries(
        st.sampled_from(["input", "output", "cacheRead", "cacheWrite", "x"]), st.none() | st.integers() | st.text()
    )
)
def test_any_usage_gives_a_number(usage: dict[str, Any]) -> None:
    assert usage_total(usage) >= 0


STEPS = st.lists(st.sampled_from(["user", "assistant", "failed", "silent", "compaction", "tool"]), max_size=30)


@given(STEPS)
def test_the_meter_agrees_with_the_count_wherever_it_says_anything(steps: list[str]) -> None:
    """Fed entry by entry, it gives what counting the whole gives, with characters/4 for what is not reported."""
    records: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        usage = {"input": 10 * number + 1, "output": 5}
        message = {
            "user": {"role": "user", "content": "x" * number},
            "assistant": {"role": "assistant", "content": "y" * number, "usage": usage},
            "failed": {"role": "assistant", "content": "z", "usage": usage, "stopReason": "error"},
            "silent": {"role": "assistant", "content": "w" * 9},
            "tool": {"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": "v"}]},
        }.get(step)  # fmt: skip
        at = 1_790_000_000_000 + number
        record = {"id": str(number), "parentId": records[-1]["id"] if records else None, "timestamp": at}
        kept = {"type": "compaction", "summary": "s", "firstKeptEntryId": "0", "tokensBefore": 1}
        records.append(
            {**record, "type": "message", "message": {**message, "timestamp": at}} if message else record | kept
        )
    meter = tokens.TokenMeter()
    for record in records:
        meter.feed(Entry(record))
    counted = count_tokens(map(Entry, records))
    result = meter.result()
    if result is None:
        assert counted.method in ("bpe", "chars/4")  # nothing was reported since the last compaction
        return
    used, estimated = result
    assert used - counted.used in range(-60, 61)
    assert used >= counted.used - counted.estimated
    assert estimated is (counted.estimated > 0)


def test_the_meter_gives_up_rather_than_guess() -> None:
    """After a long stretch without a report it says nothing, and holds nothing."""
    meter = tokens.TokenMeter()
    meter.feed(Entry({"type": "message", "message": {"role": "assistant", "content": "x", "usage": {"input": 5}}}))
    assert meter.result() == (5, False)
    for _ in range(100):
        meter.feed(Entry({"type": "message", "message": {"role": "user", "content": "four"}}))
    assert meter.result() is None
    assert not meter._following
