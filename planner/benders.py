"""Rounds of search and placement until the best design that can be placed is found.

Logic-based Benders decomposition: the search is the master problem, `solver/` places its best designs, and each failure becomes a
no-good (`no_goods.py`) for the next search.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterator, Mapping, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.findings.finding import Finding
from ..models.placements.assignment import seats
from ..models.placements.plan import Plan
from ..models.placements.run import Run
from ..models.planning.cost_models import CostModel, iteration, segment_times
from ..models.planning.design import Design
from ..models.planning.limits import RefusedCount
from ..models.planning.option import Option
from ..models.planning.planned import CostedDesign, Unplaceable
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECONDS, Workload
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.pricing.price import effect
from ..solver.pricing.priced import BETTER
from ..solver.sandbox.stopped import Stopped, interrupted
from ..solver.session import Session
from .check import faults
from .costs import cost_model
from .counting import Counting, OnCounting, silent
from .no_goods import ruled_out, this_alone
from .placing.lying_over import all_held
from .placing.placing import placing
from .problem import asked
from .refusing import Refused
from .search.found import Price, Searched, SearchResult
from .search.search import search
from .traffic import Traffic
from .unplaced import over_budget, refusal

ALTERNATIVES = 3
"""Plans of other structures that are named beside the answer, at most."""
ROUNDS = 12
"""Searches for designs that are placed, at most; after each, what is known of its designs rules these out."""
ALL_PROBES = 48
"""Further placements that are tried so that a design rules out others with it, of all designs together."""
PLACED = 12
"""Designs that have a placement, at most, where the best of them is not known before they are placed."""
ASKED = 0.00001
"""Deterministic seconds that each option of a component counts for in what is asked: as long as it takes to list them."""
FIRST = 0.5
"""Of the time: so much is searched in any case, however long it took to list what is asked."""
SMALL, MORE = 16, 8
"""On clusters of so many accelerators there are so many times these rounds and these designs."""


def nobody(plan: Plan, design: Design) -> Sequence[Finding]:
    """Refuses nothing."""
    return ()


@dataclass
class Rounds:
    """What was searched, placed and ruled out until now. A placement that is `refused` is none."""

    problem: Problem
    workload: Workload
    solve: Solve
    limit: float
    session: Session
    counting: OnCounting
    refused: Refused = nobody
    spent: float = 0.0
    number: int = 0
    probes: int = ALL_PROBES
    out: list[RefusedCount] = field(default_factory=list)
    done: list[RefusedCount] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    unplaceable: list[Unplaceable] = field(default_factory=list)
    """What any search came by."""
    structures: tuple[int, int] = (0, 0)
    """How many there are before any design is ruled out, and of how many the counts were searched."""
    least: int = 0
    """No design that is not placed or ruled out yet costs less, as any search proved: later ones may be cut."""
    unsure: list[Price] = field(default_factory=list)
    """What designs cost at least of which it is not known whether they can be placed, or how well."""

    def __post_init__(self) -> None:
        self.model = cost_model(self.workload.model)
        self.traffic = Traffic(self.problem, self.workload)
        self.varies = bool(self.traffic.costs)
        """Can a placement cost more than its design does?"""
        self.best: Placed | None = None
        self.unwritable: Placed | None = None
        """The first placement that was refused."""
        self.closed = False
        """Is all that is better ruled out?"""
        self.first: PlanningProblem | None = None
        """The question without what is ruled out."""
        self.listing = 0.0
        """Deterministic seconds that it takes to list what is asked."""
        self.is_small = self.number == 0 and self.problem.cluster.total() <= SMALL
        """Are there more rounds, and more designs that are placed?"""
        self.ended = False
        """Was what a search had found until a Ctrl-C, or until the time was over, placed, or tried to be?"""
        self.search()

    @property
    def stopped(self) -> Stopped | None:
        """What ended the search for designs, or the placing of them, before it was decided."""
        return self.searched.stopped or (interrupted() if self.session.cancelled else None)

    def goes_on(self) -> bool:
        """Can there be anything better than the best, and may it still be looked for?"""
        first = self.searched.best
        if first is None or (self.best is not None and (first.price >= self.best.price or not self.varies)):
            self.closed = self.searched.first_proved
            return False
        if self.ended or (self.session.cancelled and self.best is not None):
            return False
        # What nobody could place or weigh may be better than all that comes after it.
        more = MORE if self.is_small and self.spent < self.limit and not self.unsure else 1
        return self.number < ROUNDS * more and len(self.placed) < PLACED * more

    def place(self) -> None:
        """Places what was found, the best first; then searches for what is left, if there is time or nothing was placed.

        After a Ctrl-C it is placed as far as no search is needed.
        """
        self.number += 1
        first = self.searched.found[0]
        for found in self.searched.found:
            worse = self.best is not None and found.price > self.best.price
            if found is not first and (worse or (not self.varies and found.price > first.price)):
                break
            if not self._place(found) and found is first and not self.session.cancelled:
                break  # others like it can be better than what comes next
            if self.session.cancelled and self.best is not None:
                break
        self.ended = self.session.cancelled or (self.best is not None and self.spent >= self.limit)
        if not self.ended and (self.best is None or self.varies):
            self.search()

    def search(self) -> None:
        """The question without what is ruled out, and the best designs of it."""
        self.question: PlanningProblem = asked(self.problem, self.workload, (*self.out, *self.done))
        least = 0.0 if self.first else FIRST * self.limit
        self.listing = ASKED * sum(map(len, self.question.options.values()))
        self.spent += self.listing
        left = max(self.limit - self.spent, least)
        self.searched: Searched = search(self.question, self.model, left, ALTERNATIVES + 1, session=self.session, counting=self._tell)
        self.first = first = self.first or self.question
        listed = (replace(each, design=as_listed(each.design, self.question, self.model, first)) for each in self.searched.found)
        self.searched = replace(self.searched, found=tuple(listed))
        self.spent += self.searched.spent
        self.least = max(self.least, self.searched.bound or 0)
        self.structures = max(self.structures, self.searched.structures)

    def _tell(self, now: Counting) -> None:
        """What an earlier search proved holds for this one too."""
        held = 0 if now.by_time else self.question.given.held
        self.counting(replace(now, bound=max(now.bound, self.least + held)))

    def _place(self, found: SearchResult) -> bool:
        """Places a design; whether it has a placement, or might have one."""
        design = found.design
        answer = self.solve(self.traffic.asked(placing(self.problem, self.question, design)))
        if answer.plan is None:
            self._is_out(found, answer)
            return False
        placed = self.as_placed(self.priced(design), answer, answer.plan)
        if why := self.refused(answer.plan, design):
            self.unwritable = self.unwritable or placed
            self._is_out(found, Answer(UNDECIDED, findings=tuple(map(refusal, why))))
            return False
        priced, crossing = placed.priced, placed.priced.traffic
        # Another placement may have more of it on what others let it use.
        least = self.price(replace(priced, held=None))
        if self.traffic.costs:
            self.done.append(this_alone(design))
            crosses = 0 if self.problem.job.overlaps else self.traffic.least(answer.plan)  # over what is given it is not all weighed
            least = self.price(replace(priced, traffic=crosses, held=None))
        elif least < placed.price:
            self.varies = True
            self.done.append(this_alone(design))
        if least < placed.price:
            self.unsure.append(least)
        if self.traffic.costs:
            most, takes = self.workload.budget.nanoseconds, priced.nanoseconds + crossing
            if most is not None and takes > most:
                self.unplaceable.append(Unplaceable(priced, (over_budget(takes, crossing, most),)))
                return True
        self.placed.append(placed)
        if self.best is None or placed.price < self.best.price or (placed.price == self.best.price and placed.is_better(self.best)):
            self.best = placed
        return True

    def _is_out(self, found: SearchResult, answer: Answer) -> None:
        if self.best is not None and not self.varies:
            return  # it costs as much as the best, and was no more than another answer
        self.bar(found, answer)
        if answer.verdict != IMPOSSIBLE or self.out[-1].segments is not None:
            self.unsure.append(found.price)

    def bar(self, found: SearchResult, answer: Answer) -> None:
        """Rules out a design of which no placement is known, and with it what no placement has for the same reason."""
        if answer.verdict == IMPOSSIBLE and not self.session.cancelled:
            out = ruled_out(self.problem, self.question, found.design, self._probe, self.probes)
        else:
            out = this_alone(found.design)
        self.out.append(out)
        self.unplaceable.append(Unplaceable(self.priced(found.design), answer.findings))

    def _probe(self, part: Problem) -> Answer:
        self.probes -= 1
        return Answer(UNDECIDED) if self.session.cancelled else self.solve(part)

    def priced(self, design: Design) -> CostedDesign:
        """A design with what an iteration of it takes, without traffic."""
        return CostedDesign(design, iteration(self.model, self.question, design), tuple(segment_times(self.model, self.question, design)))

    def price(self, priced: CostedDesign) -> Price:
        """What is as small as possible, and what comes second, traffic with the time."""
        takes, used = priced.nanoseconds + priced.traffic, priced.accelerators(self.question) - self.question.given.held
        return (takes, used) if self.workload.aim == SECONDS else (used, takes)

    def held(self, plan: Plan) -> int | None:
        """How many accelerators all hold in a placement, where its design does not say it."""
        return all_held(self.problem, plan.assignment) if self.question.given.shared else None

    def as_placed(self, priced: CostedDesign, answer: Answer, plan: Plan) -> Placed:
        """A design with the placement that was found for it."""
        its = replace(priced, traffic=self.traffic.nanoseconds(plan.assignment), held=self.held(plan))
        return Placed(its, replace(answer, plan=self.traffic.answered(plan)), self.price(its))


@dataclass(frozen=True)
class Placed:
    """A design with its placement, and what both cost.

    `is_own`: is it the file's own placement?
    """

    priced: CostedDesign
    answer: Answer
    price: Price
    is_own: bool = False

    def is_better(self, other: Placed) -> bool:
        """Is its placement the better one, by the objective of placements?"""
        return effect(other.answer, self.answer) == BETTER


def is_where(plan: Plan, own: Mapping[str, Sequence[Run]]) -> bool:
    """Is all of it where the file itself has it?"""
    return all(list(seats(plan.assignment.of(name))) == list(seats(runs)) for name, runs in own.items())


def trial(
    problem: Problem, workload: Workload, solve: Solve, limit: float, session: Session,
    refused: Refused, rounds: int, probes: int = ALL_PROBES,
) -> Rounds:  # fmt: skip
    """So many rounds, and at most so many `probes`; the other options are those of plan.py. Nobody is told how it goes on meanwhile."""
    run = Rounds(problem, workload, solve, limit, session, silent, refused, number=ROUNDS - rounds, probes=probes)
    while run.goes_on():
        run.place()
    return run


def fitting(problem: Problem, question: PlanningProblem, design: Design) -> Problem:
    """The problem of placing a design in any way that holds: nothing is weighed, unless the file limits what it comes to."""
    return unweighed(placing(problem, question, design))


def unweighed(placed: Problem) -> Problem:
    """The same without what only says which placement is the better one."""
    if placed.caps:
        return placed
    components = tuple(replace(each, traffic=0) for each in placed.components)
    return replace(placed, job=replace(placed.job, components=components, links=()), previous=None)


def as_written(problem: Problem, question: PlanningProblem, design: Design) -> Problem:
    """The problem of a design whose components lie where the file itself has them.

    With whom a component goes along that has no times is how a plan would have it, and no demand.
    """
    placed = placing(problem, question, design)
    relations = tuple(each for each in placed.job.relations if not each.proposed)
    own, servers = problem.job.planning.own, problem.job.planning.own_servers
    components = tuple(
        replace(each, runs=own.get(each.name, each.runs), server=servers.get(each.name, each.server)) for each in placed.components
    )
    return replace(
        placed,
        job=replace(
            placed.job,
            components=components,
            relations=relations,
            choices={},
            planning=replace(placed.job.planning, laying=None, accepted={}),
        ),
    )


def as_listed(design: Design, question: PlanningProblem, model: CostModel, first: PlanningProblem) -> Design:
    """The design with those degrees of the question in which nothing is ruled out (`first`), wherever it is an answer with them too.

    There the file's own come before the others, and these in the order in which they are listed. A search takes others as well where
    the first ones are ruled out with sizes that this design has not.
    """
    if not question.barred and question.crossing is not None:
        return design  # less of what they exchange may cross the topology with those that were found
    for name in question.components:
        for option in _before(design.options[name], first.options[name]):
            options = {**question.options, name: (*question.options[name], option)}
            tried = replace(design, options={**design.options, name: option})
            if not any(faults(replace(question, options=options), model, tried)):
                question, design = replace(question, options=options), tried
                break
    return design


def _before(mine: Option, options: tuple[Option, ...]) -> Iterator[Option]:
    """Those that are as good and come before it; all of them where it is only looked at since others are ruled out."""
    for each in options:
        if each == mine:
            return
        if (each.kind, each.amount, each.nanoseconds) == (mine.kind, mine.amount, mine.nanoseconds):
            yield each
