"""Find the weights of `jsonlstore/redact/data/likelihood.tsv`.

    python tools/likelihood.py record DIRECTORY… > cases.jsonl
    python tools/likelihood.py learn cases.jsonl --wrong wrong.txt --least -2

`record` reads every text below the directories and writes one line for each value that the rules judged: its place, and
whether they would hide it. Judge by eye those that they would (`"hidden": true`) and list the numbers of the lines that are no
secret. Names and values drawn by `tests.redact.matrix` are secrets without being asked.

`learn` finds weights by logistic regression and prints the file. What the rules left counts little as no secret: they are
right nearly always, and what they have in common is what the weights are to say of values that no rule knows.
Nothing of the texts gets into the file but traits and numbers. The weights that are shipped come from about 500 values judged by
one person; among their secrets were test cases of other scanners, too. Needs numpy.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from jsonlstore.redact import assignments, judging, redact
from jsonlstore.redact.budget import Steps
from jsonlstore.redact.judging import Link
from jsonlstore.redact.likelihood import Weighed, is_sure, is_weighed, traits
from jsonlstore.redact.names import Key
from tests.redact import matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonlstore.redact.values import Value

Case = dict[str, Any]
LARGEST, BEFORE, BEHIND = 1 << 20, 700, 400
OFTEN = 10  # cases a trait must have to get a weight
LEAST_WEIGHT = 0.05
WEIGHT = {"left": 0.25, "drawn": 0.5, "right": 3.0, "wrong": 3.0}
MOST_A_PACKAGE = 8  # cases judged by eye that count in full


class Recorder:
    """Listens to the rules while they judge."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        judge = judging.judge

        def listening(data: bytes, value: Value, link: Link) -> tuple[int, int] | None:
            span = judge(data, value, link)
            self._note("assigned", data, span or (value.start, value.end), link, hidden=span is not None)
            return span

        judging.judge = listening
        for how in ("said", "adjacent", "option", "element", "returned"):
            setattr(assignments, how, self._listening(how, getattr(assignments, how)))

    def _listening(self, how: str, rule: Callable[..., list[tuple[int, int]]]) -> Callable[..., list[tuple[int, int]]]:
        def listening(data: bytes, link: Link, *more: int) -> list[tuple[int, int]]:
            spans = rule(data, link, *more)
            for span in spans:
                self._note(how, data, span, link, hidden=True)
            return spans

        return listening

    def _note(self, how: str, data: bytes, span: tuple[int, int], link: Link, *, hidden: bool) -> None:
        if link.level >= Key.HINT and is_weighed(data, span, link):
            low = max(0, link.name_at - BEFORE)
            places = (*span, link.name_at, link.name_end, link.op_at, link.op_end)
            text = data[low : span[1] + BEHIND].decode("latin-1")
            self.cases.append({"how": how, "level": int(link.level), "hidden": hidden, "text": text, "at": [place - low for place in places]})  # fmt: skip

    def read(self, text: str) -> list[Case]:
        self.cases = []
        redact(text)
        return self.cases


def record(directories: list[Path]) -> None:
    recorder, seen = Recorder(), set()
    for package in (path for directory in directories for path in sorted(directory.iterdir())):
        for path in sorted(package.rglob("*")):
            if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
                continue
            for case in recorder.read(path.read_bytes().decode("utf-8", "ignore")):
                start, end, name_at, name_end = case["at"][:4]
                key = package.name, case["text"][name_at:name_end], case["text"][start:end]
                if key not in seen:
                    seen.add(key)
                    print(json.dumps({"package": package.name, **case}))


def drawn(count: int) -> Iterator[Case]:
    """Secrets of the matrix, words that people choose among them."""
    recorder, rng = Recorder(), random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    matrix.VALUES["word"] = lambda rng: "".join(rng.choices(letters, k=rng.randint(5, 12)))
    matrix.VALUES["words"] = lambda rng: (
        f"{matrix.VALUES['word'](rng)}{rng.choice('-_.')}{matrix.VALUES['word'](rng)}{rng.randint(0, 99)}"
    )
    forms = list(matrix.FORMATS)
    for number in range(count):
        one = matrix.draw(rng) if number % 2 else matrix.draw_format(forms[number // 2 % len(forms)], rng)
        for case in recorder.read(one.text):
            value = case["text"][case["at"][0] : case["at"][1]]
            if case["hidden"] and (value in one.secret or one.secret in value):
                yield {"package": f"drawn {number}", **case}


def place_of(case: Case) -> Weighed:
    start, end, name_at, name_end, op_at, op_end = case["at"]
    link = Link(Key(case["level"]), name_at, name_end, op_at, op_end, Steps(1 << 30))
    return Weighed(case["text"].encode("latin-1"), (start, end), link, case["how"])


def learn(cases: list[tuple[str, Case]], least: float) -> None:
    """Print the weights; on stderr, how many cases of each kind would be left by weights learnt from other packages."""
    import numpy as np

    found = [frozenset(traits(place_of(case))) for _, case in cases]
    sure = np.array([is_sure(place_of(case)) for _, case in cases])
    kinds = np.array([kind for kind, _ in cases])
    often = collections.Counter(trait for traits_ in found for trait in traits_)
    names = sorted(trait for trait, count in often.items() if count >= OFTEN)
    column = {trait: number for number, trait in enumerate(names)}
    matrix_ = np.zeros((len(cases), len(names)), np.float32)
    for row, some in enumerate(found):
        matrix_[row, [column[trait] for trait in some if trait in column]] = 1
    shares = collections.Counter((case["package"], kind) for kind, case in cases)
    weigh = np.array([WEIGHT[kind] * (min(1.0, MOST_A_PACKAGE / shares[case["package"], kind]) if kind in ("right", "wrong") else 1.0) for kind, case in cases])  # fmt: skip
    secret = np.isin(kinds, ("right", "drawn")).astype(float)

    def fit(rows: Any) -> tuple[Any, float]:
        x, y, w = matrix_[rows], secret[rows], weigh[rows]
        weights, bias = np.zeros(len(names)), 0.0
        first, second, first_b, second_b = np.zeros(len(names)), np.zeros(len(names)), 0.0, 0.0
        for step in range(1, 401):
            off = (1 / (1 + np.exp(-(x @ weights + bias))) - y) * w / w.sum()
            slope, slope_b = x.T @ off + (2 * weights + 0.6 * np.sign(weights)) / w.sum(), off.sum()
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            first_b, second_b = 0.9 * first_b + 0.1 * slope_b, 0.999 * second_b + 0.001 * slope_b**2
            low, high = 1 - 0.9**step, 1 - 0.999**step
            weights -= 0.05 * first / low / (np.sqrt(second / high) + 1e-8)
            bias -= 0.05 * first_b / low / (np.sqrt(second_b / high) + 1e-8)
        return weights, float(bias)

    fold = np.array([hashlib.sha256(case["package"].encode()).digest()[1] % 5 for _, case in cases])
    scores = np.zeros(len(cases))
    for number in range(5):
        weights, bias = fit(fold != number)
        scores[fold == number] = matrix_[fold == number] @ weights + bias
    for kind in WEIGHT:
        some = (kinds == kind) & ~sure
        if some.any():
            print(f"{kind}: {(scores[some] < least).mean():.1%} of {some.sum()} left", file=sys.stderr)
    weights, bias = fit(np.ones(len(cases), bool))
    print("# Trait and weight, in logits; written by tools/likelihood.py.")
    print(f"least\t{least}\nbias\t{bias:.2f}")
    for trait, weight in zip(names, weights, strict=True):
        if abs(weight) >= LEAST_WEIGHT:
            print(f"{trait}\t{weight:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    jobs = parser.add_subparsers(dest="job", required=True)
    jobs.add_parser("record").add_argument("directories", type=Path, nargs="+")
    learner = jobs.add_parser("learn")
    learner.add_argument("cases", type=Path)
    learner.add_argument(
        "--wrong", type=Path, required=True, help="numbers of lines, from 0 on, whose value is no secret"
    )
    learner.add_argument("--least", type=float, default=-2.0, help="what weighs less is left")
    learner.add_argument("--draws", type=int, default=12_000)
    args = parser.parse_args()
    if args.job == "record":
        record(args.directories)
        return
    wrong = {int(word) for word in args.wrong.read_text("utf-8").split()}
    lines = [json.loads(line) for line in args.cases.read_text("utf-8").splitlines()]
    cases = [("left" if not case["hidden"] else "wrong" if number in wrong else "right", case) for number, case in enumerate(lines)]  # fmt: skip
    learn([*cases, *(("drawn", case) for case in drawn(args.draws))], args.least)


if __name__ == "__main__":
    main()
