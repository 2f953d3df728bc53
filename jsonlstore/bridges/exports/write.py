"""Which files of an export change: new rows go into new files, and what is no longer so is taken out of old ones."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jsonlstore.bridges.exports.formats import Format, JsonLines, Parquet
from jsonlstore.bridges.exports.rows import month_of, rows_of
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError, UsageError
from jsonlstore.redact import sanitised

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from jsonlstore.store import SessionStore


@dataclass(slots=True)
class TableReport:
    """What an export wrote, by session and by file."""

    path: str
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    unreadable: int = 0
    files: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def export_tables(
    store: SessionStore,
    target: Path,
    kind: str,
    *,
    host: str,
    table: str = "sessions",
    since: datetime | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> TableReport:
    """Bring the export below `target` up to date: `sessions` or `events`, as `jsonl` or `parquet`."""
    if not host.strip() or len(host) > 200:
        raise UsageError("the host needs a name", hint="--host NAME")
    host = sanitised(host)  # before it is quoted: what stands behind %3A is not seen
    form: Format = JsonLines() if kind == "jsonl" else Parquet()
    return _Export(store, target / table / f"host={quote(host, safe='')}", form, host, table).run(
        since, dry_run=dry_run, progress=progress
    )


class _Export:
    """One run over the folder of one host."""

    def __init__(self, store: SessionStore, folder: Path, form: Format, host: str, table: str) -> None:
        self._store, self._folder, self._form, self._host, self._table = store, folder, form, host, table
        self._report = TableReport(str(folder))
        self._fresh: dict[str, list[dict[str, Any]]] = {}  # by month

    def run(self, since: datetime | None, *, dry_run: bool, progress: Callable[[int, int], None]) -> TableReport:
        held, files = self._held()
        stale = self._forgotten(held)
        self._report.removed = len(stale)
        earliest = format_time(since) if since else ""
        entries = [
            one
            for one in self._store.entries()
            if max(one.end_time or "~", one.updated_at or "", one.start_time) >= earliest
        ]
        keep: dict[str, str] = {}  # session -> the one version that stays, of those looked at
        for number, entry in enumerate(entries, 1):
            self._take(entry.session_id, held, keep)
            progress(number, len(entries))
        if not dry_run:
            self._write_fresh()
        self._take_out(files, keep, stale, dry_run=dry_run)
        return self._report

    def _held(self) -> tuple[dict[str, set[str]], dict[Path, list[dict[str, Any]]]]:
        """The versions of each session in the files there are, and the rows of each file."""
        held: dict[str, set[str]] = {}
        files: dict[Path, list[dict[str, Any]]] = {}
        for path in sorted(self._folder.glob(f"month=*/*{self._form.suffix}")):
            try:
                rows = self._form.load(path)
            except (ValueError, OSError) as problem:
                raise JsonlStoreError(
                    f"{path} cannot be read: {problem}", hint="move it away and export again"
                ) from None
            files[path] = rows
            for row in rows:
                held.setdefault(str(row.get("session_id")), set()).add(str(row.get("version")))
        return held, files

    def _forgotten(self, held: dict[str, set[str]]) -> set[str]:
        known = self._store.index.entries()
        return {one for one in held if (known.get(one) or {}).get("forgotten")}

    def _take(self, session_id: str, held: dict[str, set[str]], keep: dict[str, str]) -> None:
        try:
            state = self._store.get(session_id)
            rows = rows_of(self._store, state, self._host, self._table)
        except JsonlStoreError:
            self._report.unreadable += 1
            return
        if not rows:
            return
        keep[session_id] = version = rows[0]["version"]
        if version in held.get(session_id, ()):
            self._report.unchanged += 1
            return
        if session_id in held:
            self._report.updated += 1
        else:
            self._report.added += 1
        self._fresh.setdefault(month_of(state), []).extend(rows)

    def _write_fresh(self) -> None:
        """New files first: if we are stopped here, a session is there twice until the next run, and never missing."""
        for month, rows in sorted(self._fresh.items()):
            folder = self._folder / f"month={month}"
            self._store.disk.make_dir(folder)
            stamp = self._store.now().replace(":", "").replace("-", "").replace(".", "")
            path = folder / f"part-{stamp}-{os.urandom(3).hex()}{self._form.suffix}"
            self._store.disk.replace(path, self._form.dump(rows, self._table), folder)
            self._report.files.append(str(path))

    def _take_out(
        self, files: dict[Path, list[dict[str, Any]]], keep: dict[str, str], stale: set[str], *, dry_run: bool
    ) -> None:
        """Drop from the older files what was forgotten, what there is a newer version of, and what is there twice."""
        seen: set[str] = set()
        for path, rows in files.items():
            here = {str(row["session_id"]) for row in rows}
            gone = {one for one in here if one in stale or one in seen}
            left = [
                row
                for row in rows
                if row["session_id"] not in gone and row["version"] == keep.get(row["session_id"], row["version"])
            ]
            seen |= {str(row["session_id"]) for row in left}
            if len(left) == len(rows) or dry_run:
                continue
            if left:
                self._store.disk.replace(path, self._form.dump(left, self._table), path.parent)
            else:
                path.unlink()
            self._report.files.append(str(path))
