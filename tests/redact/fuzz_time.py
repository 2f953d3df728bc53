"""Search for text that makes the redactor slow: fragments composed into families, each timed at n and 2n.

    python -m tests.redact.fuzz_time --seconds 60 --seed 1        (CI runs a short form: test_fuzz_time.py)
    python -m tests.redact.fuzz_time --seconds 3600 --seed 1      before a release

A family fails if doubling it takes more than 2.3 times as long, twice in a row, or if a megabyte of it takes more than 40 times as long
as a megabyte of the long-text benchmark in the same run. Time is processor time, and what looks slow is timed again
beside the long text before it counts: other processes make a run slow, never fast.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jsonlstore.redact import redact
from jsonlstore.redact.rules import names, shapes
from tests.benchmarks.test_redact_bench import transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORST_RATIO = 2.3
WORST_TIMES = 40.0
MEGABYTE = 1_000_000
_LEAST_SECONDS = 0.02  # below this a ratio is noise
_NEAR = 0.9  # of a limit, from where on a family is measured again
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

FRAGMENTS = (
    "password", "token", "x-auth", "Authorization: Bearer ", "api_key", "cookie", "secretKey", "passwd", "密码", "PIN ", "login: a / ",
    "=", ":", " = ", ": ", " is ", ":=", "=>", "::=", "==", " -> ", ",", ";", "|", "\t", " ", "  ", "\n", "\r\n", "\\n", "\\", "\\\\",
    '"', "'", "`", '\\"', '"+"', '" + "', "' '", '""', "“", "%22", "&quot;", "(", ")", "[", "]", "{", "}", "<", ">", "</", "/", "//", "://",
    "@", "#", "*", "**", "-", "--", "---", "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n", "<private>", "</private>",
    "<password>", "</password>", "eyJ", "ghp_", "sk-", "AKIA", "kind: Secret\n", "data:\n", "  a: b\n", "secrets:\n", "user,password\n",
    "| user | password |\n", "a,b\n", "| a | b |\n", "QUJD", "cGFzc3dvcmQ9aHVudGVyMng=", "a1z2", "Zk19dd", "hunter2x", "aaaa", "A", "0", "é", "\u200b",
    "\x1b[31m", "ｐ", "\\u0070", "https://u:p@h/", "?token=", "&", "curl -u a:", "mysql -p", "echo ", " | sudo -S ", "${X}", "...", "machine h login u password ",
    "the password for a b c", "abandon ", "AAAA BBBB ", "0x", "xoxb-", "\x00", "value", "[REDACTED]", "[UNREAD]",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Family:
    """A way to make text of any size."""

    name: str
    make: Callable[[int], str]  # of about so many bytes


def families(rng: random.Random) -> Iterator[Family]:
    """Families without end: a unit repeated, one head and a unit, two halves, a mixture, and values never seen twice."""
    pool = [
        *FRAGMENTS,
        *(name.word for name in names() if name.word.isalpha()),
        *(s.trigger for s in shapes() if s.trigger.isascii()),
    ]
    while True:
        unit = "".join(rng.choices(pool, k=rng.randint(1, 5)))
        head = "".join(rng.choices(pool, k=rng.randint(1, 3)))
        kind = rng.randrange(6)
        if kind < 2:
            yield Family(f"repeat {unit!r}", lambda n, unit=unit: _repeat(unit, n))
        elif kind == 2:
            yield Family(f"head {head!r} then {unit!r}", lambda n, unit=unit, head=head: head + _repeat(unit, n))
        elif kind == 3:
            yield Family(
                f"nest {head!r} in {unit!r}", lambda n, h=head, u=unit: _repeat(h, n // 2) + _repeat(u, n // 2)
            )
        elif kind == 4:
            some = rng.choices(pool, k=rng.randint(2, 12))
            seed = rng.randrange(1 << 30)
            yield Family(f"mix {some!r}", lambda n, some=some, seed=seed: _mix(some, seed, n))
        else:
            size, seed = rng.choice((3, 9, 20, 44, 90, 200, 700, 1500)), rng.randrange(1 << 30)
            unit = unit if rng.randrange(3) else ""  # the value may go on as the next name
            drawn = random.Random(seed)
            yield Family(
                f"{size} fresh letters between {head!r} and {unit!r}, seed {seed}",
                lambda n, h=head, u=unit, size=size, drawn=drawn: _fresh(h, u, size, drawn, n),
            )


def _repeat(part: str, n: int) -> str:
    """About `n` bytes of a part, whatever its letters take."""
    times, rest = divmod(n, len(part.encode()))
    return part * times + part.encode()[:rest].decode("utf-8", "ignore")


def _mix(some: list[str], seed: int, n: int) -> str:
    rng = random.Random(seed)
    out: list[str] = []
    size = 0
    while size < n:
        part = rng.choice(some)
        out.append(part)
        size += len(part.encode())
    return "".join(out)


def _fresh(head: str, tail: str, letters: int, rng: random.Random, n: int) -> str:
    """What is remembered of a value helps nowhere: each is another one, in the next text too.

    Else a short text read twice is read from memory, and one twice as long seems to take more than twice the time.
    """
    count = n // (letters + len(head.encode()) + len(tail.encode())) + 1
    drawn = "".join(rng.choices(_LETTERS, k=letters * count))
    return "".join(head + drawn[at : at + letters] + tail for at in range(0, len(drawn), letters))


def seconds(text: str) -> float:
    """Processor time of one pass."""
    start = time.process_time()
    redact(text)
    return time.process_time() - start


_LONG_TEXTS: list[str] = []


def long_text_seconds(tries: int = 3) -> float:
    """A megabyte of the long-text benchmark as one message each, as this machine does it at this moment."""
    if not _LONG_TEXTS:
        _LONG_TEXTS.extend(transcript(MEGABYTE))
    return min(sum(map(seconds, _LONG_TEXTS)) for _ in range(tries))


def slow(family: Family, base: float, tries: int = 7) -> str | None:
    """Why a family is too slow, or None.

    One look is enough to clear a family, because other processes make a run slow and never fast. What looks slow is
    measured again, each time right after the long text, and what most of those measurements say counts.
    """
    at_2n = seconds(family.make(MEGABYTE // 2))
    cheap = 2 * at_2n <= base * WORST_TIMES * _NEAR
    if at_2n <= _LEAST_SECONDS or (cheap and at_2n <= WORST_RATIO * _NEAR * seconds(family.make(MEGABYTE // 4))):
        return None
    ratio = _middle([_ratio(family) for _ in range(tries)])
    if ratio > WORST_RATIO:
        return f"ratio {ratio:.1f}"
    times = _middle([_times(family) for _ in range(tries)])
    return f"{times:.0f}x the long text" if times > WORST_TIMES else None


def _ratio(family: Family) -> float:
    """What doubling costs: time that grows faster than the text does so at every doubling.

    A single step upwards is another text: a key block that swallows the rest of a mixture at one size and not at the next.
    """
    sizes = (MEGABYTE // 4, MEGABYTE // 2, MEGABYTE)
    at_n, at_2n, at_4n = (max(1e-6, min(seconds(family.make(size)) for _ in range(2))) for size in sizes)
    return min(at_2n / at_n, at_4n / at_2n)


def _times(family: Family) -> float:
    base = long_text_seconds(2)
    return min(seconds(family.make(MEGABYTE)) for _ in range(2)) / base


def _middle(measured: list[float]) -> float:
    return sorted(measured)[len(measured) // 2]


def search(rng: random.Random, cpu_seconds: float, said: Callable[[str], object] = str) -> tuple[int, list[str]]:
    """Try families for so much processor time; how many there were, and those too slow."""
    base = long_text_seconds()
    end, tried, failed = time.process_time() + cpu_seconds, 0, []
    for family in families(rng):
        if time.process_time() > end:
            break
        tried += 1
        reason = slow(family, base)
        if reason:
            failed.append(f"{reason}: {family.name}")
            said(f"SLOW {failed[-1]}")
    return tried, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="processor time")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"seed {given.seed}; a megabyte of long text takes {long_text_seconds() * 1e3:.1f} ms", flush=True)
    tried, failed = search(random.Random(given.seed), given.seconds, lambda line: print(line, flush=True))
    print(f"{tried} families, {len(failed)} too slow", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
