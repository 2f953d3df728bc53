"""What chance made is told from what people named."""

from __future__ import annotations

import importlib
import random
import string

import pytest

from jsonlstore.redact.looks import looks_random

_LETTERS = string.ascii_letters + string.digits
_MODULES = (
    *("ast", "asyncio", "ctypes", "curses", "decimal", "email.message", "http.client", "inspect", "logging.handlers"),
    *("multiprocessing", "os", "signal", "socket", "ssl", "sqlite3", "tarfile", "tokenize", "typing", "unittest.mock"),
    *("unicodedata", "urllib.request", "wsgiref.handlers", "xml.dom", "xml.sax.handler", "zipfile", "errno", "select"),
)


@pytest.mark.parametrize(("length", "missed"), [(16, 0.03), (20, 0.01), (24, 0.005), (40, 0.001)])
def test_random_runs_look_random_even_with_few_digits(length: int, missed: float) -> None:
    """Letters that follow each other as in no word tell as much as digits do."""
    draw = random.Random(length)
    runs = ["".join(draw.choices(_LETTERS, k=length)) for _ in range(4000)]
    assert sum(not looks_random(run) for run in runs) <= missed * len(runs)


def test_no_name_of_the_standard_library_looks_random() -> None:
    """Long, of both cases, with abbreviations and digits: names all the same."""
    names = {name for module in _MODULES for name in dir(importlib.import_module(module)) if len(name) >= 16}
    assert len(names) > 300
    assert [name for name in sorted(names) if looks_random(name)] == []
