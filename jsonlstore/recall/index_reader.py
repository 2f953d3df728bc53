"""The full-text index as its readers see it: blocks, documents, how often terms occur, and which blocks match."""

from __future__ import annotations

import sqlite3
import zlib
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.recall.documents import Block, StoredDocument, Turn
from jsonlstore.recall.index_file import problems_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_BLOCKS_OF = "(SELECT no FROM blocks WHERE document IN (SELECT value FROM json_each(?)))"
_STORED = "no, kind, id, agent_id, session_key, channel, started_at, last_at"


class IndexReader:
    """One connection to the index; nothing here changes it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.path = path

    def note(self, key: str) -> Any:
        """A value of the index's own notes."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def block(self, number: int) -> Block:
        """One block, unpacked."""
        no, document, seq, words, languages, data = self._db.execute(
            "SELECT no, document, seq, words, languages, data FROM blocks WHERE no = ?", (number,)
        ).fetchone()
        turns = [Turn._make(turn) for turn in orjson.loads(zlib.decompress(data))]
        return Block(no, document, seq, words, languages, turns)

    def blocks_of(self, document: int) -> Iterator[Block]:
        """A document's blocks in order, the one of its state first."""
        rows = self._db.execute("SELECT no FROM blocks WHERE document = ? ORDER BY seq", (document,)).fetchall()
        return (self.block(row[0]) for row in rows)

    def all_turns(self, document: int) -> Iterator[Turn]:
        """Everything that was said in a document, without what is known besides."""
        return (turn for block in self.blocks_of(document) if block.seq >= 0 for turn in block.turns)

    def documents(self, where: str = "1", values: Sequence[object] = ()) -> Iterator[StoredDocument]:
        """The documents that fit a condition on their columns."""
        rows = self._db.execute(f"SELECT {_STORED} FROM documents WHERE {where}", values)  # noqa: S608 - ours
        return (StoredDocument(*row) for row in rows)

    def earliest(self) -> str | None:
        """When the first document began."""
        row = self._db.execute("SELECT min(started_at) FROM documents").fetchone()
        return str(row[0]) if row[0] else None

    def transcript_of(self, document: int) -> str:
        """The transcript a document was read from."""
        return str(self._db.execute("SELECT transcript FROM documents WHERE no = ?", (document,)).fetchone()[0])

    def owners(self, blocks: Sequence[int]) -> dict[int, int]:
        """Block -> document."""
        marks = ",".join("?" * len(blocks))
        rows = self._db.execute(f"SELECT no, document FROM blocks WHERE no IN ({marks})", tuple(blocks))  # noqa: S608
        return dict(rows.fetchall())

    def first_blocks(self, documents: Sequence[int]) -> list[int]:
        """Where each of these documents begins."""
        marks = ",".join("?" * len(documents))
        sql = f"SELECT no, min(seq) FROM blocks WHERE document IN ({marks}) GROUP BY document"  # noqa: S608
        return [row[0] for row in self._db.execute(sql, tuple(documents))]

    def frequency(self, term: str) -> int:
        """In how many blocks a term occurs."""
        row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        return row[0] if row else 0

    def size(self) -> tuple[int, float]:
        """How many blocks there are, and how many words a block of talk has on average."""
        talks, words = self.note("talks") or 0, self.note("words") or 0
        return self.note("blocks") or 0, words / talks if words else 1.0

    def match(
        self, expression: str, limit: int, among: Iterable[int] | None = None, without: Iterable[int] = ()
    ) -> list[tuple[int, float]]:
        """The blocks that match best, with BM25 scores (higher is better); of documents `among`, of none `without`."""
        sql, values = "SELECT rowid, rank FROM terms WHERE terms MATCH ?", [expression]
        # the plus keeps FTS5 from looking up every row by itself, which is slower than matching them all
        for word, documents in (("IN", among), ("NOT IN", without or None)):
            if documents is not None:
                sql += f" AND +rowid {word} {_BLOCKS_OF}"
                values.append(orjson.dumps(sorted(documents)).decode())
        found = self._db.execute(f"{sql} ORDER BY rank LIMIT ?", (*values, limit))
        return [(row[0], -row[1]) for row in found]

    def problems(self) -> list[str]:
        """What is wrong with the file: damage, rows that do not add up to their checksum, words left behind."""
        try:
            return problems_in(self._db)
        except (sqlite3.DatabaseError, zlib.error) as problem:
            return [str(problem)]
