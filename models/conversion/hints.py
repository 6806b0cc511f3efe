"""A component as hints: what `models/hints` would read back as the same."""

from __future__ import annotations

from itertools import product

from ..component import UNBOUNDED, Component, Parallel
from ..estimate import said_of
from ..findings.finding import Finding
from ..machines.node_group import CLUSTER_LABEL, NODE
from ..memory.shards import are_whole
from ..problem import Problem
from ..quantity import memory_text, write_range
from .losses import moved
from .where import related_to_data, where_to_data

_DEGREES = ("tp", "pp", "cp", "ep", "dp")
Data = dict[str, object]


def shape(problem: Problem, component: Component, names: dict[str, str], losses: list[Finding]) -> Data:
    """What hints say besides where it may be and how much it asks for. `names` are those that components have in the new file."""
    data: Data = {"role": component.role} if component.role not in ("", names[component.name]) else {}
    if component.cpus and not problem.job.pools:  # those of a pool are reserved once for all its components, by verl itself
        data["cpus"] = component.cpus
    if problem.kind(component) != NODE:
        degrees = _degrees(problem.job.choices.get(component.name, (component.parallel,)), component, losses)
        demanded = component.runs is None or "contiguous" in component.spans or component.stride > 1  # else a rule of its framework
        written = {
            "parallel": degrees, "memory": memory_text(component.memory), "accelerator": component.accelerator_model,
            "contiguous": component.contiguous and demanded, "any_order": component.any_order and demanded, "stride": component.stride if component.stride > 1 else 0,
        }  # fmt: skip
        data |= {key: value for key, value in written.items() if value}
        if component.estimate is not None:
            data["estimate"] = said_of(component.estimate)
        said = component.estimate.divided_among if component.estimate else 0
        if component.runs is None and component.divided_among != said and not are_whole(component):
            message = f"that the ranks of `{component.name}` are whole groups of {component.shards} shards is not said any more"
            losses.append(moved(component.name, message))
    if component.phases:
        data["phase"] = component.phases[0] if len(component.phases) == 1 else list(component.phases)
    estimated = component.name in problem.job.estimated
    return data | where_to_data(component, estimated) | related_to_data(problem, component, names)


def asked(problem: Problem, component: Component) -> Data:
    """How much it asks for, and in which node groups."""
    data: Data = {} if component.node_groups == (CLUSTER_LABEL,) else {"node_group": ",".join(component.node_groups)}
    least, most = component.least, min(component.most, UNBOUNDED - 1)
    if (component.least, component.most) != (1, UNBOUNDED):
        key = "processes" if problem.kind(component) == NODE else "accelerators"
        ranges = component.counts if least < most else ()
        written = [low if low == high else write_range((low, high)) for low, high in ranges or ((least, most),)]
        data[key] = written if ranges else written[0]
    if component.per_process > 1:
        data["accelerators_per_process"] = component.per_process
    return data


def _degrees(choices: tuple[Parallel, ...], component: Component, losses: list[Finding]) -> Data:
    """Each degree that is not 1, or the list of those that are left open."""
    values = {name: list(dict.fromkeys(getattr(each, name) for each in choices)) for name in _DEGREES}
    if choices != tuple(Parallel(*each) for each in product(*values.values())):
        message = f"that `{component.name}` may have only some of the degrees {', or '.join(map(str, choices))} together is not said"
        losses.append(moved(component.name, message))
        values = {name: [getattr(component.parallel, name)] for name in _DEGREES}
    return {name: its[0] if len(its) == 1 else its for name, its in values.items() if its != [1]}
