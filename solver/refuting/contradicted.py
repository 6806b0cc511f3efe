"""Components that are to share no accelerators, and that would have to, by what else is said of them."""

from __future__ import annotations

from itertools import combinations
from typing import Mapping

from ...models.component import DISJOINT, IN_ORDER, SUBSET, TOGETHER, Relation
from ...models.findings.finding import Finding, error
from ...models.problem import Problem
from ..wording import listed

Reached = Mapping[str, tuple[Relation, ...]]
"""Components whose accelerators hold all those of another -> the relations that say so, one after the other."""


def contradicted(problem: Problem) -> Finding | None:
    """Two components that are to be on the same accelerators, the one within the other, or a third within both, and to share none."""
    joined = [each for kind in (*TOGETHER, SUBSET) for each in problem.related(kind)]
    if not joined:
        return None
    reached = {component.name: _reached(component.name, joined) for component in problem.components}
    for relation in (each for kind in (DISJOINT, IN_ORDER) for each in problem.related(kind)):
        for pair in combinations(sorted(relation.components), 2):
            names = sorted(reached, key=lambda name: name not in pair)  # one of the two itself is said most simply
            if name := next((name for name in names if reached[name].keys() >= set(pair)), None):
                return _told(name, pair, reached[name], relation)
    return None


def _reached(name: str, joined: list[Relation]) -> Reached:
    found: dict[str, tuple[Relation, ...]] = {name: ()}
    open_ = [name]
    while open_:
        inner = open_.pop(0)
        for relation in joined:
            if inner not in relation.components or (relation.kind == SUBSET and relation.components[0] != inner):
                continue
            for other in relation.components:
                if other not in found:
                    found[other] = (*found[inner], relation)
                    open_.append(other)
    return found


def _told(name: str, pair: tuple[str, ...], reached: Reached, apart: Relation) -> Finding:
    through = [each for other in pair for each in reached[other]]
    one, two = pair if name not in pair else (name, next(each for each in pair if each != name))
    if name not in pair:
        said = f"`{name}` is to be on accelerators of `{one}` and of `{two}`, which are to share none"
    elif any(each.kind == SUBSET for each in through):
        said = f"`{one}` is to be within `{two}`{_between(through, pair)}, and they are to share none"
    else:
        first, second = through[0].components[:2] if len(through) == 1 else (one, two)
        said = f"`{first}` and `{second}` are to be on the same accelerators{_between(through, pair)}, and they are to share none"
    return error(
        "PW601", one, f"impossible: {said}", apart.span, label="none in common",
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
