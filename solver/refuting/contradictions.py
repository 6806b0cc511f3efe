"""Contradictory relations: components that must and must not share accelerators or domains."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping

from ...models.component import APART, DISJOINT, IN_ORDER, NEAR, SUBSET, TOGETHER, Relation
from ...models.findings.finding import Finding, error
from ...models.machines.cluster import Cluster
from ...models.machines.topology import LEVELS, domain
from ...models.problem import Problem
from ..wording import join_names, level_name

Chains = Mapping[str, tuple[Relation, ...]]
"""Component whose resources contain the start -> implying chain of relations."""


def find_contradiction(problem: Problem) -> Finding | None:
    """Return a finding for two components that must and must not share accelerators.

    They must share if colocated, nested, or if a third component is within both. So too for
    domains: two components may not share a domain of a level, and are near inside such domains.
    """
    joins = [relation for kind in (*TOGETHER, SUBSET) for relation in problem.find_relations(kind)]
    near = problem.find_relations(NEAR)
    if not joins and not near:
        return None
    plain = {component.name: _find_reached(component.name, joins) for component in problem.components}
    for relation in (exclusion for kind in (DISJOINT, IN_ORDER, APART) for exclusion in problem.find_relations(kind)):
        inner_relations = [
            candidate for candidate in near if relation.kind == APART and _lies_inside(problem.cluster, candidate.level, relation.level)
        ]
        chains_of = {name: _find_reached(name, [*joins, *inner_relations]) for name in plain} if inner_relations else plain
        for pair in combinations(sorted(relation.components), 2):
            # A member of the pair itself gives the simplest sentence.
            names = sorted(chains_of, key=lambda name: name not in pair)
            if name := next((name for name in names if chains_of[name].keys() >= set(pair)), None):
                return _contradiction(name, pair, chains_of[name], relation)
    return None


def _lies_inside(cluster: Cluster, narrow: str, wide: str) -> bool:
    """Return True if components that share a narrow domain share a wide domain."""
    if narrow == wide or wide not in LEVELS:
        return narrow == wide
    wide_of: dict[str, str] = {}
    return narrow not in LEVELS or all(
        wide_of.setdefault(domain(stretch.node, narrow), domain(stretch.node, wide)) == domain(stretch.node, wide)
        for stretch in cluster.alike
    )


def _find_reached(name: str, joins: list[Relation]) -> Chains:
    chains: dict[str, tuple[Relation, ...]] = {name: ()}
    queue = [name]
    while queue:
        inner = queue.pop(0)
        for relation in joins:
            if inner not in relation.components or (relation.kind in (SUBSET, NEAR) and relation.components[0] != inner):
                continue
            for outer in relation.components:
                if outer not in chains:
                    chains[outer] = (*chains[inner], relation)
                    queue.append(outer)
    return chains


def _contradiction(name: str, pair: tuple[str, ...], chains: Chains, clash: Relation) -> Finding:
    through = [relation for member in pair for relation in chains[member]]
    first_name, second_name = pair if name not in pair else (name, next(member for member in pair if member != name))
    if clash.kind == APART:
        level, position = (level_name(clash.level), "on accelerators of" if all(relation.kind != NEAR for relation in through) else "near")
        partner = f"`{second_name}`{_between(through, pair)}" if name in pair else f"`{first_name}` and `{second_name}`"
        statement = f"`{name}` is to be {position} {partner}, and no {level} is to hold some of {'both' if name in pair else 'these two'}"
    elif name not in pair:
        statement = f"`{name}` is to be on accelerators of `{first_name}` and of `{second_name}`, which are to share none"
    elif any(relation.kind == SUBSET for relation in through):
        statement = f"`{first_name}` is to be within `{second_name}`{_between(through, pair)}, and they are to share none"
    else:
        first, second = through[0].components[:2] if len(through) == 1 else (first_name, second_name)
        statement = f"`{first}` and `{second}` are to be on the same accelerators{_between(through, pair)}, and they are to share none"
    return error(
        "PW601", first_name, f"impossible: {statement}", clash.span, label="none in common" if clash.kind != APART else "apart",
        help=_dropping([*through, clash]),
        origin=through[0].span, origin_label="here they are put together",
    )  # fmt: skip


def _dropping(demands: list[Relation]) -> str:
    """Return the help: only demands of the file can be dropped, no framework demands."""
    reasons = join_names(list(dict.fromkeys(demand.reason for demand in demands if demand.reason)))
    droppable = sum(not demand.reason for demand in demands)
    if reasons and droppable:
        return f"drop {'this demand' if droppable == 1 else 'one of the others'}: {reasons}"
    return "drop one of the two demands" if len(demands) == 2 else "drop one of these demands"


def _between(through: list[Relation], pair: tuple[str, ...]) -> str:
    names = dict.fromkeys(name for relation in through for name in relation.components if name not in pair)
    return f" (through {join_names([f'`{name}`' for name in names])})" if names else ""
