"""A source of a new format, outside the state directory, written and registered in this file alone.

Everything below uses the public interface; nothing in the package knows of the format.
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from jsonlstore.core.config import Config
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts import (
    Cursor,
    Discovery,
    Ending,
    Entry,
    Reading,
    Runtime,
    Transcript,
    TranscriptSource,
    register_runtime,
    unregister_runtime,
)
from jsonlstore.watch import Watcher
from tests.watch.conftest import IMPATIENT, derived
from tests.watch.test_exactly_once import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")

SESSION = "notebook-7"
_CLOSED = "===== closed: "
_SPEAKERS = {"me": "user", "it": "assistant"}


class NotebookSource(TranscriptSource):
    """Plain text, one page per session: `<time> me: …`, `<time> it: …`, and a last line that says why it was closed."""

    kind = "notebook"

    def __init__(self, folder: Path) -> None:
        self.path, self.agent_id = folder, "scribbler"

    @property
    def warnings(self) -> tuple[str, ...]:
        return ()

    def version(self) -> object:
        return [(page.name, page.stat().st_size, page.stat().st_mtime_ns) for page in sorted(self.path.glob("*.page"))]

    def transcripts(self) -> list[Transcript]:
        return [self._described(page) for page in sorted(self.path.glob("*.page"))]

    def _described(self, page: Path) -> Transcript:
        text = page.read_text()
        closed = text.partition(_CLOSED)[2].strip()
        found = Transcript(
            self.agent_id,
            self.kind,
            page,
            page.stem,
            session_key="agent:scribbler:main",
            channel="paper",
            size=len(text.encode()),
            ending=Ending(closed) if closed else None,
        )
        present = self.refreshed(found)
        assert present is not None
        return present

    def file_of(self, transcript: Transcript) -> Path:
        return transcript.path

    def read(self, transcript: Transcript, after: Cursor | None = None) -> Reading:
        reading = Reading()
        return reading.deliver(self._entries(transcript, after, reading))

    def _entries(self, transcript: Transcript, after: Cursor | None, reading: Reading) -> Iterator[Entry]:
        identity = self.identity(transcript)
        fits = after is not None and after.identity == identity
        reading.restarted = after is not None and not fits
        position = after.position if after is not None and fits else 0
        with transcript.path.open("rb") as page:
            page.seek(position)
            for line in page:
                if not line.endswith(b"\n"):
                    break
                begin, position = position, position + len(line)
                stamp, _, said = line.decode().rstrip().partition(" ")
                speaker, _, words = said.partition(": ")
                if speaker in _SPEAKERS:
                    yield _entry(begin, stamp, _SPEAKERS[speaker], words)
        reading.cursor = Cursor(self.kind, identity, position)

    def has_new(self, transcript: Transcript, cursor: Cursor | None) -> bool:
        return cursor is None or next(iter(self.read(transcript, cursor)), None) is not None

    def measure(self, transcript: Transcript) -> tuple[int, int]:
        return transcript.size, sum(1 for _ in self.read(transcript))

    @staticmethod
    def end_reason(word: str) -> str:
        return {"the cover was shut": "shutdown"}.get(word, word)


def _entry(position: int, stamp: str, role: str, words: str) -> Entry:
    message = {"role": role, "content": words}
    return Entry({"type": "message", "id": f"line-{position}", "timestamp": stamp, "message": message}, position)


class Notebook(Runtime):
    """Notebooks lie in one folder, wherever that is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def discover(self, state_dir: Path) -> Discovery:
        return Discovery([NotebookSource(self._folder)] if self._folder.is_dir() else [])

    def watched(self, state_dir: Path) -> list[Path]:
        return [self._folder]

    def sources_in(self, path: Path) -> list[TranscriptSource]:
        return [NotebookSource(path)] if any(path.glob("*.page")) else []

    def has_transcript(self, state_dir: Path, agent: str, session_id: str) -> bool:
        return (self._folder / f"{session_id}.page").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder far from the state directory, its runtime registered as any plug-in would do it."""
    folder = tmp_path / "elsewhere" / "notebooks"
    folder.mkdir(parents=True)
    runtime = Notebook(folder)
    register_runtime(runtime)
    yield folder
    unregister_runtime(runtime)


def write(folder: Path, *lines: str, session: str = SESSION) -> None:
    with (folder / f"{session}.page").open("a") as page:
        page.writelines(f"{line}\n" for line in lines)


def turn(number: int, about: str) -> tuple[str, str]:
    stamp = f"2026-09-21T14:{number:02}"
    return (
        f"{stamp}:00.000Z me: Please look at the {about} again. TODO: repair the {about} before Friday.",
        f"{stamp}:30.000Z it: I decided to use a new {about}.",
    )


def run(capsys: pytest.CaptureFixture[str], state_dir: Path, *words: str, expect: int = 0) -> Any:
    code = main(["--state-dir", os.fspath(state_dir), *words, "--json"])
    told = capsys.readouterr()
    assert code == expect, told
    return json.loads(told.out)


def topics(state_dir: Path, session: str = SESSION) -> list[str]:
    return list(derived(state_dir).get(session, {}).get("hot_topics", ()))


def test_it_is_backfilled(folder: Path, state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`backfill` reads it, once; by its path too, where nobody has registered that place."""
    write(folder, *turn(1, "antenna"))
    assert run(capsys, state_dir, "backfill")["written"] == 1
    assert "antenna" in topics(state_dir)
    assert run(capsys, state_dir, "backfill")["unchanged"] == 1
    aside = folder.parent / "aside"
    aside.mkdir()
    write(aside, *turn(2, "windmill"), session="notebook-8")
    assert run(capsys, state_dir, "backfill", os.fspath(aside))["written"] == 1
    assert "windmill" in topics(state_dir, "notebook-8")


def test_it_is_watched_live_and_ended_by_its_own_rule(folder: Path, state_dir: Path) -> None:
    """Events from its own directory are heard, and its own last line says how the session ended."""
    write(folder, *turn(1, "antenna"))
    watcher = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        wait_until(lambda: "antenna" in topics(state_dir))
        assert watcher.observer.covers(folder)
        write(folder, *turn(2, "harbour"))
        wait_until(lambda: "harbour" in topics(state_dir))
        write(folder, f"{_CLOSED}the cover was shut")
        wait_until(lambda: SessionStore.open(state_dir).get(SESSION).end_reason == "shutdown")
    finally:
        watcher.stop()
        thread.join(20)
    state = SessionStore.open(state_dir).get(SESSION)
    assert (state.agent_id, state.channel, state.end_time) == ("scribbler", "paper", "2026-09-21T14:02:30.000Z")


def test_an_event_alone_is_enough(folder: Path, state_dir: Path) -> None:
    """A hint at its file leads to that session without a look at everything."""
    write(folder, *turn(1, "antenna"))
    watcher = Watcher(SessionStore.open(state_dir), Config(), timing=IMPATIENT)
    watcher.once()
    write(folder, *turn(2, "harbour"))
    watcher.hints.add(os.fspath(folder / f"{SESSION}.page"))
    assert watcher.step() == 1
    assert "harbour" in topics(state_dir)


def test_it_is_restored_from(folder: Path, state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next session of the same conversation begins with what was left to do."""
    write(folder, *turn(1, "antenna"), f"{_CLOSED}the cover was shut")
    run(capsys, state_dir, "backfill")
    now = "2026-09-21T15:00:00Z"
    found = run(
        capsys,
        state_dir,
        "restore",
        "--session-key",
        "agent:scribbler:main",
        "--agent",
        "scribbler",
        "--now",
        now,
        "--dry-run",
    )
    assert "repair the antenna" in json.dumps(found)


def test_it_is_shown_by_status(folder: Path, state_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With its own word for its kind, and how far behind we are in its own unit."""
    write(folder, *turn(1, "antenna"))
    size = (folder / f"{SESSION}.page").stat().st_size
    unread = run(capsys, state_dir, "status", expect=1)
    (row,) = [one for one in unread["sources"] if one["kind"] == "notebook"]
    assert (row["agent_id"], row["transcripts"], row["lag_bytes"]) == ("scribbler", 1, size)
    run(capsys, state_dir, "watch", "--once")
    (row,) = [one for one in run(capsys, state_dir, "status")["sources"] if one["kind"] == "notebook"]
    assert row["lag_bytes"] == 0


def test_its_own_lookup_is_asked(folder: Path, state_dir: Path) -> None:
    """What a hook asks of one session is answered by whichever runtime has it."""
    from jsonlstore.transcripts import has_transcript

    assert not has_transcript(state_dir, "scribbler", SESSION)
    write(folder, *turn(1, "antenna"))
    assert has_transcript(state_dir, "scribbler", SESSION)
