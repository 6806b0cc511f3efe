"""Structure of an answer: its figures up to exchange of alike nodes and domains."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Iterable, Iterator, Mapping

from ..models.machines.node import Node
from ..models.machines.node_group import NODE
from ..models.machines.topology import LEVELS, domain, domains
from ..models.placements.assignment import Assignment
from ..models.problem import AMOUNT, DOMAINS, SHARED, Key, Problem, Structure
from ..models.sharing import given_part


def structure_of(problem: Problem, assignment: Assignment, model_structure: Structure | None = None) -> Structure:
    """Return the structure of an answer at the degrees of `problem`.

    With `model_structure`, domain kinds are taken from that structure.
    """
    level = level_of(problem)
    domain_kinds = model_structure.alike if model_structure else tuple(kinds(problem, level).values()) if level else ()
    domains_of = {domains[0]: domains for domains in domain_kinds}
    domains_by_name = {name: _domains(problem, assignment, name, level) for name in leads(problem)}
    figures = []
    for key in keys(problem, domains_of):
        figure_kind, *names, kind = key
        if figure_kind == AMOUNT:
            figures.append((key, assignment.amount(names[0])))
        else:
            common = set.intersection(*(domains_by_name[name] for name in names))
            figures.append((key, sum(name in common for name in domains_of[kind])))
    degrees = tuple((component.name, component.parallel) for component in problem.components if component.runs is None)
    return Structure(level, tuple(figures), degrees, domain_kinds)


def leads(problem: Problem) -> list[str]:
    """Return the first component of every searched colocated set."""
    sets = problem.colocated_sets
    return [
        members[0].name for members in sets if problem.kind(members[0]) != NODE and all(component.runs is None for component in members)
    ]


def keys(problem: Problem, kinds: Iterable[str]) -> Iterator[Key]:
    """Yield all figures of a structure for these kinds of domains."""
    names = leads(problem)
    for name in names:
        yield (AMOUNT, name, "")
    for kind in kinds:
        for name in names:
            yield (DOMAINS, name, kind)
        for first, second in combinations(names, 2):
            yield (SHARED, first, second, kind)


def level_of(problem: Problem) -> str:
    """Return the narrowest topology level with several domains; "" without any."""
    return next((level for level in reversed(LEVELS) if len(domains(problem.cluster, level)) > 1), "")


def kinds(problem: Problem, level: str) -> Mapping[str, tuple[str, ...]]:
    """Return first domain -> all domains of its kind.

    Domains of a kind have as many nodes with the same equipment and memberships.
    """
    groups = [frozenset(group.node_ranks) for group in problem.cluster.declared]
    named_nodes = [
        frozenset(nodes) for component in problem.components for nodes in (component.excluded, *(pin.nodes for pin in component.pins))
    ]
    explicit_nodes = {node for component in given_part(problem).components for node, _ in problem.build_given().masks(component.name)}
    content: dict[str, Counter[object]] = {}
    for node in problem.cluster.nodes:
        belongs = tuple(node.rank in nodes for nodes in (*groups, *named_nodes))
        identity = node.rank if node.rank in explicit_nodes else -1
        content.setdefault(domain(node, level), Counter())[(*_has(node), belongs, identity)] += 1
    by_content: dict[frozenset[object], list[str]] = {}
    for name, counts in content.items():
        by_content.setdefault(frozenset(counts.items()), []).append(name)
    return {names[0]: tuple(names) for names in by_content.values()}


def _has(node: Node) -> tuple[object, ...]:
    free = len(node.accelerators) - node.taken.bit_count()
    hardware = tuple(sorted(Counter(device.type for device in node.hardware).items()))
    return (len(node.accelerators), free, node.accelerator_model, node.accelerator_memory, hardware, node.cpus, node.memory)


def _domains(problem: Problem, assignment: Assignment, name: str, level: str) -> set[str]:
    nodes = problem.cluster.nodes
    return {domain(nodes[node], level) for ranges in assignment.node_ranges(name) for node in ranges}
