"""Document: a configuration as one tree, with sources and findings."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Callable, Mapping

from ..findings.finding import Finding, Unchecked
from ..findings.span import Span
from ..record import dataclass
from ..releases.choice import ReleaseChoice
from .environment import Environment
from .program import Program
from .source import Source
from .tree import MapNode, Value


class DocumentKind(Enum):
    """Effect of a setting, by its mark."""

    CHANGE, ADD, FORCE, DELETE = "", "+", "++", "~"


@dataclass(frozen=True, slots=True)
class Setting:
    """Setting of a command line; `value` is None if absent.

    Forms: `key=value`, `+key=value`, `++key=value`, `~key`, `group@package=option`.
    """

    text: str
    kind: DocumentKind
    key: str
    package: str | None
    value: Value | None
    span: Span
    key_span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """Key as a path."""
        return tuple(self.key.split(".")) if self.key else ()


@dataclass(frozen=True)
class Document:
    """Input of a dialect; spans in `root` name the text of every value.

    Attributes
    ----------
    source : the file itself, into which an answer is written.
    root : the whole tree: the file with the parts from its `defaults` and the settings of the
        command line.
    others : further texts of the tree, by the name in their spans.
    partial : True if a part of the tree could not be read, so that it may hold a missing key.
    findings, unchecked : results of composing the tree.
    program : started program, for a command line or a script; None for a configuration file.
    environment : variables that interpolations may read.
    reasons : why a value of tag UNRESOLVED is unknown, by its place.
    settings : settings of a command line, in order, before their application to the tree.
    assumed : names of the environment variables assumed unset for a value, by its place.
    release : release that the document is judged for; None until its dialect is known.
    compose : composes the document again for another text of the main file.
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
    release: ReleaseChoice | None = None
    settings: tuple[Setting, ...] = ()
    reasons: Mapping[Span, str] = field(default_factory=dict)
    assumed: Mapping[Span, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(source: Source) -> Document:
        """Return the document of a file alone; `defaults` are not followed.

        Raises UnusableInput if the file is not one YAML map.
        """
        return Document(source, source.root, partial=source.root.get("defaults") is not None)

    @staticmethod
    def unread(name: str) -> Document:
        """Return the document of an unusable file."""
        source = Source(name, "")
        return Document(source, MapNode((), source.whole()))

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values with aliases, in all texts of the tree."""
        return tuple(span for source in (self.source, *self.others.values()) for span in source.shared)

    @property
    def texts(self) -> dict[str, str]:
        """Texts of the tree by the name in spans."""
        return {self.source.name: self.source.text, **{name: source.text for name, source in self.others.items()}}

    def text_of(self, name: str) -> str:
        """Return the text for a file name in spans; "" for an unknown file."""
        if name == self.source.name:
            return self.source.text
        return self.others[name].text if name in self.others else ""

    def excerpt(self, span: Span) -> str:
        """Return the text of a span, without surrounding blanks."""
        return self.text_of(span.file)[span.start : span.end].strip()
