"""`demo`: two days of somebody's work in a temporary directory, and what is kept of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.app import App
from jsonlstore.cli.console import command, print_json, say, with_example
from jsonlstore.cli.formatting import heading, say_folded, say_value
from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.restore import SessionPersistenceManager
from jsonlstore.store import Doctor, SessionStore

if TYPE_CHECKING:
    from jsonlstore.core.model import SessionState
    from jsonlstore.restore import RestoredSessionContext

TOKEN = "ghp_" + "A1b2C3d4E5f6" * 3  # shaped like a real one, belongs to nobody
RADIO, WEBSITE, TODAY = "radio-day-one", "website-day-two", "today"
KEY = "agent:main:main"
_STORY = Path(__file__).with_name("demo_story.jsonl")  # OpenClaw's records, without their times
_PATIENT = Config(restore_budget_ms=10_000)  # a busy machine must not spoil the story


@dataclass
class _StoryClock:
    moment: datetime

    def __call__(self) -> datetime:
        return self.moment


@with_example("jsonlstore demo", "jsonlstore demo --keep")
@command("demo", "--now", "--json")
@click.option("--keep", is_flag=True, help="Leave the temporary directory for a look around.")
@click.option("--delete", is_flag=True, hidden=True)  # what happens anyway; scripts of 0.1 pass it
def demo(app: App, keep: bool, delete: bool, as_json: bool) -> None:
    """Show the whole story on made-up sessions, without OpenClaw. Nothing is left behind."""
    root = Path(tempfile.mkdtemp(prefix="jsonlstore-demo-"))
    keep = keep and not delete
    try:
        _play(root, app.clock(), keep=keep, as_json=as_json)
    finally:
        if not keep:
            shutil.rmtree(root)


def _play(root: Path, now: datetime, *, keep: bool, as_json: bool) -> None:
    """Two days of work in `root`, then what a session starting `now` gets."""
    clock = _StoryClock(now - timedelta(days=2))
    store = SessionStore.open(root, clock=clock)
    _day_one(store, clock, root)
    _day_two(store, clock)
    clock.moment = now
    restored = SessionPersistenceManager(store, _PATIENT, clock=clock).on_session_start(
        TODAY,
        "telegram",
        prompt="back to the radio: is the ft-991a ready?",
        explain=True,
        agent_id="main",
        session_key=KEY,
    )
    leaked = sum(TOKEN.encode() in path.read_bytes() for path in (root / "sessions").rglob("*") if path.is_file())
    healthy = all(check.ok for check in Doctor(store).examine())
    if as_json:
        sessions = [store.get(entry.session_id).to_dict() for entry in store.entries()]
        kept_in = {"state_dir": str(root)} if keep else {}
        shown = {**kept_in, "sessions": sessions, "secrets_on_disk": leaked, "healthy": healthy}
        print_json({**shown, "restored": restored.to_dict(explain=True)})
        return
    _tell(store, restored, leaked=leaked, healthy=healthy)
    if keep:
        _where(root)
    else:
        say_folded(
            "Nothing was left behind. Look around in it: `jsonlstore demo --keep`. For real: `jsonlstore setup`."
        )


def _day_one(store: SessionStore, clock: _StoryClock, root: Path) -> None:
    """Work on a radio in OpenClaw, a token pasted into the chat, the end by /new: all of it read off the transcript."""
    from jsonlstore.watch import Watcher

    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    transcript, sessions = folder / f"{RADIO}.jsonl", folder / "sessions.json"
    clock.moment = _write_story(transcript, clock.moment, cwd=str(root / "projects" / "lbf-ham-radio"))
    entry = {"sessionId": RADIO, "updatedAt": _millis(clock.moment), "lastChannel": "telegram"}
    sessions.write_text(json.dumps({KEY: entry}))
    Watcher(store, _PATIENT).once()
    # what /new leaves: no hook, no message, a file of another name
    transcript.rename(f"{transcript}.reset.{format_time(clock.moment).replace(':', '-')}")
    sessions.write_text("{}")
    Watcher(store, _PATIENT).once()


def _write_story(path: Path, start: datetime, *, cwd: str) -> datetime:
    """Write somebody's work on a radio as OpenClaw would have left it, seven minutes a record; returns when it ends."""
    moment = start
    lines = []
    for number, line in enumerate(_STORY.read_text().replace("$TOKEN", TOKEN).splitlines()):
        moment = start + timedelta(minutes=7 * number)
        record = json.loads(line.replace('"$CWD"', json.dumps(cwd)))
        record["timestamp"] = format_time(moment)
        if "message" in record:
            record["message"]["timestamp"] = _millis(moment)
        lines.append(json.dumps(record) + "\n")
    path.write_text("".join(lines))
    return moment


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _day_two(store: SessionStore, clock: _StoryClock) -> None:
    """A session reported by hooks, whose process is killed in the middle: nobody ends it."""
    clock.moment += timedelta(days=1)
    # a real process, so that its death is found as any agent's is
    agent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        manager = SessionPersistenceManager(store, _PATIENT, clock=clock)
        manager.on_session_start(WEBSITE, "telegram", pid=agent.pid, agent_id="main", session_key=KEY)
        clock.moment += timedelta(minutes=10)
        manager.update_session_state(hot_topics=["css grid", "footer"], active_projects=["club-website"])
    finally:
        agent.kill()
        agent.wait()


def _tell(store: SessionStore, restored: RestoredSessionContext, *, leaked: int, healthy: bool) -> None:
    heading("Day one: work on a radio in OpenClaw, ended by /new. Read off the transcript:")
    _kept(store.get(RADIO))
    say_value("secret", f"a token was pasted into the chat; copies of it in our files: {leaked}")
    say()
    heading("Day two: a website, and the agent is killed (kill -9). Found and closed:")
    _kept(store.get(WEBSITE))
    say()
    heading("Today a new session starts. Before its first answer the agent is given:")
    say()
    say_folded(restored.wrapped_preamble or "(nothing)", indent="  ")
    say()
    heading("Why these (`restore --explain`):")
    for one in restored.candidates:
        factors = f"recency {one.recency:.2f}, topics {one.topic_overlap:.2f}, pending {one.pending:.2f}"
        say_folded(f"  {one.session_id}: score {one.score:.2f} ({factors})", indent="    ")
        say_folded(f"    {'restored' if one.qualified else 'left out'}: {one.reason}", indent="    ")
    say()
    say(f"Store healthy: {'yes' if healthy else 'no'}.")


def _kept(state: SessionState) -> None:
    ended = "by a crash, recovered" if state.crash_recovered else f"by {state.end_reason}"
    values = (
        ("ended", ended),
        ("projects", ", ".join(state.active_projects)),
        ("topics", ", ".join(state.hot_topics[:8])),
        ("pending", "; ".join(task.title for task in state.pending_tasks)),
        ("decided", "; ".join(note.content for note in state.notes if note.type == "decision")),
        ("next", state.next_step or ""),
    )
    for label, value in values:
        if value:
            say_value(label, value)


def _where(root: Path) -> None:
    say()
    heading("Look around:")
    for words in ("list", "show radio", "recall radio", f"restore --session-key {KEY} --explain --dry-run"):
        say(f"  jsonlstore --state-dir {root} {words}")
    say()
    heading("The files:")
    for path, what in (
        (f"sessions/states/{RADIO}.jsonl", "the log: the truth"),
        ("sessions/states/sessions.json", "the index: a cache"),
        (f"sessions/{RADIO}.json", "the same as plain JSON, for other tools"),
        ("agents/main/sessions/", "the agent's own: read, never written"),
    ):
        say(f"  {path:<42}{what}")
    say(f"They are in {root}")
    say(f"Remove them: rm -r {root}")
