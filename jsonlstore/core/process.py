"""Whether a process exists, asked of the kernel without disturbing the process."""

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
