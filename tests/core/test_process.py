"""Whether a process exists, and what it gives back."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from jsonlstore.core.process import process_exists, return_free_memory


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


def test_free_memory_goes_back_to_the_kernel() -> None:
    """What lies below a block that is still in use would otherwise stay for as long as the process lives."""
    return_free_memory()  # wherever this runs, it does no harm
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("only glibc can be asked")
    program = (
        "from jsonlstore.core.process import return_free_memory\n"
        "def resident():\n"
        "    return int(open('/proc/self/statm').read().split()[1]) * 4\n"
        "blocks = [bytes([1]) * 60_000 for _ in range(1000)]\n"
        "last = bytes([1]) * 60_000\n"
        "del blocks\n"
        "before = resident()\n"
        "return_free_memory()\n"
        "print(before - resident())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert int(done.stdout) > 30_000  # of 58,600 kB
