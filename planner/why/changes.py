"""Changes that make a question possible: each was planned and placed before it is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Collection, Iterator, Sequence

from ...models.answer import Solve
from ...models.component import Component
from ...models.demand import Demand
from ...models.findings.wording import plural
from ...models.machines.accelerators import GENERIC
from ...models.machines.grown import with_nodes
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.measured import TABLE
from ...models.planning.workload import ACCELERATORS, SECONDS, STREAM, Budget, Timed, Workload
from ...models.problem import AMOUNT, Problem
from ...models.scope import WIDENS
from ...solver.durations import in_seconds
from ...solver.refuting.droppable import can_be_dropped, dropped
from ...solver.refuting.fixes.amounts import asking
from ...solver.refuting.fixes.memory import GIB, needing, written
from ...solver.refuting.fixes.ranked import ranked
from ...solver.refuting.fixes.trial import Trial, best
from ...solver.refuting.oracle import Oracle, Verdict
from ...solver.refuting.quickxplain import maximal
from ...solver.refuting.rows.census import Census
from ...solver.rules.amounts.all_placed import amount_of
from ...solver.wording import listed
from ..costs import cost_model
from ..problem import asked
from ..scope import widened
from ..search.search import search
from .component import COUNTS, RANKS, TIMES, counts, without

Tried = Callable[[Problem], "tuple[int, int] | None"]
"""What a changed problem comes to, planned and placed: (ns with traffic, accelerators of all components); None where nothing was placed."""
BUDGET_SECONDS, BUDGET_ACCELERATORS, COST_MODEL = (
    "budget.seconds",
    "budget.accelerators",
    "cost_model",
)
"""Fields of demands of the plan, which are no component's."""
EACH = 1.0
"""Deterministic seconds of one search."""
SEARCHES = 120
"""Searches that may be made for one explanation."""
FEW, TOGETHER = 3, 4
"""Counts and models of accelerators that are tried, and demands that are changed at once, at most."""


class Planner(Oracle):
    """Judges problems by searches for counts and degrees. A problem is solved if a plan of it was placed."""

    def __init__(self, problem: Problem, tried: Tried, place: Solve, seed: int) -> None:
        super().__init__(Census(problem), place)
        self.tried, self.seed = tried, seed

    def judge(self, alternatives: Sequence[Problem]) -> Verdict:
        """Possible if one of the alternatives has a design, refuted if it is proved that none has."""
        verdicts = {self._judged(problem) for problem in alternatives}
        return next(
            (each for each in (Verdict.POSSIBLE, Verdict.OPEN) if each in verdicts), Verdict.REFUTED
        )

    def solved(self, alternatives: Sequence[Problem]) -> bool:
        """True if one of the alternatives has a plan that was placed."""
        return any(self.tried(problem) is not None for problem in alternatives)

    def _judged(self, problem: Problem) -> Verdict:
        workload = problem.job.workload or Workload()
        question = asked(problem, workload)
        self._searches += 1
        if not all(question.options.values()):
            return Verdict.REFUTED
        if self._searches <= SEARCHES:
            found = search(question, cost_model(workload.model), EACH, self.seed, any_will_do=True)
            if found.best is not None:
                return Verdict.POSSIBLE
            if found.proved:
                return Verdict.REFUTED
        self.undecided = True
        return Verdict.OPEN


def relaxed(problem: Problem, given_up: Sequence[Demand]) -> Problem:
    """The problem without these demands, of which some may be of the plan."""
    return _of_plan(without(problem, given_up), given_up)


def changes(
    planner: Planner, problem: Problem, demands: Sequence[Demand], every: Sequence[Demand], left_out: Collection[str], missing: int = 1,
    slow: int | None = None,
) -> list[str]:  # fmt: skip
    """Single changes of these demands, of the scope and of the cluster, or several of `every` demand where none is enough.

    `missing`: accelerators that are missing at least; `slow`: ns of a plan that was placed and takes too long.
    """
    found = [text for demand in demands for text in _of_one(planner, problem, demand, slow)]
    others = [
        each
        for each in demands
        if each.component and each.field not in (AMOUNT, "memory", TIMES, COUNTS, RANKS)
    ]
    found += [each.text for each in ranked(Trial([problem], planner), others, None)]
    for name, wide in widened(problem, left_out):
        if planner.solved([wide]):
            found.append(f"write `scope: [{name}]` in `plan`, which lets {WIDENS[name]}")
    found += _in_turns(planner, problem, demands)
    found += _more_nodes(planner, problem, missing)
    return list(dict.fromkeys(found)) or _together(planner, problem, every)


def _of_plan(problem: Problem, given_up: Sequence[Demand]) -> Problem:
    """The problem without those of these demands that are of the plan."""
    workload, fields = (
        problem.job.workload or Workload(),
        {each.field for each in given_up if not each.component},
    )
    budget = Budget(
        None if BUDGET_ACCELERATORS in fields else workload.budget.accelerators,
        None if BUDGET_SECONDS in fields else workload.budget.nanoseconds,
    )
    workload = replace(
        workload, budget=budget, model=STREAM if COST_MODEL in fields else workload.model
    )
    return replace(problem, job=replace(problem.job, workload=workload))


def _with_aim(problem: Problem, aim: str) -> Problem:
    return replace(
        problem,
        job=replace(problem.job, workload=replace(problem.job.workload or Workload(), aim=aim)),
    )


def _of_one(planner: Planner, problem: Problem, demand: Demand, slow: int | None) -> Iterator[str]:
    """What to write instead of a budget, a count, times, or given ranks."""
    name = demand.component
    if demand.field == BUDGET_SECONDS:
        found = planner.tried(_with_aim(_of_plan(problem, [demand]), SECONDS))
        known = [*([found[0]] if found else []), *([slow] if slow is not None else [])]
        yield from [f"allow `seconds: {in_seconds(min(known))}`"] if known else []
    elif demand.field == BUDGET_ACCELERATORS:
        found = planner.tried(_with_aim(_of_plan(problem, [demand]), ACCELERATORS))
        yield from [f"allow `accelerators: {found[1]}`"] if found else []
    elif demand.field == COST_MODEL and planner.solved([_of_plan(problem, [demand])]):
        yield f"take `cost_model: {STREAM}`"
    elif demand.field == AMOUNT:
        yield from _other_counts(planner, problem, demand)
    elif demand.field == "memory":
        yield from _less_memory(planner, problem, problem[name])
    elif demand.field in (TIMES, COUNTS) and planner.solved([without(problem, [demand])]):
        yield from _other_times(problem[name], demand.field)
    elif demand.field == RANKS:
        amount = problem.given().amount(name)
        parts = tuple(
            replace(each, runs=None, least=amount, most=amount, counts=())
            if each.name == name
            else each
            for each in problem.components
        )
        if planner.solved([replace(problem, job=replace(problem.job, components=parts))]):
            yield f"give `{name}` other ranks"


def _other_times(component: Component, field: str) -> Iterator[str]:
    """What to write so that the times of a component hold for any count, or for any degrees and accelerators."""
    timed = component.timed or Timed(())
    said = ["`scaling: table`"] if timed.scaling == TABLE else []
    said += ["`samples`"] if timed.samples else []
    if field == TIMES:
        yield f"write times of `{component.name}` that hold for what it may use"
    elif not timed.samples or "samples" in component.spans:  # else they follow from other settings
        yield f"leave out {listed(said)} of `{component.name}`"


def _less_memory(planner: Planner, problem: Problem, component: Component) -> Iterator[str]:
    """The most memory, in whole GiB, with which there is a plan."""
    sizes = range(GIB, component.memory, GIB)
    place = best(
        len(sizes),
        lambda index: (
            planner.judge([needing(component, sizes[index])(problem)]) is Verdict.POSSIBLE
        ),
    )
    if place >= 0 and planner.solved([needing(component, sizes[place])(problem)]):
        yield f"set `memory` of {component.name} to {written(sizes[place])} instead of {written(component.memory)}"


def _in_turns(planner: Planner, problem: Problem, demands: Sequence[Demand]) -> Iterator[str]:
    """A phase for each component whose memory is to blame, so that they take turns."""
    names = [each.component for each in demands if each.field == "memory"]
    parts = tuple(
        replace(each, phases=(each.name,)) if each.name in names else each
        for each in problem.components
    )
    changed = replace(problem, job=replace(problem.job, components=parts))
    if (
        len(names) > 1
        and planner.judge([changed]) is Verdict.POSSIBLE
        and planner.solved([changed])
    ):
        yield f"let {listed([f'`{name}`' for name in names])} take turns, each in a `phase` of its own"


def _other_counts(planner: Planner, problem: Problem, demand: Demand) -> Iterator[str]:
    """The nearest count below what a component asks for, and the nearest above, with a plan."""
    component = problem[demand.component]
    can = counts(without(problem, [demand]), component.name)
    less, more = (
        [each for each in can if each < component.least],
        [each for each in can if each > component.most],
    )

    def works(count: int) -> bool:
        return planner.judge([asking(component, count)(problem)]) is Verdict.POSSIBLE

    near = next((count for count in reversed(less[-FEW:]) if works(count)), 0)
    if not near and (place := best(len(less) - FEW, lambda index: works(less[index]))) >= 0:
        near = less[place]
    for count in (near, next((count for count in more[:FEW] if works(count)), 0)):
        if count and planner.solved([asking(component, count)(problem)]):
            yield f"ask for {count} instead of {amount_of(component)} for {component.name}"


def _more_nodes(planner: Planner, problem: Problem, missing: int) -> Iterator[str]:
    """The first of a few clusters with more nodes like the largest of a model on which there is a plan."""
    samples: dict[str, Node] = {}
    for node in sorted(problem.cluster.nodes, key=lambda node: -node.count(ACCELERATOR)):
        if node.count(ACCELERATOR):
            samples.setdefault(node.accelerator_model, node)
    for model, sample in list(samples.items())[:FEW]:
        size = sample.count(ACCELERATOR)
        least = -(-missing // size)
        for more in (least, least + 1):
            changed = replace(problem, cluster=with_nodes(problem.cluster, sample, more))
            if planner.judge([changed]) is Verdict.POSSIBLE and planner.solved([changed]):
                yield f"add {more} {plural('node', more)} with {size} {plural('accelerator', size) if model == GENERIC else model}"
                return


def _together(planner: Planner, problem: Problem, every: Sequence[Demand]) -> list[str]:
    """The fewest demands to give up at once; nothing where that is no small change, or not the file's to give up."""

    def looseness(demand: Demand) -> int:
        return (
            3
            if not demand.component
            else 2
            if demand.field == AMOUNT
            else int(can_be_dropped(problem, demand))
        )

    def possible(kept: Sequence[Demand]) -> bool:
        return (
            planner.judge([changed([each for each in order if each not in kept])])
            is Verdict.POSSIBLE
        )

    def changed(gone: Sequence[Demand]) -> Problem:
        return _of_plan(problem.without(*gone), gone)

    order = sorted(
        (each for each in every if each.field not in (TIMES, COUNTS, RANKS)), key=looseness
    )
    if not possible([]):
        return []
    kept = maximal(order, possible)
    gone = [each for each in order if each not in kept]
    if not 1 < len(gone) <= TOGETHER or not all(map(looseness, gone)):
        return []
    by_count = any(each.field == BUDGET_ACCELERATORS for each in gone)
    found = planner.tried(_with_aim(changed(gone), ACCELERATORS if by_count else SECONDS))
    if found is None:
        return []
    texts = {
        BUDGET_SECONDS: f"allow `seconds: {in_seconds(found[0])}`",
        BUDGET_ACCELERATORS: f"allow `accelerators: {found[1]}`",
        COST_MODEL: f"take `cost_model: {STREAM}`",
    }
    open_ = {
        each: f"leave the count of `{each.component}` open" for each in gone if each.field == AMOUNT
    }
    return [
        " and ".join(texts.get(each.field) or open_.get(each) or dropped(each) for each in gone)
    ]
