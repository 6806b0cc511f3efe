"""One way to run a set of components on the same accelerators."""

from __future__ import annotations

from .....models.planning.option import Option
from .....models.record import dataclass

Amount = tuple[int, int]
"""Kind and amount, as an option names them."""
Key = tuple[tuple[str, ...], tuple[int, ...], int]
"""The members of a set, in which part of the iteration each of their tasks runs, and how many designs are ruled out."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to run a set.

    Attributes
    ----------
    kind, accelerators : what the set uses; `NO_KIND` and 0 for a component that needs none.
    options : of each component, in the order of the set.
    loads : ns of its tasks in each part of the iteration in which it works (see `parts_of`), of an iteration or, where the cost model
        hands on batches, of a batch; where traffic counts as time, last what crosses inside it at least, of an iteration.
    needs : MiB that it takes on each accelerator in each of the question's turns, and last in none of them.
    """

    kind: int
    accelerators: int
    options: tuple[Option, ...]
    loads: tuple[int, ...]
    needs: tuple[int, ...]

    @property
    def amount(self) -> Amount:
        """See `Amount`."""
        return self.kind, self.options[0].amount
