"""The disk, made durable: synced appends, atomic replaces, private modes."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from jsonlstore.core.errors import Unreadable, WriteFailed
from jsonlstore.core.values import value_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TEMP_PREFIX = ".tmp-"

_HINTS = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "your disk quota is used up: free some space and try again",
    errno.EFBIG: "a limit on file sizes is in force: see `ulimit -f`",
    errno.EROFS: "the file system is mounted read-only",
    errno.EACCES: "check who owns the directory and its permissions",
    errno.EPERM: "check who owns the directory and its permissions",
    errno.EIO: "the disk reported an input/output error: check its health",
}


Piece = bytes | bytearray | memoryview
_BLOCK = 1 << 20


def temp_target(path: Path) -> str:
    """The name of the file that a temporary one was to become."""
    return path.name.removeprefix(TEMP_PREFIX).rpartition("-")[0]


def write_failed(path: Path | str, problem: OSError) -> WriteFailed:
    """The error for a refused write, with what to do about it."""
    reason = problem.strerror or str(problem)
    return WriteFailed(f"cannot write {path}: {reason}", hint=_HINTS.get(problem.errno or 0), path=path)


def unreadable(path: Path | str, problem: OSError) -> Unreadable:
    """The error for a file that is there but cannot be read."""
    reason = problem.strerror or str(problem)
    return Unreadable(f"cannot read {path}: {reason}", hint=_HINTS.get(problem.errno or 0), path=path)


def read_bytes(path: Path) -> bytes | None:
    """The file's bytes, or None if there is no such file."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unreadable(path, problem) from problem


def read_tail(path: Path | str, most: int) -> bytes:
    """The last `most` bytes of a file; nothing if there is none."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                file.seek(size - most)
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as problem:
        raise unreadable(path, problem) from problem


def _blocks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces in as few writes as may be, without a second copy of the whole."""
    block = bytearray()
    for piece in pieces:
        for at in range(0, len(piece), _BLOCK):
            block += piece[at : at + _BLOCK]
            if len(block) >= _BLOCK:
                yield block
                block = bytearray()
    yield block


def _discard(path: Path) -> None:
    # why the write failed matters more than why this does; what stays is the doctor's to sweep
    with suppress(OSError):
        os.unlink(path)


@value_class(frozen=True, slots=True)
class Disk:
    """How we write. With `sync` off nothing is forced to the platter: for stores that live in memory."""

    sync: bool = True

    def make_dir(self, path: Path) -> None:
        """Create `path` and its missing parents, private to the user; existing ones are left as they are."""
        if path.is_dir():
            return
        self.make_dir(path.parent)
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            os.chmod(path, 0o700)  # whatever the umask took away
            self.sync_dir(path.parent)
        except OSError as problem:
            raise write_failed(path, problem) from problem

    def sync_dir(self, path: Path) -> None:
        """Make names created, renamed or removed in `path` durable."""
        if not self.sync:
            return
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_data(self, fd: int) -> None:
        """Make the bytes written to `fd` durable. A failure is never retried: the kernel may have dropped them."""
        if self.sync:
            os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)  # macOS has no fdatasync

    def replace(self, target: Path, data: bytes | Iterable[Piece], temp_dir: Path, *, lasting: bool = True) -> None:
        """Put `data` at `target` so that a reader sees the old file or the new one, never a mixture or nothing.

        What can be made again need not be `lasting`: a power cut soon after may bring the old file back.
        """
        temp = temp_dir / f"{TEMP_PREFIX}{target.name}-{os.urandom(4).hex()}"
        try:
            self._write_new(temp, [data] if isinstance(data, bytes) else _blocks(data))
            try:
                os.replace(temp, target)
            except OSError:
                _discard(temp)
                raise
            if lasting:
                self.sync_dir(target.parent)
        except OSError as problem:
            raise write_failed(target, problem) from problem

    def _write_new(self, path: Path, blocks: Iterable[Piece]) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                os.fchmod(fd, 0o600)  # whatever the umask took away
                for block in blocks:
                    view = memoryview(block)
                    while view:
                        view = view[os.write(fd, view) :]
                if self.sync:
                    os.fsync(fd)
            finally:
                os.close(fd)
        except OSError:
            _discard(path)
            raise

    def move(self, source: Path, target: Path) -> None:
        """Rename within one file system, both directories synced."""
        try:
            os.replace(source, target)
            self.sync_dir(target.parent)
            self.sync_dir(source.parent)
        except OSError as problem:
            raise write_failed(target, problem) from problem

    def sweep(self, directory: Path, *names: str) -> None:
        """Remove what dead writers of files called `names` left unfinished. Wants the lock those are written under."""
        for path in directory.glob(TEMP_PREFIX + "*"):
            if temp_target(path) in names:
                self.remove(path)

    def remove(self, path: Path) -> bool:
        """Remove a file and make that durable; False if there was none."""
        try:
            path.unlink()
            self.sync_dir(path.parent)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise write_failed(path, problem) from problem
        return True
