"""Keys and defaults of a configuration in a release; references among them are resolved."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from typing import Any, Mapping

from ..record import dataclass
from ..releases.configurations import ReleaseConfiguration
from ..releases.release import UNSTORED_VALUE
from .settings import Default

_REFERENCE = re.compile(r"\$\{\s*(?:oc\.select:\s*)?(\.*)([\w.]+)\s*(?:,([^${}]*))?\}")
_WORDS = {"null": None, "none": None, "true": True, "false": False, "": None}


@dataclass(frozen=True)
class Table:
    """Configuration in a release, with the group options of the command line.

    Attributes
    ----------
    name : configuration.
    defaults : values by dotted path.
    same : key -> key, or section, to which its default refers.
    keys : all keys; a key in neither `defaults` nor `same` has an unknown value.
    groups : group -> option.
    open : paths below which nothing is known, as the option of a group is unknown; "" for all.
    chosen : group -> option that the command line chooses, None if unknown.
    """

    name: str
    defaults: Mapping[str, Default] = field(repr=False)
    same: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: Mapping[str, Any] = field(default_factory=dict, repr=False)
    groups: Mapping[str, str] = field(default_factory=dict, repr=False)
    open: frozenset[str] = frozenset()
    chosen: tuple[tuple[str, str | None], ...] = ()

    def has(self, path: str) -> bool:
        """Return True if there is a key or a section of this name."""
        return path in self.keys or path in self.sections or self.is_open(path)

    def is_open(self, path: str) -> bool:
        """Return True if the keys at a path are unknown."""
        return any(not open_path or path == open_path or path.startswith(f"{open_path}.") for open_path in self.open)

    @cached_property
    def sections(self) -> Mapping[str, dict[str, None]]:
        """Section -> names in the section; "" for the top."""
        by_section: dict[str, dict[str, None]] = {"": {}}
        for path in self.keys:
            while path:
                owner, _, name = path.rpartition(".")
                is_known = name in by_section.setdefault(owner, {})
                by_section[owner][name] = None
                if is_known:
                    break
                path = owner
        return by_section


def make_table(name: str, tree: ReleaseConfiguration, source: str, chosen: tuple[tuple[str, str | None], ...] = ()) -> Table:
    """Build the table of a configuration; `source` is that of the defaults."""
    values, same = dict[str, Any](), dict[str, str]()
    for key, value in tree.keys.items():
        if isinstance(value, str) and "${" in value:
            _follow(key, value, tree.keys, values, same)
        elif value is not UNSTORED_VALUE and not isinstance(value, dict):
            # YAML reads `None` as a text; the frameworks mean null.
            values[key] = None if value == "None" else value
    defaults = {key: Default(value, source) for key, value in values.items()}
    return Table(name, defaults, same, tree.keys, tree.made, frozenset(tree.open), chosen)


def _follow(key: str, text: str, keys: Mapping[str, Any], values: dict[str, Any], same: dict[str, str]) -> None:
    """Resolve a default with a reference: to another key, else to the literal fallback."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return
    target = match[2]
    if match[1]:
        owner = key.split(".")[: -len(match[1])]
        target = ".".join([*owner, target])
    if target in keys or any(path.startswith(f"{target}.") for path in keys):
        same[key] = target
    elif match[3] is not None:
        word = match[3].strip().strip("'\"")
        values[key] = _WORDS.get(word.lower(), int(word) if re.fullmatch(r"-?\d+", word) else word)
