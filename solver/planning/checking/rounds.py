"""Do tasks that wait for each other in a circle run at the same time, or all of them one after the other?"""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ....models.planning.design import Design
from ....models.planning.question import Question


def in_rounds(question: Question, design: Design) -> Iterator[str]:
    """What is wrong with it, of a cost model in which tasks that share accelerators do not run at the same time."""
    wholes = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    for its in question.rounds:
        names, in_turn = ", ".join(str(question.tasks[task]) for task in sorted(its)), False
        for one, other in combinations(sorted(its), 2):
            first, second = question.tasks[one].component, question.tasks[other].component
            in_turn |= takes_turns(question, design, first, second) or (one, other) in wholes
        parts = len({design.segments[task] for task in its})
        if in_turn and parts < len(its):
            yield f"{names} wait for each other and some share accelerators, so that no two of them run at the same time"
        if not in_turn and parts > 1:
            yield f"{names} wait for each other, so that they run at the same time"


def takes_turns(question: Question, design: Design, one: str, other: str) -> bool:
    """Does all that these components do run one after the other, in a cost model in which that holds for those that share accelerators?"""
    shared = set(design.blocks_of(one)) & set(design.blocks_of(other))
    return one == other or bool(shared) or not question.one_at_a_time.isdisjoint(((one, other), (other, one)))
