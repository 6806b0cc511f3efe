"""Release for judging a file, and the reason for the choice."""

from __future__ import annotations

from ..record import dataclass
from .release import ALWAYS, Range, Release, ReleaseTable


@dataclass(frozen=True)
class ReleaseChoice:
    """Release for judging one file.

    Attributes
    ----------
    table : all known releases of the framework.
    release : release that the file is judged for.
    reason : how it was chosen, as shown behind the name: ``stated``, ``REQUIRED_VERL.txt``,
        ``newest, assumed``.
    possible : releases that the file itself does not exclude; `release` alone if stated.
    differs : how the checkout beside the file differs from the release; "" if it does not.
    """

    table: ReleaseTable
    release: Release
    reason: str
    possible: tuple[Release, ...]
    differs: str = ""

    @property
    def doubt(self) -> str:
        """Note for an error of the release, if the checkout has other code; else ""."""
        return f"an error in {self.release}, but the {self.reason} {self.differs}" if self.differs else ""

    @property
    def is_stated(self) -> bool:
        """True if no other release is possible."""
        return len(self.possible) == 1

    def has(self, releases: Range = ALWAYS) -> bool:
        """Return True if the release at hand is in a range."""
        return self.table.holds(releases, self.release)

    def since(self, name: str) -> bool:
        """Return True if the release at hand is the named release or newer."""
        return self.has(Range(since=name))

    def is_older_than(self, name: str) -> bool:
        """Return True if the release at hand is older than the named release."""
        return self.has(Range(until=name))

    def possible_in(self, releases: Range) -> tuple[Release, ...]:
        """Return the possible releases of a range."""
        return tuple(release for release in self.possible if self.table.holds(releases, release))

    def __str__(self) -> str:
        return f"{self.release} ({self.reason})"


def state_release(table: ReleaseTable, release: Release, reason: str = "stated") -> ReleaseChoice:
    """Build the choice of a release named by the user or by a file beside."""
    return ReleaseChoice(table, release, reason, (release,))


def newest(table: ReleaseTable) -> ReleaseChoice:
    """Build the choice of the newest release, for lack of evidence."""
    return ReleaseChoice(table, table.newest, "newest, assumed", table.releases)
