"""Minimal conflict of demands (QuickXplain), and relations that contradict each other.

Source: U. Junker, QuickXplain: preferred explanations and relaxations for over-constrained
problems, AAAI 2004.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Callable, Iterable, Iterator, Mapping, Sequence, TypeVar

from ...models.component import APART, DISJOINT, IN_ORDER, KEYS, NEAR, SUBSET, TOGETHER, UNBOUNDED, Relation
from ...models.findings.finding import Finding, error
from ...models.findings.span import Span
from ...models.machines.cluster import Cluster
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.machines.topology import LEVELS, domain
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ..rules import RULES
from ..wording import join_names, level_name

MAX_NAMES = 6
"""Largest number of components named in a clause."""
_KEYS = {
    "node_groups": "node_group",
    "per_process": "accelerators_per_process",
    "accelerator_model": "accelerator",
    "excluded": "exclude",
    **KEYS,
}
"""Field of a demand -> key of the file, if different."""
T = TypeVar("T")
Impossible = Callable[[Sequence[T]], bool]
"""Test of a subset; False if unknown."""


def clauses(problem: Problem, demands: Iterable[Demand]) -> tuple[ConflictClause, ...]:
    """Return the clauses of all rules about these demands, in rule order.

    `problem` is reduced to these demands.
    """
    demand_set, by_text = set(demands), dict[str, ConflictClause]()
    for rule in RULES:
        for subject in rule.subjects(problem):
            clause = rule.explain(problem, subject)
            if demand_set & set(clause.demands):
                by_text.setdefault(clause.text, clause)
    return tuple(by_text.values())


def merge_clauses(originals: Sequence[ConflictClause]) -> Iterator[ConflictClause]:
    """Merge clauses that differ only in the component name."""
    groups: dict[object, list[ConflictClause]] = {}
    for position, clause in enumerate(originals):
        names = {demand.component for demand in clause.demands}
        pieces = _split_around(min(names), clause.text) if len(names) == 1 else []
        groups.setdefault(tuple(pieces) if len(pieces) == 2 else position, []).append(clause)
    for key, members in groups.items():
        if isinstance(key, tuple) and len(members) > 1:
            names_of = list_briefly([clause.demands[0].component for clause in members])
            demands = tuple(demand for clause in members for demand in clause.demands)
            yield ConflictClause(f"{key[0]}each of {names_of}{key[1]}", demands)
        else:
            yield members[0]


def _split_around(name: str, text: str) -> list[str]:
    """Split the text at whole-word occurrences of a name."""
    return re.split(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) if name else []


def list_briefly(names: Sequence[str]) -> str:
    """Return the names as a listing; long lists are cut, with a total."""
    if len(names) <= MAX_NAMES:
        return join_names(list(names))
    return f"{len(names)} components ({', '.join(names[:3])}, ...)"


def with_line(clause: ConflictClause, origin: Span | None) -> str:
    """Return the clause with line numbers, and the file if different from `origin`."""
    spans = dict.fromkeys((demand.span.file, demand.span.line) for demand in clause.demands if demand.span)
    places = [f"line {line}" if origin and file == origin.file else f"{file}:{line}" for file, line in spans]
    labels = places if len(places) <= MAX_NAMES else [*places[:3], "..."]
    return f"{', '.join(labels)}: {clause.text}" if labels else clause.text


def can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Return True if the file stays meaningful without the demand.

    A stride needs its range; a component without amount needs its partner. Framework demands,
    amounts and work cannot be dropped, only replaced.
    """
    if demand.field == AMOUNT or decides_resource_kind(problem, demand):
        return False
    if any((share.component, share.field) == (demand.component, demand.field) for share in problem.shares):
        return False
    names = demand.component.split("+")
    relations = [relation for relation in problem.job.relations if (relation.kind, *relation.components) == (demand.field, *names)]
    if relations:
        has_partner = all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in names)
        # A relation written twice stays where only one place is edited.
        is_written = demand.field in _KEYS and len(relations) == 1 and not relations[0].reason
        return is_written and (demand.field not in TOGETHER or has_partner)
    component = problem[names[0]]
    if demand.field == "cpus":
        return "cpus" in component.spans
    if demand.field in ("contiguous", "per_process") and component.spans and demand.field not in component.spans:
        return False  # demanded by the framework's mode, no key of the file
    if demand.field == "per_process" and "processes" in component.spans:
        return False  # as many processes would ask for fewer accelerators
    if demand.field in ("accelerator_model", "excluded"):
        return component.is_written(demand.field)  # else chosen by a plan
    return demand.field != "contiguous" or component.stride == 1


def decides_resource_kind(problem: Problem, demand: Demand) -> bool:
    """Return True if the demand decides the counted resource: another problem without it."""
    if demand.field != "node_groups":
        return False
    return problem.kind(problem[demand.component]) != problem.cluster.kind((CLUSTER_LABEL,))


def changeable_first(problem: Problem, demands: Sequence[Demand]) -> list[Demand]:
    """Return the distinct demands, framework demands last, as the user cannot change them."""
    every = [demand for demand in dict.fromkeys(demands) if not decides_resource_kind(problem, demand)]
    facts = [demand for demand in every if demand.field != AMOUNT and not can_be_dropped(problem, demand)]
    return [demand for demand in every if demand not in facts] + facts


def key_of(demand: Demand) -> str:
    """Return the file's key of a demand."""
    return _KEYS.get(demand.field, demand.field)


def describe_drop(demand: Demand) -> str:
    """Return the instruction to drop a demand, in the user's keys."""
    component, _, partner = demand.component.partition("+")
    first, _, rest = demand.field.partition(" ")
    if first == "keep":
        return f"drop `keep: {{{rest.replace(' in ', ': ')}}}` of {component}"
    if first == "spread":
        return f"drop `spread` over {rest.removeprefix('over ')} of {component}"
    if first == "pins":
        return f"drop the `pin` of ranks {rest} of {component}"
    return f"drop `{key_of(demand)}: {partner}` of {component}" if partner else f"drop `{key_of(demand)}` of {component}"


def quickxplain(items: Sequence[T], impossible: Impossible[T]) -> list[T]:
    """Return a minimal impossible subset of the items, in the given order.

    All items together must be impossible. Earlier items are blamed before later ones. If
    `impossible` is False for unknown cases, the result may be too large, never too small. Empty if
    even the empty set is impossible.
    """

    def find_needed(base: list[T], has_grown: bool, rest: list[T]) -> list[T]:
        if has_grown and impossible(base):
            return []
        if len(rest) == 1:
            return rest
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        subset = find_needed(base + first, True, second)
        return find_needed(base + subset, bool(subset), first) + subset

    core = [] if impossible([]) else find_needed([], False, list(items))
    return [item for item in items if item in core]


def minimal_with_sharing(items: Sequence[T], sharing: Sequence[T], impossible: Impossible[T]) -> list[T]:
    """Return a minimal impossible subset in which sharing demands are blamed last.

    Sharing stays while other items are dropped, as without it more would be needed. It is blamed
    only if there is an answer without it. All items together must be impossible.
    """
    if sharing and impossible(sharing):
        return quickxplain(sharing, impossible)
    plain_items = [item for item in items if item not in sharing]
    core = quickxplain(plain_items, lambda subset: impossible([*subset, *sharing]))
    rest = {item: [candidate for candidate in sharing if candidate != item] for item in sharing}
    return [*core, *(item for item in sharing if not impossible([*core, *rest[item]]))]


def maximal(items: Sequence[T], possible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a maximal possible subset; earlier items are preferred."""
    subset: list[T] = []
    for item in items:
        if possible([*subset, item]):
            subset.append(item)
    return subset


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
