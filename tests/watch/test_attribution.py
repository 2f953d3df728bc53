"""An old session of no known conversation is given its channel only where no other answer is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.config import Config
from jsonlstore.restore.manager import SessionPersistenceManager
from jsonlstore.store.bulk import BulkStore
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.attribution import Attribution, attribute
from jsonlstore.watch.backfill import backfill_sessions
from jsonlstore.watch.tail import Tailer
from tests.conftest import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.watch.conftest import OpenClaw

OLD, NEW = "0c5d8a5e-51f2-4a57-8c1e-6a1f8d2b7e01", "1d6e9b6f-62a3-4b68-9d2f-7b2a9e3c8f02"
RESET = "reset.2026-09-21T15-00-00.000Z"


@pytest.fixture
def store(openclaw: OpenClaw, state_dir: Path) -> SessionStore:
    """History that was read only after its conversation had gone on."""
    openclaw.begin(OLD, "lighthouse lamp")
    openclaw.rename(OLD, RESET)
    openclaw.refer("agent:main:main", NEW)
    return read(state_dir)


def read(state_dir: Path) -> SessionStore:
    store, catalogue = (
        SessionStore.open(state_dir, clock=FakeClock("2026-09-21T18:00:00+00:00")),
        Catalogue.open(state_dir),
    )
    bulk = BulkStore.of(store)
    backfill_sessions(Tailer(bulk), bulk, catalogue, catalogue.sessions, archive_after=None)
    return store


def restored(store: SessionStore, session_id: str, key: str, channel: str) -> str | None:
    manager = SessionPersistenceManager(store, Config(), clock=FakeClock("2026-09-21T18:00:00+00:00"))
    told = manager.on_session_start(session_id, channel, agent_id="main", session_key=key)
    return told.wrapped_preamble


def test_the_owner_s_only_channel_gets_its_past_back(store: SessionStore) -> None:
    assert restored(store, "before", "agent:main:main", "webchat") is None
    assert attribute(store) == Attribution(attributed=1)
    assert "lighthouse" in (restored(store, NEW, "agent:main:main", "webchat") or "")
    assert attribute(store) == Attribution()


@pytest.mark.parametrize("agent", ["main", None])
def test_a_peer_that_only_we_remember_keeps_it_from_everybody(store: SessionStore, agent: str | None) -> None:
    """A runtime's hook need not name the agent: the key does."""
    store.start("somebody", channel="webchat", agent_id=agent, session_key="agent:main:webchat:dm:42")
    store.end("somebody", reason="new")
    assert attribute(store) == Attribution(unknown=1)


def test_a_dry_run_only_counts(store: SessionStore) -> None:
    assert attribute(store, dry_run=True) == attribute(store, dry_run=True) == Attribution(attributed=1)


def test_a_peer_never_gets_it(store: SessionStore) -> None:
    attribute(store)
    assert restored(store, NEW, "agent:main:webchat:dm:42", "webchat") is None


@pytest.mark.parametrize("key", ["agent:main:telegram:dm:42", "agent:main:telegram:group:-7", "group:9"])
def test_one_chat_with_somebody_and_nothing_is_inferred(store: SessionStore, openclaw: OpenClaw, key: str) -> None:
    """It might have been that one's."""
    openclaw.refer(key, "somebody", channel="webchat")
    assert attribute(store) == Attribution(unknown=1)


def test_two_channels_and_nothing_is_inferred(store: SessionStore, openclaw: OpenClaw) -> None:
    openclaw.refer("agent:main:other", "other", channel="telegram")
    assert attribute(store) == Attribution(unknown=1)


def test_a_cron_job_is_nobody(store: SessionStore, openclaw: OpenClaw) -> None:
    openclaw.refer("agent:main:cron:7", "job", channel="telegram")
    assert attribute(store) == Attribution(attributed=1)


def test_what_was_deleted_is_left_alone(openclaw: OpenClaw, state_dir: Path) -> None:
    openclaw.begin(OLD, "lighthouse lamp")
    openclaw.rename(OLD, "deleted.2026-09-21T15-00-00.000Z")
    openclaw.refer("agent:main:main", NEW)
    assert attribute(read(state_dir)) == Attribution(unknown=1)


@pytest.mark.parametrize("index", [b"", b"[]", b"{"])
def test_an_index_nobody_can_read_says_nothing(store: SessionStore, openclaw: OpenClaw, index: bytes) -> None:
    (openclaw.sessions / "sessions.json").write_bytes(index)
    openclaw.remember()
    assert attribute(store) == Attribution(unknown=1)
