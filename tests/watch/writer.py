"""Stands in for OpenClaw: appends entries to many transcripts, or rows to a database, at an uneven pace.

python writer.py jsonl|sqlite AGENT_DIR SESSIONS ENTRIES SEED
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import sys
import time
from pathlib import Path

TOPICS = ["antenna", "harbour", "windmill", "lighthouse", "Zürich relay", "灯台", "orchard", "invoice"]


def session_id(number: int) -> str:
    return f"{number:08x}-dddd-4ddd-8ddd-dddddddddddd"


def records(seed: int, sessions: int, entries: int):
    """(session number, record) in the order of writing; every session begins with its header."""
    chance = random.Random(seed)
    count = [0] * sessions
    last: list[str | None] = [None] * sessions
    for number in range(sessions):
        stamp = f"2026-09-21T10:00:00.{number:03}Z"
        yield (
            number,
            {"type": "session", "version": 4, "id": session_id(number), "timestamp": stamp, "cwd": "/home/u/w"},
        )
    for moment in range(entries):
        number = chance.randrange(sessions)
        count[number] += 1
        entry_id = hashlib.sha256(f"{number}:{count[number]}".encode()).hexdigest()[:8]
        stamp = f"2026-09-21T{11 + moment // 3600:02}:{moment // 60 % 60:02}:{moment % 60:02}.000Z"
        head = {"id": entry_id, "parentId": last[number], "timestamp": stamp}
        last[number] = entry_id
        topic = chance.choice(TOPICS)
        if count[number] % 25 == 0:
            yield number, {"type": "reset", **head, "reason": "new"}
        elif count[number] % 2:
            text = f"Please look at the {topic}. TODO: paint the {topic} number {chance.randrange(9)}."
            yield number, {"type": "message", **head, "message": {"role": "user", "content": text}}
        else:
            text = [
                {"type": "text", "text": f"I decided to use the {topic}. It is blocked by the {chance.choice(TOPICS)}."}
            ]
            yield number, {"type": "message", **head, "message": {"role": "assistant", "content": text}}


def main(kind: str, agent_dir: str, sessions: int, entries: int, seed: int) -> None:
    chance = random.Random(seed + 1)
    agent = Path(agent_dir)
    if kind == "jsonl":
        folder = agent / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        index = {f"agent:{agent.name}:webchat:dm:{n}": {"sessionId": session_id(n)} for n in range(sessions)}
        (folder / "sessions.json").write_text(json.dumps(index))
        for number, record in records(seed, sessions, entries):
            data = json.dumps(record).encode() + b"\n"
            cut = chance.randrange(len(data)) if chance.random() < 0.1 else len(data)
            with (folder / f"{session_id(number)}.jsonl").open("ab") as file:
                for piece in (data[:cut], data[cut:]):
                    os.write(file.fileno(), piece)
                    pause(chance)
        return
    database = sqlite3.connect(agent / "agent" / "openclaw-agent.sqlite", isolation_level=None)
    database.execute("PRAGMA wal_autocheckpoint=50")
    seqs = [0] * sessions
    for number, record in records(seed, sessions, entries):
        if not seqs[number]:
            key = f"agent:{agent.name}:webchat:dm:{number}"
            database.execute(
                "INSERT INTO session_nodes (session_key, current_session_id, entry_json) VALUES (?, ?, '{}')",
                (key, session_id(number)),
            )
        database.execute(
            "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)",
            (session_id(number), seqs[number], json.dumps(record), seqs[number]),
        )
        seqs[number] += 1
        pause(chance)
    database.close()


def pause(chance: random.Random) -> None:
    if chance.random() < 0.3:
        time.sleep(chance.random() * float(os.environ.get("WRITER_PAUSE", "0.01")))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
