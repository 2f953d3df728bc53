"""What search costs among many sessions, beside plain FTS5 over the same text in the same run.

python -m tests.benchmarks.bench_search_speed [--sessions 10000] [--mb 200]

Talk is made up of words drawn as languages draw them (Zipf), every session with a few words of its own. CPU time is
given beside the clock's: on a busy machine it is the one to compare.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.core.clock import format_time
from jsonlstore.core.files import Disk
from jsonlstore.core.paths import StatePaths
from jsonlstore.recall import Document, Search, SearchIndex, Turn, search_sessions
from jsonlstore.recall.forgetting import take_out
from jsonlstore.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
START = datetime(2024, 1, 1, tzinfo=UTC)
COMMON = """
the of and to a in is it you that he was for on are with as i his they be at one have this from or had by but what some
we can out other were all your when up use word how said an each she which do their time if will way about many then
them would write like so these her long make thing see him two has look more day could go come did my no most who over
know than call first people may down side been now find
"""
SYLLABLES = "ba be bi bo bu da de di do du fa fe ga go ka ke ki ko la le li lo lu ma me mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to tu va ve vi".split()  # noqa: E501, SIM905
VOCABULARY = 40_000
TURN_WORDS = 45
PEAK = """
import re, sys
from jsonlstore.cli.main import main
main(sys.argv[1:])
print(re.search("VmHWM.*", open("/proc/self/status").read())[0], file=sys.stderr)
"""


class Talk:
    """Text as people's: the same for the same number."""

    def __init__(self) -> None:
        chance = random.Random(5)
        made: dict[str, None] = dict.fromkeys(COMMON.split())
        while len(made) < VOCABULARY:
            made["".join(chance.choices(SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))] = None
        self.words = list(made)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))

    def turns(self, number: int, size: int) -> list[str]:
        """A session comes back to words of its own all the time, as talk about something does."""
        chance = random.Random(number)
        found, written = [], 0
        rare = chance.sample(self.words[2000:], 12)
        own = [*chance.choices(self.words, cum_weights=self._weights, k=450), *rare]
        while written < size:
            words = chance.choices(self.words[:120], cum_weights=self._weights[:120], k=TURN_WORDS)
            words[::2] = chance.choices(own, k=len(words[::2]))
            words[:: TURN_WORDS // 3] = chance.choices(rare, k=len(words[:: TURN_WORDS // 3]))
            found.append(" ".join(words).capitalize() + ".")
            written += len(found[-1])
        return found

    def question(self, number: int, turns: list[str], day: datetime) -> str:
        """Three to eight words of one passage, some with a date; one in five of a word that is everywhere."""
        chance = random.Random(-number)
        words = chance.choice(turns).rstrip(".").lower().split()
        at = chance.randrange(len(words) - 20)
        asked = chance.sample(words[at : at + 20], chance.randint(3, 8))
        if number % 5 == 0:
            asked += ["people", "time"]
        return " ".join(asked) + (f" on {day.day} {day:%B} {day.year}" if number % 4 == 0 else "")


def at(number: int, count: int) -> datetime:
    return START + (NOW - START - timedelta(days=1)) * number / count


def percentiles(times: list[float]) -> str:
    ordered = sorted(times)
    p50, p95 = (ordered[int(len(ordered) * share)] * 1000 for share in (0.5, 0.95))
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def documents(talk: Talk, count: int, size: int) -> Iterator[tuple[Document, list[Turn]]]:
    for number in range(count):
        name, said_at = f"{number:08x}-0000-4000-8000-000000000000", format_time(at(number, count))
        speakers = ("user", "assistant")
        turns = [Turn(f"{n:08x}", said_at, speakers[n % 2], text) for n, text in enumerate(talk.turns(number, size))]
        yield Document("session", name, f"main/{name}", "main", "agent:main:main", "cli"), turns


def build(path: Path, made: list[tuple[Document, list[Turn]]]) -> None:
    index = SearchIndex.open(path)
    for first in range(0, len(made), 200):
        with index.transaction():
            for document, turns in made[first : first + 200]:
                index.append(document, turns)
    index.checkpoint()
    index.close()


def build_plain(path: Path, made: list[tuple[Document, list[Turn]]]) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (id UNINDEXED, body, tokenize='porter unicode61')")
    for document, turns in made:
        db.execute("INSERT INTO t VALUES (?, ?)", (document.id, "\n".join(turn.text for turn in turns)))
    db.commit()
    db.close()


def ask_plain(path: Path, questions: list[str]) -> tuple[list[float], list[float]]:
    db = sqlite3.connect(path)
    sql = "SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10"
    walls, cpus = [], []
    for question in questions:
        words = " OR ".join(f'"{word}"' for word in question.split())
        wall, cpu = timed(lambda words=words: db.execute(sql, (words,)).fetchall())  # type: ignore[misc]
        walls.append(wall)
        cpus.append(cpu)
    db.close()
    return walls, cpus


def parts(path: Path) -> tuple[int, int]:
    """Bytes of the index, and of the stored text."""
    db = sqlite3.connect(path)
    (text,) = db.execute("SELECT sum(length(data)) FROM blocks").fetchone()
    db.close()
    return path.stat().st_size - text, text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--mb", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), given.sessions, given.mb * 1_000_000)


def measure(root: Path, count: int, size: int) -> None:
    talk = Talk()
    made = list(documents(talk, count, size // count))
    text = sum(len(turn.text) for _, turns in made for turn in turns)
    store = SessionStore(StatePaths.of(root), clock=lambda: NOW, disk=Disk(sync=False))
    for number, (document, _) in enumerate(made):
        begun = format_time(at(number, count))
        store.start(document.id, agent_id="main", session_key="agent:main:main", channel="cli", start_time=begun)
    print(f"{count:,} sessions, {text / 1e6:.0f} MB of text, SQLite {sqlite3.sqlite_version}")
    path, plain = store.paths.search, root / "plain.sqlite"
    wall, cpu = timed(partial(build, path, made))
    plain_wall, plain_cpu = timed(partial(build_plain, plain, made))
    print(f"build: {wall:.0f} s ({cpu:.0f} s of CPU), {cpu / plain_cpu:.2f}x plain FTS5 ({plain_wall:.0f} s)")
    index_bytes, text_bytes = parts(path)
    print(
        f"size: index {index_bytes / text:.2f}x the text, stored text {text_bytes / text:.2f}x; "
        f"together {path.stat().st_size / plain.stat().st_size:.2f}x plain FTS5"
    )
    numbers = random.Random(1).sample(range(count), 200)
    questions = [
        talk.question(n, [turn.text for turn in made[number][1]], at(number, count)) for n, number in enumerate(numbers)
    ]
    wanted = [made[number][0].id for number in numbers]
    del made
    questions_answered(store, questions, wanted, plain)
    one_turn(path, wanted)
    let_go(path, wanted)
    print(f"memory of this process at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    cold(root, questions)


def questions_answered(store: SessionStore, questions: list[str], wanted: list[str], plain: Path) -> None:
    fresh = SessionStore(store.paths, clock=lambda: NOW)
    search_sessions(fresh, Search((questions[0],)), now=NOW, zone=UTC)
    walls, cpus, right = [], [], 0
    for question, name in zip(questions, wanted, strict=True):
        found: list[str] = []

        def ask(question: str = question, found: list[str] = found) -> None:
            answers = search_sessions(fresh, Search((question,)), now=NOW, zone=UTC).found
            found += [str(one.to_dict()["session_id"]) for one in answers]

        wall, cpu = timed(ask)
        walls.append(wall)
        cpus.append(cpu)
        right += found[:1] == [name]
    plain_walls, plain_cpus = ask_plain(plain, questions)
    print(
        f"question in process: {percentiles(walls)}; CPU {percentiles(cpus)}; first is right {right} of {len(wanted)}"
    )
    print(f"plain FTS5: {percentiles(plain_walls)}; CPU {percentiles(plain_cpus)}")


def one_turn(path: Path, wanted: list[str]) -> None:
    index = SearchIndex.open(path)
    walls, cpus = [], []
    for name in wanted:
        turn = Turn("f" * 8, format_time(NOW), "user", "one more thing about the quince harvest and the cellar door")
        document = Document("session", name, f"main/{name}", "main", "agent:main:main", "cli")
        wall, cpu = timed(lambda document=document, turn=turn: index.append(document, [turn]))  # type: ignore[misc]
        walls.append(wall)
        cpus.append(cpu)
    index.checkpoint()
    index.close()
    print(f"one new turn: {percentiles(walls)}; CPU {percentiles(cpus)}")


def let_go(path: Path, wanted: list[str]) -> None:
    index = SearchIndex.open(path)
    (number,) = [one.no for one in index.documents("id = ?", (wanted[0],))]
    gone, _ = timed(lambda: index.remove([number]))
    wall, cpu = timed(lambda: take_out(index, [wanted[0]]))
    index.close()
    print(f"forget: unfindable after {gone:.2f} s, bytes gone after {gone + wall:.1f} s ({cpu:.1f} s of CPU)")


def cold(root: Path, questions: list[str]) -> None:
    words = ["--state-dir", str(root), "recall", "--now", format_time(NOW)]
    command = [sys.executable, "-m", "jsonlstore", *words]
    costs = []
    for question in questions[:12]:
        began = time.perf_counter()
        process = subprocess.Popen([*command, question], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        costs.append((time.perf_counter() - began, used.ru_utime + used.ru_stime))
    # what wait4 tells of memory is this process's own, from before the command took its place
    told = subprocess.run(
        [sys.executable, "-c", PEAK, *words, questions[0]], capture_output=True, text=True, check=True
    ).stderr
    memory = int(told.split()[1]) / 1024
    walls, cpus = ([cost[n] for cost in costs] for n in (0, 1))
    print(f"command, cold: {percentiles(walls)}; CPU {percentiles(cpus)}; {memory:.0f} MB of memory")


if __name__ == "__main__":
    main()
