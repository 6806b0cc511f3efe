"""Rule PW208: accelerators divide into whole replicas and processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class Divisibility:
    """The accelerators of a component divide into replicas, processes and blocks.
    Their number is a multiple of tp x pp x cp (in an engine x dp), of the accelerators per process,
    and of a block of the stride.

    Source: Megatron-LM, core/parallel_state.py, initialize_model_parallel (world size must be
    divisible by tp x pp x cp); RLinf, rlinf/scheduler/placement/placement.py (processes and
    resources are multiples), packed.py (blocks).
    """

    code: ClassVar[str] = "PW208"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.step > 1 and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        if bundle := variables.bundle(component):
            variables.multiple(bundle, component.step)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        placed = assignment.amount(component.name)
        replica, per_process, block = component.parallel.replica, component.per_process, component.block
        inside = " x dp" if component.parallel.dp > 1 else ""
        for divisor, label in (
            (replica, f"tp x pp x cp{inside} = {replica}"),
            (per_process, f"{per_process} accelerators per process"),
            (block, f"blocks of {block}, in which {component.stride} groups interleave"),
        ):
            if placed % divisor:
                message = f"the {placed} {plural('accelerator', placed)} of {component.name} cannot be divided by {label}: {placed % divisor} would be left"
                lower, upper = placed - placed % divisor, placed - placed % divisor + divisor
                fit = f"{lower} or {upper}" if lower else str(upper)
                advice = component.fix(self.code, f"give {component.name} {fit} accelerators")
                span = advice.edit.span if advice.edit else component.span("placement" if component.runs is not None else "parallel")
                yield error(
                    self.code, component.name, message, span, help=advice.help, edit=advice.edit, notes=advice.notes,
                    witnesses=(placed, divisor), amount=placed % divisor,
                )  # fmt: skip
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        reasons = {}
        if component.parallel.replica > 1:
            reasons["parallel"] = str(component.parallel)
        if component.per_process > 1:
            reasons["per_process"] = f"{component.per_process} a process"
        if component.block > component.group_size:
            reasons["stride"] = f"stride {component.stride}"
        text = f"the accelerators of {component.name} must be a multiple of {component.step} ({', '.join(reasons.values())})"
        return ConflictClause(text, tuple(Demand(component.name, name, component.span(name)) for name in reasons))
