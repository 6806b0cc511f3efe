"""Options of actors, on the class and added later: followed or refused, never dropped."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, create_colocated_worker_cls

from ...fake import FakePort
from ...user_code.verl_workers import Actor, Critic


def with_options(cls: type, *arguments: Any, options: dict[str, Any], **named: Any) -> RayClassWithInitArgs:
    made = RayClassWithInitArgs(cls, *arguments, **named)
    made.update_options(options)
    return made


def pool(port: FakePort, slots: int = 3, **named: Any) -> RayResourcePool:
    return RayResourcePool([2], name_prefix="p", max_colocate_count=slots, on=port, **named)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory": 1 << 30}, "option `memory` of Actor would not be followed"),
        ({"name": "mine"}, "option `name` of Actor would not be followed"),
        ({"max_restarts": -1}, "option `max_restarts` of Actor would not be followed"),
        ({"scheduling_strategy": "SPREAD"}, "option `scheduling_strategy` of Actor would not be followed"),
        ({"label_selector": {"a": "b"}}, "option `label_selector` of Actor would not be followed"),
        ({"runtime_env": {"pip": ["x"]}}, "`pip` in the runtime_env of Actor would not be followed"),
    ],
)
def test_an_option_of_a_decorated_class_that_nothing_would_follow_is_refused_as_an_added_one_is(
    options: dict[str, Any], words: str
) -> None:
    ray = pytest.importorskip("ray")
    with pytest.raises(ValueError, match=words):
        RayClassWithInitArgs(ray.remote(**options)(Actor))
    with pytest.raises(ValueError, match=words):
        RayClassWithInitArgs(Actor).update_options(options)


def test_variables_and_the_interpreter_of_a_decorated_class_are_the_workers() -> None:
    ray = pytest.importorskip("ray")
    port = FakePort(8)
    decorated = ray.remote(num_gpus=1, runtime_env={"env_vars": {"A": "1"}, "py_executable": "/opt/python"}, max_restarts=0)(Actor)
    RayWorkerGroup(pool(port), RayClassWithInitArgs(decorated), worker_env={"B": "2"})
    assert {(tuple(actor.start.variables.items()), actor.start.python) for actor in port.actors} == {
        ((("A", "1"), ("B", "2")), "/opt/python")
    }


def test_a_worker_takes_a_slot_for_each_cpu_that_it_asks_for() -> None:
    its = pool(FakePort(8), slots=3)
    two = with_options(Actor, options={"num_cpus": 2})
    with RayWorkerGroup(its, two, name_prefix="a"):
        with pytest.raises(ValueError, match=r"group `bActor` finds no 2 slots on .* has 3 for each place, 2 of them taken by `aActor`"):
            RayWorkerGroup(its, two, name_prefix="b")
        RayWorkerGroup(its, RayClassWithInitArgs(Actor), name_prefix="c")
    assert [seat.free for seat in its.seats()] == [2, 2]


@pytest.mark.parametrize(
    ("options", "use_gpu", "words"),
    [
        ({"num_cpus": 4}, True, "each Actor asks for 4 CPUs, and a place of pool `p` has 3, its max_colocate_count"),
        ({"num_gpus": 2}, True, "each Actor asks for 2 `GPU`, and a place of pool `p` has 1"),
        ({"num_gpus": 0.5}, False, "each Actor asks for 0.5 `GPU`, and a place of pool `p` has 0"),
        ({"resources": {"license": 1}}, True, "each Actor asks for 1 `license`, and a place of pool `p` has 0"),
    ],
)
def test_more_than_a_place_has_is_refused_where_ray_would_wait(options: dict[str, Any], use_gpu: bool, words: str) -> None:
    port = FakePort(8)
    with pool(port, use_gpu=use_gpu) as its:
        with pytest.raises(ValueError, match=words):
            RayWorkerGroup(its, with_options(Actor, options=options))
        assert port.actors == []


def test_classes_in_one_process_have_their_options_together() -> None:
    actor = with_options(Actor, options={"max_concurrency": 4, "runtime_env": {"env_vars": {"A": "1"}}})
    critic = with_options(Critic, config={"b": 1.0}, options={"num_cpus": 2, "runtime_env": {"env_vars": {"B": "2"}}})
    made = create_colocated_worker_cls({"actor": actor, "critic": critic})
    assert made.options == {"max_concurrency": 4, "num_cpus": 2, "runtime_env": {"env_vars": {"A": "1", "B": "2"}}}
    critic.update_options({"runtime_env": {"env_vars": {"A": "3"}}})
    with pytest.raises(ValueError, match="`A` is '1' for `actor` and '3' for `critic`, which share a process"):
        create_colocated_worker_cls({"actor": actor, "critic": critic})
