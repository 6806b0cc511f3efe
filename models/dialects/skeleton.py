"""Skeleton of a dialect's reader: text -> notes and settings -> hints -> problem -> Reading, the same steps for every framework."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Sequence

from ..component import Component, Relation
from ..configuration.notes import Notes
from ..configuration.settings import Settings
from ..derivation import Derivation
from ..level import TRAINING
from ..machines.cluster import Cluster
from ..machines.shorthand import AsDeclared
from ..problem import Problem
from ..reading import Reading
from ..said import Said
from ..text.document import Document
from ..text.interpolation import Interpolator
from ..text.tree import MapNode, Value

HINTS = "placewright"
"""Top-level key of the hints in a framework's own file."""


class Reader(ABC):
    """One file of a framework while it is read.

    A dialect states its facts as class attributes and says in `problem` what the file means; everything else is the same for all.

    Attributes
    ----------
    NAME, FRAMEWORK : the dialect, and the framework as it is written in messages.
    ENVIRONMENT : environment variables that interpolations may read: the size of the job, nothing secret.
    UNREAD : keys below which no variable is read, because what stands there is shown.
    document, machines, is_training : what is read, on which machines, and whether batch arithmetic is judged.
    notes, settings, derivations : findings, values by dotted path, and how derived numbers come about.
    """

    NAME: ClassVar[str]
    FRAMEWORK: ClassVar[str]
    ENVIRONMENT: ClassVar[Sequence[str]] = ()
    UNREAD: ClassVar[Sequence[str]] = ()

    def __init__(self, document: Document, machines: Cluster | AsDeclared | None, level: str, with_hints: bool = True) -> None:
        self.document = document
        self.machines = machines
        self.is_training = level == TRAINING
        self.has_hints = with_hints and document.root.get(HINTS) is not None
        self.notes = Notes(document, self.FRAMEWORK)
        self.interpolator = Interpolator.of(self.as_meant(), self.ENVIRONMENT, self.UNREAD)
        self.notes.followed = self.interpolator.followed
        self.settings = self.make_settings()
        self.derivations: list[Derivation] = []

    def as_meant(self) -> Document:
        """Document that is judged: the one that was read, with misspelt keys under their right names where a dialect mends some."""
        return self.document

    def make_settings(self) -> Settings:
        """Values by dotted path, with the framework's defaults."""
        return Settings(self.notes, self.interpolator)

    @abstractmethod
    def problem(self) -> Problem | None:
        """Problem that the file states; None if the findings leave nothing to reason about."""

    def read(self) -> Reading:
        """Reading with every finding; their edits can all be made together."""
        problem = self.problem()
        self.notes.settle()
        findings = (*self.document.findings, *self.interpolator.findings, *self.notes.findings)
        unchecked = (*self.document.unchecked, *self.interpolator.unchecked, *self.notes.unchecked)
        return Reading(self.document, self.NAME, problem, findings, unchecked, tuple(self.derivations), proves=self.notes.proves)

    def hints(self) -> Value | None:
        """Block of hints with its interpolations resolved; None without one."""
        block = self.document.root.get(HINTS) if self.has_hints else None
        return None if block is None else self.interpolator.tree(block, (HINTS,))

    def hinted_names(self) -> tuple[str, ...]:
        """Names of the components that hints are given for."""
        block = self.document.root.get(HINTS) if self.has_hints else None
        inner = block.get("components") if isinstance(block, MapNode) else None
        return tuple(entry.key.text for entry in inner) if isinstance(inner, MapNode) else ()

    def with_hints(
        self, block: Value | None, cluster: Cluster, components: Sequence[Component], relations: Sequence[Relation] = ()
    ) -> Said:
        """Components and relations of the file with what a block of hints adds; without a block, unchanged."""
        if block is None:
            return Said(tuple(components), tuple(relations))
        from ..hints.block import add_block

        return add_block(block, cluster, tuple(components), self.notes.findings, tuple(relations))
