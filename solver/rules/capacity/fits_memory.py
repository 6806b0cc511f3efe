"""What shares an accelerator fits in its memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.demand import Clause, Demand
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import ACCELERATOR
from ....models.placements.assignment import Assignment
from ....models.problem import Problem
from ....models.quantity import write_memory
from ....models.sharing import Members, around, holders
from ...memory import crowded, peak, pieces, shares_itself
from ...stretches import stretches
from ...wording import lowest

if TYPE_CHECKING:
    from ...model.variables import Variables

Meeting = tuple[Members, Members]
"""Components that may meet on an accelerator, and those that they lie within."""


class FitsMemory:
    """What is on an accelerator at the same time fits in its memory; processes that share it need it each.

    Components without a phase are always there; those of different phases take turns, and keep what they say of themselves as
    offloaded while another phase runs. An accelerator whose memory is unknown is not judged.
    """

    code: ClassVar[str] = "PW501"
    packs: ClassVar[bool] = False

    def subjects(self, problem: Problem) -> Iterable[Meeting]:
        sets = [members for members in holders(problem) if problem.kind(members[0]) == ACCELERATOR]
        outer = around(problem, holders(problem))
        found = [(members, tuple(c for outers in outer[members[0].name] for c in outers if c not in members)) for members in sets]
        return [meeting for meeting in found if any(component.memory or component.offloaded for component in meeting[0])]

    def encode(self, problem: Problem, meeting: Meeting, variables: Variables) -> None:
        """What lies within given parts has only those of their accelerators that suffice; other bundles only such cells."""
        members, above = meeting
        fixed = variables.layout.fixed
        bundles = list(dict.fromkeys(bundle for bundle in map(variables.bundle, members) if bundle))
        others = [bundle for bundle in dict.fromkeys(map(variables.bundle, above)) if bundle]
        if len(bundles) == 1 and not any(bundle in fixed for bundle in (*bundles, *others)):
            for cell in variables.cells:
                memory = cell.nodes[0].accelerator_memory
                if memory is not None and (need := peak((*members, *above), memory)) > memory:
                    variables.require(variables.accelerators(bundles[0], cell) == 0, f"{bundles[0].name} needs {need} MiB")
            return
        # Given parts that overlap as they like: of every accelerator it is known who is there, also of what is around them.
        given = problem.given()
        for node in problem.cluster.nodes:
            for index, accelerator in enumerate(node.accelerators):
                there = [b for b in (*bundles, *others) if variables.layout.known(b).get(node.rank, 0) >> index & 1]
                if accelerator.memory is not None and any(bundle in there for bundle in bundles):
                    there_all = (component for bundle in there for component in bundle.components)
                    need = peak(tuple(each for c in there_all for each in [c] * _times(given, c, node.rank, index)), accelerator.memory)
                    variables.require(need <= accelerator.memory, f"accelerator {index} of node {node.rank} is too small")

    def check(self, problem: Problem, meeting: Meeting, assignment: Assignment) -> Iterator[Finding]:
        members, above = meeting
        names = {component.name for component in members}
        asking = [component for component in (*members, *above) if component.memory or component.offloaded]
        crowds = {component.name: component for component in asking if shares_itself(assignment, component, ACCELERATOR)}
        for ranks, node, held in stretches(problem, assignment, asking):
            rank, has = ranks.start, node.accelerator_memory
            shares = [(mask, [c]) for c in asking if c.name not in crowds and (mask := held.get((c.name, ACCELERATOR), 0))]
            for name, component in crowds.items():
                if held.get((name, ACCELERATOR)):
                    shares += [(mask, [component] * times) for mask, times in crowded(assignment, component, rank, ACCELERATOR)]
            for mask in pieces([mask for mask, _ in shares]) if has is not None else ():
                here = [component for its, components in shares if its & mask for component in components]
                if names.isdisjoint(component.name for component in here):
                    continue
                need, phase = max(((_in_phase(here, its, has), its) for its in _phases(here)), key=lambda each: each[0])
                if has is not None and need > has:
                    others = any(not _works(component, phase) for component in here)
                    when = f" while {phase} runs" if others else ""
                    message = f"accelerator {lowest(mask)} of node {rank} has {write_memory(has)}, {write_memory(need)} are needed{when}: {_bill(here, phase, has)}"
                    first = next((component for component in here if component.memory and _works(component, phase)), here[0])
                    yield error(
                        self.code, first.name, message, first.span("memory"), help="use larger accelerators, less memory, or phases that take turns",
                        witnesses=(rank, lowest(mask)), amount=need - has,
                    )  # fmt: skip
                    return

    def explain(self, problem: Problem, meeting: Meeting) -> Clause:
        members = (*meeting[0], *meeting[1])
        need = peak(members)
        fit = sum(
            node.free(ACCELERATOR).bit_count()
            for node in problem.cluster.nodes
            if node.accelerators and (node.accelerator_memory is None or node.accelerator_memory >= need)
        )
        bill = " + ".join(
            f"{component.name} {write_memory(component.memory)}{_kept(component)}" for component in members if component.memory
        )
        demands = tuple(Demand(c.name, field, c.span(field)) for c in members for field in ("memory", "offloaded") if getattr(c, field))
        return Clause(f"{bill}: {write_memory(need)} must fit on one accelerator ({fit} have that much)", demands)


def _times(given: Assignment, component: Component, node: int, index: int) -> int:
    """Processes of a component on one accelerator of a node; 1 where its place is not given."""
    if not shares_itself(given, component, ACCELERATOR):
        return 1
    return next((times for mask, times in crowded(given, component, node, ACCELERATOR) if mask >> index & 1), 0)


def _in_phase(members: Iterable[Component], phase: str, capacity: int | None) -> int:
    """MiB of an accelerator with so many that these components need while a phase runs."""
    return sum(_of(component, phase, capacity) for component in members)


def _of(component: Component, phase: str, capacity: int | None) -> int:
    working, resting = component.needs(capacity)
    return working if _works(component, phase) else resting


def _phases(members: Iterable[Component]) -> Iterable[str]:
    """The phases of these components; "" where one of them is always there."""
    return dict.fromkeys(phase for component in members for phase in component.phases or ("",))


def _works(component: Component, phase: str) -> bool:
    """Does it need all of its memory while a phase runs?"""
    return not component.phases or phase in component.phases


def _bill(members: Iterable[Component], phase: str, capacity: int) -> str:
    """What is needed while a phase runs, component by component."""
    parts = []
    for component, times in Counter(members).items():
        awake = _works(component, phase)
        if need := _of(component, phase, capacity):
            note = f" ({phase})" if awake and component.phases else "" if awake else " (offloaded)"
            parts.append(f"{component.name} {f'{times} x ' if times > 1 else ''}{write_memory(need)}{note}")
    return " + ".join(parts)


def _kept(component: Component) -> str:
    return f" (offloaded {write_memory(component.offloaded)})" if component.offloaded and component.phases else ""
