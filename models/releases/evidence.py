"""What shows which release a file is for: keys that only some releases know, files beside it, the installed package."""

from __future__ import annotations

import os
import re
import sys
from functools import reduce
from operator import or_
from typing import Iterable, Mapping, Sequence

from .choice import Choice, newest, stated
from .release import Range, Release, ReleaseTable

MAX_TEXT = 65_536
"""So many bytes of a file beside a configuration are read."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


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
