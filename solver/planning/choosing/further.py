"""Where few other arrangements stand beside a plan: the best on fewer accelerators, and with other degrees."""

from __future__ import annotations

from dataclasses import field, replace
from itertools import chain, zip_longest
from typing import Callable, Iterator

from ....models.answer import UNDECIDED, Answer, Solve
from ....models.planning.planned import Further, Planned, Priced
from ....models.planning.question import Question
from ....models.planning.workload import ACCELERATORS, SECONDS, Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ...model.permission import SearchNeeded, no_search
from ...sandbox.interrupts import was_heard
from ..asking.of_ties import as_asked, as_chosen
from ..asking.spanning import as_it_spans
from ..costs import cost_model
from ..loop.beside import ALTERNATIVES, GIVEN
from ..loop.others import SEARCHED
from ..loop.rounds import Refused, Rounds
from ..loop.trial import trial
from ..searching.price import Price
from ..searching.search import search
from ..searching.sizes.settling import Settled, Unsettled

SHARE = 0.05
"""Of the time of a search: all that these may take, with what their placements take."""
ROUNDS, PROBES = 2, 2
"""Of each, so many searches of designs that are placed, and so many further placements by which one that has none rules out others."""
TRIED = 6
"""Questions that are asked at most."""

Ask = Callable[[Problem, Workload, Solve, float], Rounds]


def with_further(
    plan: Solve, place: Callable[[Workload], Solve], refused: Refused, limit: float, seed: int, answer_interrupted: bool
) -> Solve:  # fmt: skip
    """How a problem is planned, with these beside the plan, given how one is without them.

    They are asked for where the plan and what was found beside it took little, and until there are as many alternatives as are told; what
    costs just as much as the plan is no other plan. `place` places designs; the other options are those of loop/trial.py.
    """

    def asks(problem: Problem, workload: Workload, solve: Solve, left: float) -> Rounds:
        its = replace(problem, job=replace(problem.job, workload=workload))
        return trial(its, workload, solve, left, seed, _none_is_settled, answer_interrupted, refused, ROUNDS, PROBES)

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        planned, workload = found.planned, problem.job.workload
        if planned is None or workload is None or was_heard() or len(planned.others) >= ALTERNATIVES:
            return found
        looking = _Looking(problem, planned, workload, asks, place, seed, found.how == "search", SHARE * limit)
        return replace(found, planned=replace(planned, further=looking.look())) if looking.left > planned.spent else found

    return answer


@dataclass
class _Looking:
    """What is found of one plan.

    `left`: deterministic seconds that may be spent still. `searches`: may placements be searched? To load a solver, or to start a process
    that does, takes longer than most plans: only where the plan itself was searched it is there already.
    """

    problem: Problem
    planned: Planned
    workload: Workload
    ask: Ask
    place: Callable[[Workload], Solve]
    seed: int
    searches: bool
    left: float
    found: list[Further] = field(default_factory=list)

    def look(self) -> tuple[Further, ...]:
        """As many as are told beside the other arrangements, the best first."""
        base = as_it_spans(as_chosen(self.problem, self.planned), self.planned.question)
        workload = base.job.workload or self.workload
        fewer = ((base, each) for each in _on_fewer(self.planned, workload))
        others = chain(_with_other_degrees(base, self.planned), self._with_other_leading_degrees())
        degrees = ((each, each.job.workload or workload) for each in others)
        for number, asked in enumerate(filter(None, chain.from_iterable(zip_longest(fewer, degrees)))):
            full = len(self.planned.others) + len(self.found) >= ALTERNATIVES
            if full or number >= TRIED or self.left <= 0 or was_heard():
                break
            self._ask(*asked)
        return tuple(sorted(self.found, key=lambda each: each.priced.price(self.planned.question)))

    def _ask(self, problem: Problem, workload: Workload) -> None:
        place = self.place(workload)

        def counted(part: Problem) -> Answer:
            answer = place(part) if self.searches else _without_search(place, part)
            self.left -= SEARCHED if answer.how == "search" else 0.0
            return answer

        run = self.ask(problem, workload, counted, self.left)
        self.left -= run.spent
        if run.best is None or run.question.kinds != self.planned.question.kinds:  # designs of other kinds are told beside no plan
            return
        best, price, job = run.best.priced, run.best.price, self.problem.job
        best = replace(best, models=best.models or run.question.on_models)
        if self._is_another(best):
            proved = run.closed and not any(each < price for each in run.unsure)
            open_ = job.not_read or job.sizes_not_read or self.planned.in_part or self.planned.others_open
            self.found.append(Further(best, proved and not open_))

    def _with_other_leading_degrees(self) -> Iterator[Problem]:
        """The problem with each other choice of the degrees that others follow, that first whose best design costs least."""
        planned, chosen = self.planned, as_chosen(self.problem, self.planned)
        known = dict[Price, Question]()
        for question in planned.parts:
            if self.left > 0 and as_asked(self.problem, question).job != chosen.job:
                found = search(question, cost_model(planned.model), self.left, self.seed, settle=_none_is_settled)
                self.left -= found.spent
                if found.best is not None:
                    known.setdefault(found.best.price, question)
        for _, question in sorted(known.items(), key=lambda its: its[0]):
            yield as_it_spans(as_asked(self.problem, question), question)

    def _is_another(self, priced: Priced) -> bool:
        known = [self.planned.compared, *(each.design for each in self.planned.others), *(each.priced.design for each in self.found)]
        return priced.design not in known and priced.price(self.planned.question) != self.planned.price


def _without_search(place: Solve, part: Problem) -> Answer:
    """How a design is placed where that needs no search; else nobody knows."""
    try:
        with no_search():
            return place(part)
    except SearchNeeded:
        return Answer(UNDECIDED, how=GIVEN)


def _none_is_settled(asked: Unsettled) -> Iterator[Settled]:
    """No solver is started for what dividing does not decide: then the best that was found is told."""
    return iter(())


def _on_fewer(planned: Planned, workload: Workload) -> Iterator[Workload]:
    """What is asked for the quickest on fewer accelerators than the plan has, on half and on a quarter of them; on any, where it has the fewest."""
    if workload.aim == ACCELERATORS:
        yield replace(workload, aim=SECONDS)
        return
    for most in dict.fromkeys((planned.held - 1, planned.held // 2, planned.held // 4)):
        if most > 0:
            yield replace(workload, budget=replace(workload.budget, accelerators=most))


def _with_other_degrees(base: Problem, planned: Planned) -> Iterator[Problem]:
    """The problem with other degrees of one component than the plan has."""
    options = planned.compared.options
    for name, choices in base.job.choices.items():
        left = tuple(each for each in choices if name in options and each != options[name].parallel)
        if left:
            yield replace(base, job=replace(base.job, choices={**base.job.choices, name: left}))
