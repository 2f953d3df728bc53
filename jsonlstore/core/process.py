"""Processes: whether one exists, asked of the kernel without disturbing it, and how much memory this one keeps."""

from __future__ import annotations

import os


def process_exists(pid: int) -> bool:
    """Whether a process has this number now; it may be a later process than the one that wrote the number down."""
    if pid <= 0:
        return False  # to the kernel these numbers mean process groups
    try:
        os.kill(pid, 0)  # signal 0 is checked and not sent
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # another user's process: the kernel refuses the signal, so it is there
    return True


def return_free_memory() -> None:
    """Give the kernel back what is free inside the heap, where the C library can (glibc).

    Reading the past at start leaves megabytes of it behind, and a process that then waits for days would keep them.
    """
    try:
        from ctypes import CDLL

        CDLL(None).malloc_trim(0)
    except (ImportError, OSError, AttributeError):
        return
