"""An account of ranks that are all given: what an iteration of them takes, and what could be had without them."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Solve
from ....models.planning.planned import Planned, Priced
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ..asking.asked import asked
from ..asking.even import evenly
from ..check import price
from ..costs import cost_model
from ..costs.cost_model import iteration, segment_times
from ..memory.without import without_estimates
from ..searching.search import search
from .account import KEEP, Account
from .accounting import account_of
from .compared import compared
from .own.fixed import left_open
from .own.own_ranks import own_of

OTHERS = 3
"""Designs that stand beside the ranks, at most."""


def given(problem: Problem, limit: float = 10.0, seed: int = 1, solve: Solve | None = None) -> Account | None:
    """The account of the file's own ranks; None where they have no price, or where not all components with times have ranks.

    The designs beside them are the best of a search in which the counts of these components are open, within what their hints say, and
    which fit by the estimates of memory where any does; they were not placed. Where they are far better than the ranks, `solve` answers
    the same question with their placement, and what it proves to have none is left out. `limit` is in deterministic seconds.
    """
    workload = problem.job.workload
    timed = [each for each in problem.components if each.timed]
    if workload is None or any(each.runs is None for each in timed):
        return None
    own = {each.name: each.runs for each in timed if each.runs is not None}
    parts = tuple(left_open(each) if each.timed else each for each in problem.components)
    opened = replace(problem, job=replace(problem.job, components=parts, own=own))
    opened = evenly(opened) or opened
    question, model = asked(opened, workload), cost_model(workload.model)
    searched = search(question, model, limit, seed, OTHERS)
    bare = without_estimates(opened) if searched.best is None and searched.proved else None
    if bare is not None and bare.job.workload is not None:  # nothing fits by the estimates
        opened, workload = bare, bare.job.workload
        question = asked(opened, workload)
        searched = search(question, model, limit, seed, OTHERS)
    mine = own_of(opened, question, model)
    priced = mine.priced
    if priced is None:
        return None
    others = tuple(
        Priced(each.design, iteration(model, question, each.design), tuple(segment_times(model, question, each.design)))
        for each in searched.found
    )
    by_time = question.aim == SECONDS
    value = priced.nanoseconds + priced.traffic if by_time else price(question, model, priced.design)[0] + question.held
    least = value if searched.bound is None else searched.bound + (0 if by_time else question.held)
    bound = min(value, least) if mine.on_several_kinds else least
    # What is near enough to the bound of what was not placed stays as it is: then no placement is looked for.
    far = (value - bound) * 100 > bound * KEEP
    placed = compared(opened, question, solve) if solve is not None and far else None
    unsure = others
    if placed is not None:
        others, unsure = placed.beside(others, question, OTHERS)
        bound = max(bound, min(value, placed.planned.bound))
    planned = Planned(question, model.name, priced, bound, value <= bound, others, (), searched.structures, not_placed=unsure)
    return replace(account_of(mine.problem, replace(planned, question=mine.question), problem.given()), given=True)
