"""Search for text that makes the redactor slow: fragments composed into families, each timed at n and 2n.

    python -m tests.redact.fuzz_time --seconds 60 --seed 1        (CI runs a short form: test_fuzz_time.py)
    python -m tests.redact.fuzz_time --seconds 3600 --seed 1      before a release

A family fails if doubling it takes more than 2.3 times as long, twice in a row, or if a megabyte of it takes more than 40 times as long
as a megabyte of the long-text benchmark in the same run. Time is processor time, and what looks slow is timed again and again
beside the long text: other processes make a run slow, never fast, so the least that was measured counts.
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
from tests.redact.report_secrets import load_maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORST_RATIO = 2.3
WORST_TIMES = 40.0
MEGABYTE = 1_000_000
_LEAST_SECONDS = 0.02  # below this a ratio is noise
_FILLED = 1000  # examples of a text, each another one
_NEAR = 0.9  # of a limit, from where on a family is measured again
make = load_maker()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_LETTER_OF = bytes(ord(LETTERS[byte % len(LETTERS)]) for byte in range(256))

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
    """Families without end: what they repeat, nest, mix or draw anew, in lines, pages or one endless line."""
    words = [name.word for name in names() if name.word.isalpha()]
    examples = [shape.example for shape in shapes()]
    pool = [*FRAGMENTS, *words, *(s.trigger for s in shapes() if s.trigger.isascii())]
    kinds = (
        _repeated,
        _repeated,
        _headed,
        _nested,
        _mixed,
        _freshly,
        _named_only,
        _valued,
        _tabled,
        _filled,
        _documents,
    )
    while True:
        yield rng.choice(kinds)(rng, pool, words, examples)


def _unit(rng: random.Random, pool: list[str], most: int = 5) -> str:
    return "".join(rng.choices(pool, k=rng.randint(1, most)))


def _repeated(rng: random.Random, pool: list[str], *_: list[str]) -> Family:
    unit = _unit(rng, pool)
    return Family(f"repeat {unit!r}", lambda n: _repeat(unit, n))


def _headed(rng: random.Random, pool: list[str], *_: list[str]) -> Family:
    unit, head = _unit(rng, pool), _unit(rng, pool, 3)
    return Family(f"head {head!r} then {unit!r}", lambda n: head + _repeat(unit, n))


def _nested(rng: random.Random, pool: list[str], *_: list[str]) -> Family:
    unit, head = _unit(rng, pool), _unit(rng, pool, 3)
    return Family(f"nest {head!r} in {unit!r}", lambda n: _repeat(head, n // 2) + _repeat(unit, n // 2))


def _mixed(rng: random.Random, pool: list[str], *_: list[str]) -> Family:
    some, seed = rng.choices(pool, k=rng.randint(2, 12)), rng.randrange(1 << 30)
    return Family(f"mix {some!r}, seed {seed}", lambda n: _mix(some, seed, n))


def _freshly(rng: random.Random, pool: list[str], *_: list[str]) -> Family:
    """Values never seen twice; one may go on as the next name."""
    head, tail = _unit(rng, pool, 3), _unit(rng, pool) if rng.randrange(3) else ""
    size, seed = rng.choice((3, 9, 20, 44, 90, 200, 700, 1500)), rng.randrange(1 << 30)
    drawn = random.Random(seed)
    name = f"{size} fresh letters between {head!r} and {tail!r}, seed {seed}"
    return Family(name, lambda n: _fresh(head, tail, size, drawn, n))


def _named_only(rng: random.Random, pool: list[str], words: list[str], *_: list[str]) -> Family:
    """Names that run together, and little else: each may begin what another one ends."""
    some = [
        *rng.choices(words, k=rng.randint(2, 12)),
        *rng.choices(("a", "_", "-", ".", " ", "x1", "Ab"), k=rng.randint(0, 4)),
    ]
    seed = rng.randrange(1 << 30)
    return Family(f"mix {some!r}, seed {seed}", lambda n: _mix(some, seed, n))


def _valued(rng: random.Random, pool: list[str], words: list[str], *_: list[str]) -> Family:
    """A name and a value that is hard to judge: some letters drawn anew, then one fragment again and again."""
    name, (joint, end) = rng.choice([*words, "Authorization", "x-auth", "--token", "cookie"]), rng.choice(JOINTS)
    unit, times, size, seed = (
        _unit(rng, pool),
        rng.choice((3, 10, 40)),
        rng.choice((0, 0, 12, 40)),
        rng.randrange(1 << 30),
    )
    drawn = random.Random(seed)
    said = f"{name}{joint}{size} fresh letters and {times} times {unit!r}{end!r}, seed {seed}"
    return Family(said, lambda n: _fresh(name + joint, (unit * times)[:400] + end, size, drawn, n))


def _tabled(rng: random.Random, pool: list[str], words: list[str], *_: list[str]) -> Family:
    """A table of few or many columns, its cells drawn anew."""
    delimiter, columns = rng.choice((",", "|", "\t", ";", " | ")), rng.choice((2, 3, 9, 60, 400))
    head = delimiter.join(rng.choices([*words, "user", "id", "a"], k=columns)) + "\n"
    cell, size, seed = rng.choice(pool).replace("\n", ""), rng.choice((0, 3, 12)), rng.randrange(1 << 30)
    drawn = random.Random(seed)

    def rows(n: int) -> str:
        cells = _fresh(cell, delimiter, size, drawn, n).split(delimiter)
        return head + "\n".join(delimiter.join(cells[at : at + columns]) for at in range(0, len(cells), columns))

    return Family(f"{columns} columns of {cell!r} and {size} fresh letters under {head[:80]!r}, seed {seed}", rows)


def _filled(rng: random.Random, pool: list[str], words: list[str], examples: list[str]) -> Family:
    """What the shapes' own examples look like, filled in anew each time, with a fragment behind each."""
    some, unit, seed = rng.choices(examples, k=rng.randint(1, 3)), _unit(rng, pool, 2), rng.randrange(1 << 30)
    drawn = random.Random(seed)

    def texts(n: int) -> str:
        filled = [make.slots(drawn.choice(some), drawn)[0] + unit for _ in range(_FILLED)]
        return _mix(filled, drawn.randrange(1 << 30), n)

    return Family(f"examples {some!r} with {unit!r}, seed {seed}", texts)


def _documents(rng: random.Random, pool: list[str], words: list[str], *_: list[str]) -> Family:
    """Containers: Kubernetes secrets, maps, heredocs, here and there a name, lines as deep as you like."""
    head = rng.choice(DOCUMENTS)
    unit, depth, size, seed = (
        _unit(rng, [*pool, *words], 3),
        rng.choice((0, 2, 4, 40)),
        rng.choice((0, 9, 60)),
        rng.randrange(1 << 30),
    )
    drawn = random.Random(seed)
    lines = rng.choice((1, 10, 300))
    line = " " * depth + unit
    return Family(
        f"{lines} lines {line!r} with {size} fresh letters below {head!r}, seed {seed}",
        lambda n: mixed_lines(head, line, lines, size, drawn, n),
    )


JOINTS = (
    ("=", "\n"), ('="', '"\n'), (": ", "\n"), (": '", "'\n"), (" is ", "\n"), ("=", " "), ('": "', '",\n'), ('\\": \\"', '\\",\\n'),
    (": Bearer ", "\n"), (" ", "\n"), (">", "</password>"), ("\n", "\n"), ("(", ")"), (", '", "'"), (" = [", "]\n"), (" => ", "\n"), (":\n  ", "\n"),
)  # fmt: skip
DOCUMENTS = (
    "---\nkind: Secret\ndata:\n", "kind: Secret\nstringData:\n", "---\ndata:\n", "\nsecrets:\n", '{"kind": "Secret", "data": {', "\nsecrets: {",
    "docker login --password-stdin <<EOF\n", "INSERT INTO users (name, password) VALUES ", "<<EOF | sudo -S\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    "password: |\n", "secrets:\n  - ", "machine a login b password ", "[default]\n", "| user | password |\n|---|---|\n", "values\n",
)  # fmt: skip


def mixed_lines(head: str, line: str, lines: int, letters: int, rng: random.Random, n: int) -> str:
    out: list[str] = []
    size = 0
    while size < n:
        out.append(head)
        out += [f"{line}{letters_of(rng, letters)}\n" for _ in range(lines)]
        size += len(head.encode()) + lines * (len(line.encode()) + letters + 1)
    return "".join(out)


def _repeat(part: str, n: int) -> str:
    """About `n` bytes of a part, whatever its letters take."""
    times, rest = divmod(n, len(part.encode()))
    return part * times + part.encode()[:rest].decode("utf-8", "ignore")


def _mix(some: list[str], seed: int, n: int) -> str:
    size = sum(len(part.encode()) for part in some)
    return "".join(random.Random(seed).choices(some, k=n * len(some) // size + 1))


def letters_of(rng: random.Random, count: int) -> str:
    """Letters and digits drawn anew; to choose each by itself takes longer than to redact them."""
    return rng.randbytes(count).translate(_LETTER_OF).decode()


def _fresh(head: str, tail: str, letters: int, rng: random.Random, n: int) -> str:
    """What is remembered of a value helps nowhere: each is another one, in the next text too.

    Else a short text read twice is read from memory, and one twice as long seems to take more than twice the time.
    """
    count = n // (letters + len(head.encode()) + len(tail.encode())) + 1
    drawn = letters_of(rng, letters * count)
    return "".join(head + drawn[at * letters : at * letters + letters] + tail for at in range(count))


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
    measured again, each time right after the long text, until it is cleared or has been slow every time.
    """
    at_2n = seconds(family.make(MEGABYTE // 2))
    limit = base * WORST_TIMES * _NEAR  # a budget that grows less than the text does makes the megabyte cheaper
    cheap = 2 * at_2n <= limit or seconds(family.make(MEGABYTE)) <= limit
    if at_2n <= _LEAST_SECONDS or (cheap and at_2n <= WORST_RATIO * _NEAR * seconds(family.make(MEGABYTE // 4))):
        return None
    ratio = _least(lambda: _ratio(family), WORST_RATIO, tries)
    if ratio > WORST_RATIO:
        return f"ratio {ratio:.1f}"
    times = _least(lambda: _times(family), WORST_TIMES, tries)
    return f"{times:.0f}x the long text" if times > WORST_TIMES else None


def _least(measured: Callable[[], float], enough: float, tries: int) -> float:
    """The least of some measurements; the first that is small enough is the last."""
    least = measured()
    for _ in range(tries - 1):
        if least <= enough:
            break
        least = min(least, measured())
    return least


def _ratio(family: Family) -> float:
    """What doubling costs: time that grows faster than the text does so at every doubling.

    A single step upwards is another text: a key block that swallows the rest of a mixture at one size and not at the next.
    """
    sizes = (MEGABYTE // 4, MEGABYTE // 2, MEGABYTE)
    at_n, at_2n, at_4n = (max(1e-6, min(seconds(family.make(size)) for _ in range(2))) for size in sizes)
    return min(at_2n / at_n, at_4n / at_2n)


def _times(family: Family) -> float:
    base = long_text_seconds()
    return min(seconds(family.make(MEGABYTE)) for _ in range(2)) / base


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
