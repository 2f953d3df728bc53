"""FR-007, AC-005, decisionS 10-15: pins come back with provenance, within the caps, and nobody's file is spoiled."""

from __future__ import annotations

import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.model import WorkingMemoryPin
from jsonlstore.restore.inherit import PinOffer, plan_pins
from jsonlstore.restore.pins import CurrentPins, PinFile, with_provenance
from tests.home import Home

END = "2026-11-10T11:00:00.000Z"


def pins(count: int, prefix: str = "pin") -> tuple[WorkingMemoryPin, ...]:
    return tuple(WorkingMemoryPin(f"content {n}", label=f"{prefix} {n}") for n in range(count))


def offered(*found: WorkingMemoryPin) -> list[PinOffer]:
    return [PinOffer(pin, "s1", END, "why") for pin in found]


def test_decision_13_provenance_is_in_the_label_and_never_nests() -> None:
    once = with_provenance(WorkingMemoryPin("c", label="radio"), "s1", END)
    twice = with_provenance(once, "s2", END)
    assert once.label == f"radio [inherited from s1 @ {END}]"
    assert twice.label == f"radio [inherited from s2 @ {END}]"


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 8))
def test_decision_12_count_after_collisions(current: int, eligible: int, most: int) -> None:
    plan = plan_pins(offered(*pins(eligible, "new")), CurrentPins(pins(current), current), most)
    assert len(plan.add) == max(0, min(eligible, most, 10 - current))


def test_decision_12_seven_and_five_make_three() -> None:
    assert len(plan_pins(offered(*pins(5, "new")), CurrentPins(pins(7), 7), 5).add) == 3


def test_ac_005_the_current_pin_wins_a_collision() -> None:
    plan = plan_pins(offered(WorkingMemoryPin("old", label="pin 0"), *pins(2, "new")), CurrentPins(pins(1), 1), 5)
    assert [pin.content for pin in plan.add] == ["content 0", "content 1"]
    assert plan.decisions[0].decision == "skipped"
    assert "collision" in plan.decisions[0].reason


def test_decision_13_unlabelled_pins_are_compared_by_content(home: Home) -> None:
    file = PinFile(home.pin_file, home.store)
    bare = with_provenance(WorkingMemoryPin("no label"), "s1", END)
    assert file.add([bare], 5)
    again = with_provenance(WorkingMemoryPin("no label"), "s2", END)
    assert file.add([again], 5) == []
    assert file.add([with_provenance(WorkingMemoryPin("another"), "s1", END)], 5)


def test_decision_14_unknown_keys_odd_items_and_modes_are_kept(home: Home) -> None:
    home.pin({"content": "mine", "label": "a", "colour": "red"}, {"odd": 1}, version=3)  # type: ignore[arg-type]
    home.pin_file.chmod(0o640)
    added = PinFile(home.pin_file, home.store).add([with_provenance(WorkingMemoryPin("new", label="b"), "s1", END)], 5)
    document = json.loads(home.pin_file.read_text())
    assert document["version"] == 3
    assert document["items"][0]["colour"] == "red"
    assert document["items"][1]["odd"] == 1
    assert document["items"][2]["label"] == added[0].label
    assert stat.S_IMODE(home.pin_file.stat().st_mode) == 0o640
    assert [path.name for path in home.pin_file.parent.iterdir()] == ["working_memory.json"]


@pytest.mark.parametrize("broken", [b"{", b"[]", b'"text"', b'{"items": 3}', b"\xff\xfe", b'{"items": [1'])
def test_decision_14_a_broken_file_reads_as_empty_and_is_kept_aside(home: Home, broken: bytes) -> None:
    home.pin_file.parent.mkdir(parents=True)
    home.pin_file.write_bytes(broken)
    file = PinFile(home.pin_file, home.store)
    assert file.read().pins == ()
    assert file.read().problem
    assert home.pin_file.read_bytes() == broken
    file.add([WorkingMemoryPin("new", label="b")], 5)
    aside = home.pin_file.with_name("working_memory.json.corrupt-0")
    assert aside.read_bytes() == broken
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert [pin["label"] for pin in home.pinned()] == ["b"]


def test_decision_14_a_missing_file_is_empty(home: Home) -> None:
    assert PinFile(home.pin_file, home.store).read() == CurrentPins()
    assert not home.path.exists()


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=600)), max_size=15))
def test_adding_twice_is_adding_once(found: list[tuple[str, str]]) -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        inherited = [
            with_provenance(WorkingMemoryPin(content, label=label or None), "s1", END) for label, content in found
        ]
        file = PinFile(home.pin_file, home.store)
        first = file.add(inherited, 5)
        assert len(first) <= 5
        assert file.add(first, 5) == []
        assert all(len(pin["content"]) <= 500 for pin in (home.pinned() if first else []))


def test_decision_11_critical_by_tag_or_word() -> None:
    assert WorkingMemoryPin("c", extra={"importance": "critical"}).critical
    assert WorkingMemoryPin("it is CRITICAL to stop").critical
    assert WorkingMemoryPin("c", label="CRITICAL: x").critical
    assert not WorkingMemoryPin("a critical mass").critical


def test_an_inherited_pin_always_has_a_time() -> None:
    """The file's own program reads `pinnedAt` as a date."""
    assert with_provenance(WorkingMemoryPin("c"), "s1", END).pinned_at == END
    assert with_provenance(WorkingMemoryPin("c", "2026-01-01T00:00:00Z"), "s1", END).pinned_at == "2026-01-01T00:00:00Z"
