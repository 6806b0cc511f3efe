"""What RLinf's workers can do and these cannot says so, and stands in nobody's way."""

from __future__ import annotations

import pytest
from placewright.runtime.workers.inside.base import Worker
from placewright.runtime.workers.inside.mixins import ASKING, MOVING, PROFILING, NotOffered


class Profiled:
    """As verl's classes that are derived from beside Worker, after it."""

    def start_profile(self) -> str:
        return "started"


class Actor(Worker, Profiled):
    @property
    def broken(self) -> int:
        return len(self.missing)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*MOVING, *PROFILING])
def test_calls_say_what_is_not_here_and_what_there_is(name: str) -> None:
    with pytest.raises(NotOffered, match=rf"`{name}` is not here: placewright .*use "):
        getattr(Worker(), name)("x", dst_rank=0)


@pytest.mark.parametrize("name", ASKING)
def test_attributes_say_so_too(name: str) -> None:
    with pytest.raises(NotOffered, match=rf"`{name}` is RLinf's registry"):
        getattr(Worker(), name)


def test_other_base_classes_keep_their_methods() -> None:
    assert Actor().start_profile() == "started"


def test_other_names_are_missing_as_ever() -> None:
    assert not hasattr(Worker(), "sendx")
    assert not hasattr(Worker, "send")
    with pytest.raises(AttributeError, match="'Actor' object has no attribute 'missing'"):
        _ = Actor().broken
