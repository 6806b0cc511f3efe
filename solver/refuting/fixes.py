"""Fixes of an impossible problem: weaker demands, dropped demands, machines, sharing."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from math import lcm
from typing import Any, Callable, Iterator, Sequence

from ...models.component import WHOLE, Component, Keep, Relation, Spread
from ...models.findings.finding import Finding, Severity
from ...models.findings.wording import plural
from ...models.hints.consistent import check_consistency
from ...models.machines.changed import with_nodes
from ...models.machines.node import GENERIC, Node
from ...models.machines.node_group import ACCELERATOR
from ...models.problem import AMOUNT, Demand, Problem
from ...models.quantity import memory_text
from ...models.record import dataclass
from ..layout.layout import even
from ..memory import peak
from ..rules.amounts import amount_of
from ..wording import join_names, level_name
from .census import CountingRow
from .oracle import Oracle, Verdict

Apply = Callable[[Problem], Problem]
LOOSENED, OTHER, DROPPED, SHARED, ADDED, CROWDED = range(6)
"""Kinds of fixes: number loosened, other choice, demand dropped, shared in turn, nodes added, shared at once."""
GIB = 1024
MAX_DOMAINS = 64
"""Largest number of domains offered."""
MAX_TRIES = 12
"""Largest number of doublings of the added nodes."""


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
    apply: Apply = field(compare=False, repr=False)


class FixTrial:
    """Impossible problem with an oracle that tests changes."""

    def __init__(self, alternatives: Sequence[Problem], oracle: Oracle) -> None:
        self.alternatives, self.oracle = tuple(alternatives), oracle
        self._before = set[tuple[str, str]]().union(*map(_faults, alternatives))

    @property
    def problem(self) -> Problem:
        """The problem at the first choice of parallel degrees."""
        return self.alternatives[0]

    def works(self, apply: Apply) -> bool:
        """Return True if the problem is possible with the change."""
        return self.oracle.judge(self._apply(apply)) is Verdict.POSSIBLE

    def is_solved(self, apply: Apply) -> bool:
        """Return True if an answer with the change was found and verified."""
        return self.oracle.is_solved(self._apply(apply))

    def last(self, values: Sequence[int], change: Callable[[int], Apply]) -> int:
        """Return the last value whose change works, by bisection; 0 for none."""
        position = best(len(values), lambda index: self.works(change(values[index])))
        return values[position] if position >= 0 else 0

    def _apply(self, apply: Apply) -> list[Problem]:
        """Return the changed alternatives, without those that a reader of the file would refuse."""
        variants = {(problem.job.components, problem.job.relations): problem for problem in map(apply, self.alternatives)}
        return [problem for problem in variants.values() if _faults(problem) <= self._before]


def _faults(problem: Problem) -> set[tuple[str, str]]:
    """Return (code, component) of hints that contradict each other."""
    findings, relations = list[Finding](), list(problem.job.relations)
    check_consistency(problem.components, relations, problem.job.choices, problem.cluster, findings, problem.job.relations)
    return {(finding.code, finding.subject) for finding in findings if finding.severity is Severity.ERROR and finding.code != "PW101"}


def best(count: int, works: Callable[[int], bool]) -> int:
    """Return the largest working number below `count`, by bisection; -1 if 0 fails.

    If a number works, smaller numbers must work too.
    """
    if count <= 0 or not works(0):
        return -1
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


# -- changes of the job


def with_component(name: str, **fields: Any) -> Apply:
    """Return a change of fields of a single component."""
    return lambda problem: problem.with_fields({name: fields})


def asking(component: Component, amount: int) -> Apply:
    """Return a change to exactly this amount."""
    return with_component(component.name, least=amount, most=amount)


def needing(component: Component, memory: int) -> Apply:
    """Return a change of the memory of a component, in MiB."""
    return with_component(component.name, memory=memory, offloaded=min(component.offloaded, memory))


def instead(component: Component, amount: int) -> str:
    """Return the instruction to ask for another amount.

    With its unit where processes have several accelerators: the file may count either.
    """
    before = amount_of(component) if component.counts else component.least
    return f"ask for {amount}{' accelerators' * (component.per_process > 1)} instead of {before} for {component.name}"


def without(demand: Demand) -> Apply:
    """Return a change that drops a demand."""
    return lambda problem: problem.without(demand)


def chain_changes(steps: Sequence[Apply]) -> Apply:
    """Return the changes as a single one."""

    def apply(problem: Problem) -> Problem:
        for step in steps:
            problem = step(problem)
        return problem

    return apply


def relate(kind: str, first: Component, second: Component) -> Apply:
    """Return a change that adds a relation."""
    relation = Relation(kind, (first.name, second.name))
    return lambda problem: replace(problem, job=replace(problem.job, relations=(*problem.job.relations, relation)))


# -- weaker demands


def softer(trial: FixTrial, demand: Demand, row: CountingRow | None) -> Iterator[Change]:
    """Yield feasible changes that weaken a demand but keep it."""
    softer: dict[str, Callable[[FixTrial, Demand], Iterator[Change]]] = {
        AMOUNT: partial(_amounts, row=row), "memory": _less_memory, "cpus": _less_of_node, "host_memory": _less_of_node,
        "parallel": _other_degrees,
    }  # fmt: skip
    if demand.field in softer:
        yield from softer[demand.field](trial, demand)
        return
    yield from _other_work(trial, demand)
    for keep in trial.problem[demand.component].keep if demand.field.startswith("keep ") else ():
        if keep.required and demand.field == f"keep {keep.unit} in {keep.level}":
            yield from _looser_keep(trial, trial.problem[demand.component], keep)
    for spread in trial.problem[demand.component].spread if demand.field.startswith("spread ") else ():
        if demand.field == f"spread over {spread.level}":
            yield from _looser_spread(trial, trial.problem[demand.component], spread)


def _amounts(trial: FixTrial, demand: Demand, row: CountingRow | None) -> Iterator[Change]:
    """Yield the nearest smaller amount, and the amount enlarged by the shortage."""
    component = trial.problem[demand.component]
    for amount in (_smaller_amount(trial, component), _larger_amount(trial, component, row) if row else 0):
        if amount:
            share = abs(component.least - amount) / max(component.least, amount)
            yield Change(instead(component, amount), (LOOSENED, share), asking(component, amount))


def _larger_amount(trial: FixTrial, component: Component, row: CountingRow) -> int:
    """Return the amount plus the shortage if feasible, as others may need it; else 0."""
    step = lcm(component.step, component.unit)
    amount = -(-(component.most + (row.need - row.have) * component.per_process) // step) * step
    fits = component.most < amount <= trial.problem.cluster.total(trial.problem.kind(component))
    return amount if fits and trial.works(asking(component, amount)) else 0


def _smaller_amount(trial: FixTrial, component: Component) -> int:
    """Return the largest feasible multiple of the step, or partner amount; 0 for none."""
    problem, step = trial.problem, lcm(component.step, component.unit)
    # A component in several domains has at least as many groups.
    domains = max((spread.domains for spread in component.spread), default=1)
    amounts: Sequence[int] = range(-(-domains * component.group_size // step) * step, component.least, step)
    if any(share.component == component.name for share in problem.shares):
        amounts = [amount for amount in amounts if even(problem, component, amount)]
    largest = trial.last(amounts, partial(asking, component))
    partners = {amount for member in find_colocated(problem, component) for amount in (member.least, member.most)}
    between = sorted((amount for amount in partners if largest < amount < component.least), reverse=True)
    return next((amount for amount in between if trial.works(asking(component, amount))), largest)


def find_colocated(problem: Problem, component: Component) -> tuple[Component, ...]:
    """Return the colocated set of a component."""
    return next(members for members in problem.colocated_sets if component.name in {member.name for member in members})


def _other_work(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the nearest feasible amounts of work, if the number of processes is fixed."""
    problem = trial.problem
    share = next((share for share in problem.shares if (share.component, share.field) == (demand.component, demand.field)), None)
    if share is None or problem[share.component].least != problem[share.component].most:
        return
    component, name = problem[share.component], share.amount_name
    processes = component.least // component.per_process
    step = lcm(*(candidate.step_over(processes) for candidate in problem.shares if candidate.amount_name == name))

    def dealing(amount: int) -> Apply:
        def apply(problem: Problem) -> Problem:
            shares = (replace(entry, amount=amount * entry.factor) if entry.amount_name == name else entry for entry in problem.job.shares)
            return replace(problem, job=replace(problem.job, shares=tuple(shares)))

        return apply

    for amount in (share.written // step * step, share.written // step * step + step):
        if amount and trial.works(dealing(amount)):
            effort = abs(share.written - amount) / max(amount, share.written)
            yield Change(f"set `{name}` to {amount}", (OTHER, effort), dealing(amount))


def _other_degrees(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the largest feasible degrees that divide the requested ones."""
    component = trial.problem[demand.component]
    parallel, per_process = component.parallel, component.per_process
    candidates = [
        replace(parallel, tp=tp, pp=pp)
        for tp in range(1, parallel.tp + 1)
        for pp in range(1, parallel.pp + 1)
        if parallel.tp % tp == 0 == parallel.pp % pp
        and (tp, pp) != (parallel.tp, parallel.pp)
        and (tp % per_process == 0 or per_process % tp == 0)
    ]
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.replica, -candidate.tp)):
        change = with_component(component.name, parallel=candidate)
        if trial.works(change):
            share = 1 - candidate.replica / parallel.replica
            yield Change(f"use {candidate} instead of {parallel} for {component.name}", (OTHER, share), change)
            return


def _less_memory(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the largest feasible memory, in whole GiB if at least 1 GiB."""
    component = trial.problem[demand.component]
    members, sizes = find_colocated(trial.problem, component), {size for size in trial.oracle.census.sizes if size is not None}

    def most_beside(size: int) -> int:
        def fits(memory: int) -> bool:
            return peak(tuple(replace(member, memory=memory) if member is component else member for member in members)) <= size

        amount = max(best(size + 1, fits), 0)
        return amount // GIB * GIB or amount

    for amount in sorted({most_beside(size) for size in sizes} - {0}, reverse=True):
        if amount < component.memory and trial.works(needing(component, amount)):
            share = (component.memory - amount) / component.memory
            text = f"set `memory` of {component.name} to {memory_text(amount)} instead of {memory_text(component.memory)}"
            yield Change(text, (LOOSENED, share), needing(component, amount))
            return


def _less_of_node(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the most feasible CPUs or host memory (whole GiB) of a process."""
    name, key = demand.component, demand.field
    request: int = getattr(trial.problem[name], key)
    step = GIB if key == "host_memory" else 1
    write: Callable[[int], str] = memory_text if key == "host_memory" else str

    def change(amount: int) -> Apply:
        return with_component(name, **{key: amount})

    if amount := trial.last(range(step, request, step), change):
        text = f"set `{key}` of {name} to {write(amount)} instead of {write(request)}"
        yield Change(text, (LOOSENED, (request - amount) / request), change(amount))


def _replacing(component: Component, key: str, before: Keep | Spread, **fields: Any) -> Apply:
    """Return a change of fields of a keep or a spread."""
    weaker = replace(before, **fields)
    return with_component(component.name, **{key: tuple(weaker if member == before else member for member in getattr(component, key))})


def _looser_keep(trial: FixTrial, component: Component, keep: Keep) -> Iterator[Change]:
    """Yield the fewest feasible domains of a keep, and the keep as a preference."""
    loosen = partial(_replacing, component, "keep", keep)
    # The most domains first, so that bisection ends at the fewest.
    counts = range(MAX_DOMAINS, keep.domains, -1) if keep.unit == WHOLE else ()
    if domains := trial.last(counts, lambda domains: loosen(domains=domains)):
        text = f"keep {component.name} in {domains} {plural(level_name(keep.level), domains)} instead of {keep.domains}"
        yield Change(text, (LOOSENED, 1 - keep.domains / domains), loosen(domains=domains))
    if trial.works(loosen(required=False)):
        text = f"make `keep: {{{keep.unit}: {keep.level}}}` of {component.name} `required: false`"
        yield Change(text, (OTHER, 1.0), loosen(required=False))


def _looser_spread(trial: FixTrial, component: Component, spread: Spread) -> Iterator[Change]:
    """Yield the least feasible percentage per domain, and the most feasible domains."""
    loosen, name, percents = partial(_replacing, component, "spread", spread), level_name(spread.level), range(99, spread.percent, -1)
    if percent := trial.last(percents, lambda percent: loosen(percent=percent)):
        text = f"let one {name} hold {percent} % of {component.name} instead of {spread.percent} %"
        yield Change(text, (LOOSENED, 1 - spread.percent / percent), loosen(percent=percent))
    if domains := trial.last(range(1, spread.domains), lambda domains: loosen(domains=domains)):
        text = f"spread {component.name} over {domains} {plural(name, domains)} instead of {spread.domains}"
        yield Change(text, (LOOSENED, 1 - domains / spread.domains), loosen(domains=domains))


# -- machines


def more_nodes(trial: FixTrial, row: CountingRow) -> Iterator[Change]:
    """Yield the fewest additional nodes of the kind most useful to the row's components."""
    problem, sample = trial.problem, _sample(trial.problem, row)
    if sample is None:
        return
    count, size = len(problem.cluster.nodes), sample.count(ACCELERATOR)

    def adding(more: int) -> Apply:
        return lambda problem: replace(problem, cluster=with_nodes(problem.cluster, sample, more))

    pieces = size // max(row.size, 1) if row.size and not row.level else 0
    # The row proves that fewer nodes do not suffice.
    lower = upper = -(-(row.need - row.have) // pieces) if pieces else 1
    tries = 0
    while not trial.works(adding(upper)):
        lower, upper, tries = upper + 1, upper * 2, tries + 1
        if tries > MAX_TRIES or upper > 4 * count:
            return
    while lower < upper:
        middle = (lower + upper) // 2
        lower, upper = (lower, middle) if trial.works(adding(middle)) else (middle + 1, upper)
    rack_note = " in a rack of their own" if sample.topology.get("rack") and upper > 1 else ""
    noun = plural("accelerator", size) if sample.accelerator_model == GENERIC else sample.accelerator_model
    sizes = {
        stretch.node.accelerator_memory for stretch in problem.cluster.alike if stretch.node.accelerator_model == sample.accelerator_model
    }
    memory = f" of {memory_text(sample.accelerator_memory)}" if sample.accelerator_memory and len(sizes) > 1 else ""
    text = f"add {upper} {plural('node', upper)} with {size} {noun}{memory}{rack_note}{_to_groups(problem, sample)}"
    yield Change(text, (ADDED, upper / count), adding(upper))


def find_searched(problem: Problem, row: CountingRow) -> list[Component]:
    """Return the searched components of a row, with all demands of the problem."""
    return [problem[component.name] for component in row.components if component.runs is None]


def _to_groups(problem: Problem, sample: Node) -> str:
    """Return the node groups, named by components, that new nodes join; "" for none."""
    labels = {label for component in problem.hinted for label in component.node_groups}
    groups = [f"`{group.label}`" for group in problem.cluster.declared if sample.rank in group.node_ranks and group.label in labels]
    return f", in node {plural('group', len(groups))} {join_names(groups)}" if groups else ""


def _sample(problem: Problem, row: CountingRow) -> Node | None:
    """Return the largest node with accelerators that is open to every component of the row."""
    components = find_searched(problem, row)
    if not components or any(problem.kind(component) != ACCELERATOR for component in components):
        return None
    members = frozenset.intersection(*(problem.cluster.members(component.node_groups) for component in components))
    models = {component.accelerator_model for component in components if component.accelerator_model}
    memory = max(component.memory for component in components)
    usable = (
        stretch.node
        for stretch, _ in problem.cluster.alike_among(sorted(members))
        if models <= {stretch.node.accelerator_model}
        and (stretch.node.accelerator_memory is None or stretch.node.accelerator_memory >= memory)
    )
    largest = max(usable, key=lambda node: node.count(ACCELERATOR), default=None)
    return largest if largest and largest.accelerators else None
