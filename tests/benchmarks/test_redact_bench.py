"""How fast text passes the redactor, beside a bare JSON loop and Python's `re` in the same run.

pytest tests/benchmarks/test_redact_bench.py --benchmark-only      the timings
python -m tests.benchmarks.test_redact_bench                       MB/s and ratios, best of five
"""

from __future__ import annotations

import random
import re
import time
import uuid
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from jsonlstore.redact.text import redact

if TYPE_CHECKING:
    from collections.abc import Callable

PROSE = (
    "the radio script reads meter levels over serial and writes them to a log file every second we should check if "
    "frequency drifts when temperature changes because the last run showed values that looked wrong after an hour of "
    "uptime please open the pull request and ask for review before merging into main thanks"
)
WORDS = PROSE.split()
LINES = (
    '  File "/home/bob/Projects/lbf-ham-radio/src/cat.py", line {n}, in read_meter',
    "drwxr-xr-x  4 bob bob 4096 Nov 16 00:{n} components",
    "{n}:    const total = usage.input + usage.output; // tokens so far",
    "INFO 2026-11-16T00:{n}:00Z worker finished batch {n} in 12.4s",
    "    def read_meter(self, port: str, timeout: float = 1.0) -> Reading:",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    '      "resolved": "https://registry.example.org/pkg/-/pkg-{n}.0.0.tgz",',
    "modified:   src/components/SettingsPanel/index.test.tsx",
)


def transcript(size: int, seed: int = 1) -> list[str]:
    """Messages and tool output of about `size` bytes in all; one in fifty holds a secret."""
    rng = random.Random(seed)
    texts: list[str] = []
    total = 0
    while total < size:
        if rng.random() < 0.4:
            text = " ".join(rng.choices(WORDS, k=rng.randint(10, 200)))
        else:
            lines = rng.choices(LINES, k=rng.randint(5, 80))
            text = "\n".join(line.replace("{n}", str(rng.randint(1, 900))) for line in lines)
        if rng.random() < 0.02:
            text += f"\nexport DB_PASSWORD=pw{rng.randint(1000, 9999)}x"
        texts.append(text)
        total += len(text)
    return texts


SAID = (
    "the build is green again after {n} retries",
    "which port does the radio use, {n}?",
    "ls -la src/{n} && git status --short",
    "wrote 42 lines to /home/bob/Projects/lbf-ham-radio/notes/{n}.md",
    "error: cannot find module './settings-{n}', required by index.test.tsx",
    '{{"status": "completed", "exitCode": 0, "durationMs": {n}}}',
)
TELLING = (
    "ok, the token budget is {n} now and the password policy stays",
    "the session key is agent:main:{n} and the login works for bob",
    "Authorization: Bearer ${{TOKEN}} is what step {n} sends",
    "I read the config; api_key=sk-{key} was in it",
    "export GITHUB_TOKEN={key} && make deploy-{n}",
    "psql postgres://app:{key}@db:5432/app -c 'select {n}'",
)


def exchange(size: int, seed: int = 1, dense: float = 0.1) -> list[str]:
    """Records and strings as short as a live session's; `dense` of them talk of secrets, and half of those hold one.

    In sessions recorded for the project one string in twenty had a telling word and one in seventy a secret.
    """
    rng = random.Random(seed)
    texts: list[str] = []
    total = 0
    while total < size:
        said = rng.choice(TELLING if rng.random() < dense else SAID).format(
            n=rng.randint(1, 900), key="".join(rng.choices("abcdefGHJKLM23456789", k=32))
        )
        record = {
            "type": "message",
            "id": f"{rng.getrandbits(32):08x}",
            "parentId": f"{rng.getrandbits(32):08x}",
            "sessionKey": f"agent:main:{uuid.UUID(int=rng.getrandbits(128))}",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": said}],
                "usage": {"input": rng.randint(1, 9000), "output": 12, "totalTokens": rng.randint(1, 9999)},
            },
        }
        prose = " ".join(rng.choices(WORDS, k=rng.randint(5, 60)))
        for text in (orjson.dumps(record).decode(), said, prose):
            texts.append(text)
            total += len(text)
    return texts


def python_re(texts: list[str]) -> int:
    """The plain way: one alternation, Python's engine."""
    words = "password|passwd|secret|token|api[_-]?key|bearer|authorization|ghp_|sk-|xox[abp]-|AKIA|eyJ|glpat-"
    pattern = re.compile(words, re.IGNORECASE)
    return sum(len(pattern.findall(text)) for text in texts)


def json_loop(texts: list[str]) -> int:
    """The floor: write and read every text as JSON."""
    return sum(len(orjson.loads(orjson.dumps(text))) for text in texts)


def redactor(texts: list[str]) -> int:
    return sum(len(redact(text)[1]) for text in texts)


WAYS: dict[str, Callable[[list[str]], int]] = {"json loop": json_loop, "redact": redactor, "python re": python_re}


def talk_of_secrets(size: int) -> list[str]:
    """The worst there is: every record about secrets, half of them holding one."""
    return exchange(size, dense=1.0)


CORPORA: dict[str, Callable[[int], list[str]]] = {
    "long texts": transcript,
    "short lines": exchange,
    "short lines, all about secrets": talk_of_secrets,
}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("way", WAYS)
def test_pass_four_megabytes(way: str, corpus: str, benchmark: Any) -> None:
    texts = CORPORA[corpus](4_000_000)
    benchmark.extra_info["bytes"] = sum(map(len, texts))
    benchmark(WAYS[way], texts)


def main() -> None:
    for corpus, make in CORPORA.items():
        texts = make(4_000_000)
        size = sum(len(text.encode()) for text in texts)
        print(f"{corpus}: {len(texts)} texts of {size / len(texts):.0f} bytes")
        speeds = {}
        for name, way in WAYS.items():
            sample = texts if name != "python re" else texts[: len(texts) // 8]
            share = sum(map(len, sample)) / size
            best = min(_seconds(way, sample) for _ in range(5 if name != "python re" else 2))
            speeds[name] = size * share / best / 1e6
            print(f"  {name:10} {speeds[name]:8.1f} MB/s, {best / len(sample) * 1e6:.1f} us a text")
        print(f"  redact / json loop {speeds['redact'] / speeds['json loop']:.2f}")
        print(f"  redact / python re {speeds['redact'] / speeds['python re']:.1f}")


def _seconds(way: Callable[[list[str]], int], texts: list[str]) -> float:
    start = time.process_time()
    way(texts)
    return time.process_time() - start


if __name__ == "__main__":
    main()
