"""Addresses, issues and pull requests worked on: exactly what tools were asked for, bounded, without secrets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.references import MOST_SHOWN, References


def told(references: References) -> list[tuple[str, str, int]]:
    return [(one.kind, one.ref, one.times) for one in references.found()]


def test_a_tool_s_address_counts_without_its_query_and_user() -> None:
    """What an address carries besides its place is nobody's business."""
    seen = References()
    seen.opened({"url": "https://ann:pw@docs.example.org/tides/api/?key=abc#top"}, "e1")
    seen.opened({"url": "https://docs.example.org/tides/api"}, "e2")
    assert told(seen) == [("url", "https://docs.example.org/tides/api", 2)]


def test_issues_and_pull_requests_of_gh() -> None:
    """Numbers are told by the command, a new one by the answer."""
    seen = References()
    seen.ran("gh pr view 41 --json title", "", "e1")
    seen.ran("gh issue close 7 -R quay/harbour", "", "e2")
    seen.ran("gh pr create --fill", "Creating pull request\nhttps://github.com/quay/harbour/pull/58\n", "e3")
    seen.opened({"url": "https://github.com/quay/harbour/issues/7"}, "e4")
    assert set(told(seen)) == {
        ("pull request", "#41", 1),
        ("issue", "quay/harbour#7", 2),
        ("pull request", "quay/harbour#58", 1),
    }


def test_commit_subjects_name_what_they_are_for() -> None:
    """ "Fixes #12" is an issue, "(#13)" a pull request; a bare number is neither."""
    seen = References()
    seen.committed("Draw the pilot zone, fixes #12 (#13), in 14 steps", "e1")
    assert set(told(seen)) == {("issue", "#12", 1), ("pull request", "#13", 1)}


def test_a_link_in_output_is_not_what_was_worked_on() -> None:
    """A page or a listing names many things."""
    seen = References()
    seen.ran("curl -s https://example.org/feed", "see https://github.com/a/b/pull/1", "e1")
    seen.ran("gh pr list", "https://github.com/a/b/pull/1", "e2")
    assert told(seen) == []


@given(st.lists(st.text(max_size=80), max_size=60))
def test_any_text_is_taken_and_the_result_is_bounded(texts: list[str]) -> None:
    """Hostile text neither raises nor grows the field."""
    seen = References()
    for text in texts:
        seen.opened({"url": f"https://{text}"}, "e")
        seen.ran(f"gh pr create {text}", text, "e")
        seen.committed(text, "e")
    assert len(seen.found()) <= MOST_SHOWN
    assert all(len(one.ref) <= 200 and "@" not in one.ref.split("/")[2] for one in seen.found() if one.kind == "url")
