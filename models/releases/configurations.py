"""Configurations of a framework by release: keys with defaults, and effects of options.

All data is in one folder. ``configurations.json`` lists the configurations by name. A configuration
that changes another (its ``base``) stands there whole; for the others, ``NAME.json`` has the keys
and ``NAME.options.json`` the changes by other options. Every line is a key with its runs, see
`release.py`.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import cached_property, lru_cache, reduce
from operator import or_
from pathlib import Path
from typing import Any, Iterator, Mapping

from ..record import dataclass
from .release import REMOVED, Releases


@dataclass
class ReleaseConfiguration:
    """Configuration in one release.

    Attributes
    ----------
    keys : dotted key -> default.
    made : group -> its option.
    open : dotted paths with unknown content, because the option of their group is unknown; "" for
        the whole.
    """

    keys: dict[str, Any]
    made: dict[str, str]
    open: set[str] = field(default_factory=set)


class Configurations:
    """All configurations of a data folder; files are read on first use."""

    def __init__(self, folder: Path, releases: Releases) -> None:
        self.folder = folder
        self.releases = releases
        self._files: dict[str, dict[str, Any]] = {}
        self._cached_known_in = lru_cache(maxsize=4096)(self._find_releases)

    @cached_property
    def index(self) -> Mapping[str, Mapping[str, Any]]:
        """Entries of all configurations by name."""
        return self._file("configurations")

    def mask(self, name: str) -> int:
        """Return the bits of the releases that have a configuration."""
        return self.releases.mask(self.index[name]["releases"]) if name in self.index else 0

    def compose(self, name: str, release: int, options_set: Mapping[str, str | None] | None = None) -> ReleaseConfiguration | None:
        """Build a configuration in a release, or None; `options_set` options are None if unknown."""
        entry = self.index.get(name)
        if entry is None or not self.releases.has(entry["releases"], release):
            return None
        base, choices, all_options = entry.get("base"), self.releases.select(entry.get("choices", {}), release), options_set or {}
        if not base:
            return self._root(name, release, all_options)
        # Groups whose option is implied by an option of the command line.
        implying = (
            [facts for choice, facts in self._options(name).items() if choice.partition("=")[0] in all_options] if all_options else []
        )
        implied_groups = {group for facts in implying for group in facts.get("choices", ())}
        lacking = {group for group, option in choices.items() if option is REMOVED}
        options = {**{group: option for group, option in choices.items() if group not in implied_groups}, **all_options}
        options = {group: option for group, option in options.items() if group not in lacking}
        configuration = self.compose(base, release, options) or ReleaseConfiguration({}, {})
        configuration.made = {group: option for group, option in configuration.made.items() if group not in lacking}
        change(configuration.keys, self.releases.select(entry["keys"], release))
        return configuration

    def path(self, name: str, release: int) -> str:
        """Return the file of a configuration in a release."""
        return next((run[2] for run in self.index[name]["paths"] if self.releases.covers(run, release)), "")

    def options(self, name: str, release: int) -> list[str]:
        """Return the choices of a configuration in a release, as ``group=option``."""
        return [choice for choice, facts in self._options(name).items() if self.releases.has(facts["releases"], release)]

    def groups(self, name: str) -> dict[str, int]:
        """Map groups with a choice of options to the bits of their releases."""
        masks: dict[str, int] = {}
        for entry in reversed(self._chain(name)):
            for group, runs in entry.get("choices", {}).items():
                without = self.releases.mask([run for run in runs if len(run) == 4])
                masks[group] = (masks.get(group, 0) | self.releases.mask(runs)) & ~without
        return masks

    def find_releases(self, name: str, key: str) -> int:
        """Return the bits of the releases with a key, or keys below, under any options."""
        return self._cached_known_in(name, key)

    def find_valued(self, name: str, key: str) -> int:
        """Return the bits of the releases with a non-null default for a key."""
        return self._find_exactly(name, key, with_value=True)

    def _find_releases(self, name: str, key: str) -> int:
        releases, prefix = self._find_exactly(name, key), f"{key}."
        below = {path for table in self._tables(name) for path in table if path.startswith(prefix)} if releases != self.mask(name) else ()
        return reduce(or_, (self._find_exactly(name, path) for path in below), releases)

    def _find_exactly(self, name: str, key: str, with_value: bool = False) -> int:
        entry, mask = self.index.get(name), self.releases.mask
        if entry is None:
            return 0
        runs = (entry if entry.get("base") else self._file(name))["keys"].get(key, ())
        known_releases = mask([run for run in runs if len(run) < 4 and not (with_value and run[2:] == [None])])
        if entry.get("base"):
            known_releases |= self._find_exactly(entry["base"], key, with_value) & ~mask(runs)
        elif not with_value and known_releases != self.mask(name):
            for option in self._options(name).values():
                known_releases |= mask([run for run in option["keys"].get(key, ()) if len(run) < 4]) & mask(option["releases"])
        return known_releases & self.mask(name)

    def option_in(self, name: str, group: str, option: str) -> int:
        """Return the bits of the releases in which a group has an option."""
        runs = [run for entry in self._chain(name) for run in entry.get("choices", {}).get(group, ()) if run[2:] == [option]]
        return self.releases.mask([*runs, *self._options(name).get(f"{group}={option}", {}).get("releases", ())])

    def options_of(self, name: str, group: str) -> list[str]:
        """Return the options of a group in any release, sorted by name."""
        names = {run[2] for entry in self._chain(name) for run in entry.get("choices", {}).get(group, ()) if len(run) == 3}
        return sorted(names | {choice.partition("=")[2] for choice in self._options(name) if choice.startswith(f"{group}=")})

    def options_with(self, name: str, release: int, key: str) -> list[str]:
        """Return the choices (``group=option``) that give a release a key, implying ones first."""
        options = self._options(name)
        facts_by_choice = {choice: facts for choice, facts in options.items() if self.releases.has(facts["releases"], release)}
        giving = [choice for choice, facts in facts_by_choice.items() if key in self.releases.select(facts["keys"], release)]
        giving = [choice for choice in giving if self.releases.select(options[choice]["keys"], release)[key] is not REMOVED]
        implying = [
            choice for choice, facts in facts_by_choice.items()
            if any(f"{group}={option}" in giving for group, option in self.releases.select(facts.get("choices", {}), release).items())
        ]  # fmt: skip
        return [*implying, *giving]

    def _chain(self, name: str) -> list[Mapping[str, Any]]:
        """Return the entries of a configuration and its bases."""
        entry = self.index.get(name, {})
        return [entry, *self._chain(entry["base"])] if entry.get("base") else [entry]

    def _options(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the options of a configuration's last base, as ``group=option``."""
        base = self.index.get(name, {}).get("base")
        return self._options(base) if base else self._file(f"{name}.options")

    def _tables(self, name: str) -> Iterator[Mapping[str, Any]]:
        """Yield the tables with keys of a configuration."""
        entry = self.index.get(name, {})
        if entry.get("base"):
            yield entry["keys"]
            yield from self._tables(entry["base"])
        elif entry:
            yield self._file(name)["keys"]
            yield from (option["keys"] for option in self._options(name).values())

    def _root(self, name: str, release: int, options_set: Mapping[str, str | None]) -> ReleaseConfiguration:
        """Compose a configuration without base."""
        entry, releases = self.index[name], self.releases
        configuration = ReleaseConfiguration(
            releases.select(self._file(name)["keys"], release), releases.select(entry.get("choices", {}), release)
        )
        overrides = {group: option for group, option in options_set.items() if configuration.made.get(group, option) != option}
        if not overrides:
            return configuration
        options = self._options(name)
        implied_options: dict[str, str | None] = {}
        for group, option in overrides.items():
            facts = options.get(f"{group}={option}")
            if facts is None or not releases.has(facts["releases"], release):
                peers = (entry.get("choices", ()) for choice, entry in options.items() if choice.startswith(f"{group}="))
                implied_groups = {name_of_group for choices in peers for name_of_group in choices}
                configuration.open.update(map(package_of, implied_groups or [group]))
            else:
                implied_options.update(releases.select(facts.get("choices", {}), release))
        steps = {group: option for group, option in implied_options.items() if group not in options_set}
        for group, option in {**steps, **overrides}.items():
            facts = options.get(f"{group}={option}")
            if facts is not None and option is not None and configuration.made.get(group) != option:
                change(configuration.keys, releases.select(facts["keys"], release))
                configuration.made[group] = option
        return configuration

    def _file(self, name: str) -> dict[str, Any]:
        if name not in self._files:
            path = self.folder / f"{name}.json"
            self._files[name] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return self._files[name]


def change(keys: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Apply changes to a table of keys."""
    for key, value in changes.items():
        if value is REMOVED:
            keys.pop(key, None)
        else:
            keys[key] = value


def package_of(group: str) -> str:
    """Return the path filled by a group; "" for a group that chooses other groups."""
    name, _, package = group.partition("@")
    return package or ("" if name.endswith("_engine") else name.replace("/", "."))
