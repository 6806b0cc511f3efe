"""Rules PW501, PW502 and PW503: memory of accelerators, CPUs and memory of nodes suffice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ...models.component import Component
from ...models.findings.finding import Finding, error
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.assignment import Assignment
from ...models.problem import ConflictClause, Demand, Problem
from ...models.quantity import write_memory
from ...models.sharing import Members, find_around, sharing_sets
from ..memory import find_crowded, peak, pieces, shares_itself
from ..rule import ComponentRule
from ..stretches import processes_alike, stretches
from ..wording import join_names, lowest

if TYPE_CHECKING:
    from ..layout.cells import Cell
    from ..model.amount import Amount
    from ..model.variables import Variables

Meeting = tuple[Members, Members]
"""Components that may share an accelerator, and the components around them."""


class FitsMemory:
    """The components on an accelerator at the same time fit in its memory.
    Processes that share an accelerator need their memory each.

    Components without a phase are always present. Components of different phases take turns, and
    keep their `offloaded` memory while another phase runs. An accelerator with unknown memory is
    not judged.
    """

    code: ClassVar[str] = "PW501"

    def subjects(self, problem: Problem) -> Iterable[Meeting]:
        if not any(component.memory or component.offloaded for component in problem.components):
            return []
        sets = [members for members in sharing_sets(problem) if problem.kind(members[0]) == ACCELERATOR]
        outer = find_around(problem, sharing_sets(problem))
        meetings = [(members, tuple(c for outers in outer[members[0].name] for c in outers if c not in members)) for members in sets]
        return [meeting for meeting in meetings if any(component.memory or component.offloaded for component in meeting[0])]

    def encode(self, problem: Problem, meeting: Meeting, variables: Variables) -> None:
        """Forbid accelerators with too little memory.

        A bundle inside given parts has only those of their accelerators that suffice; other bundles
        have only cells that suffice.
        """
        members, above = meeting
        explicit_masks = variables.layout.fixed
        bundles = list(dict.fromkeys(bundle for bundle in map(variables.bundle, members) if bundle))
        around_bundles = [bundle for bundle in dict.fromkeys(map(variables.bundle, above)) if bundle]
        if len(bundles) == 1 and not any(bundle in explicit_masks for bundle in (*bundles, *around_bundles)):
            for cell in variables.cells:
                memory = cell.nodes[0].accelerator_memory
                if memory is not None and (need := peak((*members, *above), memory)) > memory:
                    variables.require(variables.accelerators(bundles[0], cell) == 0)
            return
        # Given parts may overlap freely: the components on every accelerator are known, also those
        # around them.
        given_runs = problem.build_given()
        for node in problem.cluster.nodes:
            for index, accelerator in enumerate(node.accelerators):
                present = [b for b in (*bundles, *around_bundles) if variables.layout.find_known(b).get(node.rank, 0) >> index & 1]
                if accelerator.memory is not None and any(bundle in present for bundle in bundles):
                    there_all = (component for bundle in present for component in bundle.components)
                    need = peak(
                        tuple(process for c in there_all for process in [c] * _times(given_runs, c, node.rank, index)), accelerator.memory
                    )
                    variables.require(need <= accelerator.memory)

    def check(self, problem: Problem, meeting: Meeting, assignment: Assignment) -> Iterator[Finding]:
        members, above = meeting
        names = {component.name for component in members}
        asking = [component for component in (*members, *above) if component.memory or component.offloaded]
        crowds = {component.name: component for component in asking if shares_itself(assignment, component, ACCELERATOR)}
        sufficient = set[tuple[object, ...]]()
        for ranks, node, masks in stretches(problem, assignment, asking):
            rank, has = ranks.start, node.accelerator_memory
            pattern = (has, *masks.items())
            if has is None or pattern in sufficient:
                continue
            if crowds.keys().isdisjoint(name for name, _ in masks):
                sufficient.add(pattern)  # an insufficient one ends the loop
            shares = [(mask, [c]) for c in asking if c.name not in crowds and (mask := masks.get((c.name, ACCELERATOR), 0))]
            for name, component in crowds.items():
                if masks.get((name, ACCELERATOR)):
                    shares += [(mask, [component] * times) for mask, times in find_crowded(assignment, component, rank, ACCELERATOR)]
            for mask in pieces([mask for mask, _ in shares]):
                holders = [component for share_mask, components in shares if share_mask & mask for component in components]
                if names.isdisjoint(component.name for component in holders):
                    continue
                need, phase = max(
                    ((_in_phase(holders, candidate, has), candidate) for candidate in _phases(holders)), key=lambda entry: entry[0]
                )
                if need > has:
                    some_offloaded = any(not _works(component, phase) for component in holders)
                    phase_text = f" while {phase} runs" if some_offloaded else ""
                    message = f"accelerator {lowest(mask)} of node {rank} has {write_memory(has)}, but {write_memory(need)} are needed{phase_text}"
                    first = next((component for component in holders if component.memory and _works(component, phase)), holders[0])
                    yield error(
                        self.code, first.name, message, first.span("memory"), help="use larger accelerators, less memory, or phases that take turns",
                        witnesses=(rank, lowest(mask)), amount=need - has, notes=(f"needed: {_bill(holders, phase, has)}",),
                    )  # fmt: skip
                    return

    def explain(self, problem: Problem, meeting: Meeting) -> ConflictClause:
        members = (*meeting[0], *meeting[1])
        need = peak(members)
        fit = sum(
            node.free(ACCELERATOR).bit_count()
            for node in problem.cluster.nodes
            if node.accelerators and (node.accelerator_memory is None or node.accelerator_memory >= need)
        )
        bill = " + ".join(
            f"{component.name} {write_memory(component.memory)}{_describe_kept(component)}" for component in members if component.memory
        )
        demands = tuple(Demand(c.name, field, c.span(field)) for c in members for field in ("memory", "offloaded") if getattr(c, field))
        return ConflictClause(f"{bill}: {write_memory(need)} must fit on one accelerator ({fit} have that much)", demands)


def _times(given_runs: Assignment, component: Component, node: int, index: int) -> int:
    """Return a component's processes on an accelerator; 1 for unknown places."""
    if not shares_itself(given_runs, component, ACCELERATOR):
        return 1
    return next((times for mask, times in find_crowded(given_runs, component, node, ACCELERATOR) if mask >> index & 1), 0)


def _in_phase(members: Iterable[Component], phase: str, capacity: int | None) -> int:
    """Return the MiB that the components need on an accelerator in a phase.

    `capacity`: MiB of the accelerator.
    """
    return sum(_need(component, phase, capacity) for component in members)


def _need(component: Component, phase: str, capacity: int | None) -> int:
    """Return the MiB that a component needs in a phase."""
    working, resting = component.needs(capacity)
    return working if _works(component, phase) else resting


def _phases(members: Iterable[Component]) -> Iterable[str]:
    """Return the phases of the components; "" for components without a phase."""
    return dict.fromkeys(phase for component in members for phase in component.phases or ("",))


def _works(component: Component, phase: str) -> bool:
    """Return True if the component needs all of its memory in the phase."""
    return not component.phases or phase in component.phases


def _bill(members: Iterable[Component], phase: str, capacity: int) -> str:
    """Return the needs in a phase as text, component by component."""
    terms = []
    for component, times in Counter(members).items():
        awake = _works(component, phase)
        if need := _need(component, phase, capacity):
            note = f" ({phase})" if awake and component.phases else "" if awake else " (offloaded)"
            terms.append(f"{component.name} {f'{times} x ' if times > 1 else ''}{write_memory(need)}{note}")
    return " + ".join(terms)


def _describe_kept(component: Component) -> str:
    return f" (offloaded {write_memory(component.offloaded)})" if component.offloaded and component.phases else ""


Entry = tuple[int, int, Component]
"""Amount reserved on a node, number of processes there, and component."""


class PerNode(ComponentRule):
    """The amounts reserved on a node do not exceed what it has.

    Colocated components have processes of their own, so their reservations add up. A node with an
    unknown amount is not judged.
    """

    field: ClassVar[str]
    """Amount of a process of a component."""
    of_node: ClassVar[str]
    """Amount of a node."""
    message: ClassVar[str]
    advice: ClassVar[str]
    place: ClassVar[str]
    blames_largest: ClassVar[bool]
    """True if the largest reservation is blamed, False for the first."""

    def has(self, node: Node) -> int | None:
        """Return the amount of a node; None if unknown."""
        amount: int | None = getattr(node, self.of_node)
        return amount

    def need(self, component: Component) -> int:
        """Return the amount reserved by a process of the component."""
        amount: int = getattr(component, self.field)
        return amount

    def format_amount(self, amount: int) -> str:
        """Return an amount as text."""
        return str(amount)

    def subjects(self, problem: Problem) -> Iterable[str]:
        """Return the name of the amount if some component reserves any."""
        return (self.field,) if any(map(self.need, problem.components)) else ()

    def encode(self, problem: Problem, subject: str, variables: Variables) -> None:
        """Require enough capacity on every node that could be exceeded.

        These nodes are cells of their own.
        """
        asking = [component for component in problem.components if self.need(component)]
        for cell in variables.cells:
            capacity = self.has(cell.nodes[0])
            if capacity is not None and len(cell.nodes) == 1:
                demand = variables.total(self.need(component) * _processes_in(component, cell, variables) for component in asking)
                variables.require(demand <= capacity)

    def check(self, problem: Problem, subject: str, assignment: Assignment) -> Iterator[Finding]:
        short = list[tuple[range, int, int, list[Entry]]]()
        asking = [component.name for component in problem.components if self.need(component)]
        for ranks, node, counts in processes_alike(problem, assignment, asking):
            bill = [(self.need(c) * counts[c.name], counts[c.name], c) for c in problem.components if c.name in counts]
            has, need = self.has(node), sum(amount for amount, _, _ in bill)
            if has is not None and need > has:
                short.append((ranks, has, need, bill))
        for ranks, has, need, bill in short[:1]:
            culprit = max(bill, key=lambda entry: entry[0] if self.blames_largest else 0)[2]
            words = " + ".join(f"{c.name} {number} x {self.format_amount(self.need(c))}" for _, number, c in bill)
            count, texts = (
                sum(len(nodes) for nodes, *_ in short),
                {"has": self.format_amount(has), "need": self.format_amount(need), "words": words},
            )
            message = self.message.format(node=ranks.start, **texts) + (f" (so do {count} nodes)" if count > 1 else "")
            yield self.fault(culprit, message, self.place, self.advice.format(**texts), (ranks.start,), need - has)

    def build_clause(self, problem: Problem, text: str) -> ConflictClause:
        """Return the clause of all components with a reservation."""
        demands = [Demand(c.name, self.field, c.span(self.field)) for c in problem.components if self.need(c)]
        return ConflictClause(text, tuple(demands))


class FitsCpus(PerNode):
    """The CPUs reserved for the processes on a node do not exceed its CPUs.

    Source: verl, verl/single_controller/ray/base.py (RayResourcePool reserves CPUs with every
    accelerator, and waits for ever).
    """

    code, field, of_node, place, blames_largest = "PW502", "cpus", "cpus", "placement", False
    message = "node {node} has {has} CPUs, {need} are reserved: {words}"
    advice = "use a node with {need} CPUs, or place fewer processes on it"

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        fewest = min((node.cpus for node in problem.cluster.nodes if node.cpus is not None), default=0)
        text = join_names(
            [f"{component.name} reserves {component.cpus} CPUs for each process" for component in problem.components if component.cpus]
        )
        return self.build_clause(problem, f"{text} (the node with the fewest has {fewest})")


class FitsHostMemory(PerNode):
    """The host memory needed by the processes on a node does not exceed its memory."""

    code, field, of_node, place, blames_largest = "PW503", "host_memory", "memory", "host_memory", True
    message = "node {node} has {has} of memory, {need} are needed: {words}"
    advice = "use a node with {need}, or place fewer processes on it"

    def format_amount(self, amount: int) -> str:
        return write_memory(amount)

    def explain(self, problem: Problem, subject: str) -> ConflictClause:
        memories = [node.memory for node in problem.cluster.nodes if node.memory is not None]
        needs = [(component.name, write_memory(component.host_memory)) for component in problem.components if component.host_memory]
        text = join_names([f"a process of {name} needs {need} of its node" for name, need in needs])
        return self.build_clause(problem, f"{text} (the node with the least has {write_memory(min(memories, default=0))})")


def _processes_in(component: Component, cell: Cell, variables: Variables) -> Amount:
    """Return the processes of a component on a single-node cell."""
    if component.runs is not None:
        return Assignment({component.name: component.runs}).processes_on(component.name).get(cell.nodes[0].rank, 0)
    amount, bundle = variables.count_held(component, NODE_LEVEL, cell), variables.bundle(component)
    if isinstance(amount, int):
        return amount // component.per_process
    return bundle.unit // component.per_process * variables.units(bundle, cell) if bundle else amount
