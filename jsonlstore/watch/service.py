"""The watcher as a user service: a systemd unit or a launchd agent. Installing leaves one file, uninstalling none."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk, write_failed
from jsonlstore.core.paths import StatePaths
from jsonlstore.watch.instance import running

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNIT = "jsonlstore-watch.service"
LABEL = "dev.jsonlstore.watch"
_SECONDS = 60
_START_SECONDS = 10.0
_SHARED_TMP = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - what PrivateTmp hides
# systemd's exit codes for a sandbox it was not allowed to set up: USER, NETWORK, NAMESPACE
_NO_SANDBOX = frozenset({"217", "225", "226"})


class NoServiceManager(JsonlStoreError):
    """There is no service manager of the wanted kind on this machine."""

    code = "no_service_manager"


class ServiceFailed(JsonlStoreError):
    """The service was installed and does not run."""

    code = "service_failed"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What `service status` reads back."""

    kind: str
    path: str
    installed: bool
    enabled: bool
    active: bool
    current: bool
    detail: str
    confined: bool = False


class Service(ABC):
    """One way to keep the watcher running.

    `databases` are those the settings have the watcher write through to, `environment` is what finding them takes.
    """

    kind: str

    def __init__(
        self,
        state_dir: Path,
        *,
        config_file: str | None = None,
        sessions_dir: str | None = None,
        databases: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        home: Path | None = None,
    ) -> None:
        self._state_dir = state_dir
        self._config_file = config_file
        self._sessions_dir = sessions_dir
        self._databases = databases
        self._environment = dict(environment or {})
        self._home = home or Path.home()

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where the file goes."""

    @abstractmethod
    def text(self) -> bytes:
        """The file."""

    @abstractmethod
    def install(self) -> list[str]:
        """Write the file and start the service, now and at every login; what there is to say about how it runs."""

    @abstractmethod
    def uninstall(self) -> bool:
        """Stop the service and leave no trace of it; False if there was none."""

    @abstractmethod
    def status(self) -> ServiceStatus:
        """What the service manager says."""

    def command(self) -> list[str]:
        """The watcher's command line, free of anything a login shell would have to set up."""
        options = ["--state-dir", os.fspath(self._state_dir)]
        if self._config_file:
            options += ["--config", os.path.abspath(os.path.expanduser(self._config_file))]
        return [sys.executable, "-m", "jsonlstore", *options, "watch"]

    def _write(self, text: bytes) -> None:
        disk = Disk()
        disk.make_dir(self.path.parent)
        disk.replace(self.path, text, self.path.parent)

    def _is_current(self) -> bool:
        return self._holds(self.text())

    def _holds(self, text: bytes) -> bool:
        try:
            return self.path.read_bytes() == text
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
        return self._text(self._sandbox())

    def _text(self, sandbox: str) -> bytes:
        given = [f"Environment={_quoted(f'{name}={value}')}\n" for name, value in self._environment.items()]
        return f"""\
[Unit]
Description=jsonlstore: keeps what AI agent sessions were about
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=main
{"".join(given)}ExecStart={" ".join(map(_argument, self.command()))}
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
RestrictAddressFamilies=AF_UNIX
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
{sandbox}
[Install]
WantedBy=default.target
""".encode()

    def _sandbox(self) -> str:
        """What confines the service to our directories.

        Without PrivateUsers a user's systemd older than 254 leaves all of this out, and says nothing.
        """
        writable = [_quoted(os.fspath(path)) for path in self._writable()]
        # another program's: not ours to create
        for path in self._databases:
            writable += [_quoted(f"-{place}") for place in (path.parent, Path(os.path.realpath(path)).parent)]
        private = not any(place.is_relative_to(tmp) for place in self._needed() for tmp in _SHARED_TMP)
        if not private:
            writable += map(os.fspath, _SHARED_TMP)
        return f"""\
PrivateUsers=yes
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={" ".join(dict.fromkeys(writable))}
ReadOnlyPaths={_quoted(f"-{self._state_dir / 'agents'}")}
PrivateTmp={"yes" if private else "no"}
PrivateNetwork=yes
"""

    def _writable(self) -> list[Path]:
        """Our own directories; what else the service may write to are databases that the settings name."""
        paths = StatePaths.of(self._state_dir, self._sessions_dir)
        return list(dict.fromkeys((self._state_dir / "sessions", paths.sessions)))

    def _needed(self) -> list[Path]:
        """Whatever the service must see to run at all."""
        places = [self._state_dir, *self._writable(), *self._databases, Path(sys.executable), Path(__file__)]
        if self._config_file:
            places.append(Path(self._config_file).expanduser())
        return [place.absolute() for place in places]

    def install(self) -> list[str]:
        self._need()
        # what the unit names as writable must be there when it starts
        for path in self._writable():
            Disk().make_dir(path)
        failure = self._start(self.text())
        if failure in _NO_SANDBOX:
            failure = self._start(self._text(""))
            if failure is None:
                return ["this machine does not let a user's service be confined: it could write anywhere in the home"]
        if failure is not None:
            raise ServiceFailed(
                f"{UNIT} is installed and does not run: {self._why(failure)}",
                hint=f"see: journalctl --user -u {UNIT}",
                path=self.path,
            )
        return []

    def _start(self, text: bytes) -> str | None:
        """Have the unit run this text, whatever it ran before; None if that works, else the exit code it died with."""
        self._write(text)
        self._ask("daemon-reload")
        self._ask("reset-failed", UNIT, must=False)  # earlier failures do not count against this one
        self._ask("enable", UNIT)
        # it is ready when it has caught up, which takes as long as there is history: that is not waited for
        self._ask("restart", "--no-block", UNIT)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            said = self._ask("show", "--property=ActiveState,SubState,ExecMainStatus", UNIT, must=False)
            now = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
            if now.get("ActiveState") == "failed" or now.get("SubState") == "auto-restart":
                return now.get("ExecMainStatus") or "unknown"
            if now.get("ActiveState") == "active" or time.monotonic() >= deadline:
                return None
            time.sleep(0.1)

    def _why(self, code: str) -> str:
        holder = running(StatePaths.of(self._state_dir, self._sessions_dir))
        return f"process {holder} already watches {self._state_dir}" if holder is not None else f"exit code {code}"

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

    def status(self) -> ServiceStatus:
        enabled = self._ask("is-enabled", UNIT, must=False) if shutil.which("systemctl") else ""
        active = self._ask("is-active", UNIT, must=False) if enabled else ""
        return ServiceStatus(
            self.kind,
            os.fspath(self.path),
            installed=self.path.exists(),
            enabled=enabled == "enabled",
            active=active == "active",
            current=self._is_current(),
            detail=active or "systemd does not know it",
            confined=self._holds(self.text()),
        )

    def _is_current(self) -> bool:
        return self._holds(self.text()) or self._holds(self._text(""))

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
                **({"EnvironmentVariables": self._environment} if self._environment else {}),
            }
        )

    def install(self) -> list[str]:
        if not shutil.which("launchctl"):
            raise NoServiceManager("launchd is not on this machine", hint=self._foreground())
        self._write(self.text())
        _run(["launchctl", "bootout", self._target()], must=False)
        _run(["launchctl", "bootstrap", f"gui/{os.getuid()}", os.fspath(self.path)])
        return []

    def uninstall(self) -> bool:
        there = self.path.exists()
        if shutil.which("launchctl"):
            _run(["launchctl", "bootout", self._target()], must=False)
        self.path.unlink(missing_ok=True)
        return there

    def status(self) -> ServiceStatus:
        said = _run(["launchctl", "print", self._target()], must=False) if shutil.which("launchctl") else ""
        running = "state = running" in said
        return ServiceStatus(
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


def _argument(word: str) -> str:
    """A word of a command line, where `$` means something too."""
    return _quoted(word.replace("$", "$$"))


def _quoted(word: str) -> str:
    """A word as a unit file wants it: `%` means something there, and so do spaces and quotes."""
    word = word.replace("%", "%%")
    if any(c in word for c in " \t\"'\\"):
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word
