"""What the redactor hides in other people's text: a random sample of its hits, to be judged by eye.

    python -m tests.redact.sample_hits DIRECTORY --half 0 --seed 1 --hits 100

Every directory right below the given one counts as a package. Packages are dealt into two halves by their names, so
that rules are mended on one half and measured on the other; files are drawn at random up to a size, each package
giving no more than its share. The hits shown are at most two a file and an even number a package. A judge answers for
each of them whether it was a secret or might have been one.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 1 << 20  # bytes of a file; what is larger is data
MOST_A_FILE = 2
AROUND = 70  # characters


@dataclass(frozen=True, slots=True)
class Hit:
    """A hidden span and what stands around it."""

    package: str
    path: Path
    kind: str
    before: str
    value: str
    after: str

    def __str__(self) -> str:
        parts = (repr(part)[1:-1] for part in (self.before, self.value[:120], self.after))
        return "{} [{}] {}\n    {}⟦{}⟧{}".format(self.package, self.kind, self.path, *parts)


def half_of(package: str) -> int:
    """0 or 1, by the package's name alone."""
    return hashlib.sha256(package.encode()).digest()[0] & 1


def text_files(package: Path, rng: random.Random, most: int) -> Iterator[tuple[Path, str]]:
    """Readable files in random order, up to `most` bytes in all."""
    paths = sorted(path for path in package.rglob("*") if path.is_file() and not path.is_symlink())
    rng.shuffle(paths)
    for path in paths:
        if not 0 < path.stat().st_size <= LARGEST:
            continue
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        yield path, text
        most -= len(text)
        if most <= 0:
            return


def hits_of(package: Path, rng: random.Random, most: int) -> tuple[int, list[Hit]]:
    """How many characters were read, and every hit in them."""
    read, found = 0, []
    for path, text in text_files(package, rng, most):
        read += len(text)
        for one in redact(text)[1]:
            around = max(0, one.start - AROUND), one.end + AROUND
            parts = text[around[0] : one.start], text[one.start : one.end], text[one.end : around[1]]
            found.append(Hit(package.name, path, one.kind, *parts))
    return read, found


def sample(hits: list[Hit], rng: random.Random, count: int) -> list[Hit]:
    """So many hits, from as many packages as there are, at most two a file."""
    rng.shuffle(hits)
    packages: dict[str, list[Hit]] = {}
    files: collections.Counter[Path] = collections.Counter()
    for hit in hits:
        files[hit.path] += 1
        if files[hit.path] <= MOST_A_FILE:
            packages.setdefault(hit.package, []).append(hit)
    chosen: list[Hit] = []
    while len(chosen) < count and packages:
        for name in rng.sample(sorted(packages), len(packages)):
            chosen.append(packages[name].pop())
            if not packages[name]:
                del packages[name]
    return chosen[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1), help="only the packages of this half")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hits", type=int, default=100)
    parser.add_argument("--megabytes", type=float, default=2.0, help="most that a package gives")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    total, hits = 0, []
    kinds: collections.Counter[str] = collections.Counter()
    for package in sorted(path for path in args.directory.iterdir() if path.is_dir()):
        if args.half in (None, half_of(package.name)):
            read, found = hits_of(package, rng, int(args.megabytes * 1e6))
            total += read
            kinds.update(hit.kind for hit in found)
            hits += [hit for hit in found if hit.kind != "unread"]
    print(f"{total / 1e6:.1f} MB, {len(hits)} hits, {len(hits) / max(total, 1) * 1e6:.1f} a MB: {dict(kinds)}")
    for number, hit in enumerate(sample(hits, rng, args.hits), 1):
        print(f"{number:3} {hit}")


if __name__ == "__main__":
    main()
