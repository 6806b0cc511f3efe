"""Document: a configuration as one tree, with what belongs to it."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Callable, Mapping

from ..findings.finding import Finding, Unchecked
from ..findings.span import Span
from ..record import dataclass
from ..releases.choice import Choice
from .environment import Environment
from .program import Program
from .source import Source
from .tree import MapNode, Value


class Kind(Enum):
    """What a setting does, by its mark."""

    CHANGE, ADD, FORCE, DELETE = "", "+", "++", "~"


@dataclass(frozen=True, slots=True)
class Setting:
    """`key=value`, `+key=value`, `++key=value`, `~key` or `group@package=option`; `value` is None where none is written."""

    text: str
    kind: Kind
    key: str
    package: str | None
    value: Value | None
    span: Span
    key_span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """The key as a path."""
        return tuple(self.key.split(".")) if self.key else ()


@dataclass(frozen=True)
class Document:
    """What a dialect reads. The spans in `root` name the text that each value comes from.

    Attributes
    ----------
    source : the file itself, the one that an answer is written into.
    root : the whole tree: the file, with what its `defaults` bring in and what the command line sets.
    others : the other texts of the tree, by the name that spans carry.
    partial : something that belongs to the tree could not be read, so a missing key may stand there.
    findings, unchecked : what putting the tree together found out.
    program : what the file starts, where it is a command line or a script; None for a configuration file.
    environment : the variables that its interpolations may read.
    reasons : why a value of tag UNRESOLVED is not known, by its place.
    settings : what a command line sets, in its order, before it was put into the tree.
    assumed : for a value that holds where variables of the environment are not set, their names, by its place.
    release : the release that it is judged for; None until its dialect is known.
    compose : puts the document of another text of the main file together, as this one was.
    """

    source: Source
    root: MapNode
    others: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    environment: Environment = field(default_factory=Environment)
    compose: Callable[[Source], Document] = field(default=lambda source: Document.of(source), repr=False, compare=False)
    program: Program | None = None
    release: Choice | None = None
    settings: tuple[Setting, ...] = ()
    reasons: Mapping[Span, str] = field(default_factory=dict)
    assumed: Mapping[Span, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(source: Source) -> Document:
        """A file alone; its `defaults`, if it has any, are not followed. Raises UnusableInput if it is not one YAML map."""
        return Document(source, source.root, partial=source.root.get("defaults") is not None)

    @staticmethod
    def unread(name: str) -> Document:
        """A file of which nothing can be used."""
        source = Source(name, "")
        return Document(source, MapNode((), source.whole()))

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values that aliases use too, in every text of the tree."""
        return tuple(span for source in (self.source, *self.others.values()) for span in source.shared)

    @property
    def texts(self) -> dict[str, str]:
        """Every text of the tree by the name that spans carry."""
        return {self.source.name: self.source.text, **{name: source.text for name, source in self.others.items()}}

    def text_of(self, name: str) -> str:
        """The text that spans with this file name point into; "" for one that is not part of the tree."""
        if name == self.source.name:
            return self.source.text
        return self.others[name].text if name in self.others else ""

    def excerpt(self, span: Span) -> str:
        """What stands at a place, without the blanks around it."""
        return self.text_of(span.file)[span.start : span.end].strip()
