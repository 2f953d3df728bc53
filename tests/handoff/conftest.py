"""What the stories of handoffs share with those of the watcher."""

from __future__ import annotations

from tests.watch.conftest import make

__all__ = ["make"]
