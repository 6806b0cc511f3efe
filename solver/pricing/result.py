"""Results of pricing: answers with and without a change."""

from __future__ import annotations

from ...models.answer import Answer
from ...models.machines.node_group import ACCELERATOR
from ...models.record import dataclass

SAME, BETTER, WORSE, POSSIBLE_NOW, IMPOSSIBLE_NOW, OPEN = "same", "better", "worse", "possible now", "impossible now", "open"
"""Effects of a change."""
SMALLER, LARGER, RESIZED = "smaller", "larger", "resized"
"""Effects of a change of requested amounts; placements are then not comparable."""


@dataclass(frozen=True)
class PricedChange:
    """Change with name, answer and effect."""

    name: str
    answer: Answer
    effect: str

    @property
    def terms(self) -> dict[str, int]:
        """Objective terms of the answer."""
        return terms_of(self.answer)


@dataclass(frozen=True)
class Pricing:
    """Answer before the changes, and an answer per change."""

    before: Answer
    after: tuple[PricedChange, ...]


def terms_of(answer: Answer) -> dict[str, int]:
    """Return objective term -> value; empty without a plan."""
    return {term.name: term.value for term in answer.plan.terms} if answer.plan else {}


def accelerators_of(answer: Answer) -> int:
    """Return the number of accelerators used, shared ones counted once; 0 without a plan."""
    if answer.plan is None:
        return 0
    masks: dict[int, int] = {}
    for name in answer.plan.components:
        for (node, kind), mask in answer.plan.assignment.masks(name).items():
            if kind == ACCELERATOR:
                masks[node] = masks.get(node, 0) | mask
    return sum(mask.bit_count() for mask in masks.values())


def sizes_of(answer: Answer) -> dict[str, int]:
    """Return component -> world size; empty without a plan."""
    return {name: answer.plan.assignment.world_size(name) for name in answer.plan.components} if answer.plan else {}
