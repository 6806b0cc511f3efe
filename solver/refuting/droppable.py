"""What a user can give up, and in which words: the keys that were written."""

from __future__ import annotations

from typing import Sequence

from ...models.component import COLOCATED, KEYS, UNBOUNDED
from ...models.demand import Demand
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.problem import AMOUNT, Problem

_NAMES = {
    "node_groups": "node_group",
    "per_process": "accelerators_per_process",
    "accelerator_model": "accelerator",
    "excluded": "exclude",
    **KEYS,
}
"""Field of a demand -> the key that says it, where that has another name."""


def can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Would the file still be one? A stride needs its range, a component without an amount its partner.

    What a framework demands nobody can drop, nor an amount or work, of which there can only be another one.
    """
    if demand.field == AMOUNT or says_the_kind(problem, demand):
        return False
    if any(share.component == demand.component and share.field == demand.field for share in problem.shares):
        return False
    if demand.field == "cpus":
        return "cpus" in problem[demand.component].spans
    if demand.field in ("contiguous", "per_process") and demand.field not in (spans := problem[demand.component].spans) and spans:
        return False  # the framework's own mode demands it, no key of the file
    if demand.field in ("accelerator_model", "excluded") and not problem[demand.component].is_written(demand.field):
        return False  # a plan chose it
    if demand.field == "contiguous":
        return problem[demand.component].stride == 1
    names = tuple(demand.component.split("+"))
    its = [relation for relation in problem.job.relations if relation.components == names and relation.kind == demand.field]
    if its:
        said = demand.field in _NAMES and not any(relation.reason for relation in its)
        return said and (demand.field != COLOCATED or all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in names))
    return True


def says_the_kind(problem: Problem, demand: Demand) -> bool:
    """Does a demand say what is counted: robots or nodes instead of accelerators? Without it the question would be another one."""
    if demand.field != "node_groups":
        return False
    return problem.kind(problem[demand.component]) != problem.cluster.kind((CLUSTER_LABEL,))


def facts_last(problem: Problem, demands: Sequence[Demand]) -> list[Demand]:
    """The demands, each once, those that the user can change first; what a framework demands is blamed last."""
    every = [demand for demand in dict.fromkeys(demands) if not says_the_kind(problem, demand)]
    facts = [demand for demand in every if demand.field != AMOUNT and not can_be_dropped(problem, demand)]
    return [demand for demand in every if demand not in facts] + facts


def key_of(demand: Demand) -> str:
    """The key that says a demand."""
    return _NAMES.get(demand.field, demand.field)


def dropped(demand: Demand) -> str:
    """Giving a demand up, in the keys that the user wrote."""
    one, _, other = demand.component.partition("+")
    first, _, rest = demand.field.partition(" ")
    if first == "keep":
        return f"drop `keep: {{{rest.replace(' in ', ': ')}}}` of {one}"
    if first == "spread":
        return f"drop `spread` over {rest.removeprefix('over ')} of {one}"
    if first == "pins":
        return f"drop the `pin` of ranks {rest} of {one}"
    return f"drop `{key_of(demand)}: {other}` of {one}" if other else f"drop `{key_of(demand)}` of {one}"
