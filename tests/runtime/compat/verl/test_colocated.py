"""Several classes in one process: what their group and the groups of their keys can do."""

from __future__ import annotations

import pytest
from placewright.runtime import (
    Dispatch,
    RayClassWithInitArgs,
    RayResourcePool,
    RayWorkerGroup,
    Worker,
    create_colocated_worker_cls,
    register,
)

from ...fake import FakePort
from ...user_code.verl_workers import Actor, Critic, Rows

ACTOR, CRITIC = RayClassWithInitArgs(cls=Actor), RayClassWithInitArgs(cls=Critic, config={"b": 10})
KEYS = {"actor": ACTOR, "critic": CRITIC}


@pytest.fixture
def pool() -> RayResourcePool:
    return RayResourcePool([2], name_prefix="p", max_colocate_count=3, on=FakePort(8))


def test_colocated_classes_answer_as_they_do_apart(pool: RayResourcePool) -> None:
    rows = Rows([0.0] * 10)
    apart = RayWorkerGroup(pool, ACTOR).add(rows).numbers, RayWorkerGroup(pool, CRITIC).sub(rows).numbers
    assert apart == ([0.0] * 5 + [1.0] * 5, [-10.0] * 10)
    both = RayWorkerGroup(pool, create_colocated_worker_cls(KEYS))
    its = both.spawn(prefix_set=KEYS.keys())
    assert (its["actor"].add(rows).numbers, its["critic"].sub(rows).numbers) == apart
    assert its["actor"].workers == both.workers
    assert its["actor"].over_mesh(Rows([0.0] * 2)).numbers == [0.0, 0.0]


def test_the_common_class_has_the_methods_under_the_keys_of_their_classes(pool: RayResourcePool) -> None:
    both = RayWorkerGroup(pool, create_colocated_worker_cls(KEYS), name_prefix="x")
    assert both.worker_names == ["xWorkerDict_0:0", "xWorkerDict_0:1"]
    assert both.actor_add(Rows([0.0, 0.0])).numbers == [0.0, 1.0]
    assert not hasattr(both, "add")
    assert both.spawn({"actor"})["actor"].actor_add(Rows([0.0, 0.0])).numbers == [0.0, 1.0]


def test_a_key_that_no_class_has_is_refused_with_those_that_there_are(pool: RayResourcePool) -> None:
    with pytest.raises(ValueError, match="group `x`: no class is colocated as `ref`; these are: actor, critic"):
        RayWorkerGroup(pool, create_colocated_worker_cls(KEYS), name_prefix="x").spawn({"ref"})
    with pytest.raises(ValueError, match="group `y`: no class is colocated as `actor`; these are: none"):
        RayWorkerGroup(pool, ACTOR, name_prefix="y").spawn({"actor"})


def test_a_class_that_was_put_together_by_hand_tells_its_keys_by_its_methods(pool: RayResourcePool) -> None:
    class Both(Worker):
        @register(dispatch_mode=Dispatch.ONE_TO_ALL)
        def actor_train(self, y: float) -> float:
            return y + 1

    group = RayWorkerGroup(pool, RayClassWithInitArgs(cls=Both))
    assert group.spawn({"actor"})["actor"].train(1.0) == [2.0, 2.0]
    with pytest.raises(ValueError, match="no class is colocated as `critic`"):
        group.spawn({"critic"})


def test_the_class_of_several_is_a_worker() -> None:
    assert issubclass(create_colocated_worker_cls(KEYS).worker, Worker)


def test_no_class_at_all_is_said() -> None:
    with pytest.raises(ValueError, match="there is no class of workers to colocate"):
        create_colocated_worker_cls({})


def test_methods_that_are_called_at_the_workers_keep_their_names(pool: RayResourcePool) -> None:
    class Rollout(Worker):
        @register(dispatch_mode=Dispatch.DIRECT_ROLLOUT_METHOD)
        def wake_up(self) -> str:
            return "awake"

    its = RayWorkerGroup(pool, create_colocated_worker_cls({"rollout": RayClassWithInitArgs(Rollout)}))
    assert its.execute_all_sync("wake_up") == ["awake", "awake"]
    with pytest.raises(ValueError, match="Direct rollout call is forbidden"):
        its.wake_up()
