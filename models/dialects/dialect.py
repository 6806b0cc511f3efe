"""What every dialect can do: recognise its files, read them, and write an answer back."""

from __future__ import annotations

from typing import Protocol, Union

from ..assignment import Assignment
from ..cluster import Cluster
from ..reading import Reading
from ..shorthand import AsDeclared
from ..span import Edit
from ..text.source import Source
from ..text.tree import Mapping

Machines = Union[Cluster, AsDeclared, None]
"""What the user said of the machines: all of them, how many accelerators the declared nodes have, or nothing."""


class Dialect(Protocol):
    """One way of writing placements down."""

    NAME: str

    def recognises(self, root: Mapping) -> bool:
        """Is a file with this top-level map meant for it?"""
        ...

    def read(self, source: Source, machines: Machines) -> Reading:
        """The problem that a text states, and all that is wrong with how it states it."""
        ...

    def write(self, reading: Reading, assignment: Assignment) -> list[Edit]:
        """The smallest edits of the text that give every open component its place.

        Raises UnusableInput with a PW603 Finding where the dialect cannot say it.
        """
        ...
