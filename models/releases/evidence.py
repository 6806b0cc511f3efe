"""Evidence of the release that a file is for."""

from __future__ import annotations

import os
import re
import sys
from functools import reduce
from operator import or_
from typing import Iterable, Iterator, Mapping, Sequence

from .choice import Choice, newest, stated
from .release import Range, Release, ReleaseTable

MAX_ABOVE = 8
"""So many folders above a file may be the top of a checkout that it is part of."""
NEAR = 3
"""So many folders above a file may hold what its recipe needs."""
PINNED = ("requirements.txt", "pyproject.toml", "setup.py")
_LINE = re.compile(
    r"^\s*(?:export\s+)?(TAG|COMMIT|VERL_COMMIT|ROLLING_VERL_COMMIT|REPRODUCTION_COMMIT|PIP_INSTALL)\s*=\s*(.+?)\s*$", re.MULTILINE
)


MAX_TEXT = 65_536
"""So many bytes of a file beside a configuration are read."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def beside(table: ReleaseTable, file: str, roots: Sequence[str] = ()) -> Choice | None:
    """Release that lies beside a file, or below the folders that the user allows; None where nothing names one."""
    folder = os.path.dirname(os.path.abspath(file)) if os.path.isfile(file) else ""
    for place in [*([folder] if folder else []), *(os.path.abspath(root) for root in roots)]:
        for above in _above(place, MAX_ABOVE):
            found = _of_checkout(table, above)
            if found is not None:
                return stated(table, found, f"checkout {os.path.basename(above)}")
    for above in _above(folder, NEAR) if folder else ():
        choice = _of_needs(table, above)
        if choice is not None:
            return choice
    return None


def _above(folder: str, most: int) -> Iterator[str]:
    """A folder and those above it."""
    for _ in range(most + 1):
        yield folder
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return


def _of_checkout(table: ReleaseTable, folder: str) -> Release | None:
    """Release of a checkout: of those whose version it has, or whose files it has, the newest. Version strings alone do not tell."""
    if not table.checkout or not os.path.isfile(os.path.join(folder, table.checkout)):
        return None
    left = (1 << len(table.releases)) - 1
    version = text_at(folder, table.version).strip() if table.version else ""
    if table.version and not version:
        return None
    if version:
        same = [release for release in table if version in (release.version, release.name, *release.aliases)]
        found = of_version(table, version)
        same = same or ([found] if found else [])
        left = sum(1 << release.index for release in same) or left
    for path, ranges in table.marks.items():
        has = mask_of(table, ranges)
        narrowed = left & (has if os.path.exists(os.path.join(folder, path)) else ~has)
        left = narrowed or left
    return table.releases[left.bit_length() - 1]


def _of_needs(table: ReleaseTable, folder: str) -> Choice | None:
    """Release that a folder's own requirements name; a commit that is not known names none."""
    text = text_at(folder, table.required) if table.required else ""
    said = dict(reversed(_LINE.findall(text)))
    for name in ("TAG", "ROLLING_VERL_COMMIT", "VERL_COMMIT", "COMMIT", "REPRODUCTION_COMMIT"):
        release = table.named(said[name]) if name in said else None
        if release is not None:
            return stated(table, release, table.required)
        between = table.commits.get(said.get(name, "")[:10])
        if between is not None:
            possible = tuple(each for each in table if each.name in between)
            return Choice(table, possible[-1], f"{table.required}, between {' and '.join(between)}", possible)
    if text and (release := _pinned(table, said.get("PIP_INSTALL", ""))) is not None:
        return stated(table, release, table.required)
    for name in PINNED:
        release = _pinned(table, text_at(folder, name))
        if release is not None:
            return stated(table, release, name)
    return None


def _pinned(table: ReleaseTable, text: str) -> Release | None:
    """Release that a text pins: ``verl==0.6.1``, or ``verl @ git+...@v0.6.1``."""
    name = re.escape(table.package)
    found = re.search(rf"(?<![\w.-]){name}(?:\[[^\]\n]*\])?\s*(?:==\s*([\w.+]+)|@\s*git\+[^\s\"']*@([\w.]+))", text)
    if found is None:
        return None
    return of_version(table, found[1]) if found[1] else table.named(found[2])


def by_keys(table: ReleaseTable, ranges: Mapping[str, Sequence[Range]], present: Iterable[str]) -> Choice:
    """Newest release that knows everything present; what `ranges` does not name excludes nothing.

    `ranges` says of a key, or of ``key=value``, which releases know it. Where nothing is left, the releases that lack fewest remain.
    """
    return by_masks(table, {name: mask_of(table, ranges[name]) for name in present if name in ranges})


def by_masks(table: ReleaseTable, known: Mapping[str, int]) -> Choice:
    """As `by_keys`, of what is present: name -> bits of the releases that know it, the oldest release in the lowest bit."""
    every = (1 << len(table.releases)) - 1
    excluding = {name: mask for name, mask in known.items() if mask & every != every and mask & every}
    left = reduce(lambda kept, mask: kept & mask, excluding.values(), every)
    if left == every:
        return newest(table)
    if left:
        possible = tuple(release for release in table if left >> release.index & 1)
        return Choice(table, possible[-1], _newest_that_has(table, possible[-1], excluding), possible)
    lacking = [sum(not mask >> release.index & 1 for mask in excluding.values()) for release in table]
    possible = tuple(release for release in table if lacking[release.index] == min(lacking))
    return Choice(table, possible[-1], f"no release has all keys; it lacks {min(lacking)}", possible)


def _newest_that_has(table: ReleaseTable, release: Release, excluding: Mapping[str, int]) -> str:
    """Why it is not a newer one."""
    if release.index == table.newest.index:
        return "newest, assumed"
    name = max(excluding, key=lambda each: not excluding[each] >> (release.index + 1))  # the first that no newer one has
    return f"newest that has `{name}`"


def mask_of(table: ReleaseTable, ranges: Sequence[Range]) -> int:
    """Bits of the releases that lie in one of some ranges."""
    return reduce(or_, (1 << release.index for release in table for each in ranges if table.holds(each, release)), 0)


def ranges_from(data: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, tuple[Range, ...]]:
    """Ranges of a data file ``{"name": [["0.3.0", "0.8.0"], ...]}``; "" leaves a side open."""
    return {name: tuple(Range(*each[:2]) for each in runs) for name, runs in data.items()}


def installed(table: ReleaseTable) -> Choice | None:
    """Release of the package that is installed beside this program; nothing of it is imported."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        start = f"{table.package}-"
        for name in names:
            if name.startswith(start) and name.endswith((".dist-info", ".egg-info")):
                release = of_version(table, name[len(start) :].rpartition(".")[0].partition("-py")[0])
                if release is not None:
                    return stated(table, release, "installed")
    return None


def of_version(table: ReleaseTable, text: str) -> Release | None:
    """Known release of a version; of one between two releases the older, of a development version the one that it became."""
    found = table.named(text.partition("+")[0])
    if found is not None:
        return found
    asked = _numbers(text)
    if asked is None:
        return None
    same = [release for release in table if _numbers(release.name) == asked]
    older = [release for release in table if (its := _numbers(release.name)) is not None and its < asked]
    every = same or older
    return every[-1] if every else None


def _numbers(text: str) -> tuple[int, ...] | None:
    """Leading numbers of a version; None of a commit."""
    found = _VERSION.match(text.strip())
    return tuple(int(each or 0) for each in found.groups()) if found else None


def text_at(*path: str) -> str:
    """Text of a regular file of modest size; "" without one."""
    place = os.path.join(*path)
    try:
        if not os.path.isfile(place) or os.path.getsize(place) > MAX_TEXT:
            return ""
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
