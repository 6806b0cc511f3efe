"""Rule PW221: ranks that shard in groups (hybrid sharding) form whole groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.component import Component
from ....models.findings.finding import Finding, error
from ....models.machines.node_group import NODE
from ....models.memory_work import fitting, not_whole, whole_groups
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class WholeShardGroups:
    """The ranks that shard weights in groups are a multiple of `shards`.
    Up to `shards` ranks form a single group.

    The ranks are the accelerators of a component over tp x pp.

    Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
    """

    code: ClassVar[str] = "PW221"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.divided_among and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        placed, per_process = variables.processes(component), component.per_process
        most = placed if isinstance(placed, int) else problem.cluster.total(problem.kind(component)) // per_process
        shards = component.divided_among
        why = f"the ranks of {component.name} do not divide into groups of {shards} shards"
        variables.among(placed, [count for count in range(most + 1) if whole_groups(shards, count * per_process, component.parallel)], why)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        shards, parallel = component.divided_among, component.parallel
        ranks = assignment.amount(component.name) // (parallel.tp * parallel.pp)
        left = ranks % shards if shards else 0
        if ranks <= shards or not left:
            return
        yield error(
            self.code, component.name, not_whole(component.name, ranks, shards), component.span("shards"), label=f"{left} would be left",
            help=fitting(ranks, shards), witnesses=(ranks, shards), amount=left,
        )  # fmt: skip

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        shards = component.divided_among
        text = f"the ranks of {component.name} are whole groups of {shards} shards, or no more than these"
        return ConflictClause(text, (Demand(component.name, "amount", component.span("amount")),))
