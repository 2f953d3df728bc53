"""Long invented sessions with drawn wording: how many statements are right, and how much of what matters is told."""

from __future__ import annotations

import runpy
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.signals.test_stories import told

_MADE = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_sessions.py"))
SHOWN_FROM = 0.7  # what the preamble shows


def statements(fields: dict[str, Any]) -> dict[str, list[str]]:
    """What would be shown of a session, by field."""
    noted = [one for one in fields["notes"] if one["confidence"] >= SHOWN_FROM]
    return {
        "pending": [one["title"] for one in fields["pending_tasks"]],
        "decisions": [one["content"] for one in noted if one["type"] == "decision"],
        "blockers": [one["content"] for one in noted if one["type"] == "blocker"],
        "next": [fields["next_step"]] if fields["next_step"] else [],
    }


def judge(session: Any, fields: dict[str, Any], counts: Counter[str]) -> list[str]:
    """Count right and wrong statements and what was found; returns the wrong and the missing ones."""
    errors = []
    for field, said in statements(fields).items():
        gold = getattr(session, field)
        for text in said:
            right = any(name in text for name in gold)
            counts[f"{field} {'right' if right else 'wrong'}"] += 1
            errors += [] if right else [f"{session.name} {field} wrong: {text}"]
        wanted = gold[:1] if field == "next" else gold
        found = [
            name
            for name in wanted
            if any(one in text for text in said for one in (gold if field == "next" else [name]))
        ]
        counts[f"{field} wanted"] += len(wanted)
        counts[f"{field} found"] += len(found)
        errors += [f"{session.name} {field} missing: {name}" for name in wanted if name not in found]
    counts["fate right"] += (fields["last_request"] or {}).get("fate") == session.fate
    counts["sessions"] += 1
    return errors


def measure(seeds: range) -> tuple[dict[str, float], list[str]]:
    counts: Counter[str] = Counter()
    errors: list[str] = []
    for session in _MADE["sessions"](seeds):
        errors += judge(session, told(list(session.story.lines())), counts)
    fields = ("pending", "decisions", "blockers", "next")
    right, wrong = (sum(counts[f"{field} {what}"] for field in fields) for what in ("right", "wrong"))
    figures = {"precision": right / (right + wrong), "fate": counts["fate right"] / counts["sessions"]}
    for field in fields:
        figures[f"{field} precision"] = counts[f"{field} right"] / max(
            1, counts[f"{field} right"] + counts[f"{field} wrong"]
        )
        figures[f"{field} recall"] = counts[f"{field} found"] / max(1, counts[f"{field} wanted"])
    return {name: round(value, 2) for name, value in figures.items()}, errors


def test_what_is_said_is_right_in_wordings_no_rule_was_written_from() -> None:
    """Precision before recall, over ten languages and six endings; the docs name the figures."""
    figures, errors = measure(range(1))
    assert figures["precision"] >= 0.95, errors
    assert figures["fate"] >= 0.95, errors
    for name in ("pending", "decisions", "blockers", "next"):
        assert figures[f"{name} recall"] >= 0.8, (name, errors)


@pytest.mark.slow
def test_the_figures_hold_over_many_draws() -> None:
    """The long form: every phrase with every ending many times."""
    figures, errors = measure(range(100, 140))
    assert figures["precision"] >= 0.95, errors[:50]
    assert min(figures[f"{name} recall"] for name in ("pending", "decisions", "blockers", "next")) >= 0.8, errors[:50]


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(_MADE["PHRASES"])),
    st.sampled_from(_MADE["ENDINGS"]),
    st.lists(st.integers(0, 200), max_size=4),
)
def test_decision_47_when_somebody_looks_changes_nothing(
    seed: int, language: str, ending: str, stops: list[int]
) -> None:
    """A session read at once, or looked at in between, gives the same fields, every one of them."""
    lines = list(_MADE["written"](seed, language, ending).story.lines())
    assert told(lines, tuple(stops)) == told(lines)


if __name__ == "__main__":
    figures, errors = measure(range(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
    print(figures)
    print("\n".join(errors))
