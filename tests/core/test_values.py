"""A value class is a frozen dataclass, only cheaper to make."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.values import value_class


@value_class(frozen=True, slots=True)
class Base:
    extra: dict[str, int] = dataclasses.field(default_factory=dict, kw_only=True)


@value_class(frozen=True, slots=True)
class Ours(Base):
    name: str
    size: int = 3


@dataclasses.dataclass(frozen=True, slots=True)
class TheirBase:
    extra: dict[str, int] = dataclasses.field(default_factory=dict, kw_only=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs(TheirBase):
    name: str
    size: int = 3


NAMES = st.sampled_from(["name", "size", "extra", "other"])


def outcome(cls: Any, args: list[int], given: dict[str, Any]) -> Any:
    try:
        made = cls(*args, **given)
    except TypeError:
        return TypeError
    return {item.name: getattr(made, item.name) for item in dataclasses.fields(made)}


@given(st.lists(st.integers(), max_size=4), st.dictionaries(NAMES, st.integers(), max_size=4))
def test_it_takes_and_refuses_what_a_dataclass_does(args: list[int], given: dict[str, Any]) -> None:
    assert outcome(Ours, args, given) == outcome(Theirs, args, given)


@given(st.text(max_size=5), st.integers(0, 3), st.text(max_size=5), st.integers(0, 3))
def test_it_compares_hashes_and_shows_like_a_dataclass(a: str, n: int, b: str, m: int) -> None:
    assert (Ours(a, n) == Ours(b, m)) == (Theirs(a, n) == Theirs(b, m))
    assert repr(Ours(a, n)) == repr(Theirs(a, n)).replace("Theirs", "Ours")
    one = Ours(a, n, extra=())  # type: ignore[arg-type]
    assert hash(one) == hash(Ours(a, n, extra=()))  # type: ignore[arg-type]


def test_it_does_not_change() -> None:
    one = Ours("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.size = 4  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.size
    assert not hasattr(one, "__dict__")


def test_it_copies_pickles_and_is_replaced() -> None:
    one = Ours("a", extra={"x": 1})
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert dataclasses.replace(one, size=9) == Ours("a", 9, extra={"x": 1})
    assert dataclasses.asdict(one) == {"extra": {"x": 1}, "name": "a", "size": 3}


def test_what_it_was_not_given_is_not_shared() -> None:
    assert Ours("a").extra is not Ours("b").extra


def test_two_kinds_with_the_same_fields_are_not_equal() -> None:
    assert Ours("a") != Theirs("a")
