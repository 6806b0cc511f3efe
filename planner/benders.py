"""Benders loop: search and placement in turn until the best design that can be placed is found.

Logic-based Benders decomposition (Hooker and Ottosson 2003): the search is the master problem, `solver/` places its best designs,
and each failure becomes a no-good for the next search: designs ruled out by the proof that one of them has no placement.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Iterable, Mapping, Sequence

from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.component import UNBOUNDED, Component
from ..models.findings.finding import error
from ..models.placements.assignment import seats
from ..models.placements.plan import Plan
from ..models.placements.run import Run
from ..models.planning.cost_models import CostModel
from ..models.planning.design import Design, list_nested
from ..models.planning.option import NO_KIND, RefusedCount, Use
from ..models.planning.planned import CostedDesign, Unplaceable
from ..models.planning.problem import PlanningProblem
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.sharing import restrict
from ..solver.choosing.lying_over import all_held
from ..solver.choosing.pool_layouts import with_ranks
from ..solver.pricing.price import effect
from ..solver.pricing.result import BETTER
from ..solver.sandbox.end_reasons import SearchStopped, report_interrupt
from ..solver.session import Session
from .check import faults
from .costs import cost_design, cost_model
from .placing import placing
from .problem import planning_problem
from .search.found import Counting, OnCounting, Price, SearchOutcome, SearchResult
from .search.search import search
from .traffic import Traffic
from .unplaced import report_over_budget
from .write_back import Refused

ALTERNATIVES = 3
"""Maximum number of alternative structures named beside the answer."""
ROUNDS = 12
"""Maximum number of searches for designs to place; no-goods rule designs out in between."""
ALL_PROBES = 48
"""Maximum number of probing placements for no-goods, over all designs."""
PLACED = 12
"""Maximum number of placed designs, if the best is known only after placement."""
ASKED = 0.00001
"""Deterministic seconds counted for every option of a component: the time to list it."""
FIRST = 0.5
"""Share of the time limit for the search, however long the options took."""
SMALL, MORE = 16, 8
"""(accelerators, factor): small clusters get that many times more rounds and designs."""


@dataclass
class BendersLoop:
    """State of the Benders loop: searches, placements, no-goods."""

    problem: Problem
    solve: Solve
    limit: float
    session: Session
    counting: OnCounting | None
    refused: Refused
    spent: float = 0.0
    number: int = 0
    probes: int = ALL_PROBES
    out: list[RefusedCount] = field(default_factory=list)
    done: list[RefusedCount] = field(default_factory=list)
    placed: list[PlacedDesign] = field(default_factory=list)
    unplaceable: list[Unplaceable] = field(default_factory=list)
    """Designs without a placement, from all searches."""
    structures: tuple[int, int] = (0, 0)
    """Number of structures before no-goods, and of structures with searched counts."""
    least: int = 0
    """Lower bound of all designs not placed or ruled out, from all searches."""
    unsure: list[Price] = field(default_factory=list)
    """Lower bounds of designs whose placement, or its cost, is unknown."""

    def __post_init__(self) -> None:
        self.model = cost_model(self.problem.workload.model)
        self.traffic = Traffic(self.problem)
        self.varies = bool(self.traffic.costs)
        """True if a placement can cost more than its design."""
        self.best: PlacedDesign | None = None
        self.unwritable: PlacedDesign | None = None
        """First placement refused by the framework."""
        self.closed = False
        """True if everything better is ruled out."""
        self.first: PlanningProblem | None = None
        """Planning problem without no-goods."""
        self.is_small = self.number == 0 and self.problem.cluster.total() <= SMALL
        """True for more rounds and more placed designs."""
        self.ended = False
        """True if designs found before Ctrl-C or the time limit were placed or tried."""
        self.search()

    @property
    def stopped(self) -> SearchStopped | None:
        """Reason why the search or the placement ended early."""
        return self.searched.stopped or (report_interrupt() if self.session.cancelled else None)

    def goes_on(self) -> bool:
        """Return True if a better plan is possible and may still be searched."""
        first = self.searched.best
        if first is None or (self.best is not None and (first.price >= self.best.price or not self.varies)):
            self.closed = self.searched.first_proved
            return False
        if self.ended or (self.session.cancelled and self.best is not None):
            return False
        # What nobody could place or weigh may be better than all that comes after it.
        more = MORE if self.is_small and self.spent < self.limit and not self.unsure else 1
        return self.number < ROUNDS * more and len(self.placed) < PLACED * more

    def run(self) -> BendersLoop:
        """Run the loop to its end."""
        while self.goes_on():
            self.place()
        return self

    def place(self) -> None:
        """Place the found designs, best first; then search again if useful.

        After Ctrl-C only placements without a search are tried.
        """
        self.number += 1
        first = self.searched.found[0]
        for incumbent in self.searched.found:
            worse = self.best is not None and incumbent.price > self.best.price
            if incumbent is not first and (worse or (not self.varies and incumbent.price > first.price)):
                break
            if not self._place(incumbent) and incumbent is first and not self.session.cancelled:
                break  # others like it can be better than what comes next
            if self.session.cancelled and self.best is not None:
                break
        self.ended = self.session.cancelled or (self.best is not None and self.spent >= self.limit)
        if not self.ended and (self.best is None or self.varies):
            self.search()

    def search(self) -> None:
        """Search the problem with all no-goods for its best designs."""
        self.question: PlanningProblem = planning_problem(self.problem, (*self.out, *self.done))
        minimum = 0.0 if self.first else FIRST * self.limit
        self.spent += ASKED * sum(map(len, self.question.options.values()))
        remaining = max(self.limit - self.spent, minimum)
        self.searched: SearchOutcome = search(
            self.question, self.model, remaining, ALTERNATIVES + 1, session=self.session, counting=self._tell if self.counting else None
        )
        self.first = first = self.first or self.question
        incumbents = (replace(result, design=as_listed(result.design, self.question, self.model, first)) for result in self.searched.found)
        self.searched = replace(self.searched, found=tuple(incumbents))
        self.spent += self.searched.spent
        self.least = max(self.least, self.searched.bound or 0)
        self.structures = max(self.structures, self.searched.structures)

    def _tell(self, now: Counting) -> None:
        """Report progress with the bound of earlier searches."""
        fixed_count = 0 if now.by_time else self.question.given.held
        if self.counting is not None:
            self.counting(replace(now, bound=max(now.bound, self.least + fixed_count)))

    def attempt(self, design: Design, anywhere: bool = False) -> tuple[Answer, PlacedDesign | None]:
        """Place a design, `anywhere` it fits if its traffic takes no time.

        Beside a placement the answer is undecided if the framework refuses it, and infeasible if it
        exceeds the budget of time.
        """
        if self.session.cancelled and anywhere:
            return Answer(UNDECIDED, how="search"), None
        target = placing(self.problem, self.question, design)
        answer = self.solve(drop_preferences(target) if anywhere and not self.traffic.costs else self.traffic.weigh(target))
        if answer.plan is None:
            return answer, None
        outcome, most = self.as_placed(self.cost(design), answer, answer.plan), self.problem.workload.budget.nanoseconds
        if why := self.refused(answer.plan, design):
            reasons = ((entry.subject, f"the framework refuses the one that was found: {entry.message} ({entry.code})") for entry in why)
            findings = tuple(error("PW604", subject, reason, help="give other counts") for subject, reason in reasons)
            return Answer(UNDECIDED, findings=findings, how="given"), outcome
        takes, crossing = outcome.priced.total, outcome.priced.traffic
        if self.traffic.costs and most is not None and takes > most:
            return replace(answer, verdict=IMPOSSIBLE, findings=(report_over_budget(takes, crossing, most),), how="search"), outcome
        return answer, outcome

    def _place(self, incumbent: SearchResult) -> bool:
        """Place a design; return True if it has a placement or may have one."""
        answer, outcome = self.attempt(incumbent.design)
        if outcome is None or answer.verdict == UNDECIDED:
            self.unwritable = self.unwritable or outcome
            if self.best is None or self.varies:  # else it costs as much as the best, and was no more than another answer
                self.bar(incumbent, answer)
                if answer.verdict != IMPOSSIBLE or self.out[-1].segments is not None:
                    self.unsure.append(incumbent.price)
            return False
        # Another placement may have more of it on what others let it use.
        candidate = replace(outcome.priced, held=None)
        if self.traffic.costs and answer.plan is not None:  # over what is given it is not all weighed
            candidate = replace(candidate, traffic=0 if self.problem.job.overlaps else self.traffic.least(answer.plan))
        lowest_price = self.price(candidate)
        if self.traffic.costs or lowest_price < outcome.price:
            self.varies = True
            self.done.append(this_alone(incumbent.design))
        if lowest_price < outcome.price:
            self.unsure.append(lowest_price)
        if answer.verdict == IMPOSSIBLE:
            self.unplaceable.append(Unplaceable(outcome.priced, answer.findings))
            return True
        self.placed.append(outcome)
        if self.best is None or outcome.price < self.best.price or (outcome.price == self.best.price and outcome.is_better(self.best)):
            self.best = outcome
        return True

    def bar(self, incumbent: SearchResult, answer: Answer) -> None:
        """Learn the no-good of a design without a known placement."""
        if answer.verdict == IMPOSSIBLE and not self.session.cancelled:
            out = find_no_good(self.problem, self.question, incumbent.design, self._probe, self.probes)
        else:
            out = this_alone(incumbent.design)
        self.out.append(out)
        self.unplaceable.append(Unplaceable(self.cost(incumbent.design), answer.findings))

    def _probe(self, part: Problem) -> Answer:
        self.probes -= 1
        return Answer(UNDECIDED) if self.session.cancelled else self.solve(part)

    def cost(self, design: Design) -> CostedDesign:
        """Return the design with the ns of its iteration, without traffic."""
        return cost_design(self.model, self.question, design)

    def price(self, candidate: CostedDesign) -> Price:
        """Return the price in the order of the aim, traffic included in the time."""
        return self.question.by_aim(candidate.total, candidate.accelerators(self.question) - self.question.given.held)

    def as_placed(self, candidate: CostedDesign, answer: Answer, plan: Plan) -> PlacedDesign:
        """Return the design with its placement."""
        # Without shared accelerators the design decides how many are held.
        usage = all_held(self.problem, plan.assignment) if self.question.given.shared else None
        with_traffic = replace(candidate, traffic=self.traffic.nanoseconds(plan.assignment), held=usage)
        return PlacedDesign(with_traffic, replace(answer, plan=self.traffic.restore(plan)), self.price(with_traffic))


@dataclass(frozen=True)
class PlacedDesign:
    """Design with its placement, and their costs. `is_own`: True for the file's own placement."""

    priced: CostedDesign
    answer: Answer
    price: Price
    is_own: bool = False

    def is_better(self, rival: PlacedDesign) -> bool:
        """Return True if this placement is better by the objective of placements."""
        return effect(rival.answer, self.answer) == BETTER


def is_where(plan: Plan, file_runs: Mapping[str, Sequence[Run]]) -> bool:
    """Return True if every component lies where the file has it."""
    return all(list(seats(plan.assignment.of(name))) == list(seats(runs)) for name, runs in file_runs.items())


def drop_preferences(problem: Problem) -> Problem:
    """Return the problem without preferences between placements."""
    if problem.caps:
        return problem
    components = tuple(replace(component, traffic=0) for component in problem.components)
    return replace(problem, job=replace(problem.job, components=components, links=()), previous=None)


def as_written(problem: Problem, question: PlanningProblem, design: Design) -> Problem:
    """Return the problem of a design whose components stay where the file has them."""
    target = placing(problem, question, design)
    relations = tuple(relation for relation in target.job.relations if not relation.proposed)
    file_runs, servers = problem.job.planning.own, problem.job.planning.own_servers
    components = tuple(
        replace(part, runs=file_runs.get(part.name, part.runs), server=servers.get(part.name, part.server)) for part in target.components
    )
    return with_ranks(replace(target, job=replace(target.job, relations=relations)), components)


def as_listed(design: Design, question: PlanningProblem, model: CostModel, first: PlanningProblem) -> Design:
    """Return the design with the first listed degrees of equal cost; `first` : without no-goods."""
    if not question.barred and question.crossing is not None:
        return design  # less of what they exchange may cross the topology with those that were found
    for name in question.components:
        chosen, listed = design.options[name], first.options[name]
        before = listed[: listed.index(chosen)] if chosen in listed else listed
        same = (chosen.kind, chosen.amount, chosen.nanoseconds)
        for option in [option for option in before if (option.kind, option.amount, option.nanoseconds) == same]:
            options = {**question.options, name: (*question.options[name], option)}
            variant = replace(design, options={**design.options, name: option})
            if not any(faults(replace(question, options=options), model, variant)):
                question, design = replace(question, options=options), variant
                break
    return design


PROBES = 12
"""Maximum number of probing placements per design, to strengthen its no-good."""


def this_alone(design: Design) -> RefusedCount:
    """Return the no-good of a single design, for all its segmentations."""
    return _build_no_good(design, design.options, {})


def find_no_good(problem: Problem, question: PlanningProblem, design: Design, solve: Solve, probes: int = PROBES) -> RefusedCount:
    """Return the strongest no-good found for an infeasible design.

    Segments count only if memory may be the reason. Subsets of components are placed alone, without
    traffic, and without memory on uniform kinds: what is infeasible for them is so for every design
    with them. Then the counts are relaxed to "or more".
    """
    probes_left = min(probes, PROBES)
    every = {name: design.options[name].amount for name in question.components}
    target = replace(placing(problem, question, design), explained=False)

    def is_impossible(amounts: Mapping[str, int], or_more: bool = False) -> bool:
        """Return True if these components are proved infeasible with these counts."""
        nonlocal probes_left
        probes_left -= 1
        return probes_left >= 0 and solve(_part(target, question, design, amounts, or_more)).verdict == IMPOSSIBLE

    if not is_impossible(every):
        return replace(this_alone(design), segments=design.segments)
    if problem.job.planning.laying is not None:  # the dialect lays out all that it is told of, and as much of it as it is told
        has_room = any(True for _ in problem.job.planning.laying.lay_out(every, problem.cluster))
        alone = this_alone(design)
        return alone if has_room else replace(alone, uses={name: replace(use, parallel=None) for name, use in alone.uses.items()})
    names = dict(every)
    # Which way a design keeps to, and what its terms come to, all components say together.
    for name in every if not (question.ways or problem.caps or problem.unlike) else ():
        fewer = {remaining: amount for remaining, amount in names.items() if remaining != name}
        if fewer and is_impossible(fewer):
            names = fewer
    # On a mixed kind an estimate may be less with more accelerators.
    is_open = any(kind.mixed for kind in question.kinds) and any(option.estimated for option in design.options.values())
    return _build_no_good(design, names, {} if is_open or not is_impossible(names, or_more=True) else names)


def _part(problem: Problem, question: PlanningProblem, design: Design, amounts: Mapping[str, int], or_more: bool) -> Problem:
    """Return the placement of these components alone, reduced to what decides their possible places."""
    left_out = set(question.components).difference(amounts)
    problem = restrict(problem, {component.name for component in problem.components} - left_out)
    is_uniform, components = not any(kind.mixed for kind in question.kinds), list[Component]()
    for component in problem.components:
        component = replace(component, host_memory=0, traffic=component.traffic if problem.caps else 0)
        if is_uniform:
            component = replace(component, memory=0, offloaded=0, phases=(), on_sizes=())
        if component.name in amounts and component.runs is None:
            amount, option = amounts[component.name], design.options[component.name]
            most = option.amount if option.kind == NO_KIND else UNBOUNDED if or_more else amount
            component = replace(component, counts=(), least=amount, most=most)
        components.append(component)
    job = replace(problem.job, components=tuple(components), shares=())
    return replace(problem, job=job) if problem.caps else replace(problem, job=replace(job, links=()), previous=None)


def _build_no_good(design: Design, names: Iterable[str], minima: Mapping[str, int]) -> RefusedCount:
    """Return a no-good for counts from `minima` on; exact counts for other components."""
    uses = {}
    for name in names:
        option = design.options[name]
        uses[name] = Use(option.kind, minima.get(name, option.amount), option.parallel, name in minima)
    return RefusedCount(uses, list_nested(design, frozenset(uses)))
