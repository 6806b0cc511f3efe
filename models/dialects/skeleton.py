"""Skeleton of a framework file's reader: text -> settings -> hints -> problem -> Reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Collection, Sequence

from ..component import Component, Relation
from ..configuration.notes import Notes
from ..configuration.settings import TRAINING_RULES, Settings
from ..derivation import Derivation
from ..dialect_names import DIALECTS
from ..job import HintedJob
from ..level import TRAINING
from ..machines.cluster import Cluster
from ..machines.shorthand import DeclaredNodes
from ..problem import Problem
from ..reading import Reading
from ..text.document import Document
from ..text.interpolation import Interpolator
from ..text.tree import MapNode, Value

HINTS = "placewright"
"""Top-level key of the hints in a framework's own file."""
_APART = (HINTS, "hydra", "defaults")
"""Top-level keys that the program's configuration does not have."""


class Reader(ABC):
    """Reader of a framework file.

    A dialect states its facts as class attributes and the meaning of the file in `problem`; all
    other steps are shared.

    Attributes
    ----------
    NAME, FRAMEWORK : name of the dialect, and of the framework in messages.
    ENVIRONMENT : environment variables that interpolations may read: the size of the job, nothing
        secret.
    UNREAD : keys below which no variable is read, because their content is shown.
    SETS_VISIBLE : True if the framework's programs show themselves accelerators, whatever is visible.
    document, machines, is_training : the document, the machines, and whether batch arithmetic is
        judged.
    decisive : rules that need every value that the file writes; see `Settings`.
    resolves_all : True if the program resolves every interpolation, so that each must have a value.
    added_keys : keys that the program, or its command line, may add to the configuration.
    notes, settings, derivations : findings, values by dotted path, and origins of derived numbers.
    """

    NAME: ClassVar[str]
    FRAMEWORK: ClassVar[str]
    ENVIRONMENT: ClassVar[Sequence[str]] = ()
    UNREAD: ClassVar[Sequence[str]] = ()
    SETS_VISIBLE: ClassVar[bool] = False
    resolves_all: bool = False
    added_keys: Collection[str] = ()

    def __init__(self, document: Document, machines: Cluster | DeclaredNodes | None, level: str, with_hints: bool = True) -> None:
        self.document = document
        self.machines = machines
        self.is_training = level == TRAINING
        self.decisive = TRAINING_RULES if self.is_training else frozenset[str]()
        self.has_hints = with_hints and document.root.get(HINTS) is not None
        self.notes = Notes(document, self.FRAMEWORK)
        self.interpolator = Interpolator.of(document, self.ENVIRONMENT, self.UNREAD)
        # A program of an author may read the file, with resolvers of its own; of verl, it may read a file alone.
        program = document.program
        if (program is None or program.is_known) and (self.NAME != "verl" or (program is not None and program.name)):
            self.interpolator.resolvers = DIALECTS[self.NAME].resolvers
        self.notes.followed = self.interpolator.followed
        self.settings = self.make_settings()
        self.derivations: list[Derivation] = []

    def make_settings(self) -> Settings:
        """Return the values by dotted path, with the framework's defaults."""
        return Settings(self.notes, self.interpolator, decisive=self.decisive)

    @abstractmethod
    def problem(self) -> Problem | None:
        """Return the problem of the file; None if the findings prevent a problem."""

    def read(self) -> Reading:
        """Return the reading with every finding; their edits are compatible."""
        problem = self.problem()
        self._check_visible()
        self._check_resolved()
        self.notes.settle()
        findings = (*self.document.findings, *self.interpolator.findings, *self.notes.findings)
        unchecked_items = (*self.document.unchecked, *self.interpolator.unchecked, *self.notes.unchecked)
        return Reading(self.document, self.NAME, problem, findings, unchecked_items, tuple(self.derivations), proves=self.notes.proves)

    def _check_visible(self) -> None:
        """Report accelerators that a script shows twice, or that no node has."""
        machine = self.document.program.machine if self.document.program is not None else None
        if machine is None or machine.accelerators is None or self.SETS_VISIBLE:
            return
        span = machine.accelerators_span or self.document.root.span
        nodes = [len(stretch.node.accelerators) for stretch in self.machines.alike] if isinstance(self.machines, Cluster) else []
        most = self.machines.count if isinstance(self.machines, DeclaredNodes) else max(nodes, default=0)
        numbers = [number for number in machine.numbers if 0 < most <= number]
        if machine.repeated:
            message = f"`{machine.variable}` names accelerator {machine.repeated} twice"
            why = "PyTorch then sees no accelerator at all, and NCCL refuses two ranks on one accelerator"
            self.notes.error("PW114", "", message, span, "named twice", "name each accelerator once", None, why)
        elif numbers:
            message = f"`{machine.variable}` names accelerator {numbers[0]}, but a node has 0 to {most - 1}"
            judge = self.notes.error if len(numbers) == len(machine.numbers) else self.notes.warn
            why = "Ray counts it, and a process there sees no accelerator"
            judge("PW114", "", message, span, "outside", f"name accelerators from 0 to {most - 1}", None, why)

    def _check_resolved(self) -> None:
        """Report values that cannot be resolved, though nothing here reads them."""
        interpolator = self.interpolator
        if not self.resolves_all or interpolator.resolvers is None or self.document.partial:
            return
        spans, messages = ({getattr(finding, name) for finding in interpolator.findings} for name in ("span", "message"))
        for entry in self.document.root:
            faults = interpolator.faults(entry.value, (entry.key.text,), self.added_keys) if entry.key.text not in _APART else ()
            for finding in faults:
                if finding.span not in spans and finding.message not in messages:
                    interpolator.findings.append(finding)
                    messages.add(finding.message)

    def hints(self) -> Value | None:
        """Return the block of hints with resolved interpolations; None without hints."""
        block = self.document.root.get(HINTS) if self.has_hints else None
        return None if block is None else self.interpolator.tree(block, (HINTS,))

    def hinted_names(self) -> tuple[str, ...]:
        """Return the names of the hinted components."""
        block = self.document.root.get(HINTS) if self.has_hints else None
        inner = block.get("components") if isinstance(block, MapNode) else None
        return tuple(entry.key.text for entry in inner) if isinstance(inner, MapNode) else ()

    def with_hints(
        self, block: Value | None, cluster: Cluster, components: Sequence[Component], relations: Sequence[Relation] = ()
    ) -> HintedJob:
        """Return the file's components and relations, extended by a block of hints."""
        if block is None:
            return HintedJob(tuple(components), tuple(relations))
        from ..hints.block import add_block

        return add_block(block, cluster, tuple(components), self.notes.findings, tuple(relations))
