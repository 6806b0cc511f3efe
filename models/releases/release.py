"""Releases of one framework in order, ranges of them, and values by release.

A run is ``[since, until, value]``, half-open by release name; "" leaves a side open. Without a
value, the fact exists and its value is not stored. Releases that no run covers lack the fact. In a
table that changes another table, such releases keep the fact of that table, and a run ``[since,
until, null, "removed"]`` removes it.
"""

from __future__ import annotations

import json
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ..record import dataclass

Run = Sequence[Any]
UNSTORED_VALUE = type("Unsaid", (), {"__repr__": lambda self: "UNSTORED_VALUE"})()
"""Value of a fact that exists without a stored value."""
REMOVED = type("Removed", (), {"__repr__": lambda self: "REMOVED"})()
"""Value of a fact that a change removes."""


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a framework.

    Attributes
    ----------
    framework : name in messages, such as ``verl``.
    name : version without a leading ``v``, such as ``0.6.1``; an abbreviated commit for a release
        without version.
    commit : commit that the facts were read from.
    date : date of that commit, ISO 8601.
    index : position among the known releases, oldest first.
    aliases : more names, such as ``0.3.0.post1``.
    version : version that the package itself states, if different from `name`.
    code : checksums of the files `ReleaseTable.code`; "" for a file that the release lacks.
    """

    framework: str
    name: str
    commit: str
    date: str
    index: int
    aliases: tuple[str, ...] = ()
    version: str = ""
    code: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.framework} {self.name}"


@dataclass(frozen=True, slots=True)
class Range:
    """Half-open range of releases, `since` up to but without `until`; "" leaves a side open."""

    since: str = ""
    until: str = ""


ALWAYS = Range()


@dataclass(frozen=True)
class ReleaseTable:
    """All known releases of a framework, oldest first.

    Attributes
    ----------
    package : distribution name on an index.
    checkout, version : paths below a checkout: a file that identifies it, and the file with its
        version.
    required : file beside a recipe with the release of the recipe.
    marks : path below a checkout -> ranges of the releases that have it.
    commits : abbreviated commit in recipes -> the two releases around it.
    code : paths below a checkout whose content is known in each release; see `Release.code`.
    """

    framework: str
    package: str
    releases: tuple[Release, ...]
    checkout: str = ""
    version: str = ""
    required: str = ""
    marks: Mapping[str, tuple[Range, ...]] = field(default_factory=dict, repr=False)
    commits: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    code: tuple[str, ...] = field(default=(), repr=False)
    _by_name: dict[str, Release] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for release in self.releases:
            for name in (release.name, *release.aliases):
                self._by_name[name] = release

    def __iter__(self) -> Iterator[Release]:
        return iter(self.releases)

    @property
    def newest(self) -> Release:
        """Newest known release."""
        return self.releases[-1]

    def find(self, name: str) -> Release | None:
        """Return the release of a version, alias or commit (seven characters or more), or None."""
        text = name.strip().removeprefix("v")
        if text in self._by_name:
            return self._by_name[text]
        same = [
            release for release in self.releases if len(text) >= 7 and (release.commit.startswith(text) or text.startswith(release.commit))
        ]
        return same[0] if same else None

    def holds(self, releases: Range, release: Release) -> bool:
        """Return True if a release is in the range. Raises KeyError for an unknown name."""
        if releases.since and release.index < self._by_name[releases.since].index:
            return False
        return not releases.until or release.index < self._by_name[releases.until].index

    def have_it(self, mask: int) -> str:
        """Return a sentence about the releases of some bits; "" without any."""
        having = [release for release in self if mask >> release.index & 1]
        return f"{self.framework} {spans_of(having)} {'has' if len(having) == 1 else 'have'} it" if having else ""

    def name_release(self, mask: int) -> str:
        """Return the advice to name the newest release of some bits."""
        release = self.releases[mask.bit_length() - 1]
        return f"name the release that you run: `--framework {self.framework.lower()}=={release.name}`"


def spans_of(releases: Iterable[Release]) -> str:
    """Write releases as text, neighbours joined: ``0.4.0 to 0.6.1 and 0.8.0``."""
    runs: list[list[Release]] = []
    for release in sorted(releases, key=lambda release: release.index):
        if runs and release.index == runs[-1][-1].index + 1:
            runs[-1].append(release)
        else:
            runs.append([release])
    texts = [run[0].name if len(run) == 1 else f"{run[0].name} to {run[-1].name}" for run in runs]
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


@cache
def read_releases(file: Path) -> ReleaseTable:
    """Read the table of a data file.

    The file has the attributes of ReleaseTable, and ``"releases": [{"name", "commit", "date",
    "aliases", "version", "code"}]``.
    """
    data = json.loads(file.read_text(encoding="utf-8"))
    framework = data["framework"]
    for entry in data["releases"]:
        entry |= {key: tuple(entry.get(key, ())) for key in ("aliases", "code")}
    releases = tuple(Release(framework, index=index, **entry) for index, entry in enumerate(data["releases"]))
    marks = {path: tuple(Range(*run) for run in runs) for path, runs in data.get("marks", {}).items()}
    signs = {name: data.get(name, "") for name in ("checkout", "version", "required")}
    commits = {commit: (first, last) for commit, (first, last) in data.get("commits", {}).items()}
    return ReleaseTable(framework, data["package"], releases, **signs, marks=marks, commits=commits, code=tuple(data.get("code", ())))


class Releases:
    """Release names in order, with operations on runs."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._starts = {"": 0, **{name: index for index, name in enumerate(names)}}
        self._ends = {**self._starts, "": len(names)}

    def covers(self, run: Run, index: int) -> bool:
        """Return True if the release at an index is in a run."""
        return self._starts[run[0]] <= index < self._ends[run[1]]

    def has(self, runs: Sequence[Run], index: int) -> bool:
        """Return True if a release has the fact."""
        return any(self.covers(run, index) for run in runs)

    def select(self, table: Mapping[str, Sequence[Run]], index: int) -> dict[str, Any]:
        """Return the facts of a table in a release, with their values."""
        starts, ends, facts = self._starts, self._ends, {}
        for key, runs in table.items():
            for run in runs:
                if starts[run[0]] <= index < ends[run[1]]:
                    facts[key] = run[2] if len(run) == 3 else UNSTORED_VALUE if len(run) == 2 else REMOVED
                    break
        return facts

    def mask(self, runs: Sequence[Run]) -> int:
        """Return the bits of the releases with the fact, the oldest in the lowest bit."""
        bits = 0
        for run in runs:
            bits |= (1 << self._ends[run[1]]) - (1 << self._starts[run[0]])
        return bits

    def runs(self, column: Mapping[int, Any], indices: Sequence[int]) -> list[list[Any]]:
        """Convert values by index to runs.

        `indices` are the indices, ascending, of the releases in the table. A run that reaches the
        first or the last of them is open on that side, so that it also covers an added release.
        """
        runs: list[list[Any]] = []
        last: tuple[int, Any] | None = None
        for place, index in enumerate(indices):
            if index not in column:
                last = None
                continue
            value = column[index]
            if last is None or not same(last[1], value):
                runs.append([self.names[index] if place else "", "", *_read_stored(value)])
            runs[-1][1] = self.names[indices[place + 1]] if place + 1 < len(indices) else ""
            last = (index, value)
        return runs


def same(first: Any, second: Any) -> bool:
    """Return True if two values are equal as text too: 1, 1.0 and true are different."""
    return type(first) is type(second) and first == second


def _read_stored(value: Any) -> list[Any]:
    """Return the entries of a run after its range."""
    return [] if value is UNSTORED_VALUE else [None, "removed"] if value is REMOVED else [value]
