"""Result of `explain`: needs, sharing, and the derivation of every number."""

from __future__ import annotations

from ...models.derivation import Derivation
from ...models.placements.plan import Plan
from ...models.record import dataclass
from ...models.report import Report
from .demands import DemandText
from .needs import Needs
from .sharing import SharedAccelerators


@dataclass(frozen=True)
class Explanation:
    """Explanation of one file.

    Attributes
    ----------
    report : result of verification.
    plan : components with a known placement, even if the file has errors; None if the file is
        unusable.
    needs, sharing : None if the file is unusable.
    demands : demands on topology and nodes, and traffic between components.
    assumed : assumed accelerators per node if the cluster is unspecified; else 0.
    """

    report: Report
    plan: Plan | None = None
    needs: Needs | None = None
    sharing: SharedAccelerators | None = None
    derivations: tuple[Derivation, ...] = ()
    assumed: int = 0
    demands: tuple[DemandText, ...] = ()

    @property
    def known(self) -> bool:
        """True if the number of accelerators is known."""
        return self.needs is not None and self.needs.there is not None
