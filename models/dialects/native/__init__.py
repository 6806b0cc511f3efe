"""placewright's own files: `cluster:` and `components:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tree import Mapping

if TYPE_CHECKING:
    from ...assignment import Assignment
    from ...reading import Reading
    from ...source import Source
    from ...span import Edit
    from ..dialect import Machines

NAME = "native"


def recognises(root: Mapping) -> bool:
    """Has it `components:` at its top level?"""
    return root.get("components") is not None


# Reading needs pydantic, which costs more than all of RLinf's reading: it is loaded when a native file is there.


def read(source: Source, machines: Machines) -> Reading:
    """The problem that a native file states. Raises UnusableInput where there is nothing to go on with."""
    from .read import read as its

    return its(source, machines)


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    """The smallest edits that give every open component its place. Raises UnusableInput with a PW603 Finding."""
    from .write import write as its

    return its(reading, assignment)
