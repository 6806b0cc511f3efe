"""Keys and defaults of a configuration in a release; references among them are resolved."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Mapping

from ..findings.span import Span
from ..record import dataclass
from ..releases.configurations import ReleaseConfiguration
from ..releases.release import UNSTORED_VALUE
from ..text.interpolation import as_scalar
from ..text.nearest import SLIP, closest, distance
from ..text.tree import Unknown, Value
from .settings import Default

_REFERENCE = re.compile(r"\$\{\s*(?:oc\.select:\s*)?(\.*)([\w.]+)\s*(?:,([^${}]*))?\}")
_KINDS = frozenset({"tensor", "pipeline", "data", "expert", "context", "sequence"})
_DEGREE = re.compile("[tpdec]p(_size)?")
SHORT = 5
"""Maximum length of names of which many sections have one, such as `path` or `name`."""
ONE_SLIP = 6
"""Maximum length of names with a limit of a single wrong letter."""
_WORDS = {"null": None, "none": None, "true": True, "false": False, "": None}


@dataclass(frozen=True)
class Table:
    """Configuration in a release, with the group options of the command line.

    Attributes
    ----------
    same : key -> key, or section, to which its default refers.
    keys : all keys; a key in neither `defaults` nor `same` has an unknown value.
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

    def value_of(self, span: Span, changes: Mapping[str, int], path: str) -> Value | str | None:
        """Return a default, placed at a span, or its key; see `Interpolator.default_of`."""
        owners = [path[: match.start()] for match in re.finditer(r"\.|$", path)] if path not in self.keys else [path]
        in_value = any(owner in self.keys and owner not in self.defaults for owner in owners)
        if not self.has(path) and not in_value:
            return None
        if owner := next((owner for owner in owners if owner in self.same), ""):
            return f"{self.same[owner]}{path.removeprefix(owner)}"
        if path in changes:
            return as_scalar(changes[path], span)
        if path not in self.defaults:
            raise Unknown(f"`{path}` is not written, and its default is not known")
        return as_scalar(self.defaults[path].value, span)

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


def make_table(name: str, tree: ReleaseConfiguration, source: str, choices: tuple[tuple[str, str | None], ...] = ()) -> Table:
    """Build the table of a configuration; `source` is that of the defaults."""
    values, same = dict[str, Any](), dict[str, str]()
    for key, value in tree.keys.items():
        if isinstance(value, str) and "${" in value:
            _follow(key, value, tree.keys, values, same)
        elif value is not UNSTORED_VALUE and not isinstance(value, dict):
            # YAML reads `None` as a text; the frameworks mean null.
            values[key] = None if value == "None" else value
    defaults = {key: Default(value, source) for key, value in values.items()}
    return Table(name, defaults, same, tree.keys, tree.made, frozenset(tree.open), choices)


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


def correct_key(table: Table, key: str, names_elsewhere: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the probable key for a wrong key; "" if none is similar.

    `names_elsewhere` maps keys of other programs to keys of the same meaning.
    """
    if names_elsewhere.get(key) in table.keys:
        return names_elsewhere[key]
    path, rest = "", key.split(".")
    while rest:
        names = [name for name in table.sections.get(path, {}) if rest[1:] or f"{path}.{name}" not in table.sections]
        similar = [candidate for candidate in names if _may_be_meant(rest[0], candidate)]
        close = rest[0] if rest[0] in names else closest(rest[0], similar) or closest(rest[0].replace("num_", "n"), similar)
        # The only name that the wrong one begins or goes on with, such as `n_gpus_per_node` for `num_gpu`.
        start, short = rest[0].replace("num_", "n_"), _DEGREE.fullmatch(rest[0])
        suffixes = {name: start.removeprefix(name) if start.startswith(name) else "" for name in names}
        longer = [name for name in names if len(start) > SLIP and (name.startswith(start) or suffixes[name].isalpha())]
        degrees = [name for name in names if short and name[0] == start[0] and "_parallel_" in name]
        close = close or (longer[0] if len(longer) == 1 else next(iter(degrees), None))
        if close is None:
            break
        path, rest = f"{path}.{close}".lstrip("."), rest[1:]
    if not rest and path != key:
        return path
    last, sections = key.rpartition(".")[2], set(key.split("."))
    same = [candidate for candidate in table.keys if candidate.endswith(f".{key}")]
    if not same:
        same = [candidate for candidate in table.keys if candidate.rpartition(".")[2] == last]
        relatives = [candidate for candidate in same if len(sections.intersection(candidate.split("."))) > 1]
        same = relatives or (same if len(same) == 1 and len(last) > SHORT else [])

    def rank(candidate: str) -> tuple[int, int]:
        return -len(sections.intersection(candidate.split("."))), distance(key, candidate)

    return min(same, key=rank, default="")


def find_neighbour(table: Table, key: str) -> str:
    """Return a similar key of the same section; "" if none."""
    owner, _, name = key.rpartition(".")
    close = closest(name, table.sections.get(owner, {}), SLIP if len(name) > ONE_SLIP else 1)
    if close is None:
        return ""
    # A difference of a whole word, or of a number, is not a misspelling.
    words = name.count("_") != close.count("_")
    slip = not words or distance(name.replace("_", ""), close.replace("_", "")) < SLIP
    return f"{owner}.{close}".lstrip(".") if slip else ""


def _may_be_meant(name: str, candidate: str) -> bool:
    """Return False for a key of other parallel ranks, or of half the length."""
    first, second = (_KINDS.intersection(key.split("_")) for key in (name, candidate))
    return (not first or not second or first == second) and 2 * len(candidate) >= len(name)
