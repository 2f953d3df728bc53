"""The same brain.db and home as the bridges' and the restore room's tests have."""

from tests.bridges.conftest import brain, cortex, neighbours

__all__ = ["brain", "cortex", "neighbours"]
