"""Account of a plan or given ranks: time, usage, memory, assumptions, alternatives, sensitivity."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Mapping

from ..models.account import Account, BusyInterval, ReportedAlternative, Usage
from ..models.answer import Solve
from ..models.derivation import Derivation
from ..models.machines.shorthand import DeclaredNodes
from ..models.placements.assignment import Assignment
from ..models.planning.cost_models import CostModel, segment_times
from ..models.planning.design import Design
from ..models.planning.planned import CostedDesign, PlanningResult
from ..models.planning.problem import PlanningProblem, Task
from ..models.problem import Problem
from ..models.reading import Reading
from ..solver.choosing.degrees import evenly
from ..solver.choosing.pool_layouts import place_in_pools
from ..solver.explaining.demands import format_seconds
from ..solver.explaining.explain import Explanation
from ..solver.explaining.explain import explain as explained
from ..solver.session import Session
from .baseline import baseline_of, baseline_of_file, open_component
from .benders import as_listed
from .bills import bases, bills, list_assumptions, list_emptied
from .costs import cost_design, cost_model
from .problem import planning_problem
from .search.search import search
from .sensitivity import SEARCHES, SPENT, sensitivity
from .verify import verify


def usages(question: PlanningProblem, model: CostModel, design: Design) -> tuple[Usage, ...]:
    """Return the usage of every block, segment by segment."""
    places: list[tuple[int | None, tuple[str, ...]]] = [(number, block.components) for number, block in enumerate(design.blocks)]
    places += [(None, (name,)) for name in question.components if not design.blocks_of(name)]
    rows: list[Usage] = []
    for segment, length in enumerate(segment_times(model, question, design)):
        tasks = [task for task, part in enumerate(design.segments) if part == segment]
        in_turn = [BusyInterval(task, design.nanoseconds(question, task)) for task in tasks]
        turns = in_turn if model.turns else _batch_by_batch(question, design, tasks)
        for block, names in places:
            turns_here = tuple(turn for turn in turns if question.tasks[turn.task].component in names)
            names_untimed = tuple(name for name in names if not question.tasks_of[name])
            rows.append(Usage(block, names, segment, length, turns_here, names_untimed))
    return () if any(usage.idle < 0 for usage in rows) else tuple(rows)


def _batch_by_batch(question: PlanningProblem, design: Design, tasks: list[int]) -> list[BusyInterval]:
    """Return pipelined tasks: a task begins with its first batch."""
    turns: dict[int, BusyInterval] = {}
    batches = question.flow.batches
    for task in tasks:  # none comes before one that it works on
        works = design.nanoseconds(question, task)
        batch_time = works // batches
        before = [turns[edge.earlier] for edge in question.flow.edges if edge.later == task and edge.earlier in turns]
        begins = max(((turn.begins or 0) + design.nanoseconds(question, turn.task) // batches for turn in before), default=0)
        ends = max([begins + works, *((turn.ends or 0) + batch_time for turn in before)])
        turns[task] = BusyInterval(task, works, begins, ends)
    return list(turns.values())


def shares(question: PlanningProblem, model: CostModel, design: Design) -> Mapping[int, int]:
    """Return task -> ns added to the iteration; 0 for tasks hidden behind longer ones."""
    share_of_task = dict.fromkeys(range(len(question.tasks)), 0)
    divisor, users = model.divisor(question), [block.components for block in design.blocks]
    for segment in sorted(set(design.segments)):
        tasks = [task for task in share_of_task if design.segments[task] == segment]
        for maximum in model.maxima(question, users, tasks):
            times = [[design.nanoseconds(question, task) // divisor for task in members] for members in maximum.sums]
            longest = max(range(len(times)), key=lambda place: sum(times[place]))  # the first of those that are as long
            for task, time in zip(maximum.sums[longest], times[longest]):
                share_of_task[task] += maximum.weight * time
    return share_of_task


ITERATION = "seconds an iteration"


def explain(reading: Reading, again: Callable[[DeclaredNodes], Reading]) -> Explanation:
    """Explain a file that was read; `again` reads it on other machines."""
    return explained(reading, again, verify, iteration_of)


def iteration_of(problem: Problem) -> tuple[Derivation, ...]:
    """Derive the time of an iteration of the file's own ranks; empty if unknown."""
    workload = problem.job.planning.workload
    if workload is None or not (problem.job.planning.own or any(component.runs for component in problem.components)):
        return ()
    question, model = planning_problem(problem), cost_model(workload.model)
    baseline = baseline_of(problem, question, model)
    candidate, question = baseline.priced, baseline.question
    if candidate is None:
        return ()
    parts = [f"{question.tasks[task]} {format_seconds(time)}" for task, time in shares(question, model, candidate.design).items() if time]
    return (Derivation("", ITERATION, format_seconds(candidate.nanoseconds), f"{' + '.join(parts)} (cost model {workload.model})"),)


SHARE = 0.3
"""Share of a plan's time limit for sensitivity searches, whatever the plan took."""
OTHERS = 3
"""Maximum number of designs listed beside the given ranks."""


def account(
    problem: Problem,
    result: PlanningResult,
    searches: int = SEARCHES,
    limit: float = SPENT,
    solve: Solve | None = None,
    assignment: Assignment | None = None,
    session: Session | None = None,
) -> Account:
    """Return the account of what planning found, with at most `searches` further searches.

    `solve` answers a problem as the plan was found; without it, what needs answers is left out.
    `assignment` is the placement of the plan. `limit` : deterministic seconds; what the search
    left of them, and at least `SHARE`, goes to the sensitivity. There is none if some choices of
    degrees or some sizes were not planned.
    """
    base, session = account_of(problem, result, assignment), session or Session()
    if not searches:
        return base
    remaining = max(limit - result.spent, SHARE * limit)
    if not (problem.job.planning.unread_choices or problem.job.planning.sizes_not_read):  # else nobody knows what is better
        place = partial(place_in_pools, place=solve) if solve is not None else None
        traffic, ranges = bool(problem.workload.bandwidth), {basis.task.component: basis.range for basis in base.bases if basis.bounds}
        base = replace(base, sensitivity=sensitivity(result, searches, remaining, place, traffic, session, ranges))
    return base


def account_of(problem: Problem, result: PlanningResult, assignment: Assignment | None = None) -> Account:
    """Return the account without further searches."""
    question, model, best = result.question, cost_model(result.model), result.best.design
    needs, rests = bills(problem, question, best, assignment), bases(problem, question, best)
    return Account(
        result,
        model.source,
        {question.tasks[task]: time for task, time in shares(question, model, best).items()},
        usages(question, model, best),
        needs,
        rests,
        tuple(ReportedAlternative(candidate, _adds(question, model, result.best, candidate)) for candidate in result.alternatives),
        baseline_of_file(problem, result),
        resources={name: problem.kind(problem[name]) for name in question.components if not best.blocks_of(name)},
        assumed=(*list_assumptions(problem, question), *list_emptied(needs)),
    )


def _adds(question: PlanningProblem, model: CostModel, best: CostedDesign, alternative: CostedDesign) -> tuple[tuple[Task, int], ...]:
    base, rival = shares(question, model, best.design), shares(question, model, alternative.design)
    differences = ((question.tasks[task], rival[task] - base[task]) for task in base if rival[task] != base[task])
    return tuple(sorted(differences, key=lambda difference: -difference[1]))


def account_of_given_ranks(problem: Problem, solve: Solve | None = None) -> Account | None:
    """Return the account of the file's own ranks. None without a price, or with timed ranks open.

    `solve` plans the problem with open counts: its plan is compared with the ranks.
    """
    parts_with_times = [component for component in problem.components if component.timed]
    if problem.job.planning.workload is None or any(component.runs is None for component in parts_with_times):
        return None
    file_runs = {component.name: component.runs for component in parts_with_times if component.runs is not None}
    parts = tuple(open_component(component) if component.timed else component for component in problem.components)
    variant = replace(problem, job=replace(problem.job, components=parts, planning=replace(problem.job.planning, own=file_runs)))
    variant = evenly(variant) or variant
    plan, model = solve(variant).planned if solve is not None else None, cost_model(problem.workload.model)
    baseline = baseline_of_file(variant, plan) if plan is not None else baseline_of(variant, planning_problem(variant), model)
    if baseline is None or baseline.priced is None:
        return None
    question, candidate = baseline.question, baseline.priced
    value, bound, structures = candidate.price(question)[0], 0, (0, 0)
    rivals, unsure = _cost_beside_given(variant, plan, question) if plan is not None else ((), ())
    if plan is not None:
        bound, structures = min(value, plan.bound), plan.structures
    result = PlanningResult(question, model.name, candidate, bound, value <= bound, rivals, (), structures, not_placed=unsure)
    return replace(account_of(baseline.problem, result, problem.build_given()), given=True)


def _cost_beside_given(
    variant: Problem, plan: PlanningResult, question: PlanningProblem
) -> tuple[tuple[CostedDesign, ...], tuple[CostedDesign, ...]]:
    """Return the cheapest design of each structure beside given ranks, and those not placed.

    Where no design better than the ranks was placed, those of a search are shown.
    """
    is_alike = plan.question.kinds == question.kinds and plan.question.scope.over_kinds == question.scope.over_kinds
    placed_designs = ((plan.best,) * (not plan.is_own) + plan.alternatives) * is_alike
    more_designs: tuple[CostedDesign, ...] = ()
    if plan.is_own and not plan.proved:
        subproblem, model = planning_problem(variant), cost_model(plan.model)
        designs = (as_listed(entry.design, subproblem, model, subproblem) for entry in search(subproblem, model, count=OTHERS).found)
        more_designs = tuple(cost_design(model, subproblem, design) for design in designs)
    by_cost = sorted((*placed_designs, *more_designs), key=lambda design: design.price(question)[0])
    cheapest = {design.design.structure(): design for design in reversed(by_cost)}
    rivals = tuple(sorted(cheapest.values(), key=lambda design: design.price(question)[0]))[:OTHERS]
    return rivals, tuple(design for design in rivals if design in plan.not_placed or design not in placed_designs)
