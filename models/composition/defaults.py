"""Entries of a `defaults` list, their options and their places in the tree.

Sources in Hydra:

- choices: hydra/_internal/defaults_list.py (Overrides)
- forms: hydra/_internal/config_repository.py (_create_defaults_list), hydra/core/default_element.py
- packages: hydra/core/default_element.py (with `version_base` 1.1, which RLinf's programs declare)
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Iterator, Union

from ..findings.finding import Finding, error
from ..findings.span import Span
from ..record import dataclass
from ..text.interpolation_text import holds_interpolation
from ..text.nearest import nearest
from ..text.tree import ListNode, MapNode, Scalar, Value, kind_of

Option = Union[str, tuple[str, ...], None]
SELF = "_self_"
_FORMS = "an entry is `group/option`, `group/option@package`, `group: option`, `override group: option` or `_self_`"
GLOBAL = "_global_"
_HEADER_SIZE = 512
_HEADER = re.compile(r"#\s*@package\s+(\S+)\s*")


@dataclass
class GroupChoice:
    """Option that replaces the option in a list of defaults; `code` if no entry matches."""

    option: Option
    span: Span
    code: str = "PW013"
    used: bool = False


@dataclass
class GroupChoices:
    """Choices of one walk.

    Attributes
    ----------
    overrides : by the key of a node (see `DefaultsNode.key`); the first choice wins.
    deletions : by the key of a node; deletes an entry with the option of the Choice, or with any
        option if that is None.
    made : final option by key.
    ends : keys of chosen texts without a `defaults` list.
    """

    overrides: dict[str, GroupChoice] = field(default_factory=dict)
    deletions: dict[str, GroupChoice] = field(default_factory=dict)
    made: dict[str, Option] = field(default_factory=dict)
    ends: set[str] = field(default_factory=set)

    def override(self, node: DefaultsNode) -> None:
        """Record an `override` entry of a list of defaults."""
        if not node.group.startswith("hydra/"):
            self.overrides.setdefault(node.key, GroupChoice(node.entry.option, node.entry.span))

    def choose(self, node: DefaultsNode) -> DefaultsNode:
        """Return the node with the option chosen for it."""
        choice = self.overrides.get(node.key) if node.entry.keyed else None
        if choice is None:
            return node
        choice.used = True
        return replace(node, entry=replace(node.entry, option=choice.option, span=choice.span))

    def is_deleted(self, node: DefaultsNode) -> bool:
        """Return True if the command line deletes the node."""
        choice = self.deletions.get(node.key) if node.entry.keyed else None
        if choice is None or choice.option not in (None, node.entry.option):
            return False
        choice.used = True
        return True

    def record_option(self, node: DefaultsNode) -> Finding | None:
        """Record the option of a node; return a Finding if it contradicts the group's option."""
        key, option = node.key, node.entry.option
        if not node.entry.keyed:
            return None
        if self.made.setdefault(key, option) == option:
            return None
        message = f"`{key}` is chosen twice, once as `{self.made[key]}` and once as `{option}`, which Hydra refuses"
        help_ = f"write `override {key}: {option}` to replace a choice that is made elsewhere"
        return error("PW013", "", message, node.entry.span, label="chosen again", help=help_)

    def record_leaf(self, node: DefaultsNode) -> Finding | None:
        """Record a node without defaults; return a Finding if the group repeats."""
        if not node.entry.keyed:
            return None
        if node.key not in self.ends or self.made.get(node.key) != node.entry.option:
            self.ends.add(node.key)
            return None
        message = f"`{node.key}` is chosen twice, which Hydra refuses"
        return error("PW013", "", message, node.entry.span, label="chosen again", help="remove one of the two")

    def find_unused(self) -> Iterator[Finding]:
        """Yield a Finding for every override or deletion without a matching entry."""
        for action, choices in (("overridden", self.overrides), ("taken out", self.deletions)):
            for key, choice in choices.items():
                if not choice.used:
                    same_group = [known_key for known_key in self.made if known_key.split("@")[0] == key.split("@")[0]]
                    close = same_group[0] if same_group else nearest(key, self.made)
                    message = f"there is no `{key}` in the list of defaults that could be {action}"
                    help_ = f"write `{close}`" if close else "only `group: option` entries can be; `group/option` cannot"
                    yield error(choice.code, "", message, choice.span, label="nothing of this name", help=help_)


@dataclass(frozen=True, slots=True)
class DefaultsEntry:
    """Entry of a `defaults` list: `group/option@package` or `group@package: option`.

    Only the second form, a map, can be overridden.

    Attributes
    ----------
    group : the group as written; for a word, everything before its last `/`, else "".
    option : name of the text in the group; None if nothing is chosen, a tuple for a list of names.
    keyed : True for a map.
    package : text after `@`; None without `@`.
    appended : True if the command line added the entry.
    """

    group: str
    option: str | tuple[str, ...] | None
    span: Span
    keyed: bool = False
    package: str | None = None
    optional: bool = False
    override: bool = False
    appended: bool = False

    @property
    def is_self(self) -> bool:
        """True if the entry stands for the content of its own file (`_self_`)."""
        return self.option == SELF and not self.group

    @property
    def interpolated(self) -> bool:
        """True if the group or the option depends on other choices."""
        return isinstance(self.option, str) and holds_interpolation(f"{'' if self.keyed else self.group}{self.option}")

    def choosing(self, option: str | tuple[str, ...] | None) -> DefaultsEntry:
        """Return a copy with another option."""
        return replace(self, option=option)


def word(text: str, span: Span) -> DefaultsEntry:
    """Parse a word such as ``env/libero@env.train``."""
    path, _, package = text.partition("@")
    group, slash, name = path.rpartition("/")
    return DefaultsEntry(group or slash, name, span, package=_package(package) if "@" in text else None)


def read_entries(defaults: Value | None, findings: list[Finding]) -> list[DefaultsEntry]:
    """Parse a `defaults` list; an invalid entry is dropped and reported in `findings`."""
    if defaults is None:
        return []
    if not isinstance(defaults, ListNode):
        findings.append(_build_error(f"`defaults` must be a list, but it is {kind_of(defaults)}", defaults))
        return []
    return [entry for item in defaults.items if (entry := _read(item, findings)) is not None]


def _read(item: Value, findings: list[Finding]) -> DefaultsEntry | None:
    if isinstance(item, Scalar) and isinstance(item.value, str):
        entry = word(item.text, item.span)
        if entry.is_self and entry.package is not None:
            findings.append(_build_error("`_self_` is in its own package and takes no other", item))
            return None
        return entry
    if isinstance(item, MapNode):
        pairs = [pair for pair in item if pair.key.text != "optional" or len(item.entries) == 1]
        if len(pairs) == 1:
            key, value, flag = pairs[0].key.text, pairs[0].value, item.get("optional") if len(item.entries) > 1 else None
            if (option := option_of(value)) is None and not (isinstance(value, Scalar) and value.is_null):
                findings.append(_build_error(f"what `{key}` chooses must be a name or a list of names, but it is {kind_of(value)}", value))
                return None
            key_text, _, package = key.partition("@")
            *keywords, group = key_text.split(" ")
            entry = DefaultsEntry(group, option, item.span, True, _package(package) if "@" in key else None)
            is_optional = "optional" in keywords or (isinstance(flag, Scalar) and flag.value is True)
            return replace(entry, optional=is_optional, override="override" in keywords)
        findings.append(_build_error(f"an entry of `defaults` must have one key, but this one has {len(item.entries)}", item))
        return None
    findings.append(_build_error(f"an entry of `defaults` must be a word or a map, but it is {kind_of(item)}", item))
    return None


def option_of(value: Value | None) -> Option:
    """Return the option or options that a value names; None for other values."""
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return value.text
    if isinstance(value, ListNode) and all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
        return tuple(item.text for item in value.items if isinstance(item, Scalar))
    return None


def _package(text: str) -> str:
    name = text.partition(":")[0]
    return "" if name == "_here_" else name


def _build_error(message: str, at: Value) -> Finding:
    return error("PW013", "", message, at.span, label=kind_of(at), help=_FORMS)


@dataclass(frozen=True, slots=True)
class DefaultsNode:
    """Entry at its place in the tree of defaults.

    `base`, `parent_package`: group and package of the text with the `defaults` list. `header`:
    package in the `@package` header of the entry's own text.
    """

    entry: DefaultsEntry
    base: str = ""
    parent_package: str = ""
    header: str | None = None

    @property
    def group(self) -> str:
        """Group of the text, from the top of the configuration."""
        group = self.entry.group
        if group.startswith("/"):
            return group[1:]
        return "/".join(part for part in (self.base, group) if part)

    @property
    def path(self) -> str:
        """Path of the text below a folder of configurations, without extension."""
        return "/".join(part for part in (self.group, str(self.entry.option)) if part)

    @property
    def package(self) -> str:
        """Dotted path where the content of the text goes; "" for the top."""
        return self._package(self.header)

    @property
    def key(self) -> str:
        """Name of the node in overrides: the group, with the package unless implied."""
        package = self._package(None)
        return self.group if package == self._own else f"{self.group}@{package or GLOBAL}"

    @property
    def _own(self) -> str:
        return self.group.replace("/", ".")

    def _package(self, header: str | None) -> str:
        package = self.entry.package
        if package is not None and "_group_" in package:
            package = f"{GLOBAL}.{package.replace('_group_', self._own)}"
        relative = package if package is not None else self._header_package(header)
        if relative is None:
            relative = self.entry.group.removeprefix("/").replace("/", ".")
        if isinstance(self.entry.option, str):
            relative = relative.replace("_name_", self.entry.option)
        whole = ".".join(part for part in (self.parent_package, relative) if part)
        start = whole.rfind(GLOBAL)
        return whole if start < 0 else whole[start + len(GLOBAL) + 1 :]

    def _header_package(self, header: str | None) -> str | None:
        if header is None or header == "_group_":
            return None
        absolute = header if header.split(".")[0] == GLOBAL else f"{GLOBAL}.{header}"
        return absolute.replace("_group_", self._own)


def package_header(text: str) -> str | None:
    """Return the package of a `# @package NAME` comment at the head of a text, or None."""
    for line in text[:_HEADER_SIZE].splitlines():
        line = line.strip()
        if match := _HEADER.fullmatch(line):
            return match[1]
        if line and not re.match(r"#\s*@", line):
            return None
    return None
