"""The full-text index follows the transcripts: complete, redacted, and gone when it should be."""

from __future__ import annotations

import os
import sqlite3
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.core.config import Config
from jsonlstore.recall.answers import Search, search_sessions
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.query import read_query
from jsonlstore.recall.ranking import rank
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.loop import Watcher
from jsonlstore.watch.search_rebuild import rebuild
from jsonlstore.watch.search_writer import SearchWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.watch.conftest import Database, OpenClaw

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
A, B = "aaaaaaaa-1111-4111-8111-111111111111", "bbbbbbbb-2222-4222-8222-222222222222"


def catch_up(state_dir: Path, **settings: Any) -> SessionStore:
    store = SessionStore.open(state_dir)
    Watcher(store, Config(**settings)).once()
    return store


def ask(state_dir: Path, text: str) -> list[str]:
    index = SearchIndex.open_existing(SessionStore.open(state_dir).paths.search)
    assert index is not None
    found = [one.document.id for one in rank(index, read_query([text], NOW, UTC))]
    index.close()
    return found


def bytes_of(state_dir: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((state_dir / "sessions" / "states").glob("search*")))


def problems(state_dir: Path) -> list[str]:
    index = SearchIndex.open_existing(SessionStore.open(state_dir).paths.search)
    assert index is not None
    found = index.problems()
    index.close()
    return found


def test_what_was_said_is_findable_and_the_file_is_private(openclaw: OpenClaw, state_dir: Path) -> None:
    """Every session's talk is found by its words, and only its owner may read the index."""
    openclaw.begin(A, "windmill")
    openclaw.begin(B, "lighthouse", key="agent:main:other")
    store = catch_up(state_dir)
    assert ask(state_dir, "windmill") == [A]
    assert ask(state_dir, "when did we look at the lighthouses?")[0] == B
    assert stat.S_IMODE(os.stat(store.paths.search).st_mode) == 0o600
    assert problems(state_dir) == []


def test_the_turns_around_a_passage_come_from_the_transcript(openclaw: OpenClaw, state_dir: Path) -> None:
    """`--context` reads them there, redacted, the ones nobody has indexed yet too; once it is gone, from the index."""
    talk = openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    openclaw.append(A, talk.user(f"and then the token {secret} fell off"))

    def around() -> str:
        (hit,) = search_sessions(store, Search(("windmill",), context=9), now=NOW, zone=UTC).found
        return " ".join(turn["text"] for turn in hit.passages[0].context)

    assert "fell off" in around()
    assert secret not in around()
    openclaw.path(A).unlink()
    openclaw.remember()
    assert "windmill" in around()
    assert "fell off" not in around()


def test_a_session_that_grows_is_read_on(openclaw: OpenClaw, state_dir: Path) -> None:
    """New turns are found, and old ones once: reading on gives what reading anew gives."""
    talk = openclaw.begin(A, "windmill")
    catch_up(state_dir)
    openclaw.append(A, *talk.turn("orchard"))
    store = catch_up(state_dir)
    assert ask(state_dir, "orchard") == [A]
    grown = dump(store.paths.search)
    writer = SearchWriter(store, Config())
    assert rebuild(store, Config(), Catalogue.open(state_dir).sessions) == 1
    assert dump(store.paths.search) == grown
    writer.close()


def dump(path: Path) -> list[tuple[Any, ...]]:
    index = SearchIndex.open_existing(path)
    assert index is not None
    found = [(one.id, block.seq, block.turns) for one in index.documents() for block in index.blocks_of(one.no)]
    index.close()
    return found


def test_a_rewritten_transcript_replaces_what_it_said_before(openclaw: OpenClaw, state_dir: Path) -> None:
    """What a transcript no longer says is no longer found."""
    openclaw.begin(A, "windmill")
    catch_up(state_dir)
    openclaw.path(A).unlink()
    openclaw.begin(A, "orchard")
    catch_up(state_dir)
    assert ask(state_dir, "windmill") == []
    assert ask(state_dir, "orchard") == [A]
    assert problems(state_dir) == []


def test_stretches_between_resets_are_found_each_by_itself(
    openclaw: OpenClaw, database: Database, state_dir: Path
) -> None:
    """Where a session keeps its id over resets, the stretch that said it is the answer."""
    from tests.watch.conftest import Talk

    talk = Talk(A)
    first, reset, second = talk.turn("windmill"), talk.reset(), talk.turn("orchard")
    database.add(A, [talk.header, *first, reset, *second])
    catch_up(state_dir)
    assert ask(state_dir, "windmill") == [A]
    assert ask(state_dir, "orchard") != [A]
    assert len(ask(state_dir, "orchard")) == 1


def test_secrets_reach_no_page(openclaw: OpenClaw, state_dir: Path) -> None:
    """A secret in talk, a command or a memory file is in no byte of the index."""
    secrets = ["hunter2-Tr0ub4dor", "ghp_" + "a1B2c3D4e5F6" * 3, "sk-proj-" + "Zx9Yw8Vu7Ts6" * 4]
    talk = openclaw.begin(A)
    openclaw.append(
        A, talk.user(f"the password={secrets[0]} and {secrets[1]}"), talk.assistant(f"I keep {secrets[2]} safe")
    )
    memory = state_dir / "workspace" / "memory"
    memory.mkdir(parents=True)
    (memory / "2026-09-01.md").write_text(f"# Accounts\n\napi_key: {secrets[1]}\n\nthe zeppelin flies\n")
    catch_up(state_dir, search_tools=True)
    assert ask(state_dir, "zeppelin") == ["workspace/memory/2026-09-01.md"]
    data = bytes_of(state_dir).lower() + repr(dump(SessionStore.open(state_dir).paths.search)).lower().encode()
    for secret in secrets:
        assert secret.lower().encode() not in data


def test_memory_files_are_read_again_when_they_change(state_dir: Path) -> None:
    """A changed memory file says what it says now, and a removed one nothing."""
    file = state_dir / "workspace" / "memory" / "notes.md"
    file.parent.mkdir(parents=True)
    file.write_text("The boat is called Albatross.\n")
    catch_up(state_dir)
    assert ask(state_dir, "albatross") == ["workspace/memory/notes.md"]
    file.write_text("The boat is called Cormorant now.\n")
    catch_up(state_dir)
    assert (ask(state_dir, "albatross"), len(ask(state_dir, "cormorant"))) == ([], 1)
    file.unlink()
    catch_up(state_dir)
    assert ask(state_dir, "cormorant") == []
    assert b"cormor" not in bytes_of(state_dir)


def test_a_forgotten_session_leaves_no_byte(openclaw: OpenClaw, state_dir: Path) -> None:
    """After a bare library's `forget` the words are in no page of the file, and no later pass brings them back."""
    openclaw.begin(A, "xylophonist")
    openclaw.begin(B, "lighthouse", key="agent:main:other")
    store = catch_up(state_dir)
    assert b"xylophonist" in bytes_of(state_dir)
    store.forget(A)
    assert b"xylophonist" not in bytes_of(state_dir)
    catch_up(state_dir)
    assert ask(state_dir, "xylophonist") == []
    assert b"xylophonist" not in bytes_of(state_dir)
    assert ask(state_dir, "lighthouse") == [B]


def test_what_was_deleted_in_the_runtime_goes(openclaw: OpenClaw, state_dir: Path) -> None:
    """A session deleted in OpenClaw is not found any more, unless the settings keep it."""
    openclaw.begin(A, "xylophonist")
    catch_up(state_dir)
    openclaw.rename(A, "deleted.2026-09-22T10-00-00.000Z")
    del openclaw.index["agent:main:main"]
    openclaw.save_index()
    catch_up(state_dir, search_keep_deleted=True)
    assert ask(state_dir, "xylophonist") == [A]
    os.unlink(SessionStore.open(state_dir).paths.search)
    catch_up(state_dir)
    assert ask(state_dir, "xylophonist") == []


def test_deleting_scrubs_the_words(openclaw: OpenClaw, state_dir: Path) -> None:
    """The words of a deleted session go from the file with the next pass."""
    openclaw.begin(A, "xylophonist")
    catch_up(state_dir)
    openclaw.rename(A, "deleted.2026-09-22T10-00-00.000Z")
    del openclaw.index["agent:main:main"]
    openclaw.save_index()
    catch_up(state_dir)
    assert b"xylophonist" not in bytes_of(state_dir)


def test_switched_off_means_not_there(openclaw: OpenClaw, state_dir: Path) -> None:
    """With `search.enabled: false` the index is removed, with everything SQLite keeps beside it."""
    openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    assert store.paths.search.exists()
    catch_up(state_dir, search_enabled=False)
    assert not list(store.paths.states.glob("search*"))


def test_a_damaged_index_is_made_anew(openclaw: OpenClaw, state_dir: Path) -> None:
    """Bytes that are no database do not stop a capture; the pass after next answers again."""
    openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    for path in store.paths.states.glob("search.sqlite*"):
        path.unlink()
    store.paths.search.write_bytes(b"not a database, not at all" * 400)
    talk_of(openclaw, B)
    catch_up(state_dir)
    catch_up(state_dir)
    assert sorted(ask(state_dir, "windmill lighthouse")) == [A, B]


def talk_of(openclaw: OpenClaw, session_id: str) -> None:
    openclaw.begin(session_id, "lighthouse", key="agent:main:other")


def test_a_transcript_that_is_gone_stays_findable_through_a_rebuild(openclaw: OpenClaw, state_dir: Path) -> None:
    """A rebuild carries over what only the index still has."""
    openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    openclaw.path(A).unlink()
    openclaw.index.clear()
    openclaw.save_index()
    rebuild(store, Config(), Catalogue.open(state_dir).sessions)
    assert ask(state_dir, "windmill") == [A]
    assert problems(state_dir) == []


def test_another_writer_in_the_way_only_delays(openclaw: OpenClaw, state_dir: Path) -> None:
    """While another process holds the index, captures go on; afterwards the words are found."""
    openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    holder = sqlite3.connect(store.paths.search, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    openclaw.begin(B, "lighthouse", key="agent:main:other")
    catch_up(state_dir)
    assert {one.session_id for one in store.entries()} >= {A, B}
    holder.execute("ROLLBACK")
    holder.close()
    catch_up(state_dir)
    assert ask(state_dir, "lighthouse") == [B]


@pytest.mark.parametrize("words", ["prune", "zinnia"])
def test_what_the_log_knows_is_findable(openclaw: OpenClaw, state_dir: Path, words: str) -> None:
    """Tasks, notes and topics of the state are found though nobody said them."""
    talk = openclaw.begin(A, "windmill")
    store = catch_up(state_dir)
    store.update(A, {"next_step": "prune the zinnia"}, by="operator")
    openclaw.append(A, talk.user("and one more thing"))
    catch_up(state_dir)
    assert ask(state_dir, words) == [A]


def test_the_same_id_under_another_agent_adds_nothing(openclaw: OpenClaw, state_dir: Path) -> None:
    """Of two agents with a session of one id, the words of the one the log is of are found, and no others."""
    from tests.watch.conftest import OpenClaw as Tree

    openclaw.begin(A, "windmill")
    catch_up(state_dir)
    other = Tree(state_dir, "zoe")
    other.begin(A, "xylophonist", key="agent:zoe:main")
    openclaw.remember()
    catch_up(state_dir)
    assert ask(state_dir, "windmill") == [A]
    assert ask(state_dir, "xylophonist") == []
