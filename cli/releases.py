"""Known releases of the frameworks, for `placewright --version --verbose`."""

from __future__ import annotations

from ..models.dialect_names import FRAMEWORKS
from ..models.dialects.recognition import dialect_named
from ..models.releases.release import read_releases


def known_releases() -> str:
    """Return one block per framework: a line per release with commit and date, oldest first."""
    lines = []
    for name in FRAMEWORKS:
        file = dialect_named(name).RELEASES
        if file is None:
            continue
        table = read_releases(file)
        lines.append(f"{table.framework}:")
        width = max(len(release.name) for release in table)
        for release in table:
            newest = "  newest" if release == table.newest else ""
            lines.append(f"  {release.name:{width}}  {release.commit}  {release.date}{newest}")
    return "\n".join(lines)
