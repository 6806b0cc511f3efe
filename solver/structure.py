"""Structure of an answer: what is left of it when alike nodes and domains are not told apart."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Iterable, Iterator, Mapping

from ..models.machines.node import Node
from ..models.machines.node_group import NODE
from ..models.machines.topology import LEVELS, domain, domains
from ..models.part import explicit
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.structure import AMOUNT, DOMAINS, SHARED, Key, Structure


def structure_of(problem: Problem, assignment: Assignment, other: Structure | None = None) -> Structure:
    """The structure of an answer; `problem` has the degrees that were chosen. With `other` it has the kinds of domains of that one."""
    level = level_of(problem)
    alike = other.alike if other else tuple(kinds(problem, level).values()) if level else ()
    of = {domains[0]: domains for domains in alike}
    there = {name: _domains(problem, assignment, name, level) for name in leads(problem)}
    figures = []
    for key in keys(problem, of):
        what, *names, kind = key
        if what == AMOUNT:
            figures.append((key, assignment.amount(names[0])))
        else:
            met = set.intersection(*(there[name] for name in names))
            figures.append((key, sum(its in met for its in of[kind])))
    degrees = tuple((component.name, component.parallel) for component in problem.components if component.runs is None)
    return Structure(level, tuple(figures), degrees, alike)


def leads(problem: Problem) -> list[str]:
    """The first component of each set on the same accelerators whose place is searched."""
    sets = problem.colocated_sets
    return [its[0].name for its in sets if problem.kind(its[0]) != NODE and all(component.runs is None for component in its)]


def keys(problem: Problem, kinds: Iterable[str]) -> Iterator[Key]:
    """Every figure that makes a structure, with these kinds of domains."""
    names = leads(problem)
    for name in names:
        yield (AMOUNT, name, "")
    for kind in kinds:
        for name in names:
            yield (DOMAINS, name, kind)
        for one, other in combinations(names, 2):
            yield (SHARED, one, other, kind)


def level_of(problem: Problem) -> str:
    """The narrowest level of the topology that has more than one domain; "" if none has."""
    return next((level for level in reversed(LEVELS) if len(domains(problem.cluster, level)) > 1), "")


def kinds(problem: Problem, level: str) -> Mapping[str, tuple[str, ...]]:
    """The first domain of each kind -> all of that kind: with as many nodes that have the same and belong to the same."""
    groups = [frozenset(group.node_ranks) for group in problem.cluster.declared]
    told = [frozenset(nodes) for component in problem.components for nodes in (component.excluded, *(pin.nodes for pin in component.pins))]
    given = {node for c in explicit(problem).components for node, _ in problem.given().masks(c.name)}
    content: dict[str, Counter[object]] = {}
    for node in problem.cluster.nodes:
        belongs = tuple(node.rank in its for its in (*groups, *told))
        own = node.rank if node.rank in given else -1
        content.setdefault(domain(node, level), Counter())[(*_has(node), belongs, own)] += 1
    found: dict[frozenset[object], list[str]] = {}
    for name, its in content.items():
        found.setdefault(frozenset(its.items()), []).append(name)
    return {names[0]: tuple(names) for names in found.values()}


def _has(node: Node) -> tuple[object, ...]:
    free = len(node.accelerators) - node.taken.bit_count()
    hardware = tuple(sorted(Counter(device.type for device in node.hardware).items()))
    return (len(node.accelerators), free, node.accelerator_model, node.accelerator_memory, hardware, node.cpus, node.memory)


def _domains(problem: Problem, assignment: Assignment, name: str, level: str) -> set[str]:
    nodes = problem.cluster.nodes
    return {domain(nodes[node], level) for ranges in assignment.node_ranges(name) for node in ranges}
