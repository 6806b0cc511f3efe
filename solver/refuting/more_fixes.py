"""Fixes by machines, by sharing, and by several demands at once; ranking of fixes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Iterator, Sequence

from ...models.component import COLOCATED, SUBSET, Component, Relation
from ...models.demand import ConflictClause, Demand
from ...models.findings.wording import plural, with_noun
from ...models.machines.accelerators import GENERIC
from ...models.machines.changed import with_nodes
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ...models.part import given_part
from ...models.problem import AMOUNT, Problem
from ..wording import listed
from .census import CountingProblem, CountingRow
from .certificate import row_of
from .conflict import ADDED, DROPPED, LOOSENED, SHARED, Change, can_be_dropped, dropped, maximal
from .fixes import Apply, FixTrial, amounts, asking, best, instead_of, less_memory, less_of_node, looser, other_degrees, other_work
from .oracle import can_pack, is_in_packing_scope

MAX_TRIES = 12


MAX_GIVEN = 4
"""Largest number of explicit components tried for sharing."""
MAX_TOGETHER = 4
"""Largest number of joint changes; more are no useful advice."""
MAX_FIXES = 5
"""Largest number of fixes shown."""


def _without_demand(problem: Problem, removed: Demand) -> Problem:
    return problem.without(removed)


def more_nodes(trial: FixTrial, row: CountingRow) -> Iterator[Change]:
    """Yield the fewest additional nodes of the kind most useful to the row's components."""
    problem = trial.problem
    sample = _sample(problem, row)
    if sample is None:
        return
    count = len(problem.cluster.nodes)
    pieces = sample.count(ACCELERATOR) // max(row.size, 1) if row.size and not row.level else 0
    # The row proves that fewer nodes do not suffice.
    least = -(-(row.need - row.have) // pieces) if pieces else 1
    most, tries = least, 0
    while not _enough(trial, sample, most):
        least, most, tries = most + 1, most * 2, tries + 1
        if tries > MAX_TRIES or most > 4 * count:
            return
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if _enough(trial, sample, middle) else (middle + 1, most)
    rack_note = " in a rack of their own" if sample.topology.get("rack") and most > 1 else ""
    size = sample.count(ACCELERATOR)
    noun = plural("accelerator", size) if sample.accelerator_model == GENERIC else sample.accelerator_model
    text = f"add {most} {plural('node', most)} with {size} {noun}{rack_note}{_to_groups(problem, row)}"
    yield Change(text, (ADDED, most / count), adding(sample, most))


def _to_groups(problem: Problem, row: CountingRow) -> str:
    """Return the node groups to be joined by new nodes; "" for none."""
    components = [component for component in row.components if component.runs is None]
    labels = {label for component in components for label in component.node_groups if label not in (CLUSTER_LABEL, NODE_LABEL)}
    groups = [f"`{label}`" for label in problem.cluster.groups if label in labels]
    return f", in node {plural('group', len(groups))} {listed(groups)}" if groups else ""


def adding(sample: Node, more: int) -> Apply:
    """Return a change that adds nodes like the sample, in the sample's groups."""

    def apply(problem: Problem) -> Problem:
        return replace(problem, cluster=with_nodes(problem.cluster, sample, more))

    return apply


def _enough(trial: FixTrial, sample: Node, more: int) -> bool:
    """Return True if `more` nodes suffice; nodes are only counted where counting decides."""
    census = trial.oracle.census.with_more(sample, more)
    questions = [CountingProblem(problem, census) for problem in trial.alternatives]
    if all(is_in_packing_scope(question) for question in questions):
        return any(row_of(question) is None and can_pack(question) for question in questions)
    return trial.works(adding(sample, more))


def _sample(problem: Problem, row: CountingRow) -> Node | None:
    """Return the largest node open to every component of the row.

    None without such a node, or if no accelerators are counted.
    """
    components = [component for component in row.components if component.runs is None]
    if not components or any(problem.kind(component) != ACCELERATOR for component in components):
        return None
    inside = frozenset.intersection(*(problem.cluster.members(component.node_groups) for component in components))
    models = {component.accelerator_model for component in components if component.accelerator_model}
    memory = max(component.memory for component in components)
    usable = [
        alike.node
        for alike, _ in problem.cluster.alike_among(sorted(inside))
        if models <= {alike.node.accelerator_model} and (alike.node.accelerator_memory is None or alike.node.accelerator_memory >= memory)
    ]
    largest = max(usable, key=lambda node: node.count(ACCELERATOR), default=None)
    return largest if largest and largest.accelerators else None


def holders_of_room(problem: Problem, row: CountingRow) -> Iterator[ConflictClause]:
    """Yield the resources of explicit components that the row's components cannot use."""
    holders = _given(problem, row)
    if holders:
        names = [component.name for component in holders]
        kinds = dict.fromkeys(problem.kind(component) for component in holders)
        counts = [(problem.given().held_together(names, kind), "accelerator" if kind == ACCELERATOR else kind) for kind in kinds]
        amounts = listed([with_noun(count, unit) for count, unit in counts])
        verb = "holds" if len(holders) == 1 else "hold"
        yield ConflictClause(
            f"{listed(names)} {verb} {amounts}; placed components are shared only if you add `colocate_with:` or `within:`"
        )


def shared_room(trial: FixTrial, row: CountingRow) -> Iterator[Change]:
    """Yield changes in which hinted components share with explicit ones."""
    problem, seen = trial.problem, set()
    for component in row.components:
        group = next(members for members in problem.colocated_sets if component.name in {member.name for member in members})
        if component.runs is not None or group in seen:
            continue
        seen.add(group)
        for holder in _given(problem, row)[:MAX_GIVEN]:
            size = problem.given().held(holder.name, problem.kind(holder))
            together, inside = _with(COLOCATED, component, holder), _inside(holder, component, size)
            if trial.works(together):
                yield Change(f"add `colocate_with: {holder.name}` to {component.name}", (SHARED, 0.0), together)
            elif trial.works(inside):
                text = f"give {holder.name} no ranks but the hints `{{accelerators: {size}, within: {component.name}}}`"
                yield Change(text, (SHARED, 1.0), inside)


def _given(problem: Problem, row: CountingRow) -> list[Component]:
    """Return explicit components outside the row with resources of the row's kind."""
    if not problem.job.capabilities.shares_accelerators:
        return []
    names = {component.name for component in row.components}
    kinds = {problem.kind(component) for component in row.components if component.runs is None} - {NODE}
    return [
        component
        for component in given_part(problem).components
        if problem.kind(component) in kinds and component.name not in names and component.runs
    ]


def _with(kind: str, first: Component, second: Component) -> Apply:
    def apply(problem: Problem) -> Problem:
        relations = (*problem.job.relations, Relation(kind, (first.name, second.name)))
        return replace(problem, job=replace(problem.job, relations=relations))

    return apply


def _inside(holder: Component, component: Component, size: int) -> Apply:
    """Return a change that leaves an explicit component open within `component`, at equal size."""

    def apply(problem: Problem) -> Problem:
        components = tuple(
            replace(candidate, runs=None, least=size, most=size) if candidate.name == holder.name else candidate
            for candidate in problem.components
        )
        return _with(SUBSET, holder, component)(replace(problem, job=replace(problem.job, components=components)))

    return apply


def together(trial: FixTrial, demands: Sequence[Demand]) -> tuple[Change, ...]:
    """Return a single combined change that was solved; empty if none is small.

    As many demands as possible are kept: fixed demands first, amounts last, as amounts can shrink.
    The remaining demands are changed.
    """
    firm = [demand for demand in demands if demand.field != AMOUNT and not can_be_dropped(trial.problem, demand)]
    loose = [demand for demand in demands if demand.field != AMOUNT and demand not in firm]
    order = [*firm, *loose, *(demand for demand in demands if demand.field == AMOUNT)]

    def possible(subset: Sequence[Demand]) -> bool:
        removed = tuple(demand for demand in order if demand not in subset)
        return trial.works(lambda problem: problem.without(*removed))

    retained = maximal(order, possible)
    changed = [demand for demand in order if demand not in retained]
    if not 1 < len(changed) <= MAX_TOGETHER or any(demand in firm for demand in changed):
        return ()
    steps: list[Apply] = [_without(demand) for demand in changed]
    texts = [dropped(demand) for demand in changed]
    for position, demand in enumerate(changed):
        if demand.field == AMOUNT:
            remaining_steps = steps[:position] + steps[position + 1 :]
            amount = _amount(trial, demand.component, remaining_steps)
            if not amount:
                return ()
            component = trial.problem[demand.component]
            steps[position] = asking(component, amount)
            texts[position] = f"ask for {amount} instead of {instead_of(component)} for {component.name}"
    kind = DROPPED if any(demand.field != AMOUNT for demand in changed) else LOOSENED
    change = Change(" and ".join(texts), (kind, float(len(changed))), _all(steps))
    return (change,) if trial.solved(change.apply) else ()


def _amount(trial: FixTrial, name: str, remaining_steps: Sequence[Apply]) -> int:
    """Return the largest feasible smaller amount beside the remaining changes; 0 if unknown."""
    changed = _all(remaining_steps)(trial.problem)[name]
    tried = range(changed.step, trial.problem[name].least, changed.step)
    position = best(len(tried), lambda index: trial.works(_all([*remaining_steps, asking(changed, tried[index])])))
    return tried[position] if position >= 0 else 0


def _without(demand: Demand) -> Apply:
    return lambda problem: problem.without(demand)


def _all(steps: Sequence[Apply]) -> Apply:
    def apply(problem: Problem) -> Problem:
        for step in steps:
            problem = step(problem)
        return problem

    return apply


def ranked(trial: FixTrial, demands: Sequence[Demand], row: CountingRow | None) -> tuple[Change, ...]:
    """Return solved single changes of these demands, smallest first."""
    candidates: list[Change] = []
    for demand in demands:
        softer = list(_softer(trial, demand, row))
        candidates += softer
        without = partial(_without_demand, removed=demand)
        if not softer and can_be_dropped(trial.problem, demand) and trial.works(without):
            candidates.append(Change(dropped(demand), (DROPPED, 1.0), without))
    candidates += chain(shared_room(trial, row), more_nodes(trial, row)) if row else ()
    proved: list[Change] = []
    for change in sorted(candidates, key=lambda change: change.effort):
        if len(proved) < MAX_FIXES and change.text not in {accepted.text for accepted in proved} and trial.solved(change.apply):
            proved.append(change)
    return tuple(proved)


def _softer(trial: FixTrial, demand: Demand, row: CountingRow | None) -> Iterator[Change]:
    """Yield changes that weaken a demand but keep it."""
    if demand.field == AMOUNT:
        yield from amounts(trial, demand, row)
    elif demand.field == "memory":
        yield from less_memory(trial, demand)
    elif demand.field in ("cpus", "host_memory"):
        yield from less_of_node(trial, demand)
    elif demand.field == "parallel":
        yield from other_degrees(trial, demand)
    else:
        yield from looser(trial, demand)
        yield from other_work(trial, demand)
