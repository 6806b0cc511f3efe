"""What a change comes to: the answer with it, beside the answer without."""

from __future__ import annotations

from ...models.answer import Answer
from ...models.machines.node_group import ACCELERATOR
from ...models.record import dataclass

SAME, BETTER, WORSE, POSSIBLE_NOW, IMPOSSIBLE_NOW, OPEN = "same", "better", "worse", "possible now", "impossible now", "open"
"""What a change comes to."""
SMALLER, LARGER, RESIZED = "smaller", "larger", "resized"
"""What it comes to where the job asks for other amounts: then its placements are no better or worse than those before."""


@dataclass(frozen=True)
class Priced:
    """One change: its name, the answer with it, and what it comes to against the answer without."""

    name: str
    answer: Answer
    effect: str

    @property
    def terms(self) -> dict[str, int]:
        """The terms of its objective."""
        return terms_of(self.answer)


@dataclass(frozen=True)
class Pricing:
    """The answer as it is, and with each change."""

    before: Answer
    after: tuple[Priced, ...]


def terms_of(answer: Answer) -> dict[str, int]:
    """The values of the terms of an answer's objective by their names; none where there is no plan."""
    return {term.name: term.value for term in answer.plan.terms} if answer.plan else {}


def accelerators_of(answer: Answer) -> int:
    """Number of accelerators that an answer uses, those that components share counted once; 0 without a plan."""
    if answer.plan is None:
        return 0
    held: dict[int, int] = {}
    for name in answer.plan.components:
        for (node, kind), mask in answer.plan.assignment.masks(name).items():
            if kind == ACCELERATOR:
                held[node] = held.get(node, 0) | mask
    return sum(mask.bit_count() for mask in held.values())


def sizes_of(answer: Answer) -> dict[str, int]:
    """Component -> its world size; none without a plan."""
    return {name: answer.plan.assignment.world_size(name) for name in answer.plan.components} if answer.plan else {}
