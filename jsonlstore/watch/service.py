"""The watcher as a user service: a systemd unit or a launchd agent. Installing leaves one file, uninstalling none."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.errors import JsonlStoreError
from jsonlstore.paths import StatePaths
from jsonlstore.store.files import Disk, write_failed

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT = "jsonlstore-watch.service"
LABEL = "dev.jsonlstore.watch"
_SECONDS = 30


class NoServiceManager(JsonlStoreError):
    """There is no service manager of the wanted kind on this machine."""

    code = "no_service_manager"


@dataclass(frozen=True, slots=True)
class Told:
    """What `service status` reads back."""

    kind: str
    path: str
    installed: bool
    enabled: bool
    active: bool
    current: bool
    detail: str


class Service(ABC):
    """One way to keep the watcher running."""

    kind: str

    def __init__(
        self,
        state_dir: Path,
        *,
        config_file: str | None = None,
        sessions_dir: str | None = None,
        home: Path | None = None,
    ) -> None:
        self._state_dir = state_dir
        self._config_file = config_file
        self._sessions_dir = sessions_dir
        self._home = home or Path.home()

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where the file goes."""

    @abstractmethod
    def text(self) -> bytes:
        """The file."""

    @abstractmethod
    def install(self) -> None:
        """Write the file and start the service, now and at every login."""

    @abstractmethod
    def uninstall(self) -> bool:
        """Stop the service and leave no trace of it; False if there was none."""

    @abstractmethod
    def status(self) -> Told:
        """What the service manager says."""

    def command(self) -> list[str]:
        """The watcher's command line, free of anything a login shell would have to set up."""
        options = ["--state-dir", os.fspath(self._state_dir)]
        if self._config_file:
            options += ["--config", os.path.abspath(os.path.expanduser(self._config_file))]
        return [sys.executable, "-m", "jsonlstore", *options, "watch"]

    def _write(self) -> None:
        disk = Disk()
        disk.make_dir(self.path.parent)
        disk.replace(self.path, self.text(), self.path.parent)

    def _is_current(self) -> bool:
        try:
            return self.path.read_bytes() == self.text()
        except OSError:
            return False

    def _foreground(self) -> str:
        return f"run it in the foreground instead: {' '.join(self.command())}"


class Systemd(Service):
    """A systemd user unit."""

    kind = "systemd"

    @property
    def path(self) -> Path:
        base = os.environ.get("XDG_CONFIG_HOME") or os.fspath(self._home / ".config")
        return Path(base) / "systemd" / "user" / UNIT

    def text(self) -> bytes:
        writable = " ".join(_quoted(os.fspath(path)) for path in self._writable())
        return f"""\
[Unit]
Description=jsonlstore: keeps what AI agent sessions were about
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=main
ExecStart={" ".join(map(_quoted, self.command()))}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
WatchdogSec=120
TimeoutStartSec=infinity
TimeoutStopSec=30
UMask=0077
Nice=10
MemoryHigh=300M
MemoryMax=600M
CPUQuota=50%
TasksMax=64
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={writable}
PrivateTmp=yes
PrivateNetwork=yes
RestrictAddressFamilies=AF_UNIX
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
""".encode()

    def _writable(self) -> list[Path]:
        """All the service may write to: our own directories."""
        paths = StatePaths.of(self._state_dir, self._sessions_dir)
        return list(dict.fromkeys((self._state_dir / "sessions", paths.sessions)))

    def install(self) -> None:
        self._need()
        # what the unit names as writable must be there when it starts
        for path in self._writable():
            Disk().make_dir(path)
        self._write()
        self._ask("daemon-reload")
        self._ask("enable", "--now", UNIT)

    def uninstall(self) -> bool:
        there = self.path.exists()
        if shutil.which("systemctl"):
            self._ask("disable", "--now", UNIT, must=False)
        for trace in (self.path, *self.path.parent.glob(f"*.wants/{UNIT}")):
            trace.unlink(missing_ok=True)
        if shutil.which("systemctl"):
            self._ask("daemon-reload", must=False)
            self._ask("reset-failed", UNIT, must=False)
        return there

    def status(self) -> Told:
        enabled = self._ask("is-enabled", UNIT, must=False) if shutil.which("systemctl") else ""
        active = self._ask("is-active", UNIT, must=False) if enabled else ""
        return Told(
            self.kind,
            os.fspath(self.path),
            installed=self.path.exists(),
            enabled=enabled == "enabled",
            active=active == "active",
            current=self._is_current(),
            detail=active or "systemd does not know it",
        )

    def _need(self) -> None:
        if not shutil.which("systemctl"):
            raise NoServiceManager("systemd is not on this machine", hint=self._foreground())
        try:
            self._ask("show-environment")
        except NoServiceManager as problem:
            raise NoServiceManager(
                f"systemd has no user session here: {problem.message}", hint=self._foreground()
            ) from problem

    def _ask(self, *words: str, must: bool = True) -> str:
        return _run(["systemctl", "--user", *words], must=must)


class Launchd(Service):
    """A launchd agent of the user's."""

    kind = "launchd"

    @property
    def path(self) -> Path:
        return self._home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def text(self) -> bytes:
        log = os.fspath(self._home / "Library" / "Logs" / "jsonlstore.log")
        return plistlib.dumps(
            {
                "Label": LABEL,
                "ProgramArguments": self.command(),
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 5,
                "ProcessType": "Background",
                "LowPriorityIO": True,
                "Nice": 10,
                "Umask": 0o077,
                "SoftResourceLimits": {"NumberOfFiles": 4096},
                "StandardErrorPath": log,
            }
        )

    def install(self) -> None:
        if not shutil.which("launchctl"):
            raise NoServiceManager("launchd is not on this machine", hint=self._foreground())
        self._write()
        _run(["launchctl", "bootout", self._target()], must=False)
        _run(["launchctl", "bootstrap", f"gui/{os.getuid()}", os.fspath(self.path)])

    def uninstall(self) -> bool:
        there = self.path.exists()
        if shutil.which("launchctl"):
            _run(["launchctl", "bootout", self._target()], must=False)
        self.path.unlink(missing_ok=True)
        return there

    def status(self) -> Told:
        said = _run(["launchctl", "print", self._target()], must=False) if shutil.which("launchctl") else ""
        running = "state = running" in said
        return Told(
            self.kind,
            os.fspath(self.path),
            installed=self.path.exists(),
            enabled=bool(said),
            active=running,
            current=self._is_current(),
            detail="running" if running else "launchd does not run it",
        )

    @staticmethod
    def _target() -> str:
        return f"gui/{os.getuid()}/{LABEL}"


KINDS: dict[str, type[Service]] = {"systemd": Systemd, "launchd": Launchd}


def default_kind() -> str:
    return "launchd" if sys.platform == "darwin" else "systemd"


def _run(command: Sequence[str], *, must: bool = True) -> str:
    """What a service manager answers; a refusal is an error only if `must`."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        if must:
            raise write_failed(command[0], OSError(0, str(problem))) from problem
        return ""
    if must and done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoServiceManager(f"{' '.join(command)}: {said[-1] if said else f'exit {done.returncode}'}")
    return done.stdout.strip()


def _quoted(word: str) -> str:
    """A word as a unit file wants it: `%` and `$` mean something there, and so do spaces and quotes."""
    word = word.replace("%", "%%").replace("$", "$$")
    if any(c in word for c in " \t\"'\\"):
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word
