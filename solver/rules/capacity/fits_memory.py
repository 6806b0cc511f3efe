"""Rule PW501: the components on an accelerator fit in its memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem
from ....models.quantity import write_memory
from ....models.sharing import Members, find_around, sharing_sets
from ...memory import find_crowded, peak, pieces, shares_itself
from ...stretches import stretches
from ...wording import lowest

if TYPE_CHECKING:
    from ...model.variables import Variables

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
        for ranks, node, masks in stretches(problem, assignment, asking):
            rank, has = ranks.start, node.accelerator_memory
            shares = [(mask, [c]) for c in asking if c.name not in crowds and (mask := masks.get((c.name, ACCELERATOR), 0))]
            for name, component in crowds.items():
                if masks.get((name, ACCELERATOR)):
                    shares += [(mask, [component] * times) for mask, times in find_crowded(assignment, component, rank, ACCELERATOR)]
            for mask in pieces([mask for mask, _ in shares]) if has is not None else ():
                holders = [component for share_mask, components in shares if share_mask & mask for component in components]
                if names.isdisjoint(component.name for component in holders):
                    continue
                need, phase = max(
                    ((_in_phase(holders, candidate, has), candidate) for candidate in _phases(holders)), key=lambda entry: entry[0]
                )
                if has is not None and need > has:
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
