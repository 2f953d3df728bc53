"""The shipped schemas work with a validator that knows nothing of us: check-jsonschema, one file at a time."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.watch.conftest import OpenClaw, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "schemas"


def tool() -> Any:
    """`tools/schemas.py`, which makes each schema complete in itself."""
    spec = importlib.util.spec_from_file_location("schemas_tool", ROOT / "tools" / "schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_copies_of_shared_parts_are_current() -> None:
    """If this fails the state's or the handoff's schema changed: `python tools/schemas.py` copies it anew."""
    made = tool()
    for name in made.BUNDLED:
        assert made.read(name) == made.bundled(name), name


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_no_schema_refers_to_another_file(path: Path) -> None:
    """Whoever has one file has all it takes."""
    document = json.loads(path.read_text())
    for reference in _references(document):
        assert reference.startswith("#/$defs/"), reference
        part = document
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from _references(each)


@pytest.fixture(scope="module")
def validator() -> str:
    beside = Path(sys.executable).with_name("check-jsonschema")
    found = str(beside) if beside.exists() else shutil.which("check-jsonschema")
    if found is None:
        pytest.skip("check-jsonschema is not installed: pip install -e '.[dev]'")
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """What a lived-in store holds, one document a file, by schema."""
    place = tmp_path_factory.mktemp("validated")

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "jsonlstore", *words]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(place), "TMPDIR": str(place), "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    root = Path(json.loads(run("demo", "--keep", "--json"))["state_dir"])
    talk = OpenClaw(root).begin("5c9a1f54-6d9b-4f3e-9a53-0c6d3d6a7b11", "lighthouse lamp", "harbour wall")
    run("--state-dir", str(root), "watch", "--once")
    run("--state-dir", str(root), "handoff", "capture", talk.session_id, "--now", stamp(30))
    run("--state-dir", str(root), "archive", "--older-than", "30h")
    run("--state-dir", str(root), "forget", "website", "--yes")
    states = root / "sessions" / "states"
    found = {
        "mirror": [*(root / "sessions").glob("*.json"), *(root / "sessions" / "archive").rglob("*.json")],
        "index": [states / "sessions.json"],
        "event": [],
        "metric": [],
        "handoff-pattern": [],
        "handoff-pending": [*root.glob("agents/*/handoff/resume/pending.json")],
        "handoff": [
            *root.glob("agents/*/handoff/session-state.json"), *root.glob("agents/*/handoff/snapshots/*.json"),
        ],
    }  # fmt: skip
    patterns = sorted(root.glob("agents/*/handoff/patterns/*.jsonl"))
    for log in [*states.rglob("*.jsonl"), *(root / "sessions" / "archive").rglob("*.jsonl"), *patterns]:
        kind = "handoff-pattern" if log in patterns else "metric" if log.stem == "metrics" else "event"
        for number, line in enumerate(log.read_text().splitlines()):
            document = place / f"{kind}-{log.stem}-{number}.json"
            document.write_text(line)
            found[kind].append(document)
    return found


@pytest.mark.parametrize(
    "kind", ["mirror", "index", "event", "metric", "handoff", "handoff-pattern", "handoff-pending"]
)
def test_a_strange_validator_accepts_what_we_write_and_refuses_what_we_would_not(
    kind: str, validator: str, written: dict[str, list[Path]], tmp_path: Path
) -> None:
    """With the shipped file alone, the network out of reach."""
    assert written[kind], "nothing of this kind was written"
    schema = ["--schemafile", str(SCHEMAS / f"{kind}.schema.json"), "--no-cache"]
    done = subprocess.run([validator, *schema, *map(str, written[kind])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"sessions": 5, "session_id": 7, "seq": "x", "project": 1, "event": 0}')
    refused = subprocess.run([validator, *schema, str(wrong)], capture_output=True, text=True, check=False)
    assert refused.returncode == 1, refused.stdout + refused.stderr
