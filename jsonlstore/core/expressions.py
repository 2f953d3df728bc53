"""Python's `re` for the package's own expressions: what it compiled once is kept beside its byte code.

Python takes half a millisecond for an expression and the rules have over a thousand: most of what a process that reads
a transcript pays before it reads. Kept is what a module compiles while it is loaded, and what is made of the package's
data (`kept`); never what is made of anybody's text. As with byte code, a file that cannot be read or written, or
another Python's, costs no more than the time to compile.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
import zlib
from array import array
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from re import (
    DOTALL,
    IGNORECASE,
    MULTILINE,
    VERBOSE,
    Match,
    Pattern,
    escape,
    finditer,
    fullmatch,
    match,
    search,
    split,
    sub,
)
from re import compile as compile_anew
from typing import AnyStr, Final, TypeAlias

__all__ = (
    "DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "Match", "Pattern", "compile", "compile_anew", "escape", "finditer",
    "fullmatch", "kept", "match", "search", "split", "sub",
)  # fmt: skip

_Key: TypeAlias = "tuple[str | bytes, int]"
# what the engine is given besides the source: flags, groups and their names, where its instructions stand and end, and
# their checksum: a redactor that runs other instructions than its own would let secrets pass
_Entry: TypeAlias = "tuple[int, int, dict[str, int], int, int, int]"

_CODE: Final = "I"  # the numbers that Python's engine takes for its instructions
_MOST_KEPT = 8 << 20  # bytes: expressions that are no longer asked for are dropped with all others
_NOTHING = (
    ImportError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
    EOFError,
    RuntimeError,
)


class _Codes:
    """The instructions in a file, read one expression at a time: of some megabytes most are not needed."""

    def __init__(self, file: int = -1, at: int = 0, size: int = 0) -> None:
        self._file = file
        self._at = at
        self.size = size

    def of(self, entry: _Entry) -> bytes:
        return os.pread(self._file, entry[4] - entry[3], self._at + entry[3])

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


class _Kept:
    """The file of what was compiled: an index in memory, and instructions that stay on disk until they are needed."""

    def __init__(self) -> None:
        self._index: dict[_Key, _Entry] = {}
        self._codes = _Codes()
        self._fresh: dict[_Key, tuple[_Entry, bytes]] = {}
        with suppress(*_NOTHING):
            self._index, self._codes = _read()

    def made(self, source: AnyStr, flags: int) -> Pattern[AnyStr]:
        key = (source, flags)
        entry = self._index.get(key)
        if entry is not None and zlib.crc32(code := self._codes.of(entry)) == entry[5]:
            return _made(source, entry, code)
        if key not in self._fresh:
            if not self._fresh:
                atexit.register(self._save)
            self._fresh[key] = _compiled(source, flags)
        return _made(source, *self._fresh[key])

    def _save(self) -> None:
        """Add what this process had to compile to what others have kept meanwhile."""
        if sys.dont_write_bytecode:
            return
        with suppress(*_NOTHING):
            index: dict[_Key, _Entry] = {}
            codes = _Codes()
            with suppress(*_NOTHING):
                index, codes = _read()
            _write(index if codes.size < _MOST_KEPT else {}, codes, self._fresh)


_file: _Kept | None = None


def compile(source: AnyStr, flags: int = 0) -> Pattern[AnyStr]:  # noqa: A001 - used as `re.compile`
    """`re.compile`; what a module asks for while it is loaded is kept, what a function does may be anybody's text."""
    if sys._getframe(1).f_code.co_name != "<module>":  # noqa: SLF001
        return compile_anew(source, flags)
    return kept(source, flags)


def kept(source: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """The same for an expression made of nothing but the package's own data."""
    global _file  # noqa: PLW0603
    if _file is None:
        _file = _Kept()
    try:
        return _file.made(source, int(flags))
    except _NOTHING:  # another Python's inside
        return compile_anew(source, flags)


def _compiled(source: str | bytes, flags: int) -> tuple[_Entry, bytes]:
    """What Python's own `re.compile` works out before it hands it to its engine."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    parsed = _parser.parse(source, flags)
    state = parsed.state
    code = array(_CODE, _compiler._code(parsed, flags)).tobytes()  # noqa: SLF001
    return (int(flags | state.flags), state.groups - 1, dict(state.groupdict), 0, len(code), zlib.crc32(code)), code


def _made(source: AnyStr, entry: _Entry, code: bytes) -> Pattern[AnyStr]:
    import _sre  # type: ignore[import-not-found]

    flags, groups, numbers = entry[:3]
    names: list[str | None] = [None] * (groups + 1)
    for name, number in numbers.items():
        names[number] = name
    made: Pattern[AnyStr] = _sre.compile(
        source, flags, memoryview(code).cast(_CODE).tolist(), groups, numbers, tuple(names)
    )
    return made


def _place() -> Path:
    return Path(cache_from_source(__file__)).with_suffix(".kept")


def _head(index: bytes, size: int) -> bytes:
    """The first line: whose file it is, and what tells whether it is whole."""
    import _sre

    whose = f"{sys.version} {_sre.MAGIC} {array(_CODE).itemsize}".replace("\n", " ")
    return f"{whose} {len(index)} {zlib.crc32(index):08x} {size}\n".encode()


def _read() -> tuple[dict[_Key, _Entry], _Codes]:
    with _place().open("rb") as file:
        head = file.readline(1_000)
        index = file.read(int(head.split()[-3]))
        at = len(head) + len(index)
        codes = _Codes(os.dup(file.fileno()), at, os.fstat(file.fileno()).st_size - at)
    if head != _head(index, codes.size):
        raise ValueError("another Python's")
    return marshal.loads(index), codes  # noqa: S302 - the file stands where byte code does


def _write(known: dict[_Key, _Entry], codes: _Codes, fresh: dict[_Key, tuple[_Entry, bytes]]) -> None:
    found = {key: (entry, codes.of(entry)) for key, entry in known.items()} | fresh
    index: dict[_Key, _Entry] = {}
    at = 0
    for key, (entry, code) in found.items():
        index[key] = (*entry[:3], at, at + len(code), entry[5])
        at += len(code)
    place = _place()
    place.parent.mkdir(exist_ok=True)
    draft = place.with_suffix(f".{os.getpid()}")
    try:
        told = marshal.dumps(index)
        draft.write_bytes(b"".join((_head(told, at), told, *(code for _, code in found.values()))))
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
