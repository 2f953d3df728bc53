"""The unit under a real systemd user manager: ready, kept alive, restarted, confined, and gone without a trace.

The manager runs in namespaces of its own, as a user without any capability would run it; nothing outside changes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.watch.conftest import OpenClaw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SYSTEMD = next((path for path in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if os.path.exists(path)), "")
TOOLS = ("unshare", "nsenter", "setpriv", "systemctl")
HOME = Path("/mnt")
# a manager of its own needs a cgroup to keep its services in, and the directories a system manager would have made
START = """
set -e
mount --make-rprivate /
mount --bind "$1" /mnt
mount -t cgroup2 none /sys/fs/cgroup
mkdir "/sys/fs/cgroup/$2"
echo $$ > "/sys/fs/cgroup/$2/cgroup.procs"
mount -t tmpfs none /run
mkdir -p /run/user/0 /run/systemd/unit-root /run/systemd/system
chmod 700 /run/user/0
setpriv --bounding-set=-all --inh-caps=-all "$3" --user &
wait  # as process 1 it would take itself for the system's
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SYSTEMD, reason="systemd is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a user manager in namespaces of its own"),
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
]


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen in time"
        time.sleep(0.1)


class Manager:
    """A user's systemd, with a home directory at `/mnt` that is `home` outside."""

    def __init__(self, home: Path, name: str) -> None:
        self.home, self._name = home, name
        self._log = home.parent / "manager.log"
        self._env = {"HOME": str(HOME), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/run/user/0"}
        command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", START, "sh"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, str(home), name, SYSTEMD], env=self._env, stdout=log, stderr=log, start_new_session=True
            )
        self._init = 0

    def begin(self) -> None:
        wait_until(self._is_up, "the manager's start", 20)

    def _is_up(self) -> bool:
        if self._process.poll() is not None:
            pytest.skip(f"no user manager can be started here: {self._log.read_text()[-300:]}")
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        if not children:
            return False
        self._init = int(children[0])
        return self.run("systemctl", "--user", "show-environment", check=False).returncode == 0

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        entry = ["nsenter", "-t", str(self._init), "-m", "-p", "--wd=/"]
        done = subprocess.run([*entry, *words], env=self._env, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def ours(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "jsonlstore", *words, check=check)

    def show(self, name: str) -> str:
        said = self.run("systemctl", "--user", "show", f"--property={name}", "--value", "jsonlstore-watch.service")
        return said.stdout.strip()

    def inside(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script where the service runs, seeing what it sees and allowed what it is."""
        pid = self.show("MainPID")
        entry = ["nsenter", "-t", pid, "-m", "-U", "-S", "0", "-G", "0", "--wd=/", "sh", "-c", script]
        return self.run(*entry, check=False)

    def end(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for top in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")):
            folders = [Path(folder) for folder, _, _ in os.walk(top / self._name)]
            for folder in reversed(folders):
                wait_until(lambda here=folder: _removed(here), f"the end of {folder}", 10)  # type: ignore[misc]


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return not folder.exists()
    return True


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    home = tmp_path / "home"
    home.mkdir()
    made = Manager(home, f"jsonlstore-{uuid.uuid4().hex[:8]}")
    try:
        made.begin()
        yield made
    finally:
        made.end()


def test_the_service_lives_as_promised_and_leaves_no_trace(manager: Manager) -> None:
    session_id = "5f0c1c1e-0000-4000-8000-000000000001"
    OpenClaw(manager.home / ".openclaw").begin(session_id, "lighthouse")

    manager.ours("service", "install")
    wait_until(lambda: manager.show("ActiveState") == "active", "readiness")
    assert manager.show("StatusText").startswith("watching ")
    told = json.loads(manager.ours("service", "status", "--json").stdout)
    assert (told["installed"], told["enabled"], told["active"], told["current"]) == (True, True, True, True)
    assert [one["session_id"] for one in json.loads(manager.ours("list", "--json").stdout)] == [session_id]

    # settings are read again without a new process; a kill brings a new one
    pid = manager.show("MainPID")
    manager.run("systemctl", "--user", "reload", "jsonlstore-watch.service")
    assert (manager.show("ActiveState"), manager.show("MainPID")) == ("active", pid)
    manager.run("systemctl", "--user", "kill", "--signal=KILL", "jsonlstore-watch.service")
    wait_until(lambda: manager.show("NRestarts") == "1" and manager.show("ActiveState") == "active", "the restart")
    assert manager.show("MainPID") != pid

    # installing again runs what it says now
    pid = manager.show("MainPID")
    (manager.home / "settings.json").write_text("{}")
    manager.ours("--config", "/mnt/settings.json", "service", "install")
    wait_until(lambda: manager.show("ActiveState") == "active", "readiness")
    assert manager.show("MainPID") != pid
    assert "--config /mnt/settings.json" in manager.show("ExecStart")

    # silence is noticed
    folder = manager.home / ".config/systemd/user/jsonlstore-watch.service.d"
    folder.mkdir()
    (folder / "impatient.conf").write_text("[Service]\nWatchdogSec=2\nRestartSec=0\n")
    manager.run("systemctl", "--user", "daemon-reload")
    manager.run("systemctl", "--user", "restart", "jsonlstore-watch.service")
    restarts, started = manager.show("NRestarts"), time.monotonic()
    wait_until(lambda: time.monotonic() - started > 5, "five quiet seconds")
    assert manager.show("NRestarts") == restarts
    manager.run("systemctl", "--user", "kill", "--signal=STOP", "jsonlstore-watch.service")
    wait_until(lambda: manager.show("NRestarts") != restarts, "the watchdog's bite")
    shutil.rmtree(folder)

    manager.ours("service", "uninstall")
    assert [path for path in (manager.home / ".config").rglob("*") if not path.is_dir()] == []
    assert manager.show("LoadState") == "not-found"
    assert manager.show("MainPID") == "0"


def test_a_second_watcher_and_earlier_failures_are_told_and_forgiven(manager: Manager) -> None:
    (manager.home / ".openclaw/agents").mkdir(parents=True)
    manager.run(
        "systemd-run", "--user", "--unit=other", "--service-type=notify", sys.executable, "-m", "jsonlstore", "watch"
    )
    refused = manager.ours("service", "install", check=False)
    assert refused.returncode == 1
    assert "already watches" in refused.stderr
    manager.run("systemctl", "--user", "stop", "other.service")
    for _ in range(12):  # as often as the unit may fail, and more
        manager.run("systemctl", "--user", "kill", "--signal=KILL", "jsonlstore-watch.service", check=False)
        manager.run("systemctl", "--user", "restart", "jsonlstore-watch.service", check=False)
    manager.ours("service", "install")
    wait_until(lambda: manager.show("ActiveState") == "active", "readiness")


def test_the_service_may_write_where_it_must_and_nowhere_else(manager: Manager) -> None:
    (manager.home / ".openclaw" / "agents" / "main" / "sessions").mkdir(parents=True)
    manager.ours("service", "install")
    wait_until(lambda: manager.show("ActiveState") == "active", "readiness")
    if not json.loads(manager.ours("service", "status", "--json").stdout)["confined"]:
        pytest.skip("since Linux 5.12 a root without capabilities, as here, cannot be confined: it runs unconfined")
    states = "/mnt/.openclaw/sessions/states"
    assert manager.inside(f"touch {states}/probe && rm {states}/probe").returncode == 0
    for place in ("/mnt", "/mnt/.openclaw", "/mnt/.openclaw/agents/main/sessions", "/etc", "/usr"):
        assert manager.inside(f"touch {place}/probe").returncode != 0, place
