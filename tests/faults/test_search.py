"""The full-text index after kill -9 or an error at any write: whole, and complete after the next pass."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jsonlstore.core.config import Config
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.query import read_query
from jsonlstore.recall.ranking import rank
from jsonlstore.store.store import SessionStore
from jsonlstore.transcripts.catalogue import Catalogue
from jsonlstore.watch.search_check import check_search
from jsonlstore.watch.search_writer import SearchWriter
from tests.faults.test_strace import strace

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 11, 16, tzinfo=UTC)
WORDS = ("windmill", "lighthouse", "orchard")
STRUCK = ("search.sqlite", "search.sqlite-wal", "search.sqlite-journal")


def main(root: str) -> None:
    """What the traced process does: bring the index up to date with every transcript."""
    store = SessionStore.open(root)
    writer = SearchWriter(store, Config())
    writer.catch_up_all(Catalogue.open(Path(root)).sessions)
    writer.reconcile()
    writer.tidy(wholly=True)
    writer.close()


def prepare(root: Path) -> None:
    """Three captured sessions, one of them indexed, and grown since."""
    sessions = root / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    store = SessionStore.open(root)
    for number, word in enumerate(WORDS):
        name = f"{number:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
        store.start(name, agent_id="main", channel="cli", start_time="2026-09-21T10:00:00.000Z")
        write(sessions / f"{name}.jsonl", name, [f"the {word} number {n} " + "and more " * 40 for n in range(30)])
        if number == 0:
            main(str(root))
            write(sessions / f"{name}.jsonl", name, [f"the {word} has grown"])


def write(path: Path, name: str, texts: list[str]) -> None:
    stamp = {"timestamp": "2026-09-21T10:00:00.000Z"}
    records = [] if path.exists() else [{"type": "session", "version": 3, "id": name, **stamp}]
    for number, text in enumerate(texts):
        message = {"role": "user", "content": text}
        records.append({"type": "message", "id": f"{number:08x}", "parentId": None, **stamp, "message": message})
    with path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


SOME = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 1000)
CALLS = "pwrite64,write,fdatasync,ftruncate"


@pytest.mark.parametrize("fault", ["signal=KILL", "error=ENOSPC", "error=EIO"])
@pytest.mark.parametrize("places", [SOME, pytest.param(range(1, 100_000), marks=pytest.mark.slow)])
def test_struck_at_any_write(tmp_path: Path, fault: str, places: Sequence[int]) -> None:
    """Whichever write fails or is the last, the index is whole at once and complete after the next pass.

    The slow form strikes at every one, up to the first number the program never comes to.
    """
    ready = tmp_path / "ready"
    prepare(ready)
    for at in places:
        work = tmp_path / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(ready, work)
        struck = strike(work, tmp_path / "calls", fault, at)
        index = SearchIndex.open_existing(work / "sessions" / "states" / "search.sqlite")
        assert index is not None
        assert set(index.problems()) <= {"removed words are still in the file"}, at
        index.close()
        main(str(work))
        check_complete(work)
        if not struck:
            break
    assert not struck, "the program has more writes than that"


def strike(work: Path, calls: Path, fault: str, at: int) -> bool:
    """Run the program with a fault at its n-th write to the index; False if it never came to that one."""
    watched = [word for name in STRUCK for word in ("-P", str(work / "sessions" / "states" / name))]
    program = "import sys; from tests.faults.test_search import main; main(sys.argv[1])"
    traced = subprocess.run(
        [strace(), "-f", "-qq", "-o", str(calls), *watched, "-e", f"trace={CALLS}",
         "-e", f"inject={CALLS}:{fault}:when={at}", sys.executable, "-B", "-c", program, str(work)],
        capture_output=True, check=False,
    )  # fmt: skip
    assert traced.returncode in (0, -9, 137), traced.stderr.decode()
    return traced.returncode != 0 or "(INJECTED)" in calls.read_text(errors="replace")


def check_complete(root: Path) -> None:
    store = SessionStore.open(root)
    index = SearchIndex.open_existing(store.paths.search)
    assert index is not None
    for number, word in enumerate(WORDS):
        found = [one.document.id for one in rank(index, read_query([word], NOW, UTC))]
        assert found == [f"{number:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"]
    assert rank(index, read_query(["grown"], NOW, UTC))
    index.close()
    assert check_search(store, Config(), Catalogue.open(root)).ok
