"""A synthetic corpus of any size, the same every time: talk, long tool output, some images.

The mix follows what fills real transcripts: most bytes are tool results and images, most records are short.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = [
    "antenna",
    "radio",
    "serial",
    "port",
    "build",
    "deploy",
    "parser",
    "token",
    "cursor",
    "session",
    "archive",
    "index",
    "schema",
    "migrate",
    "retry",
    "queue",
    "lock",
    "frame",
    "socket",
    "buffer",
    "thread",
    "signal",
    "garden",
    "water",
    "harvest",
    "recipe",
    "invoice",
    "meeting",
    "draft",
    "review",
    "branch",
    "merge",
    "release",
]
PACK_FROM = 1024


def wanted_bytes(default_megabytes: int = 20) -> int:
    """The corpus size, from `JSONLSTORE_BENCH_MB`."""
    return int(os.environ.get("JSONLSTORE_BENCH_MB", default_megabytes)) * 1_000_000


def records(size: int, seed: int = 7, session_id: str = "00000000-0000-4000-8000-000000000000") -> Iterator[bytes]:
    """JSONL lines of one session, about `size` bytes of them."""
    chance = random.Random(seed)
    prose = " ".join(chance.choices(WORDS, k=40_000))
    image = "".join(chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=200_000))
    yield _line({"type": "session", "version": 3, "id": session_id, "timestamp": _time(0), "cwd": "/home/user/work"})
    written, number, parent = 0, 0, None
    while written < size:
        for message in _turn(chance, prose, image, number):
            number += 1
            entry_id = f"{seed % 4096:03x}{number:09x}"
            head = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": _time(number)}
            line = _line({**head, "message": message})
            parent = entry_id
            written += len(line)
            yield line


def write_jsonl(path: Path, size: int, seed: int = 7) -> int:
    """Write one transcript; its size in bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(records(size, seed))
    return path.stat().st_size


def write_database(path: Path, size: int, seed: int = 7, session_id: str = "s") -> int:
    """Write one session into a schema-23 shaped database, a fifth of its long rows as zstd; its events in bytes."""
    import sys

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA user_version=23")
    database.execute(
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, "
        "event_zstd BLOB, PRIMARY KEY (session_id, seq))"
    )
    database.execute("BEGIN")
    total = 0
    for seq, line in enumerate(records(size, seed)):
        event = line[:-1]
        total += len(event)
        packed = len(event) >= PACK_FROM and seq % 3 == 0
        row = (session_id, seq, None if packed else event.decode(), seq, zstd.compress(event) if packed else None)
        database.execute("INSERT INTO transcript_events VALUES (?,?,?,?,?)", row)
    database.execute("COMMIT")
    database.close()
    return total


def _turn(chance: random.Random, prose: str, image: str, number: int) -> Iterator[dict[str, Any]]:
    user: list[dict[str, Any]] = [
        {"type": "text", "text": f"[Mon 2026-09-21 14:13 UTC] {_some(chance, prose, 20, 600)}"}
    ]
    if chance.random() < 0.04:
        user.append({"type": "image", "mimeType": "image/png", "data": image[: chance.randrange(50_000, 200_000)]})
    yield {"role": "user", "content": user, "timestamp": 1}
    for call in range(chance.randrange(5)):
        yield _assistant(
            chance,
            prose,
            {"type": "toolCall", "id": f"call_{number}_{call}", "name": "exec", "arguments": {"command": "ls"}},
        )
        length = chance.choice([80, 400, 2_000, 8_000, 20_000, 60_000])
        yield {
            "role": "toolResult",
            "toolCallId": f"call_{number}_{call}",
            "toolName": "exec",
            "content": [{"type": "text", "text": _some(chance, prose, length // 2, length).replace(" q", '\n"q')}],
            "details": {"status": "completed", "exitCode": 0, "cwd": "/home/user/work"},
            "isError": False,
            "timestamp": 1,
        }
    yield _assistant(chance, prose)


def _assistant(chance: random.Random, prose: str, *calls: dict[str, Any]) -> dict[str, Any]:
    thinking = {"type": "thinking", "thinking": _some(chance, prose, 50, 1500)}
    usage = {"input": 1200, "output": 300, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1500}
    return {
        "role": "assistant",
        "content": [thinking, {"type": "text", "text": _some(chance, prose, 50, 2500)}, *calls],
        "api": "openai-completions",
        "provider": "mock",
        "model": "mock-1",
        "usage": usage,
        "stopReason": "toolUse" if calls else "stop",
        "timestamp": 1,
    }


def _some(chance: random.Random, prose: str, least: int, most: int) -> str:
    length = chance.randrange(least, most)
    start = chance.randrange(len(prose) - length)
    return prose[start : start + length]


def _time(number: int) -> str:
    return (
        f"2026-09-{21 + number // 86400 % 9:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    )


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
