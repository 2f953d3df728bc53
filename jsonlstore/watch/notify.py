"""Telling systemd how we are: readiness, keep-alive, stopping. Silent where nobody asked."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def notify(message: str, env: Mapping[str, str] = os.environ) -> bool:
    """Send one `sd_notify` message; False if there is no socket to send it to, or nobody listens."""
    address = env.get("NOTIFY_SOCKET", "")
    if not address or address[0] not in "/@":
        return False
    if address[0] == "@":
        address = "\0" + address[1:]  # the abstract namespace
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.connect(address)
            channel.sendall(message.encode())
    except OSError:
        return False
    return True


def keep_alive_seconds(env: Mapping[str, str] = os.environ) -> float | None:
    """How often systemd wants to hear from us: half of its patience. None if it does not ask, or asks another."""
    wanted = env.get("WATCHDOG_USEC", "")
    pid = env.get("WATCHDOG_PID", "")
    if not wanted.isdigit() or not int(wanted) or (pid and pid != str(os.getpid())):
        return None
    return int(wanted) / 2_000_000
