"""Every other door: transcripts, pins, tasks, projects, pipelines, brain.db, settings, MCP, exports and reports.

Thirty kinds of secrets are planted in each; then every byte we wrote and every word we said is read.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.redact.test_doors import KINDS, make
from tests.watch.conftest import OpenClaw

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
PLANTED = [make.slots(kind, random.Random(41 + number)) for number, kind in enumerate(KINDS)]
SECRETS = [secret.encode() for _, secret in PLANTED]
TEXTS = [text for text, _ in PLANTED]
FIELDS = ("query", "content", "label", "title", "text", "session_id", "id", "when")


class Doors:
    """A state directory, what was said to us, and what we said."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state"
        self.out = folder / "out"
        self.out.mkdir(parents=True)
        self.openclaw = OpenClaw(self.path)
        self.said = b""

    def run(self, *words: str, stdin: str = "") -> None:
        """A command with `--debug`; that it fails is fine, what it says then is read too."""
        command = [sys.executable, "-m", "jsonlstore", "--debug", "--state-dir", str(self.path), *words]
        done = subprocess.run(command, input=stdin.encode(), capture_output=True, check=False, timeout=120)
        self.said += done.stdout + done.stderr

    def leaked(self, theirs: tuple[str, ...] = ()) -> list[str]:
        """The secrets in what we wrote or said; the files others wrote are theirs."""
        written = self.said
        for folder in (self.path, self.out):
            for file in folder.rglob("*"):
                if file.is_file() and not str(file.relative_to(folder)).startswith(("agents/", *theirs)):
                    written += str(file).encode("utf-8", "replace") + b"\n" + file.read_bytes()
        found = [written.find(secret) for secret in SECRETS]
        return [written[max(0, at - 80) : at + 20].decode("utf-8", "replace") for at in found if at >= 0]


@pytest.fixture
def doors(tmp_path: Path) -> Doors:
    return Doors(tmp_path)


def _talk(doors: Doors) -> None:
    """A session in which every kind is said by the user, the assistant and a tool."""
    talk = doors.openclaw.begin(SID, "antenna")
    for text in TEXTS:
        doors.openclaw.append(
            SID,
            talk.user(f"TODO: rotate {text}"),
            talk.assistant(f"We decided to keep {text} for now."),
            talk.user(text),
        )


def test_no_secret_of_a_transcript_gets_anywhere(doors: Doors) -> None:
    """State, index, search, checkpoint, handoff, preamble, report, exports, and what the commands print."""
    _talk(doors)
    for words in (
        ("backfill",),
        ("watch", "--once"),
        ("show", SID),
        ("list",),
        ("search", "rotate"),
        ("signals", SID, "--explain"),
        ("where", SID),
        ("handoff", "capture", SID),
        ("handoff", "status", SID),
        ("checkpoint", "list", SID),
        ("restore", "--channel", "cli", "--explain", "--prompt", "rotate it"),
        ("report", str(doors.out / "report.html")),
        ("export", "jsonl", str(doors.out / "jsonl")),
        ("export", "brain-db"),
        ("stats",),
        ("metrics",),
        ("doctor",),
        ("status",),
    ):
        doors.run(*words)
    assert (doors.out / "report.html").exists()
    assert doors.leaked() == []


def test_no_secret_given_to_a_command_is_kept_or_repeated(doors: Doors) -> None:
    """Pins, labels, tasks, projects, questions, ids; six kinds a process, all kinds in all fields."""
    doors.openclaw.begin(SID, "antenna")
    doors.run("backfill")
    for number in range(0, len(TEXTS), 6):
        some = TEXTS[number : number + 6]
        lines = "\n".join(some)
        doors.run("pin", "add", lines[:500], "--label", some[0])
        doors.run("pin", "add", some[1], "--label", some[2])
        doors.run("task", "add", lines, "--session-key", some[3])
        doors.run("task", "add", some[4])
        doors.run("project", "set", some[5], SID)
        doors.run("search", lines)
        doors.run("show", some[number % 6])
        doors.run("restore", "--prompt", lines, "--channel", some[0], "--cwd", "/tmp", "--dry-run")
        doors.run("forget", some[1], "--dry-run")
    assert doors.leaked() == []


def test_no_secret_of_the_workspace_is_kept(doors: Doors) -> None:
    """Pins with labels, tasks of a pipeline, memory files: theirs stay as they are, ours hold nothing."""
    workspace = doors.path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "pipeline").mkdir()
    pins = [{"content": text, "label": text, "pinnedAt": "2026-11-10T10:00:00Z"} for text in TEXTS]
    (workspace / "memory" / "working_memory.json").write_text(json.dumps({"items": pins[:10]}))
    tasks = [{"task_id": text, "title": text, "status": "active", "current_stage": "build"} for text in TEXTS]
    (workspace / "pipeline" / "state.json").write_text(json.dumps({"active_tasks": tasks, "completed_tasks": []}))
    (workspace / "MEMORY.md").write_text("\n\n".join(TEXTS))
    for event, document in (
        ("session-start", {"session_id": "a", "channel": "cli"}),
        ("turn-end", {"session_id": "a"}),
        ("session-end", {"session_id": "a", "reason": "new"}),
        ("session-start", {"session_id": "b", "channel": "cli"}),
    ):
        doors.run("hook", event, stdin=json.dumps(document))
    doors.run("search", "the", "--in", "all")
    doors.run("task", "list")
    doors.run("pin", "list")
    assert doors.leaked(theirs=("workspace/",)) == []


def test_no_secret_of_the_settings_is_said(doors: Doors) -> None:
    """Wrong values, unknown keys and a file that is no JSON: the message names the place, not the value."""
    for number, text in enumerate(TEXTS):
        ours = {"relevance_threshold": text, "scope": text, text: 1, "redact": {"rules": text}}
        document = {"token": text, "plugins": {"entries": {"jsonlstore": {"config": ours}}}}
        broken = json.dumps(document)
        (doors.path / "openclaw.json").write_text(broken[:-3] if number % 3 == 0 else broken)
        if number % 5 == 0:
            doors.run("config")
            doors.run("hook", "session-start", stdin=json.dumps({"session_id": "a"}))
        doors.run("list")
    assert doors.leaked(theirs=("openclaw.json",)) == []


def test_no_secret_of_another_database_is_taken_over(doors: Doors) -> None:
    """Rows of a brain.db: every column of text, ids included."""
    source = doors.out.parent / "brain.db"
    columns = (
        "id", "start_time", "end_time", "channel", "hot_topics", "active_projects", "pending_tasks", "recent_learnings",
        "confidence_updates", "sop_interactions", "previous_session_id", "continued_by", "working_memory",
    )  # fmt: skip
    with sqlite3.connect(source) as db:
        db.execute(f"CREATE TABLE session_states ({', '.join(columns)})")
        for number, text in enumerate(TEXTS):
            listed = json.dumps([text])
            pins = json.dumps([{"content": text, "label": text, "pinnedAt": "2026-11-01T10:00:00Z"}])
            tasks = json.dumps([{"task_id": text, "title": text, "stage": text}])
            row = (
                f"s{number}" if number % 2 else text, "2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z", text, listed,
                listed,
                tasks, listed, listed, listed, text, text, pins,
            )  # fmt: skip
            db.execute(f"INSERT INTO session_states VALUES ({', '.join('?' * len(columns))})", row)
    db.close()
    doors.run("import", "brain-db", str(source))
    doors.run("list")
    assert doors.leaked() == []


def test_no_secret_in_a_client_s_message_is_kept_or_said_again(doors: Doors) -> None:
    """Arguments of every tool, names of tools and resources, and lines that are no JSON."""
    doors.openclaw.begin(SID, "antenna")
    doors.run("backfill")
    requests = [{"jsonrpc": "2.0", "id": 0, "method": "tools/list"}]
    for number, text in enumerate(TEXTS):
        for name in ("recall", "search", "pin", "remember", "task_add", "show", "handoff", text):
            arguments = dict.fromkeys(("query", "content", "label", "title", "text", "session_id", "id", "when"), text)
            call = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
            requests.append({"jsonrpc": "2.0", "id": number, **call})
        requests.append({"jsonrpc": "2.0", "id": number, "method": "resources/read", "params": {"uri": text}})
    lines = "\n".join([*map(json.dumps, requests), *(f"not json {text}" for text in TEXTS)])
    doors.run("mcp", stdin=lines + "\n")
    assert doors.leaked() == []
