"""Whole histories for the benchmarks: many sessions of either era in a state directory, the same every time."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENDED = ".reset.2026-01-21T15-00-00.000Z"


def session_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def _records(size: int, number: int, seeds: int = 40) -> Iterator[bytes]:
    """One session's lines; a few texts serve for all, because making them takes longer than reading them."""
    return corpus.records(size, seed=number % seeds, session_id=session_id(number))


def write_files(root: Path, size: int, sessions: int, *, ended: bool = False) -> int:
    """About `size` bytes in the JSONL era, each session referred to by the index, or archived by a reset long ago."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    total = 0
    for number in range(sessions):
        name = f"{session_id(number)}.jsonl{_ENDED if ended else ''}"
        with (folder / name).open("wb") as file:
            for line in _records(size // sessions, number):
                total += file.write(line)
    if not ended:
        index = {f"agent:main:webchat:dm:{n}": {"sessionId": session_id(n)} for n in range(sessions)}
        (folder / "sessions.json").write_text(json.dumps(index))
    return total


def write_sessions(root: Path, sessions: Iterable[Iterable[bytes]]) -> int:
    """The given sessions in the JSONL era, each under an id of its own; their size in bytes."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    total = 0
    for number, lines in enumerate(sessions):
        name = session_id(number)
        with (folder / f"{name}.jsonl").open("wb") as file:
            for line in lines:
                record = json.loads(line) if line.startswith(b'{"type":"session"') else None
                total += file.write(json.dumps({**record, "id": name}).encode() + b"\n" if record else line)
    return total


def lines_of_files(root: Path) -> Iterator[bytes]:
    for path in (root / "agents" / "main" / "sessions").glob("*.jsonl*"):
        with path.open("rb", buffering=1 << 20) as file:
            yield from file


def _database(root: Path) -> Path:
    return root / "agents" / "main" / "agent" / "openclaw-agent.sqlite"


def write_rows(root: Path, size: int, sessions: int) -> int:
    """About `size` bytes in the SQLite era, a third of the long rows as zstd."""
    make = _fixtures()
    database = make.create_database(_database(root), 23)
    database.execute("BEGIN")
    total = 0
    for number in range(sessions):
        native = session_id(number)
        for seq, line in enumerate(_records(size // sessions, number)):
            total += len(line) - 1
            make.add_event(database, native, seq, line[:-1], packed=seq % 3 == 0)
        key = f"agent:main:webchat:dm:{number}"
        database.execute(
            "INSERT INTO session_nodes (session_key, current_session_id, entry_json) VALUES (?, ?, '{}')", (key, native)
        )
    database.execute("COMMIT")
    database.close()
    return total


def lines_of_rows(root: Path) -> Iterator[bytes]:
    unpack = _zstd().decompress
    database = sqlite3.connect(f"file:{_database(root)}?immutable=1", uri=True)
    database.text_factory = bytes
    query = "SELECT event_json, event_zstd FROM transcript_events ORDER BY session_id, seq"
    for plain, packed in database.execute(query):
        yield plain if plain is not None else unpack(packed)
    database.close()


def begin(root: Path, number: int = 0) -> Path:
    """A small transcript of the JSONL era."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session_id(number)}.jsonl"
    header = {"type": "session", "version": 3, "id": session_id(number), "timestamp": "2026-09-21T00:00:00.000Z"}
    path.write_bytes(json.dumps(header).encode() + b"\n")
    append(path, 1, "look at the antenna")
    return path


def append(path: Path, number: int, *texts: str) -> None:
    """Add entries the first of which has this number."""
    lines = []
    for at, text in enumerate(texts, number):
        head: dict[str, Any] = {"type": "message", "id": f"{at:08x}", "parentId": f"{at - 1:08x}"}
        stamp = f"2026-09-21T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.000Z"
        lines.append({**head, "timestamp": stamp, "message": {"role": "user", "content": text}})
    with path.open("ab") as file:
        file.write(b"".join(json.dumps(one).encode() + b"\n" for one in lines))


def _fixtures() -> Any:
    path = Path(__file__).parents[2] / "fixtures" / "make_transcripts.py"
    spec = importlib.util.spec_from_file_location("make_transcripts", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _zstd() -> Any:
    import sys

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
