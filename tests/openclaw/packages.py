"""Node and OpenClaw from npm, each installed whole or not at all, in a cache that test runs share.

`JSONLSTORE_TEST_CACHE` says where; without it the cache lies in the system's temporary directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CACHE = Path(os.environ.get("JSONLSTORE_TEST_CACHE") or Path(tempfile.gettempdir()) / "jsonlstore-test-cache")
INSTALL_SECONDS = 360
# dependencies of old versions that have since gone from the registry
_OVERRIDES = {"libsignal": "npm:libsignal@2.0.1", "linkedom": "0.18.12"}
_FLAGS = ("--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")
_MACHINES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class NotToBeHad(Exception):
    """A package is neither in the cache nor to be had from the registry."""


@dataclass(frozen=True, slots=True)
class Package:
    """One npm package in a directory of its own, with the file that shows it is there."""

    directory: str
    spec: str
    proof: str
    overrides: dict[str, str] = field(default_factory=dict, hash=False)
    wants_our_node: bool = False

    def below(self, folder: Path) -> Path:
        return folder / "node_modules" / self.proof


def node() -> Package:
    """The Node that every version tried here runs on; 2026.9.6 takes no older one."""
    name = f"node-{platform.system().lower()}-{_MACHINES.get(platform.machine(), platform.machine())}"
    return Package("node24", f"{name}@24", f"{name}/bin/node")


def openclaw(version: str) -> Package:
    return Package(
        f"openclaw-{version}", f"openclaw@{version}", "openclaw/openclaw.mjs", _OVERRIDES, wants_our_node=True
    )


class Installer:
    """Installs packages, several at once, each by one thread; whoever needs one waits for it."""

    def __init__(self, cache: Path = CACHE, environment: Mapping[str, str] = os.environ) -> None:
        self.cache = cache
        self._environment = dict(environment)  # as it is now: tests change theirs
        self._guard = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}
        self._problems: dict[str, str] = {}
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def begin(self, packages: Iterable[Package]) -> None:
        """Start installing what is not in the cache, and come back at once."""
        with self._guard:
            for package in packages:
                if package.directory not in self._threads and not self._place(package).exists():
                    thread = threading.Thread(target=self._work, args=(package,), daemon=True)
                    self._threads[package.directory] = thread
                    thread.start()

    def need(self, package: Package) -> Path:
        """Where the package is, once it is there; raises `NotToBeHad` with the reason."""
        self.begin([package])
        thread = self._threads.get(package.directory)
        if thread is not None:
            thread.join()
        if not self._place(package).exists():
            raise NotToBeHad(self._problems.get(package.directory, f"{package.spec} was not installed"))
        return self._place(package)

    def _place(self, package: Package) -> Path:
        return package.below(self.cache / package.directory)

    def stop(self) -> None:
        """Give up what is under way; what it had fetched stays in npm's own cache."""
        self._stopped = True
        with self._guard:
            running = list(self._running)
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for thread in self._threads.values():
            thread.join(10)

    def _work(self, package: Package) -> None:
        try:
            deadline = time.monotonic() + INSTALL_SECONDS
            self.cache.mkdir(parents=True, exist_ok=True)
            with _alone(self.cache / f".{package.directory}.lock", deadline):
                if not self._place(package).exists():
                    self._install(package, deadline)
        except (NotToBeHad, OSError) as problem:
            self._problems[package.directory] = f"{package.spec} is not in {self.cache}, and {problem}"

    def _install(self, package: Package, deadline: float) -> None:
        if not shutil.which("npm", path=self._environment.get("PATH")):
            raise NotToBeHad("npm is not installed")
        folder = Path(tempfile.mkdtemp(prefix=f".{package.directory}.", dir=self.cache))
        try:
            document = {"name": "lab", "version": "1.0.0", "overrides": package.overrides}
            (folder / "package.json").write_text(json.dumps(document))
            self._npm(["npm", "install", package.spec, *_FLAGS], folder, deadline, self._environment_for(package))
            if not package.below(folder).exists():
                raise NotToBeHad("npm did not install what was asked for")
            target = self.cache / package.directory
            shutil.rmtree(target, ignore_errors=True)  # something half installed by other means
            folder.rename(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _environment_for(self, package: Package) -> dict[str, str]:
        """npm leaves out, without a word, what the Node it runs on is too old for: have it run on OpenClaw's."""
        if not package.wants_our_node:
            return self._environment
        try:
            newest = self.need(node()).parent
        except NotToBeHad:
            return self._environment
        return {**self._environment, "PATH": f"{newest}:{self._environment.get('PATH', '')}"}

    def _npm(self, command: list[str], folder: Path, deadline: float, environment: Mapping[str, str]) -> None:
        log = folder / "npm.log"
        with log.open("w") as output, self._guard:
            if self._stopped:
                raise NotToBeHad("the test run was stopped")
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            process.wait(max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise NotToBeHad(f"could not be installed within {INSTALL_SECONDS} s") from None
        finally:
            self._running.discard(process)
        if process.returncode:
            said = [line for line in log.read_text(errors="replace").splitlines() if "error" in line.lower()]
            raise NotToBeHad(f"npm failed: {' / '.join(said[:3]) or f'exit {process.returncode}'}")


@contextlib.contextmanager
def _alone(path: Path, deadline: float) -> Iterator[None]:
    """One process at a time installs a package; the lock goes with its holder, however that dies."""
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise NotToBeHad(f"another test run held {path} for {INSTALL_SECONDS} s") from None
                time.sleep(0.5)
            else:
                break
        yield


INSTALLER = Installer()
