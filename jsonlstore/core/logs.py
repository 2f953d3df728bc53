"""Loggers that load `logging` with their first message: most hook calls have nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

_before_the_first: list[Callable[[], object]] = []


def logger(name: str) -> logging.Logger:
    """The logger called `name`, as `logging.getLogger` gives it, once it is used."""
    return cast("logging.Logger", _Later(name))


def before_the_first_message(work: Callable[[], object]) -> None:
    """Do `work`, the set-up of logging, when somebody first has something to say."""
    _before_the_first.append(work)


def set_up() -> None:
    """Do now what was to be done before the first message."""
    while _before_the_first:
        _before_the_first.pop()()


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        import logging

        set_up()
        real = logging.getLogger(self._name)
        if attribute in ("debug", "info", "warning", "error", "exception", "log"):
            setattr(self, attribute, getattr(real, attribute))  # from now on without this detour
        return getattr(real, attribute)
