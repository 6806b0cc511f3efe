"""Rules PW208 and PW221: accelerators divide into replicas, processes and shard groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding
from ....models.findings.wording import plural
from ....models.machines.node_group import NODE
from ....models.memory.work import fitting, not_whole, whole_groups
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Problem
from ...rule import ComponentRule

if TYPE_CHECKING:
    from ...model.variables import Variables


class Divisibility(ComponentRule):
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
        amount = assignment.amount(component.name)
        replica, per_process, block = component.parallel.replica, component.per_process, component.block
        suffix = " x dp" if component.parallel.dp > 1 else ""
        for divisor, label in (
            (replica, f"tp x pp x cp{suffix} = {replica}"),
            (per_process, f"{per_process} accelerators per process"),
            (block, f"blocks of {block}, in which {component.stride} groups interleave"),
        ):
            if amount % divisor:
                message = f"the {amount} {plural('accelerator', amount)} of {component.name} cannot be divided by {label}: {amount % divisor} would be left"
                lower, upper = amount - amount % divisor, amount - amount % divisor + divisor
                fit = f"{lower} or {upper}" if lower else str(upper)
                edit = component.fix(self.code, "").edit
                place = edit.span if edit else "placement" if component.runs is not None and component.span("placement") else "parallel"
                advice = f"give {component.name} {fit} accelerators"
                fault = self.fault(component, message, place, advice, (amount, divisor), amount % divisor)
                yield replace(fault, cause=component.span("parallel") if divisor == replica else None)
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
        return self.clause(component, text, *reasons)


class WholeShardGroups(ComponentRule):
    """The ranks that shard weights in groups are a multiple of `shards`.
    Up to `shards` ranks form a single group.

    The ranks are the accelerators of a component over tp x pp.

    Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
    """

    code: ClassVar[str] = "PW221"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.divided_among and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        processes, per_process = variables.processes(component), component.per_process
        most = processes if isinstance(processes, int) else problem.cluster.total(problem.kind(component)) // per_process
        shards = component.divided_among
        variables.among(processes, [count for count in range(most + 1) if whole_groups(shards, count * per_process, component.parallel)])

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        shards, parallel = component.divided_among, component.parallel
        ranks = assignment.amount(component.name) // (parallel.tp * parallel.pp)
        remainder = ranks % shards if shards else 0
        if ranks <= shards or not remainder:
            return
        advice = fitting(ranks, shards)
        label = f"{remainder} would be left"
        yield self.fault(component, not_whole(component.name, ranks, shards), "shards", advice, (ranks, shards), remainder, label=label)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        shards = component.divided_among
        text = f"the ranks of {component.name} are whole groups of {shards} shards, or no more than these"
        return self.clause(component, text, "amount")
