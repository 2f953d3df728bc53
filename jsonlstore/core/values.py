"""The value idioms of the package, and `value_class`, the frozen dataclass that loads fast.

- `dataclass(frozen=True, slots=True)` is the default.
- `NamedTuple` where a hook call loads the module, or where a hot loop makes many values: cheap to load and to make.
- `value_class` where a hook call loads the module and the value also needs `replace`, default factories or checks in
  `__post_init__`.

The reason is start-up: `dataclasses` compiles six functions per class whenever a module that holds one is loaded. For
the few classes that a hook call loads, that was a sixth of the call. `value_class` lets `dataclasses` lay out the
fields (so `fields`, `replace` and `asdict` work) and gives every class the same methods, which read them off the class.
A test in `tests/test_house.py` lists the modules that a session start loads and finds no plain `dataclass` in them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import dataclass as value_class
else:

    def value_class(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
        """The decorator for a frozen dataclass with shared methods, with slots or without."""
        assert frozen, "a value does not change"

        def decorate(cls: type) -> type:
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            for name, method in _METHODS.items():
                setattr(made, name, method)
            if slots:
                made.__getstate__, made.__setstate__ = _values, _restore
            made.__value_layout__ = _layout(made)
            return made

        return decorate


__all__ = ["value_class"]


class _Layout(NamedTuple):
    """The fields of a class: names by position, default values, default factories, and a setter per field in order."""

    by_position: tuple[str, ...]
    constant: dict[str, Any]
    made_anew: tuple[tuple[str, Callable[[], Any]], ...]
    setters: Mapping[str, Callable[[Any, Any], None]]
    checked: bool


def _layout(cls: type) -> _Layout:
    found = dataclasses.fields(cls)
    return _Layout(
        tuple(item.name for item in found if not item.kw_only),
        {item.name: item.default for item in found if item.default is not MISSING},
        tuple((item.name, item.default_factory) for item in found if item.default_factory is not MISSING),
        {item.name: _setter(cls, item.name) for item in found},
        hasattr(cls, "__post_init__"),
    )


def _setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    """The function that sets a field although the class is frozen: the slot's own, else `object.__setattr__`."""
    slot = getattr(cls, name, None)
    if slot is not None and hasattr(slot, "__set__"):
        return cast("Callable[[Any, Any], None]", slot.__set__)
    return lambda self, item: object.__setattr__(self, name, item)


def _init(self: Any, *args: Any, **given: Any) -> None:
    by_position, constant, made_anew, setters, checked = self.__value_layout__
    for name, item in zip(by_position, args, strict=False):
        if name in given:
            raise TypeError(f"{type(self).__name__}() got {name} twice")
        given[name] = item
    every = constant | given
    for name, factory in made_anew:
        if name not in given:
            every[name] = factory()
    if len(args) > len(by_position) or every.keys() != setters.keys():
        wanted, got = ", ".join(setters), ", ".join(every)
        raise TypeError(f"{type(self).__name__}({wanted}) was given {len(args)} values by position, in all: {got}")
    for name, item in every.items():
        setters[name](self, item)
    if checked:
        self.__post_init__()


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in type(self).__value_layout__.setters])


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, item in zip(type(self).__value_layout__.setters, state, strict=True):
        object.__setattr__(self, name, item)


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__value_layout__.setters)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse(_self: Any, name: str, *value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


_METHODS = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
