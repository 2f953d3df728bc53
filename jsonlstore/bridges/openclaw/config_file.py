"""openclaw.json on disk: read whole, replaced whole, with its mode and owner, and never over somebody else's change."""

from __future__ import annotations

import glob
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw.json5_tree import NotEditable, decode
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.core.files import Disk, read_bytes, unreadable, write_failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BACKUP_MARK = ".jsonlstore-backup-"
TEMP_MARK = ".jsonlstore-tmp-"
_MOST_FILES = 100  # followed over `$include`


class ConfigChanged(JsonlStoreError):
    """Somebody else changed the file while we were at it; nothing was written over."""

    code = "config_changed"


class ReadOnlyConfig(JsonlStoreError):
    """The file is not ours to write."""

    code = "config_read_only"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One openclaw.json as it was when we read it; `data` is None where there is none."""

    path: Path  # as it is named
    real: Path  # behind any symbolic link
    data: bytes | None
    mode: int = 0o600
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The content; a file that is not there reads as an empty object."""
        if self.data is None:
            return "{}\n"
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as problem:
            raise NotEditable(f"{self.path} is not UTF-8", path=self.path) from problem

    @property
    def settings(self) -> Any:
        return decode(self.text)


def config_path(state_dir: Path, env: Mapping[str, str] = os.environ) -> Path:
    """Where OpenClaw reads its settings."""
    named = env.get("OPENCLAW_CONFIG_PATH")
    return Path(named).expanduser() if named else state_dir / "openclaw.json"


def read_config(path: Path) -> ConfigFile:
    """The file as it is now."""
    real = Path(os.path.realpath(path))
    try:
        facts = os.stat(real)
    except FileNotFoundError:
        return ConfigFile(path, real, None)
    except OSError as problem:
        raise unreadable(path, problem) from problem
    if not stat.S_ISREG(facts.st_mode):
        raise NotEditable(f"{path} is not a regular file", path=path)
    return ConfigFile(path, real, read_bytes(real), stat.S_IMODE(facts.st_mode), (facts.st_uid, facts.st_gid))


def check_owner(state_dir: Path) -> None:
    """Refuse to put files where OpenClaw, run by somebody else, could not read them."""
    if state_dir.is_dir() and state_dir.stat().st_uid != os.geteuid():
        hint = "run this as the user who runs OpenClaw"
        raise ReadOnlyConfig(f"{state_dir} belongs to another user", hint=hint, path=state_dir)


def check_writable(file: ConfigFile) -> None:
    """Refuse what is meant to stay as it is, before anything at all is written."""
    folder = file.real.parent
    if not folder.is_dir():
        hint = "run OpenClaw once, or name its directory with --state-dir"
        raise ReadOnlyConfig(f"no such directory: {folder}", hint=hint, path=folder)
    if file.data is not None and (not file.mode & 0o222 or not os.access(file.real, os.W_OK)):
        raise ReadOnlyConfig(f"{file.real} is read-only", hint="make it writable", path=file.real)
    if not os.access(folder, os.W_OK | os.X_OK):
        hint = "check who owns the directory and its permissions"
        raise ReadOnlyConfig(f"{folder} is not writable", hint=hint, path=folder)


def replace_config(file: ConfigFile, data: bytes | None, disk: Disk) -> None:
    """Put `data` where `file` was read (None removes it), unless the file changed since."""
    _put(file, data, disk, check=lambda: _check_unchanged(file))


def _put(file: ConfigFile, data: bytes | None, disk: Disk, check: Callable[[], None]) -> None:
    """Put `data` where `file` is, in one step, once it is on disk beside it and `check` has nothing against it."""
    temp = file.real.with_name(f".{file.real.name}{TEMP_MARK}{os.urandom(4).hex()}")
    try:
        if data is not None:
            _write(temp, data, file, disk)
        check()
        if data is None:
            file.real.unlink(missing_ok=True)
        else:
            os.replace(temp, file.real)
        disk.sync_dir(file.real.parent)
    except OSError as problem:
        raise write_failed(file.path, problem) from problem
    finally:
        with suppress(OSError):  # it is gone when all went well
            temp.unlink()


def _check_unchanged(file: ConfigFile) -> None:
    if Path(os.path.realpath(file.path)) != file.real or read_bytes(file.real) != file.data:
        message = f"{file.path} was changed by another program meanwhile; nothing was written"
        raise ConfigChanged(message, hint="run the same command again", path=file.path)


def _write(path: Path, data: bytes, like: ConfigFile, disk: Disk) -> None:
    """A new file with the mode and owner of the one it is to replace."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        facts = os.fstat(fd)
        if like.owner is not None and (facts.st_uid, facts.st_gid) != like.owner:
            os.fchown(fd, *like.owner)
        os.fchmod(fd, like.mode)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        disk.sync_data(fd)
    finally:
        os.close(fd)


def back_up_config(file: ConfigFile, stamp: str, disk: Disk) -> Path | None:
    """A copy beside the original, for its owner only: it may hold secrets, and it goes when we are uninstalled."""
    if file.data is None:
        return None
    target = file.real.with_name(f"{file.real.name}{BACKUP_MARK}{stamp}")
    _put(replace(file, path=target, real=target, mode=0o600), file.data, disk, check=lambda: None)
    return target


def config_backups(path: Path) -> list[Path]:
    """Every copy we made of a file."""
    real = Path(os.path.realpath(path))
    return sorted(real.parent.glob(f"{glob.escape(real.name)}{BACKUP_MARK}*"))


def unfinished_of(path: Path) -> list[Path]:
    """What dead writers of a file or its backup left. Wants the lock they wrote under."""
    real = Path(os.path.realpath(path))
    marks = (TEMP_MARK, BACKUP_MARK)
    return sorted(one for mark in marks for one in real.parent.glob(f".{glob.escape(real.name)}{mark}*"))


def files_naming(folder: Path, config: Path, text: str | None) -> list[Path]:
    """The settings files that name something in `folder`: `config` with this text, and all it includes."""
    found = []
    waiting: list[tuple[Path, str | None]] = [(config, text)]
    seen = {config}
    while waiting and len(seen) <= _MOST_FILES:
        path, content = waiting.pop()
        if content is None:
            continue
        try:
            value = decode(content)
        except NotEditable:
            value = [content]  # what cannot be read may name it wherever the words stand
        words = list(_words(value))
        if any(str(folder) in word for _, word in words):
            found.append(path)
        for other in (path.parent / word for key, word in words if key == "$include"):
            if other not in seen:
                seen.add(other)
                waiting.append((other, _read(other)))
    return found


def _words(value: Any, key: str | None = None) -> Iterator[tuple[str | None, str]]:
    """Every text in a value, each with the key it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _words(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner, key)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
