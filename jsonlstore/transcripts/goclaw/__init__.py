"""GoClaw: one `sessions.db` beside OpenClaw's directories, read only."""

from __future__ import annotations

from pathlib import Path

from jsonlstore.transcripts.runtimes import Discovery, Runtime, may_exist

_DATABASE = "sessions.db"


class GoClaw(Runtime):
    """GoClaw keeps every agent's sessions in one database of the state directory."""

    def discover(self, state_dir: Path) -> Discovery:
        database = self._folder(state_dir) / _DATABASE
        if not may_exist(database):
            return Discovery([])
        from jsonlstore.transcripts.goclaw.sessions_db import GoclawSource

        return Discovery([GoclawSource(database)])

    def watched(self, state_dir: Path) -> list[Path]:
        return [self._folder(state_dir)]

    @staticmethod
    def _folder(state_dir: Path) -> Path:
        return state_dir / "goclaw"


RUNTIME = GoClaw()
