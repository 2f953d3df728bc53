"""Put the plugin into OpenClaw's settings and take it out again: every step can be repeated, none leaves a half.

Order matters. Installing: files, record, backup, settings, so that the settings never name what is not there.
Uninstalling: settings, files, backups, record. Whatever is interrupted is completed by running it again.
"""

from __future__ import annotations

import difflib
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw import plugin_files as js
from jsonlstore.bridges.openclaw.config_file import (
    ConfigChanged,
    ConfigFile,
    ReadOnlyConfig,
    back_up_config,
    check_owner,
    check_writable,
    config_backups,
    files_naming,
    read_config,
    replace_config,
    unfinished_of,
)
from jsonlstore.bridges.openclaw.install_record import (
    NAME,
    AppliedEdit,
    InstallRecord,
    digest,
    read_record,
    record_path,
    write_record,
)
from jsonlstore.bridges.openclaw.json5_edit import Add, DropItem, Edit, Put, edit
from jsonlstore.bridges.openclaw.json5_tree import NotEditable, mask_unchanged_values
from jsonlstore.bridges.openclaw.plugin_settings import (
    ENTRY,
    PluginSetup,
    containers,
    lines_to_paste,
    plan_settings,
)
from jsonlstore.bridges.openclaw.removal import settings_without_us
from jsonlstore.bridges.openclaw.workspace_files import (
    ExtensionPlan,
    any_extension,
    plan_extension,
    remove_extension,
    write_extension,
)
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk
from jsonlstore.core.locks import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from jsonlstore.bridges.openclaw.discovery import Installation
    from jsonlstore.bridges.openclaw.json5_edit import Change
    from jsonlstore.core.paths import StatePaths

_ATTEMPTS = 3
_MAY_NAME_US = (ENTRY[-1].encode(), b"$include")
_NO_COMPACTION = (
    "compaction was left as it is: how this version of OpenClaw takes a summary is unknown; of those up to 2026.3 and "
    "from 2026.5 on it is (name yours with --openclaw PATH)"
)
_NO_COMPACTION_BY_HOOK = "compaction was left as it is: it needs the plugin, not the hook"
_UNKNOWN_VERSION = (
    "the version of OpenClaw is not known: one from 2026.5.7 on lets the plugin see sessions only after "
    "`jsonlstore openclaw install --openclaw PATH`"
)


@dataclass(slots=True)
class InstallReport:
    """What was done, or would be."""

    config_path: str
    changed: bool = False
    settings_changed: bool = False
    files_changed: bool = False
    exact: bool | None = None  # uninstall: the file is byte for byte what it was
    backup: str | None = None
    diff: str = ""
    notes: list[str] = field(default_factory=list)


class Installer:
    """Our place in one OpenClaw."""

    def __init__(
        self,
        paths: StatePaths,
        config_path: Path,
        clock: Callable[[], datetime],
        *,
        disk: Disk | None = None,
        command: tuple[str, ...] | None = None,
    ) -> None:
        self._paths = paths
        self._config_path = config_path
        self._clock = clock
        self._disk = disk or Disk()
        self._command = command or js.own_command()

    # -- install

    def install(
        self, found: Installation, *, via: str = "plugin", compaction: bool = False, dry_run: bool = False
    ) -> InstallReport:
        """Make OpenClaw load us; what is already so is left alone.

        With `compaction`, our checkpoint is also its compaction summary; once wanted, it stays so until an uninstall.
        """
        packaged = js.packaged()
        record = read_record(self._paths)
        compacts = compaction or (record is not None and record.compaction)
        folder = str(js.folder_of(self._paths, via))
        wanted = PluginSetup(via, folder, self._command, found.release, compacts and via == "plugin")
        check_owner(self._paths.state_dir)
        self._check_single_config()
        try:
            outcome = self._install(wanted, packaged, dry_run=True)
        except NotEditable as problem:
            raise self._refusal(problem, wanted, packaged, dry_run=dry_run) from problem
        unknown = [] if found.is_known or via == "hook" else [_UNKNOWN_VERSION]
        if compacts and not (wanted.uses_provider or wanted.uses_extension):
            unknown.append(_NO_COMPACTION_BY_HOOK if via == "hook" else _NO_COMPACTION)
        outcome.notes += unknown
        if dry_run or not outcome.changed:
            return outcome
        if outcome.settings_changed:
            try:
                check_writable(read_config(self._config_path))
            except ReadOnlyConfig as problem:
                if not self._paths.state_dir.is_dir():
                    raise  # no OpenClaw here at all
                raise self._refusal(problem, wanted, packaged, dry_run=False) from problem
        with self._lock(), self._all_or_nothing():
            outcome = self._with_retries(lambda: self._install(wanted, packaged))
        outcome.notes += unknown
        return outcome

    def _install(self, wanted: PluginSetup, packaged: dict[str, bytes], *, dry_run: bool = False) -> InstallReport:
        file = read_config(self._config_path)
        record = read_record(self._paths) or InstallRecord(str(self._config_path), wanted.via)
        settings = file.settings
        changes, notes = plan_settings(settings, wanted, record.ours)
        made = edit(file.text, changes)
        extensions = plan_extension(settings, self._paths.state_dir) if wanted.uses_extension else ExtensionPlan()
        outcome = InstallReport(str(self._config_path), diff=_diff(file, made.after), notes=[*notes, *extensions.notes])
        outcome.settings_changed = bool(made.splices)
        outcome.files_changed = js.deployed(self._paths) != packaged or bool(extensions.files)
        outcome.changed = outcome.settings_changed or outcome.files_changed
        if dry_run or not outcome.changed:
            return outcome
        js.deploy(self._paths, self._disk, packaged)
        record.compaction = wanted.compaction
        if extensions.files:
            record.workspace_files = list(dict.fromkeys([*record.workspace_files, *map(str, extensions.files)]))
            record.workspace_folders = list(dict.fromkeys([*record.workspace_folders, *map(str, extensions.folders)]))
            write_record(self._paths, record, self._disk)
            write_extension(extensions, self._disk)
        if outcome.settings_changed:
            data = _encoded(made)
            stamp = self._clock().strftime("%Y%m%dT%H%M%S")
            self._record_edit(record, file, made, data, changes, settings, wanted)
            saved = back_up_config(file, stamp, self._disk)
            outcome.backup = str(saved) if saved else None
            replace_config(file, data, self._disk)
        return outcome

    def _record_edit(
        self,
        record: InstallRecord,
        file: ConfigFile,
        made: Edit,
        data: bytes,
        changes: list[Change],
        settings: Any,
        wanted: PluginSetup,
    ) -> None:
        """Write down what is about to be done, before it is: an edit that never happened is told by its digest."""
        before = None if file.data is None else digest(file.data)
        record.config_path, record.via = str(self._config_path), wanted.via
        record.edits = _edits_in_force(record.edits, before)
        record.edits.append(AppliedEdit(before, digest(data), made.splices, format_time(self._clock())))
        put = {change.path for change in changes if isinstance(change, Put)}
        gone = [Add(change.path, change.item) for change in changes if isinstance(change, DropItem)]
        kept = [one for one in record.ours if one not in gone and not (isinstance(one, Put) and one.path in put)]
        record.ours = [*kept, *(one for one in changes if isinstance(one, (Put, Add)) and one not in kept)]
        record.containers += [path for path in containers(settings, changes) if path not in record.containers]
        write_record(self._paths, record, self._disk)

    # -- uninstall

    def uninstall(self, *, dry_run: bool = False) -> InstallReport:
        """Take out what we put in; a file nobody else changed is then what it was, byte for byte."""
        if dry_run or not self._uninstall(dry_run=True).changed:
            return self._uninstall(dry_run=True)
        with self._lock():
            return self._with_retries(self._uninstall)

    def _uninstall(self, *, dry_run: bool = False) -> InstallReport:
        record = read_record(self._paths)
        if record is not None and os.path.exists(record.config_path):
            self._config_path = Path(record.config_path)  # where we were installed, whatever is in force now
        file = read_config(self._config_path)
        outcome = InstallReport(str(self._config_path))
        data = file.data
        if file.data is not None:
            try:
                data, outcome.exact, outcome.notes = settings_without_us(self._paths, file, record)
            except NotEditable as problem:
                if record is not None or any(word in file.data for word in _MAY_NAME_US):
                    raise self._removal_refusal(problem, file) from problem
        outcome.settings_changed = data != file.data
        text = None if data is None else data.decode("utf-8", "replace")
        outcome.diff = _diff(file, text or "")
        self._check_unreferenced(text)
        traces = [*config_backups(self._config_path), self._paths.plugin_heartbeat, record_path(self._paths)]
        outcome.files_changed = js.root_of(self._paths).exists() or any(path.exists() for path in traces)
        extensions = record.workspace_files if record else []
        outcome.files_changed |= any_extension(extensions)
        outcome.changed = outcome.settings_changed or outcome.files_changed
        if dry_run or not outcome.changed:
            return outcome
        if outcome.settings_changed:
            check_writable(file)
            replace_config(file, data, self._disk)
        remove_extension(extensions, record.workspace_folders if record else (), self._disk)
        js.withdraw(self._paths, self._disk)
        for path in traces:
            self._disk.remove(path)
        return outcome

    def _check_unreferenced(self, text: str | None) -> None:
        """Refuse to remove files that settings out of our reach still name: OpenClaw might not start without them."""
        left = files_naming(js.root_of(self._paths), self._config_path, text)
        if left:
            hint = f"remove the lines that name {js.root_of(self._paths)} there, then run this again"
            raise NotEditable(f"{left[0]} still names the plugin; nothing was changed", hint=hint, path=left[0])

    # -- both

    def _check_single_config(self) -> None:
        """One state directory is wired to one settings file: uninstalling must know which."""
        record = read_record(self._paths)
        elsewhere = Path(record.config_path) if record else self._config_path
        if elsewhere == self._config_path or not elsewhere.exists():
            return
        if files_naming(js.root_of(self._paths), elsewhere, read_config(elsewhere).text):
            hint = "`jsonlstore openclaw uninstall` first"
            raise NotEditable(f"already installed in {elsewhere}", hint=hint, path=elsewhere)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A first install that is refused half-way, by a full disk say, leaves nothing behind."""
        first = not record_path(self._paths).exists() and not js.root_of(self._paths).exists()
        known = set(config_backups(self._config_path))
        try:
            yield
        except JsonlStoreError:
            if first:
                # why it failed matters more than what cannot be cleared away; running it again does both
                with suppress(JsonlStoreError, OSError):
                    record = read_record(self._paths)
                    if record is not None:
                        remove_extension(record.workspace_files, record.workspace_folders, self._disk)
                    js.withdraw(self._paths, self._disk)
                    for path in (record_path(self._paths), *set(config_backups(self._config_path)) - known):
                        self._disk.remove(path)
            raise

    def _with_retries(self, step: Callable[[], InstallReport]) -> InstallReport:
        """OpenClaw writes its settings too: what changed under us is read again, a few times."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(ConfigChanged):
                return step()
        return step()

    @contextmanager
    def _lock(self) -> Iterator[None]:
        self._disk.make_dir(self._paths.states)
        with locked(self._paths.states / "openclaw.lock"):
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Clear away what an interrupted run left unfinished."""
        self._disk.sweep(self._paths.states, NAME)
        for path in (*unfinished_of(self._config_path), *js.unfinished(self._paths)):
            self._disk.remove(path)

    def _refusal(
        self, problem: JsonlStoreError, wanted: PluginSetup, packaged: dict[str, bytes], *, dry_run: bool
    ) -> JsonlStoreError:
        """Why the settings stay as they are, and what to do by hand; the files to name are put in place for that."""
        if not dry_run:
            with self._lock():
                js.deploy(self._paths, self._disk, packaged)
        named = str(self._config_path) in problem.message
        message = f"{'' if named else f'{self._config_path}: '}{problem.message}; nothing was changed in it"
        hint = f"add these lines yourself:\n{lines_to_paste(wanted)}"
        return type(problem)(message, hint=hint, path=self._config_path)

    def _removal_refusal(self, problem: NotEditable, file: ConfigFile) -> NotEditable:
        from jsonlstore.redact import redact_text

        folder = str(js.root_of(self._paths))
        lines = [
            f"  line {number}: {redact_text(line.strip())[:160]}"
            for number, line in enumerate((file.data or b"").decode("utf-8", "replace").splitlines(), 1)
            if ENTRY[-1] in line or folder in line
        ]
        where = "remove what these lines begin or name:\n" + "\n".join(lines[:20]) if lines else None
        message = f"{self._config_path}: {problem.message}; nothing was changed"
        return NotEditable(message, hint=where, path=self._config_path)


def _edits_in_force(edits: list[AppliedEdit], now: str | None) -> list[AppliedEdit]:
    """The edits that are in a file of this digest: those after its state were never made, or taken back by hand."""
    for count in range(len(edits), 0, -1):
        if edits[count - 1].after == now:
            return edits[:count]
    for count, one in enumerate(edits):
        if one.before == now:
            return edits[:count]
    return edits


def _encoded(made: Edit) -> bytes:
    try:
        return made.after.encode()
    except UnicodeEncodeError as problem:
        raise NotEditable("a path that has to stand in there is not UTF-8") from problem


def _diff(file: ConfigFile, after: str) -> str:
    """The lines that change, for people to read, with nothing around them and no value that stays as it is."""
    from jsonlstore.redact import redact_text

    before = "" if file.data is None else file.data.decode("utf-8", "replace")
    before, after = mask_unchanged_values(before, after)
    name = file.path.name
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=0)
    return redact_text("\n".join(lines))
