"""A state directory with a clock of its own, as a runtime would see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time
from jsonlstore.core.config import Config
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.restore.manager import SessionPersistenceManager
from jsonlstore.store.store import SessionStore

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 10, 10, 0, tzinfo=UTC)


@dataclass
class Home:
    """One state directory, its clock, and what stands in its workspace."""

    path: Path
    now: datetime = START
    config: Config = field(default_factory=Config)

    @property
    def store(self) -> SessionStore:
        return SessionStore(StatePaths.of(self.path), clock=lambda: self.now, disk=Disk(sync=False))

    def manager(self, **settings: Any) -> SessionPersistenceManager:
        memories = settings.pop("memories", None)
        config = Config(**settings) if settings else self.config
        return SessionPersistenceManager(self.store, config, memories=memories)

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    @property
    def pin_file(self) -> Path:
        return self.path / "workspace" / "memory" / "working_memory.json"

    def pin(self, *pins: dict[str, Any], **more: Any) -> None:
        self.pin_file.parent.mkdir(parents=True, exist_ok=True)
        items = [{"pinnedAt": format_time(self.now), **pin} for pin in pins]
        self.pin_file.write_text(json.dumps({"items": items, **more}))

    def pinned(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.pin_file.read_text())["items"]
        return found

    def pipeline(self, *active: dict[str, Any], completed: tuple[Any, ...] = ()) -> None:
        file = self.path / "workspace" / "pipeline" / "state.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"active_tasks": list(active), "completed_tasks": list(completed)}))

    def past(
        self,
        session_id: str,
        *,
        channel: str = "cli",
        minutes: float = 30,
        reason: str = "new",
        agent_id: str | None = None,
        session_key: str | None = None,
        **fields: Any,
    ) -> None:
        """A whole session: started now, ended some minutes later with the given fields."""
        known = {key: value for key, value in (("agent_id", agent_id), ("session_key", session_key)) if value}
        self.store.start(session_id, channel=channel, **known)
        self.later(minutes=minutes)
        self.store.end(session_id, fields, reason=reason)

    def metrics(self, event: str | None = None) -> list[dict[str, Any]]:
        return list(self.store.metrics.read(event))

    def files(self) -> dict[str, bytes]:
        """Every file and its content, lock files aside."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "jsonlstore", "--state-dir", str(self.path), *arguments]

    def run(
        self, *arguments: str, stdin: str = "", check: bool = True, **more: Any
    ) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "NO_COLOR": "1", **more.pop("env", {})}
        done = subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=env,
            **more,
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    def hook(self, event: str, *options: str, **document: Any) -> dict[str, Any]:
        """A hook call through a process of its own, at this clock's time."""
        arguments = ("hook", event, "--now", format_time(self.now), *options)
        done = self.run(*arguments, stdin=json.dumps(document), env=self._patient())
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def _patient(self) -> dict[str, str]:
        """Settings for a home without any: what is restored must not depend on how busy the machine is."""
        if (self.path / "openclaw.json").exists() or "OPENCLAW_CONFIG_PATH" in os.environ:
            return {}
        file = self.path.parent / "patient.json"
        file.write_text(json.dumps({"plugins": {"entries": {"jsonlstore": {"config": {"restore_budget_ms": 10_000}}}}}))
        return {"OPENCLAW_CONFIG_PATH": str(file)}


def task(number: int, stage: str = "build", **more: Any) -> dict[str, Any]:
    """A pending task as a state holds it."""
    return {"task_id": f"task-{number:03d}", "title": f"Job number {number}", "stage": stage, **more}
