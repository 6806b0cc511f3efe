"""Choice of the framework release that a document is judged for.

A stated release wins; else the dialect looks for evidence.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Sequence

from ..dialect_names import FRAMEWORKS
from ..findings.finding import Finding, UnusableInput, error, warning
from ..releases.choice import ReleaseChoice, state_release
from ..releases.evidence import find_installed, release_beside
from ..releases.release import Release, read_releases
from ..text.document import Document
from ..text.nearest import nearest

if TYPE_CHECKING:
    from .dialect import Dialect


def known_framework(text: str) -> str:
    """Return a statement such as ``verl==0.6.1`` in lower case and without blanks.

    Raises ValueError unless it is ``NAME==VERSION`` of a known framework.
    """
    name, equals, version = (piece.strip() for piece in text.partition("=="))
    if not equals or not version:
        raise ValueError(f"`{text[:80]}` is not NAME==VERSION, such as `verl==0.6.1`")
    if name.lower() not in FRAMEWORKS:
        close = nearest(name.lower(), FRAMEWORKS)
        raise ValueError(
            f"`{name[:80]}` is not a known framework; " + (f"write `{close}`" if close else f"known are {', '.join(FRAMEWORKS)}")
        )
    return f"{name.lower()}=={version}"


_LAST = 9_999


def _closest(version: str, candidates: Sequence[str]) -> str | None:
    """Return the known release with the nearest number, or by spelling.

    Of equally near releases it is the newer one; above all of them, the newest.
    """
    numbers = {name: _numbers(name) for name in candidates}
    target, with_number = _numbers(version), [name for name in candidates if numbers[name]]
    if not target or not with_number:
        return nearest(version, candidates)
    newest = max(with_number, key=lambda name: numbers[name])
    if target > numbers[newest]:
        return newest
    return min(reversed(with_number), key=lambda name: [abs(has - wants) for has, wants in zip(numbers[name], target)])


def _numbers(version: str) -> tuple[int, ...]:
    """Return the three numbers of a version; empty for other texts.

    A version without a patch stands for the last patch of its series.
    """
    match = re.match(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![0-9])", version)
    return tuple(_LAST if digits is None else int(digits) for digits in match.groups()) if match else ()


def release_for(dialect: Dialect, document: Document, frameworks: Sequence[str], roots: Sequence[str] = ()) -> ReleaseChoice | None:
    """Return the release of a document; None for a native file.

    `frameworks` are statements such as ``verl==0.6.1``; statements about other frameworks are
    ignored. `roots` are folders that may hold a checkout. Raises UnusableInput for an unknown
    release and for two releases of any framework.
    """
    choice, stated_releases = None, dict[str, Release]()
    for text in frameworks:
        name, _, version = text.partition("==")
        name = name.strip().lower()
        table = read_releases(Path(__file__).parent / name / "facts" / "releases.json")
        release = table.find(version)
        if release is None:
            release_names = [entry.name for entry in table]
            close = _closest(version.strip(), release_names)
            help_ = f"write `{name}=={close}`; " if close else ""
            message = f"{table.framework} {version.strip() or '(no version)'} is not a known release"
            raise UnusableInput([error("PW015", "", message, help=f"{help_}known releases are {', '.join(release_names)}")])
        if stated_releases.setdefault(name, release) != release:
            message = f"two releases of {table.framework} are stated: {stated_releases[name].name} and {release.name}"
            raise UnusableInput([error("PW015", "", message, help=f"state one of them, such as `--framework {name}=={release.name}`")])
        if name == dialect.NAME:
            choice = state_release(table, release)
    return choice or (dialect.release_of(document, roots) if dialect.RELEASES else None)


def mismatched_release(dialect: Dialect, frameworks: Sequence[str]) -> tuple[Finding, ...]:
    """Return a warning if releases are stated, but none of the file's framework."""
    names = [text.partition("==")[0].strip().lower() for text in frameworks]
    if not names or dialect.NAME in names:
        return ()
    message = f"a release of {names[0]} is stated, but this file is read as {dialect.NAME}"
    help_ = f"state a release of {dialect.NAME}" if dialect.RELEASES else "drop `--framework`"
    return (warning("PW015", "", message, help=f"{help_}, or pass `--dialect {names[0]}`"),)


def infer_release(file: Path, document: Document, roots: Sequence[str], infer_choice: Callable[[Document], ReleaseChoice]) -> ReleaseChoice:
    """Return the release beside a document, installed, or implied by its keys; else the newest.

    `file` is the data file of the releases; `infer_choice` returns the choice that the keys leave.
    """
    table = read_releases(file)
    local = release_beside(table, document.source.name, roots) or find_installed(table)
    if local is not None and local.is_stated:
        return local
    keys = infer_choice(document)
    if local is None:
        return keys
    possible = tuple(release for release in local.possible if release in keys.possible) or local.possible
    return replace(local, release=possible[-1], possible=possible)
