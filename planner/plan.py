"""Plan of one problem by logic-based Benders decomposition: design, placement, proof, alternatives.

The loop itself is in `benders.py` (`BendersLoop`). This module runs it and turns its state into an
answer: the incumbent with its lower bound, the baseline (the ranks of the file) where no design is
better, or the reason why no plan exists.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Collection, Mapping, Sequence

from ..models.account import Baseline
from ..models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ..models.component import UNBOUNDED
from ..models.findings.finding import Finding
from ..models.placements.assignment import Assignment
from ..models.placements.plan import Plan
from ..models.planning.cost_models import iteration
from ..models.planning.design import Block, Design
from ..models.planning.option import NO_KIND, Option
from ..models.planning.planned import CostedDesign, PlanningResult
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECONDS
from ..models.problem import Problem
from ..models.record import dataclass
from ..solver.rules import RULES
from ..solver.session import Session
from .baseline import baseline_of
from .benders import ALTERNATIVES, ROUNDS, BendersLoop, PlacedDesign, as_written, drop_preferences, is_where
from .check import faults
from .placing import placing
from .problem import connect, planning_problem
from .scope import with_limits
from .search.found import OnCounting, Price
from .unplaced import find_slow, not_placed, report_infeasible, report_too_many, with_help
from .why.conflict import EACH, Planner, helps_to_place, why_none
from .why.quick_infeasibility import answer_undecided
from .write_back import Refused

TRIED = 6
"""Maximum rounds of the loop for a changed problem, to see if the change helps."""
TRIES = 8
"""Maximum number of designs placed as alternatives."""
AGAIN = 3
"""Maximum number of further searches for alternatives, each without unplaceable designs."""
SEARCHED = 0.1
"""Deterministic seconds counted for a searched placement."""


def plan(
    problem: Problem, solve: Solve, limit: float = 10.0,
    session: Session | None = None, counting: OnCounting | None = None, refuse: Refused = lambda *_: (),
) -> Answer:  # fmt: skip
    """Return the best design with a placement; among equal designs, the better placement.

    `solve` places a problem with decided counts. The proof covers both levels: every better design
    was ruled out by the search over designs, or by a proof that it has no placement. If the baseline
    (the placement of the file) is as good, it is the answer. A placement that `refuse` rejects is the
    answer only without another one, and nothing is proved of it.
    """
    run = BendersLoop(problem, solve, limit, session or Session(), counting, refuse)
    if unknown := answer_undecided(problem, run.question):
        return unknown
    return _answer(run.run())


def _answer(loop: BendersLoop) -> Answer:
    """Return the incumbent with its proof, or the reason why there is none."""
    question = planning_problem(loop.problem, loop.out) if loop.done else loop.question
    baseline = baseline_of(loop.problem, question, loop.model) if loop.problem.job.planning.own else None
    best, stop_reason, unplaceable = _best_or_baseline(loop, question, baseline) or loop.unwritable, loop.stopped, loop.unplaceable
    if best is None and stop_reason is not None:
        return not_placed(stop_reason, loop.searched.best is not None or bool(unplaceable))
    planner = Planner(loop.problem, partial(_try_change, loop), loop.session)
    if best is None and loop.searched.best is None and loop.closed and not unplaceable:
        return _note_scope(why_none(loop.problem, loop.question, planner), question)
    if best is None:
        verdict = (
            report_infeasible(loop.closed and not loop.unsure, unplaceable) if loop.searched.best is None else report_too_many(unplaceable)
        )
        slow = find_slow(unplaceable)
        lowest_time = slow.priced.total if slow is not None else None
        changes = helps_to_place(loop.problem, planner, question.scope.left_out, lowest_time)
        return _note_scope(with_help(verdict, changes), question)
    bounds = [] if loop.closed or loop.searched.bound is None else [loop.least]
    # A baseline whose notation or legality is unknown is not a plan; still, no claim may ignore its
    # price.
    is_possible = baseline is not None and (baseline.unclear or baseline.may_stay(question))
    possible_prices = [loop.price(baseline.priced)] if baseline is not None and baseline.priced is not None and is_possible else []
    unproved_prices = (*loop.unsure, *possible_prices)
    bound = min([best.price[0], *bounds, *(price[0] for price in unproved_prices)])
    alternatives, designs_unplaced = _find_alternatives(loop, best)
    full, enlarged = _fill(loop, best, question)
    # A component that was enlarged to the size of the set around it makes this plan one of another
    # structure.
    if enlarged:
        alternatives = tuple(plan for plan in alternatives if plan.design.structure() != full.priced.design.structure())
    fixed_count = 0 if question.aim == SECONDS else question.given.held
    is_proved = bound == best.price[0] and best is not loop.unwritable and not best.priced.design.overlapping
    result = PlanningResult(
        question, loop.model.name, full.priced, bound + fixed_count, is_proved, alternatives, tuple(unplaceable), loop.structures,
        not_placed=tuple(alternative for alternative in alternatives if alternative in designs_unplaced), is_own=best.is_own, filled=enlarged,
        lean=best.priced.design if enlarged else None,
        ties_open=is_proved and (not loop.closed or any(price < best.price for price in unproved_prices)),
        spent=loop.spent,
    )  # fmt: skip
    findings = dict.fromkeys((*full.answer.findings, *([stop.with_answer] if (stop := loop.stopped) is not None else [])))
    return replace(full.answer, planned=result, findings=tuple(findings))


def _find_alternatives(loop: BendersLoop, best: PlacedDesign) -> tuple[tuple[CostedDesign, ...], Sequence[CostedDesign]]:
    """Return the best designs of other structures by price, and the unplaced ones among them.

    They are placed as long as time and tries are left; a design without a placement is a no-good for
    a further search.
    """
    entries, seen = list[tuple[Price, CostedDesign]](), {best.priced.design.structure()}
    for placed in sorted(loop.placed, key=lambda placed: placed.price):
        if placed.priced.design.structure() not in seen:
            entries.append((placed.price, placed.priced))
            seen.add(placed.priced.design.structure())
    unsure, remaining, tries = list[CostedDesign](), loop.limit, TRIES
    for round_number in range(AGAIN + 1):
        ruled_out = False
        for result in loop.searched.found:
            if result.design.structure() in seen or (len(entries) >= ALTERNATIVES and result.price >= entries[ALTERNATIVES - 1][0]):
                continue
            answer, attempt = Answer(UNDECIDED), None
            if tries > 0 and remaining > 0:
                answer, attempt = loop.attempt(result.design, anywhere=True)
                remaining -= SEARCHED if answer.how == "search" else 0.0
            tries -= 1
            if answer.verdict == IMPOSSIBLE:
                loop.probes = probes_before = max(0, min(loop.probes, int(remaining / SEARCHED)))
                loop.bar(result, answer)
                remaining, ruled_out = remaining - SEARCHED * (probes_before - loop.probes), True
                continue
            candidate = attempt.priced if attempt is not None and answer.plan is not None else loop.cost(result.design)
            entries.append((loop.price(candidate), candidate))
            entries.sort(key=lambda entry: entry[0])
            seen.add(candidate.design.structure())
            if answer.plan is None:
                unsure.append(candidate)
                tries = tries if answer.how == "given" else 0
        if not ruled_out or tries <= 0 or loop.spent >= loop.limit or loop.session.cancelled or round_number == AGAIN:
            break
        loop.search()
    return tuple(candidate for _, candidate in entries[:ALTERNATIVES]), unsure


def _note_scope(answer: Answer, question: PlanningProblem) -> Answer:
    """Return the answer; if infeasible, with a note of the searched scope."""
    if answer.verdict != IMPOSSIBLE or not question.scope.left_out:
        return answer
    first, *rest = answer.findings
    note = f"searched: plans {with_limits(question.scope.left_out)}"
    return replace(answer, findings=(replace(first, notes=(*first.notes, note)), *rest))


def _find_refusals_beside_rules(refuse: Refused, plan: Plan, design: Design) -> Sequence[Finding]:
    """Return what refuses a plan, unless these are rules of placements alone."""
    findings, codes = refuse(plan, design), {rule.code for rule in RULES}
    return () if all(finding.code in codes for finding in findings) else findings


def _try_change(loop: BendersLoop, problem: Problem) -> tuple[int, int] | None:
    """Return ns with traffic and accelerators of a changed problem; None without a placement."""
    solve = loop.solve if problem.workload.bandwidth else (lambda changed: loop.solve(drop_preferences(changed)))
    # The file as it is shows the demands before the change; the rules were checked after it.
    refuse = partial(_find_refusals_beside_rules, loop.refused)
    limit = min(EACH, loop.limit)
    run = BendersLoop(problem, solve, limit, loop.session, None, refuse, number=ROUNDS - TRIED).run()
    return (run.best.priced.total, run.best.priced.accelerators(run.question)) if run.best is not None else None


def _best_or_baseline(loop: BendersLoop, question: PlanningProblem, baseline: Baseline | None) -> PlacedDesign | None:
    """Return the incumbent, or the baseline if that costs no more."""
    problem, best = loop.problem, loop.best
    if (
        baseline is None
        or baseline.priced is None
        or not baseline.may_stay(question)
        or (best is not None and loop.price(baseline.priced) > best.price)
    ):
        return best
    if best is not None and best.answer.plan is not None and is_where(best.answer.plan, problem.job.planning.own):
        options = baseline.priced.design.options
        if all(option.parallel == options[name].parallel for name, option in best.priced.design.options.items()):
            return replace(best, is_own=True)
    # The dialect lays sizes out at places of its choice: these may differ from the file, and could
    # not be written.
    compile_placement = placing if problem.job.planning.laying is not None else as_written
    answer = loop.solve(loop.traffic.weigh(compile_placement(problem, question, baseline.priced.design)))
    if answer.plan is None or not is_where(answer.plan, problem.job.planning.own):
        return best
    own_placed = replace(loop.as_placed(baseline.priced, answer, answer.plan), is_own=True)
    if best is None:
        limit = problem.workload.budget.nanoseconds
        return own_placed if limit is None or own_placed.priced.total <= limit else None
    return best if own_placed.price > best.price or (own_placed.price == best.price and best.is_better(own_placed)) else own_placed


def _place_within(loop: BendersLoop, traffic: int, target: Problem) -> Answer:
    """Place with at most so many ns of traffic; without traffic, without preferences."""
    return loop.solve(loop.traffic.at_most(target, traffic) if loop.traffic.costs else drop_preferences(target))


def _fill(loop: BendersLoop, best: PlacedDesign, question: PlanningProblem) -> tuple[PlacedDesign, Mapping[str, int]]:
    """Return the best design after untimed components took the accelerators left over."""
    if best.is_own or loop.session.cancelled:
        return best, {}
    problem, traffic, design, takes = loop.problem, loop.traffic, best.priced.design, best.priced.traffic
    full = UntimedPlacement(problem, question, partial(_place_within, loop, takes)).widen(design)
    base = replace(question, barred=())  # no-goods concern designs with fewer accelerators: larger counts may have a placement
    if full == design or iteration(loop.model, base, full) > best.priced.nanoseconds or any(faults(base, loop.model, full)):
        return best, {}
    answer = loop.solve(traffic.weigh(placing(problem, question, full)))
    if answer.plan is None or traffic.nanoseconds(answer.plan.assignment) > takes or loop.refused(answer.plan, full):
        return best, {}
    enlarged = {name: problem[name].most for name, option in full.options.items() if option != design.options[name]}
    return loop.as_placed(loop.cost(full), answer, answer.plan), enlarged


@dataclass(frozen=True)
class UntimedPlacement:
    """Widening of a design; `solve` places a problem with open ranges, fullest first."""

    problem: Problem
    question: PlanningProblem
    solve: Solve

    def widen(self, design: Design) -> Design:
        """Return the design with untimed components widened, on the same kinds.

        All are widened at once. If the budget leaves less than the cluster, one after another in
        written order; if the fewest accelerators are wanted, only components that take none of
        their own.
        """
        names = self._names()
        most = self.question.budget.accelerators if self.question.aim == SECONDS else design.count_used(self.question)
        caps = self._caps(design, names)
        increase = sum(cap - design.options[name].amount for name, cap in caps.items() if self._takes(design, name))
        if most is None or design.count_used(self.question) + increase <= most:
            return self._enlarge(design, caps)
        before: Design | None = None
        while design != before:  # what is widened may leave more to what it is related to
            before = design
            for group in connect(names, self.question.sharing.together):
                remaining = most - design.count_used(self.question)
                room = {name: remaining if self._takes(design, name) else UNBOUNDED for name in group}
                design = self._enlarge(design, self._caps(design, group, room))
        return design

    def _names(self) -> list[str]:
        """Return untimed components with a free range; empty if the dialect lays out all."""
        if self.problem.job.planning.laying is not None:
            return []
        parts = ((name, self.problem[name]) for name in self.question.components if name in self.question.sharing.alone)
        return [name for name, part in parts if part.runs is None and part.timed is None and part.least < part.most < UNBOUNDED]

    def _takes(self, design: Design, name: str) -> bool:
        """Return True if the component takes accelerators outside a surrounding component."""
        return design.options[name].kind != NO_KIND and all(inner != name for inner, _ in self.question.sharing.within)

    def _amounts(self, design: Design, name: str) -> dict[int, Option]:
        """Return the counts open to a component with its degrees, without more memory: count -> option."""
        current, options = design.options[name], self.question.options[name]
        same_degrees = [option for option in options if (option.kind, option.parallel) == (current.kind, current.parallel)]
        return {option.amount: option for option in same_degrees if option.memory <= current.memory and option.kept <= current.kept}

    def _caps(self, design: Design, names: Collection[str], more: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return the largest count of each component: remaining accelerators, and `more`."""
        free = [kind.accelerators for kind in self.question.kinds]
        for block in design.blocks:
            free[block.kind] -= block.accelerators if not set(block.components) <= set(names) else 0
        largest = {}
        for name in names:
            current = design.options[name]
            most = free[current.kind] if self._takes(design, name) else UNBOUNDED
            most = min(most, current.amount + more[name]) if more else most
            largest[name] = max([current.amount, *(amount for amount in self._amounts(design, name) if amount <= most)])
        return largest

    def _enlarge(self, design: Design, caps: Mapping[str, int]) -> Design:
        """Return the design with the most of these components that have a placement."""
        caps = dict(caps)
        while any(cap > design.options[name].amount for name, cap in caps.items()):
            answer = self.solve(placing(self.problem, self.question, design, caps))
            if answer.plan is None:
                return design
            assignment = answer.plan.assignment
            amounts = {name: assignment.count_held(name) or assignment.amount(name) or assignment.world_size(name) for name in caps}
            strange = {name: amount for name, amount in amounts.items() if amount not in self._amounts(design, name)}
            if not strange:
                return self._redrawn(design, amounts, assignment)
            for name, amount in strange.items():  # a count between two that it may have
                caps[name] = max(count for count in self._amounts(design, name) if count < amount)
        return design

    def _redrawn(self, design: Design, amounts: Mapping[str, int], assignment: Assignment) -> Design:
        """Return the design with the counts of a placement."""
        options = {**design.options, **{name: self._amounts(design, name)[amount] for name, amount in amounts.items()}}
        seats = {name: assignment.accelerators(name) for name in self.question.components}
        users = Counter(tuple(name for name in seats if seat in seats[name]) for seat in sorted(frozenset().union(*seats.values())))
        kinds = {name: option.kind for name, option in options.items()}
        order = [block.components for block in design.blocks]
        every = sorted(users, key=lambda names: (order.index(names) if names in order else len(order), names))
        return replace(design, options=options, blocks=tuple(Block(kinds[names[0]], users[names], names) for names in every))
