"""Configurations of a framework in every release: their keys with defaults, and what other options of their groups change.

Data, all in one folder: ``configurations.json`` lists them by name; one that changes another (its ``base``) stands there whole, of the others
``NAME.json`` holds the keys and ``NAME.options.json`` what other options change. Every line is a key with its runs, see `runs`.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Container, Iterator, Mapping

from ..record import dataclass
from .release import REMOVED, Releases


@dataclass
class Composed:
    """One configuration in one release.

    Attributes
    ----------
    keys : dotted key -> default.
    made : group -> its option.
    open : dotted paths below which nothing is known, since the option of their group is unknown; "" for the whole.
    """

    keys: dict[str, Any]
    made: dict[str, str]
    open: set[str] = field(default_factory=set)


class Configurations:
    """All configurations of a data folder; each file is read once, when it is first asked for."""

    def __init__(self, folder: Path, releases: Releases) -> None:
        self.folder = folder
        self.releases = releases
        self._files: dict[str, dict[str, Any]] = {}
        self._kept_known_in = lru_cache(maxsize=4096)(self._known_in)

    @cached_property
    def index(self) -> Mapping[str, Mapping[str, Any]]:
        """Every configuration by name."""
        return self._file("configurations")

    def mask(self, name: str) -> int:
        """Bits of the releases that have a configuration."""
        return self.releases.mask(self.index[name]["releases"]) if name in self.index else 0

    def compose(self, name: str, release: int, chosen: Mapping[str, str | None] | None = None) -> Composed | None:
        """Configuration in a release with some options chosen, None for an unknown one; None where the release lacks it."""
        entry = self.index.get(name)
        if entry is None or not self.releases.has(entry["releases"], release):
            return None
        base, own = entry.get("base"), self.releases.chosen(entry.get("choices", {}), release)
        if not base:
            return self._root(name, release, chosen or {})
        implied = self._implied(base, chosen) if chosen else set()
        lacking = {group for group, option in own.items() if option is REMOVED}
        made = {**{group: option for group, option in own.items() if group not in implied}, **(chosen or {})}
        made = {group: option for group, option in made.items() if group not in lacking}
        found = self.compose(base, release, made) or Composed({}, {})
        found.made = {group: option for group, option in found.made.items() if group not in lacking}
        change(found.keys, self.releases.chosen(entry["keys"], release))
        return found

    def path(self, name: str, release: int) -> str:
        """File of a configuration in a release."""
        return next((run[2] for run in self.index[name]["paths"] if self.releases.covers(run, release)), "")

    def options(self, name: str, release: int) -> list[str]:
        """Choices of one that changes no other, as ``group=option``, that a release has."""
        options: Mapping[str, Mapping[str, Any]] = self._file(f"{name}.options")
        return [choice for choice, its in options.items() if self.releases.has(its["releases"], release)]

    def groups(self, name: str) -> dict[str, int]:
        """Groups whose option can be chosen -> bits of the releases that have them."""
        entry = self.index.get(name, {})
        found = self.groups(entry["base"]) if entry.get("base") else {}
        for group, runs in entry.get("choices", {}).items():
            without = self.releases.mask([run for run in runs if len(run) == 4])
            found[group] = (found.get(group, 0) | self.releases.mask(runs)) & ~without
        return found

    def known_in(self, name: str, key: str) -> int:
        """Bits of the releases in which a configuration has a key, or keys below it, with some options or others."""
        return self._kept_known_in(name, key)

    def _known_in(self, name: str, key: str) -> int:
        every, newest = self.mask(name), len(self.releases.names) - 1
        found, tables = 0, []
        for table, mask in self._tables(name):
            tables.append((table, mask))
            found |= self.releases.mask([run for run in table.get(key, ()) if len(run) < 4]) & mask
            if found >> newest & 1:  # what other options have besides matters where the newest release seems to lack it
                return found & every
        inside = f"{key}."
        for table, mask in tables if not found else ():
            for each, runs in table.items():
                if each.startswith(inside):
                    found |= self.releases.mask([run for run in runs if len(run) < 4]) & mask
        return found & every

    def valued_in(self, name: str, key: str) -> int:
        """Bits of the releases in which a key has a default that is not null, or keys below it, with the usual options."""
        entry, found = self.index.get(name), 0
        if entry is None:
            return 0
        own = entry["keys"] if entry.get("base") else self._file(name)["keys"]
        runs = own.get(key, ())
        if entry.get("base"):
            found = self.valued_in(entry["base"], key) & ~self.releases.mask(runs)
        found |= self.releases.mask([run for run in runs if len(run) < 4 and (len(run) == 2 or run[2] is not None)])
        return found & self.mask(name)

    def option_in(self, name: str, group: str, option: str) -> int:
        """Bits of the releases in which a group has an option."""
        entry = self.index.get(name, {})
        found = self.option_in(entry["base"], group, option) if entry.get("base") else 0
        found |= self.releases.mask([run for run in entry.get("choices", {}).get(group, ()) if len(run) == 3 and run[2] == option])
        options: Mapping[str, Mapping[str, Any]] = {} if entry.get("base") else self._file(f"{name}.options")
        return found | self.releases.mask(options.get(f"{group}={option}", {}).get("releases", ()))

    def options_of(self, name: str, group: str) -> list[str]:
        """Options of a group in any release, by name."""
        entry = self.index.get(name, {})
        found = self.options_of(entry["base"], group) if entry.get("base") else []
        found += [run[2] for run in entry.get("choices", {}).get(group, ()) if len(run) == 3]
        options: Mapping[str, Mapping[str, Any]] = {} if entry.get("base") else self._file(f"{name}.options")
        return sorted({*found, *(choice.partition("=")[2] for choice in options if choice.startswith(f"{group}="))})

    def options_with(self, name: str, release: int, key: str) -> list[str]:
        """What makes a release have a key: ``group=option``, the group that implies others first."""
        base = self.index.get(name, {}).get("base")
        if base:
            return self.options_with(base, release, key)
        options: Mapping[str, Mapping[str, Any]] = self._file(f"{name}.options")
        there = {each: its for each, its in options.items() if self.releases.has(its["releases"], release)}
        found = [each for each, its in there.items() if key in self.releases.chosen(its["keys"], release)]
        found = [each for each in found if self.releases.chosen(options[each]["keys"], release)[key] is not REMOVED]
        implying = [
            each for each, its in there.items()
            if any(f"{group}={option}" in found for group, option in self.releases.chosen(its.get("choices", {}), release).items())
        ]  # fmt: skip
        return [*implying, *found]

    def _tables(self, name: str) -> Iterator[tuple[Mapping[str, Any], int]]:
        """Tables that the keys of a configuration come from, each with the bits of the releases that it is for."""
        entry = self.index.get(name)
        if entry is None:
            return
        if entry.get("base"):
            yield entry["keys"], self.mask(name)
            yield from self._tables(entry["base"])
            return
        yield self._file(name)["keys"], self.mask(name)
        options: Mapping[str, Mapping[str, Any]] = self._file(f"{name}.options") if entry.get("choices") else {}
        for option in options.values():
            yield option["keys"], self.releases.mask(option["releases"])

    def _implied(self, name: str, groups: Container[str]) -> set[str]:
        """Groups whose option follows from that of one of some groups."""
        base = self.index[name].get("base")
        if base:
            return self._implied(base, groups)
        options: Mapping[str, Mapping[str, Any]] = self._file(f"{name}.options")
        return {each for choice, its in options.items() if choice.partition("=")[0] in groups for each in its.get("choices", ())}

    def _root(self, name: str, release: int, chosen: Mapping[str, str | None]) -> Composed:
        """One that changes no other."""
        entry, releases = self.index[name], self.releases
        found = Composed(releases.chosen(self._file(name)["keys"], release), releases.chosen(entry.get("choices", {}), release))
        wanted = {group: option for group, option in chosen.items() if found.made.get(group, option) != option}
        if not wanted:
            return found
        options: Mapping[str, Mapping[str, Any]] = self._file(f"{name}.options")
        implied: dict[str, str | None] = {}
        for group, option in wanted.items():
            its = options.get(f"{group}={option}")
            if its is None or not releases.has(its["releases"], release):
                found.open.add(package_of(group))
            else:
                implied.update(releases.chosen(its.get("choices", {}), release))
        steps = {group: option for group, option in implied.items() if group not in chosen}
        for group, option in {**steps, **wanted}.items():
            its = options.get(f"{group}={option}")
            if its is not None and option is not None and found.made.get(group) != option:
                change(found.keys, releases.chosen(its["keys"], release))
                found.made[group] = option
        return found

    def _file(self, name: str) -> dict[str, Any]:
        if name not in self._files:
            path = self.folder / f"{name}.json"
            self._files[name] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return self._files[name]


def change(keys: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Make changes in a table of keys."""
    for key, value in changes.items():
        if value is REMOVED:
            keys.pop(key, None)
        else:
            keys[key] = value


def package_of(group: str) -> str:
    """Path that a group fills: what follows its ``@``, else its name; "" for one that chooses others."""
    name, _, package = group.partition("@")
    return package or ("" if name.endswith("_engine") else name.replace("/", "."))
