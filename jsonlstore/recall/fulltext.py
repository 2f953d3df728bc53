"""`states/search.sqlite`: what was said, findable by its words. A cache: it can be removed and made again at any time.

A document is one session (or one memory file). Its turns lie in blocks of about 16 KB, compressed; FTS5 keeps the
terms of each block and no text. A growing session rewrites its last block only. The rows of a transcript, the cursor
they go up to and the checksum over them change in one transaction, so a crash leaves what was before or what is after.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import SearchUnavailable
from jsonlstore.core.hashes import blake2b
from jsonlstore.core.logs import logger
from jsonlstore.recall.documents import BLOCK_CHARS, STATE_SEQ, Block, Document, Turn, pieces_of
from jsonlstore.recall.index_file import (
    LAYOUT,
    PATIENCE,
    SCHEMA,
    OutdatedIndex,
    checksum,
    connect,
    unavailable,
)
from jsonlstore.recall.index_reader import IndexReader
from jsonlstore.recall.terms import terms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from jsonlstore.recall.terms import Terms

log = logger(__name__)

_LEVEL = 6


class SearchIndex(IndexReader):
    """One connection to the index. Readers and one writer at a time may have it open."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._depth = 0

    @classmethod
    def open(cls, path: Path, *, patience: float = PATIENCE) -> SearchIndex:
        """The index for writing, made if it is not there.

        Another writer is waited for `patience` seconds.
        """
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        except OSError as problem:
            raise unavailable(path, problem) from problem
        index = cls(connect(path, patience), path)
        try:
            index._prepare()
        except sqlite3.DatabaseError as problem:
            index.close()
            raise unavailable(path, problem) from problem
        except SearchUnavailable:
            index.close()
            raise
        return index

    @classmethod
    def open_existing(cls, path: Path) -> SearchIndex | None:
        """The index for reading; None if there is none of our layout."""
        if not path.exists():
            return None
        index = cls(connect(path), path)
        try:
            if index.layout() == LAYOUT:
                return index
        except sqlite3.DatabaseError as problem:
            log.warning("the search index cannot be read: %s", problem)
        index.close()
        return None

    def close(self) -> None:
        self._db.close()

    def layout(self) -> int | None:
        """Which layout the file has; None if it has none yet."""
        (there,) = self._db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()
        return self.note("layout") if there else None

    def _prepare(self) -> None:
        found = self.layout()
        if found is not None:
            if found != LAYOUT:
                raise OutdatedIndex(f"the search index has layout {found}, not {LAYOUT}", path=self.path)
            return
        with self.transaction():
            for statement in filter(str.strip, SCHEMA.split(";\n")):
                self._db.execute(statement)
            self._db.execute(
                "INSERT INTO meta VALUES ('layout', ?), ('blocks', 0), ('talks', 0), ('words', 0)", (LAYOUT,)
            )

    # -- writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; inside another one, part of it."""
        if self._depth:
            yield
            return
        self._depth += 1
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:  # SQLite may have rolled back by itself, as when the disk is full
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as problem:
            raise unavailable(self.path, problem) from problem
        finally:
            self._depth -= 1

    def source(self, transcript: str) -> tuple[str | None, dict[str, Any] | None, dict[str, Any]] | None:
        """How far a transcript was read: its mark, its cursor, and what the reader kept for itself."""
        row = self._db.execute("SELECT mark, cursor, tail FROM sources WHERE transcript = ?", (transcript,)).fetchone()
        if row is None:
            return None
        return row[0], orjson.loads(row[1]) if row[1] else None, orjson.loads(row[2] or "{}")

    def set_source(
        self, transcript: str, mark: str | None, cursor: Mapping[str, Any] | None, tail: Mapping[str, Any]
    ) -> None:
        """Note how far a transcript was read."""
        self._db.execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?)",
            (transcript, mark, orjson.dumps(cursor).decode() if cursor else None, orjson.dumps(tail).decode()),
        )

    def append(self, document: Document, turns: Iterable[Turn]) -> int:
        """Add turns to a document, made if it is not there; returns how many characters were added."""
        added = 0
        with self.transaction():
            no = self._document(document)
            block = self._last_block(no)
            pending: list[Turn] = list(block.turns) if block else []
            size = sum(len(turn.text) for turn in pending)
            first, last = None, None
            for turn in pieces_of(turns):
                if pending and size + len(turn.text) > BLOCK_CHARS:
                    self._put(no, block, pending)
                    block, pending, size = self._after(no, block), [], 0
                pending.append(turn)
                size += len(turn.text)
                added += len(turn.text)
                first, last = first or turn.at, turn.at or last
            if added:
                self._put(no, block, pending)
                self._note_times(no, first, last)
                self._seal(no)
        return added

    def set_state(self, document: Document, turns: Sequence[Turn]) -> bool:
        """What is known about a session besides what was said; False if that is no news."""
        digest = blake2b(repr(turns).encode("utf-8", "replace"), digest_size=8).digest()
        with self.transaction():
            no = self._document(document)
            (known,) = self._db.execute("SELECT state_hash FROM documents WHERE no = ?", (no,)).fetchone()
            if known == digest:
                return False
            row = self._db.execute("SELECT no FROM blocks WHERE document = ? AND seq = ?", (no, STATE_SEQ)).fetchone()
            block = self.block(row[0]) if row else Block(0, no, STATE_SEQ, 0, "", [])
            self._put(no, block, list(pieces_of(turns)))
            self._db.execute("UPDATE documents SET state_hash = ? WHERE no = ?", (digest, no))
            self._seal(no)
        return True

    def remove(self, numbers: Iterable[int]) -> int:
        """Take documents out; unfindable at once, and after `scrub` their words are in no page of the file."""
        count = 0
        with self.transaction():
            for no in numbers:
                for (block,) in self._db.execute("SELECT no FROM blocks WHERE document = ?", (no,)).fetchall():
                    self._take_out(self.block(block))
                    self._db.execute("DELETE FROM blocks WHERE no = ?", (block,))
                count += self._db.execute("DELETE FROM documents WHERE no = ?", (no,)).rowcount
            if count:
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('unscrubbed', 1)")
        return count

    def set_note(self, key: str, value: object) -> None:
        """Keep a value among the index's own notes."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def set_times(self, document: Document, first: str | None, last: str | None) -> None:
        """When a document of no talk was."""
        self._note_times(self._document(document), first, last)

    def marks(self) -> dict[str, str | None]:
        """Transcript -> the mark of what was read of it."""
        # a watcher keeps thousands of these beside the same extents in its cursors
        rows = self._db.execute("SELECT transcript, mark FROM sources")
        return {transcript: mark and sys.intern(mark) for transcript, mark in rows}

    def drop_source(self, transcript: str) -> None:
        """Forget how far a transcript was read."""
        self._db.execute("DELETE FROM sources WHERE transcript = ?", (transcript,))

    def scrub(self) -> None:
        """Write every segment anew without what was removed: freed pages are zeroed, the write-ahead log is emptied."""
        with self.transaction():
            self._db.execute("INSERT INTO terms (terms) VALUES ('optimize')")
            self._db.execute("DELETE FROM meta WHERE key = 'unscrubbed'")
        self.checkpoint()

    def scrub_some(self, pages: int = 200) -> bool:
        """A part of `scrub` that takes a moment only, for those who must not stay away long; False once it is done."""
        if not self.note("unscrubbed"):
            return False
        started = self.note("unscrubbed") == 2
        with self.transaction():
            before = self._db.total_changes
            # a negative count begins to merge everything into one segment, a positive one goes on with it
            self._db.execute("INSERT INTO terms (terms, rank) VALUES ('merge', ?)", (pages if started else -pages,))
            done = self._db.total_changes - before < 2
            if done:
                self._db.execute("DELETE FROM meta WHERE key = 'unscrubbed'")
            else:
                self._db.execute("UPDATE meta SET value = 2 WHERE key = 'unscrubbed'")
        if done:
            self.checkpoint()
        return not done

    def checkpoint(self) -> None:
        """Empty the write-ahead log into the file; a reader in the way leaves it for the next time."""
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.OperationalError as problem:
            log.debug("the search index was not checkpointed: %s", problem)

    def _document(self, document: Document) -> int:
        row = self._db.execute(
            "SELECT no, transcript, agent_id, session_key, channel FROM documents WHERE kind = ? AND id = ?",
            document[:2],
        ).fetchone()
        if row is None:
            cursor = self._db.execute(
                "INSERT INTO documents (kind, id, transcript, agent_id, session_key, channel) VALUES (?,?,?,?,?,?)",
                document,
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid
        if tuple(row[1:]) != document[2:]:
            self._db.execute(
                "UPDATE documents SET transcript = ?, agent_id = ?, session_key = ?, channel = ? WHERE no = ?",
                (document.transcript or row[1], *document[3:], row[0]),
            )
        return int(row[0])

    def _last_block(self, no: int) -> Block | None:
        row = self._db.execute(
            "SELECT no FROM blocks WHERE document = ? AND seq >= 0 ORDER BY seq DESC LIMIT 1", (no,)
        ).fetchone()
        return self.block(row[0]) if row else None

    @staticmethod
    def _after(no: int, block: Block | None) -> Block:
        return Block(0, no, block.seq + 1 if block else 1, 0, "", [])

    def _put(self, no: int, block: Block | None, turns: list[Turn]) -> None:
        """Write a block in the place of `block`; one without a number is new."""
        kept: list[Terms] = []
        if block is not None and block.no:
            kept = self._take_out(block)
            if turns[: len(kept)] != block.turns:
                kept = []  # a state is written anew as a whole; talk only grows
        found = [*kept, *(terms_in(turn.text) for turn in turns[len(kept) :])]
        words = [word for terms in found for word in terms.words]
        parts = [part for terms in found for part in terms.parts]
        raw = orjson.dumps([tuple(turn) for turn in turns])
        row = (
            no,
            block.seq if block else 0,
            len(words),
            sum(len(turn.text) for turn in turns),
            " ".join(sorted({terms.language for terms in found})),
            blake2b(raw, digest_size=8).digest(),
            zlib.compress(raw, _LEVEL),
        )
        if block is not None and block.no:
            number = block.no
            self._db.execute(
                "UPDATE blocks SET document=?, seq=?, words=?, chars=?, languages=?, digest=?, data=? WHERE no=?",
                (*row, number),
            )
        else:
            cursor = self._db.execute(
                "INSERT INTO blocks (document, seq, words, chars, languages, digest, data) VALUES (?,?,?,?,?,?,?)", row
            )
            assert cursor.lastrowid is not None
            number = cursor.lastrowid
        self._db.execute(
            "INSERT INTO terms (rowid, words, parts) VALUES (?, ?, ?)", (number, " ".join(words), " ".join(parts))
        )
        self._count(1, 0 if block is not None and block.seq == STATE_SEQ else len(words))

    def _take_out(self, block: Block) -> list[Terms]:
        """Take a block's terms out of FTS5; returns them, for each turn."""
        found = [terms_in(turn.text) for turn in block.turns]
        words = " ".join(word for terms in found for word in terms.words)
        parts = " ".join(part for terms in found for part in terms.parts)
        self._db.execute(
            "INSERT INTO terms (terms, rowid, words, parts) VALUES ('delete', ?, ?, ?)", (block.no, words, parts)
        )
        self._count(-1, 0 if block.seq == STATE_SEQ else -block.words)
        return found

    def _count(self, blocks: int, words: int) -> None:
        """Keep the totals a ranking needs: counting them anew would read the whole table. Talk alone has words."""
        added = {"blocks": blocks, "talks": blocks if words else 0, "words": words}
        for key, value in added.items():
            self._db.execute("UPDATE meta SET value = value + ? WHERE key = ?", (value, key))

    def _note_times(self, no: int, first: str | None, last: str | None) -> None:
        self._db.execute(
            "UPDATE documents SET started_at = coalesce(started_at, ?), last_at = coalesce(?, last_at) WHERE no = ?",
            (first, last, no),
        )

    def _seal(self, no: int) -> None:
        self._db.execute("UPDATE documents SET checksum = ? WHERE no = ?", (checksum(self._db, no), no))
