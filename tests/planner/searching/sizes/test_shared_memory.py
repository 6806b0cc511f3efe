"""Memory of sets inside others: what is left out could not be chosen with anything that is left, and is left out at once."""

from __future__ import annotations

from itertools import product
from random import Random

from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, MemoryTurns, PlanningProblem, Sharing, Task, Workflow
from placewright.planner.costs import cost_model
from placewright.planner.search.branching import Branching
from placewright.planner.search.choices import BlockChoices
from placewright.planner.search.domains import SharedMemory
from placewright.planner.search.search import search
from placewright.planner.search.sizing import Sizing
from placewright.planner.search.structures import OUTSIDE, BlockStructure, structures

from ...questions import question

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
    sizing = Sizing(
        asked, MODEL, BlockStructure((("rollout",), ("actor",), ("critic",)), (1, OUTSIDE, 1), (0, 1, 2)), BlockChoices(asked, 8)
    )
    branching = Branching(sizing)
    assert branching.floor is None and branching.parts == 1
    searched = search(asked, MODEL, count=4)
    assert searched.proved and searched.spent < 0.1


def test_nothing_is_left_out_that_fits_beside_what_is_left() -> None:
    left_out = 0
    for seed in range(400):
        asked = question(seed, False)
        if not asked.sharing.nested or all(kind.memory is None for kind in asked.kinds):
            continue
        random, ways = Random(seed), BlockChoices(asked, MODEL.divisor(asked))
        for structure in structures(asked, MODEL):
            sizing = Sizing(asked, MODEL, structure, ways)
            if not all(sizing.choices) or all(outer == OUTSIDE for outer in structure.inside):
                continue
            before = [sorted(random.sample(range(len(its)), random.randint(1, len(its)))) for its in sizing.choices]
            after = list(map(list, before))
            SharedMemory(sizing).narrow(after)
            left_out += after != before
            for places in product(*before):
                if sizing.fits(tuple(its[place] for its, place in zip(sizing.choices, places))):
                    assert all(place in its for place, its in zip(places, after))
    assert left_out > 50
