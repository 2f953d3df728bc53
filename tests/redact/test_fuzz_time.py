"""No family of composed text is slow: a minute of the fuzzer, in four parts that may run side by side.

The long one: `python -m tests.redact.fuzz_time --seconds 3600 --seed 1`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.redact.fuzz_time import Family, letters_of, long_text_seconds, mixed_lines, search, slow

if TYPE_CHECKING:
    from collections.abc import Callable

CPU_SECONDS = 15


@pytest.mark.parametrize("seed", range(4))
def test_no_family_of_fragments_is_slow(seed: int) -> None:
    """Processor time, in ratios to the same moment's long text; what looks slow counts only if it stays so."""
    tried, failed = search(random.Random(seed), CPU_SECONDS)
    assert tried > 10
    assert failed == []


def _pieces(parts: list[str]) -> Callable[[int], str]:
    rng = random.Random(5)
    return lambda n: "".join(rng.choices(parts, k=n * len(parts) // sum(map(len, parts))))


def _drawn(form: str, letters: int) -> Callable[[int], str]:
    rng = random.Random(5)
    return lambda n: "".join(form % letters_of(rng, letters) for _ in range(n // (len(form) + letters)))


_PROVIDERS = (
    r"  alchemy(?:api)?\.|infura\.io|quiknode\.|getblock\.io|ankr\.com|chainstack\.com|drpc\.org|blastapi\.io"
    r"|nodereal\.io|moralis\.io(?:getenv|environ\.get)\(authentication"
)
SLOW_ONCE = {
    "names that run together": _pieces(["password", "token", "kennwort", "passphrase", "geheim", "ab", "c", "d", "e"]),
    "two names and no joint": _pieces(["parola", "salasana", "api", "psswd", "x"]),
    "words that tell by themselves within an endless word": _pieces(["mnemonic", "sid", ".", "-", "token"]),
    "names before an endless tail": lambda n: ("pw" * 32 + "a" * 41 + "=") * (n // 106),
    "a long word behind a colon": _drawn("token: " + "AKIA" * 80 + "%s\n", 4),
    "one run of triggers": _drawn("pat%s", 20),
    "columns of secrets": lambda n: "pw|seed|pwd\n" + _drawn("%s|vk1a|b\n", 12)(n),
    "closing tags": lambda n: "</private>" * (n // 10),
    "one escape": lambda n: "\\u0070 " + "some words and a path /usr/lib/x token: " * (n // 40),
    "backslashes in a container": _drawn("kind: Secret\ndata: {" + "\\" * 15_000 + "%s\n", 4),
    "an endless word of names that tell by themselves": lambda n: "seedpscale_mnemonic" * (n // 38) + "' x" * (n // 6),
    "names at the head of a table": _drawn("pw" + ",a" * 1900 + ",%s\nx\n", 4),
    "a rule of a table, again and again": lambda n: "pw|x\n" + ("-" * 4000 + "x\n") * (n // 4002),
    "rows of another width": _drawn("(password) values " + "(a)," * 63 + "('%s', 'b')\n", 4),
    "a row of long literals": _drawn("(password, %s) values " + ("('" + "a" * 2000 + "'x)," * 4) + "\n", 4),
    "names of many parts": _drawn("%seyJhtpasswd", 4),
    "a run of capitals that is said twice": _drawn('password="ab' + "A" * 120 + '1-z9" %s\n', 4),
    "two long words": _drawn("토큰::=bk[a-z]{2}_%s", 3),
    "runs beside providers": lambda n: mixed_lines("<<EOF | sudo -S\n", _PROVIDERS, 10, 60, random.Random(1), n),
}


@pytest.mark.parametrize("name", SLOW_ONCE)
def test_what_was_slow_once_is_so_no_more(name: str) -> None:
    """Each of these took 50 to 10,000 times as long as the long text."""
    assert slow(Family(name, SLOW_ONCE[name]), long_text_seconds()) is None


def test_the_fuzzer_knows_a_slow_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that cannot fail shows nothing: time that grows with the square is told, and so is a high price."""
    prices = {"square": lambda n: (n / 1e6) ** 2, "dear": lambda n: n / 1e6, "cheap": lambda n: n / 1e8}
    for name, price in prices.items():
        monkeypatch.setattr("tests.redact.fuzz_time.seconds", lambda text, price=price: price(len(text)))
        monkeypatch.setattr("tests.redact.fuzz_time.long_text_seconds", lambda _tries=3: 0.01)
        found = slow(Family(name, lambda n: "x" * n), 0.01)
        assert (found or "").partition(" ")[0] == {"square": "ratio", "dear": "100x", "cheap": ""}[name]
