"""The one logging idiom: `log = logger(__name__)`. `logging` loads with the first message: most hooks log nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import logging

_set_ups: list[Callable[[], object]] = []


def logger(name: str) -> logging.Logger:
    """The logger called `name`, as `logging.getLogger` gives it, once it is used."""
    return cast("logging.Logger", _LazyLogger(name))


def on_first_message(work: Callable[[], object]) -> None:
    """Do `work`, the set-up of logging, before the first message is logged."""
    _set_ups.append(work)


def set_up() -> None:
    """Set logging up now, if that is still to be done."""
    while _set_ups:
        _set_ups.pop()()


def log_to_stderr(level: str) -> None:
    """Show messages of this level and above as `LEVEL: message` on stderr, whatever was set up before."""
    import logging

    logging.basicConfig(level=level, format="%(levelname)s: %(message)s", force=True)


class _LazyLogger:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import logging

        set_up()
        real = logging.getLogger(self._name)
        if attribute in ("debug", "info", "warning", "error", "exception", "log"):
            setattr(self, attribute, getattr(real, attribute))  # from now on without this detour
        return getattr(real, attribute)
