"""A real OpenClaw from npm, in a home of its own, with the model beside it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.openclaw.packages import INSTALLER, NotToBeHad, node, openclaw

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "test-token"


def wait_until(condition: Callable[[], Any], seconds: float = 120, what: str = "it") -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in time"
        time.sleep(0.1)


def each_version(*versions: str) -> list[Any]:
    """Parameters for a test that runs with each of these versions, and says so before it runs."""
    return [pytest.param(version, marks=pytest.mark.openclaw(version)) for version in versions]


def installed(version: str) -> tuple[Path, Path]:
    """Node and OpenClaw's entry; skips the test when they are neither in the cache nor to be had."""
    try:
        return INSTALLER.need(node()), INSTALLER.need(openclaw(version))
    except NotToBeHad as problem:
        pytest.skip(str(problem))


class OpenClaw:
    """One version of OpenClaw on one home directory; another version may go on with the same home."""

    def __init__(self, version: str, home: Path, model_port: int, **settings: Any) -> None:
        self._node, self._entry = installed(version)
        self.home, self.state_dir = home, home / ".openclaw"
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self._port = _free_port()
        self._gateway: subprocess.Popen[bytes] | None = None
        self._number = 0
        costs = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
        model = {"id": "mock-1", "name": "Mock", "reasoning": False, "input": ["text"], "cost": costs}
        provider = {
            "baseUrl": f"http://127.0.0.1:{model_port}/v1",
            "apiKey": "mock",
            "api": "openai-completions",
            "models": [{**model, "contextWindow": 64000, "maxTokens": 4096}],
        }
        config = {
            "gateway": {"mode": "local", "bind": "loopback", "auth": {"mode": "token", "token": TOKEN}},
            "update": {"checkOnStart": False},
            "models": {"mode": "merge", "providers": {"mock": provider}},
            "agents": {
                "defaults": {
                    "model": {"primary": "mock/mock-1"},
                    "workspace": str(self.state_dir / "workspace"),
                    "heartbeat": {"every": "0m"},
                }
            },
            **settings,
        }
        (self.state_dir / "openclaw.json").write_text(json.dumps(config))

    @property
    def _env(self) -> dict[str, str]:
        return {
            "PATH": f"{self._node.parent}:/usr/bin:/bin",
            "HOME": str(self.home),
            "OPENCLAW_STATE_DIR": str(self.state_dir),
            "OPENCLAW_GATEWAY_PORT": str(self._port),
            "OPENCLAW_SKIP_CHANNELS": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_NO_ONBOARD": "1",
            "NO_COLOR": "1",
        }

    def run(self, *words: str, seconds: float = 240) -> str:
        """One OpenClaw command to its end."""
        command = [str(self._node), str(self._entry), *words]
        done = subprocess.run(
            command, env=self._env, capture_output=True, text=True, timeout=seconds, check=False, cwd=self.home
        )
        assert done.returncode == 0, f"{words}: {done.stderr[-800:] or done.stdout[-800:]}"
        return done.stdout

    def start(self) -> None:
        """Start the gateway and wait until it listens."""
        command = [str(self._node), str(self._entry), "gateway", "run", "--port", str(self._port)]
        log = (self.home / "gateway.log").open("ab")
        self._gateway = subprocess.Popen(
            command, env=self._env, stdout=log, stderr=log, start_new_session=True, cwd=self.home
        )
        log.close()
        wait_until(self._listens, 240, "the gateway's start")

    def _listens(self) -> bool:
        assert self._gateway is not None
        assert self._gateway.poll() is None, (self.home / "gateway.log").read_text()[-800:]
        try:
            socket.create_connection(("127.0.0.1", self._port), 1).close()
        except OSError:
            return False
        return True

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop the gateway: politely, or with SIGKILL."""
        gateway, self._gateway = self._gateway, None
        if gateway is None:
            return
        os.killpg(gateway.pid, number)
        try:
            gateway.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(gateway.pid, signal.SIGKILL)
            gateway.wait(10)

    def left_running(self, word: str) -> list[str]:
        """The command lines with this word of processes that were started for this home and still run."""
        mine, found = f"OPENCLAW_STATE_DIR={self.state_dir}".encode(), []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if word in words and mine in (process / "environ").read_bytes().split(b"\0"):
                    found.append(words)
            except OSError:
                continue  # it has ended, or is somebody else's
        return found

    def call(self, method: str, **params: Any) -> str:
        """One call to the gateway, and its answer; one that comes before it is ready is made again."""
        words = (
            "gateway",
            "call",
            method,
            "--url",
            f"ws://127.0.0.1:{self._port}",
            "--token",
            TOKEN,
            "--timeout",
            "60000",
        )
        for _ in range(4):
            try:
                return self.run(*words, "--json", "--params", json.dumps(params))
            except AssertionError:
                time.sleep(2)
        return self.run(*words, "--json", "--params", json.dumps(params))

    def say(self, text: str, key: str = "agent:main:main") -> None:
        """Send a message; the answer comes by itself."""
        self._number += 1
        self.call("chat.send", sessionKey=key, message=text, idempotencyKey=f"{time.time_ns()}-{self._number}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
