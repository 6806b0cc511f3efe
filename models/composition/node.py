"""An entry at its place in the tree of defaults: where its text is looked up, and under which package it is merged.

Source of the rules: Hydra, hydra/core/default_element.py (with `version_base` 1.1, which RLinf's programs declare).
"""

from __future__ import annotations

import re

from ..record import dataclass
from .entry import Entry

GLOBAL = "_global_"
_HEADER_SIZE = 512
_HEADER = re.compile(r"#\s*@package\s+(\S+)\s*")


@dataclass(frozen=True, slots=True)
class Node:
    """An entry below the group and the package of the text that it stands in; `header` is the package that its own text asks for."""

    entry: Entry
    base: str = ""
    parent_package: str = ""
    header: str | None = None

    @property
    def group(self) -> str:
        """The group of its text, from the top of the configuration."""
        written = self.entry.group
        if written.startswith("/"):
            return written[1:]
        return "/".join(part for part in (self.base, written) if part)

    @property
    def path(self) -> str:
        """The path of its text below a folder of configurations, without its ending."""
        return "/".join(part for part in (self.group, str(self.entry.option)) if part)

    @property
    def package(self) -> str:
        """Where the content of its text goes: a dotted path, "" for the top."""
        return self._package(self.header)

    @property
    def key(self) -> str:
        """By what an override names it: its group, with its package where that is another than the group's own."""
        package = self._package(None)
        return self.group if package == self._own else f"{self.group}@{package or GLOBAL}"

    @property
    def _own(self) -> str:
        return self.group.replace("/", ".")

    def _package(self, header: str | None) -> str:
        written = self.entry.package
        if written is not None and "_group_" in written:
            written = f"{GLOBAL}.{written.replace('_group_', self._own)}"
        asked = written if written is not None else self._of_header(header)
        if asked is None:
            asked = self.entry.group.removeprefix("/").replace("/", ".")
        if isinstance(self.entry.option, str):
            asked = asked.replace("_name_", self.entry.option)
        whole = ".".join(part for part in (self.parent_package, asked) if part)
        found = whole.rfind(GLOBAL)
        return whole if found < 0 else whole[found + len(GLOBAL) + 1 :]

    def _of_header(self, header: str | None) -> str | None:
        if header is None or header == "_group_":
            return None
        absolute = header if header.split(".")[0] == GLOBAL else f"{GLOBAL}.{header}"
        return absolute.replace("_group_", self._own)


def package_header(text: str) -> str | None:
    """The package of a `# @package NAME` comment at the head of a text; None if there is none."""
    for line in text[:_HEADER_SIZE].splitlines():
        line = line.strip()
        if found := _HEADER.fullmatch(line):
            return found[1]
        if line and not re.match(r"#\s*@", line):
            return None
    return None
