"""What is seen of arrangements at first sight: of very many counts, no more is listed than there is time for."""

from __future__ import annotations

from placewright.models.parallel import Parallel
from placewright.models.planning.kind import Kind
from placewright.models.planning.option import Option
from placewright.models.planning.question import Question, Task
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.candidates.sight import COSTLY, Sight

NAMES = "abcde"
MODEL = cost_model("stream")


def very_wide() -> Question:
    """Five components with any count up to that of the cluster."""
    counts = range(1, COSTLY // len(NAMES) + 2)
    options = {
        name: tuple(Option(0, count, Parallel(), ((1 << 20) // count + place,)) for count in counts) for place, name in enumerate(NAMES)
    }
    return Question((Kind("", len(counts), None),), tuple(Task(name, "") for name in NAMES), options, batches=1)


def seen(limit: float) -> tuple[list[tuple[int, int]], float]:
    """What arrangements cost at least, in so many deterministic seconds, and what was spent."""
    spent = [0.0]

    def spend(seconds: float) -> bool:
        spent[0] += seconds
        return spent[0] < limit

    sight = Sight(very_wide(), MODEL, (), None, spend)
    return [each.floor for each in sight.uncut(list(sight.arrangements()))], spent[0]


def test_what_is_listed_counts_and_nothing_more_is_looked_at_when_the_time_is_over() -> None:
    every, spent = seen(1000)
    some, less = seen(spent / 2)
    sight = Sight(very_wide(), MODEL, (), None, lambda seconds: True)
    assert len(some) == len(every)
    assert less < spent
    assert some[0] == every[0]
    assert some[-1] == sight.at_least() < every[-1]
    assert all(one <= other for one, other in zip(some, every))
