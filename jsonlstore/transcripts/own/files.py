"""The directory of the JSONL backend, read like OpenClaw's; one directory holds the sessions of every agent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jsonlstore.core.session_key import OWN_RUNTIME
from jsonlstore.transcripts.openclaw.jsonl import JsonlSource
from jsonlstore.transcripts.own import agent_in

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.transcripts.source import Transcript


class OwnFiles(JsonlSource):
    """Session files of ours; the session key names the agent."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.parent)
        self.path = path
        self.agent_id = OWN_RUNTIME

    def transcripts(self) -> list[Transcript]:
        return [replace(one, agent_id=agent_in(one.session_key)) for one in super().transcripts()]
