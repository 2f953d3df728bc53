"""Forgetting reaches our own transcripts: a session that came from them is removed there too, in both backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.context.store import open_backend
from jsonlstore.core.session_settings import SessionSettings, transcript_place
from jsonlstore.transcripts import usable_id

if TYPE_CHECKING:
    from pathlib import Path


def forget_transcripts(
    state_dir: Path, settings: SessionSettings, session_id: str, *, dry_run: bool = False
) -> list[str]:
    """Remove the transcripts of one session, after a migration from both places; the files they were in.

    A stretch after a reset goes with the session it was cut from. Once refused, the next call finishes it.
    """
    removed: list[str] = []
    for kind in ("sqlite", "jsonl"):
        if not transcript_place(state_dir, settings, kind).exists():
            continue  # to open a backend makes its place
        backend = open_backend(state_dir, settings, kind)
        try:
            ours = [one for one in backend.sessions() if usable_id(one.session_id) == session_id]
            removed += [str(one.path) for one in ours if dry_run or backend.remove(one.key)]
            if not dry_run:
                backend.scrub()
        finally:
            backend.close()
    return removed
