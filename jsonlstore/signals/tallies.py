"""Counts of what was said, kept flat in memory however long a session."""

from __future__ import annotations

from collections import Counter
from typing import Any

from jsonlstore.signals.words import read_piece, split_pieces, unspaced_words

# a tally is cut back to half when it grows past this: memory stays flat however long the session
MOST_COUNTED = 16_384
# pairs cost more than words: they are counted at the beginning of a message, where it says what it is about
PAIRED_PIECES = 40


class _Edge(dict[str, str]):
    """Piece -> its first or last word where that may be half of a pair, worked out once; empty for none."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def __missing__(self, piece: str) -> str:
        read = read_piece(piece)
        joins = read.joins_right if self._place else read.joins_left
        word = self[piece] = read.words[self._place] if joins and read.words else ""
        if len(self) > MOST_COUNTED:
            self.clear()
        return word


_FIRST, _LAST = _Edge(0), _Edge(-1)


class Tally:
    """Counts of pieces, neighbouring words and parts of unspaced script, all said with the same weight."""

    def __init__(self) -> None:
        self.pieces: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.parts: Counter[str] = Counter()

    def add(self, text: str) -> None:
        pieces, unspaced = split_pieces(text)
        self.pieces.update(pieces)
        paired = pieces[:PAIRED_PIECES]
        pairs = zip(map(_LAST.__getitem__, paired), map(_FIRST.__getitem__, paired[1:]), strict=False)
        both = [pair for pair in pairs if pair[0] and pair[1]]
        if both:
            self.pairs.update(both)
        if unspaced:
            read = [unspaced_words(run) for run in unspaced]
            self.pieces.update(word for whole, _ in read for word in whole)
            self.parts.update(part for _, parts in read for part in parts)
        for counter in (self.pieces, self.pairs, self.parts):
            if len(counter) > MOST_COUNTED:
                cut_back(counter)


def cut_back(counter: Counter[Any], keep: int = MOST_COUNTED // 2) -> None:
    """Keep what was counted most, the latest seen where equal, in the order first seen."""
    order = {key: place for place, key in enumerate(counter)}
    ranked = sorted(counter, key=lambda key: (-counter[key], -order[key]))[:keep]
    kept = {key: counter[key] for key in sorted(ranked, key=order.__getitem__)}
    counter.clear()
    counter.update(kept)
