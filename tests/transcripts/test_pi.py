"""Our context is pi's own: the same trees through the real session manager and through ours."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.transcripts.context import build_context
from jsonlstore.transcripts.records import parse_entry

if TYPE_CHECKING:
    from types import ModuleType

PACKAGE = "@mariozechner/pi-coding-agent"
DRIVER = Path(__file__).with_name("pi_context.mjs")

pytestmark = pytest.mark.npm


@pytest.fixture(scope="session")
def pi() -> Path:
    """The entry module of the real package, installed once into a cache directory outside the project."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm and node are not installed")
    cache = (
        Path(os.environ.get("JSONLSTORE_TEST_CACHE") or Path(tempfile.gettempdir()) / "jsonlstore-test-cache") / "pi"
    )
    module = cache / "node_modules" / PACKAGE / "dist" / "index.js"
    if not module.exists():
        cache.mkdir(parents=True, exist_ok=True)
        command = [
            "npm",
            "install",
            "--prefix",
            os.fspath(cache),
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            PACKAGE,
        ]
        try:
            done = subprocess.run(command, capture_output=True, timeout=240, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {PACKAGE} in time")
        if done.returncode or not module.exists():
            pytest.skip(f"npm cannot install {PACKAGE}: {done.stderr.decode(errors='replace')[-200:]}")
    return module


def theirs(pi: Path, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    stdin = "".join(json.dumps(document) + "\n" for document in documents)
    done = subprocess.run(["node", DRIVER, pi], input=stdin, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(document: dict[str, Any]) -> dict[str, Any]:
    lines = document["content"].encode().split(b"\n")
    entries = [entry for number, line in enumerate(lines) if (entry := parse_entry(line, number))]
    context = build_context(entries, document.get("leaf"))
    return {"messages": list(context.messages), "thinkingLevel": context.thinking_level, "model": context.model}


def grow(seed: int) -> dict[str, Any]:
    """A random tree: branches, compactions that keep anything, orphans, labels, bad lines, versions 1 to 3."""
    chance = random.Random(seed)
    version = chance.choice([None, 2, 3, 3, 3])
    header = {"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}
    lines = [json.dumps(header if version is None else {**header, "version": version})]
    ids: list[str] = []
    last: str | None = None
    for number in range(chance.randrange(40)):
        record = _record(chance, number, ids)
        if version is None:
            if record["type"] == "compaction":
                record["firstKeptEntryIndex"] = chance.randrange(number + 3)
                del record["firstKeptEntryId"]
        else:
            parent = chance.choice([last, last, last, last, chance.choice([*ids, "orphan", None])])
            record |= {"id": f"e{number}", "parentId": parent}
            ids.append(record["id"])
            last = record["id"]
        lines.append(json.dumps(record))
        if chance.random() < 0.05:
            lines.append('{"type":"message","id":"torn')
    document: dict[str, Any] = {"content": "\n".join(lines)}
    if ids and chance.random() < 0.4:
        document["leaf"] = chance.choice([*ids, "unknown"])
    return document


def _record(chance: random.Random, number: int, ids: list[str]) -> dict[str, Any]:
    text = f"words {number}"
    record: dict[str, Any] = chance.choice(
        [
            {"type": "message", "message": {"role": "user", "content": text}},
            {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}]}},
            {
                "type": "message",
                "message": {"role": "assistant", "content": [], "provider": "p", "model": f"m{number}"},
            },
            {"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "t", "content": []}},
            {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": text}},
            {"type": "message", "message": {"role": "hookMessage", "customType": "h", "content": text}},
            {"type": "model_change", "provider": "q", "modelId": f"n{number}"},
            {"type": "thinking_level_change", "thinkingLevel": chance.choice(["off", "low", "high"])},
            {
                "type": "compaction",
                "summary": text,
                "firstKeptEntryId": chance.choice([*ids, "?"]),
                "tokensBefore": number,
            },
            {"type": "branch_summary", "fromId": "x", "summary": chance.choice([text, ""])},
            {"type": "custom", "customType": "c", "data": {"n": number}},
            {"type": "custom_message", "customType": "c", "content": text, "display": True, "details": {"n": number}},
            {
                "type": "custom_message",
                "customType": "c",
                "content": [{"type": "text", "text": text}],
                "display": False,
            },
            {"type": "label", "targetId": "x", "label": text},
            {"type": "session_info", "name": text},
        ]
    )
    return {**record, "timestamp": f"2026-01-01T00:{number:02}:00.{number:03}Z"}


def test_every_generated_tree_gives_pis_own_context(pi: Path) -> None:
    documents = [grow(seed) for seed in range(1500)]
    for document, expected in zip(documents, theirs(pi, documents), strict=True):
        assert ours(document) == expected, document


def test_the_fixtures_give_pis_own_context(pi: Path, make: ModuleType) -> None:
    """Files without OpenClaw's own `leaf` and `reset` records, which pi does not know."""
    documents = [
        {"content": content.decode()}
        for name, content in make.files().items()
        if ".jsonl" in name and content.startswith(b'{"type":"session"') and make.DAMAGED not in name
        if b'"type":"leaf"' not in content and b'"type":"reset"' not in content
    ]
    assert len(documents) >= 8
    for document, expected in zip(documents, theirs(pi, documents), strict=True):
        assert ours(document) == expected
