"""The same case as a question of planning."""

from __future__ import annotations

from placewright.models.parallel import UNDIVIDED
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, PlanningProblem, Sharing, Task, Workflow

from auto.cases import Case


def question(case: Case) -> PlanningProblem:
    """Counts and sharing are open; times are those of the tables, rounded up to whole ns of a batch."""
    batches = case.batches
    options = {
        name: tuple(Option(0, count, UNDIVIDED, (-(-row.nanoseconds // batches) * batches,)) for count, row in table.items())
        for name, table in case.tables().items()
    }
    edges = tuple(Edge(place, place + 1) for place in range(len(case.chain) - 1))
    tasks = tuple(Task(name) for name in case.chain)
    return PlanningProblem(
        (AcceleratorKind("", case.accelerators),),
        tasks,
        options,
        Workflow(edges, batches=batches),
        sharing=Sharing(nested=case.task == "embodied"),
    )
