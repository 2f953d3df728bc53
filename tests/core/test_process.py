"""Whether a process exists."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from jsonlstore.core.process import process_exists


def test_a_running_process_exists_and_a_reaped_one_does_not() -> None:
    """The answer follows the process."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert process_exists(child.pid)
    assert not process_exists(child.pid)
    assert process_exists(os.getpid())


def test_a_process_of_another_user_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused signal is an answer: there is a process to refuse it for."""

    def refuse(pid: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert process_exists(1)


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**80])
def test_a_number_that_no_process_can_have_is_no_process(pid: int) -> None:
    """Zero and negative numbers mean process groups to the kernel; huge ones come from damaged records."""
    assert not process_exists(pid)


def test_a_process_group_is_no_process() -> None:
    """The kernel would take the negative of a running process's number for its group."""
    assert not process_exists(-os.getpid())
