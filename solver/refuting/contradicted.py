"""Components that are to share no accelerators, or no domain of the topology, and that would have to, by what else is said of them."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping

from ...models.component import APART, DISJOINT, IN_ORDER, NEAR, SUBSET, TOGETHER, Relation
from ...models.findings.finding import Finding, error
from ...models.machines.cluster import Cluster
from ...models.machines.topology import LEVELS, domain
from ...models.problem import Problem
from ..wording import level_name, listed

Reached = Mapping[str, tuple[Relation, ...]]
"""Components whose accelerators hold all those of another -> the relations that say so, one after the other."""


def contradicted(problem: Problem) -> Finding | None:
    """Two components that are to be on the same accelerators, the one within the other, or a third within both, and to share none.

    So too where they are to share no domain of a level of the topology, and the one is to be near the other inside such domains.
    """
    joined = [each for kind in (*TOGETHER, SUBSET) for each in problem.related(kind)]
    near = problem.related(NEAR)
    if not joined and not near:
        return None
    plain = {component.name: _reached(component.name, joined) for component in problem.components}
    for relation in (each for kind in (DISJOINT, IN_ORDER, APART) for each in problem.related(kind)):
        inside = [each for each in near if relation.kind == APART and _lies_inside(problem.cluster, each.level, relation.level)]
        reached = {name: _reached(name, [*joined, *inside]) for name in plain} if inside else plain
        for pair in combinations(sorted(relation.components), 2):
            names = sorted(reached, key=lambda name: name not in pair)  # one of the two itself is said most simply
            if name := next((name for name in names if reached[name].keys() >= set(pair)), None):
                return _told(name, pair, reached[name], relation)
    return None


def _lies_inside(cluster: Cluster, narrow: str, wide: str) -> bool:
    """Does each domain of the one level lie inside one domain of the other? Who is near in the one shares a domain of the other then."""
    if narrow == wide or wide not in LEVELS:
        return narrow == wide
    found: dict[str, str] = {}
    return narrow not in LEVELS or all(
        found.setdefault(domain(its.node, narrow), domain(its.node, wide)) == domain(its.node, wide) for its in cluster.alike
    )


def _reached(name: str, joined: list[Relation]) -> Reached:
    found: dict[str, tuple[Relation, ...]] = {name: ()}
    open_ = [name]
    while open_:
        inner = open_.pop(0)
        for relation in joined:
            if inner not in relation.components or (relation.kind in (SUBSET, NEAR) and relation.components[0] != inner):
                continue
            for other in relation.components:
                if other not in found:
                    found[other] = (*found[inner], relation)
                    open_.append(other)
    return found


def _told(name: str, pair: tuple[str, ...], reached: Reached, apart: Relation) -> Finding:
    through = [each for other in pair for each in reached[other]]
    one, two = pair if name not in pair else (name, next(each for each in pair if each != name))
    if apart.kind == APART:
        level, where = level_name(apart.level), "on accelerators of" if all(each.kind != NEAR for each in through) else "near"
        who = f"`{two}`{_between(through, pair)}" if name in pair else f"`{one}` and `{two}`"
        said = f"`{name}` is to be {where} {who}, and no {level} is to hold some of {'both' if name in pair else 'these two'}"
    elif name not in pair:
        said = f"`{name}` is to be on accelerators of `{one}` and of `{two}`, which are to share none"
    elif any(each.kind == SUBSET for each in through):
        said = f"`{one}` is to be within `{two}`{_between(through, pair)}, and they are to share none"
    else:
        first, second = through[0].components[:2] if len(through) == 1 else (one, two)
        said = f"`{first}` and `{second}` are to be on the same accelerators{_between(through, pair)}, and they are to share none"
    return error(
        "PW601", one, f"impossible: {said}", apart.span, label="none in common" if apart.kind != APART else "apart",
        help=_dropping([*through, apart]),
        origin=through[0].span, origin_label="here they are put together",
    )  # fmt: skip


def _dropping(demands: list[Relation]) -> str:
    """What helps: the file can drop only what it says itself, not what its framework demands."""
    theirs = listed(list(dict.fromkeys(each.reason for each in demands if each.reason)))
    own = sum(not each.reason for each in demands)
    if theirs and own:
        return f"drop {'this demand' if own == 1 else 'one of the others'}: {theirs}"
    return "drop one of the two demands" if len(demands) == 2 else "drop one of these demands"


def _between(through: list[Relation], pair: tuple[str, ...]) -> str:
    names = dict.fromkeys(name for each in through for name in each.components if name not in pair)
    return f" (through {listed([f'`{name}`' for name in names])})" if names else ""
