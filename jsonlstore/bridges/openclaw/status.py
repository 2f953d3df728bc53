"""Whether OpenClaw really has us: what its settings say, what is on disk, and what the plugin itself last reported."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.bridges.openclaw import plugin_files as js
from jsonlstore.bridges.openclaw.config_file import config_path, files_naming, read_config
from jsonlstore.bridges.openclaw.discovery import (
    GATEWAY,
    Installation,
    UnsupportedOpenClaw,
    find_openclaw,
    package_of,
    version_of,
)
from jsonlstore.bridges.openclaw.install_record import read_record
from jsonlstore.bridges.openclaw.json5_edit import lookup
from jsonlstore.bridges.openclaw.plugin_settings import HOOK_DIRS, LOAD_PATHS, PluginSetup, command_path, plan_settings
from jsonlstore.core.clock import parse_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.process import process_exists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.bridges.openclaw.install_record import InstallRecord
    from jsonlstore.core.paths import StatePaths

_AGAIN = "`jsonlstore openclaw install` puts that right"
_TICK = timedelta(seconds=2)  # clocks of two programs, and start times in jiffies


@dataclass(slots=True)
class PluginStatus:
    """What `openclaw status` says."""

    installed: bool = False
    via: str | None = None
    config_path: str = ""
    included_by: str | None = None
    openclaw_version: str | None = None
    openclaw_path: str | None = None
    openclaw_known_by: str = "not found"
    openclaw: str | None = None
    files_present: bool = False
    files_current: bool = False
    command: list[str] | None = None
    gateway_pid: int | None = None
    loaded: bool = False
    loaded_at: str | None = None
    plugin_version: str | None = None
    last_fired_at: str | None = None
    last_result: str | None = None
    last_error: str | None = None
    last_wait_ms: float | None = None
    delivery: str | None = None
    delivery_seen_at: str | None = None
    hook_log: str | None = None
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        from jsonlstore.redact import redact_text

        command = [redact_text(str(word)) for word in self.command] if self.command else self.command
        return {**asdict(self), "command": command}


def plugin_status(
    paths: StatePaths, *, named: str | None = None, env: Mapping[str, str] = os.environ, proc: Path = Path("/proc")
) -> PluginStatus:
    """Look at everything, change nothing; what cannot be read is a problem, not an error."""
    found = PluginStatus(config_path=str(config_path(paths.state_dir, env)))
    settings: Any = {}
    try:
        settings = read_config(config_path(paths.state_dir, env)).settings
    except JsonlStoreError as problem:
        found.problems.append(problem.message)
    try:
        openclaw = find_openclaw(paths.state_dir, settings, named=named, env=env)
    except UnsupportedOpenClaw as problem:
        openclaw = Installation()
        found.problems.append(problem.message)
    found.gateway_pid = _gateway(paths.state_dir, proc)
    if named is None:
        openclaw = running_openclaw(paths, proc) or openclaw
    found.openclaw_version, found.openclaw_known_by = openclaw.version, openclaw.known_by
    found.openclaw_path = str(openclaw.package) if openclaw.package else None
    found.openclaw = openclaw.describe() if openclaw.version else None
    _check_settings(found, paths, settings, openclaw)
    _check_heartbeat(found, paths, proc)
    _check_delivery(found, paths)
    return found


def running_openclaw(paths: StatePaths, proc: Path = Path("/proc")) -> Installation | None:
    """The OpenClaw that runs now: as its gateway told our plugin, or by the program it was started from."""
    beat = read_heartbeat(paths)
    pid, version, since = beat.get("pid"), beat.get("openclaw_version"), beat.get("loaded_at")
    since = since if isinstance(since, str) else None
    if isinstance(pid, int) and isinstance(version, str) and _is_that_process(pid, since, proc):
        return Installation(version, None, GATEWAY)
    gateway_pid = _gateway(paths.state_dir, proc)
    if gateway_pid is None:
        return None
    try:
        words = (proc / str(gateway_pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return None
    for word in filter(None, words):
        package = package_of(Path(os.fsdecode(word))) if word.startswith(b"/") else None
        if package is not None:
            return Installation(version_of(package), package, GATEWAY)
    return None


def _check_settings(found: PluginStatus, paths: StatePaths, settings: Any, openclaw: Installation) -> None:
    """What the settings and the disk say."""
    for via, list_path in (("plugin", LOAD_PATHS), ("hook", HOOK_DIRS)):
        listed = lookup(settings, list_path)
        if isinstance(listed, list) and str(js.folder_of(paths, via)) in listed:
            found.installed, found.via = True, via
            break
    if not found.installed:
        _check_included_files(found, paths)
    if found.via is None:
        return
    command = lookup(settings, command_path(found.via))
    found.command = [command] if isinstance(command, str) else command if isinstance(command, list) else None
    there = js.deployed(paths)
    found.files_present, found.files_current = bool(there), there == js.packaged()
    if not there:
        found.problems.append(f"the files OpenClaw should load are gone; {_AGAIN}")
    elif not found.files_current:
        found.problems.append(f"OpenClaw loads files of another jsonlstore version; {_AGAIN}")
    if found.command and shutil.which(str(found.command[0])) is None:
        found.problems.append(f"{found.command[0]} cannot be run any more; {_AGAIN}")
    if found.included_by:
        return  # what several files come to together is OpenClaw's to say
    where = str(js.folder_of(paths, found.via))
    wanted = PluginSetup(found.via, where, tuple(found.command or js.own_command()), openclaw.release)
    changes, notes = plan_settings(settings, wanted)
    missing = [".".join(change.path) for change in changes]
    found.problems += notes
    found.problems += [f"{name} is not set as this OpenClaw wants it; {_AGAIN}" for name in missing]


def _check_included_files(found: PluginStatus, paths: StatePaths) -> None:
    """Whether a file that the settings include names us: put there by hand, as an install that was refused advised."""
    try:
        text = read_config(Path(found.config_path)).text
    except JsonlStoreError:
        return
    for via in js.WAYS:
        files = files_naming(js.folder_of(paths, via), Path(found.config_path), text)
        if files:
            found.installed, found.via, found.included_by = True, via, str(files[0])
            return


def _check_heartbeat(found: PluginStatus, paths: StatePaths, proc: Path) -> None:
    """What the plugin said when it was loaded and when it last ran."""
    beat = read_heartbeat(paths)
    for name in ("loaded_at", "plugin_version", "last_fired_at", "last_result", "last_error"):
        setattr(found, name, said if isinstance(said := beat.get(name), str) else None)
    waited = beat.get("last_wait_ms")
    found.last_wait_ms = waited if isinstance(waited, (int, float)) else None
    pid = beat.get("pid")
    alive = isinstance(pid, int) and _is_that_process(pid, found.loaded_at, proc)
    if alive and found.gateway_pid is None:
        found.gateway_pid = pid
    found.loaded = found.installed and alive and _since_the_edit(found.loaded_at, read_record(paths))
    if not found.installed:
        return
    if found.gateway_pid is not None and not found.loaded:
        found.problems.append(
            f"the running gateway (process {found.gateway_pid}) has not loaded it: restart it, "
            "then see what `openclaw plugins list` says"
        )
    if found.last_result in ("error", "timeout"):
        found.problems.append(f"it last ended in {found.last_result}: {found.last_error or 'no reason given'}")


def _check_delivery(found: PluginStatus, paths: StatePaths) -> None:
    """Whether the last block reached the model: seen, unconfirmed, or given and never arrived, and why."""
    if os.path.isfile(paths.hook_log):  # false where we may not look
        found.hook_log = str(paths.hook_log)
    if not found.installed:
        return
    told = read_heartbeat(paths).get("delivery")
    told = told if isinstance(told, dict) else {}
    given, seen, missed = (value if isinstance(value := told.get(f"{name}_at"), str) else "" for name in _STEPS)
    found.delivery_seen_at = seen or None
    if missed > seen:
        found.delivery = f"given at {given}, never arrived: {_why_not(found) or 'the request did not hold it'}"
        found.problems.append(f"what was restored was {found.delivery}")
    elif seen:
        found.delivery = f"last seen in what the model was sent at {seen}"
    elif given:
        reason = _why_not(found) or ("the hook is not shown what the model is sent" if found.via == "hook" else "")
        found.delivery = f"unconfirmed since {given}" + (f": {reason}" if reason else "")
    else:
        why = _why_not(found)
        found.delivery = f"nothing was given: {why}" if why else "nothing was given yet"


_STEPS = ("given", "seen", "missed")


def arrivals(paths: StatePaths) -> dict[str, tuple[str, bool]]:
    """Session -> when its block was last looked for in what the model was sent, and whether it was there."""
    told = read_heartbeat(paths).get("deliveries")
    found: dict[str, tuple[str, bool]] = {}
    for session_id, delivery in told.items() if isinstance(told, dict) else ():
        times = delivery if isinstance(delivery, dict) else {}
        seen, missed = (value if isinstance(value := times.get(f"{name}_at"), str) else "" for name in _STEPS[1:])
        if seen or missed:
            found[str(session_id)] = (max(seen, missed), seen >= missed)
    return found


def _why_not(found: PluginStatus) -> str | None:
    """The likely reason that a block does not reach the model."""
    if any("allowConversationAccess" in problem for problem in found.problems):
        return "conversation access is not granted"
    if found.gateway_pid is not None and not found.loaded:
        return "the plugin is not loaded"
    if found.last_result in ("timeout", "error"):
        return f"{found.last_result}: {found.last_error or 'no reason given'}"
    return None


def read_heartbeat(paths: StatePaths) -> dict[str, Any]:
    """What the plugin wrote; empty if it never did or it cannot be read."""
    try:
        raw = orjson.loads(paths.plugin_heartbeat.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return raw if isinstance(raw, dict) else {}


def _since_the_edit(loaded_at: str | None, record: InstallRecord | None) -> bool:
    """Whether it was loaded after our last change to the settings."""
    if record is None or not record.edits:
        return loaded_at is not None
    try:
        return parse_time(loaded_at or "") >= parse_time(record.edits[-1].at) - _TICK
    except ValueError:
        return False


def _is_that_process(pid: int, since: str | None, proc: Path) -> bool:
    """Whether `pid` runs and is old enough to have written at `since`: numbers are used again."""
    if not process_exists(pid):
        return False
    started = _started(pid, proc)
    try:
        return started is None or since is None or started <= parse_time(since) + _TICK
    except ValueError:
        return True


def _started(pid: int, proc: Path) -> datetime | None:
    """When a process began, where the system tells."""
    try:
        ticks = int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[19])
        boot = next(line for line in (proc / "stat").read_text().splitlines() if line.startswith("btime"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return datetime.fromtimestamp(int(boot.split()[1]) + ticks / os.sysconf("SC_CLK_TCK"), UTC)


def _gateway(state_dir: Path, proc: Path) -> int | None:
    """The process of the gateway that uses `state_dir`, where the system lets us look."""
    try:
        entries = sorted((path for path in proc.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    except OSError:
        return None
    for entry in entries:
        try:
            words = (entry / "cmdline").read_bytes()
            if b"openclaw" not in words or b"gateway" not in words:
                continue
            pairs = (pair.partition(b"=") for pair in (entry / "environ").read_bytes().split(b"\0"))
            env = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
        except OSError:
            continue
        if _uses(env, state_dir):
            return int(entry.name)
    return None


def _uses(env: Mapping[str, str], state_dir: Path) -> bool:
    from jsonlstore.core.paths import resolve_state_dir

    if not env.get("OPENCLAW_STATE_DIR") and not env.get("OPENCLAW_HOME"):
        return Path(env.get("HOME", "/")) / ".openclaw" == state_dir
    return resolve_state_dir(None, env) == state_dir
