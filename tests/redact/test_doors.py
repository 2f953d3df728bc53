"""A secret in any field of any input reaches neither our disk nor stderr."""

from __future__ import annotations

import json
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.errors import UsageError
from jsonlstore.redact import redact_text
from jsonlstore.redact.rules import shapes
from jsonlstore.store import SessionStore
from tests.home import Home
from tests.redact.report_secrets import load_maker

if TYPE_CHECKING:
    from pathlib import Path

make = load_maker()
# of every third shape that needs nothing around it, and the ways people say one
_SHAPES = [shape.example for shape in shapes() if not shape.near and "\n" not in shape.example]
KINDS = [
    *_SHAPES[:: max(1, len(_SHAPES) // 24)][:24],
    "login: bob / <chosen:1>", "the PIN for the card is <digits:6>", "password=<chosen:1>", "DB_PASSWORD: <chosen:1>",
    "my password is <chosen:1>", "Authorization: Bearer <24>",
]  # fmt: skip
_STATE = {
    "hot_topics": lambda text: [text],
    "active_projects": lambda text: [text],
    "recent_learnings": lambda text: [text],
    "pending_tasks": lambda text: [{"task_id": text, "title": text, "stage": text, "source": text}],
    "working_memory": lambda text: [{"content": text, "label": text}],
    "notes": lambda text: [{"kind": "decision", "text": text}],
    "last_topic": lambda text: text,
    "next_step": lambda text: text,
    "in_progress": lambda text: [text],
    "unheard_of": lambda text: {"deep": [text], text: 1},
}


def _written(path: Path) -> bytes:
    return b"\n".join(
        str(file).encode("utf-8", "replace") + b"\n" + file.read_bytes() for file in path.rglob("*") if file.is_file()
    )


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[kind[:24] for kind in KINDS])
def test_nothing_planted_in_a_hook_is_written_or_said(number: int, home: Home) -> None:
    """Each field of each event, one kind of secret each; every byte below the state directory and stderr is read."""
    text, secret = make.slots(KINDS[number], random.Random(number))
    start = {"session_id": "a", "channel": text, "agent_id": text, "session_key": text, "unheard_of": text}
    fields = {key: made(text) for key, made in _STATE.items()}
    said = b""
    for event, document in (
        ("session-start", start),
        ("turn-end", {"session_id": "a", "reason": text}),
        *(("turn-end", {"session_id": "a", key: value}) for key, value in fields.items() if number % 5 == 0),
        ("session-end", {"session_id": "a", "reason": text, "unheard_of": text}),
    ):
        done = subprocess.run(
            home.command("hook", event, "--debug"),
            input=json.dumps(document).encode(),
            capture_output=True,
            check=False,
        )
        said += done.stderr
    assert secret.encode() not in _written(home.path)
    assert secret.encode() not in said


@pytest.mark.parametrize("kind", ["ghp_<36>", "xoxb-<digits:12>-<digits:12>-<24>", "AKIA<upper:16>"])
def test_a_session_id_that_is_a_secret_gets_a_derived_one(kind: str, home: Home) -> None:
    """The raw id is in no file, in no file's name, on neither stream."""
    raw, _ = make.slots(kind, random.Random(3))
    done = subprocess.run(
        home.command("hook", "session-start", "--debug"),
        input=json.dumps({"session_id": raw, "channel": "cli"}).encode(),
        capture_output=True,
        check=True,
    )
    assert raw.encode() not in done.stdout + done.stderr + _written(home.path)
    again = subprocess.run(
        home.command("hook", "session-start"),
        input=json.dumps({"session_id": raw}).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["session_id"] == json.loads(again.stdout)["session_id"]


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[kind[:24] for kind in KINDS])
def test_a_program_cannot_keep_an_id_that_is_a_secret(number: int, tmp_path: Path) -> None:
    """As a session it is refused, as a link the id derived from it is kept, and no error quotes a part of it."""
    raw, secret = make.slots(KINDS[number], random.Random(number))
    store = SessionStore.open(tmp_path)
    store.start("a", channel="cli")
    said = ""
    for attempt in (
        lambda: store.start(raw, channel="cli"),
        lambda: store.update("a", {"previous_session_id": raw}),
        lambda: store.link("a", raw),
        lambda: store.update("a", {"end_time": f"yesterday, {raw}, at noon, after a long walk in the woods"}),
    ):
        try:
            attempt()
        except UsageError as problem:
            said += redact_text(problem.message)
    assert secret.encode() not in _written(tmp_path)
    assert not any(secret[at : at + 8] in said for at in range(max(1, len(secret) - 7)))


@pytest.mark.parametrize("wrong", [{"session_id": "a/../ghp_{}"}, {"session_id": "a", "pending_tasks": "token=ghp_{}"}])
def test_an_error_does_not_quote_a_secret(wrong: dict[str, str], home: Home) -> None:
    """Messages quote what they complain about."""
    secret, _ = make.slots("<36>", random.Random(5))
    document = {key: value.replace("{}", secret) for key, value in wrong.items()}
    done = subprocess.run(
        home.command("hook", "turn-end"), input=json.dumps(document).encode(), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert secret.encode() not in done.stdout + done.stderr
