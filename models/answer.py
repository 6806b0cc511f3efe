"""What solving a problem gave: a plan, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from .findings.finding import Finding, Unchecked
from .placements.plan import Plan
from .problem import Problem
from .record import dataclass

if TYPE_CHECKING:
    from .planning.planned import Planned

IMPOSSIBLE, UNDECIDED = "impossible", "undecided"


@dataclass(frozen=True)
class Answer:
    """The result of a search.

    `verdict` is the plan's status (``verified``, ``optimal``, ``feasible``), or ``impossible`` (proved), or
    ``undecided`` (neither found nor refuted within the limit). `findings` say why there is no plan. `how` says what
    decided: ``given`` ranks, ``greedy`` meeting its bound, a ``sweep`` over ranges, ``patterns`` of alike domains, or ``search``. `unchecked` is what the rules could not judge
    of the plan. `planned` says how counts and degrees were chosen, where they were chosen by time.
    """

    verdict: str
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    how: str = ""
    unchecked: tuple[Unchecked, ...] = ()
    planned: Planned | None = None


Solve = Callable[[Problem], Answer]
"""How a question is answered; what answers it may ask it again of smaller ones."""
