"""Calling workers: by the names of their methods, on some ranks, each with its own arguments, without waiting, within limits."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from placewright.models.placements.placement import Placement
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port.port import NameTaken
from placewright.runtime.workers.calls import is_light
from placewright.runtime.workers.group import call_all
from placewright.runtime.workers.inside.host import Host

from ..fake import FakePort
from .groups import prepared, started


class Missing(Exception):
    """No such shard."""


class Actor:
    def train(self, batch: Any, *, scale: int = 1) -> Any:
        return batch * scale

    def wait(self, timeout: float) -> float:
        return timeout

    def fail(self) -> None:
        raise Missing("shard 3")

    def call(self) -> str:
        return "the method of the user's class"

    def _secret(self) -> int:
        return 7


class Refuses:
    def __init__(self) -> None:
        raise ValueError("no weights")


def test_a_group_shows_what_it_is_of() -> None:
    group = started(Actor)
    assert repr(group) == "<WorkerGroup 'actor', ranks 0-3>"
    assert repr(group.on(0, 3)) == "<Selection 'actor', ranks 0,3>"


def test_a_method_of_the_class_is_a_method_of_the_group() -> None:
    group = started(Actor)
    assert group.train(2, scale=3) == [6, 6, 6, 6]
    assert group.call("train", 5) == [5, 5, 5, 5]
    assert {"train", "call", "on"} <= set(dir(group))


def test_keywords_of_a_method_are_its_own_even_if_a_call_has_one_of_that_name() -> None:
    assert started(Actor).wait(timeout=3) == [3, 3, 3, 3]


def test_a_method_whose_name_the_group_has_itself_is_called_by_name() -> None:
    group = started(Actor)
    assert group.call("call") == ["the method of the user's class"] * 4
    assert group.call("_secret") == [7] * 4


def test_a_wrong_name_is_refused_at_once_with_the_one_that_is_near() -> None:
    group = started(Actor)
    asked = len(group.port.calls)
    with pytest.raises(AttributeError, match=r"workers of `actor` have no method `trian`: `Actor`, did you mean `train`\?"):
        group.trian(2)
    with pytest.raises(AttributeError, match=r"have no method `zzz`: `Actor`, it has `call`, `fail`, `train`, `wait`"):
        group.call_async("zzz")
    with pytest.raises(AttributeError):
        group.on(0).trian(2)
    assert len(group.port.calls) == asked


def test_some_ranks_are_chosen_by_number_slice_list_or_where_they_are() -> None:
    group = started(Actor)
    assert group.on(0).train(1) == [1]
    assert list(group.on(3, 1).ranks) == [3, 1]
    assert list(group.on(slice(1, None, 2)).ranks) == [1, 3]
    assert list(group.on([0, 2], range(2, 4)).ranks) == [0, 2, 3]

    def on_the_second_node(placement: Placement) -> bool:
        return placement.node_rank == 1

    assert list(group.on(on_the_second_node).ranks) == [2, 3]
    assert list(group.on(slice(1, 3)).on(on_the_second_node).ranks) == [2]


@pytest.mark.parametrize("which", [4, -1, [0, 9]])
def test_a_rank_that_does_not_exist_is_refused(which: Any) -> None:
    with pytest.raises(IndexError, match=r"rank (4|-1|9) is not among the 4 workers of `actor`"):
        started(Actor).on(which)


def test_a_call_that_does_not_wait_gives_results_as_they_come() -> None:
    group = started(Actor)
    group.port.slow = {"job/actor/0": 5.0, "job/actor/2": 2.0}
    results = group.call_async("train", 7)
    assert not results.done()
    came = [(rank, value, round(group.port.now(), 1)) for rank, value in results.as_completed()]
    began = came[0][2]
    assert [(rank, value) for rank, value, _ in came] == [(1, 7), (3, 7), (2, 7), (0, 7)]
    assert [round(at - began) for _, _, at in came] == [0, 0, 2, 5]
    assert results.done()
    assert results.wait() == [7, 7, 7, 7]
    assert [rank for rank, _ in results.as_completed()] == [1, 3, 2, 0]


def test_results_are_in_order_and_coroutines_may_await_them() -> None:
    group = started(Actor)
    group.port.slow = {"job/actor/0": 5.0}
    results = group.call_async("train", 2)
    assert results.wait() == [2, 2, 2, 2]

    async def ask() -> list[Any]:
        return await group.call_async("train", 3).async_wait()

    assert asyncio.run(ask()) == [3, 3, 3, 3]


def test_the_first_failure_is_raised_however_long_others_take_with_the_users_exception_as_cause() -> None:
    group = started(Actor)
    group.port.slow = {f"job/actor/{rank}": 600.0 for rank in (0, 1, 3)}
    began = group.port.now()
    results = group.call_async("fail")
    with pytest.raises(LaunchFailed) as caught:
        results.wait()
    assert group.port.now() - began < 1
    (finding,) = caught.value.findings
    assert (finding.code, finding.witnesses) == ("PW709", (2,))
    assert finding.message == "rank 2 of `actor` on `node-1` raised while it ran `fail`: Missing: shard 3"
    assert isinstance(caught.value.__cause__, Missing)
    assert results.done()
    with pytest.raises(LaunchFailed, match="shard 3"):
        list(results.as_completed())


def test_a_worker_that_dies_ends_the_call_that_waits_for_it() -> None:
    group = started(Actor)
    group.port.slow = {f"job/actor/{rank}": 600.0 for rank in range(4)}
    results = group.call_async("train", 1)
    group.port.kill("job/actor/3")
    with pytest.raises(LaunchFailed, match="rank 3 of `actor` on `node-1` died while it ran `train`: killed") as caught:
        results.wait()
    assert caught.value.findings[0].code == "PW704"


def test_what_is_late_is_named_and_can_be_waited_for_again() -> None:
    group = started(Actor)
    group.port.slow = {"job/actor/0": 5.0, "job/actor/1": 5.0}
    results = group.call_async("train", 1)
    with pytest.raises(LaunchFailed, match=r"ranks `actor` 0-1 have not answered `train` within 2 s"):
        results.wait(timeout=2)
    assert results.wait() == [1, 1, 1, 1]


def test_a_limit_is_given_with_the_call() -> None:
    group = started(Actor)
    group.port.slow = {"job/actor/0": 5.0}
    with pytest.raises(LaunchFailed, match=r"rank `actor` 0 has not answered `train` within 2 s"):
        group.call("train", 1, timeout=2)
    assert group.train(1) == [1] * 4


def test_what_is_large_is_put_into_the_cluster_once() -> None:
    group = started(Actor)
    group.train([0] * 1000, scale=2)
    assert group.port.calls.count("share") == 1
    group.on(0).train([0] * 1000)
    assert group.port.calls.count("share") == 1
    assert all(map(is_light, (None, 3, "text", [1, "a"], {"lr": 0.1})))
    assert not any(map(is_light, ("x" * 5000, list(range(100)), [[1]], object(), {"a": "x" * 5000})))


def test_a_group_ends_with_its_block_and_says_so_when_it_is_called_later() -> None:
    with started(Actor) as group:
        assert group.train(1) == [1] * 4
    assert "actors" not in group.port.left_over()
    with pytest.raises(LaunchFailed, match="`train` was called, but no worker of `actor` is there"):
        group.train(1)


def test_a_start_that_fails_is_undone_by_itself() -> None:
    port = FakePort(4, 4)
    _, gang = prepared(port, Refuses)
    with pytest.raises(LaunchFailed, match="ValueError: no weights") as caught:
        gang.start(10.0)
    assert isinstance(caught.value.__cause__, ValueError)
    assert "actors" not in port.left_over()


def test_a_name_that_is_taken_is_said_and_the_other_group_lives() -> None:
    port = FakePort(8, 8)
    group, gang = prepared(port, Actor)
    gang.start(10.0)
    port.release(port.holds[0])
    for actor in port.actors:
        actor.dead = ""
    _, second = prepared(port, Actor, name="second")
    with pytest.raises(LaunchFailed, match="there is a worker `job/actor/0` already, so rank 0 of `actor` cannot have that name") as caught:
        second.start(10.0)
    assert caught.value.findings[0].code == "PW717"
    assert not isinstance(caught.value.__cause__, NameTaken)
    assert group.train(1) == [1] * 4


def test_a_class_that_the_workers_import_may_have_coroutines_and_says_itself_what_it_lacks() -> None:
    class Imported:
        async def ask(self, method: str) -> str:
            return method

    host = Host([])
    host._placewright_worker = Imported()
    assert host._placewright_invoke("ask", method="a keyword of any name") == "a keyword of any name"
    with pytest.raises(AttributeError, match="'Imported' object has no attribute 'aks'"):
        host._placewright_invoke("aks")


def test_what_a_method_returns_is_written_where_its_class_is_known() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no text of it")

    def nested() -> object:
        value: list[object] = []
        for _ in range(100_000):
            value = [value]
        return value

    host = Host([])
    host._placewright_worker = SimpleNamespace(loss=lambda: {"loss": 0.5}, lock=threading.Lock, silent=Silent, nested=nested)
    assert host._placewright_write("loss", True) == '{"loss": 0.5}'
    assert host._placewright_write("lock", True).startswith('"<unlocked _thread.lock object')
    with pytest.raises(RuntimeError, match="no text of it"):
        host._placewright_write("silent", True)
    assert host._placewright_write("nested", True).startswith('"<list object at')
    assert host._placewright_write("silent", False) == ""  # nothing is sent that nobody wants


def test_a_call_of_several_groups_is_refused_before_any_is_called() -> None:
    group = started(Actor)
    asked = group.port.calls.count("ask")
    with pytest.raises(AttributeError, match="did you mean `train`"):
        call_all({"actor": group}, "trian")
    assert group.port.calls.count("ask") == asked
    assert call_all({"actor": group}, "train", ([1] * 100,)) == {"actor": [[1] * 100] * 4}
    assert group.port.calls.count("share") == 1


def test_a_no_op_for_eight_workers_costs_this_process_little() -> None:
    group = started(Actor, 8)
    began = time.process_time()
    for _ in range(100):
        group.train(1)
    assert (time.process_time() - began) / 100 < 0.005
