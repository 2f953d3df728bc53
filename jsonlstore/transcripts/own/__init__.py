"""Our own transcripts, which agents write through `jsonlstore.context`: read here like any other runtime's.

One database or one directory of files, as the `session` settings say; after a migration both. Every agent's sessions
are in it, and the key says whose a session is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.transcripts.runtimes import Discovery, Runtime, may_exist

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.transcripts.source import TranscriptSource


class Own(Runtime):
    """The transcript store of this package."""

    def discover(self, state_dir: Path) -> Discovery:
        found: list[TranscriptSource] = []
        for kind, path in _places(state_dir):
            if not may_exist(path):
                continue
            if kind == "sqlite":
                from jsonlstore.transcripts.own.sqlite import OwnDatabase

                found.append(OwnDatabase(path))
            else:
                from jsonlstore.transcripts.own.files import OwnFiles

                found.append(OwnFiles(path))
        return Discovery(found)

    def watched(self, state_dir: Path) -> list[Path]:
        return [path if kind == "jsonl" else path.parent for kind, path in _places(state_dir)]

    def has_transcript(self, state_dir: Path, agent: str, session_id: str) -> bool:
        from jsonlstore.core.session_settings import OWN_RUNTIME

        # most machines have no transcripts of ours, and a hook asks this of every session it starts
        if not may_exist(state_dir / OWN_RUNTIME) and not may_exist(state_dir / "openclaw.json"):
            return False
        sources = self.discover(state_dir).sources
        return any(one.session_id == session_id for source in sources for one in source.transcripts())


def _places(state_dir: Path) -> list[tuple[str, Path]]:
    from jsonlstore.core.config import load_config
    from jsonlstore.core.session_settings import transcript_place

    settings = load_config(state_dir, lenient=True).session
    return [(kind, transcript_place(state_dir, settings, kind)) for kind in ("sqlite", "jsonl")]


RUNTIME = Own()
