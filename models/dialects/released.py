"""Release that a document is judged for: the one that the user states, else what the dialect finds out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..findings.finding import UnusableInput, error
from ..releases.choice import Choice, stated
from ..releases.release import read_releases
from ..text.document import Document
from ..text.nearest import nearest

if TYPE_CHECKING:
    from .dialect import Dialect


FRAMEWORKS = ("rlinf", "roll", "verl")
"""Frameworks whose releases are known."""


def known_framework(text: str) -> str:
    """A statement such as ``verl==0.6.1``, without blanks. Raises ValueError unless it is ``NAME==VERSION`` of a known framework."""
    name, equals, version = (part.strip() for part in text.partition("=="))
    if not equals or not version:
        raise ValueError(f"`{text[:80]}` is not NAME==VERSION, such as `verl==0.6.1`")
    if name.lower() not in FRAMEWORKS:
        close = nearest(name.lower(), FRAMEWORKS)
        raise ValueError(
            f"`{name[:80]}` is not a known framework; " + (f"write `{close}`" if close else f"known are {', '.join(FRAMEWORKS)}")
        )
    return f"{name.lower()}=={version}"


def release_for(dialect: Dialect, document: Document, frameworks: Sequence[str]) -> Choice | None:
    """Release of a document; None for a native file.

    `frameworks` are statements such as ``verl==0.6.1``; those of other frameworks do not matter here. Raises UnusableInput for a release
    that is unknown.
    """
    if dialect.RELEASES is None:
        return None
    table = read_releases(dialect.RELEASES)
    for text in frameworks:
        name, _, version = text.partition("==")
        if name.strip().lower() != dialect.NAME:
            continue
        release = table.named(version)
        if release is None:
            known = [each.name for each in table]
            close = nearest(version.strip(), known)
            help_ = f"write `{name.strip()}=={close}`; " if close else ""
            message = f"{table.framework} {version.strip() or '(no version)'} is not a known release"
            raise UnusableInput([error("PW015", "", message, help=f"{help_}known releases are {', '.join(known)}")])
        return stated(table, release)
    return dialect.release_of(document)
