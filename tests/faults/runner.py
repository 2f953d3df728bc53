"""Run a scenario in a child of its own, break it at the n-th call, and look at what is left."""

from __future__ import annotations

import os
import shutil
import signal
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.store.doctor import Check, Doctor
from tests.faults.machine import Fault, Machine
from tests.faults.scenarios import SECRET, Scenario, open_store, recorded, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jsonlstore.store.store import SessionStore


@dataclass(frozen=True)
class Outcome:
    """How a child fared: what it was told is done, and how it ended."""

    acknowledged: int
    killed: bool
    refused: str | None  # the error's class name
    calls: int | None  # how many calls changed the disk; None if it did not live to tell
    created: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()


def run(root: Path, steps: tuple[Callable[[SessionStore], object], ...], fault: Fault | None, **where: Any) -> Outcome:
    """Run `steps` on the store at `root` in a forked child; each step that returns is acknowledged through a pipe."""
    reader, writer = os.pipe()
    crash_site = where.pop("crash_site", None)
    with warnings.catch_warnings():
        # fork with threads about: the child takes no lock of theirs
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _child(root, steps, fault, writer, crash_site, where)
    os.close(writer)
    with open(reader, "rb") as pipe:
        told = [orjson.loads(line) for line in pipe.read().splitlines()]
    _, status = os.waitpid(child, 0)
    broken = [each["broken"] for each in told if "broken" in each]
    assert not broken, broken[0]
    last = told[-1] if told else {}
    return Outcome(
        acknowledged=sum(1 for each in told if "done" in each),
        killed=os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
        refused=next((each["refused"] for each in told if "refused" in each), None),
        calls=last.get("calls"),
        created=tuple(last.get("created", ())),
        trace=tuple(last.get("trace", ())),
    )


def _child(
    root: Path,
    steps: tuple[Callable[[SessionStore], object], ...],
    fault: Fault | None,
    writer: int,
    crash_site: Path | None,
    where: dict[str, Any],
) -> None:
    write = os.write  # the real one: acknowledgements are not part of the experiment

    def tell(**what: Any) -> None:
        write(writer, orjson.dumps(what) + b"\n")

    try:
        with Machine(root, fault, crash_site).running() as machine:
            store = open_store(root, **where, sync=True)
            for number, step in enumerate(steps):
                try:
                    step(store)
                except JsonlStoreError as problem:
                    tell(refused=type(problem).__name__)
                    break
                tell(done=number)
        tell(calls=machine.calls, created=machine.created, trace=machine.trace)
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it and the child must not live on
        tell(broken=traceback.format_exc())
    finally:
        os._exit(0)


class Bench:
    """One scenario's prepared store and what it looks like after each step, made once."""

    def __init__(self, scenario: Scenario, home: Path, sessions_dir: Path | None = None) -> None:
        self.scenario = scenario
        self.home = home
        self.sessions_dir = sessions_dir
        self.prepared = home / "prepared"
        self.prepared.mkdir(parents=True, mode=0o700)
        scenario.prepare(open_store(self.prepared, sessions_dir))
        work = self.fresh("reference")
        store = open_store(work)
        self.states, self.recorded = [visible(store)], [recorded(store)]
        for step in scenario.steps:
            step(store)
            self.states.append(visible(store))
            self.recorded.append(recorded(store))

    def fresh(self, name: str) -> Path:
        """A copy of the prepared store to break."""
        work = self.home / name
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self.prepared, work)
        return work

    def run(self, fault: Fault | None) -> tuple[Path, Outcome]:
        """Break a fresh copy; returns where the remains are."""
        work = self.fresh("work")
        crash_site = self.home / "crash-site"
        shutil.rmtree(crash_site, ignore_errors=True)
        outcome = run(work, self.scenario.steps, fault, crash_site=crash_site)
        return (crash_site if crash_site.exists() else work), outcome

    def check(self, remains: Path, outcome: Outcome, *, strict: bool = False) -> None:
        """Every promise, on what a fault left behind. `strict`: a refused step must have left no trace at all."""
        done = outcome.acknowledged
        allowed = self.states[done : done + 1 if strict else done + 2]
        copy = self.home / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(remains, copy)

        # a reader finds every acknowledged step, and the one under way done or not done
        store = open_store(remains)
        seen = visible(store)
        assert seen in allowed, _difference(seen, allowed)
        before, *_, after = (self.recorded[done], *self.recorded[done : done + 2])
        counted = recorded(store)
        # each metric is a record of its own: of several emitted at once a crash may leave the first few
        assert counted in (before, after) or before < counted < after
        assert_index_is_exact(store)
        # the doctor mends the rest and changes nothing of that
        age_files(remains)
        assert_mended(store)
        assert visible(open_store(remains)) == seen
        assert recorded(open_store(remains)) == counted
        # without a doctor, going on from there leads to where an undisturbed run would have got
        store = open_store(copy)
        for step in self.scenario.steps[done:]:
            step(store)
        assert visible(open_store(copy)) == self.states[-1]
        assert recorded(open_store(copy)) == self.recorded[-1]
        assert_index_is_exact(store)
        assert_private(copy)
        if self.scenario.forgets:
            assert_no_trace(copy)
            if done:
                assert_no_trace(remains)
        age_files(copy)
        assert_sound(Doctor(store).examine(fix=True))
        assert visible(open_store(copy)) == self.states[-1]


def _difference(seen: dict[str, Any], allowed: list[dict[str, Any]]) -> str:
    lines = []
    for number, one in enumerate(allowed):
        lines += [f"[{number}] {key}: {seen[key]!r} is not {one[key]!r}" for key in one if seen[key] != one[key]]
    return "\n".join(lines)


def assert_index_is_exact(store: SessionStore) -> None:
    """The index, once read, is byte for byte what a rebuild would write."""
    store.index.entries()
    if store.paths.index.exists():
        assert store.paths.index.read_bytes() == store.index.expected()


def assert_mended(store: SessionStore) -> None:
    """`doctor --fix` mends everything, and the doctor agrees afterwards."""
    Doctor(store).examine(fix=True)
    assert_sound(Doctor(store).examine())


def assert_sound(checks: list[Check]) -> None:
    unwell = [check for check in checks if not check.ok]
    assert not unwell, unwell


def assert_private(root: Path) -> None:
    """Files 0600, directories 0700, and nothing directly in `sessions/` that is not ours to put there."""
    for path in root.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert path.stat().st_mode & 0o777 == wanted, path
    sessions = root / "sessions"
    for path in sessions.iterdir() if sessions.exists() else ():
        assert path.name in ("archive", "states") or (path.suffix == ".json" and path.name != "sessions.json"), path


def assert_no_trace(root: Path) -> None:
    """No file holds a word of the forgotten session, and no file name but the tombstone's speaks of it."""
    for path in root.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def age_files(root: Path) -> None:
    """Two hours pass: whatever is temporary now was left behind."""
    then = time.time() - 7200
    for path in root.rglob("*"):
        os.utime(path, (then, then))
