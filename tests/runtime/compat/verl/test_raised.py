"""Failure of a worker: its exception is the cause, and its place is named."""

from __future__ import annotations

from functools import partial

import pytest
from placewright.runtime import DataProtoFuture, Dispatch, RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, Worker, register
from placewright.runtime.failure import LaunchFailed, build_refusal

from ...fake import FakePort


class Fails(Worker):
    """Raises what it is given."""

    def fail(self, problem: BaseException) -> None:
        raise problem

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def bound(self, problem: BaseException) -> None:
        raise problem

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    def later(self, problem: BaseException) -> None:
        raise problem


@pytest.fixture
def group() -> RayWorkerGroup:
    pool = RayResourcePool([2], name_prefix="p", on=FakePort(2))
    return RayWorkerGroup(pool, RayClassWithInitArgs(cls=Fails), name_prefix="x")


@pytest.mark.parametrize("call", ["execute_all_sync", "execute_rank_zero_sync"])
def test_an_error_of_the_user_is_the_cause_of_a_failure_with_its_rank(group: RayWorkerGroup, call: str) -> None:
    problem = KeyError("weights")
    with pytest.raises(LaunchFailed) as caught:
        getattr(group, call)("fail", problem)
    failure = caught.value
    assert failure.__cause__ is problem
    assert (failure.findings[0].code, failure.findings[0].witnesses, failure.exit_code) == ("PW709", (0,), 4)
    assert str(failure) == "rank 0 of `xFails` on `host-0` raised while it ran `fail`: KeyError: 'weights'"


def test_methods_of_the_group_and_batches_to_be_raise_the_same(group: RayWorkerGroup) -> None:
    with pytest.raises(LaunchFailed, match="ran `bound`"):
        group.bound(ZeroDivisionError("by nothing"))
    tickets = group.later(ZeroDivisionError("by nothing"))
    with pytest.raises(LaunchFailed, match="ran a call"):
        DataProtoFuture(tickets, fetch=partial(group.fetch, [0, 1])).get()


def test_failures_of_placewright_in_a_worker_are_causes_too(group: RayWorkerGroup) -> None:
    problem = build_refusal("PW718", "p", "no such pool", "make one")
    with pytest.raises(LaunchFailed) as caught:
        group.execute_rank_zero_sync("fail", problem)
    assert (caught.value.__cause__, caught.value.findings[0].code) == (problem, "PW709")


def test_a_worker_that_dies_is_said_to_have_died() -> None:
    port = FakePort(2)
    group = RayWorkerGroup(RayResourcePool([2], name_prefix="p", on=port), RayClassWithInitArgs(cls=Fails), name_prefix="x")
    port.kill("xFails_0:0")
    with pytest.raises(LaunchFailed, match="rank 0 of `xFails` on `host-0` died"):
        group.execute_all_sync("fail", KeyError("weights"))
