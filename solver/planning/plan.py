"""Counts, degrees and sharing are chosen, then placed; what cannot be placed is ruled out, until the best that can is found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Mapping, Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.placements.assignment import Run, seats
from ...models.placements.plan import OPTIMAL, Plan
from ...models.planning.design import Design
from ...models.planning.limits import Barred
from ...models.planning.planned import Planned, Priced, Unplaceable
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS, Workload
from ...models.problem import Problem
from ..pricing.price import effect
from ..pricing.priced import BETTER
from .after.own.own_ranks import own_of
from .asked import asked
from .asking.related import overlaps
from .costs import cost_model
from .costs.cost_model import iteration, segment_times
from .counting import OnCounting, silent
from .loop.at_stake import at_stake
from .loop.barring import ruled_out, this_alone
from .loop.beside import ALTERNATIVES, Beside
from .loop.fitting import as_written, fitting
from .loop.told import nothing, over_budget, overlapping, too_many
from .loop.traffic import Traffic
from .placing.placing import placing
from .search import Found, Price, Searched, search
from .sizes.settling import Settle
from .why.none import why_none

Solve = Callable[[Problem], Answer]
ROUNDS = 12
"""Searches for designs that are placed, at most; after each, what is known of its designs rules these out."""
ALL_PROBES = 48
"""Further placements that are tried so that a design rules out others with it, of all designs together."""
PLACED = 12
"""Designs that have a placement, at most, where the best of them is not known before they are placed."""


def plan(
    problem: Problem, workload: Workload, solve: Solve, limit: float = 10.0, seed: int = 1, settle: Settle | None = None,
    answer_interrupted: bool = True, counting: OnCounting = silent,
) -> Answer:  # fmt: skip
    """The best design that can be placed, with its placement; of designs that cost the same, of several structures, the better placement.

    `solve` places a problem whose counts are decided. The proof covers both: every design that would be better was ruled out by a
    search over designs, or by a proof that it cannot be placed. Where traffic counts as time, designs are placed in the order of their
    own time, until that alone is no less than the best with its traffic. Where the file's own placement is as good, it is the answer.
    `settle` and `answer_interrupted` are those of search.py.
    """
    if pair := overlaps(problem, [each for each in problem.components if each.timed]):
        return overlapping(*pair)
    loop = _Loop(problem, workload, solve, limit, seed, settle, answer_interrupted, counting)
    while loop.goes_on():
        loop.place()
    return loop.answer()


@dataclass(frozen=True)
class _Placed:
    """A design with its placement, and what both cost."""

    priced: Priced
    answer: Answer
    price: Price
    is_own: bool = False
    """Is it the file's own placement?"""


@dataclass
class _Loop:
    """What was searched, placed and ruled out until now."""

    problem: Problem
    workload: Workload
    solve: Solve
    limit: float
    seed: int
    settle: Settle | None
    answer_interrupted: bool
    counting: OnCounting
    spent: float = 0.0
    rounds: int = 0
    probes: int = ALL_PROBES
    out: list[Barred] = field(default_factory=list)
    done: list[Barred] = field(default_factory=list)
    placed: list[_Placed] = field(default_factory=list)
    unplaceable: list[Unplaceable] = field(default_factory=list)
    structures: tuple[int, int] = (0, 0)
    """How many there are before any design is ruled out, and of how many the counts were searched."""
    unsure: list[int] = field(default_factory=list)
    """What designs cost at least of which it is not known whether they can be placed, or how well."""

    def __post_init__(self) -> None:
        self.model = cost_model(self.workload.model)
        self.traffic = Traffic(self.problem, self.workload)
        self.best: _Placed | None = None
        self.closed = False
        """Is all that is better ruled out?"""
        self._search()

    def goes_on(self) -> bool:
        """Can there be anything better than the best, and may it still be looked for?"""
        first = self.searched.best
        if first is None or (self.best is not None and (first.price >= self.best.price or not self.traffic.costs)):
            self.closed = self.searched.proved
            return False
        return self.rounds < ROUNDS and len(self.placed) < PLACED

    def place(self) -> None:
        """Places what was found, the best first; then searches for what is left."""
        self.rounds += 1
        first = self.searched.found[0]
        for found in self.searched.found:
            worse = self.best is not None and found.price > self.best.price
            if found is not first and (worse or (not self.traffic.costs and found.price > first.price)):
                break
            if not self._place(found) and found is first:
                break  # others like it can be better than what comes next
        if self.best is None or self.traffic.costs:
            self._search()

    def answer(self) -> Answer:
        """The best, with what is proved of it; why there is none."""
        question = asked(self.problem, self.workload, self.out) if self.done else self.question
        best = self._or_own(self.best, question)
        if best is None and self.searched.stopped is not None:
            return Answer(UNDECIDED, findings=(self.searched.stopped,), how="search")
        if best is None and self.searched.best is None and self.closed and not self.unplaceable:
            return why_none(self.problem, self.workload, self.question, self.model, self.seed)
        if best is None:
            return nothing(self.closed and not self.unsure, self.unplaceable) if self.searched.best is None else too_many(self.unplaceable)
        known = [] if self.closed or self.searched.bound is None else [self.searched.bound]
        bound = min([best.price[0], *known, *self.unsure])
        stopped = self.searched.stopped
        beside = Beside(best.priced.design, self._is_sure, self._fits, self._priced_by, self._bar, self._again)
        others = beside.look(((each.price, each.priced) for each in self.placed), self.searched.found)
        planned = Planned(
            question, self.model.name, best.priced, bound, bound == best.price[0], others, tuple(self.unplaceable), self.structures,
            not_placed=tuple(each for each in others if each in beside.unsure), is_own=best.is_own,
        )  # fmt: skip
        return replace(best.answer, planned=planned, findings=(*best.answer.findings, *([stopped] if stopped is not None else [])))

    def _or_own(self, best: _Placed | None, question: Question) -> _Placed | None:
        """The file's own placement where the best is no better: who has placed it so need not change it."""
        its = own_of(self.problem, question, self.model) if self.problem.job.own else None
        if its is None or its.priced is None or its.forbidden or (best is not None and self._price(its.priced) > best.price):
            return best
        if best is not None and best.answer.plan is not None and _is_where(best.answer.plan, self.problem.job.own):
            return replace(best, is_own=True)
        # What the dialect lays out is where it puts such sizes: that may be elsewhere, and could not be written.
        placed = placing if self.problem.job.laying is not None else as_written
        answer = self.solve(self.traffic.asked(placed(self.problem, question, its.priced.design)))
        if answer.plan is None or not _is_where(answer.plan, self.problem.job.own):
            return best
        own = replace(self._as_placed(its.priced, answer, answer.plan), is_own=True)
        if best is None:
            most = self.workload.budget.nanoseconds
            return own if most is None or own.priced.nanoseconds + own.priced.traffic <= most else None
        return best if own.price > best.price or (own.price == best.price and _is_better(best, own)) else own

    def _is_sure(self, found: Found) -> bool:
        """Has a design a placement, whatever that is like, as a sum shows?"""
        return not self.traffic.costs and not at_stake(self.problem, self.question, found.design)

    def _fits(self, found: Found) -> Answer:
        """A placement of a design, as good as can be where traffic counts as time; else any that holds."""
        design = found.design
        if not self.traffic.costs:
            return self.solve(fitting(self.problem, self.question, design))
        answer = self.solve(self.traffic.asked(placing(self.problem, self.question, design)))
        if answer.plan is None:
            return answer
        placed, most = self._as_placed(self._priced(design), answer, answer.plan), self.workload.budget.nanoseconds
        takes = placed.priced.nanoseconds + placed.priced.traffic
        if most is not None and takes > most:
            return Answer(IMPOSSIBLE, findings=(over_budget(takes, placed.priced.traffic, most),), how="search")
        return answer

    def _priced_by(self, found: Found, answer: Answer | None) -> tuple[Price, Priced]:
        """What a design costs, with its placement if it has one."""
        priced = self._priced(found.design)
        if answer is not None and answer.plan is not None and self.traffic.costs:
            priced = replace(priced, traffic=self.traffic.nanoseconds(answer.plan))
        return self._price(priced), priced

    def _again(self) -> tuple[Found, ...]:
        """What is found without what was ruled out; nothing where no time is left."""
        if self.spent >= self.limit:
            return ()
        self._search()
        return self.searched.found

    def _search(self) -> None:
        """The question without what is ruled out, and the best designs of it."""
        self.question: Question = asked(self.problem, self.workload, (*self.out, *self.done))
        left = max(self.limit - self.spent, 0.0)
        self.searched: Searched = search(
            self.question,
            self.model,
            left,
            self.seed,
            ALTERNATIVES + 1,
            (),
            self.settle,
            self.answer_interrupted,
            counting=self.counting,
        )
        self.spent += self.searched.spent
        self.structures = max(self.structures, self.searched.structures)

    def _place(self, found: Found) -> bool:
        """Places a design; whether it has a placement, or might have one."""
        design = found.design
        answer = self.solve(self.traffic.asked(placing(self.problem, self.question, design)))
        if answer.plan is None:
            self._is_out(found, answer)
            return False
        placed = self._as_placed(self._priced(design), answer, answer.plan)
        priced, crossing = placed.priced, placed.priced.traffic
        if self.traffic.costs:
            self.done.append(this_alone(design))
            if crossing and answer.plan.status != OPTIMAL:
                self.unsure.append(found.price[0])
            most, takes = self.workload.budget.nanoseconds, priced.nanoseconds + crossing
            if most is not None and takes > most:
                self.unplaceable.append(Unplaceable(priced, (over_budget(takes, crossing, most),)))
                return True
        self.placed.append(placed)
        if self.best is None or placed.price < self.best.price or (placed.price == self.best.price and _is_better(placed, self.best)):
            self.best = placed
        return True

    def _is_out(self, found: Found, answer: Answer) -> None:
        if self.best is not None and not self.traffic.costs:
            return  # it costs as much as the best, and was no more than another answer
        self._bar(found, answer)
        if answer.verdict != IMPOSSIBLE or self.out[-1].segments is not None:
            self.unsure.append(found.price[0])

    def _bar(self, found: Found, answer: Answer) -> None:
        """Rules out a design of which no placement is known, and with it what no placement has for the same reason."""
        if answer.verdict == IMPOSSIBLE:
            out = ruled_out(self.problem, self.question, found.design, self._probe, self.probes)
        else:
            out = this_alone(found.design)
        self.out.append(out)
        self.unplaceable.append(Unplaceable(self._priced(found.design), answer.findings))

    def _probe(self, part: Problem) -> Answer:
        self.probes -= 1
        return self.solve(part)

    def _priced(self, design: Design) -> Priced:
        return Priced(design, iteration(self.model, self.question, design), tuple(segment_times(self.model, self.question, design)))

    def _price(self, priced: Priced) -> Price:
        takes, used = priced.nanoseconds + priced.traffic, priced.design.accelerators
        return (takes, used) if self.workload.aim == SECONDS else (used, takes)

    def _as_placed(self, priced: Priced, answer: Answer, plan: Plan) -> _Placed:
        """A design with the placement that was found for it."""
        its = replace(priced, traffic=self.traffic.nanoseconds(plan))
        return _Placed(its, replace(answer, plan=self.traffic.answered(plan)), self._price(its))


def _is_where(plan: Plan, own: Mapping[str, Sequence[Run]]) -> bool:
    """Is all of it where the file itself has it?"""
    return all(list(seats(plan.assignment.of(name))) == list(seats(runs)) for name, runs in own.items())


def _is_better(one: _Placed, other: _Placed) -> bool:
    """Is the placement of the first the better one, by the objective of placements?"""
    return effect(other.answer, one.answer) == BETTER
