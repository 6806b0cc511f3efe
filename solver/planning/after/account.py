"""Everything that there is to say of a plan whose counts were chosen by time."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ....models.memory.bill import BlockBill
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Task
from ....models.planning.workload import SECONDS
from ....models.record import dataclass
from .basis import Basis
from .flip import Sensitivity
from .own.fixed import WithoutRanks
from .own.own import Own
from .usage import Usage

KEEP = 5
"""Percent over the best up to which a placement that stands is worth keeping: measured times differ as much from run to run."""


@dataclass(frozen=True)
class Other:
    """Another design, and what each task adds to its iteration more (or less) than to that of the plan, in ns, the most first."""

    priced: Priced
    adds: tuple[tuple[Task, int], ...]


@dataclass(frozen=True)
class Account:
    """The account of a plan.

    Attributes
    ----------
    shares : for each task the ns that it adds to an iteration.
    usages : what works where in each part of the iteration; none where the cost model's units are not those of a clock.
    bills : the memory of each block, then that of accelerators whose components have given ranks and are not planned.
    bases : what the time of each task rests on.
    others : the best designs of other structures, and what makes them slower.
    further : the same of plans on fewer accelerators, and with other degrees, where there are few others.
    own : the file's own placement under the same cost model; None where it has none.
    sensitivity : what becomes of the plan where a hint is wrong; None where that was not asked.
    resources : of each component that needs no accelerators the kind of what it needs, such as that of its robots.
    without_ranks : the plan without ranks that the file fixes for some of what has times; None where it fixes none, or that was not asked.
    assumed : sentences on what is taken for granted of how an iteration goes, besides its times.
    given : are the ranks those of the file, beside which the others were found?
    """

    planned: Planned
    source: str
    shares: Mapping[Task, int]
    usages: tuple[Usage, ...]
    bills: tuple[BlockBill, ...]
    bases: tuple[Basis, ...]
    others: tuple[Other, ...]
    further: tuple[Other, ...] = ()
    own: Own | None = None
    sensitivity: Sensitivity | None = None
    resources: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    given: bool = False
    without_ranks: WithoutRanks | None = None

    @property
    def keeps(self) -> bool:
        """Is the file's own placement near enough to the best that it had better stay? It may be proposed, and holds no accelerators more."""
        planned, own = self.planned, self.own
        if own is not None and not own.may_stay(planned.question):
            return False
        if self.given:
            value = _total(planned.best) if planned.question.aim == SECONDS else planned.best.accelerators(planned.question)
            return planned.bound > 0 and (value - planned.bound) * 100 <= planned.bound * KEEP
        if own is None or own.priced is None:
            return False
        if planned.is_own:
            return True
        over = _total(own.priced) - _total(planned.best)
        more = own.priced.accelerators(planned.question) - planned.best.accelerators(planned.question)
        if planned.question.aim != SECONDS and more:
            return more < 0
        near = over > 0 or own.on_several_kinds  # where it takes as long, its placement was not compared on several kinds
        return over < 0 or (near and more <= 0 and over * 100 <= _total(planned.best) * KEEP)


def _total(priced: Priced) -> int:
    return priced.nanoseconds + priced.traffic
