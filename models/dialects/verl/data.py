"""The data files of verl: its releases, its configurations, its programs."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...releases.configurations import Configurations
from ...releases.release import ReleaseTable, read_releases
from ...releases.runs import Releases

FOLDER = Path(__file__).parent / "facts"


def table() -> ReleaseTable:
    """The known releases."""
    return read_releases(FOLDER / "releases.json")


@cache
def releases() -> Releases:
    """Their names, by which the facts are read."""
    return Releases([release.name for release in table()])


@cache
def configurations() -> Configurations:
    """The configurations of every release."""
    return Configurations(FOLDER, releases())
