"""Division of accelerators among replicas, and the launch of several together."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, AsyncIterator, Sequence

from ...models.findings.wording import plural, with_noun
from ..compat.verl.pool import RayResourcePool, port_of
from ..compat.verl.pool_manager import split_resource_pool
from ..engines.engine import ReplicaShape
from ..failure import LaunchFailed, build_refusal
from ..world.vendors import RESOURCES
from .loop import run_in_thread
from .replica import Replica


@dataclass(frozen=True, slots=True)
class Division:
    """Division of accelerators among replicas: number, size, and idle rest."""

    replicas: int
    size: int
    idle: int

    def __str__(self) -> str:
        all_of_them = self.replicas * self.size + self.idle
        rest = f", {self.idle} stay{'s' * (self.idle == 1)} idle" if self.idle else ""
        return f"{with_noun(all_of_them, 'accelerator')} // {self.size} for each = {with_noun(self.replicas, 'replica')}{rest}"


def divide(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> Division:
    """Divide accelerators among replicas of ``tp * dp * pp``.

    Raises a ValueError (PW741) for degrees below 1. Source: verl,
    experimental/agent_loop/agent_loop.py. Elsewhere verl divides by tp alone, and so starts too
    many replicas if dp or pp is above 1 (trainer/main_generation_server.py).
    """
    if not all(isinstance(number, int) for number in (n_accelerators, tp, dp, pp)) or n_accelerators < 0 or min(tp, dp, pp) < 1:
        message = f"{n_accelerators} accelerators cannot be dealt to replicas of tp {tp}, dp {dp} and pp {pp}"
        raise build_refusal("PW741", "", message, "give whole numbers, degrees of at least 1", tp, dp, pp)
    size = ReplicaShape(tp, dp, pp).world_size
    return Division(n_accelerators // size, size, n_accelerators % size)


def num_replicas(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> int:
    """Return the number of replicas of ``tp * dp * pp`` accelerators; see `divide`."""
    return divide(n_accelerators, tp, dp, pp).replicas


async def reserve_replicas(replicas: Sequence[Replica]) -> RayResourcePool:
    """Reserve a pool for all replicas; LaunchFailed (PW702) with the arithmetic."""
    if not replicas:
        raise build_refusal("PW741", "", "there are no replicas to reserve for", "make at least one")
    on = replicas[0].on
    port = port_of(on)
    device = _one_device(replicas)
    sizes = [replica.gpus_per_replica_node for replica in replicas for _ in range(replica.nnodes)]
    pool = RayResourcePool(sizes, name_prefix="rollout_pool", max_colocate_count=1, on=on)
    try:
        await run_in_thread(pool.seats, device)
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
    """Yield the replicas, standalone and serving, in the block; a failure ends all."""
    pool = await reserve_replicas(replicas)
    try:
        parts = split_resource_pool(pool, [replica.world_size for replica in replicas])
        await _wait_for_all(replica.init_standalone(part) for replica, part in zip(replicas, parts))
        yield replicas
    finally:
        ends = await asyncio.gather(*(replica.close() for replica in replicas), return_exceptions=True)
        await run_in_thread(pool.close)
        for problem in ends:
            if problem is not None:
                raise problem


def _one_device(replicas: Sequence[Replica]) -> str:
    """Return the common device of the replicas. Several: ValueError (PW741)."""
    devices = sorted({replica.device for replica in replicas})
    if len(devices) > 1:
        message = f"replicas on {' and '.join(f'`{device}`' for device in devices)} cannot be reserved together"
        raise build_refusal("PW741", "", message, "launch those of each device by themselves", *devices)
    return devices[0]


async def _wait_for_all(works: Any) -> None:
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
    fewer = f"start {possible.replicas} {plural('replica', possible.replicas)}, or more nodes"
    help = fewer if 0 < possible.replicas < count else first.help
    return build_refusal("PW702", "rollout_pool", message, help, amount=first.amount, notes=notes)
