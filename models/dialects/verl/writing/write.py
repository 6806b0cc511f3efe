"""An answer into a verl file."""

from __future__ import annotations

from ....assignment import Assignment
from ....finding import UnusableInput, error
from ....reading import Reading
from ....span import Edit


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    """The edits that give every open component its place. Raises UnusableInput (PW603) where verl cannot say it."""
    given = {component.name for component in reading.problem.components if component.runs is not None} if reading.problem else set()
    for name in assignment.runs:
        if name not in given:
            raise UnusableInput([error("PW603", name, f"verl has no key that says the place of `{name}`", help="use the plan itself")])
    return []
