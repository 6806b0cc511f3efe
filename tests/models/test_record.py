"""models/record.py makes the same classes as the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any

import pytest
from placewright.models import record

OPTIONS = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True},
    {"frozen": True, "slots": True, "order": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "kw_only": True},
]


def pair_of(made: Any, options: dict[str, bool]) -> tuple[type, type]:
    """A class with every kind of field, and one that extends it."""

    class Shape:
        """A shape."""

        width: int
        name: str = "box"
        sides: tuple[int, ...] = field(default_factory=tuple)
        note: str = field(default="", compare=False, repr=False)
        area: int = field(default=0, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "area", self.width * 2)

    base = made(**options)(Shape)

    class Solid(base):  # type: ignore[misc, valid-type]
        """A solid."""

        depth: int = 3

    return base, made(**options)(Solid)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_are_those_of_the_standard_library(options: dict[str, bool]) -> None:
    ours, theirs = pair_of(record.dataclass, options), pair_of(dataclasses.dataclass, options)
    for mine, standard in zip(ours, theirs):
        assert [each.name for each in fields(mine)] == [each.name for each in fields(standard)]
        assert getattr(mine, "__slots__", None) == getattr(standard, "__slots__", None)
        every = [{"width": 1}, {"width": 1, "note": "other"}, {"width": 2, "sides": (1,)}, {"width": 1, "name": "can"}]
        made, expected = [mine(**each) for each in every], [standard(**each) for each in every]
        assert [repr(each) for each in made] == [repr(each) for each in expected]
        assert [asdict(each) for each in made] == [asdict(each) for each in expected]
        assert [[a == b for a in made] for b in made] == [[a == b for a in expected] for b in expected]
        assert (mine.__hash__ is None) == (standard.__hash__ is None)
        assert made[0] != 1 and (made[0] == expected[0]) is False
        assert repr(replace(made[0], width=5)) == repr(replace(expected[0], width=5))
        assert asdict(copy.deepcopy(made[2])) == asdict(made[2])
        if options.get("order"):
            assert sorted(made, key=repr) and [made[0] < each for each in made] == [expected[0] < each for each in expected]
        if mine.__hash__ is not None and options.get("eq", True):
            assert len(set(made)) == len(set(expected))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_frozen_stays_as_it_is(options: dict[str, bool]) -> None:
    made = pair_of(record.dataclass, options)[0](width=1)
    if options.get("frozen"):
        with pytest.raises(FrozenInstanceError):
            made.width = 2
        with pytest.raises(FrozenInstanceError):
            del made.width
    else:
        made.width = 2
        assert made.width == 2


def test_a_class_of_the_standard_library_extends_ours() -> None:
    base = pair_of(record.dataclass, {"frozen": True})[0]

    @dataclasses.dataclass(frozen=True)
    class Longer(base):  # type: ignore[misc, valid-type]
        depth: int = 1

    assert asdict(Longer(width=2))["depth"] == 1
    with pytest.raises(TypeError, match="frozen"):
        record.dataclass(type("Loose", (base,), {"__annotations__": {"depth": "int"}, "depth": 1, "__doc__": "Loose."}))


def test_arguments_are_checked() -> None:
    shape = pair_of(record.dataclass, {"frozen": True, "slots": True})[0]
    with pytest.raises(TypeError, match="width"):
        shape()
    with pytest.raises(TypeError, match="area"):
        shape(width=1, area=2)


@record.dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0


def test_what_is_pickled_comes_back() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)


def test_methods_of_the_class_itself_stay() -> None:
    @record.dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == Own(2) and repr(Own(1)) == "own"


def test_a_cached_property_is_computed_once_and_a_copy_computes_its_own() -> None:
    counts = list[int]()

    @record.dataclass(frozen=True)
    class Counted:
        x: int

        @record.cached_property
        def double(self) -> int:
            """Twice the number."""
            counts.append(self.x)
            return 2 * self.x

    one = Counted(1)
    assert (one.double, one.double, record.replace(one, x=3).double) == (2, 2, 6)
    assert counts == [1, 3]
    assert Counted.double.__doc__ == "Twice the number."
    assert one == Counted(1) and hash(one) == hash(Counted(1))
