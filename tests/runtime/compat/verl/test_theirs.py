"""Methods that verl's own decorator has marked, without verl."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from placewright.runtime import (
    Dispatch,
    Execute,
    RayClassWithInitArgs,
    RayResourcePool,
    RayWorkerGroup,
    create_colocated_worker_cls,
)
from placewright.runtime.compat.verl.dispatch import VERL_MARK, find_registered

from ...fake import FakePort
from ...user_code.verl_workers import Actor, Rows


class Member:
    """A member of an enumeration of verl's."""

    def __init__(self, name: str) -> None:
        self.name = name


def dispatch_lazy_compute_data_proto(mesh_name: str, group: Any, *arguments: Any, **named: Any) -> Any:
    raise AssertionError("this function is for groups of verl's own class")


def marked(mode: Any, execute: str = "ALL", blocking: bool = True) -> Any:
    def mark(method: Any) -> Any:
        setattr(method, VERL_MARK, {"dispatch_mode": mode, "execute_mode": Member(execute), "blocking": blocking})
        return method

    return mark


class Theirs(Actor):
    @marked(Member("DP_COMPUTE_PROTO"))
    def plus(self, data: Rows) -> Rows:
        return Rows([number + self.rank for number in data.numbers], data.pads)

    @marked(Member("ALL_TO_ALL"), "RANK_ZERO", False)
    def which(self) -> int:
        return self.rank

    @marked({"dispatch_fn": partial(dispatch_lazy_compute_data_proto, "train"), "collect_fn": None})
    def over(self, data: Rows) -> Rows:
        return Rows([number + 100 * self.rank for number in data.numbers])

    @marked(Member("THEIR_OWN"))
    def unknown(self) -> None: ...


class Known(Theirs):
    unknown = None  # type: ignore[assignment]


def test_modes_are_those_of_the_same_name() -> None:
    plus, which = find_registered(Theirs.plus), find_registered(Theirs.which)
    assert plus is not None
    assert which is not None
    assert (plus.dispatch_mode, plus.execute_mode, plus.blocking) == (Dispatch.DP_COMPUTE_PROTO, Execute.ALL, True)
    assert (which.execute_mode, which.blocking) == (Execute.RANK_ZERO, False)
    with pytest.raises(ValueError, match="of verl is not a dispatch mode here"):
        find_registered(Theirs.unknown)


def test_a_group_of_such_a_class_has_its_methods_alone_and_colocated() -> None:
    pool = RayResourcePool([4], name_prefix="p", max_colocate_count=3, on=FakePort(8))
    cia = RayClassWithInitArgs(Known)
    alone = RayWorkerGroup(pool, cia)
    its = RayWorkerGroup(pool, create_colocated_worker_cls({"actor": cia})).spawn({"actor"})["actor"]
    for group in (alone, its):
        assert group.plus(Rows([0.0] * 6, pads=True)).numbers == [0, 0, 1, 1, 2, 2]
        assert group.over(Rows([1.0, 2.0, 3.0, 4.0])).numbers == [1, 2, 203, 204]
        assert group.port.answer(group.which()) == 0
        assert group.plus(group.add_later(Rows([0.0] * 4))).numbers == [0, 2, 4, 6]


def test_a_class_that_is_not_ours_is_not_told_to_look_for_accelerators_that_ray_gave() -> None:
    class Plain:
        def getenv(self, name: str) -> str:
            import os

            return os.environ.get(name, "")

    port = FakePort(8)
    pool = RayResourcePool([1], name_prefix="p", max_colocate_count=4, on=port)
    seen = []
    ours, other = RayClassWithInitArgs(Actor), RayClassWithInitArgs(Plain)
    for cia in (ours, other, create_colocated_worker_cls({"actor": ours, "plain": other})):
        RayWorkerGroup(pool, cia)
        environment = port.actors[-1].environment
        seen.append((environment.get("RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"), environment["CUDA_VISIBLE_DEVICES"]))
    assert seen == [("1", "0"), (None, "0"), (None, "0")]
