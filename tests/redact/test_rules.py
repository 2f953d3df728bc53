"""The rules are data, and every line of them proves itself."""

# ruff: noqa: E501

from __future__ import annotations

import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jsonlstore.redact import MARK, redact, redact_text
from jsonlstore.redact.rules import Name, literals, names, read_shapes, shapes, words
from tests.redact.report_secrets import load_maker

make = load_maker()
ROOT = Path(__file__).resolve().parents[2]
NAMES = names()


@pytest.mark.parametrize("name", NAMES, ids=[f"{name.level}-{name.word[:20]}" for name in NAMES])
def test_every_name_hides_its_example_and_leaves_its_counter_example(name: Name) -> None:
    """A line of names.tsv does what its example says, and no more than its counter-example allows."""
    text, secret = make.slots(name.example, random.Random(7))
    hidden = redact_text(f"so\n{text}\n")
    assert secret not in hidden
    assert MARK in hidden
    assert redact(name.counter) == (name.counter, [])


@pytest.mark.parametrize("name", NAMES, ids=[f"{name.level}-{name.word[:20]}" for name in NAMES])
def test_every_names_trigger_stands_in_its_example(name: Name) -> None:
    """The pre-filter looks for these strings in lower-case text."""
    assert any(literal in name.example.lower() for literal in name.has)
    assert all(literal == literal.lower() for literal in name.has)


def test_a_shape_is_one_line_of_one_file() -> None:
    """Adding a shape takes a line: macros are filled in and options read."""
    text = "@lead\t(?:^|x)\n# a comment\nacme\tacme_\t{lead}(acme_[a-z]{9})\tacme_<lower:9>\tacme_x\tnear=a|b;unlike=plain;has=acme\n"
    (shape,) = read_shapes(text)
    assert (shape.kind, shape.shape) == ("acme", "(?:^|x)(acme_[a-z]{9})")
    assert (shape.near, shape.unlike, shape.has) == ((b"a", b"b"), "plain", ("acme",))


def test_few_rules_have_no_literal() -> None:
    """What the pre-filter must match by expression costs every cold start, so it stays small."""
    without = [shape.kind for shape in shapes() if not literals(shape)]
    assert len(without) <= 8, without
    for shape in shapes():
        re.compile(shape.trigger.encode())  # the pre-filter and the finder read it alike


def test_word_lists_are_plain_words() -> None:
    """A list that lost its heading would silently be empty."""
    for name in ("about", "other", "own", "accounts", "runs", "hints", "same", "not-secret", "talk"):
        assert words(name)
        assert not any(word.startswith("[") for word in words(name))


@pytest.mark.slow
def test_the_wheel_holds_the_rules(tmp_path: Path) -> None:
    """An installed package without its rules would hide nothing."""
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    made = subprocess.run(build, check=False, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no wheel can be built here: {made.stderr[-200:]}")
    (wheel,) = tmp_path.glob("*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    for name in ("shapes.tsv", "names.tsv", "words.txt"):
        assert f"jsonlstore/redact/data/{name}" in held
