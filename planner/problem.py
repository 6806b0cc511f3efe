"""Planning problem of a job: tasks, options, sharing, memory turns and remaining capacity.

`planning_problem` compiles a Problem (cluster, job, hints) into a PlanningProblem, which knows kinds of
accelerators but no node and no rank. In the words of the field: every component has candidate
configurations (options); the components are partitioned into sets that share accelerators (set
partitioning), the tasks of an iteration into segments. Costs and limits of a design are sums and
maxima over its options.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Iterable, Iterator, Mapping, Sequence

from ..models.component import APART, COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER, NOT_FEWER, SUBSET, TOGETHER, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.topology import domain
from ..models.planning.arrangement import FrameworkArrangement
from ..models.planning.option import NO_KIND, AcceleratorKind, CostlyLevel, Crossing, Flow, Option, RefusedCount, SharedBlock
from ..models.planning.problem import DesignScope, GivenRanks, MemoryTurns, PlanningProblem, Sharing, Task, Workflow
from ..models.planning.workload import TimedComponent, reachable
from ..models.problem import Problem
from ..models.task_order import order_tasks
from .capacity import AcceleratorCapacity, areas, free_capacity
from .memory import is_estimated
from .profile import options
from .scope import find_left_out, find_nested_pairs
from .times import models_there

MOST = 4
"""Maximum number of `SharedBlock` entries; beyond it, the two smallest are merged.

A merged entry is a relaxation: every user of either may use all of its accelerators.
"""


def planning_problem(problem: Problem, no_goods: Sequence[RefusedCount] = (), over_nodes: bool = False) -> PlanningProblem:
    """Return the planning problem; the `no_goods` designs are no-goods.

    Components with fixed ranks that no relation ties to a planned component only take up
    accelerators. `over_nodes` puts spanning in scope: tensor parallel groups without a hint may lie
    over nodes, and so may processes where the framework allows it.
    """
    workload = problem.workload
    fixed_components = [component for component in problem.components if component.runs is not None and not _is_related(problem, component)]
    parts = [component for component in problem.components if component not in fixed_components]
    for place, part in enumerate(parts):
        if part.runs is not None:  # CPU processes hold no accelerator: their number is the count
            amount = problem.build_given().amount(part.name) or part.least
            parts[place] = replace(part, least=amount, most=amount)
    space = free_capacity(problem, fixed_components, over_nodes)
    tasks, edges, rounds = order_tasks(parts, workload)
    choices = {part.name: options(problem, part, order_times(part.timed, part.name, tasks), space, workload.handed_on) for part in parts}
    relations = find_related(problem, parts)
    resident = frozenset(part.name for part in parts if not part.phases and not (part.timed and is_estimated(part)))
    turns = {component.name: component.phases for component in parts if component.phases}
    may_nest, nested_pairs = bool(relations.within) or workload.nested, find_nested_pairs(problem)
    arrangements = _restrict_arrangements(
        problem, frozenset(component.name for component in parts if holds_accelerators(problem, component.name))
    )
    budget = workload.budget
    if budget.accelerators is not None:  # a budget counts the accelerators of all components
        budget = replace(budget, accelerators=budget.accelerators - space.held)
    return PlanningProblem(
        space.kinds, tasks, choices, Workflow(edges, rounds if workload.flows else (), workload.phases, workload.handed_on),
        MemoryTurns(resident, turns), _sharing(problem, parts, relations, may_nest, nested_pairs),
        GivenRanks(space.held, find_shared(problem, parts, choices, space)),
        _scope(problem, parts, choices, space.kinds), arrangements, workload.aim,
        budget, areas(problem, parts, choices, space),
        tuple(no_goods), crossing(problem, parts, relations.apart, space), problem,
    )  # fmt: skip


def source_of(question: PlanningProblem) -> Problem | None:
    """Return the problem that a planning problem was made of; None for others."""
    return question.source if isinstance(question.source, Problem) else None


def _sharing(problem: Problem, parts: Sequence[Component], relations: Sharing, may_nest: bool, nested_pairs: Pairs) -> Sharing:
    """Return the demanded sharing with permissions; `nested_pairs` are pairs nested by the dialect."""
    open_names = {part.name for part in parts if part.runs is None and holds_accelerators(problem, part.name)}
    planned_names = {part.name for part in problem.components if part.timed and part.runs is None}
    sets = connect([part.name for part in problem.components], relations.together | nested_pairs)
    tied_names = {name for members in sets if not planned_names.isdisjoint(members) for name in members}
    unshared_names = frozenset(
        part.name
        for part in parts
        if (part.runs is not None and not open_names <= problem.job.overlaps.get(part.name, frozenset()))
        or (part.runs is None and part.timed is None and part.name not in tied_names)
    )
    forbids = not problem.workload.nested and "nested" in problem.workload.spans
    only_within = may_nest and (forbids or (bool(nested_pairs) and not problem.workload.nested))
    return replace(relations, alone=unshared_names, nested=may_nest, only_within=only_within, forbids_nesting=forbids)


def _scope(
    problem: Problem, parts: Sequence[Component], choices: Mapping[str, Sequence[Option]], kinds: Sequence[AcceleratorKind]
) -> DesignScope:
    """Return the models open to each component, and the widenings left out of scope."""
    workload, models_of_names = problem.workload, dict[str, tuple[str, ...]]()
    for component in parts:
        option_models = {model for option in choices[component.name] if option.kind != NO_KIND for model in kinds[option.kind].models}
        if option_models and component.runs is None and component.name not in workload.on_models:
            models = models_there(problem, component)
            models_of_names.update({component.name: models} if models and set(models) < option_models else {})
    return DesignScope(workload.over_kinds, workload.on_models, models_of_names, find_left_out(problem, kinds))


def _restrict_arrangements(problem: Problem, names: frozenset[str]) -> tuple[FrameworkArrangement, ...]:
    """Return the framework arrangements restricted to these components."""
    arrangements = tuple(arrangement.among(names) for arrangement in problem.job.planning.ways)
    open_names = {name for name in problem.job.choices if all(name in arrangement.shapes for arrangement in arrangements)}
    return tuple(
        replace(arrangement, shapes={name: shape for name, shape in arrangement.shapes.items() if name not in open_names})
        for arrangement in arrangements
    )


def order_times(times: TimedComponent | None, name: str, tasks: Sequence[Task]) -> TimedComponent | None:
    """Return the times of a component in the order of its tasks."""
    if times is None:
        return None
    place = {task.phase: number for number, task in enumerate(tasks) if task.component == name}
    return replace(times, measured=tuple(sorted(times.measured, key=lambda row: place[row.phase])))


def _is_related(problem: Problem, component: Component) -> bool:
    """Return True if a component is planned, or must share with others."""
    if component.timed:
        return True
    kinds = (*TOGETHER, SUBSET)
    return any(component.name in relation.components for kind in kinds for relation in problem.find_relations(kind))


def find_shared(
    problem: Problem, parts: Sequence[Component], options: Mapping[str, Sequence[Option]], capacity: AcceleratorCapacity
) -> tuple[SharedBlock, ...]:
    """Return how many accelerators of `AcceleratorCapacity.overlaid` are usable by which components."""
    if not capacity.overlaid:
        return ()
    reach = {
        part.name: _find_reach(problem, part, options[part.name], capacity) for part in parts if holds_accelerators(problem, part.name)
    }
    counts: dict[tuple[frozenset[int], frozenset[str]], int] = {}
    for rank, mask in capacity.overlaid.items():
        kinds = frozenset(kind for kind, nodes in enumerate(capacity.nodes) if any(node.rank == rank for node in nodes))
        for index in range(mask.bit_length()):
            if mask >> index & 1:
                key = kinds, frozenset(name for name, places in reach.items() if (rank, index) in places)
                counts[key] = counts.get(key, 0) + 1
    entries = [SharedBlock(count, kinds, users) for (kinds, users), count in counts.items()]
    while len(entries) > MOST:
        first, second = min(combinations(entries, 2), key=lambda pair: pair[0].accelerators + pair[1].accelerators)
        union = SharedBlock(first.accelerators + second.accelerators, first.kinds | second.kinds, first.users | second.users)
        entries = [entry for entry in entries if entry not in (first, second)] + [union]
    return tuple(entries)


def _find_reach(problem: Problem, component: Component, options: Sequence[Option], capacity: AcceleratorCapacity) -> frozenset[object]:
    """Return the places a component may use; with fixed ranks, its own places."""
    if component.runs is not None:
        return frozenset(problem.build_given().accelerators(component.name))
    kinds = {option.kind for option in options if option.accelerators}
    return frozenset(place for kind in kinds for place in capacity.places(problem, component, kind))


def crossing(problem: Problem, parts: Sequence[Component], pairs_apart: Pairs, space: AcceleratorCapacity) -> Crossing | None:
    """Return a lower bound of traffic that depends on the design. None if it is no time."""
    if not (problem.workload.bandwidth and space.kinds):
        return None
    from ..solver.objectives.domains import several  # They load all terms of the objective, and few problems need them.
    from .traffic import Traffic

    traffic = Traffic(problem)
    base_problem = traffic.weigh(problem)
    levels = tuple(_level(base_problem, level, cost, space) for level, cost in traffic.costs.items() if several(base_problem, level))
    names = {part.name for part in parts if holds_accelerators(problem, part.name)}
    fixed_names = [part.name for part in parts if part.name in names and part.runs is not None]
    free_names = [part.name for part in parts if part.name in names and part.runs is None]
    open_ = {  # those that may not lie on accelerators with fixed ranks
        name
        for name in free_names
        if all((name, fixed_name) in pairs_apart or (fixed_name, name) in pairs_apart for fixed_name in fixed_names)
    }
    traffic_of_parts = {component.name: component.traffic for component in parts if component.name in open_ and component.traffic}
    flows = tuple(
        Flow(link.source, link.target, link.weights, link.stream, link.ratio)
        for link in problem.job.links
        if {link.source, link.target} <= names and not open_.isdisjoint((link.source, link.target)) and (link.weights or link.stream)
    )
    fixed_traffic = traffic.fixed
    return Crossing(levels, traffic_of_parts, flows, fixed_traffic) if levels and (traffic_of_parts or flows or fixed_traffic) else None


def _level(base_problem: Problem, level: str, cost: int, space: AcceleratorCapacity) -> CostlyLevel:
    """Return the cost of crossing a level, and its free accelerators by domain."""
    names = tuple(dict.fromkeys(domain(node, level) for node in base_problem.cluster.nodes))
    where = {node.rank: domain(node, level) for node in base_problem.cluster.nodes}
    free = tuple(
        tuple(tuple(space.free[node.rank] for node in nodes if where[node.rank] == name) for name in names) for nodes in space.nodes
    )
    return CostlyLevel(cost, free)


Pairs = frozenset[tuple[str, str]]


def find_related(problem: Problem, parts: Sequence[Component]) -> Sharing:
    """Return the sharing that relations and the overlap of given ranks demand."""
    names = {component.name for component in parts}

    def pairs(*kinds: str, on_accelerators: bool = True) -> Pairs:
        name_pairs = (relation.components for kind in kinds for relation in problem.find_relations(kind))
        return frozenset(
            (pair[0], pair[1])
            for pair in name_pairs
            if names.issuperset(pair) and (not on_accelerators or all(holds_accelerators(problem, component) for component in pair))
        )

    same, nested_pairs, strange = _relate_given(
        problem, [part for part in parts if part.runs is not None and holds_accelerators(problem, part.name)]
    )
    orders = [frozenset(component.components) for component in problem.find_relations(IN_ORDER) if names.issuperset(component.components)]
    in_order = frozenset(pair for order in orders for pair in combinations(sorted(order), 2))
    pairs_together, within = _close_transitively(pairs(*TOGETHER) | same, pairs(SUBSET) | nested_pairs)
    return Sharing(
        together=_drop_mirrored(pairs_together),
        apart=_drop_mirrored(pairs(DISJOINT, APART) | strange | in_order),
        within=within,
        whole=_drop_mirrored(pairs(COLOCATED_OR_DISJOINT)),
        not_fewer=pairs(NOT_FEWER, on_accelerators=False),
        in_step=frozenset(pair for pair in problem.job.in_step if names.issuperset(pair)),
        filling=tuple(orders),
    )


def _drop_mirrored(both_ways: Pairs) -> Pairs:
    """Return symmetric pairs once: a demand of both components is a single demand."""
    return frozenset({frozenset(pair): pair for pair in sorted(both_ways, reverse=True)}.values())


def _close_transitively(pairs_together: Pairs, within: Pairs) -> tuple[Pairs, Pairs]:
    """Return the transitive closure of these pairs."""
    names = sorted({name for pair in (*pairs_together, *within) for name in pair})
    both_ways = (*pairs_together, *within, *((second, first) for first, second in pairs_together))
    outer = reachable({name: [second for first, second in both_ways if first == name] for name in names})
    pair_sets = {frozenset(pair) for pair in (*pairs_together, *within)}
    implied_pairs = [(first, second) for first, second in combinations(names, 2) if frozenset((first, second)) not in pair_sets]
    same = {(first, second) for first, second in implied_pairs if first in outer[second] and second in outer[first]}
    rest = {
        pair
        for first, second in implied_pairs
        for pair in ((first, second), (second, first))
        if (first, second) not in same and pair[1] in outer[pair[0]]
    }
    return pairs_together | same, within | rest


def connect(names: Iterable[str], pairs: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield the sets of names tied by pairs, directly or not, in written order."""
    remaining, ties = list(names), [set(pair) for pair in pairs]
    while remaining:
        members, before = {remaining[0]}, set[str]()
        while members != before:
            before = set(members)
            members.update(*(tie for tie in ties if not members.isdisjoint(tie)))
        yield tuple(name for name in remaining if name in members)
        remaining = [name for name in remaining if name not in members]


def holds_accelerators(problem: Problem, name: str) -> bool:
    """Return True if the component's resources are accelerators."""
    return problem.kind(problem[name]) == ACCELERATOR


def overlaps(problem: Problem, parts: Sequence[Component]) -> tuple[str, str] | None:
    """Return two components whose given ranks overlap in part; None without any."""
    names = [component.name for component in parts if component.runs is not None and holds_accelerators(problem, component.name)]
    seats = {name: problem.build_given().accelerators(name) for name in names}
    for first, second in combinations(names, 2):
        if seats[first] & seats[second] and not (seats[first] <= seats[second] or seats[second] <= seats[first]):
            return first, second
    return None


def _relate_given(problem: Problem, holders: Sequence[Component]) -> tuple[Pairs, Pairs, Pairs]:
    """Return the pairs on equal accelerators, nested, and disjoint."""
    seats = {component.name: problem.build_given().accelerators(component.name) for component in holders}
    same, nested_pairs, strange = set(), set(), set()
    for first, second in combinations(seats, 2):
        if seats[first] == seats[second]:
            same.add((first, second))
        elif seats[first] <= seats[second]:
            nested_pairs.add((first, second))
        elif seats[second] <= seats[first]:
            nested_pairs.add((second, first))
        else:
            strange.add((first, second))
    return frozenset(same), frozenset(nested_pairs), frozenset(strange)
