"""A machine that fails on demand: the operating system's calls, counted, with a fault at the n-th.

The wrappers stand between Python and the kernel, not between parts of the store. Each run happens in a forked child
of its own, so that a SIGKILL is a real one: no `finally`, no `atexit`, no buffer is flushed.

Beside the live files the machine keeps what a power cut would leave: file contents as of their last fsync, directory
listings as of theirs. The store syncs for real in production; here a sync only moves that line, because neither a
killed process nor a failed call can tell the difference.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GROWING = frozenset({"open", "write", "mkdir", "replace"})


@dataclass(frozen=True)
class Fault:
    """What happens at the n-th call that changes the disk."""

    at: int
    kind: str  # kill | torn | nearly | power | names | fail | full | short
    error: int = 0
    only: frozenset[str] = frozenset()  # count these calls only; empty = all

    def __str__(self) -> str:
        return f"{self.kind}{'-' + errno.errorcode[self.error] if self.error else ''} at call {self.at}"


WRITES = frozenset({"write"})
SYNCS = frozenset({"fsync", "fdatasync"})


@dataclass
class Durable:
    """What the platter holds: contents by inode, names by directory inode."""

    contents: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    kinds: dict[int, bool] = field(default_factory=dict)  # inode -> is a directory


class Machine:
    """Counts the calls that change anything under `root` and strikes at the right one."""

    def __init__(self, root: Path, fault: Fault | None, crash_site: Path | None = None) -> None:
        self.root = os.path.realpath(root)
        self.fault = fault
        self.crash_site = crash_site
        self.calls = 0
        self.created: list[str] = []
        self.trace: list[str] = []
        self._paths: dict[int, str] = {}
        self._durable = Durable()
        self._real: dict[str, Callable[..., Any]] = {}
        if fault and fault.kind in ("power", "names"):
            self._settle(self.root)

    @contextmanager
    def running(self) -> Iterator[Machine]:
        """Stand between Python and the kernel."""
        wrapped = {
            "open": self._open, "close": self._close, "write": self._write, "fsync": self._fsync,
            "fdatasync": self._fdatasync, "replace": self._replace, "rename": self._rename, "unlink": self._unlink,
            "ftruncate": self._ftruncate, "mkdir": self._mkdir, "link": self._refuse, "truncate": self._refuse,
        }  # fmt: skip
        self._real = {name: getattr(os, name) for name in wrapped}
        with patch.multiple(os, **wrapped):
            yield self

    # -- the calls

    def _open(self, path: Any, flags: int, mode: int = 0o777, **rest: Any) -> int:
        ours, fresh = isinstance(path, (str, Path)) and self._ours(path), False
        if ours and flags & os.O_CREAT and not os.path.lexists(path):
            self._strike("open", path)
            self.created.append(os.fspath(path))
            fresh = True
        fd: int = self._real["open"](path, flags, mode, **rest)
        if fresh:
            self._forget_inode(os.fstat(fd).st_ino)
        if ours:
            self._paths[fd] = os.fspath(path)
        return fd

    def _close(self, fd: int) -> None:
        self._paths.pop(fd, None)
        self._real["close"](fd)

    def _write(self, fd: int, data: Any) -> int:
        if fd not in self._paths:
            return int(self._real["write"](fd, data))
        taken = self._strike("write", self._paths[fd], fd=fd, data=bytes(data))
        return int(self._real["write"](fd, data)) if taken is None else taken

    def _fsync(self, fd: int) -> None:
        self._sync("fsync", fd)

    def _fdatasync(self, fd: int) -> None:
        self._sync("fdatasync", fd)

    def _sync(self, name: str, fd: int) -> None:
        if fd not in self._paths:
            self._real[name](fd)
            return
        self._strike(name, self._paths[fd])
        if self.fault and self.fault.kind in ("power", "names"):
            self._sync_one(fd)

    def _replace(self, source: Any, target: Any) -> None:
        if self._ours(target):
            self._strike("replace", target)
            self.created.append(os.fspath(target))
        self._real["replace"](source, target)

    def _rename(self, source: Any, target: Any, **rest: Any) -> None:
        assert not self._ours(target), "use os.replace: os.rename refuses an existing target on some systems"
        self._real["rename"](source, target, **rest)

    def _unlink(self, path: Any, **rest: Any) -> None:
        if self._ours(path) and os.path.lexists(path):
            self._strike("unlink", path)
        self._real["unlink"](path, **rest)

    def _ftruncate(self, fd: int, length: int) -> None:
        if fd in self._paths:
            self._strike("ftruncate", self._paths[fd])
        self._real["ftruncate"](fd, length)

    def _mkdir(self, path: Any, mode: int = 0o777, **rest: Any) -> None:
        if self._ours(path) and not os.path.isdir(path):
            self._strike("mkdir", path)
            self.created.append(os.fspath(path) + "/")
        self._real["mkdir"](path, mode, **rest)

    def _refuse(self, *args: Any, **rest: Any) -> NoReturn:
        raise AssertionError(f"a call the fault machine does not know: {args}")

    # -- the faults

    def _ours(self, path: Any) -> bool:
        path = os.path.abspath(os.fspath(path))
        return path == self.root or path.startswith(self.root + "/")

    def _strike(self, name: str, path: Any, fd: int = -1, data: bytes = b"") -> int | None:
        """Count this call; fail, cut short or kill if its turn has come. Returns what a short write took."""
        fault = self.fault
        self.trace.append(f"{name} {os.fspath(path)}")
        if fault is not None and fault.only and name not in fault.only:
            return None
        self.calls += 1
        if fault is None or self.calls < fault.at:
            return None
        if fault.kind == "full" and name in GROWING:
            raise OSError(fault.error, os.strerror(fault.error), os.fspath(path))
        if fault.kind == "short" and self.calls == fault.at + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))
        if self.calls > fault.at:
            return None
        return self._strike_now(fault, path, fd, data)

    def _strike_now(self, fault: Fault, path: Any, fd: int, data: bytes) -> int | None:
        match fault.kind:
            case "fail":
                raise OSError(fault.error, os.strerror(fault.error), os.fspath(path))
            case "short":
                return int(self._real["write"](fd, data[: len(data) // 2]))
            case "torn":
                self._real["write"](fd, data[: len(data) // 2])
            case "nearly":
                self._real["write"](fd, data[:-1])
            case "power" | "names":
                self._cut_power(with_names=fault.kind == "names")
            case "full":
                return None
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")

    # -- what a power cut leaves

    def _settle(self, path: str) -> int:
        """Take everything under `path` for durable."""
        found = os.lstat(path)
        is_dir = stat.S_ISDIR(found.st_mode)
        self._durable.kinds[found.st_ino] = is_dir
        if is_dir:
            self._durable.names[found.st_ino] = {
                name: self._settle(os.path.join(path, name)) for name in os.listdir(path)
            }
        else:
            self._durable.contents[found.st_ino] = Path(path).read_bytes()
        return found.st_ino

    def _sync_one(self, fd: int) -> None:
        found = os.fstat(fd)
        if not stat.S_ISDIR(found.st_mode):
            self._durable.contents[found.st_ino] = Path(f"/proc/self/fd/{fd}").read_bytes()
            return
        self._durable.names[found.st_ino] = self._listing(self._paths[fd])

    def _forget_inode(self, inode: int) -> None:
        """A new file may get the number of one that was just removed: the old one goes on under a number of its own."""
        if inode not in self._durable.kinds:
            return
        self._durable.kinds[-self.calls] = self._durable.kinds.pop(inode)
        if inode in self._durable.contents:
            self._durable.contents[-self.calls] = self._durable.contents.pop(inode)
        for names in self._durable.names.values():
            names.update({name: -self.calls for name, number in names.items() if number == inode})

    def _listing(self, path: str) -> dict[str, int]:
        out = {}
        for name in os.listdir(path):
            found = os.lstat(os.path.join(path, name))
            out[name] = found.st_ino
            self._durable.kinds[found.st_ino] = stat.S_ISDIR(found.st_mode)
        return out

    def _cut_power(self, *, with_names: bool) -> None:
        """Write what survives to the crash site: synced bytes under synced names, or under all names so far."""
        assert self.crash_site is not None
        root = os.lstat(self.root).st_ino
        if with_names:
            self._names_reach_disk(self.root)
        self._write_out(root, str(self.crash_site))

    def _names_reach_disk(self, path: str) -> None:
        listing = self._listing(path)
        self._durable.names[os.lstat(path).st_ino] = listing
        for name, inode in listing.items():
            if self._durable.kinds[inode]:
                self._names_reach_disk(os.path.join(path, name))

    def _write_out(self, inode: int, path: str) -> None:
        if self._durable.kinds.get(inode, True):
            with suppress(FileExistsError):
                self._real["mkdir"](path, 0o700)
            for name, child in self._durable.names.get(inode, {}).items():
                self._write_out(child, os.path.join(path, name))
            return
        fd = self._real["open"](path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._real["write"](fd, self._durable.contents.get(inode, b""))
        self._real["close"](fd)
