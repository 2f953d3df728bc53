"""Confidence decay of inherited memories: `max(floor, 1 - hours/168 * 0.4)`. Nothing here is ever stored."""

from __future__ import annotations

WEEK_HOURS = 168.0
LOSS_PER_WEEK = 0.4
DEFAULT_FLOOR = 0.3
TOLERANCE = 1e-9  # a value that is exactly on a line counts as on it, whatever floating point made of it


def decay_factor(hours_elapsed: float, floor: float = DEFAULT_FLOOR) -> float:
    """How much of a confidence is left after so many hours; a clock that went back counts as no time at all."""
    return max(floor, 1.0 - max(0.0, hours_elapsed) / WEEK_HOURS * LOSS_PER_WEEK)


class DecayEngine:
    """The decay of one memory. `floor` bounds the factor and is the line below which a memory is left behind."""

    @staticmethod
    def apply_decay(original_confidence: float, hours_elapsed: float, floor: float = DEFAULT_FLOOR) -> float:
        """The confidence a memory is inherited with; the original is not clamped and never changed."""
        return original_confidence * decay_factor(hours_elapsed, floor)

    @staticmethod
    def should_inherit(original_confidence: float, hours_elapsed: float, floor: float = DEFAULT_FLOOR) -> bool:
        """Whether the decayed confidence is still at or above the floor."""
        return DecayEngine.apply_decay(original_confidence, hours_elapsed, floor) >= floor - TOLERANCE


apply_decay = DecayEngine.apply_decay
should_inherit = DecayEngine.should_inherit
