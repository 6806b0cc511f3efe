"""Frozen classes do what those of the standard library do; what differs is how they are made."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from itertools import product
from typing import Any, Callable, ClassVar

import pytest
from placewright.models.frozen import dataclass

Maker = Callable[..., Any]
EVERY = [dict(zip(("slots", "eq"), each)) for each in product((False, True), repeat=2)]


class Point:
    """A place."""

    what: ClassVar[str] = "place"
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False)
    hidden: int = field(default=0, repr=False)

    @property
    def both(self) -> tuple[int, int]:
        return self.x, self.y


class Checked:
    """A number that must not be negative."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


class Own:
    """What is said of it, and what equals it, it says itself."""

    x: int

    def __repr__(self) -> str:
        return "own"

    def __eq__(self, other: object) -> bool:
        return True


def of(maker: Maker, body: type, **how: bool) -> Any:
    """The body as a class of its own, by one of the two decorators."""
    names = {name: value for name, value in vars(body).items() if name not in ("__dict__", "__weakref__")}
    return maker(frozen=True, **how)(type(body.__name__, (), names))


@dataclass(frozen=True, slots=True)
class Slotted:
    """Found by its name, as pickling needs."""

    x: int
    y: tuple[int, ...] = ()


@dataclass(frozen=True)
class Open:
    """The same with a `__dict__`."""

    x: int
    y: tuple[int, ...] = ()


@pytest.mark.parametrize("how", EVERY, ids=str)
@pytest.mark.parametrize("body", [Point, Checked, Own])
def test_they_say_the_same_of_themselves(body: type, how: dict[str, bool]) -> None:
    ours, theirs = of(dataclass, body, **how), of(dataclasses.dataclass, body, **how)
    assert [(each.name, each.type, each.init, each.compare) for each in dataclasses.fields(ours)] == [
        (each.name, each.type, each.init, each.compare) for each in dataclasses.fields(theirs)
    ]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__") == how["slots"]
    assert repr(ours(1)) == repr(theirs(1))
    assert ours.__doc__ == theirs.__doc__


@pytest.mark.parametrize("how", EVERY, ids=str)
@pytest.mark.parametrize("body", [Point, Own])
def test_they_compare_alike(body: type, how: dict[str, bool]) -> None:
    ours, theirs = of(dataclass, body, **how), of(dataclasses.dataclass, body, **how)
    given: list[dict[str, Any]] = [{"x": 1}, {"x": 1}, {"x": 2}]
    given += [{"x": 1, "note": "other"}, {"x": 1, "y": 3}, {"x": 1, "hidden": 1}] if body is Point else []
    for one, other in product(given, repeat=2):
        assert (ours(**one) == ours(**other)) is (theirs(**one) == theirs(**other))
    assert ours(1) != 1 or body is Own
    assert (ours.__hash__ is object.__hash__) == (theirs.__hash__ is object.__hash__)


@pytest.mark.parametrize("slots", [False, True])
def test_what_is_equal_has_one_hash(slots: bool) -> None:
    made = of(dataclass, Point, slots=slots)
    assert hash(made(1, 2, (), "a")) == hash(made(1, 2, (), "b")) == hash(of(dataclasses.dataclass, Point)(1, 2, ()))
    assert hash(of(dataclass, Own, slots=slots)(1)) == hash(of(dataclasses.dataclass, Own)(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(made(1, 2, []))


def test_in_order_they_are_compared_field_by_field() -> None:
    class Pair:
        a: int
        b: int

    ours, theirs = of(dataclass, Pair, order=True), of(dataclasses.dataclass, Pair, order=True)
    numbers = list(product(range(2), repeat=2))
    for (a, b), (c, d) in product(numbers, repeat=2):
        mine, its = (ours(a, b), ours(c, d)), (theirs(a, b), theirs(c, d))
        assert [mine[0] < mine[1], mine[0] <= mine[1], mine[0] > mine[1], mine[0] >= mine[1]] == [
            its[0] < its[1], its[0] <= its[1], its[0] > its[1], its[0] >= its[1]
        ]  # fmt: skip
    with pytest.raises(TypeError):
        assert ours(1, 2) < 3


@pytest.mark.parametrize("made", [Slotted, Open])
def test_nothing_can_be_set_or_deleted(made: Any) -> None:
    one = made(1)
    for name in ("x", "z"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 2)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)
    assert one == made(1)


@pytest.mark.parametrize("made", [Slotted, Open])
def test_they_can_be_copied_replaced_and_pickled(made: Any) -> None:
    one = made(1, (2, 3))
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert dataclasses.replace(one, x=5) == made(5, (2, 3))
    assert dataclasses.astuple(one) == (1, (2, 3))


def test_each_has_a_list_of_its_own() -> None:
    made = of(dataclass, Point)
    assert made(1).names is not made(1).names
    assert made(1, names=["a"]).names == ["a"]


def test_what_a_class_checks_is_checked() -> None:
    made = of(dataclass, Checked)
    assert made(1).number == 1
    with pytest.raises(ValueError, match="negative"):
        made(-1)


def test_what_is_wrongly_given_is_told_as_the_standard_library_tells_it() -> None:
    for maker in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match=r"Point.__init__\(\) missing 1 required positional argument: 'x'"):
            of(maker, Point)()
        with pytest.raises(TypeError, match=r"Point.__init__\(\) got an unexpected keyword argument 'z'"):
            of(maker, Point)(1, z=1)


@pytest.mark.parametrize("maker", [dataclass, dataclasses.dataclass])
@pytest.mark.parametrize("base", [Slotted, Open])
def test_what_is_inherited_comes_first(maker: Maker, base: Any) -> None:
    class Further(base):
        """With one more."""

        z: int = 7

    made = maker(frozen=True)(Further)
    assert repr(made(1)).endswith("Further(x=1, y=(), z=7)")
    assert made(1) != base(1)
    assert made(1) == made(1)
    with pytest.raises(FrozenInstanceError):
        made(1).x = 2


@pytest.mark.parametrize("how", [{"init": False}, {"kw_only": True}])
def test_a_field_that_is_not_given_in_order_is_refused(how: dict[str, bool]) -> None:
    class Strange:
        x: int = field(default=0, **how)

    with pytest.raises(TypeError, match="`x` could not be given in order"):
        of(dataclass, Strange)


def test_one_that_can_be_changed_is_refused() -> None:
    with pytest.raises(TypeError, match="standard library"):
        dataclass(frozen=False)(Point)
