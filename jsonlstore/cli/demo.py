"""`demo`: two days of somebody's work in a temporary directory, and what is kept of it."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from jsonlstore.cli.session import json_option, print_json, say, with_example
from jsonlstore.config import Config
from jsonlstore.continuity.manager import SessionPersistenceManager
from jsonlstore.store.doctor import Doctor
from jsonlstore.store.store import SessionStore

_TOKEN = "ghp_" + "A1b2C3d4E5f6" * 3  # shaped like a real one, belongs to nobody


class _StoryClock:
    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


@with_example("jsonlstore demo")
@click.command("demo")
@json_option
def demo(as_json: bool) -> None:
    """Show the whole story on made-up sessions, in a temporary directory, without OpenClaw."""
    root = Path(tempfile.mkdtemp(prefix="jsonlstore-demo-"))
    now = datetime.now(UTC)
    clock = _StoryClock(now - timedelta(days=2))
    store = SessionStore.open(root, clock=clock)
    _day_one(store, clock)
    _day_two(store, clock)
    clock.moment = now
    manager = SessionPersistenceManager(store, Config(), clock=clock)
    restored = manager.on_session_start(
        "today", "telegram", agent_id="main", prompt="back to the radio: is the ft991a ready?"
    )
    leaked = [path for path in root.rglob("*") if path.is_file() and _TOKEN.encode() in path.read_bytes()]
    healthy = all(check.ok for check in Doctor(store).examine())
    if as_json:
        print_json(
            {
                "state_dir": str(root),
                "sessions": [store.get(entry.session_id).to_dict() for entry in store.entries()],
                "secrets_on_disk": len(leaked),
                "healthy": healthy,
                "restored": restored.to_dict(),
            }
        )
        return
    _tell(store, root, restored.wrapped_preamble, leaked=len(leaked), healthy=healthy)


def _day_one(store: SessionStore, clock: _StoryClock) -> None:
    """Work on a radio, with a token pasted into a pin; ends with /new."""
    store.start("radio-monday", channel="telegram", agent_id="main")
    clock.moment += timedelta(minutes=20)
    store.update(
        "radio-monday",
        {
            "hot_topics": ["ft991a", "ham radio", "hamlib", "cat control"],
            "active_projects": ["lbf-ham-radio"],
            "pending_tasks": [{"task_id": "task-017", "title": "CAT control for the FT-991A", "stage": "build"}],
            "working_memory": [
                {"content": f"deploy with GITHUB_TOKEN={_TOKEN}", "label": "deploy", "pinnedAt": store.now()}
            ],
            "notes": [{"id": "n1", "type": "decision", "content": "use hamlib, not raw serial", "confidence": 0.8}],
        },
    )
    clock.moment += timedelta(minutes=40)
    store.end("radio-monday", {"next_step": "solder the PTT line"}, reason="new")


def _day_two(store: SessionStore, clock: _StoryClock) -> None:
    """A session that is killed in the middle: nobody ends it."""
    clock.moment += timedelta(days=1)
    store.start("website-tuesday", channel="telegram", agent_id="main", previous_session_id="radio-monday")
    store.link("radio-monday", "website-tuesday")
    clock.moment += timedelta(minutes=10)
    store.update("website-tuesday", {"hot_topics": ["css grid", "footer"], "active_projects": ["club-website"]})


def _tell(store: SessionStore, root: Path, preamble: str | None, *, leaked: int, healthy: bool) -> None:
    for entry in store.entries():
        if entry.end_time is None:
            continue
        state = store.get(entry.session_id)
        ended = "killed in mid-session, recovered" if state.crash_recovered else f"ended by /{state.end_reason}"
        say(f"\n{state.session_id}: {ended}", bold=True)
        say(f"  topics    {', '.join(state.hot_topics)}")
        say(f"  projects  {', '.join(state.active_projects)}")
        for task in state.pending_tasks:
            say(f"  pending   [{task.task_id}] {task.title} (stage: {task.stage})")
        for pin in state.working_memory:
            say(f"  pin       {pin.label}: {pin.content}")
        if state.next_step:
            say(f"  next      {state.next_step}")
    say("\nToday a new session starts. Before its first answer the agent is given:\n", bold=True)
    say(preamble or "(nothing)")
    say(
        f"\nA token was pasted into a pin. Copies of it on disk: {leaked}. Store healthy: {'yes' if healthy else 'no'}."
    )
    say("Look around:")
    say(f"  jsonlstore --state-dir {root} list")
    say(f"  jsonlstore --state-dir {root} show radio --json")
    say(f"  jsonlstore --state-dir {root} restore --channel telegram --explain --dry-run --json")
    say(f"  ls -R {root}")
