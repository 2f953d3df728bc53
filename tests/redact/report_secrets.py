"""Precision and recall of the redactor on the labelled corpus: `python tests/redact/report_secrets.py [SEEDS]`."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.redact import redact
from jsonlstore.redact.rules import shapes

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load_maker() -> ModuleType:
    """The corpus maker, which is a script and no package."""
    spec = importlib.util.spec_from_file_location("make_secrets", ROOT / "fixtures" / "make_secrets.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_secrets"] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, slots=True)
class Score:
    """What became of one corpus."""

    secrets: int
    look_alikes: int
    leaked: list[str]
    touched: list[str]

    @property
    def recall(self) -> float:
        return 1 - len(self.leaked) / self.secrets

    @property
    def false_positives(self) -> float:
        return len(self.touched) / self.look_alikes

    @property
    def precision(self) -> float:
        hidden = self.secrets - len(self.leaked)
        return hidden / (hidden + len(self.touched))


def score(seed: int) -> Score:
    """Redact the corpus of one seed and count."""
    cases = load_maker().corpus(seed, [shape.example for shape in shapes()])
    leaked = [case.text for case in cases if case.secret and case.secret in redact(case.text)[0]]
    touched = [case.text for case in cases if case.secret is None and redact(case.text)[0] != case.text]
    count = sum(case.secret is not None for case in cases)
    return Score(count, len(cases) - count, leaked, touched)


def main(seeds: int) -> int:
    worst = 0
    for seed in range(seeds):
        result = score(seed)
        print(
            f"seed {seed}: {result.secrets} secrets, recall {result.recall:.4f}; {result.look_alikes} look-alikes, "
            f"false positives {result.false_positives:.2%}; precision {result.precision:.4f}"
        )
        for text in result.leaked:
            print(f"  leaked:  {text!r}")
        for text in result.touched:
            print(f"  touched: {text!r} -> {redact(text)[0]!r}")
        worst = max(worst, bool(result.leaked) or result.false_positives > 0.02)
    return worst


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 3))
