"""What a change comes to: the answer with it, beside the answer without."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.answer import Answer

SAME, BETTER, WORSE, POSSIBLE_NOW, IMPOSSIBLE_NOW, OPEN = "same", "better", "worse", "possible now", "impossible now", "open"
"""What a change comes to."""


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
