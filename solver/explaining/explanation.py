"""All that is told of a configuration: what it needs, what shares with what, and how every number comes about."""

from __future__ import annotations

from ...models.derivation import Derivation
from ...models.placements.plan import Plan
from ...models.record import dataclass
from ...models.report import Report
from .demands import Demanded
from .needs import Needs
from .sharing import Sharing


@dataclass(frozen=True)
class Explanation:
    """All that is told of one file.

    Attributes
    ----------
    report : what verifying it finds.
    plan : where the components are whose place is known, though the file may have errors; None where nothing could be read.
    needs, sharing : None where nothing could be read.
    demands : what is demanded of the topology and of nodes, and what components send to each other.
    assumed : accelerators of each node that were assumed, since nobody named the machines; 0 if none were.
    """

    report: Report
    plan: Plan | None = None
    needs: Needs | None = None
    sharing: Sharing | None = None
    derivations: tuple[Derivation, ...] = ()
    assumed: int = 0
    demands: tuple[Demanded, ...] = ()

    @property
    def known(self) -> bool:
        """Is it known how many accelerators there are?"""
        return self.needs is not None and self.needs.there is not None
