"""What ranges on one line cost, as far as it is told by the domains, the nodes and the lengths of each: never more than the objective says."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Callable, Iterator, Mapping, Sequence

from ...models.component import Component
from ...models.machines.node_group import Numbering
from ...models.machines.topology import LEVELS, domain
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.ranges.fewest_nodes import fewest_nodes
from ..objectives.domains_touched import DomainsTouched
from ..objectives.idle import Idle, least_and_most
from ..objectives.nodes_of_ranges import NodesOfRanges
from ..objectives.presence import held, several
from ..objectives.term import Objective
from ..objectives.tiers import Tier
from ..objectives.traffic.bytes_across import links
from ..objectives.traffic.collectives import Collectives
from ..objectives.traffic.weight_sync import WeightSync

Set = int
"""Bundles of a line as bits, by their positions."""


@dataclass(frozen=True)
class Level:
    """The domains of a level of the topology along a numbering, each one stretch of it.

    Attributes
    ----------
    of_node : position of a node in the numbering -> number of its domain, ascending.
    added : (number of a domain, bundles in it) -> what they add to its cost.
    guarding : bundles whose leaving a domain may cost something.
    """

    of_node: Sequence[int]
    added: Callable[[int, Set], int]
    guarding: Set


@dataclass
class Costs:
    """The cost of ranges, as one number in which no later tier outweighs an earlier one."""

    levels: list[Level] = field(default_factory=list)
    node: int = 0
    fixed: int = 0
    lengths: dict[Bundle, Callable[[int], int]] = field(default_factory=dict)

    def of_length(self, bundle: Bundle, units: int) -> int:
        """What is said of a length alone."""
        return self.lengths[bundle](units)


def costs_of(
    layout: Layout, bundles: Sequence[Bundle], numbering: Numbering, tiers: Sequence[Tier], counted: Sequence[Sequence[int]]
) -> Costs:
    """What each tier says of ranges on this numbering; of terms that are not known here, the bound that counting gives.

    `counted`: for each tier the bounds of its terms.
    """
    problem, found = layout.problem, Costs()
    weights = {id(term): tier.scale * cost for tier in tiers for term, cost in tier.members}
    terms = [(term, bound) for tier, bounds in zip(tiers, counted) for (term, _), bound in zip(tier.members, bounds)]
    levels = {level: _stretches(layout, numbering, level) for level in LEVELS if several(problem, level)}
    idle = 0
    for term, bound in terms:
        weight = weights[id(term)]
        if isinstance(term, NodesOfRanges):
            found.node = weight
        elif isinstance(term, Idle):
            idle = weight
        elif not (isinstance(term, (Collectives, DomainsTouched, WeightSync)) and levels.get(term.level)):
            found.fixed += weight * bound
    for bundle in bundles:
        found.lengths[bundle] = _length_cost(problem, bundle, numbering, idle, found.node)
    for level, of_node in levels.items():
        if of_node:
            its = [(term, weights[id(term)]) for term, _ in terms if getattr(term, "level", "") == level]
            found.levels.append(_level(layout, bundles, numbering, level, of_node, its, found))
    return found


def _length_cost(problem: Problem, bundle: Bundle, numbering: Numbering, idle: int, node: int) -> Callable[[int], int]:
    asked = [component.most for component in bundle.components if least_and_most(problem, component.name)]
    return lambda units: sum(idle * (most - units * bundle.unit) for most in asked) - node * fewest_nodes(numbering, units * bundle.unit)


def _stretches(layout: Layout, numbering: Numbering, level: str) -> list[int]:
    """The number of the domain of each node along the numbering; nothing if a domain comes more than once."""
    nodes = layout.problem.cluster.nodes
    names = [domain(nodes[stretch.node_rank], level) for stretch in numbering.stretches]
    found, seen = list[int](), dict[str, int]()
    for position, name in enumerate(names):
        if name in seen and name != names[position - 1]:
            return []
        found.append(seen.setdefault(name, len(seen)))
    return found


def _level(
    layout: Layout, bundles: Sequence[Bundle], numbering: Numbering, level: str, of_node: list[int], terms: list[tuple[Objective, int]], costs: Costs
) -> Level:  # fmt: skip
    problem, position = layout.problem, {bundle: number for number, bundle in enumerate(bundles)}
    touched, crossing = [0] * len(bundles), list[tuple[int, _End, _End]]()
    names = _names(layout, numbering, level, of_node)
    for term, weight in terms:
        if isinstance(term, Collectives):
            for bundle, traffic in term.bundles(problem, layout):
                touched[position[bundle]] += weight * traffic
        elif isinstance(term, DomainsTouched):
            for bundle in term.bundles(problem, layout):
                touched[position[bundle]] += weight
        elif isinstance(term, WeightSync):
            for link, source, target in links(problem, level):
                ends = [_End.of(layout, component, level, position) for component in (source, target)]
                if link.weights and (ends[0].bundle is None or ends[0].bundle != ends[1].bundle):
                    crossing.append((weight * link.weights, ends[0], ends[1]))
    costs.fixed -= sum(touched)

    @cache
    def cost(number: int, there: Set) -> int:
        amount = sum(price for bundle, price in enumerate(touched) if there >> bundle & 1)
        return amount + sum(
            weight for weight, source, target in crossing if target.at(names[number], there) and not source.at(names[number], there)
        )

    elsewhere = [name for name in several(problem, level) if name not in names]
    costs.fixed += sum(weight for name in elsewhere for weight, source, target in crossing if target.at(name, 0) and not source.at(name, 0))
    costs.fixed += sum(cost(number, 0) for number in range(len(names)))
    guarding = sum(1 << bundle for bundle in {source.bundle for _, source, _ in crossing if source.bundle is not None})
    return Level(of_node, lambda number, there: cost(number, there) - cost(number, 0), guarding)


def _names(layout: Layout, numbering: Numbering, level: str, of_node: Sequence[int]) -> list[str]:
    nodes = layout.problem.cluster.nodes
    found: Mapping[int, str] = {number: domain(nodes[each.node_rank], level) for number, each in zip(of_node, numbering.stretches)}
    return [found[number] for number in range(len(found))]


@dataclass(frozen=True)
class _End:
    """An end of a link: a searched bundle by its position, or the domains of what is given."""

    bundle: int | None
    domains: frozenset[str] = frozenset()

    @staticmethod
    def of(layout: Layout, component: Component, level: str, position: Mapping[Bundle, int]) -> _End:
        bundle = layout.bundle_of.get(component.name)
        if bundle is not None and bundle in position:
            return _End(position[bundle])
        return _End(None, frozenset(_given(layout, component, level)))

    def at(self, name: str, there: Set) -> bool:
        """Is it in a domain, with these bundles there?"""
        return name in self.domains if self.bundle is None else bool(there >> self.bundle & 1)


def _given(layout: Layout, component: Component, level: str) -> Iterator[str]:
    runs = layout.on_nodes.get(component.name) if component.runs is None else component.runs
    bundle = layout.bundle_of.get(component.name)
    if runs is None and bundle is not None:
        nodes = layout.problem.cluster.nodes
        yield from (domain(nodes[node], level) for node in layout.fixed[bundle])
    else:
        yield from held(layout.problem, Assignment({component.name: runs or ()}), component, level)
