"""An answer into a native file: a `placement:` for every component that had none."""

from __future__ import annotations

from ...assignment import Assignment
from ...reading import Reading
from ...span import Edit


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    raise NotImplementedError
