"""Known releases of the frameworks, for `placewright --version --verbose`."""

from __future__ import annotations

from ..models.dialect_names import FRAMEWORKS
from ..models.dialects.recognition import dialect_named
from ..models.releases.release import read_releases


def known_releases() -> str:
    """Return one block per framework: a line per release with commit and date, oldest first."""
    lines = []
    files = (dialect_named(name).RELEASES for name in FRAMEWORKS)
    for table in (read_releases(file) for file in files if file is not None):
        lines.append(f"{table.framework}:")
        width = max(len(release.name) for release in table)
        for release in table:
            lines.append(f"  {release.name:{width}}  {release.commit}  {release.date}" + "  newest" * (release == table.newest))
    return "\n".join(lines)
