"""CLI.md "Hooks": JSON in, one JSON line out, exit 2 only for a bad input, and no import that is not needed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from jsonlstore.cli.entry import hook_call
from jsonlstore.transcripts.stretches import stretch_id
from tests.home import Home, task

if TYPE_CHECKING:
    from pathlib import Path

START_KEYS = [
    "session_id", "preamble", "inherited_pins", "session_ids", "relevance_scores", "block", "pending_task_count",
    "memories", "already_restored", "elapsed_ms", "sessions",
]  # fmt: skip


HEAVY = [
    "click", "rich", "jsonschema", "watchdog", "re2", "pyjson5", "sqlite3", "jsonlstore.redact.text", "filelock",
    "logging", "hashlib",
]  # fmt: skip


def test_a_whole_life_through_hooks(home: Home) -> None:
    home.pin({"content": "38400 baud", "label": "ft991a"})
    cold = home.hook("session-start", session_id="a", channel="cli", pid=None)
    assert list(cold) == START_KEYS
    assert cold["preamble"] is None
    home.later(minutes=10)
    turn = home.hook(
        "turn-end", session_id="a", hot_topics=["radio"], pending_tasks=[task(17)], recent_learnings=["m1"]
    )
    assert turn == {"session_id": "a", "updated": True}
    home.later(minutes=10)
    end = home.hook("session-end", session_id="a", reason="new", active_projects=["lbf-ham-radio"])
    assert end["captured"] is True
    assert (end["pin_count"], end["pending_task_count"], end["hot_topic_count"]) == (1, 1, 1)
    home.later(hours=48)
    home.pin_file.unlink()
    warm = home.hook("session-start", session_id="b", channel="cli", prompt="hello")
    assert list(warm) == START_KEYS
    assert warm["preamble"].startswith('<session-continuity hint="inherited from prior sessions">\n[SESSION CONTINUITY')
    assert warm["preamble"].endswith("</session-continuity>")
    assert "(last stage: build, 2d ago)" in warm["preamble"]
    assert warm["inherited_pins"][0]["label"] == "ft991a [inherited from a @ 2026-11-10T10:20:00.000Z]"
    memory = warm["memories"][0]
    assert set(memory) == {"memory_id", "original_confidence", "confidence", "hours_elapsed", "excluded"}
    assert round(memory["confidence"], 3) == 0.886
    again = home.hook("session-start", session_id="b", channel="cli")
    assert (again["preamble"], again["already_restored"]) == (None, True)
    assert again["block"] == warm["block"] == warm["preamble"]
    assert home.hook("session-start", session_id="b", channel="cli", again=True)["preamble"] == warm["preamble"]


@pytest.mark.parametrize(
    ("stdin", "named"),
    [
        ("", "stdin"),
        ("[]", "object"),
        ("{}", "session_id"),
        ('{"session_id": 7}', "session_id"),
        ('{"session_id": "../x"}', "session_id"),
        ('{"session_id": "a", "channel": 3}', "channel"),
        ('{"session_id": "a", "pid": "12"}', "pid"),
        ('{"session_id": "a", "pid": true}', "pid"),
        ('{"session_id": "a", "clean": "yes"}', "clean"),
        ('{"session_id": "a", "prompt": {}}', "prompt"),
    ],
)
def test_a_malformed_document_is_exit_2_naming_the_field(home: Home, stdin: str, named: str) -> None:
    done = home.run("hook", "session-start", stdin=stdin, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert not home.path.exists()


@pytest.mark.parametrize("event", ["turn-end", "session-end"])
def test_a_wrong_state_field_is_exit_2_naming_it(home: Home, event: str) -> None:
    for document, named in (
        ('{"session_id": "a", "hot_topics": 5}', "hot_topics"),
        ('{"session_id": "a", "end_time": "soon"}', "end_time"),
        ('{"session_id": "a", "previous_session_id": "../b"}', "previous_session_id"),
    ):
        done = home.run("hook", event, stdin=document, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert named in done.stderr
    assert not home.path.exists(), "a refused call must not leave a session behind"


@pytest.mark.parametrize("event", ["session-start", "turn-end", "session-end"])
def test_a_text_cut_in_the_middle_of_an_emoji_is_taken(home: Home, event: str) -> None:
    """`JSON.stringify` writes half a character as an escape: that is JSON, and no reason to turn a session away."""
    done = home.run("hook", event, stdin=r'{"session_id": "a", "prompt": "cut \ud83d", "next_step": "\ud83d!"}')
    assert "error" not in json.loads(done.stdout)
    refused = home.run("hook", event, stdin=r'{"session_id": "a", "x": NaN, "prompt": "\ud83d"}', check=False)
    assert refused.returncode == 2


@pytest.mark.parametrize(("event", "said"), [("turn-end", "updated"), ("session-end", "captured")])
def test_a_state_dir_nobody_can_reach_still_gets_an_answer(home: Home, event: str, said: str) -> None:
    done = home.run("--state-dir", str(home.path / ("x" * 300)), "hook", event, stdin='{"session_id": "a"}')
    answer = json.loads(done.stdout)
    assert answer[said] is False
    assert "too long" in answer["error"]


def test_a_field_may_have_any_name(home: Home) -> None:
    done = home.run("hook", "session-end", stdin='{"session_id": "a", "self": 1, "by": 2}')
    assert json.loads(done.stdout)["captured"] is True
    assert home.store.get("a").extra == {"self": 1, "by": 2}


def test_verbose_hooks_say_why_nothing_came_back(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    done = home.run("-v", "hook", "session-start", stdin='{"session_id": "b", "channel": "cli", "clean": true}')
    assert "clean start" in done.stderr


def test_decision_50_a_preview_for_a_subagent_is_as_empty_as_its_start(home: Home) -> None:
    key = "agent:main:subagent:7"
    home.past("a", hot_topics=["radio"], session_key=key)
    for more in (["--dry-run"], []):
        assert home.hook("session-start", *more, session_id="b", session_key=key)["session_ids"] == []


def test_restore_into_takes_the_beginning_of_an_id(home: Home) -> None:
    home.past("prior", hot_topics=["radio"])
    home.store.start("7f3a-long-id", channel="cli")
    done = home.run("restore", "--into", "7f3a", "--channel", "cli", "--now", "2026-11-10T12:00:00Z", "--json")
    assert json.loads(done.stdout)["session_id"] == "7f3a-long-id"
    home.store.start("7f3b", channel="cli")
    assert home.run("restore", "--into", "7f3", "--json", check=False).returncode == 1
    done = home.run("restore", "--into", "new", "--channel", "cli", "--now", "2026-11-10T12:00:00Z", "--json")
    assert json.loads(done.stdout)["session_id"] == "new"


def test_issue_9_continue_says_that_it_is_disabled(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    (home.path / "openclaw.json").write_text("{plugins: {entries: {jsonlstore: {config: {enabled: false}}}}}")
    before = home.files()
    done = home.run("continue", "a", "--json", check=False)
    assert (done.returncode, "disabled" in done.stderr) == (1, True)
    assert home.files() == before


def test_an_unknown_hook_is_exit_2(home: Home) -> None:
    assert home.run("hook", "session-middle", stdin="{}", check=False).returncode == 2
    assert home.run("hook", "session-start", "--wrong", stdin="{}", check=False).returncode == 2
    assert home.run("hook", "session-start", "--now", "soon", stdin='{"session_id": "a"}', check=False).returncode == 2


def test_help_ends_with_an_example(home: Home) -> None:
    for command in ("hook", "restore", "continue", "recover"):
        assert "Example:" in home.run(command, "--help").stdout


def test_dry_run_hooks_change_nothing(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    before = home.files()
    assert home.hook("session-start", "--dry-run", session_id="b", channel="cli")["session_ids"] == ["a"]
    assert home.hook("turn-end", "--dry-run", session_id="b", hot_topics=["x"])["updated"] is False
    assert home.hook("session-end", "--dry-run", session_id="b")["captured"] is False
    assert home.files() == before


def test_a_bad_setting_is_a_warning_in_a_hook(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    config = {"plugins": {"entries": {"jsonlstore": {"config": {"lookback_days": 900, "max_inherited_pins": "x"}}}}}
    (home.path / "openclaw.json").write_text(json.dumps(config))
    done = home.run(
        "hook", "session-start", "--now", "2026-11-10T12:00:00Z", stdin='{"session_id":"b","channel":"cli"}'
    )
    assert json.loads(done.stdout)["session_ids"] == ["a"]
    assert "lookback_days" in done.stderr


def test_issue_9_disabled_hooks_change_nothing(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    (home.path / "openclaw.json").write_text("{plugins: {entries: {jsonlstore: {config: {enabled: false}}}}}")
    before = home.files()
    assert home.hook("session-start", session_id="b", channel="cli")["preamble"] is None
    assert home.hook("turn-end", session_id="b", hot_topics=["x"])["updated"] is False
    assert home.hook("session-end", session_id="b")["captured"] is False
    assert home.files() == before


def test_debug_explains_on_stderr_only(home: Home) -> None:
    home.past("a", hot_topics=["radio"])
    stdin = '{"session_id":"b","channel":"cli"}'
    done = home.run(
        "hook", "session-start", "--now", "2026-11-10T12:00:00Z", stdin=stdin, env={"CORTEX_SESSION_DEBUG": "1"}
    )
    assert "[session:debug] Scoring session a" in done.stderr
    assert len(done.stdout.splitlines()) == 1


def test_the_hook_path_imports_only_what_it_needs(home: Home) -> None:
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)], working_memory=[{"content": "c", "label": "p"}])
    probe = (
        "import sys, os\n"
        "leave = os._exit\n"
        "def report(code):\n"
        "    print(sorted(set(heavy) & set(sys.modules)), file=sys.stderr, flush=True)\n"
        "    leave(code)\n"
        "os._exit = report\n"
        f"heavy = {HEAVY!r}\n"
        f"sys.argv = {home.command('hook', 'session-start', '--now', '2026-11-10T12:00:00Z')[2:]!r}\n"
        "from jsonlstore.cli.entry import run\n"
        "run()\n"
    )
    stdin = '{"session_id":"b","channel":"cli","prompt":"radio"}'
    done = subprocess.run(
        [sys.executable, "-c", probe], input=stdin, capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["session_ids"] == ["a"]
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["hook", "turn-end"], ("turn-end", {})),
        (["--state-dir", "x", "hook", "turn-end", "--now=T"], ("turn-end", {"state-dir": "x", "now": "T"})),
        (["--config=c", "--debug", "hook", "e"], ("e", {"config": "c", "debug": "1"})),
        (["hook"], None),
        (["hook", "--help"], None),
        (["show", "hook"], None),
        (["hook", "a", "b"], None),
        (["--state-dir"], None),
    ],
)
def test_only_plain_hook_calls_take_the_short_way(arguments: list[str], call: object) -> None:
    assert hook_call(arguments) == call


def database(home: Home, *events: dict[str, object]) -> Path:
    """What OpenClaw 2026.9 keeps of session s1."""
    path = home.path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE transcript_events (session_id, seq, event_json, created_at, PRIMARY KEY (session_id, seq))"
        )
        db.executemany(
            "INSERT INTO transcript_events VALUES ('s1', ?, ?, 0)",
            [(number, json.dumps(event)) for number, event in enumerate(events)],
        )
    db.close()
    return path


def test_decision_48_a_hook_means_the_newest_stretch_of_a_session_id(home: Home) -> None:
    said = {"type": "message", "id": "m", "message": {"role": "user", "content": 'type "reset" please'}}
    path = database(
        home, {"type": "session", "id": "s1"}, said, {"type": "reset", "id": "r1"}, said, {"type": "reset", "id": "r2"}
    )
    before = path.read_bytes()
    second, third = stretch_id("s1", "r1"), stretch_id("s1", "r2")
    assert home.hook("session-start", session_id="s1", channel="cli", agent_id="main")["session_id"] == third
    assert home.hook("turn-end", session_id="s1", agent_id="main", hot_topics=["x"])["session_id"] == third
    assert home.hook("session-end", session_id="s1", agent_id="main", reason="reset")["session_id"] == second
    assert home.hook("session-end", session_id="s1", agent_id="main", reason="idle")["session_id"] == third
    assert home.hook("session-start", session_id="other", channel="cli")["session_id"] == "other"
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_decision_48_one_reset_closes_the_first_stretch(home: Home) -> None:
    database(home, {"type": "session", "id": "s1"}, {"type": "reset", "id": "r1"})
    assert home.hook("session-end", session_id="s1", reason="new")["session_id"] == "s1"


def test_a_broken_runtime_database_does_not_stop_a_session(home: Home) -> None:
    path = home.path / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database at all" * 100)
    answer = home.hook("session-start", session_id="s1", channel="cli")
    assert (answer["session_id"], "error" in answer) == ("s1", False)


def test_the_restore_command_previews_explains_and_applies(home: Home) -> None:
    home.past("a", hot_topics=["radio"], working_memory=[{"content": "c", "label": "p"}])
    home.past("idle")
    now = ("--now", "2026-11-10T12:00:00Z")
    before = home.files()
    shown = json.loads(home.run("restore", "--channel", "cli", "--explain", "--dry-run", "--json", *now).stdout)
    assert home.files() == before
    assert [*START_KEYS, "candidates", "pins", "conversation", "left_out"] == list(shown)
    assert shown["session_id"] is None
    one = shown["candidates"][1]
    assert list(one) == [
        "session_id",
        "hours_elapsed",
        "recency",
        "topic_overlap",
        "pending",
        "score",
        "qualified",
        "reason",
    ]
    assert (one["session_id"], one["qualified"]) == ("a", True)
    assert shown["candidates"][0]["reason"] == "nothing to bring back"
    assert shown["pins"] == [{"label": "p", "from": "a", "decision": "added", "reason": "pins of the best session"}]
    refused = home.run("restore", *now, check=False)
    assert (refused.returncode, "--into" in refused.stderr) == (2, True)
    assert "HOT TOPICS: radio" in home.run("restore", "--into", "new", "--channel", "cli", *now).stdout
    assert home.pinned()
    assert "already restored" in home.run("restore", "--into", "new", "--channel", "cli", *now).stdout
    assert "score" in home.run("restore", "--explain", "--dry-run", "--channel", "cli", *now).stdout


def test_fr_004_memories_of_a_brain_db_decay_in_the_answer_and_nowhere_else(home: Home) -> None:
    home.past("a", recent_learnings=["m1", "m2", "m3"], hot_topics=["t"])
    home.later(hours=48)
    path = home.path / "workspace" / "memory" / "brain.db"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE stm (id TEXT PRIMARY KEY, content TEXT, confidence REAL)")
        db.executemany("INSERT INTO stm VALUES (?, 'x', ?)", [("m1", 1.0), ("m2", 0.32)])
    db.close()
    shown = {one["memory_id"]: one for one in home.hook("session-start", session_id="b", channel="cli")["memories"]}
    assert [round(shown[name]["confidence"], 3) for name in ("m1", "m2", "m3")] == [0.886, 0.283, 0.886]
    assert [shown[name]["excluded"] for name in ("m1", "m2", "m3")] == [False, True, False]
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT id, confidence FROM stm ORDER BY id").fetchall() == [("m1", 1.0), ("m2", 0.32)]
        assert {row[0] for row in db.execute("SELECT id FROM session_states")} >= {"b"}
    db.close()


@pytest.mark.parametrize("key", ["agent:main:subagent:5d1c", "temp:slug-1", "agent:main:cron:daily"])
def test_decision_50_a_turn_of_nobodys_conversation_is_not_recorded(home: Home, key: str) -> None:
    answer = home.hook("turn-end", session_id="a", session_key=key, hot_topics=["radio"])
    assert answer == {"session_id": "a", "updated": False}
    assert home.files() == {}


def test_decision_50_the_runtimes_index_knows_nobodys_conversation_by_its_id(home: Home) -> None:
    index = home.path / "agents" / "main" / "sessions" / "sessions.json"
    index.parent.mkdir(parents=True)
    index.write_text(
        json.dumps({"agent:main:subagent:5d1c": {"sessionId": "sub"}, "agent:main:main": {"sessionId": "real"}})
    )
    before = home.files()
    assert home.hook("session-start", session_id="sub", channel="cli")["preamble"] is None
    assert home.hook("turn-end", session_id="sub", hot_topics=["radio"])["updated"] is False
    assert home.hook("session-end", session_id="sub")["captured"] is False
    assert home.files() == before
    assert home.hook("turn-end", session_id="real", hot_topics=["radio"])["updated"] is True
    index.write_text("not JSON, but speaks of sub-2")
    assert home.hook("turn-end", session_id="sub-2", hot_topics=["radio"])["updated"] is True


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_first_and_the_last_moment_there_is_are_times_like_any_other(home: Home, now: str) -> None:
    for event in ("session-start", "turn-end", "session-end"):
        done = home.run("hook", event, "--now", now, stdin='{"session_id":"a","channel":"cli"}')
        assert "error" not in json.loads(done.stdout)
        assert done.stderr == ""


def test_a_secret_in_any_field_of_a_session_start_stays_off_the_disk(home: Home) -> None:
    """No pre-filter waves through what the redactor would hide: a login pair, a PIN in a sentence."""
    fields = {"channel": "login: bob / hunter2x", "agent_id": "the PIN for the card is 660487"}
    home.run("hook", "session-start", stdin=json.dumps({"session_id": "one", **fields}))
    written = b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())
    assert b"one" in written
    assert b"hunter2x" not in written
    assert b"660487" not in written
