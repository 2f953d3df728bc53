"""A value once found is hidden from there on in the session, whichever way it is read and however often we start."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.config import Config
from jsonlstore.core.paths import StatePaths
from jsonlstore.redact import MARK, Redactor
from jsonlstore.signals import Distiller
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts import parse_entry
from jsonlstore.watch.loop import Watcher
from tests.watch.conftest import DERIVED, IMPATIENT, OpenClaw, Talk

if TYPE_CHECKING:
    from collections.abc import Sequence

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_VALUES = st.text(_LETTERS, min_size=8, max_size=40).filter(
    lambda text: sum(c.isdigit() for c in text) >= 2 and any(c.isalpha() for c in text) and not text.isdigit()
)
# none of these names the value: what hides it is that it is known
SAYINGS = (
    "TODO: hand {} over to the night shift before the release",
    "We decided to keep {} for the staging machine until Friday.",
    "is {} still the right one for the antenna?",
    "({}), as I said",
    "never put {} into the wiki, please",
)


@given(_VALUES, st.sampled_from(SAYINGS), st.sampled_from(("export DB_PASSWORD={}", "password: {}", "the token is {}")))
def test_what_was_named_once_is_hidden_in_every_later_message(value: str, saying: str, naming: str) -> None:
    """Whatever it looks like, as long as its first place was found and it is no ordinary word."""
    redactor = Redactor()
    found = MARK in redactor.heard(naming.format(value))
    later = redactor.heard(saying.format(value))
    if found and not redactor.is_new:
        assert value not in later
        assert value not in redactor.again(f"x{value}y")


def _value(seed: int) -> str:
    rng = random.Random(seed)
    return "".join(rng.choices(_LETTERS, k=9)) + "7q4" + "".join(rng.choices(_LETTERS, k=9))


def _records(talk: Talk, value: str) -> list[dict[str, object]]:
    """The value is named in the second message; afterwards it stands alone."""
    records = [talk.user("please look at the antenna"), talk.assistant(f"Done. I exported DB_PASSWORD={value} for it.")]
    for saying in SAYINGS:
        records += [talk.user(saying.format(value)), talk.assistant(f"Understood: {saying.format(value)}")]
    return records


@pytest.mark.parametrize("seed", range(5))
def test_a_checkpoint_s_evidence_holds_no_known_value(seed: int) -> None:
    """Also where the value was said before it was named."""
    import orjson

    value = _value(seed)
    talk = Talk(SID)
    distiller = Distiller()
    records = [talk.user(f"never put {value} into the wiki"), *_records(talk, value)]
    for record in records:
        entry = parse_entry(orjson.dumps(record))
        assert entry is not None
        distiller.feed(entry)
    assert value not in repr(distiller.facts())
    assert value not in repr(distiller.result())


def _watcher(openclaw: OpenClaw) -> Watcher:
    store = SessionStore(StatePaths.of(openclaw.state_dir))
    return Watcher(store, Config(), timing=IMPATIENT)


def _written(state_dir: Path) -> bytes:
    """Every byte of ours; the pages of the search index are compressed, so its texts are read through it."""
    from jsonlstore.recall import SearchIndex

    raw = b"".join(file.read_bytes() for file in state_dir.rglob("*") if file.is_file() and "agents" not in file.parts)
    index = SearchIndex.open(StatePaths.of(state_dir).search)
    try:
        texts = [turn.text for one in index.documents("1 = 1") for turn in index.all_turns(one.no)]
    finally:
        index.close()
    assert texts
    return raw + "\n".join(texts).encode()


def _derived(state_dir: Path) -> dict[str, object]:
    state = SessionStore(StatePaths.of(state_dir)).get(SID).to_dict()
    return {key: state.get(key) for key in DERIVED}


def _turns(state_dir: Path) -> list[str]:
    from jsonlstore.recall import SearchIndex

    index = SearchIndex.open(StatePaths.of(state_dir).search)
    try:
        return [turn.text for one in index.documents("kind = 'session'") for turn in index.all_turns(one.no)]
    finally:
        index.close()


def _live(openclaw: OpenClaw, talk: Talk, records: Sequence[dict[str, object]], starts_anew: int) -> None:
    """A watcher that follows record by record, and is another process from time to time."""
    watcher = _watcher(openclaw)
    for number, record in enumerate(records):
        openclaw.append(talk.session_id, record)
        if number % starts_anew == starts_anew - 1:
            watcher = _watcher(openclaw)
        watcher.once()


@pytest.mark.parametrize("starts_anew", [1, 3, 100])
def test_a_watcher_that_starts_anew_hides_what_it_knew(tmp_path: Path, starts_anew: int) -> None:
    """State, log, search and all other files; and a backfill of the whole gives the same (decision 47)."""
    value = _value(starts_anew)
    openclaw, at_once = OpenClaw(tmp_path / "live"), OpenClaw(tmp_path / "at_once")
    talk, same = openclaw.begin(SID, "antenna"), at_once.begin(SID, "antenna")
    records = _records(talk, value)
    _live(openclaw, talk, records, starts_anew)
    at_once.append(SID, *_records(same, value))
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(at_once.state_dir), "backfill"]
    subprocess.run(command, check=True, capture_output=True)
    for one in (openclaw, at_once):
        assert value.encode() not in _written(one.state_dir)
    assert _derived(openclaw.state_dir) == _derived(at_once.state_dir)
    assert _turns(openclaw.state_dir) == _turns(at_once.state_dir)


def test_what_a_search_prints_around_a_passage_holds_no_known_value(tmp_path: Path) -> None:
    """The turns around it are read from the transcript, where the value stands as it was said."""
    value = _value(77)
    openclaw = OpenClaw(tmp_path / "state")
    talk = openclaw.begin(SID, "antenna")
    openclaw.append(SID, *_records(talk, value))
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(openclaw.state_dir)]
    subprocess.run([*command, "backfill"], check=True, capture_output=True)
    for words in (
        ("search", "night shift", "--context", "4"),
        ("search", "night shift", "--context", "4", "--json"),
        ("search", "wiki", "--context", "9", "--json"),
        ("show", SID, "--json"),
        ("signals", SID, "--explain"),
        ("signals", SID, "--json"),
        ("transcript", SID),
        ("handoff", "capture", SID),
        ("checkpoint", "list", SID, "--json"),
    ):
        done = subprocess.run([*command, *words], capture_output=True, check=False)
        assert value.encode() not in done.stdout + done.stderr, words
