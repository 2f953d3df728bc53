"""The one logging idiom: `log = logger(__name__)`. The first warning imports `logging`: most hooks have none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import logging

_set_ups: list[Callable[[], object]] = []


def logger(name: str) -> logging.Logger:
    """A logger equivalent to `logging.getLogger(name)`, which imports `logging` on first use."""
    return cast("logging.Logger", _LazyLogger(name))


def on_first_message(work: Callable[[], object]) -> None:
    """Register `work`, which sets logging up, to run before the first warning, or the first message after `set_up`."""
    _set_ups.append(work)


def set_up() -> None:
    """Run the registered set-up now, if it has not run yet."""
    while _set_ups:
        _set_ups.pop()()


class _LazyLogger:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # `logging` shows neither unless somebody sets a lower level, and nobody has while it is not loaded
        if attribute in ("debug", "info") and "logging" not in sys.modules:
            return _drop
        import logging

        set_up()
        real = logging.getLogger(self._name)
        if attribute in ("debug", "info", "warning", "error", "exception", "log"):
            setattr(self, attribute, getattr(real, attribute))  # later calls of this method bypass `__getattr__`
        return getattr(real, attribute)


def _drop(*_message: object, **_options: object) -> None:
    """Take a message that nobody asked for."""
