"""Alternatives to a plan: other structures, fewer accelerators, other degrees; all placed."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import chain, zip_longest
from typing import Callable, Iterator, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.planning.planned import CostedDesign, PlanningResult, RelatedPlan
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import ACCELERATORS, SECONDS, Workload
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.tied_degrees import as_chosen, with_leading_degrees
from ..solver.session import SearchNeeded, Session
from .benders import ALTERNATIVES, GIVEN, Placed, Rounds, trial
from .costs import cost_model
from .scope import as_it_spans
from .search.found import Price
from .search.search import search
from .write_back import Refused

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
    """Return the best designs of other structures by price, and the unplaced ones among them.

    They are placed as long as time and tries are left; a design without a placement is a no-good for
    a further search.
    """
    known, seen = list[tuple[Price, CostedDesign]](), {best.priced.design.structure()}
    unsure, left, tries = list[CostedDesign](), rounds.limit, TRIES

    def keep(price: Price, priced: CostedDesign) -> None:
        known.append((price, priced))
        known.sort(key=lambda entry: entry[0])
        seen.add(priced.design.structure())

    for placed in sorted(rounds.placed, key=lambda placed: placed.price):
        if placed.priced.design.structure() not in seen:
            keep(placed.price, placed.priced)
    for again in range(AGAIN + 1):
        ruled_out = False
        for found in rounds.searched.found:
            if found.design.structure() in seen or (len(known) >= ALTERNATIVES and found.price >= known[ALTERNATIVES - 1][0]):
                continue
            answer, attempt = Answer(UNDECIDED), None
            if tries > 0 and left > 0:
                answer, attempt = rounds.attempt(found.design, anywhere=True)
                left -= SEARCHED if answer.how == "search" else 0.0
            tries -= 1
            if answer.verdict == IMPOSSIBLE:
                rounds.probes = allowed = max(0, min(rounds.probes, int(left / SEARCHED)))
                rounds.bar(found, answer)
                left, ruled_out = left - SEARCHED * (allowed - rounds.probes), True
                continue
            priced = attempt.priced if attempt is not None and answer.plan is not None else rounds.priced(found.design)
            keep(rounds.price(priced), priced)
            if answer.plan is None:
                unsure.append(priced)
                tries = tries if answer.how == GIVEN else 0
        if not ruled_out or tries <= 0 or rounds.spent >= rounds.limit or rounds.session.cancelled or again == AGAIN:
            break
        rounds.search()
    return tuple(priced for _, priced in known[:ALTERNATIVES]), unsure


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
