"""What is planned for small jobs beside the best of every way to lay them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Protocol, TypeVar

import placewright as pw
from placewright.models.answer import IMPOSSIBLE
from placewright.models.planning.planned import PlanningResult


class Job(Protocol):
    """A drawn job."""

    def text(self) -> str:
        """Its native file."""

    def best(self) -> Any:
        """What the best way to lay it comes to; None where there is none."""


JobT = TypeVar("JobT", bound=Job)


def each_planned(draw: Callable[[int], JobT], seeds: Iterable[int], file: Path) -> Iterator[tuple[int, JobT, PlanningResult, Any]]:
    """(seed, job, what is planned and proved, the best of every way) of each drawn job, but for those of which both say that there is none."""
    for seed in seeds:
        job = draw(seed)
        file.write_text(job.text(), encoding="utf-8")
        answer, best = pw.solve(str(file), sandbox=False), job.best()
        if best is None:
            assert answer.verdict == IMPOSSIBLE, seed
        else:
            assert answer.planned is not None and answer.planned.proved, seed
            yield seed, job, answer.planned, best
