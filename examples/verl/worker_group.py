"""A program in verl's style: pools of accelerators, groups of workers on them, and what is said where something is short.

Programs for verl need another import line alone: ``from verl.single_controller...``. The cluster here is simulated, four nodes of
eight; a real one is what `ray.init(address="HOST:PORT")` connects to.
"""

import ray
from placewright.runtime import (
    Dispatch,
    LaunchFailed,
    RayClassWithInitArgs,
    RayResourcePool,
    RayWorkerGroup,
    ResourcePoolManager,
    Worker,
    create_colocated_worker_cls,
    register,
    simulated_cluster,
    split_resource_pool,
)

NODES, ACCELERATORS = 4, 8


class Actor(Worker):
    """Counts on from its rank."""

    def __init__(self) -> None:
        super().__init__()
        self.value = self.rank

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def add(self, x: int) -> int:
        """What it has counted."""
        self.value += x
        return self.value


class Critic(Worker):
    """Judges by what it was told."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def judge(self, x: float) -> float:
        """Its judgement."""
        return self.scale * x


def main() -> None:
    """Groups apart and in one process each, on parts of a node and on all of them."""
    with RayResourcePool([2], use_gpu=True, name_prefix="small") as pool:
        group = RayWorkerGroup(resource_pool=pool, ray_cls_with_init=RayClassWithInitArgs(cls=Actor))
        print("dealt out", group.execute_all_sync("add", x=[1, 1]))
        print("to all", group.add(10), "by Ray itself", ray.get([worker.add.remote(100) for worker in group.workers]))
        print("visible", group.execute_all_sync("get_cuda_visible_devices"))
        group.close()
        classes = {"actor": RayClassWithInitArgs(Actor), "critic": RayClassWithInitArgs(Critic, scale=0.5)}
        both = RayWorkerGroup(pool, create_colocated_worker_cls(classes))
        its = both.spawn(classes.keys())
        print("in one process", its["actor"].add(1), its["critic"].judge(3.0))
    with RayResourcePool([ACCELERATORS] * NODES, max_colocate_count=1) as pool:
        nodes = [{seat.node_rank for seat in part.seats()} for part in split_resource_pool(pool, ACCELERATORS)]
        print("tensor parallel groups of 8 are on nodes", nodes)
    too_large()


def too_large() -> None:
    """Five nodes where there are four; verl says only what is missing in all, or waits."""
    try:
        ResourcePoolManager({"global_pool": [ACCELERATORS] * (NODES + 1)}, {}).create_resource_pool()
    except (LaunchFailed, ValueError) as problem:
        print("refused:", problem)


if __name__ == "__main__":
    with simulated_cluster(f"{NODES}x{ACCELERATORS}") as address:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        try:
            main()
        finally:
            ray.shutdown()
