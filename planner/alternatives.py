"""Alternatives to a plan: other structures, fewer accelerators, other degrees; all placed."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import chain, zip_longest
from typing import Callable, Iterator, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.planning.design import Design
from ..models.planning.planned import CostedDesign, PlanningResult, RelatedPlan
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import ACCELERATORS, SECONDS, Workload
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.tied_degrees import as_chosen, with_leading_degrees
from ..solver.session import SearchNeeded, Session
from .benders import ALTERNATIVES, Placed, Rounds, fitting, trial
from .costs import cost_model
from .placing.placing import placing
from .scope import as_it_spans
from .search.found import Price, SearchResult
from .search.search import search
from .unplaced import over_budget, refusal
from .write_back import Refused

GIVEN = "given"
"""Method of an answer without a search."""
TRIES = 8
"""Maximum number of placed designs."""
AGAIN = 3
"""Maximum number of further searches, each without unplaceable designs."""
SEARCHED = 0.1
"""Deterministic seconds counted for a searched placement."""
SHARE = 0.05
"""Share of the search time for all alternatives, placements included."""
ROUNDS, PROBES = 2, 2
"""(rounds, probes) of the loop for each alternative."""
TRIED = 6
"""Maximum number of questions."""


def best_alternatives(rounds: Rounds, best: Placed) -> tuple[tuple[CostedDesign, ...], Sequence[CostedDesign]]:
    """Return the best designs of other structures, best first, and the unplaced ones of them."""
    beside = _Beside(rounds, best.priced.design, rounds.limit)
    return beside.look(), beside.unsure


@dataclass
class _Beside:
    """Search for the best designs of other structures.

    `left` : deterministic seconds for placements. `tries` : designs that may still be placed.
    `unsure` : designs that may have no placement.
    """

    rounds: Rounds
    best: Design
    left: float
    tries: int = TRIES
    unsure: list[CostedDesign] = field(default_factory=list)
    _known: list[tuple[Price, CostedDesign]] = field(default_factory=list)

    def look(self) -> tuple[CostedDesign, ...]:
        """Return the best designs by price, placed or not."""
        rounds = self.rounds
        for placed in sorted(rounds.placed, key=lambda placed: placed.price):
            if not self._is_seen(placed.priced.design):
                self._known.append((placed.price, placed.priced))
        for _ in range(AGAIN + 1):
            is_open = self._try(rounds.searched.found)
            if not is_open or rounds.spent >= rounds.limit or rounds.session.cancelled:
                break
            rounds.search()
        return tuple(priced for _, priced in self._best())

    def _try(self, found: Sequence[SearchResult]) -> bool:
        """Place the best candidates; True if a no-good was learned."""
        ruled_out, rounds = False, self.rounds
        for result in found:
            best = self._best()
            if self._is_seen(result.design) or (len(best) == ALTERNATIVES and result.price >= best[-1][0]):
                continue
            answer = self._place(result)
            if answer is not None and answer.verdict == IMPOSSIBLE:
                self._rule_out(result, answer)
                ruled_out = True
                continue
            price, priced = _priced(rounds, result, answer)
            self._known.append((price, priced))
            if answer is None or answer.plan is None:
                self.unsure.append(priced)
                if answer is not None and answer.how != GIVEN:
                    self.tries = 0
        return ruled_out and self.tries > 0

    def _place(self, found: SearchResult) -> Answer | None:
        """Place a design; None without time."""
        self.tries -= 1
        if self.tries < 0 or self.left <= 0:
            return None
        answer = _fits(self.rounds, found)
        self.left -= SEARCHED if answer.how == "search" else 0.0
        return answer

    def _rule_out(self, found: SearchResult, answer: Answer) -> None:
        """Learn a no-good from a design, as strong as time allows."""
        probes = self.rounds.probes
        self.rounds.probes = allowed = max(0, min(probes, int(self.left / SEARCHED)))
        self.rounds.bar(found, answer)
        self.left -= SEARCHED * (allowed - self.rounds.probes)

    def _is_seen(self, design: Design) -> bool:
        return design.structure() in {self.best.structure(), *(priced.design.structure() for _, priced in self._known)}

    def _best(self) -> list[tuple[Price, CostedDesign]]:
        return sorted(self._known, key=lambda entry: entry[0])[:ALTERNATIVES]


def _fits(rounds: Rounds, found: SearchResult) -> Answer:
    """Place a design, optimally if traffic counts as time; None after Ctrl-C."""
    design = found.design
    if rounds.session.cancelled:
        return Answer(UNDECIDED, how="search")
    if not rounds.traffic.costs:
        return _unless_refused(rounds, found, rounds.solve(fitting(rounds.problem, rounds.question, design)))
    answer = rounds.solve(rounds.traffic.weigh(placing(rounds.problem, rounds.question, design)))
    if answer.plan is None:
        return answer
    placed, most = rounds.as_placed(rounds.priced(design), answer, answer.plan), rounds.workload.budget.nanoseconds
    takes = placed.priced.total
    if most is not None and takes > most:
        return Answer(IMPOSSIBLE, findings=(over_budget(takes, placed.priced.traffic, most),), how="search")
    return _unless_refused(rounds, found, answer)


def _unless_refused(rounds: Rounds, found: SearchResult, answer: Answer) -> Answer:
    """Return the answer; undecided if the framework refuses the placement."""
    why = rounds.refused(answer.plan, found.design) if answer.plan is not None else ()
    return Answer(UNDECIDED, findings=tuple(map(refusal, why)), how=GIVEN) if why else answer


def _priced(rounds: Rounds, found: SearchResult, answer: Answer | None) -> tuple[Price, CostedDesign]:
    """Return the price of a design, and the design with its placement if any."""
    priced = rounds.priced(found.design)
    if answer is not None and answer.plan is not None:
        traffic = rounds.traffic.nanoseconds(answer.plan.assignment) if rounds.traffic.costs else 0
        priced = replace(priced, traffic=traffic, held=rounds.held(answer.plan))
    return rounds.price(priced), priced


def with_further(plan: Solve, place: Callable[[Workload], Solve], refused: Refused, limit: float, session: Session) -> Solve:
    """Wrap a planner: add plans on fewer accelerators and with other degrees."""

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        planned, workload = found.planned, problem.job.planning.workload
        if planned is None or workload is None or session.cancelled or len(planned.alternatives) >= ALTERNATIVES:
            return found
        searches = found.how == "search"
        looking = _Looking(problem, planned, workload, place, refused, session, searches, SHARE * limit)
        return replace(found, planned=replace(planned, further=looking.look())) if looking.left > planned.spent else found

    return answer


@dataclass
class _Looking:
    """Search for further plans.

    `searches` : True if placements may be searched; loading a solver takes longer than most plans.
    `left` : deterministic seconds.
    """

    problem: Problem
    planned: PlanningResult
    workload: Workload
    place: Callable[[Workload], Solve]
    refused: Refused
    session: Session
    searches: bool
    left: float
    found: list[RelatedPlan] = field(default_factory=list)

    def look(self) -> tuple[RelatedPlan, ...]:
        """Return the plans to print beside other arrangements, best first."""
        base = as_it_spans(as_chosen(self.problem, self.planned), self.planned.question)
        workload = base.job.planning.workload or self.workload
        fewer = ((base, fewer_workload) for fewer_workload in _on_fewer(self.planned, workload))
        variants = chain(_with_other_degrees(base, self.planned), self._with_other_leading_degrees())
        degrees = ((variant, variant.job.planning.workload or workload) for variant in variants)
        for number, asked in enumerate(filter(None, chain.from_iterable(zip_longest(fewer, degrees)))):
            full = len(self.planned.alternatives) + len(self.found) >= ALTERNATIVES
            if full or number >= TRIED or self.left <= 0 or self.session.cancelled:
                break
            self._ask(*asked)
        return tuple(sorted(self.found, key=lambda plan: plan.priced.price(self.planned.question)))

    def _ask(self, problem: Problem, workload: Workload) -> None:
        place = self.place(workload)

        def counted(part: Problem) -> Answer:
            answer = place(part) if self.searches else self._without_search(place, part)
            self.left -= SEARCHED if answer.how == "search" else 0.0
            return answer

        changed = replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, workload=workload)))
        run = trial(changed, workload, counted, self.left, self.session, self.refused, ROUNDS, PROBES)
        self.left -= run.spent
        if run.best is None or run.question.kinds != self.planned.question.kinds:  # designs of other kinds are printed beside no plan
            return
        best, price, job = run.best.priced, run.best.price, self.problem.job
        best = replace(best, models=best.models or run.question.scope.on_models)
        if self._is_another(best):
            proved = run.closed and not any(open_price < price for open_price in run.unsure)
            open_ = job.planning.not_read or job.planning.sizes_not_read or self.planned.in_part or self.planned.alternatives_open
            self.found.append(RelatedPlan(best, proved and not open_))

    def _without_search(self, place: Solve, part: Problem) -> Answer:
        """Place a design without a search; undecided if that is not enough."""
        try:
            with self.session.without_search():
                return place(part)
        except SearchNeeded:
            return Answer(UNDECIDED, how=GIVEN)

    def _with_other_leading_degrees(self) -> Iterator[Problem]:
        """Yield the problem with other leading degrees, cheapest first."""
        chosen, known = as_chosen(self.problem, self.planned), dict[Price, PlanningProblem]()
        for question in self.planned.parts:
            if self.left > 0 and with_leading_degrees(self.problem, question).job != chosen.job:
                searched = search(question, cost_model(self.planned.model), self.left)
                self.left -= searched.spent
                if searched.best is not None:
                    known.setdefault(searched.best.price, question)
        for _, question in sorted(known.items(), key=lambda entry: entry[0]):
            yield as_it_spans(with_leading_degrees(self.problem, question), question)

    def _is_another(self, priced: CostedDesign) -> bool:
        known = [
            self.planned.compared,
            *(alternative.design for alternative in self.planned.alternatives),
            *(alternative.priced.design for alternative in self.found),
        ]
        return priced.design not in known and priced.price(self.planned.question) != self.planned.price


def _on_fewer(planned: PlanningResult, workload: Workload) -> Iterator[Workload]:
    """Yield workloads for the quickest plan on half and on a quarter of the accelerators."""
    if workload.aim == ACCELERATORS:
        yield replace(workload, aim=SECONDS)
        return
    for most in dict.fromkeys((planned.held - 1, planned.held // 2, planned.held // 4)):
        if most > 0:
            yield replace(workload, budget=replace(workload.budget, accelerators=most))


def _with_other_degrees(base: Problem, planned: PlanningResult) -> Iterator[Problem]:
    """Yield the problem with other degrees for a component."""
    options = planned.compared.options
    for name, choices in base.job.choices.items():
        left = tuple(choice for choice in choices if name in options and choice != options[name].parallel)
        if left:
            yield replace(base, job=replace(base.job, choices={**base.job.choices, name: left}))
