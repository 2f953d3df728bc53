"""The file of the full-text index: its tables, how it is opened, and how it goes."""

from __future__ import annotations

import os
import sqlite3
import zlib
from functools import cache
from typing import TYPE_CHECKING

from jsonlstore.core.errors import SearchUnavailable
from jsonlstore.core.files import hint_for
from jsonlstore.core.hashes import blake2b

if TYPE_CHECKING:
    from pathlib import Path

    from jsonlstore.store import SessionStore

# Raise it whenever terms or layout change: words can only be taken out of FTS5 by naming the very terms put in.
LAYOUT = 1
PATIENCE = 5.0

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE documents (
  no INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, transcript TEXT NOT NULL, agent_id TEXT,
  session_key TEXT, channel TEXT, started_at TEXT, last_at TEXT, checksum BLOB, state_hash BLOB, UNIQUE (kind, id));
CREATE INDEX documents_by_transcript ON documents (transcript);
CREATE INDEX documents_by_time ON documents (started_at, last_at);
CREATE TABLE sources (transcript TEXT PRIMARY KEY, mark TEXT, cursor TEXT, tail TEXT) WITHOUT ROWID;
CREATE TABLE blocks (
  no INTEGER PRIMARY KEY, document INTEGER NOT NULL, seq INTEGER NOT NULL, words INTEGER NOT NULL,
  chars INTEGER NOT NULL, languages TEXT NOT NULL, digest BLOB NOT NULL, data BLOB NOT NULL, UNIQUE (document, seq));
CREATE VIRTUAL TABLE terms USING fts5 (
  words, parts, content='', tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row);
"""


class OutdatedIndex(SearchUnavailable):
    """Another version of jsonlstore wrote the index; it has to be made anew."""


def connect(path: Path, patience: float = PATIENCE) -> sqlite3.Connection:
    """Open the file; another writer is waited for `patience` seconds."""
    try:
        connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
    except sqlite3.DatabaseError as problem:
        raise unavailable(path, problem) from problem
    return connection


def unavailable(path: Path, problem: Exception) -> SearchUnavailable:
    """The error for an index that cannot be opened, read or written."""
    reason = f"{path}: {problem.strerror}" if isinstance(problem, OSError) else problem
    hint = hint_for(problem) or "`jsonlstore search rebuild` makes it anew"
    return SearchUnavailable(f"the search index cannot be used: {reason}", path=path, hint=hint)


def is_index_damaged(problem: BaseException | None) -> bool:
    """Whether an error says that the file itself is broken, and not that it is busy or the disk full."""
    if not isinstance(problem, sqlite3.DatabaseError):
        return False
    return getattr(problem, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def remove_index(path: Path) -> bool:
    """Remove the index and what SQLite keeps beside it; False if there was none."""
    found = False
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(f"{path}{suffix}")
            found = True
        except FileNotFoundError:
            continue
    return found


@cache
def has_fts5() -> bool:
    """Whether the SQLite of this Python has FTS5."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (words)")
    except sqlite3.OperationalError:
        return False
    else:
        return True
    finally:
        connection.close()


def entries_stamp(store: SessionStore) -> str | None:
    """Changes whenever `sessions.json` does: what the index has heard of is complete up to there."""
    try:
        stat = store.paths.index.stat()
    except OSError:
        return None
    return f"{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}"


def checksum(connection: sqlite3.Connection, document: int) -> bytes:
    """What the digests of a document's blocks add up to."""
    digests = connection.execute("SELECT digest FROM blocks WHERE document = ? ORDER BY seq", (document,))
    return blake2b(b"".join(row[0] for row in digests), digest_size=8).digest()


def problems_in(connection: sqlite3.Connection) -> list[str]:
    """What is wrong with an index; SQLite's own errors are for the caller."""
    found = [row[0] for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
    connection.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
    (rows,) = connection.execute("SELECT count(*) FROM terms_docsize").fetchone()
    (blocks,) = connection.execute("SELECT count(*) FROM blocks").fetchone()
    if rows != blocks:
        found.append(f"{blocks} blocks, but the words of {rows}")
    for no, name, expected in connection.execute("SELECT no, id, checksum FROM documents").fetchall():
        if expected is not None and expected != checksum(connection, no):
            found.append(f"{name} does not add up")
    for block, digest, data in connection.execute("SELECT no, digest, data FROM blocks"):
        if blake2b(zlib.decompress(data), digest_size=8).digest() != digest:
            found.append(f"block {block} is damaged")
    if connection.execute("SELECT count(*) FROM meta WHERE key = 'unscrubbed'").fetchone()[0]:
        found.append("removed words are still in the file")
    return found
