"""Ranges that hand each other what they hold where both are: their ranks are in one order there, also where pins ask for another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Mapping

from ....models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ....models.findings.finding import error
from ....models.machines.node_group import CLUSTER_LABEL
from ....models.placements.assignment import Assignment, Run
from ....models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ....models.problem import Problem
from ...check import check
from ...layout.grain import wholes
from ...objectives import OBJECTIVES
from ...searching.standing import errors
from .pair_of_ranges import PairOfRanges, resources

MOST_LOOKED_AT = 4096
"""Pairs of ranges that are looked at by counting, at most."""
MOST_PLACED = 16
"""Pairs of ranges around which all else is placed, at most."""


def with_one_order(place: Solve) -> Solve:
    """How a problem is placed whose pairs `Job.in_step` are in one order of ranks where they share accelerators, given how any is.

    Both are ranges whose processes may lie in any order, so only pins bring the two out of one. A placement that has them so is put in
    order where it stands, if that can be; else both are given other ranges, and all else is placed around these. Where all ranges are
    looked at and none will do, nothing is possible. Of the objective no more is proved than without the order.
    Source: ROLL, roll/third_party/megatron/model_update.py and roll/third_party/fsdp2/model_update.py: rank k of training hands its
    weights to whom it meets at its place of the range.
    """

    def answer(problem: Problem) -> Answer:
        found = place(problem)
        if found.plan is None or not problem.job.in_step:
            return found
        pairs = [pair for pair in _met(problem, found.plan.assignment) if _is_out(problem, pair, found.plan.assignment)]
        if len(pairs) != 1 or not _is_open(problem, pairs[0]):
            return found
        return _in_order(problem, found, found.plan, PairOfRanges.of(problem, pairs[0], found.plan.assignment), place)

    return answer


def _in_order(problem: Problem, found: Answer, plan: Plan, pair: PairOfRanges, place: Solve) -> Answer:
    """The answer with the pair in one order of ranks."""
    chosen = replace(problem, job=replace(problem.job, choices={}, components=tuple(
        replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in problem.components
    )))  # fmt: skip
    exact, tried = pair.is_counted, 0
    for number, ranges in enumerate(pair.every()):
        if number > MOST_LOOKED_AT or tried > MOST_PLACED:
            exact = False
            break
        if not pair.is_whole(ranges[1]):
            exact = False
            continue
        runs = pair.runs(ranges)
        if runs is None:
            continue
        if ranges == pair.now:
            assignment = Assignment({**plan.assignment.runs, **runs})
            if not errors(check(chosen, assignment)):
                return _answered(chosen, found, plan, assignment)
        tried += 1
        beside = place(_with(chosen, runs))
        if beside.plan is not None:
            return _answered(chosen, found, plan, beside.plan.assignment)
        exact = exact and beside.verdict == IMPOSSIBLE
    names = f"`{pair.outer.name}` and `{pair.inner.name}`"
    if exact:
        message = f"impossible: no ranges of {names} have their ranks in one order where they share accelerators, as their pins ask for"
        return Answer(IMPOSSIBLE, findings=(error("PW601", pair.inner.name, message, help="pin both alike, or fewer ranks"),), how="search")
    where = f"the ranks of {names} are in one order where they share accelerators"
    message = f"undecided: no placement was found in which {where}: not all are searched"
    return Answer(UNDECIDED, findings=(error("PW602", pair.inner.name, message, help="pin both alike, or fewer ranks"),), how="search")


def _answered(chosen: Problem, found: Answer, plan: Plan, assignment: Assignment) -> Answer:
    """The answer with another placement; what was proved of any placement holds of those in order too."""
    named = {term.name: term for term in OBJECTIVES}
    terms = tuple(replace(each, value=named[each.name].value(chosen, assignment)) for each in plan.terms)
    whole = replace(plan, assignment=assignment, terms=terms)
    whole = replace(whole, status=OPTIMAL if whole.objective <= whole.bound else FEASIBLE)
    return replace(found, verdict=whole.status, plan=whole)


def _with(problem: Problem, runs: Mapping[str, tuple[Run, ...]]) -> Problem:
    """The problem with these components at these ranks."""
    components = tuple(replace(each, runs=runs.get(each.name, each.runs)) for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _met(problem: Problem, placed: Assignment) -> Iterator[tuple[str, str]]:
    """The pairs in step that share accelerators in a placement."""
    for one, other in sorted(problem.job.in_step):
        if placed.of(one) and placed.of(other) and placed.accelerators(one) & placed.accelerators(other):
            yield one, other


def _is_open(problem: Problem, pair: tuple[str, str]) -> bool:
    """Are both ranges of the whole cluster that are searched, with nothing but pins and single groups said of their places?"""
    parts = [problem[name] for name in pair]
    if any(each.runs is not None or not each.contiguous or not each.any_order or each.stride > 1 for each in parts):
        return False
    return all(problem.range_in(each) == each.node_groups == (CLUSTER_LABEL,) for each in parts) and not wholes(problem, parts)


def _is_out(problem: Problem, pair: tuple[str, str], placed: Assignment) -> bool:
    """Is a rank of the one, where both are, not at the same place in the order of the other?"""
    numbering = problem.cluster.numbering(problem.range_in(problem[pair[0]]))
    one, other = (resources(numbering, placed, name) for name in pair)
    away = min(one) - min(other)
    return any(0 <= place + away < len(other) and other[place + away] != rank for place, rank in enumerate(one))
