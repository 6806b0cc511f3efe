"""Changes that make a planning problem feasible, each planned and placed before it is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Iterator, Sequence

from ...models.answer import Solve
from ...models.findings.wording import plural
from ...models.machines.changed import with_nodes
from ...models.machines.node import GENERIC
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.workload import ACCELERATORS, SECONDS, STREAM, Workload
from ...models.problem import AMOUNT, Demand, Problem
from ...models.scope import WIDENS
from ...solver.refuting.census import Census
from ...solver.refuting.fixes import GIB, FixTrial, asking, best, needing, ranked, together, written
from ...solver.refuting.oracle import Oracle, Verdict
from ...solver.rules.amounts.all_placed import amount_of
from ...solver.session import Session
from ...solver.wording import in_seconds
from ..costs import cost_model
from ..problem import planning_problem
from ..scope import widened
from ..search.search import search
from .demands import BUDGET_ACCELERATORS, BUDGET_SECONDS, COST_MODEL, RANKS, TIMES, without

Tried = Callable[[Problem], "tuple[int, int] | None"]
"""Function from a changed problem to (ns with traffic, accelerators); None if not placed."""
EACH, SEARCHES = 1.0, 120
"""Deterministic seconds of a search, and maximum searches of an explanation."""
FEW = 3
"""Maximum number of counts and of models tried."""


class Planner(Oracle):
    """Oracle for problems by searches for designs; solved means placed."""

    def __init__(self, problem: Problem, tried: Tried, place: Solve, session: Session) -> None:
        super().__init__(Census(problem), place, session)
        self.tried = tried

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Return possible for a design, refuted for a proof of none."""
        (problem,) = alternatives
        workload = problem.job.planning.workload or Workload()
        question = planning_problem(problem, workload)
        self._searches += 1
        if not all(question.options.values()):
            return Verdict.REFUTED
        model, may_ask = cost_model(workload.model), self._searches <= SEARCHES
        found = search(question, model, EACH, any_will_do=True, session=self.session) if may_ask else None
        if found is not None and (found.best is not None or found.proved):
            return Verdict.POSSIBLE if found.best is not None else Verdict.REFUTED
        self.undecided = True
        return Verdict.OPEN

    def solved(self, alternatives: Sequence[Problem]) -> bool:
        """Return True if the alternative has a placed plan."""
        return self.tried(alternatives[0]) is not None

    def helps(self, problem: Problem) -> bool:
        """Return True if the problem has a placed plan."""
        return self.judge([problem]) is Verdict.POSSIBLE and self.solved([problem])


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
    texts += [fix.text for fix in ranked(trial, changeable, None)]
    wider = [name for name, wide in widened(problem, left_out) if planner.solved([wide])]
    texts += [f"write `scope: [{name}]` in `plan`, which lets {WIDENS[name]}" for name in wider]
    texts += _more_nodes(planner, problem, missing)
    return list(dict.fromkeys(texts)) or [
        text for text in (_both_budgets(planner, problem, every), *(fix.text for fix in together(trial, parts))) if text
    ]


def _of_one(planner: Planner, problem: Problem, demand: Demand, slow: int | None) -> Iterator[str]:
    """Yield replacements for a budget, a count or a memory, and ranks to change."""
    if demand.field == BUDGET_SECONDS:
        found = planner.tried(without(problem, [demand], SECONDS))
        known = [time for time in (found and found[0], slow) if time is not None]
        yield from [f"allow `seconds: {in_seconds(min(known))}`"] if known else []
    elif demand.field == BUDGET_ACCELERATORS and (found := planner.tried(without(problem, [demand], ACCELERATORS))):
        yield f"allow `accelerators: {found[1]}`"
    elif demand.field == COST_MODEL and planner.solved([without(problem, [demand])]):
        yield f"take `cost_model: {STREAM}`"
    elif demand.field == AMOUNT:
        yield from _other_counts(planner, problem, demand)
    elif demand.field == "memory":
        part = problem[demand.component]
        sizes = range(GIB, part.memory, GIB)
        place = best(len(sizes), lambda index: planner.judge([needing(part, sizes[index])(problem)]) is Verdict.POSSIBLE)
        if place >= 0 and planner.solved([needing(part, sizes[place])(problem)]):
            yield f"set `memory` of {part.name} to {written(sizes[place])} instead of {written(part.memory)}"
    elif demand.field == TIMES and planner.solved([without(problem, [demand])]):
        yield f"write `seconds` of {demand.component} for the counts, degrees and accelerators that it may have"
    elif demand.field == RANKS:
        parts = (replace(component, runs=None) if component.name == demand.component else component for component in problem.components)
        moved = replace(problem, job=replace(problem.job, components=tuple(parts)))
        if planner.helps(asking(moved[demand.component], problem.given().amount(demand.component))(moved)):
            yield f"give `{demand.component}` other ranks"


def _other_counts(planner: Planner, problem: Problem, demand: Demand) -> Iterator[str]:
    """Yield the nearest feasible counts below and above a component's."""
    part, free = problem[demand.component], without(problem, [demand])
    can = sorted({option.amount for option in planning_problem(free, free.job.planning.workload or Workload()).options.get(part.name, ())})
    less, more = [count for count in can if count < part.least], [count for count in can if count > part.most]

    def works(count: int) -> bool:
        return planner.judge([asking(part, count)(problem)]) is Verdict.POSSIBLE

    largest = best(len(less) - FEW, lambda index: works(less[index]))
    below = next((count for count in reversed(less[-FEW:]) if works(count)), less[largest] if largest >= 0 else 0)
    for count in (below, next((count for count in more[:FEW] if works(count)), 0)):
        if count and planner.solved([asking(part, count)(problem)]):
            yield f"ask for {count} instead of {amount_of(part)} for {part.name}"


def _more_nodes(planner: Planner, problem: Problem, missing: int) -> Iterator[str]:
    """Yield the first larger cluster with a plan, by nodes like the largest."""
    nodes = sorted((node for node in problem.cluster.nodes if node.accelerators), key=lambda node: node.count(ACCELERATOR))
    for model, sample in list({node.accelerator_model: node for node in nodes}.items())[:FEW]:
        size = sample.count(ACCELERATOR)
        for more in (-(-missing // size), -(-missing // size) + 1):
            if planner.helps(replace(problem, cluster=with_nodes(problem.cluster, sample, more))):
                yield f"add {more} {plural('node', more)} with {size} {plural('accelerator', size) if model == GENERIC else model}"
                return


def _both_budgets(planner: Planner, problem: Problem, every: Sequence[Demand]) -> str:
    """Return values for both budgets if these are enough."""
    budgets = [demand for demand in every if demand.field in (BUDGET_SECONDS, BUDGET_ACCELERATORS)]
    found = planner.tried(without(problem, budgets, ACCELERATORS)) if len(budgets) > 1 else None
    return f"allow `seconds: {in_seconds(found[0])}` and `accelerators: {found[1]}`" if found else ""
