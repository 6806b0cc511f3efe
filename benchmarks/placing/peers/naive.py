"""The obvious model in CP-SAT: every group has a start among the slots of the cluster, and no two groups overlap."""

from __future__ import annotations

from dataclasses import dataclass

from ortools.sat.python import cp_model
from placewright.models.component import Component
from placewright.models.machines.node import Node
from placewright.models.problem import Problem

from ..counts import Counts, groups_in_a_rack, racks_of, room, usable

Groups = dict[str, list[tuple[cp_model.IntVar, dict[str, cp_model.IntVar]]]]
"""Component -> for each of its groups its first slot, and a literal for each rack that it may be in."""


@dataclass(frozen=True)
class Naive:
    """What the obvious model found."""

    status: str
    objective: int
    bound: int
    counts: Counts | None


def naive(problem: Problem, seconds: float, workers: int = 1) -> Naive:
    """Solve the obvious model within so many seconds."""
    model, intervals, groups = cp_model.CpModel(), list[cp_model.IntervalVar](), Groups()
    width = max(max(len(node.accelerators), len(node.hardware)) for node in problem.cluster.nodes)
    for component in problem.components:
        groups[component.name] = _groups(model, problem, component, width, intervals)
    model.add_no_overlap(intervals)
    model.minimize(_price(model, problem, groups))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = workers, 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Naive(solver.status_name(status).lower(), 0, 0, None)
    counts: dict[tuple[str, int], int] = {}
    for name, its in groups.items():
        for start, _ in its:
            key = (name, solver.value(start) // width)
            counts[key] = counts.get(key, 0) + problem[name].parallel.tp
    return Naive(solver.status_name(status).lower(), round(solver.objective_value), round(solver.best_objective_bound), counts)


def _groups(
    model: cp_model.CpModel, problem: Problem, component: Component, width: int, intervals: list[cp_model.IntervalVar]
) -> list[tuple[cp_model.IntVar, dict[str, cp_model.IntVar]]]:
    tp, found = component.parallel.tp, list[tuple[cp_model.IntVar, dict[str, cp_model.IntVar]]]()
    slots = {node.rank: _slots(problem, component, node, width) for node in usable(problem, component)}
    racks = {rack: [node.rank for node in nodes if slots.get(node.rank)] for rack, nodes in racks_of(problem).items()}
    racks = {rack: ranks for rack, ranks in racks.items() if ranks}
    every = [slot for its in slots.values() for slot in its]
    for number in range(component.least // tp):
        start = model.new_int_var_from_domain(cp_model.Domain.from_values(every), f"{component.name} {number}")
        within = {rack: model.new_bool_var("") for rack in racks}
        for rack, ranks in racks.items():
            inside = cp_model.Domain.from_values([slot for rank in ranks for slot in slots[rank]])
            model.add_linear_expression_in_domain(start, inside).only_enforce_if(within[rack])
        model.add_exactly_one(within.values())
        if found:
            model.add(found[-1][0] < start)  # groups of one component are interchangeable
        found.append((start, within))
        intervals.append(model.new_fixed_size_interval_var(start, tp, ""))
    for rack in racks:
        here = sum(within[rack] for _, within in found)
        if component.keep:
            replicas = model.new_int_var(0, len(found), "")
            model.add(here == component.parallel.pp * replicas)
        model.add(here <= groups_in_a_rack(component))
    return found


def _slots(problem: Problem, component: Component, node: Node, width: int) -> list[int]:
    """Every first slot on a node at which a group meets nothing that is taken."""
    tp, has = component.parallel.tp, room(problem, component, node)
    first = node.taken.bit_count() if node.accelerators else 0  # the family's nodes are taken from below
    return [node.rank * width + first + offset for offset in range(has - tp + 1)]


def _price(model: cp_model.CpModel, problem: Problem, groups: Groups) -> cp_model.LinearExpr:
    parts: list[cp_model.LinearExpr] = []
    here = {(name, rack): sum(within[rack] for _, within in its) for name, its in groups.items() for rack in (its[0][1] if its else ())}
    seen: dict[tuple[str, str], cp_model.IntVar] = {}
    for (name, rack), count in here.items():
        seen[name, rack] = model.new_bool_var("")
        model.add(count >= 1).only_enforce_if(seen[name, rack])
        model.add(count == 0).only_enforce_if(~seen[name, rack])
    for component in problem.components:
        its = [literal for (name, _), literal in seen.items() if name == component.name]
        parts.append(component.traffic * (sum(its) - 1))
    for link in problem.job.links:
        for name, rack in list(seen):
            if name != link.target:
                continue
            source = seen.get((link.source, rack), 0)
            lacks = model.new_bool_var("")
            model.add(lacks >= seen[name, rack] - source)
            target, feeds = problem[name].parallel.tp * here[name, rack], here.get((link.source, rack), 0)
            over = model.new_int_var(0, problem[name].least, "")
            model.add(over >= target - link.ratio * problem[link.source].parallel.tp * feeds)
            parts += [link.weights * lacks, link.stream * over]
    return cp_model.LinearExpr.sum(parts)
