"""The corpus in real proportions has the proportions that were measured on real sessions."""

from __future__ import annotations

import json
from collections import Counter

from tests.benchmarks.corpus import real_records

# share of the bytes, measured; the generator is to be within a third of each
SHARES = {
    ("user", "text"): 0.045,
    ("assistant", "text"): 0.092,
    ("assistant", "thinking"): 0.073,
    ("assistant", "toolCall"): 0.184,
    ("toolResult", "text"): 0.289,
}
CALLS_TO_A_USER_MESSAGE = 4.0


def test_the_generator_has_the_measured_proportions() -> None:
    bytes_of: Counter[tuple[str, str]] = Counter()
    blocks: Counter[tuple[str, str]] = Counter()
    total = foreign = 0
    for seed in range(4):
        for line in real_records(700_000, seed):
            total += len(line)
            message = json.loads(line).get("message", {})
            for block in message.get("content", ()):
                kind = (message["role"], block["type"])
                text = block.get("text") or block.get("thinking") or json.dumps(block.get("arguments"))
                bytes_of[kind] += len(text.encode())
                blocks[kind] += 1
                if kind == ("assistant", "text"):
                    foreign += sum(len(sign.encode()) for sign in text if not sign.isascii())
    for kind, share in SHARES.items():
        assert share * 2 / 3 <= bytes_of[kind] / total <= share * 4 / 3, kind
    calls = blocks["assistant", "toolCall"] / blocks["user", "text"]
    assert CALLS_TO_A_USER_MESSAGE * 2 / 3 <= calls <= CALLS_TO_A_USER_MESSAGE * 4 / 3
    assert 0.1 <= foreign / bytes_of["assistant", "text"] <= 0.2
