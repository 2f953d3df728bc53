"""Loggers that load `logging` with their first message."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

from jsonlstore.core.logs import logger, on_first_message

if TYPE_CHECKING:
    import pytest


def test_messages_arrive_where_the_named_logger_sends_them(caplog: pytest.LogCaptureFixture) -> None:
    ours = logger("jsonlstore.test")
    for _ in range(2):
        ours.warning("said %s", "twice")
    assert [(record.name, record.message) for record in caplog.records] == [("jsonlstore.test", "said twice")] * 2
    assert ours.name == logging.getLogger("jsonlstore.test").name


def test_the_set_up_runs_once_before_the_first_message() -> None:
    done: list[int] = []
    on_first_message(lambda: done.append(1))
    assert done == []
    logger("jsonlstore.test").info("a")
    logger("jsonlstore.other").info("b")
    assert done == [1]


def test_nothing_is_loaded_before_there_is_something_to_say() -> None:
    """What only somebody who set a lower level would see does not load `logging` either; from then on it arrives."""
    program = (
        "import sys, jsonlstore.core.logs\n"
        "ours = jsonlstore.core.logs.logger('a')\n"
        "print('logging' in sys.modules)\n"
        "ours.info('b')\n"
        "ours.debug('c %s', 'd')\n"
        "print('logging' in sys.modules)\n"
        "ours.warning('e')\n"
        "print('logging' in sys.modules)\n"
        "import logging\n"
        "logging.basicConfig(level='DEBUG', stream=sys.stdout, format='%(message)s')\n"
        "ours.debug('seen')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False", "True", "seen"]
    assert done.stderr == "e\n"
