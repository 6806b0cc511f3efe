"""The texts that one command has read: each once, however many files are composed of them."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from ..findings.finding import Finding
from ..record import dataclass
from ..text.source import Source
from ..text.tree import MapNode, Value

if TYPE_CHECKING:
    from .entry import Entry


@dataclass(frozen=True)
class Part:
    """A text as a part of a configuration.

    Attributes
    ----------
    content : its value without its `defaults`.
    entries : its `defaults`; `findings` say what is wrong with them.
    package : what its header asks for, None if it asks for nothing.
    """

    source: Source
    content: Value
    entries: tuple[Entry, ...] = ()
    findings: tuple[Finding, ...] = ()
    package: str | None = None


def part_of(source: Source) -> Part:
    """A text, taken apart. Raises UnusableInput if it is not YAML within the limits."""
    from .entry import read_entries
    from .node import package_header

    root = _blank(source) or source.value
    findings: list[Finding] = []
    entries: list[Entry] = []
    if isinstance(root, MapNode):
        entries = read_entries(root.get("defaults"), findings)
        root = replace(root, entries=tuple(entry for entry in root if entry.key.text != "defaults"))
    return Part(source, root, tuple(entries), tuple(findings), package_header(source.text))


def _blank(source: Source) -> MapNode | None:
    """An empty map if nothing but comments is written."""
    if any((line := text.strip()) and not line.startswith("#") for text in source.lines):
        return None
    return MapNode((), source.whole())


@dataclass
class Library:
    """The texts of one command and what they are as parts, by the name that their spans carry."""

    sources: dict[str, Source] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)

    def source(self, path: str, name: str) -> Source:
        """The text at a path. Raises UnusableInput."""
        if name not in self.sources:
            self.sources[name] = Source.read(path, name)
        return self.sources[name]

    def part(self, source: Source) -> Part:
        """A text of this library, taken apart. Raises UnusableInput."""
        if source.name not in self.parts:
            self.parts[source.name] = part_of(source)
        return self.parts[source.name]
