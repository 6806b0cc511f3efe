"""verl's words on real Ray: what only Ray can show."""

from __future__ import annotations

from typing import Any, Iterator

import pytest
from placewright.runtime import (
    RayClassWithInitArgs,
    RayResourcePool,
    RayWorkerGroup,
    ResourcePoolManager,
    Worker,
    create_colocated_worker_cls,
)
from placewright.runtime.failure import LaunchFailed

from ....unhindered import unhindered
from ...user_code import verl_workers
from ...user_code.verl_workers import Actor, Critic, Refuses, Rows

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("address", "by_value")]


@pytest.fixture(scope="module")
def by_value() -> Iterator[None]:
    """The workers' nodes do not have the module of the tests."""
    ray = pytest.importorskip("ray")
    ray.cloudpickle.register_pickle_by_value(verl_workers)
    yield
    ray.cloudpickle.unregister_pickle_by_value(verl_workers)


def test_the_code_of_verls_users_runs_with_another_import() -> None:
    import ray

    @ray.remote
    class Accumulator(Worker):
        def __init__(self) -> None:
            super().__init__()
            self.value = self.rank

        def add(self, x: int) -> int:
            self.value += x
            return self.value

    manager = ResourcePoolManager(resource_pool_spec={"rollout_pool_0": [2]}, mapping=None)
    pool = RayResourcePool([2], use_gpu=True, max_colocate_count=1)
    group = RayWorkerGroup(
        resource_pool=pool, ray_cls_with_init=RayClassWithInitArgs(cls=Accumulator), bin_pack=False, name_prefix="standalone_0"
    )
    assert group.execute_all_sync("add", x=[1, 1]) == [1, 2]
    assert ray.get(group.execute_all_async("add", 10)) == [11, 12]
    assert ray.get([worker.add.remote(100) for worker in group.workers]) == [111, 112]
    nodes = ray.get([worker.__ray_call__.remote(lambda self: ray.get_runtime_context().get_node_id()) for worker in group.workers])
    assert len(set(nodes)) == 1
    assert ray.get(ray.get_actor(group.worker_names[1]).add.remote(0)) == 112
    with pytest.raises(ValueError, match="6 CPUs"):
        manager.create_resource_pool()
    group.close()
    pool.close()


def test_what_ray_gave_of_a_node_is_what_the_workers_see() -> None:
    with RayResourcePool([1], max_colocate_count=1) as first, RayResourcePool([1], max_colocate_count=1) as second:
        assert [seat.accelerator for pool in (first, second) for seat in pool.seats()] == ["0", "1"]
        group = RayWorkerGroup(second, RayClassWithInitArgs(Actor))
        assert group.execute_all_sync("get_cuda_visible_devices") == ["1"]
        assert group.execute_all_sync("getenv", "MASTER_PORT") == [group.master_port]


def test_colocated_classes_with_batches_that_are_not_there_yet() -> None:
    cias = {"actor": RayClassWithInitArgs(Actor), "critic": RayClassWithInitArgs(Critic, config={"b": 10})}
    with RayResourcePool([2], max_colocate_count=1) as pool, RayWorkerGroup(pool, create_colocated_worker_cls(cias)) as both:
        its = both.spawn(cias.keys())
        later = its["actor"].add_later(Rows([0.0] * 3, pads=True))
        assert its["actor"].over_mesh(Rows([5.0])).numbers == [5.0]
        assert its["critic"].sub(later).numbers == [-10, -10, -9]
        assert its["critic"].sub_later(later.get()).get().numbers == [-10, -10, -9]


def test_shortages_take_less_than_a_second_and_leave_nothing() -> None:
    def refused(words: str, *arguments: Any, **named: Any) -> None:
        start = unhindered()
        with pytest.raises(LaunchFailed, match=words):
            RayResourcePool(*arguments, **named).seats()
        assert unhindered() - start < 1.0

    refused("needs 16 accelerators, the cluster has 8", [16], max_colocate_count=1)
    refused("needs 20 CPUs .10 with each accelerator, its max_colocate_count., the cluster has 4", [2])
    with RayResourcePool([2], max_colocate_count=1, name_prefix="p") as pool:
        pool.seats()
        refused("there is a reservation `pverl_group_2:0` already", [2], max_colocate_count=1, name_prefix="p")
        refused("needs 3 CPUs on one node .*, no node has more than 2", [3], max_colocate_count=1)
    with RayResourcePool([2, 2], max_colocate_count=1, name_prefix="theirs") as pool:
        pool.seats()
        refused("needs 1 accelerator.*|needs 1 CPU.*", [1], max_colocate_count=1)


def test_a_constructor_that_raises_ends_its_group_a_method_raises_with_its_traceback_and_a_worker_that_dies_is_named() -> None:
    with RayResourcePool([2], max_colocate_count=1) as pool:
        with pytest.raises(LaunchFailed, match=r"rank 1 of `xRefuses` .* could not be constructed: ValueError: no weights for rank 1"):
            RayWorkerGroup(pool, RayClassWithInitArgs(Refuses), name_prefix="x")
        group = RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="x")
        with pytest.raises(LaunchFailed, match=r"(?s)rank 0 of `xActor` .* raised while .*, in boom\n") as caught:
            group.execute_rank_zero_sync("boom")
        assert isinstance(caught.value.__cause__, RuntimeError)
        with pytest.raises(LaunchFailed, match=r"rank 0 of `xActor` .* died while it ran `leave`"):
            group.execute_rank_zero_sync("leave")
