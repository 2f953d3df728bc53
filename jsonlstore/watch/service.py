"""The watcher as a user service: a systemd unit or a launchd agent.

Installing writes one file, uninstalling removes it.
"""

from __future__ import annotations

import os
import plistlib
import pwd
import shutil
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk, write_failed
from jsonlstore.core.paths import StatePaths
from jsonlstore.watch.instance import running

UNIT = "jsonlstore-watch.service"
LABEL = "dev.jsonlstore.watch"
_SECONDS = 60
_START_SECONDS = 10.0
_SHARED_TMP = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - what PrivateTmp hides
# systemd's exit codes for a sandbox it was not allowed to set up: USER, NETWORK, NAMESPACE
_NO_SANDBOX = frozenset({"217", "225", "226"})


class NoServiceManager(JsonlStoreError):
    """The machine has no service manager of the wanted kind."""

    code = "no_service_manager"


class ServiceFailed(JsonlStoreError):
    """The service was installed but does not run."""

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


@dataclass(frozen=True)
class Service(ABC):
    """One way to keep the watcher running.

    `databases` are those the settings have the watcher write to, `environment` the variables needed to find them.
    """

    kind: ClassVar[str]
    confines: ClassVar[bool] = False  # whether the file confines the service to our directories

    state_dir: Path
    config_file: str | None = None
    sessions_dir: str | None = None
    databases: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    home: Path = field(default_factory=Path.home)

    @property
    @abstractmethod
    def path(self) -> Path:
        """The path of the service file."""

    @abstractmethod
    def text(self) -> bytes:
        """The content of the service file."""

    @abstractmethod
    def install(self) -> list[str]:
        """Write the file and start the service, now and at every login; returns remarks about how it runs."""

    @abstractmethod
    def uninstall(self) -> bool:
        """Stop the service and remove its file; False if it was not installed."""

    @abstractmethod
    def _state(self) -> tuple[bool, bool, str]:
        """Whether the service is enabled and active, and the service manager's own words."""

    def status(self) -> ServiceStatus:
        """The service manager's answer, and whether the file is the one we would write now."""
        enabled, active, detail = self._state()
        try:
            written = self.path.read_bytes()
        except OSError:
            written = None
        return ServiceStatus(
            self.kind,
            os.fspath(self.path),
            installed=self.path.exists(),
            enabled=enabled,
            active=active,
            current=written in (self.text(), self._unconfined()),
            detail=detail,
            confined=self.confines and written == self.text(),
        )

    def _unconfined(self) -> bytes:
        """The file without the sandbox, for machines that refuse it."""
        return self.text()

    def lingers(self) -> bool | None:
        """Whether the service goes on after a logout; None where that cannot be known or chosen."""
        return None

    def keep_after_logout(self) -> None:
        """Have the service go on after a logout, and remember that it was us who changed that."""
        raise NoServiceManager(f"{self.kind} has no way to keep a user's service running after a logout")

    def undo_linger(self) -> bool:
        """Take `keep_after_logout` back; False if it was not us who changed that."""
        return False

    def command(self) -> list[str]:
        """The watcher's command line, independent of a login shell's set-up."""
        options = ["--state-dir", os.fspath(self.state_dir)]
        if self.config_file:
            options += ["--config", os.path.abspath(os.path.expanduser(self.config_file))]
        return [sys.executable, "-m", "jsonlstore", *options, "watch"]

    def _write(self, text: bytes) -> None:
        disk = Disk()
        disk.make_dir(self.path.parent)
        disk.replace(self.path, text, self.path.parent)

    def _foreground(self) -> str:
        return f"run it in a terminal instead: {' '.join(self.command())}"


class Systemd(Service):
    """A systemd user unit."""

    kind = "systemd"
    confines = True

    @property
    def path(self) -> Path:
        base = os.environ.get("XDG_CONFIG_HOME") or os.fspath(self.home / ".config")
        return Path(base) / "systemd" / "user" / UNIT

    def text(self) -> bytes:
        return self._text(self._sandbox())

    def _unconfined(self) -> bytes:
        return self._text("")

    def _text(self, sandbox: str) -> bytes:
        given = [f"Environment={_quoted(f'{name}={value}')}\n" for name, value in self.environment.items()]
        command = " ".join(map(_argument, self.command()))
        return _template("systemd.unit").format(environment="".join(given), command=command, sandbox=sandbox).encode()

    def _sandbox(self) -> str:
        """The settings that confine the service to our directories.

        Without PrivateUsers, a user's systemd older than 254 silently ignores all of them.
        """
        writable = [_quoted(os.fspath(path)) for path in self._writable()]
        # another program's file: we must not create it
        for path in self.databases:
            writable += [_quoted(f"-{place}") for place in (path.parent, Path(os.path.realpath(path)).parent)]
        private = not any(place.is_relative_to(tmp) for place in self._needed() for tmp in _SHARED_TMP)
        if not private:
            writable += map(os.fspath, _SHARED_TMP)
        return _template("systemd.sandbox").format(
            writable=" ".join(dict.fromkeys(writable)),
            agents=_quoted(f"-{self.state_dir / 'agents'}"),
            private_tmp="yes" if private else "no",
        )

    def _writable(self) -> list[Path]:
        """Our own directories; the databases named in the settings are the only other files the service may write."""
        paths = StatePaths.of(self.state_dir, self.sessions_dir)
        return list(dict.fromkeys((self.state_dir / "sessions", paths.sessions)))

    def _needed(self) -> list[Path]:
        """The paths the service must see to run at all."""
        places = [self.state_dir, *self._writable(), *self.databases, Path(sys.executable), Path(__file__)]
        if self.config_file:
            places.append(Path(self.config_file).expanduser())
        return [place.absolute() for place in places]

    def install(self) -> list[str]:
        self._need()
        # systemd requires the unit's writable paths to exist when it starts
        for path in self._writable():
            Disk().make_dir(path)
        failure = self._start(self.text())
        if failure in _NO_SANDBOX:
            failure = self._start(self._unconfined())
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
        """Run the unit with this text instead of its previous one; None if that works, else the exit code it died
        with.
        """
        self._write(text)
        self._ask("daemon-reload")
        self._ask("reset-failed", UNIT, must=False)  # earlier failures must not count against this start
        self._ask("enable", UNIT)
        # no wait for readiness: catching up with history may take long
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
        holder = running(StatePaths.of(self.state_dir, self.sessions_dir))
        return f"process {holder} already watches {self.state_dir}" if holder is not None else f"exit code {code}"

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

    def lingers(self) -> bool | None:
        if not shutil.which("loginctl"):
            return None
        said = _run(["loginctl", "show-user", _user(), "--property=Linger", "--value"], must=False)
        return {"yes": True, "no": False}.get(said)

    def keep_after_logout(self) -> None:
        _run(["loginctl", "enable-linger", _user()])
        self._linger_mark.touch(mode=0o600)

    def undo_linger(self) -> bool:
        if not self._linger_mark.exists():
            return False
        _run(["loginctl", "disable-linger", _user()], must=False)
        self._linger_mark.unlink()
        return True

    @property
    def _linger_mark(self) -> Path:
        """There if it was us who switched lingering on: what others switched on is not ours to switch off."""
        return StatePaths.of(self.state_dir, self.sessions_dir).states / "linger-by-us"

    def _state(self) -> tuple[bool, bool, str]:
        enabled = self._ask("is-enabled", UNIT, must=False) if shutil.which("systemctl") else ""
        active = self._ask("is-active", UNIT, must=False) if enabled else ""
        return enabled == "enabled", active == "active", active or "systemd does not know it"

    def _need(self) -> None:
        if not shutil.which("systemctl"):
            raise NoServiceManager("systemd is not on this machine", hint=self._foreground())
        try:
            self._ask("show-environment")
        except NoServiceManager as problem:
            hint = f"{self._reach()}; or {self._foreground()}"
            raise NoServiceManager(f"systemd has no user session here: {problem.message}", hint=hint) from problem

    @staticmethod
    def _reach() -> str:
        """How to get a user session where systemd has none for us: after `su`, in cron, over some kinds of ssh."""
        if not os.environ.get("XDG_RUNTIME_DIR") and os.path.isdir(f"/run/user/{os.getuid()}"):
            return f"`export XDG_RUNTIME_DIR=/run/user/{os.getuid()}`, then `jsonlstore service install`"
        return (
            f"`sudo loginctl enable-linger {_user()}` gives you one, also while you are logged out; "
            "log in again, then `jsonlstore service install`"
        )

    def _ask(self, *words: str, must: bool = True) -> str:
        return _run(["systemctl", "--user", *words], must=must)


class Launchd(Service):
    """A launchd agent of the user's."""

    kind = "launchd"

    @property
    def path(self) -> Path:
        return self.home / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def text(self) -> bytes:
        agent = plistlib.loads(_template("launchd.plist").encode())
        agent["ProgramArguments"] = self.command()
        agent["StandardErrorPath"] = os.fspath(self.home / "Library" / "Logs" / "jsonlstore.log")
        if self.environment:
            agent["EnvironmentVariables"] = dict(self.environment)
        return plistlib.dumps(agent)

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

    def _state(self) -> tuple[bool, bool, str]:
        said = _run(["launchctl", "print", self._target()], must=False) if shutil.which("launchctl") else ""
        runs = "state = running" in said
        return bool(said), runs, "running" if runs else "launchd does not run it"

    @staticmethod
    def _target() -> str:
        return f"gui/{os.getuid()}/{LABEL}"


KINDS: dict[str, type[Service]] = {"systemd": Systemd, "launchd": Launchd}


def default_kind() -> str:
    return "launchd" if sys.platform == "darwin" else "systemd"


def _run(command: Sequence[str], *, must: bool = True) -> str:
    """The output of a service manager's command; a failure is an error only if `must`."""
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


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


def _template(name: str) -> str:
    return (Path(__file__).parent / "data" / name).read_text(encoding="utf-8")


def _argument(word: str) -> str:
    """A command line word with `$` escaped."""
    return _quoted(word.replace("$", "$$"))


def _quoted(word: str) -> str:
    """A word quoted for a unit file, in which `%`, spaces and quotes are special."""
    word = word.replace("%", "%%")
    if any(c in word for c in " \t\"'\\"):
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word
