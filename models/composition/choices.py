"""Which option each group has: as written, overridden in a list of defaults, or chosen on the command line.

Source: Hydra, hydra/_internal/defaults_list.py (Overrides).
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterator, Union

from ..findings.finding import Finding, error
from ..findings.span import Span
from ..record import dataclass
from ..text.nearest import nearest
from .node import Node

Option = Union[str, tuple[str, ...], None]


@dataclass
class Choice:
    """An option that replaces the written one; the span is where it is chosen, the code what is wrong if that is in vain."""

    option: Option
    span: Span
    code: str = "PW013"
    used: bool = False


@dataclass
class Choices:
    """The choices of one walk.

    Attributes
    ----------
    overrides : by the key of a node (see `Node.key`); who comes first is right.
    deletions : by the key of a node; the option of a Choice is what must be chosen there, None for anything.
    made : what was chosen in the end.
    ends : the keys of chosen texts that have no defaults of their own.
    """

    overrides: dict[str, Choice] = field(default_factory=dict)
    deletions: dict[str, Choice] = field(default_factory=dict)
    made: dict[str, Option] = field(default_factory=dict)
    ends: set[str] = field(default_factory=set)

    def override(self, node: Node) -> None:
        """Note an `override` entry of a list of defaults."""
        if not node.group.startswith("hydra/"):
            self.overrides.setdefault(node.key, Choice(node.entry.option, node.entry.span))

    def chosen(self, node: Node) -> Node:
        """The node with the option that is chosen for it."""
        choice = self.overrides.get(node.key) if node.entry.keyed else None
        if choice is None:
            return node
        choice.used = True
        return replace(node, entry=replace(node.entry, option=choice.option, span=choice.span))

    def deleted(self, node: Node) -> bool:
        """Is it taken out on the command line?"""
        choice = self.deletions.get(node.key) if node.entry.keyed else None
        if choice is None or choice.option not in (None, node.entry.option):
            return False
        choice.used = True
        return True

    def known(self, node: Node) -> Finding | None:
        """Notes what a node chooses; a Finding if its group has another choice already."""
        key, option = node.key, node.entry.option
        if not node.entry.keyed:
            return None
        if self.made.setdefault(key, option) == option:
            return None
        message = f"`{key}` is chosen twice, once as `{self.made[key]}` and once as `{option}`, which Hydra refuses"
        help_ = f"write `override {key}: {option}` to replace a choice that is made elsewhere"
        return error("PW013", "", message, node.entry.span, label="chosen again", help=help_)

    def listed(self, node: Node) -> Finding | None:
        """Notes a node that has no defaults of its own; a Finding if its group has such a one already."""
        if not node.entry.keyed:
            return None
        if node.key not in self.ends or self.made.get(node.key) != node.entry.option:
            self.ends.add(node.key)
            return None
        message = f"`{node.key}` is chosen twice, which Hydra refuses"
        return error("PW013", "", message, node.entry.span, label="chosen again", help="remove one of the two")

    def unused(self) -> Iterator[Finding]:
        """A Finding for everything that was to replace or take out what is not there."""
        for what, choices in (("overridden", self.overrides), ("taken out", self.deletions)):
            for key, choice in choices.items():
                if not choice.used:
                    same = [made for made in self.made if made.split("@")[0] == key.split("@")[0]]
                    close = same[0] if same else nearest(key, self.made)
                    message = f"there is no `{key}` in the list of defaults that could be {what}"
                    help_ = f"write `{close}`" if close else "only `group: option` entries can be; `group/option` cannot"
                    yield error(choice.code, "", message, choice.span, label="nothing of this name", help=help_)
