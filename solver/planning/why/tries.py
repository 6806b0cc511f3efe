"""Searches for what would make designs possible, and whether each of them was decided."""

from __future__ import annotations

from ....models.planning.question import Question
from ....models.record import dataclass
from ..costs.cost_model import CostModel
from ..searching.search import Searched, search

EACH = 1.0
"""Deterministic seconds of one search for a change."""


@dataclass
class Tries:
    """What is asked for one question after the other.

    Attributes
    ----------
    decided : did each of them so far find a design, or prove that there is none?
    """

    model: CostModel
    seed: int
    decided: bool = True

    def __call__(self, question: Question) -> Searched:
        """What a search finds."""
        found = search(question, self.model, EACH, self.seed)
        self.decided &= found.best is not None or found.proved
        return found
