"""Conflict: the fewest demands that cannot hold together (QuickXplain), in the user's words.

Source: U. Junker, QuickXplain: preferred explanations and relaxations for over-constrained problems, AAAI 2004.

The form is that of the Kubernetes scheduler: "0/5 nodes are available: 3 Insufficient memory, 2 node(s) didn't match".
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

from ...models.component import COLOCATED, KEYS, UNBOUNDED
from ...models.demand import Clause, Demand
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
from .census import Kind, Question, Row

COUNTING, SEARCH = "counting", "search"
"""How a conflict was proved: by a sum, or by two searches that agree."""


LOOSENED, OTHER, DROPPED, SHARED, ADDED = range(5)
"""Kinds of changes: a number that is loosened, another choice, a demand that is given up, room that is shared, machines that are added."""
MAX_NAMES = 6
"""So many components are named in one clause."""
_NAMES = {
    "node_groups": "node_group",
    "per_process": "accelerators_per_process",
    "accelerator_model": "accelerator",
    "excluded": "exclude",
    **KEYS,
}
"""Field of a demand -> the key that says it, where that has another name."""
T = TypeVar("T")
MAX_TEXTS = 2
"""So many different answers are told."""


@dataclass(frozen=True)
class Change:
    """Something that would make the impossible possible, and was solved.

    Attributes
    ----------
    text : what to do, in the keys of the file.
    effort : how much it changes: (what kind of change, how much of what was asked for); smaller is less.
    apply : the question with the change.
    """

    text: str
    effort: tuple[int, float] = field(compare=False)
    apply: Callable[[Problem], Problem] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Conflict:
    """Demands that cannot hold together.

    Attributes
    ----------
    demands : what was asked for; without any one of them there is an answer.
    clauses : the same in the user's words, with what the cluster has; equal ones are one.
    row : a sum that shows it, if there is one.
    minimal : whether it is proved that there is an answer without any one of the demands.
    fixes : changes that make the whole question possible, the smallest first; each was solved.
    how : ``counting`` or ``search``.
    problem : the question with these demands alone, by the choice of parallel degrees that the sum is for.
    counted : the question in which the sum was counted: the same with the amounts that were written.
    notes : what else is to be said, such as why nodes are out.
    """

    demands: tuple[Demand, ...]
    clauses: tuple[Clause, ...]
    row: Row | None
    minimal: bool
    fixes: tuple[Change, ...]
    how: str
    problem: Problem = field(repr=False)
    counted: Problem = field(repr=False)
    notes: tuple[str, ...] = ()


def clauses(problem: Problem, demands: Iterable[Demand]) -> tuple[Clause, ...]:
    """What every rule says of these demands, in the order of the rules.

    `problem` is the question with these demands alone.
    """
    wanted, found = set(demands), dict[str, Clause]()
    for rule in RULES:
        for subject in rule.subjects(problem):
            clause = rule.explain(problem, subject)
            if wanted & set(clause.demands):
                found.setdefault(clause.text, clause)
    return tuple(found.values())


def merged(its: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses that differ only in the name of the component at one place become one about each of them."""
    alike: dict[object, list[Clause]] = {}
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
        before, after = _around(names_of[0], members[0].text)
        yield Clause(f"{before}each of {few(names_of)}{after}", tuple(demand for clause in members for demand in clause.demands))


def _around(name: str, text: str) -> list[str]:
    """The text without a name, where that stands as a word of its own."""
    return re.split(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)


def few(names: Sequence[str]) -> str:
    """The names as they stand in a sentence; of very many the first ones and how many more."""
    if len(names) <= MAX_NAMES:
        return listed(list(names))
    return f"{len(names)} components ({', '.join(names[:3])}, ...)"


def with_line(clause: Clause, here: Span | None) -> str:
    """The clause with the lines where its demands stand; the file too where it is another one than `here` is in."""
    spans = dict.fromkeys((demand.span.file, demand.span.line) for demand in clause.demands if demand.span)
    if not spans:
        return clause.text
    places: list[str] = []
    for file, line in spans:
        places.append(f"line {line}" if here and file == here.file else f"{file}:{line}")
    shown = places if len(places) <= MAX_NAMES else [*places[:3], "..."]
    return f"{', '.join(shown)}: {clause.text}"


def can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Would the file still be one? A stride needs its range, a component without an amount its partner.

    What a framework demands nobody can drop, nor an amount or work, of which there can only be another one.
    """
    if demand.field == AMOUNT or says_the_kind(problem, demand):
        return False
    if any(share.component == demand.component and share.field == demand.field for share in problem.shares):
        return False
    if demand.field == "cpus":
        return "cpus" in problem[demand.component].spans
    if demand.field in ("contiguous", "per_process") and demand.field not in (spans := problem[demand.component].spans) and spans:
        return False  # the framework's own mode demands it, no key of the file
    if demand.field in ("accelerator_model", "excluded") and not problem[demand.component].is_written(demand.field):
        return False  # a plan chose it
    if demand.field == "contiguous":
        return problem[demand.component].stride == 1
    names = tuple(demand.component.split("+"))
    its = [relation for relation in problem.job.relations if relation.components == names and relation.kind == demand.field]
    if its:
        said = demand.field in _NAMES and not any(relation.reason for relation in its)
        return said and (demand.field != COLOCATED or all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in names))
    return True


def says_the_kind(problem: Problem, demand: Demand) -> bool:
    """Does a demand say what is counted: robots or nodes instead of accelerators? Without it the question would be another one."""
    if demand.field != "node_groups":
        return False
    return problem.kind(problem[demand.component]) != problem.cluster.kind((CLUSTER_LABEL,))


def facts_last(problem: Problem, demands: Sequence[Demand]) -> list[Demand]:
    """The demands, each once, those that the user can change first; what a framework demands is blamed last."""
    every = [demand for demand in dict.fromkeys(demands) if not says_the_kind(problem, demand)]
    facts = [demand for demand in every if demand.field != AMOUNT and not can_be_dropped(problem, demand)]
    return [demand for demand in every if demand not in facts] + facts


def key_of(demand: Demand) -> str:
    """The key that says a demand."""
    return _NAMES.get(demand.field, demand.field)


def dropped(demand: Demand) -> str:
    """Giving a demand up, in the keys that the user wrote."""
    one, _, other = demand.component.partition("+")
    first, _, rest = demand.field.partition(" ")
    if first == "keep":
        return f"drop `keep: {{{rest.replace(' in ', ': ')}}}` of {one}"
    if first == "spread":
        return f"drop `spread` over {rest.removeprefix('over ')} of {one}"
    if first == "pins":
        return f"drop the `pin` of ranks {rest} of {one}"
    return f"drop `{key_of(demand)}: {other}` of {one}" if other else f"drop `{key_of(demand)}` of {one}"


def quickxplain(items: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items that are impossible together, though they are not without any one of them; in the given order.

    All items together must be impossible. Earlier ones are blamed before later ones. If `impossible` says no where it does not
    know, the result may hold more than it must, never less. Nothing is found where even none of the items is impossible.
    """
    if impossible([]):
        return []
    found = _needed([], False, list(items), impossible)
    return [item for item in items if item in found]


def _needed(base: list[T], grown: bool, items: list[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """What of the items is needed beside the base to be impossible; `grown` says whether the base is more than at the last look."""
    if grown and impossible(base):
        return []
    if len(items) == 1:
        return items
    half = len(items) // 2
    first, second = items[:half], items[half:]
    of_second = _needed(base + first, True, second, impossible)
    of_first = _needed(base + of_second, bool(of_second), first, impossible)
    return of_first + of_second


def to_blame(items: Sequence[T], sharing: Sequence[T], impossible: Callable[[Sequence[T]], bool]) -> list[T]:
    """The fewest items that are impossible together, where those that let components share are blamed last.

    Sharing stays while others are left out, since without it more would be needed. It is to blame only where there is an answer
    without it. All items, and the sharing among them, must be impossible together.
    """
    if sharing and impossible(sharing):
        return quickxplain(sharing, impossible)
    found = quickxplain([item for item in items if item not in sharing], lambda kept: impossible([*kept, *sharing]))
    return [*found, *(item for item in sharing if not impossible([*found, *(other for other in sharing if other != item)]))]


def maximal(items: Sequence[T], possible: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items that are possible together, to which no other can be added; earlier ones are kept before later ones."""
    kept: list[T] = []
    for item in items:
        if possible([*kept, item]):
            kept.append(item)
    return kept


def histograms(question: Question, row: Row | None) -> tuple[str, ...]:
    """For the bundles of a row: how many nodes they may use, and what keeps them off the others; none where all may be used."""
    named = {component.name for component in row.components} if row else set()
    alike: dict[str, list[str]] = {}
    for bundle in question.open:
        if any(component.name in named for component in bundle.components) and (text := histogram(question, bundle)):
            alike.setdefault(text, []).append(bundle.components[0].name)
    return tuple(text.replace("{}", f"{'each of ' if len(names) > 1 else ''}{few(names)}") for text, names in alike.items())[:MAX_TEXTS]


def histogram(question: Question, bundle: Bundle) -> str:
    """How many nodes a bundle, named `{}`, may use, and what keeps it off the others; "" where it may use all."""
    counts: dict[str, int] = {}
    for kind in question.census.kinds:
        reason = _reason(question, bundle, kind)
        counts[reason] = counts.get(reason, 0) + kind.count
    total, may = question.census.all_nodes(), counts.pop("", 0)
    if not counts:
        return ""
    out = sorted(counts.items(), key=lambda its: (-its[1], its[0]))
    return f"{may}/{total} {plural('node', total)} can hold {{}}: " + ", ".join(f"{count} {reason}" for reason, count in out)


def _reason(question: Question, bundle: Bundle, kind: Kind) -> str:
    """The first thing that keeps a bundle off nodes of a kind; "" if nothing does."""
    members = question.company(bundle)
    groups = [labels for labels in dict.fromkeys(c.node_groups for c in members) if not kind.groups.intersection(labels)]
    models = sorted({c.accelerator_model for c in members if c.accelerator_model} - {kind.model})
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
