"""Somebody's work on a radio, as OpenClaw would have left it on disk: what `demo` reads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "A1b2C3d4E5f6" * 3  # shaped like a real one, belongs to nobody
RADIO, WEBSITE, TODAY = "radio-day-one", "website-day-two", "today"
KEY = "agent:main:main"


@dataclass(slots=True)
class _Talk:
    """The records of one transcript, a minute apart."""

    session_id: str
    moment: datetime
    cwd: str
    records: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        head = {"type": "session", "version": 3, "id": self.session_id, "cwd": self.cwd}
        self.records.append({**head, "timestamp": format_time(self.moment)})

    def say(self, role: str, content: Any, **more: Any) -> None:
        self.moment += timedelta(minutes=7)
        parent = self.records[-1]["id"] if len(self.records) > 1 else None
        self.records.append(
            {
                "type": "message",
                "id": f"{len(self.records):08x}",
                "parentId": parent,
                "timestamp": format_time(self.moment),
                "message": {"role": role, "content": content, "timestamp": self.moment.timestamp() * 1000, **more},
            }
        )

    def user(self, text: str) -> None:
        self.say("user", text)

    def assistant(self, text: str, command: str | None = None) -> None:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if command:
            arguments = {"command": command, "workdir": self.cwd}
            blocks.append(
                {"type": "toolCall", "id": f"call_{len(self.records)}", "name": "exec", "arguments": arguments}
            )
        self.say("assistant", blocks, stopReason="toolUse" if command else "stop")

    def result(self, text: str) -> None:
        call = f"call_{len(self.records) - 1}"
        details = {"cwd": self.cwd, "exitCode": 0}
        content = [{"type": "text", "text": text}]
        self.say("toolResult", content, toolCallId=call, toolName="exec", details=details, isError=False)

    def write(self, path: Path) -> None:
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records))


class DemoTranscript:
    """The agent's own files of day one: written as it works, renamed by /new."""

    def __init__(self, root: Path, start: datetime) -> None:
        self._folder = root / "agents" / "main" / "sessions"
        self._talk = _radio(start, str(root / "projects" / "lbf-ham-radio"))

    @property
    def end(self) -> datetime:
        return self._talk.moment

    def write(self) -> None:
        """The session while it is the current one."""
        self._folder.mkdir(parents=True)
        self._talk.write(self._folder / f"{RADIO}.jsonl")
        entry = {"sessionId": RADIO, "updatedAt": int(self.end.timestamp() * 1000), "lastChannel": "telegram"}
        (self._folder / "sessions.json").write_text(json.dumps({KEY: entry}))

    def reset(self) -> None:
        """What /new leaves: no hook, no message, a file of another name."""
        stamp = format_time(self.end).replace(":", "-")
        (self._folder / f"{RADIO}.jsonl").rename(self._folder / f"{RADIO}.jsonl.reset.{stamp}")
        (self._folder / "sessions.json").write_text("{}")


def _radio(start: datetime, cwd: str) -> _Talk:
    talk = _Talk(RADIO, start, cwd)
    talk.user("Let us get CAT control of the FT-991A going over hamlib. The radio is on the bench.")
    talk.assistant("I will look at what the radio answers over hamlib first.", "rigctl -m 1035 get_freq")
    talk.result("14074000")
    talk.assistant("The FT-991A answers. I decided to use hamlib instead of raw serial commands.")
    talk.user(f"Good. If you need to deploy the hamlib bridge, use GITHUB_TOKEN={TOKEN}")
    talk.assistant("Noted. Setting the mode over hamlib is still missing.")
    talk.user("TODO: finish CAT control for the FT-991A. Next step: solder the PTT line.")
    talk.assistant("Understood. The next step is to solder the PTT line.")
    return talk
