"""Minimal conflict of demands (QuickXplain), in the user's words.

Source: U. Junker, QuickXplain: preferred explanations and relaxations for over-constrained
problems, AAAI 2004.

The form is that of the Kubernetes scheduler: "0/5 nodes are available: 3 Insufficient memory, 2
node(s) didn't match".
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

from ...models.component import COLOCATED, KEYS, UNBOUNDED
from ...models.demand import ConflictClause, Demand
from ...models.findings.span import Span
from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...models.problem import AMOUNT, Problem
from ...models.quantity import write_memory
from ...models.record import dataclass
from ..layout.bundle import Bundle
from ..memory import peak
from ..rules import RULES
from ..wording import listed
from .census import CountingProblem, CountingRow, ResourceKind

COUNTING, SEARCH = "counting", "search"
"""Proofs of a conflict: a sum, or two searches that agree."""


LOOSENED, OTHER, DROPPED, SHARED, ADDED = range(5)
"""Kinds of fixes: number loosened, other choice, demand dropped, resources shared, nodes added."""
MAX_NAMES = 6
"""Largest number of components named in a clause."""
_NAMES = {
    "node_groups": "node_group",
    "per_process": "accelerators_per_process",
    "accelerator_model": "accelerator",
    "excluded": "exclude",
    **KEYS,
}
"""Field of a demand -> key of the file, if different."""
T = TypeVar("T")
MAX_TEXTS = 2
"""Largest number of different histograms shown."""


@dataclass(frozen=True)
class Change:
    """Fix of an impossible problem, verified by solving.

    Attributes
    ----------
    text : instruction in the keys of the file.
    effort : size of the change: (kind of change, relative amount); smaller is better.
    apply : the problem with the change.
    """

    text: str
    effort: tuple[int, float] = field(compare=False)
    apply: Callable[[Problem], Problem] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Conflict:
    """Demands that are infeasible together.

    Attributes
    ----------
    demands : the conflict; without any one of them there is an answer.
    clauses : the demands in the user's words with the cluster's numbers; equal ones are merged.
    row : a sum that proves the conflict; None without one.
    minimal : True if every demand is proved necessary.
    fixes : changes that make the whole problem feasible, smallest first; each was solved.
    how : ``counting`` or ``search``.
    problem : the problem reduced to these demands, at the degrees of the sum.
    counted : the problem of the sum: the same with the written amounts.
    notes : further facts, such as why nodes are excluded.
    """

    demands: tuple[Demand, ...]
    clauses: tuple[ConflictClause, ...]
    row: CountingRow | None
    minimal: bool
    fixes: tuple[Change, ...]
    how: str
    problem: Problem = field(repr=False)
    counted: Problem = field(repr=False)
    notes: tuple[str, ...] = ()


def clauses(problem: Problem, demands: Iterable[Demand]) -> tuple[ConflictClause, ...]:
    """Return the clauses of all rules about these demands, in rule order.

    `problem` is reduced to these demands.
    """
    wanted, by_text = set(demands), dict[str, ConflictClause]()
    for rule in RULES:
        for subject in rule.subjects(problem):
            clause = rule.explain(problem, subject)
            if wanted & set(clause.demands):
                by_text.setdefault(clause.text, clause)
    return tuple(by_text.values())


def merged(its: Sequence[ConflictClause]) -> Iterator[ConflictClause]:
    """Merge clauses that differ only in the component name."""
    alike: dict[object, list[ConflictClause]] = {}
    for position, clause in enumerate(its):
        names = {demand.component for demand in clause.demands}
        name = names.pop() if len(names) == 1 else ""
        parts = _around(name, clause.text) if name else []
        alike.setdefault(tuple(parts) if len(parts) == 2 else position, []).append(clause)
    for members in alike.values():
        if len(members) == 1:
            yield members[0]
            continue
        names_of = [clause.demands[0].component for clause in members]
        prefix, suffix = _around(names_of[0], members[0].text)
        yield ConflictClause(
            f"{prefix}each of {listed_briefly(names_of)}{suffix}", tuple(demand for clause in members for demand in clause.demands)
        )


def _around(name: str, text: str) -> list[str]:
    """Split the text at whole-word occurrences of a name."""
    return re.split(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)


def listed_briefly(names: Sequence[str]) -> str:
    """Return the names as a listing; long lists are cut, with a total."""
    if len(names) <= MAX_NAMES:
        return listed(list(names))
    return f"{len(names)} components ({', '.join(names[:3])}, ...)"


def with_line(clause: ConflictClause, here: Span | None) -> str:
    """Return the clause with line numbers, and the file if different from `here`."""
    spans = dict.fromkeys((demand.span.file, demand.span.line) for demand in clause.demands if demand.span)
    if not spans:
        return clause.text
    places: list[str] = []
    for file, line in spans:
        places.append(f"line {line}" if here and file == here.file else f"{file}:{line}")
    shown = places if len(places) <= MAX_NAMES else [*places[:3], "..."]
    return f"{', '.join(shown)}: {clause.text}"


def can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Return True if the file stays meaningful without the demand.

    A stride needs its range; a component without amount needs its partner. Framework demands,
    amounts and work cannot be dropped, only replaced.
    """
    if demand.field == AMOUNT or decides_resource_kind(problem, demand):
        return False
    if any(share.component == demand.component and share.field == demand.field for share in problem.shares):
        return False
    if demand.field == "cpus":
        return "cpus" in problem[demand.component].spans
    if demand.field in ("contiguous", "per_process") and demand.field not in (spans := problem[demand.component].spans) and spans:
        return False  # demanded by the framework's mode, no key of the file
    if demand.field in ("accelerator_model", "excluded") and not problem[demand.component].is_written(demand.field):
        return False  # chosen by a plan
    if demand.field == "contiguous":
        return problem[demand.component].stride == 1
    names = tuple(demand.component.split("+"))
    relations = [relation for relation in problem.job.relations if relation.components == names and relation.kind == demand.field]
    if relations:
        is_written = demand.field in _NAMES and not any(relation.reason for relation in relations)
        return is_written and (
            demand.field != COLOCATED or all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in names)
        )
    return True


def decides_resource_kind(problem: Problem, demand: Demand) -> bool:
    """Return True if the demand decides the counted resource, such as robots or nodes.

    Without it the problem would be a different one.
    """
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
    return _NAMES.get(demand.field, demand.field)


def dropped(demand: Demand) -> str:
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


def quickxplain(items: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a minimal impossible subset of the items, in the given order.

    All items together must be impossible. Earlier items are blamed before later ones. If
    `impossible` is False for unknown cases, the result may be too large, never too small. Empty if
    even the empty set is impossible.
    """
    if impossible([]):
        return []
    needed = _needed_beside([], False, list(items), impossible)
    return [item for item in items if item in needed]


def _needed_beside(base: list[T], grown: bool, items: list[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return the items that are necessary beside the base.

    `grown` is True if the base grew since the last test.
    """
    if grown and impossible(base):
        return []
    if len(items) == 1:
        return items
    half = len(items) // 2
    first, second = items[:half], items[half:]
    second_part = _needed_beside(base + first, True, second, impossible)
    first_part = _needed_beside(base + second_part, bool(second_part), first, impossible)
    return first_part + second_part


def minimal_with_sharing(items: Sequence[T], sharing: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a minimal impossible subset in which sharing demands are blamed last.

    Sharing stays while other items are dropped, as without it more would be needed. It is blamed
    only if there is an answer without it. All items, including sharing, must be impossible
    together.
    """
    if sharing and impossible(sharing):
        return quickxplain(sharing, impossible)
    blamed = quickxplain([item for item in items if item not in sharing], lambda subset: impossible([*subset, *sharing]))
    return [*blamed, *(item for item in sharing if not impossible([*blamed, *(candidate for candidate in sharing if candidate != item)]))]


def maximal(items: Sequence[T], possible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return a maximal possible subset; earlier items are preferred."""
    subset: list[T] = []
    for item in items:
        if possible([*subset, item]):
            subset.append(item)
    return subset


def histograms(question: CountingProblem, row: CountingRow | None) -> tuple[str, ...]:
    """Return the histograms of a row's bundles; empty if all nodes are open to them."""
    named = {component.name for component in row.components} if row else set()
    alike: dict[str, list[str]] = {}
    for bundle in question.open:
        if any(component.name in named for component in bundle.components) and (text := histogram(question, bundle)):
            alike.setdefault(text, []).append(bundle.components[0].name)
    return tuple(text.replace("{}", f"{'each of ' if len(names) > 1 else ''}{listed_briefly(names)}") for text, names in alike.items())[
        :MAX_TEXTS
    ]


def histogram(question: CountingProblem, bundle: Bundle) -> str:
    """Return the number of usable nodes and the reasons that exclude the rest.

    The bundle is named `{}`; "" if all nodes are usable.
    """
    counts: dict[str, int] = {}
    for kind in question.census.kinds:
        reason = _reason(question, bundle, kind)
        counts[reason] = counts.get(reason, 0) + kind.count
    total, may = question.census.all_nodes(), counts.pop("", 0)
    if not counts:
        return ""
    out = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return f"{may}/{total} {plural('node', total)} can hold {{}}: " + ", ".join(f"{count} {reason}" for reason, count in out)


def _reason(question: CountingProblem, bundle: Bundle, kind: ResourceKind) -> str:
    """Return the first reason against a kind of nodes; "" if usable."""
    members = question.company(bundle)
    groups = [labels for labels in dict.fromkeys(component.node_groups for component in members) if not kind.groups.intersection(labels)]
    models = sorted({component.accelerator_model for component in members if component.accelerator_model} - {kind.model})
    need, free = peak(members, kind.memory), kind.free.get(bundle.kind, 0)
    if bundle.kind == ACCELERATOR and not kind.accelerators:
        return "without accelerators"
    if groups:
        return f"outside node group `{', '.join(groups[0])}`"
    if kind.out & {component.name for component in members if component.excluded}:
        return "excluded"
    if bundle.kind == ACCELERATOR and models:
        return f"without {listed(models)}"
    if bundle.kind == ACCELERATOR and kind.memory is not None and kind.memory < need:
        return f"with too little memory ({write_memory(kind.memory)}, {write_memory(need)} are needed)"
    if not free:
        return "taken"
    if free < bundle.unit:
        return f"with less than {bundle.unit} free"
    return ""
