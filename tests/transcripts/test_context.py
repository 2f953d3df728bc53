"""The context is what the model would see: active path, resets, latest compaction, settings in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.transcripts.context import active_path, build_context
from jsonlstore.transcripts.records import Entry

if TYPE_CHECKING:
    from types import ModuleType


def entries(records: list[dict[str, Any]]) -> list[Entry]:
    return [Entry(record, number) for number, record in enumerate(records)]


def words(messages: Any) -> list[str]:
    got = []
    for message in messages:
        content = message.get("summary") or message.get("content") or message.get("command")
        got.append(content if isinstance(content, str) else content[0]["text"])
    return got


def test_a_leaf_record_moves_the_active_leaf(make: ModuleType) -> None:
    context = build_context(entries(make.tree().records))
    assert words(context.messages) == [
        "second",
        "right branch",
        "what happened on the left",
        "right answer",
        "after it",
        "the end",
    ]
    assert (context.thinking_level, context.model) == ("low", {"provider": "mock", "modelId": "mock-1"})
    assert "left branch" not in words(context.messages)
    assert context.path[-1].id == "end"


def test_any_leaf_can_be_asked_for(make: ModuleType) -> None:
    records = make.tree().records
    left = next(record["id"] for record in records if record.get("message", {}).get("content") == "left branch")
    assert words(build_context(entries(records), left).messages)[-1] == "left branch"
    assert active_path(entries(records), left)[-1].id == left


def test_a_leaf_before_the_first_entry_is_an_empty_context(make: ModuleType) -> None:
    talk = make.ordinary("s", "x").add("leaf", targetId=None)
    assert build_context(entries(talk.records)).messages == ()


def test_a_reset_hides_what_came_before_it_but_not_the_settings(make: ModuleType) -> None:
    context = build_context(entries(make.resets().records))
    assert words(context.messages) == ["third stretch", "again"]
    assert context.thinking_level == "low"


def test_a_reset_keeps_what_it_says_it_keeps(make: ModuleType) -> None:
    talk = make.Talk("s").user("old").user("kept", id="kept").assistant("kept too")
    talk.add("reset", reason="reset", firstKeptEntryId="kept").user("new")
    assert words(build_context(entries(talk.records)).messages) == ["kept", "kept too", "new"]


def test_a_compaction_before_a_reset_is_gone_with_it(make: ModuleType) -> None:
    talk = make.Talk("s").user("a", id="a").add("compaction", summary="sum", firstKeptEntryId="a", tokensBefore=1)
    assert words(build_context(entries(talk.add("reset", reason="new").user("b").records)).messages) == ["b"]


def test_version_1_is_linear_and_counts_positions(make: ModuleType) -> None:
    context = build_context(entries(make.version_1()))
    assert words(context.messages) == ["so far", "ls", "from a hook", "last question"]
    assert [message["role"] for message in context.messages] == ["compactionSummary", "bashExecution", "custom", "user"]


def test_a_cycle_ends(make: ModuleType) -> None:
    talk = make.Talk("s")
    talk.add("message", id="a", parentId="b", message={"role": "user", "content": "a"})
    talk.add("message", id="b", parentId="a", message={"role": "user", "content": "b"})
    assert words(build_context(entries(talk.records)).messages) == ["a", "b"]


def test_nothing_is_an_empty_context() -> None:
    context = build_context([])
    assert (context.messages, context.thinking_level, context.model, context.path) == ((), "off", None, ())


kinds = st.sampled_from(["message", "compaction", "leaf", "reset", "branch_summary", "custom_message", "label", "x"])
ids = st.none() | st.sampled_from("abcdef")


@given(
    st.lists(
        st.fixed_dictionaries({"type": kinds, "id": ids, "parentId": ids, "targetId": ids, "firstKeptEntryId": ids})
    )
)
def test_any_tangle_of_links_gives_a_context(records: list[dict[str, Any]]) -> None:
    context = build_context(entries(records))
    assert len(context.path) <= len(records)
