"""Memory of a configuration: declared, or estimated from the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Collection

from ..models.component import Component
from ..models.estimate import OnSize
from ..models.parallel import Parallel
from ..models.problem import Problem
from ..models.record import dataclass

if TYPE_CHECKING:
    from ..models.memory.terms import EstimatedTotal


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """MiB on each accelerator at work and offloaded; the high of an estimate."""

    memory: int
    kept: int
    estimated: bool = False
    on_sizes: tuple[OnSize, ...] = ()


def need_on(problem: Problem, component: Component, parallel: Parallel, amount: int, sizes: Collection[int | None]) -> MemoryNeed:
    """Return the need on accelerators of these sizes; `None` is an unknown size.

    If an engine takes a share of each accelerator, the need depends on the size. The result is then
    a lower bound: the least need, as a share of the largest size. Whatever fails by the sum of
    these fails on every size.
    """
    largest = None if None in sizes else max((size for size in sizes if size is not None), default=None)
    on_largest = need(problem, component, parallel, amount, largest)
    if len(sizes) < 2 or not on_largest.estimated or component.estimate is None or not component.estimate.utilization:
        return on_largest
    needs = ((size, need(problem, component, parallel, amount, size)) for size in sorted(size for size in sizes if size is not None))
    on_sizes = tuple(OnSize(size, on.memory, on.kept) for size, on in needs)
    if largest is None:
        return replace(on_largest, on_sizes=on_sizes)
    memory, offload = min(on.memory * largest // on.capacity for on in on_sizes), min(on.kept * largest // on.capacity for on in on_sizes)
    return MemoryNeed(memory, offload, True, on_sizes)


def need(problem: Problem, component: Component, parallel: Parallel, amount: int, capacity: int | None) -> MemoryNeed:
    """Return the need with these degrees on accelerators of `capacity` MiB."""
    if component.memory or component.offloaded:
        return MemoryNeed(component.memory, component.offloaded)
    is_demand = problem.workload.heeds_estimates
    total = estimate(problem, component, parallel, amount, capacity)
    if total is None:
        return MemoryNeed(0, 0)
    return MemoryNeed(total.high, total.kept_high, True) if is_demand else MemoryNeed(total.certain, 0, total.certain > 0)


def is_estimated(component: Component) -> bool:
    """Return True if the memory of a component is known by an estimate alone."""
    return bool(component.estimate and not (component.memory or component.offloaded))


def estimate(problem: Problem, component: Component, parallel: Parallel, amount: int, capacity: int | None) -> EstimatedTotal | None:
    """Return the estimate term by term; None if unknown."""
    if component.estimate is None:
        return None
    from ..models.memory.estimate import estimate_memory  # which is loaded only where something is estimated

    use, degrees = problem.job.models.get(component.name), problem.divide(component.name, parallel)
    return estimate_memory(component, use.card if use else None, degrees, amount, capacity)


def without_estimates(problem: Problem) -> Problem | None:
    """Return the problem without estimates; None if planning uses none."""
    workload = problem.job.planning.workload
    if workload is None or not any(map(is_estimated, problem.components)):
        return None
    return problem.with_workload(replace(workload, heeds_estimates=False))
