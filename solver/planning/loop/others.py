"""The best designs of other structures than that of the answer, each with a placement where one is known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Sequence

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ....models.planning.planned import Priced
from ....models.record import dataclass
from ...sandbox.interrupts import was_heard
from ..placing.placing import placing
from ..searching.price import Price
from ..searching.search import Found
from .at_stake import at_stake
from .beside import GIVEN, Beside
from .fitting import fitting
from .placed import Placed
from .rounds import Rounds
from .told import over_budget, refusal

SEARCHED = 0.1
"""Deterministic seconds that a placement counts for that is searched."""


@dataclass
class _Time:
    """What is left for placing alternatives: as much as a search for a plan may take.

    Attributes
    ----------
    left : deterministic seconds.
    """

    rounds: Rounds
    left: float

    def place(self, found: Found) -> Answer | None:
        """See `_fits`; None where no time is left."""
        if self.left <= 0:
            return None
        answer = _fits(self.rounds, found)
        self.left -= SEARCHED if answer.how == "search" else 0.0
        return answer

    def rule_out(self, found: Found, answer: Answer) -> None:
        """Rules out a design, and with it as many others as there is time for."""
        probes = self.rounds.probes
        self.rounds.probes = allowed = max(0, min(probes, int(self.left / SEARCHED)))
        self.rounds.bar(found, answer)
        self.left -= SEARCHED * (allowed - self.rounds.probes)


def others(rounds: Rounds, best: Placed) -> tuple[tuple[Priced, ...], Sequence[Priced]]:
    """These designs, the best first, and those of them of which nobody knows whether they have a placement."""
    time = _Time(rounds, rounds.limit)
    beside = Beside(
        best.priced.design,
        partial(_is_sure, rounds),
        time.place,
        partial(_priced, rounds),
        time.rule_out,
        partial(_again, rounds),
    )
    found = beside.look(((each.price, each.priced) for each in rounds.placed), rounds.searched.found)
    return found, beside.unsure


def _is_sure(rounds: Rounds, found: Found) -> bool:
    """Has a design a placement, whatever that is like, as a sum shows?"""
    return not rounds.traffic.costs and not at_stake(rounds.problem, rounds.question, found.design)


def _fits(rounds: Rounds, found: Found) -> Answer:
    """A placement of a design, as good as can be where traffic counts as time; else any that holds. None after a Ctrl-C."""
    design = found.design
    if was_heard():
        return Answer(UNDECIDED, how="search")
    if not rounds.traffic.costs:
        return _unless_refused(rounds, found, rounds.solve(fitting(rounds.problem, rounds.question, design)))
    answer = rounds.solve(rounds.traffic.asked(placing(rounds.problem, rounds.question, design)))
    if answer.plan is None:
        return answer
    placed, most = rounds.as_placed(rounds.priced(design), answer, answer.plan), rounds.workload.budget.nanoseconds
    takes = placed.priced.nanoseconds + placed.priced.traffic
    if most is not None and takes > most:
        return Answer(IMPOSSIBLE, findings=(over_budget(takes, placed.priced.traffic, most),), how="search")
    return _unless_refused(rounds, found, answer)


def _unless_refused(rounds: Rounds, found: Found, answer: Answer) -> Answer:
    """Of a design whose placement is refused it is not known whether another one is taken."""
    why = rounds.refused(answer.plan, found.design) if answer.plan is not None else ()
    return Answer(UNDECIDED, findings=tuple(map(refusal, why)), how=GIVEN) if why else answer


def _priced(rounds: Rounds, found: Found, answer: Answer | None) -> tuple[Price, Priced]:
    """What a design costs, with its placement if it has one."""
    priced = rounds.priced(found.design)
    if answer is not None and answer.plan is not None:
        traffic = rounds.traffic.nanoseconds(answer.plan.assignment) if rounds.traffic.costs else 0
        priced = replace(priced, traffic=traffic, held=rounds.held(answer.plan))
    return rounds.price(priced), priced


def _again(rounds: Rounds) -> tuple[Found, ...]:
    """What is found without what was ruled out; nothing where no time is left, or after a Ctrl-C."""
    if rounds.spent >= rounds.limit or was_heard():
        return ()
    rounds.search()
    return rounds.searched.found
