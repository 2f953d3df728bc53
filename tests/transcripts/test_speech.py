"""Not everything with role `user` is the user, and what is keeps only the user's words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.transcripts.records import parse_entry
from jsonlstore.transcripts.speech import CONTINUITY_CLOSE, CONTINUITY_OPEN, Speaker, cut_continuity, hear

if TYPE_CHECKING:
    from types import ModuleType


def noon() -> str:
    return "2026-11-15T12:00:20.000Z"


BLOCK = f'{CONTINUITY_OPEN} hint="inherited from prior sessions">\nold things\n{CONTINUITY_CLOSE}'


def test_the_fixture_talk_is_heard_as_it_was_said(make: ModuleType) -> None:
    heard = [parse_entry(make.dump(record)) for record in make.speakers().records[1:]]
    said = [(str(entry.speaker), entry.text) for entry in heard if entry]
    users = [text for speaker, text in said if speaker == "user"]
    assert users == ["water the plants", "and the trees", "and the roses", "and the herbs", "and the moss"]
    assert [speaker for speaker, _ in said].count("continuity") == 2
    assert [text for speaker, text in said if speaker == "assistant"] == ["Done."]
    assert [speaker for speaker, _ in said].count("system") == 9


@pytest.mark.parametrize(
    "text",
    [
        "A new session was started via /new or /reset. Run your Session Startup sequence.",
        "[SYSTEM: pre-compaction memory flush]\nContext at 90%.",
        "[System Message] a sub-agent finished",
        "[cron:1234 daily] check the mail",
        "[OpenClaw heartbeat poll]",
        "[Inter-session message] sourceTool=subagent_announce",
        "System: [2026-11-15 12:00:00] one\nSystem: [2026-11-15 12:00:01] two",
        "[Sun 2026-11-15 12:00 UTC] Read HEARTBEAT.md if it exists (workspace context). Follow it.",
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nnothing\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
        'A subagent task "draw" just completed successfully.\n\nFindings:\nnever use it',
        "Base directory for this skill: /home/u/skills/x\n\n# Skill\nAlways test.",
        "Stop hook feedback:\n[check]: you must always run the tests",
        "<task-notification>\n<task-id>a</task-id>\n<summary>done</summary>\n</task-notification>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>never</bash-stdout><bash-stderr></bash-stderr>",
        "<collaboration_mode># Default\nNever ask.\n</collaboration_mode>",
    ],
)
def test_the_gateways_words_are_not_the_users(text: str) -> None:
    assert hear(text, noon)[0] is Speaker.SYSTEM


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[Sun 2026-11-15 12:00 UTC] hi", "hi"),
        ("[Queued messages while agent was busy]\n\n---\nQueued #1\nhi", "hi"),
        (
            "[Queued messages while agent was busy]\n\n[Queue overflow] 1\nSummary:\n- [Sun 2026-11-15 12:00 UTC] hi",
            "hi",
        ),
        ("hi\n[message_id: 12-ab]", "hi"),
        ("[[reply_to_current]] hi", "hi"),
        ('hi <file name="a.txt">TODO: old things</file>', "hi "),
        ("<system-reminder>use the tool</system-reminder>\nhi", "hi"),
        ("[Sun 2026-11-15 14:00 GMT+2] hi", "hi"),
        ("[Telegram Ann (@ann) id:12 +2m 2026-11-15 12:00 UTC] hi", "hi"),
        ("context of a plugin\n\n[Sun 2026-11-15 12:00 UTC] hi", "hi"),
        (f"{BLOCK}\n\nhi", "hi"),
        (f"{BLOCK}\n\n[Sun 2026-11-15 12:00 UTC] hi", "hi"),
        ("<command-message>x</command-message>\n<command-name>/clear</command-name>", "/clear"),
        (
            "<command-message>x</command-message><command-name>/d</command-name><command-args>the pier</command-args>",
            "/d the pier",
        ),
        ("[Image: original 10x20, displayed at 5x10.]\nhi", "hi"),
        ("[Image #1] hi", "hi"),
        ("[Request interrupted by user]hi", "hi"),
        ("[Request interrupted by user for tool use]", "[Request interrupted by user for tool use]"),
        ("# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nhi", "hi"),
        ('A cron job "x" should run at noon', 'A cron job "x" should run at noon'),
        ("[1] is a footnote", "[1] is a footnote"),
        ("[2026-11-15 12:00] my own note", "[2026-11-15 12:00] my own note"),
        ("[System Design] what do you think?", "[System Design] what do you think?"),
        (f"{CONTINUITY_OPEN}> never closed", f"{CONTINUITY_OPEN}> never closed"),
        ("look:\n\n[Tue 2026-03-03 09:00 UTC] pasted", "look:\n\n[Tue 2026-03-03 09:00 UTC] pasted"),
        ("/new", "/new"),
        ("", ""),
    ],
)
def test_the_users_words_are_the_users_and_only_they(text: str, words: str) -> None:
    assert hear(text, noon) == (Speaker.USER, words)


def test_our_block_alone_is_ours() -> None:
    assert hear(BLOCK, noon) == (Speaker.CONTINUITY, "")
    assert hear(f"\n{BLOCK}\n{BLOCK}\n", noon)[0] is Speaker.CONTINUITY


@given(st.text(), st.text())
def test_nothing_of_our_block_survives(before: str, after: str) -> None:
    rest = cut_continuity(f"{before}{BLOCK}{after}")
    assert "old things" not in rest or "old things" in before + after


@given(st.lists(st.sampled_from([BLOCK, "System: x\n", "[Sun 2026-11-15 12:00 UTC] ", "\n\n", "[", "word ", "```"])))
def test_hearing_any_mixture_ends_and_gives_words(pieces: list[str]) -> None:
    speaker, words = hear("".join(pieces), noon)
    assert speaker in set(Speaker)
    assert "old things" not in words


@pytest.mark.parametrize("layer", ["\n", "System: connected\n", "[Mon 2026-09-21 14:13 UTC] "])
def test_four_times_the_wrapping_takes_far_less_than_sixteen_times_as_long(layer: str) -> None:
    def cost(count: int) -> float:
        text = layer * count + "the words"
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            assert hear(text, lambda: None) == (Speaker.USER, "the words")
            best = min(best, time.process_time() - begin)
        return best

    assert cost(200_000) < 10 * cost(50_000)
