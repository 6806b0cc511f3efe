"""Less memory, of accelerators and of nodes, and fewer CPUs: the most with which a component has room."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ....models.component import Component
from ....models.demand import Demand
from ....models.quantity import write_memory
from ...memory import peak
from ..conflict import LOOSENED, Change
from .trial import Apply, Trial, best, with_component

GIB = 1024


def less_memory(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The largest memory with which it is possible, in whole GiB where that is at least one."""
    problem = trial.problem
    component = problem[demand.component]
    members = next(its for its in problem.colocated_sets if component in its)
    for amount in sorted({_beside(component, members, size) for size in _sizes(trial)} - {0}, reverse=True):
        if amount < component.memory and trial.works(needing(component, amount)):
            share = (component.memory - amount) / component.memory
            text = f"set `memory` of {component.name} to {written(amount)} instead of {written(component.memory)}"
            yield Change(text, (LOOSENED, share), needing(component, amount))
            return


def less_of_node(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The most CPUs or host memory, in whole GiB, of a process with which it is possible."""
    component, host = trial.problem[demand.component], demand.field == "host_memory"
    asked, step = (component.host_memory, GIB) if host else (component.cpus, 1)

    def needing(amount: int) -> Apply:
        return with_component(component.name, lambda its: replace(its, host_memory=amount) if host else replace(its, cpus=amount))

    amount = step * (1 + best(-(-asked // step) - 1, lambda index: trial.works(needing((index + 1) * step))))
    if amount:
        now, then = (written(asked), written(amount)) if host else (str(asked), str(amount))
        text = f"set `{demand.field}` of {component.name} to {then} instead of {now}"
        yield Change(text, (LOOSENED, (asked - amount) / asked), needing(amount))


def _sizes(trial: Trial) -> set[int]:
    return {kind.memory for kind in trial.oracle.census.kinds if kind.memory is not None}


def _beside(component: Component, members: tuple[Component, ...], size: int) -> int:
    """The most memory that the component may need where all members together must not need more than `size`; 0 for none."""

    def fits(memory: int) -> bool:
        return peak(tuple(replace(its, memory=memory) if its is component else its for its in members)) <= size

    amount = max(best(size + 1, fits), 0)
    return amount // GIB * GIB or amount


def needing(component: Component, memory: int) -> Apply:
    """The question in which a component needs so many MiB."""
    return with_component(component.name, lambda its: replace(its, memory=memory, offloaded=min(its.offloaded, memory)))


def written(memory: int) -> str:
    """So many MiB as a file has them: `40GiB`."""
    return write_memory(memory).replace(" ", "")
