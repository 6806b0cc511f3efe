"""Minimal conflict of a planning problem by QuickXplain, and changes that help.

The design search is the oracle. Each change is planned and placed before it is offered.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Callable, Collection, Iterator, Sequence

from ...models.answer import IMPOSSIBLE, Answer
from ...models.findings.finding import Finding, error
from ...models.findings.wording import are, plural, with_noun
from ...models.machines.changed import with_nodes
from ...models.machines.node import GENERIC
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import ACCELERATORS, SECONDS, STREAM
from ...models.problem import AMOUNT, Demand, Problem
from ...models.quantity import memory_text
from ...models.scope import WIDENS
from ...solver.refuting.census import Census
from ...solver.refuting.certificate import counting_row
from ...solver.refuting.conflict import find_contradiction, merge_clauses, minimal_with_sharing, with_line
from ...solver.refuting.fix_choice import combine_changes, rank_changes
from ...solver.refuting.fixes import GIB, FixTrial, asking, best, needing
from ...solver.refuting.impossible import NO_CHANGE, OPEN, SHARING, open_choices_text
from ...solver.refuting.oracle import Oracle, Verdict
from ...solver.rules.amounts import amount_of
from ...solver.session import Session
from ...solver.wording import join_names, round_seconds
from ..costs import cost_model
from ..problem import planning_problem
from ..scope import widen
from ..search.found import SearchOutcome
from ..search.search import search
from .demands import BUDGET_ACCELERATORS, BUDGET_SECONDS, COST_MODEL, RANKS, TIMES, demands, describe_demands, too_small, without
from .quick_infeasibility import infeasible_components

ENOUGH = 64
"""Factor on the accelerators of the cluster that counts as unlimited."""
FEW = 16
"""Maximum number of degree choices for sums."""
Sum = tuple[str, int, int]
"""Shortage: (words, need, have)."""


def why_none(problem: Problem, question: PlanningProblem, planner: Planner) -> Answer:
    """Return the infeasible answer, with helps that were planned and placed."""
    every, reasons = demands(problem), list[Finding]()
    for finding, blame in infeasible_components(problem, question):
        helps = changes(planner, problem, blame, every, question.scope.left_out) if not reasons else []
        reasons.append(replace(finding, help="; or ".join(helps) or NO_CHANGE))
    if not reasons:
        reasons = [find_contradiction(problem) or _conflict(problem, question, planner, every)]
    return Answer(IMPOSSIBLE, findings=tuple(reasons), how="search")


def helps_to_place(problem: Problem, planner: Planner, left_out: Collection[str], slow: int | None) -> list[str]:
    """Return changes that help if designs exist but none was placed in time."""
    every = demands(problem)
    near = [demand for demand in every if not demand.component or demand.field == "accelerator_model"]
    return changes(planner, problem, near, every, left_out, slow)


def _conflict(problem: Problem, question: PlanningProblem, planner: Planner, every: Sequence[Demand]) -> Finding:
    """Return a minimal conflict, with a sum if possible, and helps."""

    def only(subset: Sequence[Demand]) -> Problem:
        return without(problem, [demand for demand in every if demand not in subset])

    def is_refuted(subset: Sequence[Demand]) -> bool:
        return planner.judge([only(subset)]) is Verdict.REFUTED

    blame = minimal_with_sharing(every, [demand for demand in every if demand.field in SHARING], is_refuted) if is_refuted(every) else []
    open_note = [OPEN] if planner.undecided else []
    budgets = [demand for demand in every if demand.field in (BUDGET_SECONDS, BUDGET_ACCELERATORS)]
    message, need, have, by = _reason(problem, only(blame) if blame else problem, blame or budgets, planner)
    span = next((demand.span for demand in ([by] if by else blame) if demand.span), problem.workload.span)
    notes = [with_line(demand, span) for demand in merge_clauses(describe_demands(only(blame), blame)) if by not in demand.demands]
    helps = changes(planner, problem, blame or every, every, question.scope.left_out, missing=1 if by else max(need - have, 1))
    return error(
        "PW601", "", f"impossible: {message}", span, notes=(*notes, *open_note), help="; or ".join(helps) or NO_CHANGE,
        witnesses=(need, have) if need else (), amount=abs(need - have),
    )  # fmt: skip


def _reason(problem: Problem, core: Problem, blame: Sequence[Demand], planner: Planner) -> tuple[str, int, int, Demand | None]:
    """Return the shortage, and the demand of the plan behind the limit.

    `core` : the problem with these demands only.
    """
    workload = problem.workload
    for demand in (demand for demand in blame if not demand.component):
        if demand.field == COST_MODEL:
            return "the cost model has a time for no arrangement that satisfies these demands", 0, 0, demand
        by_time, time = demand.field == BUDGET_SECONDS, workload.budget.nanoseconds
        for part in (problem, core):
            outcome, fixed_count = _least(without(part, [demand]), SECONDS if by_time else ACCELERATORS, planner)
            if outcome.best is not None:
                have = (time if by_time else workload.budget.accelerators) or 0
                need = max(have + 1, (outcome.bound or 0) + (0 if by_time else fixed_count))
                return too_small(demand.field, need, have, " for that time" if time is not None else ""), need, have, demand
    general = f"no counts and degrees satisfy {'these' if any(demand.component for demand in blame) else 'all'} demands together", 0, 0
    return *(_of_memory(core) or _count_at_once(problem, core, blame, planner) or general), None


def _of_memory(problem: Problem) -> Sum | None:
    """Return a sum of memory on common accelerators, for all counts and degrees."""
    job = problem.job
    if (
        job.planning.shapes
        or job.planning.ways
        or job.planning.accepted
        or job.planning.laying is not None
        or any(component.runs is not None for component in problem.components)
    ):
        return None  # what a process takes, or may share, depends on more
    alternatives = list(islice(problem.alternatives(), FEW + 1))
    rows = [counting_row(alternative) for alternative in alternatives[:FEW]]
    if not all(rows) or len(alternatives) > FEW or (row := rows[0]) is None:
        return None
    is_of_one_set = any(set(row.components) <= set(members) for members in problem.colocated_sets)
    return (f"{row}{open_choices_text(alternatives)}", row.need, row.have) if is_of_one_set else None


def _count_at_once(problem: Problem, core: Problem, blame: Sequence[Demand], planner: Planner) -> Sum | None:
    """Return the accelerators needed at the same time on an unlimited cluster."""
    question = planning_problem(problem)
    have = question.accelerators + question.given.held
    for part, names in ((problem, set(question.options)), (core, {name for demand in blame for name in demand.component.split("+")})):
        outcome, fixed_count = _least(part, ACCELERATORS, planner, ENOUGH)
        if outcome.best is not None:
            need = (outcome.bound or 0) + fixed_count
            sets = [([name for name in block.components if name in names], block.accelerators) for block in outcome.best.design.blocks]
            is_sum = sum(count for members, count in sets if members) + fixed_count == need
            detail = f": {', '.join(f'{join_names(members)} on {count}' for members, count in sets if members)}" if is_sum else ""
            short = f"at least {with_noun(need, 'accelerator')} {are(need)} needed at the same time, there {are(have)} {have}{detail}"
            return (short, need, have) if need > have else None
    return None


def _least(problem: Problem, aim: str, planner: Planner, times: int = 1) -> tuple[SearchOutcome, int]:
    """Search the least time or accelerators on a larger cluster; also return held ones."""
    question = planning_problem(problem)
    if times > 1:
        kinds = tuple(replace(kind, accelerators=kind.accelerators * times) for kind in question.kinds)
        question = replace(question, kinds=kinds, areas=())
    outcome = search(replace(question, aim=aim), cost_model(problem.workload.model), EACH, session=planner.session)
    return outcome, question.given.held


Tried = Callable[[Problem], "tuple[int, int] | None"]
"""Function from a changed problem to (ns with traffic, accelerators); None if not placed."""
EACH, SEARCHES = 1.0, 120
"""Deterministic seconds of a search, and maximum searches of an explanation."""
NEAREST = 3
"""Maximum number of counts and of models tried."""


class Planner(Oracle):
    """Oracle for problems by searches for designs; solved means placed."""

    def __init__(self, problem: Problem, try_change: Tried, session: Session) -> None:
        super().__init__(Census(problem), session)
        self.tried = try_change

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Return possible for a design, refuted for a proof of none."""
        (problem,) = alternatives
        question = planning_problem(problem)
        self._searches += 1
        if not all(question.options.values()):
            return Verdict.REFUTED
        model, may_ask = cost_model(problem.workload.model), self._searches <= SEARCHES
        outcome = search(question, model, EACH, any_will_do=True, session=self.session) if may_ask else None
        if outcome is not None and (outcome.best is not None or outcome.proved):
            return Verdict.POSSIBLE if outcome.best is not None else Verdict.REFUTED
        self.undecided = True
        return Verdict.OPEN

    def is_solved(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if the alternative has a placed plan."""
        return self.tried(alternatives[0]) is not None

    def helps(self, problem: Problem) -> bool:
        """Return True if the problem has a placed plan."""
        return self.judge([problem]) is Verdict.POSSIBLE and self.is_solved([problem])


def changes(
    planner: Planner, problem: Problem, demands: Sequence[Demand], every: Sequence[Demand], left_out: Collection[str], slow: int | None = None,
    missing: int = 1,
) -> list[str]:  # fmt: skip
    """Return single changes that help, or combinations if no single one does.

    Changes of these demands, of the scope and of the nodes; combinations of `every` demand. `slow`:
    ns of a placed plan beyond the budget; `missing`: lower bound of missing accelerators.
    """
    texts = [text for demand in demands for text in _of_one(planner, problem, demand, slow)]
    changeable = [demand for demand in demands if demand.component and demand.field not in (AMOUNT, "memory", TIMES, RANKS)]
    trial, parts = FixTrial([problem], planner), [demand for demand in every if demand.component]
    texts += [fix.text for fix in rank_changes(trial, changeable, None)]
    wider = [name for name, wide in widen(problem, left_out) if planner.is_solved([wide])]
    texts += [f"write `scope: [{name}]` in `plan`, which lets {WIDENS[name]}" for name in wider]
    texts += _more_nodes(planner, problem, missing)
    return list(dict.fromkeys(texts)) or [
        text for text in (_both_budgets(planner, problem, every), *(fix.text for fix in combine_changes(trial, parts))) if text
    ]


def _of_one(planner: Planner, problem: Problem, demand: Demand, slow: int | None) -> Iterator[str]:
    """Yield replacements for a budget, a count or a memory, and ranks to change."""
    if demand.field == BUDGET_SECONDS:
        found = planner.tried(without(problem, [demand], SECONDS))
        known = [time for time in (found and found[0], slow) if time is not None]
        yield from [f"allow `seconds: {round_seconds(min(known))}`"] if known else []
    elif demand.field == BUDGET_ACCELERATORS and (found := planner.tried(without(problem, [demand], ACCELERATORS))):
        yield f"allow `accelerators: {found[1]}`"
    elif demand.field == COST_MODEL and planner.is_solved([without(problem, [demand])]):
        yield f"take `cost_model: {STREAM}`"
    elif demand.field == AMOUNT:
        yield from _other_counts(planner, problem, demand)
    elif demand.field == "memory":
        part = problem[demand.component]
        sizes = range(GIB, part.memory, GIB)
        place = best(len(sizes), lambda index: planner.judge([needing(part, sizes[index])(problem)]) is Verdict.POSSIBLE)
        if place >= 0 and planner.is_solved([needing(part, sizes[place])(problem)]):
            yield f"set `memory` of {part.name} to {memory_text(sizes[place])} instead of {memory_text(part.memory)}"
    elif demand.field == TIMES and planner.is_solved([without(problem, [demand])]):
        yield f"write `seconds` of {demand.component} for the counts, degrees and accelerators that it may have"
    elif demand.field == RANKS:
        parts = (replace(component, runs=None) if component.name == demand.component else component for component in problem.components)
        moved = replace(problem, job=replace(problem.job, components=tuple(parts)))
        if planner.helps(asking(moved[demand.component], problem.build_given().amount(demand.component))(moved)):
            yield f"give `{demand.component}` other ranks"


def _other_counts(planner: Planner, problem: Problem, demand: Demand) -> Iterator[str]:
    """Yield the nearest feasible counts below and above a component's."""
    part, free = problem[demand.component], without(problem, [demand])
    can = sorted({option.amount for option in planning_problem(free).options.get(part.name, ())})
    less, more = [count for count in can if count < part.least], [count for count in can if count > part.most]

    def works(count: int) -> bool:
        return planner.judge([asking(part, count)(problem)]) is Verdict.POSSIBLE

    largest = best(len(less) - NEAREST, lambda index: works(less[index]))
    below = next((count for count in reversed(less[-NEAREST:]) if works(count)), less[largest] if largest >= 0 else 0)
    for count in (below, next((count for count in more[:NEAREST] if works(count)), 0)):
        if count and planner.is_solved([asking(part, count)(problem)]):
            yield f"ask for {count} instead of {amount_of(part)} for {part.name}"


def _more_nodes(planner: Planner, problem: Problem, missing: int) -> Iterator[str]:
    """Yield the first larger cluster with a plan, by nodes like the largest."""
    nodes = sorted((node for node in problem.cluster.nodes if node.accelerators), key=lambda node: node.count(ACCELERATOR))
    for model, sample in list({node.accelerator_model: node for node in nodes}.items())[:NEAREST]:
        size = sample.count(ACCELERATOR)
        for more in (-(-missing // size), -(-missing // size) + 1):
            if planner.helps(replace(problem, cluster=with_nodes(problem.cluster, sample, more))):
                yield f"add {more} {plural('node', more)} with {size} {plural('accelerator', size) if model == GENERIC else model}"
                return


def _both_budgets(planner: Planner, problem: Problem, every: Sequence[Demand]) -> str:
    """Return values for both budgets if these are enough."""
    budgets = [demand for demand in every if demand.field in (BUDGET_SECONDS, BUDGET_ACCELERATORS)]
    found = planner.tried(without(problem, budgets, ACCELERATORS)) if len(budgets) > 1 else None
    return f"allow `seconds: {round_seconds(found[0])}` and `accelerators: {found[1]}`" if found else ""
