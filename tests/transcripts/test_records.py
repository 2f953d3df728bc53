"""A record is read as its writer meant it, or not at all, and never raises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore.transcripts.records import LAZY_BYTES, Entry, Speaker, ToolCall, parse_entry

if TYPE_CHECKING:
    from types import ModuleType

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
fields = st.sampled_from(["type", "id", "parentId", "timestamp", "message", "content", "role", "summary", "details"])


def read(record: dict[str, Any]) -> Entry:
    entry = parse_entry(json.dumps(record).encode())
    assert entry
    return entry


def touch(entry: Entry) -> None:
    """Ask an entry for everything it can say."""
    assert isinstance(entry.speaker, Speaker)
    assert isinstance(entry.text, str)
    assert entry.timestamp is None or entry.timestamp.endswith("Z")
    assert isinstance(entry.tool_calls, tuple)
    assert entry.raw["type"] == entry.type
    for value in (entry.tool_name, entry.tool_call_id, entry.usage, entry.details, entry.summary, repr(entry)):
        assert value is None or isinstance(value, str | dict)
    assert entry.is_error in {True, False}


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_a_record_or_nothing(line: bytes) -> None:
    entry = parse_entry(line)
    if entry:
        touch(entry)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the first draw compiles character tables
@given(st.dictionaries(fields, json_values, max_size=8), st.dictionaries(fields, json_values, max_size=6))
def test_a_record_with_any_field_of_any_type_can_be_asked_everything(
    outer: dict[str, Any], inner: dict[str, Any]
) -> None:
    for role in ("user", "assistant", "toolResult", None):
        touch(read({**outer, "type": "message", "message": {**inner, **({"role": role} if role else {})}}))
    touch(read({**outer, "type": "custom_message"}))


@pytest.mark.parametrize("role", ["toolResult", "user", "assistant"])
def test_a_long_record_says_the_same_as_if_it_were_short(make: ModuleType, role: str) -> None:
    talk = make.Talk("x")
    padding = "long words " * LAZY_BYTES * 2
    {"toolResult": talk.result, "user": talk.user, "assistant": talk.assistant}[role](padding)
    line = make.dump(talk.records[-1])
    lazy, eager = parse_entry(line, 7), Entry(json.loads(line), 7)
    assert lazy
    assert lazy._raw is None
    for name in ("type", "id", "parent_id", "role", "position", "tool_name", "tool_call_id", "timestamp", "speaker"):
        assert getattr(lazy, name) == getattr(eager, name)
    for name in ("text", "is_error", "details", "raw"):
        assert getattr(lazy, name) == getattr(eager, name)


def test_a_huge_tool_result_is_classified_without_being_parsed(make: ModuleType) -> None:
    entry = parse_entry(make.dump(make.Talk("x").result("z" * 100_000).records[-1]))
    assert entry
    assert (entry.speaker, entry.tool_name) == (Speaker.TOOL, "exec")
    assert entry._raw is None


awkward = st.sampled_from(['"data":"', '\\"data\\":\\"', '"', "\\", "data", "words", "\n\n[", "é", "QUJD" * 10])
blocks = st.builds(lambda parts: {"type": "text", "text": "".join(parts)}, st.lists(awkward, max_size=6)) | st.builds(
    lambda parts: {"type": "image", "data": "".join(parts), "mimeType": "image/png"}, st.lists(awkward, max_size=6)
)


@given(st.lists(blocks, max_size=5))
def test_the_words_beside_images_are_the_same_without_reading_the_images(content: list[dict[str, str]]) -> None:
    image = {"type": "image", "data": "QUJD" * LAZY_BYTES * 4, "mimeType": "image/png"}
    links = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-09-21T14:13:20.000Z"}
    record = {**links, "message": {"role": "user", "content": [image, *content], "provenance": {"kind": "user"}}}
    lazy = parse_entry(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode())
    assert lazy
    eager = Entry(json.loads(json.dumps(record)))
    assert (lazy.speaker, lazy.text) == (eager.speaker, eager.text)
    assert lazy.raw == record


def test_an_image_costs_nothing_unless_asked_for(make: ModuleType) -> None:
    image = {"type": "image", "data": "QUJD" * LAZY_BYTES * 8, "mimeType": "image/png"}
    entry = parse_entry(make.dump(make.Talk("x").user([image, {"type": "text", "text": "look"}]).records[-1]))
    assert entry
    assert (entry.speaker, entry.text) == (Speaker.USER, "look")
    assert entry.is_unread
    assert entry.raw["message"]["content"][0] == image


def test_a_long_record_with_a_damaged_body_keeps_its_envelope(make: ModuleType) -> None:
    line = make.dump(make.Talk("x").result("z" * 100_000).records[-1]).replace(b"zzz", b'z"z', 1)
    entry = parse_entry(line)
    assert entry
    touch(entry)
    assert entry.text == ""


def test_what_node_reads_is_read() -> None:
    assert read({"type": "message", "message": {"role": "user", "content": "half \ud83d"}}).text == "half \ufffd"
    entry = parse_entry(b'\xef\xbb\xbf{"type":"message","message":{"role":"user","content":"bad \xff byte"}}\r\n')
    assert entry
    assert entry.text == "bad \ufffd byte"


@pytest.mark.parametrize("line", [b"", b"\n", b"null", b"[]", b"{}", b'{"type":1}', b'{"type":"message"', b"{" * 5000])
def test_what_is_not_a_record_is_nothing(line: bytes) -> None:
    assert parse_entry(line) is None


@pytest.mark.parametrize("depth", [300, 900, 1100, 100_000])
def test_deep_nesting_is_read_or_refused_never_raised(depth: int) -> None:
    for odd in (b"", b"\\ud83d"):
        entry = parse_entry(b'{"type":"x","s":"' + odd + b'","deep":' + b"[" * depth + b"]" * depth + b"}")
        assert entry is None or entry.type == "x"


def test_numbers_beyond_64_bits_are_no_obstacle() -> None:
    entry = parse_entry(b'{"type":"x","n":' + b"9" * 40 + b',"s":"\\ud83d"}')
    assert entry
    assert entry.type == "x"


def test_unknown_types_pass_through() -> None:
    entry = read({"type": "hologram", "id": "h", "parentId": "p", "beam": 3})
    assert (entry.type, entry.id, entry.parent_id, entry.speaker) == ("hologram", "h", "p", Speaker.NONE)
    assert entry.raw["beam"] == 3


def test_tool_calls_and_results_are_typed(make: ModuleType) -> None:
    call, result = make.Talk("x").assistant("ok", call="exec").result("no", error=True).records[-2:]
    assert read(call).tool_calls == (ToolCall("call_0", "exec", {"command": "ls", "path": "notes.txt"}),)
    entry = read(result)
    assert (entry.tool_name, entry.is_error, entry.details["exitCode"]) == ("exec", True, 1)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-15T23:34:44.225Z", "2026-11-15T23:34:44.225Z"),
        ("2026-11-16T01:34:44+02:00", "2026-11-15T23:34:44.000Z"),
        (1794787380797, "2026-11-16T00:03:00.797Z"),
        ("yesterday", None),
        (1e300, None),
        (True, None),
        (None, None),
    ],
)
def test_times_are_normalised_or_absent(written: object, expected: str | None) -> None:
    assert read({"type": "message", "timestamp": written, "message": {}}).timestamp == expected


def test_a_message_without_its_own_time_has_the_messages(make: ModuleType) -> None:
    assert read({"type": "message", "message": {"timestamp": make.START}}).timestamp == make.iso(0)
