"""Durable writes to disk: synced appends, atomic replaces, private file modes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path

from jsonlstore.core.errors import JsonlStoreError, Unreadable, WriteFailed
from jsonlstore.core.values import value_class

TEMP_PREFIX = ".tmp-"

_OWNER = "`ls -ld` shows who owns it; `sudo chown -R $USER DIRECTORY` gives back what another user, such as root, wrote"
_HINTS = {
    errno.ENOSPC: "the disk is full: free some space and try again",
    errno.EDQUOT: "your disk quota is used up: free some space and try again",
    errno.EFBIG: "a limit on file sizes is in force: see `ulimit -f`",
    errno.EROFS: "the file system is mounted read-only",
    errno.EACCES: _OWNER,
    errno.EPERM: _OWNER,
    errno.EIO: "the disk reported an input/output error: check its health",
}


Piece = bytes | bytearray | memoryview
_BLOCK = 1 << 20


def temp_target(path: Path) -> str:
    """The name of the file that a temporary file was going to replace."""
    return path.name.removeprefix(TEMP_PREFIX).rpartition("-")[0]


def hint_for(problem: BaseException) -> str | None:
    """What to do about a failed file operation; None where nobody knows better than the message itself."""
    return _HINTS.get(problem.errno or 0) if isinstance(problem, OSError) else None


def write_failed(path: Path | str, problem: OSError) -> WriteFailed:
    """The error for a refused write, with a hint that fits its cause."""
    reason = problem.strerror or str(problem)
    return WriteFailed(f"cannot write {path}: {reason}", hint=hint_for(problem), path=path)


def unreadable(path: Path | str, problem: OSError) -> Unreadable:
    """The error for a file that exists but cannot be read."""
    reason = problem.strerror or str(problem)
    return Unreadable(f"cannot read {path}: {reason}", hint=hint_for(problem), path=path)


def file_problem(problem: OSError) -> JsonlStoreError:
    """The error for a file operation that nobody foresaw would fail, with the file's name where the system gives it."""
    where = f"{os.fsdecode(problem.filename)}: " if isinstance(problem.filename, (str, bytes)) else ""
    hint = hint_for(problem) or "`jsonlstore --debug …` shows where it happened"
    return JsonlStoreError(f"{where}{problem.strerror or problem}", hint=hint)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn every `OSError` inside the block into `WriteFailed`."""
    try:
        yield
    except OSError as problem:
        raise write_failed(path, problem) from problem


@contextmanager
def opened(path: Path | str, flags: int) -> Iterator[int]:
    """Open a descriptor for the duration of the block; child processes do not inherit it."""
    fd = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def read_from(path: Path | str, position: int) -> tuple[bytes, int] | None:
    """The file's bytes from `position` on (negative: counted from the end) and their offset; None if it is missing."""
    try:
        with open(path, "rb", buffering=0) as file:
            if position < 0:
                position = max(0, os.fstat(file.fileno()).st_size + position)
            if position:
                file.seek(position)
            return file.read(), position
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unreadable(path, problem) from problem


def read_bytes(path: Path) -> bytes | None:
    """The file's bytes, or None if there is no such file."""
    found = read_from(path, 0)
    return found[0] if found else None


def read_tail(path: Path | str, most: int) -> bytes:
    """The last `most` bytes of a file; empty if the file is missing."""
    found = read_from(path, -most)
    return found[0] if found else b""


def stat_of(path: Path) -> os.stat_result | None:
    """The `stat` result of a file, or None if the file is missing."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unreadable(path, problem) from problem


def listed(folder: Path, ending: str, fact: str) -> dict[str, int]:
    """One stat field (such as `st_size`) of each file with this suffix, by file stem; empty if the folder is
    missing.
    """
    look, found = attrgetter(fact), {}
    try:
        # a folder may hold ten thousand files: `stat` relative to an open directory is faster than resolving whole
        # paths
        with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as directory, os.scandir(directory) as listing:
            for item in listing:
                if item.name.endswith(ending):
                    try:
                        found[item.name[: -len(ending)]] = look(item.stat())
                    except FileNotFoundError:
                        continue
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise unreadable(folder, problem) from problem
    return found


def _blocks(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces gathered into large blocks, for few write calls and without a second copy of the whole in memory."""
    block = bytearray()
    for piece in pieces:
        for at in range(0, len(piece), _BLOCK):
            block += piece[at : at + _BLOCK]
            if len(block) >= _BLOCK:
                yield block
                block = bytearray()
    yield block


@value_class(frozen=True, slots=True)
class Disk:
    """The write operations. With `sync` off nothing is synced: that is for stores in memory."""

    sync: bool = True

    def make_dir(self, path: Path) -> None:
        """Create `path` and its missing parents with private modes; existing directories keep theirs."""
        if path.is_dir():
            return
        self.make_dir(path.parent)
        with writing(path):
            path.mkdir(mode=0o700, exist_ok=True)
            os.chmod(path, 0o700)  # the umask may have removed bits from the mode
            self.sync_dir(path.parent)

    def sync_dir(self, path: Path) -> None:
        """Make names created, renamed or removed in `path` durable."""
        if self.sync:
            with opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
                os.fsync(fd)

    def sync_data(self, fd: int) -> None:
        """Make the bytes written to `fd` durable.

        A failed sync is never retried: the kernel may have dropped the bytes.
        """
        if self.sync:
            os.fdatasync(fd) if hasattr(os, "fdatasync") else os.fsync(fd)  # macOS has no fdatasync

    def replace(self, target: Path, data: bytes | Iterable[Piece], temp_dir: Path, *, lasting: bool = True) -> None:
        """Replace `target` atomically: a reader sees the old file or the new one, never a mixture and never no file.

        A file that can be rebuilt need not be `lasting`: then a power cut soon after may bring the old file back.
        """
        temp = temp_dir / f"{TEMP_PREFIX}{target.name}-{os.urandom(4).hex()}"
        with writing(target):
            try:
                self._write_new(temp, [data] if isinstance(data, bytes) else _blocks(data))
                os.replace(temp, target)
            except OSError:
                # the first error says why the write failed; the doctor sweeps a temporary file that stays
                with suppress(OSError):
                    os.unlink(temp)
                raise
            if lasting:
                self.sync_dir(target.parent)

    def _write_new(self, path: Path, blocks: Iterable[Piece]) -> None:
        with opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
            os.fchmod(fd, 0o600)  # the umask may have removed bits from the mode
            for block in blocks:
                view = memoryview(block)
                while view:
                    view = view[os.write(fd, view) :]
            if self.sync:
                os.fsync(fd)

    def move(self, source: Path, target: Path) -> None:
        """Rename within one file system and sync both directories."""
        with writing(target):
            os.replace(source, target)
            self.sync_dir(target.parent)
            self.sync_dir(source.parent)

    def sweep(self, directory: Path, *names: str) -> None:
        """Remove the temporary files that killed writers of `names` left.

        Requires the lock under which these are written.
        """
        for path in directory.glob(TEMP_PREFIX + "*"):
            if temp_target(path) in names:
                self.remove(path)

    def remove(self, path: Path) -> bool:
        """Remove a file durably; False if it did not exist."""
        with writing(path):
            try:
                path.unlink()
                self.sync_dir(path.parent)
            except FileNotFoundError:
                return False
        return True
