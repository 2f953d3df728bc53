"""A store's own check-up: reads everything, changes nothing unless asked to mend.

Whatever can be made again from the logs is mended; what only a backup could bring back is reported and left alone.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import TEMP_PREFIX, read_bytes
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.core.paths import check_session_id
from jsonlstore.store.forget import leftovers
from jsonlstore.store.index import Progress, silent
from jsonlstore.store.mirror import to_json
from jsonlstore.store.projection import fold_events
from jsonlstore.store.schema import problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonlstore.store.log import Scan
    from jsonlstore.store.store import SessionStore

_SHOWN = 5
_TEMP_MAX_AGE = 3600


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: is it well, what was seen, and what mends it."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def to_dict(self) -> dict[str, str | bool | None]:
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "fix": self.fix}


class Doctor:
    """Looks a store over, one check after another; with `fix`, mends and looks again."""

    def __init__(self, store: SessionStore, progress: Progress = silent) -> None:
        self._store = store
        self._paths = store.paths
        self._progress = progress

    def examine(self, *, fix: bool = False) -> list[Check]:
        """Every check; with `fix` what can be mended is, and the result says what is left."""
        checks: tuple[tuple[Callable[[], Check], Callable[[], None] | None], ...] = (
            (self._modes, self._mend_modes),
            (self._stray, self._mend_stray),
            (self._tails, self._mend_tails),
            (self._logs, None),
            (self._forgotten, self._mend_forgotten),  # before the archive: a tombstone has no half to move
            (self._archive, self._mend_archive),
            (self._index, self._mend_index),
            (self._mirrors, self._mend_mirrors),
            (self._metrics, self._mend_metrics),
        )
        found = []
        for look, mend in checks:
            check = look()
            if fix and not check.ok and mend is not None:
                mend()
                after = look()
                check = Check(after.name, after.ok, f"mended: {check.detail}" if after.ok else after.detail, after.fix)
            found.append(check)
        return found

    # -- files and modes

    def _ours(self) -> Iterator[Path]:
        if self._paths.states.is_dir():
            yield self._paths.states
            yield from (path for path in self._paths.states.rglob("*"))
        if self._paths.archive.is_dir():
            yield self._paths.archive
            yield from self._paths.archive.rglob("*")
        for session_id in self._hot_ids():
            if self._paths.mirror(session_id).exists():
                yield self._paths.mirror(session_id)

    def _too_open(self) -> list[Path]:
        return [path for path in self._ours() if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()]

    def _modes(self) -> Check:
        return _check(
            "modes", self._too_open(), "files others may read", "private to you", "`doctor --fix` makes them private"
        )

    def _mend_modes(self) -> None:
        for path in self._too_open():
            os.chmod(path, 0o700 if path.is_dir() else 0o600)

    def _temps(self) -> list[Path]:
        line = time.time() - _TEMP_MAX_AGE
        places = (self._paths.states, self._paths.archive, self._paths.quarantine)
        return [path for place in places for path in place.glob(TEMP_PREFIX + "*") if path.stat().st_mtime < line]

    def _stray(self) -> Check:
        return _check(
            "temporary files", self._temps(), "left by a crash", "none left behind", "`doctor --fix` removes them"
        )

    def _mend_stray(self) -> None:
        for path in self._temps():
            path.unlink(missing_ok=True)

    # -- logs

    def _hot_ids(self) -> list[str]:
        found = (path.stem for path in self._paths.states.glob("*.jsonl") if path.name != "metrics.jsonl")
        return sorted(each for each in found if _is_id(each))

    def _scans(self) -> Iterator[tuple[str, Path, Scan]]:
        places = [(each, self._paths.log(each)) for each in self._hot_ids()]
        places += [
            (each, self._paths.archived_log(each, month)) for each, month in self._store.index.archived().items()
        ]
        for number, (session_id, path) in enumerate(places):
            self._progress(number, len(places))
            scan = self._store.open_log(path).scan()
            if scan is not None:
                yield session_id, path, scan
        self._progress(len(places), len(places))

    def _torn(self) -> list[tuple[str, Path]]:
        return [(session_id, path) for session_id, path, scan in self._scans() if scan.torn]

    def _tails(self) -> Check:
        torn = [path for _, path in self._torn()]
        return _check(
            "log tails", torn, "end in a torn line", "whole", "`doctor --fix` cuts the torn bytes into quarantine"
        )

    def _mend_tails(self) -> None:
        for session_id, path in self._torn():
            self._store.repair_log(session_id, path)

    def _logs(self) -> Check:
        faults: list[str] = []
        for _, path, scan in self._scans():
            faults += [
                f"{path.name} at byte {hurt.offset}: {hurt.length} bytes are not a record" for hurt in scan.damage
            ]
            for placed in scan.events:
                version = placed.event.data.get("schema_version")
                if isinstance(version, int) and version > SCHEMA_VERSION:
                    break  # a newer writer's log follows a newer schema
                found = problems("event", orjson.loads(placed.event.to_line()))
                faults += [f"{path.name} record {placed.event.seq}: {each}" for each in found]
        good = f"every record of {len(self._hot_ids())} hot logs and the archive is valid"
        hint = "damaged lines are skipped and kept; only a backup could bring them back"
        return _check("logs", faults, "faults", good, hint)

    # -- caches

    def _index(self) -> Check:
        expected = self._store.index.expected(self._progress)
        found = read_bytes(self._paths.index)
        if found == expected or (found is None and not self._hot_ids()):
            faults = problems("index", orjson.loads(found)) if found else []
            return _check("index", faults, "faults", "matches the logs", "`doctor --fix` rebuilds it")
        state = "missing" if found is None else "empty" if not found else "not what the logs say"
        return Check("index", False, f"{self._paths.index} is {state}", "`doctor --fix` rebuilds it from the logs")

    def _mend_index(self) -> None:
        self._store.index.rebuild(self._progress)

    def _stale_mirrors(self) -> list[str]:
        stale = []
        for session_id, _, scan in self._scans():
            if not self._paths.log(session_id).exists() or not scan.events:
                continue
            folded = fold_events(session_id, (placed.event for placed in scan.events))
            if folded.ended and read_bytes(self._paths.mirror(session_id)) != to_json(folded.to_dict()):
                stale.append(session_id)
        return stale

    def _mirrors(self) -> Check:
        return _check(
            "mirrors", self._stale_mirrors(), "missing or old", "match the logs", "`doctor --fix` writes them"
        )

    def _mend_mirrors(self) -> None:
        for session_id in self._stale_mirrors():
            self._store.repair_mirror(session_id)

    def _half_archived(self) -> list[str]:
        """Sessions a crash left between the hot store and the archive."""
        found = set()
        for path in self._paths.archive.glob("*/*.json"):
            if _is_id(path.stem) and (self._paths.log(path.stem).exists() or not path.with_suffix(".jsonl").exists()):
                found.add(path.stem)
        months = self._store.index.archived()
        for session_id, month in months.items():
            if (
                self._paths.log(session_id).exists()
                or not self._paths.archived_state(session_id, month).exists()
                or self._paths.mirror(session_id).exists()
            ):
                found.add(session_id)
        return sorted(found)

    def _archive(self) -> Check:
        return _check("archive", self._half_archived(), "half archived", "whole", "`doctor --fix` finishes the move")

    def _mend_archive(self) -> None:
        for session_id in self._half_archived():
            self._store.settle_archive(session_id)

    def _left(self) -> list[str]:
        scans = ((session_id, scan) for session_id, _, scan in self._scans())
        forgotten = {key for key, scan in scans if any(each.event.type == "session.forgotten" for each in scan.events)}
        return sorted(session_id for session_id in forgotten if leftovers(self._paths, session_id))

    def _forgotten(self) -> Check:
        return _check(
            "forgotten", self._left(), "half forgotten", "nothing is left of them", "`doctor --fix` removes the rest"
        )

    def _mend_forgotten(self) -> None:
        for session_id in self._left():
            self._store.forget(session_id)

    def _metrics(self) -> Check:
        if not self._paths.metrics.exists() and not self._paths.metrics_head.exists():
            return Check("metrics", True, "none yet")
        verdict = self._store.metrics.verify()
        if verdict.ok:
            return Check("metrics", True, f"an unbroken chain of {verdict.records} records")
        hint = "`doctor --fix` mends a torn tail or a lost head; a broken chain stays visible"
        return Check("metrics", False, f"{self._paths.metrics.name} line {verdict.line}: {verdict.problem}", hint)

    def _mend_metrics(self) -> None:
        self._store.metrics.mend()


def _is_id(name: str) -> bool:
    try:
        check_session_id(name)
    except JsonlStoreError:
        return False
    return True


def _check(name: str, bad: list[Path] | list[str], what: str, good: str, fix: str) -> Check:
    if not bad:
        return Check(name, True, good)
    shown = ", ".join(each.name if isinstance(each, Path) else each for each in bad[:_SHOWN])
    more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return Check(name, False, f"{len(bad)} {what}: {shown}{more}", fix)
