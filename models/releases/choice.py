"""The release that a file is judged for, how it was chosen, and what holds for it."""

from __future__ import annotations

from ..record import dataclass
from .release import ALWAYS, Range, Release, ReleaseTable, spans_of


@dataclass(frozen=True)
class Choice:
    """Release at hand.

    Attributes
    ----------
    table : all known releases of the framework.
    release : the one that the file is judged for.
    reason : how it was chosen, as it stands behind the name: ``stated``, ``REQUIRED_VERL.txt``, ``newest, assumed``.
    possible : the releases that the file itself does not exclude; `release` alone where it is stated.
    """

    table: ReleaseTable
    release: Release
    reason: str
    possible: tuple[Release, ...]

    @property
    def is_stated(self) -> bool:
        """True if no other release is possible."""
        return len(self.possible) == 1

    def has(self, releases: Range = ALWAYS) -> bool:
        """True if the release at hand lies in a range."""
        return self.table.holds(releases, self.release)

    def since(self, name: str) -> bool:
        """True if the release at hand is this one or newer."""
        return self.has(Range(since=name))

    def until(self, name: str) -> bool:
        """True if the release at hand is older than this one."""
        return self.has(Range(until=name))

    def possible_in(self, releases: Range) -> tuple[Release, ...]:
        """The possible releases of a range."""
        return tuple(release for release in self.possible if self.table.holds(releases, release))

    def in_words(self, releases: Range) -> str:
        """The possible releases of a range, named: ``verl 0.4.0 to 0.6.1``."""
        return f"{self.table.framework} {spans_of(self.possible_in(releases))}"

    def __str__(self) -> str:
        return f"{self.release} ({self.reason})"


def stated(table: ReleaseTable, release: Release, reason: str = "stated") -> Choice:
    """Choice of a release that a user, or what lies beside the file, names."""
    return Choice(table, release, reason, (release,))


def newest(table: ReleaseTable) -> Choice:
    """Choice where nothing names a release and nothing excludes one."""
    return Choice(table, table.newest, "newest, assumed", table.releases)
