"""Joint launch of many replicas: one reservation, and all of them serve or none."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Sequence

from ...models.findings.wording import plural
from ..compat.verl.pools.pool import RayResourcePool, port_of
from ..compat.verl.pools.split import split_resource_pool
from ..failure import LaunchFailed, refused
from ..world.vendors import RESOURCES
from .loop import in_thread
from .replica import Replica, divide


async def reserve_replicas(replicas: Sequence[Replica]) -> RayResourcePool:
    """Reserve a common pool for all replicas.

    Raises LaunchFailed (PW702) within a second if they do not fit, with the arithmetic.
    """
    if not replicas:
        raise refused("PW741", "", "there are no replicas to reserve for", "make at least one")
    on = replicas[0].on
    port = port_of(on)
    device = _one_device(replicas)
    sizes = [replica.gpus_per_replica_node for replica in replicas for _ in range(replica.nnodes)]
    pool = RayResourcePool(sizes, name_prefix="rollout_pool", max_colocate_count=1, on=on)
    try:
        await in_thread(pool.seats, device)
    except LaunchFailed as problem:
        pool.close()
        resources = {name for need in pool.needs(device) for name in need if name in RESOURCES}
        total = sum(int(node.total.get(name, 0)) for node in port.nodes() for name in resources)
        raise _with_arithmetic(problem, replicas, total) from problem
    except BaseException:
        pool.close()
        raise
    return pool


@asynccontextmanager
async def launch_replicas(replicas: Sequence[Replica]) -> AsyncIterator[Sequence[Replica]]:
    """Yield the replicas, standalone and serving, for the duration of the block.

    The first failure ends all.
    """
    pool = await reserve_replicas(replicas)
    try:
        parts = split_resource_pool(pool, [replica.world_size for replica in replicas])
        await _all(replica.init_standalone(part) for replica, part in zip(replicas, parts))
        yield replicas
    finally:
        ends = await asyncio.gather(*(replica.close() for replica in replicas), return_exceptions=True)
        await in_thread(pool.close)
        for problem in ends:
            if problem is not None:
                raise problem


def _one_device(replicas: Sequence[Replica]) -> str:
    """Return the common device of the replicas.

    Raises a ValueError (PW741) for several devices, which no pool has.
    """
    devices = sorted({replica.device for replica in replicas})
    if len(devices) > 1:
        message = f"replicas on {' and '.join(f'`{device}`' for device in devices)} cannot be reserved together"
        raise refused("PW741", "", message, "launch those of each device by themselves", *devices)
    return devices[0]


async def _all(works: Any) -> None:
    """Wait for all; a failure cancels the rest and is raised after their end."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _with_arithmetic(problem: LaunchFailed, replicas: Sequence[Replica], total: int) -> LaunchFailed:
    """Add the possible number of replicas of this size to the failure."""
    shape = replicas[0].shape
    first = problem.findings[0]
    if first.code != "PW702" or len({replica.shape for replica in replicas}) > 1:
        return problem
    possible, count = divide(total, shape.tensor, shape.data, shape.pipeline), len(replicas)
    message = f"{count} {plural('replica', count)} of {possible.size} need{'s' if count == 1 else ''} {count * possible.size} accelerators: {first.message}"
    notes = (f"{possible}", *first.notes)
    help = (
        f"start {possible.replicas} {plural('replica', possible.replicas)}, or more nodes" if 0 < possible.replicas < count else first.help
    )
    return refused("PW702", "rollout_pool", message, help, amount=first.amount, notes=notes)
