"""`doctor`: examines everything a store holds, and changes nothing unless asked to repair.

It repairs what can be rebuilt from the logs, and only reports what would need a backup. `repair_unfinished` is the part
that is cheap enough for every start: it compares names and times, and reads only what these make suspect.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import TEMP_PREFIX, file_problem, listed, read_bytes
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SCHEMA_VERSION
from jsonlstore.core.paths import StatePaths, is_session_id
from jsonlstore.store.archive import mirror_shows, months_of
from jsonlstore.store.fold import fold_events
from jsonlstore.store.forget import leftovers
from jsonlstore.store.index import ProgressCallback, silent
from jsonlstore.store.log import Scan
from jsonlstore.store.schema import problems
from jsonlstore.store.store import SessionStore

log = logger(__name__)
_times = partial(listed, fact="st_mtime_ns")
_SHOWN = 5
_TEMP_MAX_AGE = 3600  # a younger temporary file may belong to a writer that is still running


class Check(NamedTuple):
    """The result of one check: whether it passed, what was found, and what repairs it."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def to_dict(self) -> dict[str, str | bool | None]:
        return self._asdict()


class _Finding(NamedTuple):
    """One problem, by the name it is shown under, with the function that repairs it."""

    name: str
    repair: Callable[[], object]


class Doctor:
    """Runs every check on a store; with `fix` it repairs and checks again."""

    def __init__(self, store: SessionStore, progress: ProgressCallback = silent) -> None:
        self._store = store
        self._paths = store.paths
        self._progress = progress

    def examine(self, *, fix: bool = False, quarantine: bool = False) -> list[Check]:
        """Run every check; with `fix`, repair what can be repaired and return what is left.

        With `quarantine` as well, log lines that are not records go into quarantine: nothing else could mend them.
        """
        checks: tuple[tuple[Callable[[], Check], Callable[[], object] | None], ...] = (
            _listed("modes", self._too_open, "open to others", "every file is private to you", "makes them private"),
            _listed("temporary files", self._temps, "left by a crash", "none left behind", "removes them"),
            _listed("log tails", self._torn, "torn at the end", "every log ends whole", "moves the rest to quarantine"),
            (self._logs, self._quarantine_damage if quarantine else None),
            # before the archive check: a tombstone has no other half to move
            _listed(
                "forgotten", self._left, "half forgotten", "nothing is left of forgotten sessions", "removes the rest"
            ),
            _listed("archive", self._half_archived, "half archived", "every move is finished", "finishes the move"),
            (self._index, lambda: self._store.index.rebuild(self._progress)),
            _listed("mirrors", self._stale_mirrors, "missing or old", "match the logs", "writes them"),
            (self._metrics, self._store.metrics.repair),
        )
        found = []
        for look, repair in checks:
            check = guarded(look)
            if fix and not check.ok and repair is not None:
                after = guarded(partial(_repaired, look, repair))
                check = Check(after.name, after.ok, f"mended: {check.detail}" if after.ok else after.detail, after.fix)
            found.append(check)
        return found

    # -- files and modes

    def _ours(self) -> Iterator[Path]:
        for folder in (self._paths.states, self._paths.archive):
            if folder.is_dir():
                yield folder
                yield from folder.rglob("*")
        for session_id in self._hot_ids():
            if self._paths.mirror(session_id).exists():
                yield self._paths.mirror(session_id)

    def _too_open(self) -> list[_Finding]:
        return [
            _Finding(path.name, partial(os.chmod, path, 0o700 if path.is_dir() else 0o600))
            for path in self._ours()
            if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()
        ]

    def _temps(self) -> list[_Finding]:
        line = time.time() - _TEMP_MAX_AGE
        folders = (self._paths.states, self._paths.archive, self._paths.quarantine)
        old = (path for one in folders for path in one.glob(TEMP_PREFIX + "*") if path.stat().st_mtime < line)
        return [_Finding(path.name, partial(path.unlink, missing_ok=True)) for path in old]

    # -- logs

    def _hot_ids(self) -> list[str]:
        return sorted(path.stem for path in self._paths.states.glob("*.jsonl") if is_session_id(path.stem))

    def _scans(self) -> Iterator[tuple[str, Path, Scan]]:
        logs = [(each, self._paths.log(each)) for each in self._hot_ids()]
        logs += [(each, self._paths.archived_log(each, month)) for each, month in self._store.index.archived().items()]
        for number, (session_id, path) in enumerate(logs):
            self._progress(number, len(logs))
            scan = self._store.open_log(path).scan()
            if scan is not None:
                yield session_id, path, scan
        self._progress(len(logs), len(logs))

    def _torn(self) -> list[_Finding]:
        repair = self._store.repair_log
        return [_Finding(path.name, partial(repair, each, path)) for each, path, scan in self._scans() if scan.torn]

    def _logs(self) -> Check:
        faults: list[str] = []
        for _, path, scan in self._scans():
            faults += [
                f"{path.name} at byte {hurt.offset}: {hurt.length} bytes are not a record" for hurt in scan.damage
            ]
            for placed in scan.events:
                version = placed.event.data.get("schema_version")
                if isinstance(version, int) and version > SCHEMA_VERSION:
                    break  # a newer writer's log follows a newer schema, which we do not have
                found = problems("event", orjson.loads(placed.event.to_line()))
                faults += [f"{path.name} record {placed.event.seq}: {each}" for each in found]
        hot = len(self._hot_ids())
        good = f"every record of {hot} {'log' if hot == 1 else 'logs'} and of the archive is valid"
        hint = "damaged lines are skipped; `doctor --fix --quarantine` moves them out of the log"
        return _check("logs", faults, "damaged", good, hint)

    def _quarantine_damage(self) -> None:
        for session_id, path, scan in list(self._scans()):
            if scan.damage:
                self._store.quarantine_damage(session_id, path)

    # -- files derived from the logs

    def _index(self) -> Check:
        expected = self._store.index.expected(self._progress)
        found = read_bytes(self._paths.index)
        if found == expected or (found is None and not self._hot_ids()):
            faults = problems("index", orjson.loads(found)) if found else []
            return _check("index", faults, "invalid", "matches the logs", "`doctor --fix` rebuilds it")
        state = "missing" if found is None else "empty" if not found else "not what the logs say"
        return Check("index", False, f"{self._paths.index} is {state}", "`doctor --fix` rebuilds it from the logs")

    def _stale_mirrors(self) -> list[_Finding]:
        stale = []
        for session_id, _, scan in self._scans():
            if not self._paths.log(session_id).exists() or not scan.events:
                continue
            folded = fold_events(session_id, scan.events)
            if folded.ended and not mirror_shows(self._paths, session_id, folded.to_dict()):
                stale.append(session_id)
        return [_Finding(each, partial(self._store.repair_mirror, each)) for each in stale]

    def _half_archived(self) -> list[_Finding]:
        return [_Finding(each, partial(self._store.finish_archiving, each)) for each in _half_moved(self._paths)]

    def _left(self) -> list[_Finding]:
        scans = ((session_id, scan) for session_id, _, scan in self._scans())
        forgotten = {key for key, scan in scans if any(each.event.type == "session.forgotten" for each in scan.events)}
        left = sorted(session_id for session_id in forgotten if leftovers(self._paths, session_id))
        return [_Finding(each, partial(self._store.forget, each)) for each in left]

    def _metrics(self) -> Check:
        if not self._paths.metrics.exists() and not self._paths.metrics_head.exists():
            return Check("metrics", True, "none yet")
        verdict = self._store.metrics.verify()
        if verdict.ok:
            return Check(
                "metrics",
                True,
                f"an unbroken chain of {verdict.records} {'record' if verdict.records == 1 else 'records'}",
            )
        hint = "`doctor --fix` mends a torn tail or a lost head; a broken chain stays visible"
        return Check("metrics", False, f"{self._paths.metrics.name} line {verdict.line}: {verdict.problem}", hint)


def guarded(look: Callable[[], Check]) -> Check:
    """The check's result; a file that cannot be read or written fails the check and not the examination."""
    try:
        return look()
    except (JsonlStoreError, OSError) as problem:
        error = file_problem(problem) if isinstance(problem, OSError) else problem
        return Check(_name_of(look), False, f"could not be examined: {error.message}", error.hint)


def _name_of(look: Callable[[], Check]) -> str:
    inner = look.args[0] if isinstance(look, partial) else look
    return inner.__name__.strip("_").replace("_", " ")


def _repaired(look: Callable[[], Check], repair: Callable[[], object]) -> Check:
    repair()
    return look()


def _listed(
    name: str, find: Callable[[], list[_Finding]], bad: str, good: str, repairs: str
) -> tuple[Callable[[], Check], Callable[[], object]]:
    """The check for a list of findings, with one repair per finding."""

    def look() -> Check:
        return _check(name, [finding.name for finding in find()], bad, good, f"`doctor --fix` {repairs}")

    look.__name__ = name

    def repair() -> None:
        for finding in find():
            finding.repair()

    return look, repair


def _check(name: str, bad: list[str], what: str, good: str, fix: str) -> Check:
    if not bad:
        return Check(name, True, good)
    more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return Check(name, False, f"{len(bad)} {what}: {', '.join(bad[:_SHOWN])}{more}", fix)


def repair_unfinished(store: SessionStore) -> int:
    """Finish what a crash left unfinished; returns the number of repaired sessions. A failure is only logged."""
    repaired = 0
    for repair, unfinished in ((store.finish_archiving, _unmoved), (store.repair_mirror, _behind_their_log)):
        for session_id in unfinished(store):
            try:
                repaired += repair(session_id) is not False
            except JsonlStoreError as problem:
                log.warning("session %s is left to `doctor --fix`: %s", session_id, problem)
    return repaired


def _half_moved(paths: StatePaths) -> list[str]:
    """Sessions with one file in the archive and another outside it."""
    months = [paths.archive / month for month in months_of(paths)]
    states, logs = ({one for month in months for one in _times(month, ending)} for ending in (".json", ".jsonl"))
    half = (states ^ logs) | ((states | logs) & _times(paths.states, ".jsonl").keys())
    half |= logs & _times(paths.sessions, ".json").keys()
    return sorted(filter(is_session_id, half))


def _unmoved(store: SessionStore) -> list[str]:
    """The half-moved sessions that were not forgotten: a tombstone has no other half to move. May refresh the index."""
    half = _half_moved(store.paths)
    entries = store.index.lazy_entries() if half else {}
    return [one for one in half if not entries.get(one, {}).get("forgotten")]


def _behind_their_log(store: SessionStore) -> list[str]:
    """Ended sessions whose mirror is missing or older than the log: a mirror is written after its log."""
    logged, mirrored = _times(store.paths.states, ".jsonl"), _times(store.paths.sessions, ".json")
    return [
        session_id
        for session_id, entry in store.index.lazy_entries().items()
        if entry.get("end_time") and session_id in logged and mirrored.get(session_id, -1) < logged[session_id]
    ]
