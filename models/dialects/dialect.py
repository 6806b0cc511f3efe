"""What every dialect can do: recognise its files, read them, and write an answer back."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Mapping, Protocol, Sequence, Union

from ..findings.finding import Finding
from ..findings.span import Edit
from ..level import DEFAULT_LEVEL, LEVELS, PLACEMENT, TRAINING
from ..machines.cluster import Cluster
from ..machines.shorthand import AsDeclared
from ..parallel import Parallel
from ..placements.assignment import Assignment
from ..problem import Problem
from ..reading import Reading
from ..record import dataclass
from ..releases.choice import Choice
from ..text.document import Document
from ..text.tree import MapNode
from .signs import Signs

Machines = Union[Cluster, AsDeclared, None]
"""What the user said of the machines: all of them, how many accelerators the declared nodes have, or nothing."""
Degrees = Mapping[str, Parallel]
"""Component -> its degrees, of those for which a choice was left."""
UNCHANGED: Degrees = MappingProxyType({})

__all__ = ["DEFAULT_LEVEL", "LEVELS", "PLACEMENT", "TRAINING", "Dialect", "Machines", "Rendering"]


@dataclass(frozen=True, slots=True)
class Rendering:
    """A new file of a dialect, and a Finding (PW605) for everything of the problem that it does not say, or says otherwise.

    A loss because of which a component may be placed otherwise is a warning whose subject is the component; `names` says what
    the components are called in the new file.
    """

    text: str
    losses: tuple[Finding, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


class Dialect(Protocol):
    """One way of writing placements down."""

    NAME: str
    PROGRAMS: tuple[str, ...]
    """How the modules begin that only this framework has: what a script starts is read in this dialect by its name too."""
    RELEASES: Path | None
    """The data file of its framework's releases (see models/releases); None where the dialect has no framework."""
    PLACES: tuple[str, ...]
    """The keys, at most two deep (``cluster.num_nodes``), whose content is all in the Problem that a file states."""

    def signs(self, root: MapNode) -> Signs:
        """Keys of a file with this top-level map that speak for the dialect."""
        ...

    def release_of(self, document: Document, roots: Sequence[str] = ()) -> Choice | None:
        """The release that a file is judged for where nobody states one: by what lies beside it and what it shows, else the newest.

        `roots` are folders that may hold a checkout.
        """
        ...

    def read(self, document: Document, machines: Machines, level: str = DEFAULT_LEVEL) -> Reading:
        """The problem that a configuration states, and all that is wrong with how it states it.

        `level` is ``training``, or ``placement``, which leaves out the batch arithmetic.
        """
        ...

    def render(self, problem: Problem) -> Rendering:
        """A new file that states this problem: given ranks as ranks, what is open as hints.

        Raises UnusableInput, with a PW606 Finding for every reason, where the dialect cannot say it.
        """
        ...

    def write(self, reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
        """The smallest edits of the text that give every open component its place, and the degrees that were chosen.

        Raises UnusableInput with a PW603 Finding where the dialect cannot say it.
        """
        ...
