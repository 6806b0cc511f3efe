"""Random small questions in which traffic counts as time, and the least traffic of a design by every way to lay its blocks over nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from typing import Iterator, Mapping

from placewright.models.job import Link
from placewright.models.machines.node_group import ACCELERATOR
from placewright.models.parallel import Parallel
from placewright.models.planning.design import Design
from placewright.models.planning.workload import SECOND, After, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.problem import planning_problem
from placewright.planner.search.crossing import LeastCrossing
from placewright.planner.search.structures import OUTSIDE, BlockStructure
from placewright.planner.traffic import Traffic

from ....solver.cases import cluster, problem
from ...looped import timed

Held = Mapping[str, tuple[int, ...]]
"""Component -> its accelerators on each node."""


def asked(seed: int) -> Problem:
    """The problem of a seed, with its workload."""
    found, workload = drawn(seed)
    return found.with_workload(workload)


def drawn(seed: int) -> tuple[Problem, Workload]:
    """Two or three components on two or three nodes, some with holes, in racks or none, of one model or two; all that can cross may."""
    random = Random(f"crossing {seed}")
    racks, mixed = random.random() < 0.4, random.random() < 0.2
    nodes = [
        {
            "count": random.choice((2, 3, 4)),
            "taken": random.choice((0, 0, 0, 1)),
            **({"rack": "ab"[rank % 2]} if racks else {}),
            **({"model": "XY"[rank % 2]} if mixed else {}),
        }
        for rank in range(random.choice((2, 3, 3)))
    ]
    names = ("rollout", "ref", "actor")[-random.choice((2, 2, 3)) :]
    most = 4 if len(names) == 3 else 6
    parts = []
    for name in names:
        tp = random.choice((1, 1, 2, 3))
        traffic = random.choice((0, 0, 20, 100))
        parts.append(timed(name, tp, most, random.choice((30, 60, 90)), random.choice((0.3, 0.7, 1.0)), tp=tp, traffic=traffic))
    ends = [(one, other) for one in names for other in names if one != other and random.random() < 0.4]
    kinds = [random.choice(({"weights": 50}, {"weights": 90}, {"stream": 30, "ratio": random.choice((1, 1, 2))})) for _ in ends]
    links = tuple(Link(one, other, **kind) for (one, other), kind in zip(ends, kinds))
    if mixed and seed % 2:  # else nothing tells the models apart, and they are one kind
        parts = [replace(each, timed=_of_models(each.timed)) for each in parts]
    found = problem(cluster(*nodes), *parts)
    choices = {names[0]: (Parallel(1), Parallel(2))} if random.random() < 0.3 else {}
    rates = {"rack": random.choice((2, 10))} if racks else {"node": random.choice((2, 10, 50))}
    chain = tuple(After(one, other) for one, other in zip(names, names[1:]))
    workload = Workload(chain, batches=random.choice((1, 4)), bandwidth=rates, nested=random.random() < 0.3)
    return replace(found, job=replace(found.job, links=links, choices=choices)), workload


def _of_models(timed: TimedComponent | None) -> TimedComponent | None:
    """The same times, said of each model by itself."""
    return timed and replace(timed, measured=tuple(replace(each, model=model) for model in "XY" for each in timed.measured))


def least_placed(asked_for: Problem, workload: Workload, design: Design) -> int | None:
    """Nanoseconds of the least that crosses, of every way to lay the blocks of a design over the nodes; None if there is none."""
    costs = Traffic(asked_for.with_workload(workload)).costs
    (level,) = workload.bandwidth
    cost = SECOND // workload.bandwidth[level] if costs else 0
    nodes = asked_for.cluster.nodes
    where = [node.name if level == "node" else node.topology[level] for node in nodes]
    crossing = (_crosses(asked_for, held, where) for held in laid(asked_for, design))
    return min((cost * each for each in crossing), default=None)


def _crosses(asked_for: Problem, held: Held, where: list[str]) -> int:
    """MiB that cross, by what the words `traffic`, `weights` and `stream` mean."""
    found = 0
    if len(set(where)) < 2:
        return 0
    domains = {name: {place: sum(n for n, at in zip(its, where) if at == place) for place in set(where)} for name, its in held.items()}
    for component in asked_for.components:
        found += component.traffic * (sum(map(bool, domains[component.name].values())) - 1)
    for link in asked_for.job.links:
        source, target = domains[link.source], domains[link.target]
        found += link.weights * sum(bool(target[place]) and not source[place] for place in source)
        found += link.stream * sum(max(0, target[place] - link.ratio * source[place]) for place in source)
    return found


def laid(asked_for: Problem, design: Design) -> Iterator[Held]:
    """Every way to lay the blocks over the nodes of their kind, each component in whole groups on each node."""
    nodes = asked_for.cluster.nodes
    models = [set(kind.model.split(" and ")) for kind in planning_problem(asked_for).kinds]
    room = [node.free(ACCELERATOR).bit_count() for node in nodes]
    ways = []
    for block in design.blocks:
        most = [room[rank] if node.accelerator_model in models[block.kind] else 0 for rank, node in enumerate(nodes)]
        ways.append([its for its in product(*(range(count + 1) for count in most)) if sum(its) == block.accelerators])
    for chosen in product(*ways):
        if any(sum(its[rank] for its in chosen) > room[rank] for rank in range(len(nodes))):
            continue
        held = {
            name: tuple(
                sum(its[rank] for its, block in zip(chosen, design.blocks) if name in block.components) for rank in range(len(nodes))
            )
            for name in design.options
        }
        if all(count % design.options[name].group == 0 for name, its in held.items() for count in its):
            yield held


def crossing_of(least: LeastCrossing, design: Design) -> int:
    """Lower bound of the traffic of a design, ns."""
    blocks = {name: frozenset(design.blocks_of(name)) for name in design.options}
    sets: dict[object, list[str]] = {}
    for name, its in blocks.items():
        sets.setdefault(its or name, []).append(name)
    uses = [blocks[members[0]] for members in sets.values()]
    around = [[number for number, its in enumerate(uses) if mine and mine < its] for mine in uses]
    inside = tuple(min(its, key=lambda number: len(uses[number]), default=OUTSIDE) for its in around)
    structure = BlockStructure(tuple(map(tuple, sets.values())), inside, design.segments)
    options = [design.options[members[0]] for members in structure.sets]
    alone = sum(least.bound_inside(name, option) for name, option in design.options.items())
    return alone + least.beyond(structure, [(option.kind, option.amount) for option in options])
