"""Release that what lies around a file names: a checkout that it is part of, a file that says what a recipe needs, pinned requirements."""

from __future__ import annotations

import os
import re
from typing import Iterator, Sequence

from .choice import Choice, stated
from .evidence import mask_of, of_version, text_at
from .release import Release, ReleaseTable

MAX_ABOVE = 8
"""So many folders above a file may be the top of a checkout that it is part of."""
NEAR = 3
"""So many folders above a file may hold what its recipe needs."""
PINNED = ("requirements.txt", "pyproject.toml", "setup.py")
_LINE = re.compile(r"^\s*(?:export\s+)?(TAG|COMMIT|VERL_COMMIT|REPRODUCTION_COMMIT|PIP_INSTALL)\s*=\s*(.+?)\s*$", re.MULTILINE)


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
    for name in ("TAG", "VERL_COMMIT", "REPRODUCTION_COMMIT", "COMMIT"):
        release = table.named(said[name]) if name in said else None
        if release is not None:
            return stated(table, release, table.required)
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
