"""Lower bound of an arrangement, however its iteration is cut: the busiest set of components does all of its work."""

from __future__ import annotations

from ....models.planning.question import Question
from ..costs.steady import Steady
from .price import Price
from .sizes.branching import Branching
from .sizes.choices import Choices
from .sizes.sizing import Sizing
from .structures.every import Arrangement
from .structures.structure import Structure


class Busiest:
    """Bounds by the cost model `steady`, which is a relaxation of every model that runs tasks on the same accelerators one after another."""

    def __init__(self, question: Question) -> None:
        self._question, self._model = question, Steady()
        self._ways = Choices(question, self._model.divisor(question))

    def floor(self, arrangement: Arrangement) -> tuple[Price | None, int]:
        """No design of the arrangement costs less, None if it has none; and the subproblems solved."""
        structure = Structure(arrangement.sets, arrangement.inside, (0,) * len(self._question.tasks))
        branching = Branching(Sizing(self._question, self._model, structure, self._ways))
        return branching.floor, branching.parts
