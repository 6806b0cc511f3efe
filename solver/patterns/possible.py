"""What the domains of a problem can be used for, where it is a sum over them, and any answer that is made of such uses."""

from __future__ import annotations

from ..layout.layout import Layout
from ..layout.values import Values
from ..model.engine import Outcome, run
from ..objectives.by_domain import ByDomain
from ..objectives.tiers import Tier
from .applies import levels, reasons
from .contents import TooMany
from .master import Master
from .uses import Uses


def possible(layout: Layout, limit: float, seed: int, presolve: bool) -> Outcome[Values] | None:
    """Any answer, or that there is none; None where the problem is no sum over domains, whatever its answers cost."""
    uses = uses_of(layout, ())
    return run(Master(uses), limit, seed, presolve) if uses and not uses.free else None


def uses_of(layout: Layout, tiers: tuple[Tier, ...]) -> Uses | None:
    """What the domains can be used for; None where the problem is no sum over domains, or that is too much to write out."""
    if any(reasons(layout, tiers)):
        return None
    terms = [term for tier in tiers for term, _ in tier.members if isinstance(term, ByDomain)]
    try:
        return Uses(layout, levels(layout, tiers), [share for term in terms for share in term.by_domain(layout.problem)])
    except TooMany:
        return None
