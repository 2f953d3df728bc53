"""Search for text that makes the redactor slow: fragments composed into families, each timed at n and 2n.

    python -m tests.redact.fuzz_time --seconds 60 --seed 1        (CI runs a short form: test_fuzz_time.py)
    python -m tests.redact.fuzz_time --seconds 3600 --seed 1      before a release

A family fails if doubling it takes more than 2.3 times as long, or if a megabyte of it takes more than 40 times as long
as a megabyte of the long-text benchmark in the same run. What looks slow is timed again before it counts: other
processes make a run slow, never fast.
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
    make: Callable[[int], str]


def families(rng: random.Random) -> Iterator[Family]:
    """Families without end: a unit repeated, one head and a unit, brackets, and a mixture."""
    pool = [
        *FRAGMENTS,
        *(name.word for name in names() if name.word.isalpha()),
        *(s.trigger for s in shapes() if s.trigger.isascii()),
    ]
    while True:
        unit = "".join(rng.choices(pool, k=rng.randint(1, 5)))
        head = "".join(rng.choices(pool, k=rng.randint(1, 3)))
        kind = rng.randrange(5)
        if kind < 2:
            yield Family(f"repeat {unit!r}", lambda n, unit=unit: (unit * (n // len(unit) + 1))[:n])
        elif kind == 2:
            yield Family(
                f"head {head!r} then {unit!r}", lambda n, unit=unit, head=head: head + (unit * (n // len(unit) + 1))[:n]
            )
        elif kind == 3:
            yield Family(f"nest {head!r} in {unit!r}", lambda n, h=head, u=unit: _half(h, n) + _half(u, n))
        else:
            some = rng.choices(pool, k=rng.randint(2, 12))
            seed = rng.randrange(1 << 30)
            yield Family(f"mix {some!r}", lambda n, some=some, seed=seed: _mix(some, seed, n))


def _half(part: str, n: int) -> str:
    return (part * (n // 2 // len(part) + 1))[: n // 2]


def _mix(some: list[str], seed: int, n: int) -> str:
    rng = random.Random(seed)
    out: list[str] = []
    size = 0
    while size < n:
        part = rng.choice(some)
        out.append(part)
        size += len(part)
    return "".join(out)[:n]


def seconds(text: str) -> float:
    """Processor time of one pass."""
    start = time.process_time()
    redact(text)
    return time.process_time() - start


def long_text_seconds() -> float:
    """A megabyte of the long-text benchmark as one message each, as today's machine does it."""
    texts = transcript(MEGABYTE)
    for text in texts[:200]:
        redact(text)
    return min(sum(seconds(text) for text in texts) for _ in range(3))


def slow(family: Family, base: float, tries: int = 4) -> str | None:
    """Why a family is too slow, or None; each doubt is looked at again."""
    reason = None
    for _ in range(tries):
        at_n, at_2n = seconds(family.make(MEGABYTE // 4)), seconds(family.make(MEGABYTE // 2))
        ratio = at_2n / at_n if at_2n > _LEAST_SECONDS else 0.0
        times = 2 * at_2n / base
        if times > WORST_TIMES / 2:
            times = seconds(family.make(MEGABYTE)) / base
        reason = (
            f"ratio {ratio:.1f}"
            if ratio > WORST_RATIO
            else f"{times:.0f}x the long text"
            if times > WORST_TIMES
            else None
        )
        if reason is None:
            return None
    return reason


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    base = long_text_seconds()
    print(f"seed {given.seed}; a megabyte of long text takes {base * 1e3:.1f} ms", flush=True)
    end, tried, failed = time.monotonic() + given.seconds, 0, 0
    for family in families(random.Random(given.seed)):
        if time.monotonic() > end:
            break
        tried += 1
        if tried % 500 == 0:
            base = min(base, long_text_seconds())
        reason = slow(family, base)
        if reason:
            failed += 1
            print(f"SLOW {reason}: {family.name}", flush=True)
    print(f"{tried} families, {failed} too slow", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
