"""Memory of sets inside others: what the outer ones keep is seen before any count is searched."""

from __future__ import annotations

from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, MemoryTurns, PlanningProblem, Sharing, Task, Workflow
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search

MODEL = cost_model("stream")


def counted(name: str, seconds: int, memory: int, kept: int) -> dict[str, tuple[Option, ...]]:
    return {name: tuple(Option(0, count, Parallel(), (seconds * 10**9 // count,), memory, kept) for count in range(1, 17))}


def test_what_is_kept_beside_others_is_seen_before_any_count() -> None:
    """The server keeps its memory while the others work: it is inside none of them, and none inside it."""
    options = counted("rollout", 480, 60, 60) | counted("actor", 560, 50, 2) | counted("critic", 160, 40, 2)
    asked = PlanningProblem(
        (AcceleratorKind("H100", 16, 80),),
        tuple(map(Task, options)),
        options,
        Workflow((Edge(0, 1), Edge(1, 2, True)), batches=8),
        sharing=Sharing(nested=True),
        memory=MemoryTurns(turns={"rollout": ("generate",), "actor": ("train",), "critic": ("infer",)}),
    )
    searched = search(asked, MODEL, count=4)
    assert searched.proved and searched.spent < 0.1
