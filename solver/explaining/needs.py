"""Needs of a job: accelerators per component and in total; derivations of a job's numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from math import lcm, prod
from typing import AbstractSet as Set
from typing import Container, Iterable, Iterator, Mapping

from ...models.component import APART, DISJOINT, IN_ORDER, Component
from ...models.derivation import CPUS, DATA_PARALLEL_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE, REPLICAS, WORLD_SIZE, Derivation, Figure
from ...models.findings.wording import plural, with_noun
from ...models.job import Share
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE
from ...models.parallel import Parallel
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.quantity import Counts, write_estimate
from ...models.record import dataclass
from ...models.roles import ROLLOUT
from ...models.sharing import Members, find_around, sharing_sets
from ...models.text.document import Document
from ..stretches import stretches

MOST_CHOICES = 4096
"""Limit of degree combinations; beyond it colocated components are counted separately."""
MOST_TRIED = 64
"""Number of largest sets that start a greedy search; every selection gives a lower bound."""
Within = Mapping[str, frozenset[str]]
"""Component -> itself, colocated components, all enclosing components."""
Layout = tuple[tuple[int, int], ...]
"""(number of nodes, resources per node) in node order; equal amounts are merged."""


def lower_bound(problem: Problem, movers: Set[str] = frozenset()) -> int:
    """Return a lower bound on accelerators: the largest need of sets that may not share.

    Sets that may share count once. If counts are chosen by time, sets that work in turns may share
    unless the file forbids it; otherwise only sets that the file permits. `movers` are components
    whose explicit ranks a search gives up: other components may use their accelerators. If degrees
    imply more than themselves, the minimum over all choices is taken.
    """
    if problem.job.planning.followed:
        from ...models.tied_degrees import with_degrees

        return min(lower_bound(with_degrees(problem, choice.degrees), movers) for choice in problem.job.planning.followed)
    every = [tuple(member for member in members if problem.kind(member) == ACCELERATOR) for members in sharing_sets(problem)]
    sets = [members for members in every if members]
    within = _within(problem, sets)
    hinted_sets = [members for members in sets if all(component.runs is None for component in members)]
    weights = [_least(problem, members) - _count_shared(problem, members, within, movers) for members in hinted_sets]
    needing = {index: hinted_sets[index] for index, weight in enumerate(weights) if weight > 0}
    share, order = _that_share(problem, needing, within), sorted(needing, key=lambda index: -weights[index])
    return max((_greedy(first, order, weights, share) for first in order[:MOST_TRIED]), default=0)


def _within(problem: Problem, sets: Iterable[Members]) -> Within:
    home = {component.name: members for members in sharing_sets(problem) for component in members}
    outers = find_around(problem, sharing_sets(problem))
    within: dict[str, frozenset[str]] = {}
    for members in sets:
        enclosing = (component for outer in outers[home[members[0].name][0].name] for component in outer)
        names = frozenset(component.name for component in (*members, *enclosing))
        within.update((component.name, names) for component in members)
    return within


def _least(problem: Problem, members: Members) -> int:
    """Return the minimum accelerators of colocated components over all degrees."""
    ties, minimum = problem.job.planning.tied, max(component.least for component in members)
    choices = [problem.job.choices.get(ties.get(component.name, component.name), (component.parallel,)) for component in members]
    if prod(map(len, choices)) > MOST_CHOICES:
        return max(_least(problem, (component,)) for component in members) if len(members) > 1 else minimum
    steps = (lcm(*(_step(problem, component, parallel) for component, parallel in zip(members, degrees))) for degrees in product(*choices))
    return min(-(-minimum // step) * step for step in steps)


def _step(problem: Problem, component: Component, parallel: Parallel) -> int:
    """Return the divisor of the component's count, by the dialect's processes per degrees."""
    shape = problem.job.planning.shapes.get(component.name, {}).get(parallel)
    if shape is None:
        return replace(component, parallel=parallel).step
    return replace(component, per_process=shape.per_process, stride=shape.stride, parallel=shape.parallel).step


def _count_shared(problem: Problem, members: Members, within: Within, movers: Set[str]) -> int:
    """Return the number of accelerators with explicit ranks that the members may use."""
    names, total = {member.name for member in members}, 0
    for explicit in problem.components:
        if explicit.runs is not None and problem.kind(explicit) == ACCELERATOR:
            partners = problem.job.overlaps.get(explicit.name, frozenset()) | within.get(explicit.name, frozenset())
            if explicit.name in movers or names & partners or explicit.name in within[members[0].name]:
                total += problem.build_given().count_held(explicit.name, ACCELERATOR)
    return total


def _that_share(problem: Problem, sets: Mapping[int, Members], within: Within) -> dict[int, set[int]]:
    """Return set number -> numbers of sets that may share accelerators in some answer."""
    sharing: dict[int, set[int]] = {index: set() for index in sets}
    number = {component.name: index for index, members in sets.items() for component in members}
    names_of = {index: within[members[0].name] for index, members in sets.items()}
    pairs = [(index, number[name]) for index in sets for name in names_of[index] if number.get(name, index) != index]
    if problem.job.planning.workload is not None:
        forbidden = {frozenset(pair) for pair in _list_required_apart(problem)}
        in_turn = [index for index, members in sets.items() if any(component.timed for component in members)]
        pairs += [
            (first, second)
            for first, second in combinations(in_turn, 2)
            if not any(frozenset(pair) in forbidden for pair in product(names_of[first], names_of[second]))
        ]
    for first, second in pairs:
        sharing[first].add(second)
        sharing[second].add(first)
    return sharing


def _list_required_apart(problem: Problem) -> Iterable[tuple[str, ...]]:
    for kind in (DISJOINT, APART, IN_ORDER):
        for relation in problem.find_relations(kind):
            yield from combinations(relation.components, 2)


def _greedy(first: int, order: list[int], weights: list[int], share: Mapping[int, Set[int]]) -> int:
    """Return the weight of a greedy selection that starts with `first`."""
    selection = [first]
    for index in order:
        if index != first and share[index].isdisjoint(selection):
            selection.append(index)
    return sum(weights[index] for index in selection)


@dataclass(frozen=True, slots=True)
class ComponentNeed:
    """Needs of one component.

    Attributes
    ----------
    kind : resource that it is placed on: ``Accelerator``, a hardware type, or ``node``.
    processes : world size; None if the placement is unknown.
    layout : resources per node with the number of nodes; processes if nodes are the resource.
    held : resources of its kind, shared ones counted once; 0 if nodes are the resource.
    cpus : CPUs reserved for all processes together; 0 if unknown.
    asked : (least, most) resources of a hinted component; else None.
    counts : permitted counts within `asked` as ranges; empty if all are permitted.
    written : the ranks as written, if they cannot be resolved without a cluster.
    """

    name: str
    kind: str
    processes: int | None
    layout: Layout = ()
    held: int = 0
    cpus: int = 0
    asked: tuple[int, int] | None = None
    counts: Counts = ()
    written: str = ""

    @property
    def accelerators(self) -> int:
        """Number of accelerators."""
        return self.held if self.kind == ACCELERATOR else 0


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of all components together, and the capacity of the cluster.

    Attributes
    ----------
    accelerators : accelerators used by any component.
    open : lower bound on further accelerators of hinted components, by the degrees that were read.
        Unknown are the consequences of `unread_choices` choices and the degrees on `sizes_not_read` pool
        sizes.
    nodes : nodes used by any component.
    there, nodes_there : accelerators and nodes of the cluster; `there` is None if unspecified.
    idle : accelerators used neither by a component nor by another job.
    cpus : CPUs reserved for all processes; colocated components share the largest reservation.
    """

    components: tuple[ComponentNeed, ...]
    accelerators: int
    nodes: int
    open: int
    there: int | None
    nodes_there: int
    idle: int
    cpus: int = 0
    unread_choices: int = 0
    sizes_not_read: int = 0


def needs_of(problem: Problem, document: Document, unknown: Container[str] = (), search_problem: Problem | None = None) -> Needs:
    """Return the needs of a job; for `unknown` components only accelerators are known.

    `search_problem` is the search's problem: it may give up ranks, and knows the degrees on each count.
    The cost grows with runs and with differing nodes.
    """
    assignment, cluster = problem.build_given(), problem.cluster
    layouts: dict[str, Counter[int]] = {}
    usage = node_count = idle = 0
    for nodes, node, masks in stretches(problem, assignment):
        mask = 0
        for (name, kind), component_mask in masks.items():
            mask |= component_mask if kind == ACCELERATOR else 0
            if component_mask:
                layouts.setdefault(name, Counter())[component_mask.bit_count()] += len(nodes)
        usage += mask.bit_count() * len(nodes)
        node_count += len(nodes) if masks else 0
        idle += (node.free(ACCELERATOR) & ~mask).bit_count() * len(nodes)
    component_needs = [_need(problem, component, assignment, layouts.get(component.name), document) for component in problem.components]
    component_needs = [replace(need, processes=None, cpus=0) if need.name in unknown else need for need in component_needs]
    search = (search_problem or problem).job.planning
    return Needs(
        tuple(component_needs), usage, node_count, lower_bound(_as_searched(problem, search_problem or problem), frozenset(search.own)),
        cluster.total() if cluster.counted else None, len(cluster.nodes), idle if cluster.counted else 0, sum(need.cpus for need in component_needs),
        search.unread_choices, search.sizes_not_read,
    )  # fmt: skip


def _as_searched(problem: Problem, search_problem: Problem) -> Problem:
    """Return the problem with the search's degree choices and their consequences."""
    search = search_problem.job.planning
    planning = replace(problem.job.planning, tied=search.tied, followed=search.followed, shapes=search.shapes, ways=search.ways)
    return replace(problem, job=replace(problem.job, choices=search_problem.job.choices, planning=planning))


def _need(
    problem: Problem, component: Component, assignment: Assignment, layout: Counter[int] | None, document: Document
) -> ComponentNeed:  # fmt: skip
    name, kind, span = component.name, problem.kind(component), component.spans.get("placement")
    if component.runs is None and span:
        groups = "" if component.node_groups == (CLUSTER_LABEL,) else f"{','.join(component.node_groups)} "
        return ComponentNeed(name, kind, None, written=groups + document.excerpt(span))
    if component.runs is None:
        return ComponentNeed(name, kind, None, asked=(component.least, component.most), counts=component.counts)
    layout, processes = layout or Counter(assignment.processes_on(name).values()), assignment.world_size(name)
    node_counts = tuple((nodes, count) for count, nodes in layout.items())
    return ComponentNeed(name, kind, processes, node_counts, assignment.count_held(name, kind), component.cpus * processes)


SIZES = (WORLD_SIZE, PROCESSES_PER_NODE, REPLICA_SIZE, DATA_PARALLEL_SIZE, REPLICAS, CPUS)
"""Sizes of a component in output order; shares per process follow."""
MAX_SIZES = 4
"""Largest number of different processes-per-node values listed."""


def numbers(problem: Problem, needs: Needs, framework_derivations: Iterable[Derivation], document: Document) -> tuple[Derivation, ...]:
    """Return every derived number: by component, then of the job as a whole.

    `framework_derivations` are the dialect's derivations. They replace general derivations of the same name, as
    they use the framework's formula.
    """
    dialect_derivations, derivations = list(framework_derivations), list[Derivation]()
    for component, need in zip(problem.components, needs.components):
        by_dialect = {derivation.name: derivation for derivation in dialect_derivations if derivation.component == component.name}
        general = {derivation.name: derivation for derivation in _derive(problem, component, need, document)}
        sizes = {name: by_dialect.get(name) or general.get(name) for name in SIZES}
        world, per_node = sizes[WORLD_SIZE], sizes[PROCESSES_PER_NODE]
        if world and per_node and WORLD_SIZE in by_dialect:  # the figures name framework keys
            sizes[PROCESSES_PER_NODE] = replace(per_node, figures=world.figures)
        chain = {name: derivation for name, derivation in by_dialect.items() if name not in SIZES}
        shares = {name: derivation for name, derivation in general.items() if name not in SIZES and name not in chain}
        derivations += [derivation for derivation in (*sizes.values(), *chain.values(), *shares.values()) if derivation]
        derivations += memory(problem, component, document)
    names = {component.name for component in problem.components}
    return (*derivations, *(derivation for derivation in dialect_derivations if derivation.component not in names))


def _derive(problem: Problem, component: Component, need: ComponentNeed, document: Document) -> Iterator[Derivation]:
    if need.processes is None:
        return
    name, processes, figures = component.name, need.processes, _read_figure(component, "placement", document)
    yield Derivation(name, WORLD_SIZE, processes, _world_size(component, need), figures)
    if processes > 1:
        yield Derivation(name, PROCESSES_PER_NODE, *_per_node(problem, name, processes), figures)
    replica = component.parallel.replica
    amount = problem.build_given().amount(name)
    if replica > 1 and need.accelerators:
        degrees = {degree: getattr(component.parallel, degree) for degree in ("tp", "pp", "cp", "dp")}
        formula = " x ".join(f"{degree} {size}" for degree, size in degrees.items() if size > 1)
        parallel = _read_figure(component, "parallel", document)
        yield Derivation(name, REPLICA_SIZE, replica, formula, parallel)
        label = REPLICAS if (component.role or name) == ROLLOUT else DATA_PARALLEL_SIZE
        yield Derivation(
            name, label, amount // replica, _format_division(amount, "accelerators", replica, "a replica"), (*figures, *parallel)
        )
    if component.cpus:
        yield Derivation(name, CPUS, need.cpus, f"{processes} {plural('process', processes)} x {component.cpus}")
    yield from _shares([share for share in problem.shares if share.component == name], processes)


def _world_size(component: Component, need: ComponentNeed) -> str:
    processes, per_process = need.processes or 0, component.per_process
    nodes = sum(count for count, _ in need.layout)
    if need.kind == NODE:
        return f"{processes} {plural('process', processes)} on {nodes} {plural('node', nodes)}"
    noun = plural("accelerator" if need.accelerators else need.kind, need.held)
    if need.held == processes * per_process:
        return f"{need.held} {noun} // {per_process} a process"
    if need.held and processes % need.held == 0:
        return f"{need.held} {noun} x {with_noun(processes // need.held, 'process')} on each"
    return f"{processes} {plural('process', processes)} are written for {need.held} {noun}"


def _per_node(problem: Problem, name: str, processes: int) -> tuple[int | str, str]:
    """Return (processes per node, formula)."""
    counts = problem.build_given().processes_on(name)
    sizes, nodes = list(dict.fromkeys(counts.values())), len(counts)
    formula = f"{with_noun(processes, 'process')} on {with_noun(nodes, 'node')}"
    if len(sizes) == 1:
        return sizes[0], formula
    listing = ", ".join(map(str, sizes)) if len(sizes) <= MAX_SIZES else f"{min(sizes)} to {max(sizes)}"
    return listing, formula


def _shares(shares: list[Share], processes: int) -> Iterator[Derivation]:
    """Yield the share of each process in the amounts of a component."""
    occurrences = Counter(share.noun for share in shares)
    for share in shares:
        name = f"{share.noun} per process" + (f" of {share.amount_name}" if occurrences[share.noun] > 1 else "")
        figures = (Figure(share.amount_name, share.amount, share.span),)
        formula = _format_division(share.amount, share.noun, processes, "")
        yield Derivation(share.component, name, share.amount // max(processes, 1), formula, figures)


def _format_division(amount: int, unit: str, among: int, divisor_name: str) -> str:
    """Return a formula such as `64 samples // 8`, with the remainder."""
    remainder = amount % among if among else amount
    return f"{amount} {unit} // {among}" + (f" {divisor_name}" if divisor_name else "") + (f", {remainder} left over" if remainder else "")


def _read_figure(component: Component, field: str, document: Document) -> tuple[Figure, ...]:
    """Return the figure of a component's field as written in the file."""
    span = component.spans.get(field)
    return (Figure(field, document.excerpt(span), span),) if span else ()


def memory(problem: Problem, component: Component, document: Document) -> Iterator[Derivation]:
    """Yield the memory estimate per accelerator.

    Empty without an estimate, or while count or degrees are open.
    """
    amount = problem.build_given().amount(component.name)
    if not amount and component.least == component.most and len(problem.job.choices.get(component.name, ())) < 2:
        amount = component.least
    if component.estimate is None or not amount:
        return
    from ...models.memory.estimate import estimate_memory
    from ...models.memory.terms import EXACT, mebibytes

    use, capacities = problem.job.models.get(component.name), {node.accelerator_memory for node in problem.cluster.nodes}
    capacity = capacities.pop() if len(capacities) == 1 else None
    estimate = estimate_memory(component, use.card if use else None, component.parallel, amount, capacity)
    if estimate is None:
        return
    for term in estimate.terms:
        between = "" if term.spread == EXACT else f"{write_estimate(mebibytes((term.low,)))} to {write_estimate(mebibytes((term.high,)))}; "
        formula = f"{between}{term.formula}; {term.source}"
        yield Derivation(component.name, f"{term.name} (an estimate)", write_estimate(term.mebibytes), formula)
    staying = f"{write_estimate(estimate.kept)} of it stay" if estimate.kept else "nothing of it stays"
    missing = [f"not counted are {missing}" for missing in estimate.missing]
    between = f"{write_estimate(estimate.low)} to {write_estimate(estimate.high)}"
    formula = "; ".join([between, f"{staying} while another phase runs", *missing, *estimate.assumed])
    total = write_estimate(estimate.mebibytes)
    yield Derivation(
        component.name, "memory on each accelerator (an estimate)", total, formula, _read_figure(component, "estimate", document)
    )
