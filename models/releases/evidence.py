"""Evidence of the release that a file is for."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Iterator, Mapping, Sequence
from zlib import crc32

from .choice import ReleaseChoice, newest, state_release
from .release import Range, Release, ReleaseTable

MAX_ABOVE = 8
"""Largest number of folders from a file up to the top of its checkout."""
NEAR = 3
"""Largest number of folders from a file up to the requirements of its recipe."""
MOST_NAMED = 2
PINNED = ("requirements.txt", "pyproject.toml", "setup.py")
_LINE = re.compile(
    r"^\s*(?:export\s+)?(TAG|COMMIT|VERL_COMMIT|ROLLING_VERL_COMMIT|REPRODUCTION_COMMIT|PIP_INSTALL)\s*=\s*(.+?)\s*$", re.MULTILINE
)
MAX_TEXT, MAX_CODE = 65_536, 1_048_576
"""Size limits in bytes: of a text beside a configuration, of a file of code."""
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def release_beside(table: ReleaseTable, file: str, roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """Find the release of a file by checkout, requirements or allowed folders, or None.

    A checkout holds the file, or lies near it under the name of the package or ``src``.
    """
    folder = os.path.dirname(os.path.abspath(file)) if os.path.isfile(file) else ""
    for place in [*([folder] if folder else []), *(os.path.abspath(root) for root in roots)]:
        for above in _with_parents(place, MAX_ABOVE):
            if (choice := _from_checkout(table, above)) is not None:
                return choice
    near = list(_with_parents(folder, NEAR)) if folder else []
    neighbours = (os.path.join(above, *names) for above in near for names in ((table.package,), ("src",), ("src", table.package)))
    choices = (find(table, place) for find, places in ((_from_requirements, near), (_from_checkout, neighbours)) for place in places)
    return next((choice for choice in choices if choice is not None), None)


def _with_parents(folder: str, most: int) -> Iterator[str]:
    """Yield a folder and up to `most` parents."""
    for _ in range(most + 1):
        yield folder
        folder, child = os.path.dirname(folder), folder
        if folder == child:
            return


def _from_checkout(table: ReleaseTable, folder: str) -> ReleaseChoice | None:
    """Choose the newest release that a checkout's version and files agree with.

    Its code may still differ: of a commit between two releases, or changed by its owner. Without a
    version, all releases with as many equal files of code are possible.
    """
    if not table.checkout or not os.path.isfile(os.path.join(folder, table.checkout)):
        return None
    candidates = (1 << len(table.releases)) - 1
    version = text_at(folder, table.version).strip() if table.version else ""
    if version:
        same = [release for release in table if version in (release.version, release.name, *release.aliases)]
        closest = of_version(table, version) or (table.releases[0] if _numbers(version) else None)
        same = same or ([closest] if closest else [])
        candidates = sum(1 << release.index for release in same) or candidates
    for path, ranges in table.marks.items():
        has = mask_of(table, ranges)
        agreeing = candidates & (has if os.path.exists(os.path.join(folder, path)) else ~has)
        candidates = agreeing or candidates
    choice = _compare_code(
        state_release(table, table.releases[candidates.bit_length() - 1], f"checkout {os.path.basename(folder)}"), folder
    )
    if version or not table.version:
        return choice
    digests = [digest_of(folder, path) for path in table.code]
    counts = {
        release: sum(digest == checksum != "" for digest, checksum in zip(digests, release.code))
        for release in table
        if candidates >> release.index & 1
    }
    possible = tuple(release for release, count in counts.items() if count == max(counts.values()))
    return _compare_code(replace(choice, release=possible[-1], possible=possible, differs=""), folder)


def _compare_code(choice: ReleaseChoice, folder: str) -> ReleaseChoice:
    """Return a choice that tells how the code in a folder differs from its release."""
    code = zip(choice.table.code, choice.release.code)
    path_differing = next((path for path, digest in code if digest and digest_of(folder, path) not in ("", digest)), "")
    return replace(choice, differs=f"has another `{path_differing}`") if path_differing else choice


def digest_of(*path: str) -> str:
    """Return the checksum of a file of code; "" without such a file."""
    text = text_at(*path, most=MAX_CODE)
    return f"{crc32(text.encode('utf-8')):08x}" if text else ""


def _from_requirements(table: ReleaseTable, folder: str) -> ReleaseChoice | None:
    """Return the release that a folder's requirements name; None for an unknown commit."""
    text = text_at(folder, table.required) if table.required else ""
    values = dict(reversed(_LINE.findall(text)))
    for name in ("TAG", "ROLLING_VERL_COMMIT", "VERL_COMMIT", "COMMIT", "REPRODUCTION_COMMIT"):
        release = table.find(values[name]) if name in values else None
        if release is not None:
            return state_release(table, release, table.required)
        between = table.commits.get(values.get(name, "")[:10])
        if between is not None:
            possible = tuple(candidate for candidate in table if candidate.name in between)
            return ReleaseChoice(table, possible[-1], f"{table.required}, between {' and '.join(between)}", possible)
    if text and (release := _find_pin(table, values.get("PIP_INSTALL", ""))) is not None:
        return state_release(table, release, table.required)
    for name in PINNED:
        release = _find_pin(table, text_at(folder, name))
        if release is not None:
            return state_release(table, release, name)
    return None


def _find_pin(table: ReleaseTable, text: str) -> Release | None:
    """Return the release that a text pins: ``verl==0.6.1``, or ``verl @ git+...@v0.6.1``."""
    name = re.escape(table.package)
    match = re.search(rf"(?<![\w.-]){name}(?:\[[^\]\n]*\])?\s*(?:==\s*([\w.+]+)|@\s*git\+[^\s\"']*@([\w.]+))", text)
    if match is None:
        return None
    return of_version(table, match[1]) if match[1] else table.find(match[2])


def choose_by_masks(table: ReleaseTable, mask_of_name: Mapping[str, int]) -> ReleaseChoice:
    """Choose the newest release that knows all names, from bits of releases, the oldest lowest.

    Names of all releases, or of none, exclude nothing. If no release is left, those that lack the fewest remain.
    """
    all_releases = (1 << len(table.releases)) - 1
    excluding = {name: mask for name, mask in mask_of_name.items() if mask & all_releases != all_releases and mask & all_releases}
    candidates = reduce(lambda remaining, mask: remaining & mask, excluding.values(), all_releases)
    if candidates == all_releases:
        return newest(table)
    if candidates:
        possible = tuple(release for release in table if candidates >> release.index & 1)
        return ReleaseChoice(table, possible[-1], _newest_reason(table, possible[-1], excluding), possible)
    lacking = [sum(not mask >> release.index & 1 for mask in excluding.values()) for release in table]
    possible = tuple(release for release in table if lacking[release.index] == min(lacking))
    refused_names = [f"`{name}`" for name, mask in excluding.items() if not mask >> possible[-1].index & 1]
    names = " and ".join(refused_names[:MOST_NAMED]) + (
        f" and {len(refused_names) - MOST_NAMED} more" if len(refused_names) > MOST_NAMED else ""
    )
    return ReleaseChoice(table, possible[-1], f"no release takes all keys; it refuses {names}", possible)


def _newest_reason(table: ReleaseTable, release: Release, excluding: Mapping[str, int]) -> str:
    """Explain why no newer release was chosen."""
    if release.index == table.newest.index:
        return "newest, assumed"
    newer, names = (1 << len(table.releases)) - (2 << release.index), list[str]()
    while newer:  # the key that most newer releases lack
        names.append(max(excluding, key=lambda key: (newer & ~excluding[key]).bit_count()))
        newer &= excluding[names[-1]]
    return f"newest that has {' and '.join(f'`{name}`' for name in names)}"


def mask_of(table: ReleaseTable, ranges: Sequence[Range]) -> int:
    """Return the bits of the releases in any of the ranges."""
    return reduce(or_, (1 << release.index for release in table for range_ in ranges if table.holds(range_, release)), 0)


def find_installed(table: ReleaseTable) -> ReleaseChoice | None:
    """Find the release of the package installed beside this program, without importing it."""
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
                    return _compare_code(state_release(table, release, "installed package"), folder)
    return None


def of_version(table: ReleaseTable, text: str) -> Release | None:
    """Return the known release of a version, or the older of two around it. Else None."""
    exact = table.find(text.partition("+")[0])
    if exact is not None:
        return exact
    numbers = _numbers(text)
    if numbers is None:
        return None
    same = [release for release in table if _numbers(release.name) == numbers]
    older = [release for release in table if (older_numbers := _numbers(release.name)) is not None and older_numbers < numbers]
    matching = same or older
    return matching[-1] if matching else None


def _numbers(text: str) -> tuple[int, ...] | None:
    """Return the leading numbers of a version; None for a commit."""
    match = _VERSION.match(text.strip())
    return tuple(int(digits or 0) for digits in match.groups()) if match else None


def text_at(*path: str, most: int = MAX_TEXT) -> str:
    """Read a regular file of at most so many bytes; "" without such a file."""
    place = os.path.join(*path)
    try:
        if not os.path.isfile(place) or os.path.getsize(place) > most:
            return ""
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
