"""What is planned for small jobs beside the best of every way to lay them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import placewright as pw
from placewright.models.answer import IMPOSSIBLE
from placewright.models.planning.planned import Planned


class Job(Protocol):
    """A drawn job."""

    def text(self) -> str:
        """Its native file."""

    def best(self) -> Any:
        """What the best way to lay it comes to; None where there is none."""


def planned(job: Job, file: Path, seed: int) -> tuple[Planned, Any] | None:
    """What is planned and proved, and the best of every way; None where both say that there is none."""
    file.write_text(job.text(), encoding="utf-8")
    answer, best = pw.solve(str(file), sandbox=False), job.best()
    if best is None:
        assert answer.verdict == IMPOSSIBLE, seed
        return None
    assert answer.planned is not None and answer.planned.proved, seed
    return answer.planned, best
