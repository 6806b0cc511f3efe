"""Changes of machines, of sharing, and of several demands at once; all changes, the smallest first."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Iterator, Sequence

from ...models.component import COLOCATED, SUBSET, Component, Relation
from ...models.demand import Clause, Demand
from ...models.findings.wording import plural, with_noun
from ...models.machines.accelerators import GENERIC
from ...models.machines.changed import with_nodes
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL
from ...models.part import explicit
from ...models.problem import AMOUNT, Problem
from ..wording import listed
from .census import Question, Row
from .certificate import row_of
from .conflict import ADDED, DROPPED, LOOSENED, SHARED, Change, can_be_dropped, dropped, maximal
from .fixes import Apply, Trial, amounts, asking, best, instead_of, less_memory, less_of_node, looser, other_degrees, other_work
from .oracle import looks, packs

MAX_TRIES = 12


MAX_GIVEN = 4
"""For so many given components sharing is tried."""
MAX_TOGETHER = 4
"""More changes than this at once are no advice."""
MAX_FIXES = 5
"""So many changes are shown at most."""


def more_nodes(trial: Trial, row: Row) -> Iterator[Change]:
    """The fewest further nodes of the kind that the components of the row may use most of."""
    problem = trial.problem
    sample = _sample(problem, row)
    if sample is None:
        return
    count = len(problem.cluster.nodes)
    room = sample.count(ACCELERATOR) // max(row.size, 1) if row.size and not row.level else 0
    # By the row alone fewer do not suffice.
    least = -(-(row.need - row.have) // room) if room else 1
    most, tries = least, 0
    while not _enough(trial, sample, most):
        least, most, tries = most + 1, most * 2, tries + 1
        if tries > MAX_TRIES or most > 4 * count:
            return
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if _enough(trial, sample, middle) else (middle + 1, most)
    where = " in a rack of their own" if sample.topology.get("rack") and most > 1 else ""
    size = sample.count(ACCELERATOR)
    what = plural("accelerator", size) if sample.accelerator_model == GENERIC else sample.accelerator_model
    text = f"add {most} {plural('node', most)} with {size} {what}{where}{_to_groups(problem, row)}"
    yield Change(text, (ADDED, most / count), adding(sample, most))


def _to_groups(problem: Problem, row: Row) -> str:
    """The node groups that new nodes must join so that the components of the row may use them."""
    components = [component for component in row.components if component.runs is None]
    labels = {label for each in components for label in each.node_groups if label not in (CLUSTER_LABEL, NODE_LABEL)}
    groups = [f"`{label}`" for label in problem.cluster.groups if label in labels]
    return f", in node {plural('group', len(groups))} {listed(groups)}" if groups else ""


def adding(sample: Node, more: int) -> Apply:
    """The question on a cluster with so many more nodes like the sample, which are in the groups that it is in."""

    def apply(problem: Problem) -> Problem:
        return replace(problem, cluster=with_nodes(problem.cluster, sample, more))

    return apply


def _enough(trial: Trial, sample: Node, more: int) -> bool:
    """Is it possible with so many more nodes? Where counting nodes tells, they are only counted."""
    census = trial.oracle.census.with_more(sample, more)
    questions = [Question(problem, census) for problem in trial.alternatives]
    if all(looks(question) for question in questions):
        return any(row_of(question) is None and packs(question) for question in questions)
    return trial.works(adding(sample, more))


def _sample(problem: Problem, row: Row) -> Node | None:
    """The largest node that every component of the row may use, the first of them; None if there is none, or no accelerators count."""
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


def holders_of_room(problem: Problem, row: Row) -> Iterator[Clause]:
    """What given components hold that the components of the row cannot have."""
    given = _given(problem, row)
    if given:
        names = [component.name for component in given]
        kinds = dict.fromkeys(problem.kind(component) for component in given)
        counts = [(problem.given().held_together(names, kind), "accelerator" if kind == ACCELERATOR else kind) for kind in kinds]
        held = listed([with_noun(count, unit) for count, unit in counts])
        verb = "holds" if len(given) == 1 else "hold"
        yield Clause(f"{listed(names)} {verb} {held}; placed components are shared only if you add `colocate_with:` or `within:`")


def shared_room(trial: Trial, row: Row) -> Iterator[Change]:
    """Hints that share with given components."""
    problem, seen = trial.problem, set()
    for component in row.components:
        members = next(its for its in problem.colocated_sets if component.name in {each.name for each in its})
        if component.runs is not None or members in seen:
            continue
        seen.add(members)
        for given in _given(problem, row)[:MAX_GIVEN]:
            size = problem.given().held(given.name, problem.kind(given))
            together, inside = _with(COLOCATED, component, given), _inside(given, component, size)
            if trial.works(together):
                yield Change(f"add `colocate_with: {given.name}` to {component.name}", (SHARED, 0.0), together)
            elif trial.works(inside):
                text = f"give {given.name} no ranks but the hints `{{accelerators: {size}, within: {component.name}}}`"
                yield Change(text, (SHARED, 1.0), inside)


def _given(problem: Problem, row: Row) -> list[Component]:
    """The given components that hold resources of the kind that the row counts, and are not in it."""
    if not problem.job.capabilities.shares_accelerators:
        return []
    names = {component.name for component in row.components}
    kinds = {problem.kind(component) for component in row.components if component.runs is None} - {NODE}
    return [each for each in explicit(problem).components if problem.kind(each) in kinds and each.name not in names and each.runs]


def _with(kind: str, one: Component, other: Component) -> Apply:
    def apply(problem: Problem) -> Problem:
        relations = (*problem.job.relations, Relation(kind, (one.name, other.name)))
        return replace(problem, job=replace(problem.job, relations=relations))

    return apply


def _inside(given: Component, component: Component, size: int) -> Apply:
    """One of the given components is left to solve within another, with as many accelerators as it has."""

    def apply(problem: Problem) -> Problem:
        its = tuple(replace(each, runs=None, least=size, most=size) if each.name == given.name else each for each in problem.components)
        return _with(SUBSET, given, component)(replace(problem, job=replace(problem.job, components=its)))

    return apply


def together(trial: Trial, demands: Sequence[Demand]) -> tuple[Change, ...]:
    """One set of changes after which the question was solved; none if there is none that is small.

    As many demands as can be are kept: what nobody can give up first, amounts last, since they can be made smaller. What is left
    is changed.
    """
    firm = [demand for demand in demands if demand.field != AMOUNT and not can_be_dropped(trial.problem, demand)]
    loose = [demand for demand in demands if demand.field != AMOUNT and demand not in firm]
    order = [*firm, *loose, *(demand for demand in demands if demand.field == AMOUNT)]

    def possible(kept: Sequence[Demand]) -> bool:
        gone = tuple(demand for demand in order if demand not in kept)
        return trial.works(lambda its: its.without(*gone))

    kept = maximal(order, possible)
    changed = [demand for demand in order if demand not in kept]
    if not 1 < len(changed) <= MAX_TOGETHER or any(demand in firm for demand in changed):
        return ()
    steps: list[Apply] = [_without(demand) for demand in changed]
    texts = [dropped(demand) for demand in changed]
    for position, demand in enumerate(changed):
        if demand.field == AMOUNT:
            others = steps[:position] + steps[position + 1 :]
            amount = _amount(trial, demand.component, others)
            if not amount:
                return ()
            component = trial.problem[demand.component]
            steps[position] = asking(component, amount)
            texts[position] = f"ask for {amount} instead of {instead_of(component)} for {component.name}"
    kind = DROPPED if any(demand.field != AMOUNT for demand in changed) else LOOSENED
    change = Change(" and ".join(texts), (kind, float(len(changed))), _all(steps))
    return (change,) if trial.solved(change.apply) else ()


def _amount(trial: Trial, name: str, others: Sequence[Apply]) -> int:
    """The largest smaller amount with which it is possible beside the other changes, 0 if none was found."""
    changed = _all(others)(trial.problem)[name]
    tried = range(changed.step, trial.problem[name].least, changed.step)
    found = best(len(tried), lambda index: trial.works(_all([*others, asking(changed, tried[index])])))
    return tried[found] if found >= 0 else 0


def _without(demand: Demand) -> Apply:
    return lambda problem: problem.without(demand)


def _all(steps: Sequence[Apply]) -> Apply:
    def apply(problem: Problem) -> Problem:
        for step in steps:
            problem = step(problem)
        return problem

    return apply


def ranked(trial: Trial, demands: Sequence[Demand], row: Row | None) -> tuple[Change, ...]:
    """Single changes of these demands after which the question was solved, the smallest first."""
    found: list[Change] = []
    for demand in demands:
        softer = list(_softer(trial, demand, row))
        found += softer
        if not softer and can_be_dropped(trial.problem, demand) and trial.works(lambda its, gone=demand: its.without(gone)):  # type: ignore[misc]
            found.append(Change(dropped(demand), (DROPPED, 1.0), lambda its, gone=demand: its.without(gone)))  # type: ignore[misc]
    found += chain(shared_room(trial, row), more_nodes(trial, row)) if row else ()
    proved: list[Change] = []
    for change in sorted(found, key=lambda its: its.effort):
        if len(proved) < MAX_FIXES and change.text not in {its.text for its in proved} and trial.solved(change.apply):
            proved.append(change)
    return tuple(proved)


def _softer(trial: Trial, demand: Demand, row: Row | None) -> Iterator[Change]:
    """Changes of a demand that do not give it up."""
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
