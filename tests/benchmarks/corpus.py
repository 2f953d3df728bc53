"""A synthetic corpus of any size, the same every time: talk, long tool output, some images.

The mix follows what fills real transcripts: most bytes are tool results and images, most records are short.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import sqlite3
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
WORDS_RU = [
    "антенна",
    "радио",
    "сборка",
    "очередь",
    "поток",
    "сигнал",
    "сад",
    "вода",
    "рецепт",
    "счёт",
    "ветка",
    "выпуск",
]
WORDS_ZH = ["天线", "收音机", "构建", "队列", "缓冲区", "线程", "信号", "花园", "食谱", "发票", "会议", "分支", "发布"]
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


# Measured on eleven real sessions (7.1 MB, 419 user messages). Shares of the bytes: text of users 4.5 %, of assistants
# 9.2 %, their thinking 7.3 %, arguments 18.4 %, output of tools 28.9 %, the rest envelopes (usage, ids, details). To a
# user message come 4 calls, 2.3 texts and 2.6 thoughts of the assistant. Of the bytes of users' texts 6.5 %, of
# assistants' 14.4 % are not ASCII. Lengths are the 5th, 20th, 35th, 50th, 65th, 80th and 95th percentile in characters.
# `test_corpus.py` holds the generator to the shares.
USER_LENGTHS = (10, 93, 217, 238, 275, 400, 2_821)
ANSWER_LENGTHS = (2, 14, 59, 98, 473, 1_143, 2_367)
THOUGHT_LENGTHS = (48, 96, 147, 249, 417, 633, 1_446)
ARGUMENT_LENGTHS = {
    "exec": (37, 63, 91, 126, 192, 710, 2_494),
    "read": (54, 68, 81, 85, 97, 109, 155),
    "edit": (261, 532, 646, 872, 1_232, 1_864, 4_912),
    "write": (85, 1_318, 2_258, 3_154, 4_543, 6_493, 7_862),
}
OUTPUT_LENGTHS = {
    "exec": (11, 65, 99, 207, 504, 1_545, 6_025),
    "read": (155, 653, 1_268, 1_811, 2_659, 3_991, 6_025),
    "edit": (74, 84, 91, 102, 139, 159, 659),
    "write": (74, 84, 86, 97, 107, 122, 153),
}
TOOLS = ("exec",) * 10 + ("read",) * 4 + ("edit",) * 2 + ("write",) * 2
CALLS_A_TURN = 4
TEXT_AT_CALL, THOUGHT_AT_CALL = 0.3, 0.45
_COMMANDS = ("pytest -q", "git status --short", "npm run build", "ls -la src", "git commit -m 'Draw the pier'", "make")
_DETAILS = {"status": "completed", "exitCode": 0, "durationMs": 41, "cwd": "/home/u/projects/map"}


def real_records(size: int, seed: int = 5) -> Iterator[bytes]:
    """JSONL lines in the proportions of real sessions, the talk in ten languages: about `size` bytes."""
    chance = random.Random(seed)
    said = _said(chance)
    code = "\n".join(f"def {chance.choice(WORDS)}_{n}(x): return {chance.choice(WORDS)}(x, {n})" for n in range(400))
    yield _line(
        {"type": "session", "version": 3, "id": f"real-{seed}", "timestamp": _time(0), "cwd": "/home/u/projects/map"}
    )
    written, number, parent = 0, 0, None
    while written < size:
        for message in _real_turn(chance, said, code, number):
            number += 1
            head = {"type": "message", "id": f"r{number:07x}", "parentId": parent, "timestamp": _time(number)}
            line = _line({**head, "message": message})
            parent = f"r{number:07x}"
            written += len(line)
            yield line


def talk_records(size: int, seed: int = 5) -> Iterator[bytes]:
    """JSONL lines of a session of nothing but talk, the sentences and lengths those of `real_records`."""
    chance = random.Random(seed)
    said = _said(chance)
    yield _line(
        {"type": "session", "version": 3, "id": f"talk-{seed}", "timestamp": _time(0), "cwd": "/home/u/projects/map"}
    )
    written, number, parent = 0, 0, None
    while written < size:
        for role, lengths in (("user", USER_LENGTHS), ("assistant", ANSWER_LENGTHS)):
            number += 1
            text = spoken(chance, said, chance.choice(lengths))
            message = {"role": role, "content": [{"type": "text", "text": text}]}
            head = {"type": "message", "id": f"t{number:07x}", "parentId": parent, "timestamp": _time(number)}
            line = _line({**head, "message": message})
            parent = f"t{number:07x}"
            written += len(line)
            yield line


def _said(chance: random.Random) -> list[str]:
    """What is said in the stories among five times as much that tells nothing, a tenth of it in other scripts."""
    plain = []
    for _ in range(2_000):
        words = chance.choices(chance.choice((*[WORDS] * 18, WORDS_RU, WORDS_ZH)), k=chance.randrange(4, 16))
        joint = chance.choice((" ", " ", " ", " ", " \u2014 ", " \u2192 "))
        plain.append(" ".join(words[:3]) + joint + " ".join(words[3:]) + chance.choice((".", ".", ".", ".", " \u2705")))
    return sentences() + plain


@cache
def sentences() -> list[str]:
    """What is said in the stories, in ten languages."""
    made = runpy.run_path(str(Path(__file__).parents[2] / "fixtures" / "make_stories.py"))
    messages = [message for story in made["stories"]() for message in story.messages]
    blocks = [block for message in messages if message["role"] != "toolResult" for block in message["content"]]
    return sorted({block["text"] for block in blocks if block.get("text") and len(block["text"]) < 300})


def spoken(chance: random.Random, said: list[str], length: int) -> str:
    """Sentences one after another, about `length` characters of them."""
    text = chance.choice(said)
    while len(text) < length:
        text += chance.choice((" ", " ", "\n", "\n\n", "\n- ")) + chance.choice(said)
    return text[: max(length, 2)]


def _real_turn(chance: random.Random, said: list[str], code: str, number: int) -> Iterator[dict[str, Any]]:
    yield {"role": "user", "content": [_text(spoken(chance, said, chance.choice(USER_LENGTHS)))], "timestamp": 1}
    for call in range(chance.randrange(2 * CALLS_A_TURN + 1)):
        call_id, tool = f"call_{number}_{call}", chance.choice(TOOLS)
        content = _thought(chance, said) if chance.random() < THOUGHT_AT_CALL else []
        if chance.random() < TEXT_AT_CALL:
            content.append(_text(spoken(chance, said, chance.choice(ANSWER_LENGTHS))))
        arguments = _arguments(chance, code, tool)
        content.append({"type": "toolCall", "id": call_id, "name": tool, "arguments": arguments})
        yield _answered(content, "toolUse")
        yield {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": tool,
            "content": [_text(_output(chance, code, tool))],
            "details": _DETAILS,
            "isError": False,
            "timestamp": 1,
        }
    yield _answered([*_thought(chance, said), _text(spoken(chance, said, chance.choice(ANSWER_LENGTHS)))], "stop")


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _thought(chance: random.Random, said: list[str]) -> list[dict[str, Any]]:
    return [{"type": "thinking", "thinking": spoken(chance, said, chance.choice(THOUGHT_LENGTHS))}]


def _answered(content: list[dict[str, Any]], stop: str) -> dict[str, Any]:
    cost = {"input": 0.003, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.005}
    usage = {"input": 1200, "output": 300, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1500, "cost": cost}
    made_by = {"api": "openai-completions", "provider": "mock", "model": "mock-1"}
    return {"role": "assistant", "content": content, **made_by, "usage": usage, "stopReason": stop, "timestamp": 1}


def _arguments(chance: random.Random, code: str, tool: str) -> dict[str, Any]:
    length, path = chance.choice(ARGUMENT_LENGTHS[tool]), f"src/{chance.choice(WORDS)}.py"
    if tool == "read":
        return {"path": f"/home/u/projects/map/{path}", "offset": 1, "limit": length}
    if tool == "edit":
        old = _excerpt(chance, code, length // 2)
        return {"path": path, "old_string": old, "new_string": old.replace("return", "yield")}
    if tool == "write":
        return {"path": path, "content": _excerpt(chance, code, length)}
    command = chance.choice(_COMMANDS)
    if length <= 200:
        return {"command": f"cd /home/u/projects/map && {command}"}
    return {"command": f"cat > {path} <<'END'\n{_excerpt(chance, code, length)}\nEND\n{command}"}


def _output(chance: random.Random, code: str, tool: str) -> str:
    length = chance.choice(OUTPUT_LENGTHS[tool])
    said = chance.choice(("51 passed in 0.4s\n", "ok\n", "On branch main\n", "done in 3 s\n"))
    return said + _excerpt(chance, code, length - len(said))


def _excerpt(chance: random.Random, code: str, length: int) -> str:
    begin = chance.randrange(len(code) - 10_000)
    return code[begin : begin + max(length, 0)]


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
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"  # as Node writes it
