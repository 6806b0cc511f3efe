"""Minimal conflict of demands (QuickXplain), in the user's words.

Source: U. Junker, QuickXplain: preferred explanations and relaxations for over-constrained
problems, AAAI 2004.
"""

from __future__ import annotations

import re
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

from ...models.component import KEYS, TOGETHER, UNBOUNDED
from ...models.findings.span import Span
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ..rules import RULES
from ..wording import join_names

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
