"""Solve a problem: a verified plan, or the reason for its absence."""

from __future__ import annotations

import time
from typing import Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, error, warning
from ...models.placements.plan import OPTIMAL, VERIFIED, Plan
from ...models.problem import Problem
from ...models.sharing import given_part
from ..check import check, check_explicit, errors
from ..enumeration import MOST_CONFIRMING, combinations, small_combinations
from ..greedy import greedy, greedy_even
from ..layout.layout import Layout, Values
from ..layout.ranges import has_free_order
from ..search_scope import find_unsupported
from ..session import Session
from ..unchecked import list_unchecked
from .progress import Incumbents, OnProgress, silent
from .state import ChoiceState, Search, WrongAnswer, placing_seconds

__all__ = ["LIMIT", "SEED", "WrongAnswer", "solve"]
SEED = 1
LIMIT = 10.0
OVERRUN = 1.05
"""Processor seconds per second of the limit that end a search, its last answer included."""
A_SETUP = 2e-5
"""Seconds to begin with an accelerator, measured: layout, bounds by counting, first answer."""
LAST_ANSWER = 1.5
"""Factor on the time of an answer for the last one, which is also reported."""
LEAST_SHARE = 0.25
"""Smallest share of the limit for the search itself."""
A_VALUE = 1e-3
"""Metered seconds per combination of an enumeration."""


def solve(
    problem: Problem, limit: float = LIMIT, seed: int = SEED, on_progress: OnProgress = silent, session: Session | None = None
) -> Answer:
    """Place all hinted components.

    Parameters
    ----------
    limit : total seconds of metered work: the same answer on any machine.
    seed : the same problem and seed give the same plan, in any process.
    on_progress : callback for every better answer and bound (see progress.py).
    session : decides if a solver may be loaded; None allows it. Raises SearchNeeded if not.
    """
    session = session or Session()
    search = Search(problem, seed, on_progress, session)
    search.until = time.process_time() + max(LEAST_SHARE * limit, OVERRUN * limit - LAST_ANSWER * placing_seconds(problem))
    fixed_ranks = problem.build_given()
    if faults := errors(check_explicit(problem)):
        return Answer(IMPOSSIBLE, findings=faults, how="given")
    if not problem.hinted:
        plan = Plan(problem.cluster, fixed_ranks, VERIFIED, seconds=search.seconds, cpus=problem.cpus(fixed_ranks))
        return Answer(VERIFIED, plan, how="given", unchecked=tuple(list_unchecked(problem, fixed_ranks)))
    if refusals := find_unsupported(problem):
        from ..refuting.impossible import report_contradiction

        contradiction = report_contradiction(problem, session)
        verdict, findings = (IMPOSSIBLE, (contradiction,)) if contradiction else (UNDECIDED, refusals)
        return Answer(verdict, findings=findings, how="given")
    # Explicit ranks exclude some choices of degrees.
    alternatives = [alternative for alternative in problem.alternatives() if not errors(check(given_part(alternative), fixed_ranks))]
    setup = A_SETUP * sum(component.least for component in problem.hinted)
    stands, bound = _best_first(alternatives, search, max(LEAST_SHARE * limit, limit - setup))
    best = min((state for state in stands if state.assignment), key=lambda state: state.objective, default=None)
    if best is not None and best.assignment is not None:
        plan = best.plan(bound)
        on_progress(Incumbents(plan, bound, search.seconds))
        late = (_late(limit),) if search.is_late and plan.status != OPTIMAL else ()
        return Answer(plan.status, plan, late, best.how, tuple(list_unchecked(problem, best.assignment)))
    if len(stands) < len(alternatives) or not all(state.refuted for state in stands):
        message = f"undecided: {limit:g} s of search found no placement, and no proof that there is none"
        return Answer(UNDECIDED, findings=(error("PW602", "", message, help=f"give it longer: `--limit {limit * 4:g}`"),), how="search")
    if not problem.explained:
        return Answer(IMPOSSIBLE, findings=(error("PW601", "", "impossible"),), how=stands[0].how)
    return _explain(alternatives, stands, search)


def _late(limit: float) -> Finding:
    """Return the note on an answer that a faster machine would have improved."""
    message = f"the search was stopped after {limit:g} s of processor time, before the work of its limit was done"
    return warning("PW602", "", message, help=f"give it longer: `--limit {limit * 4:g}`")


def _explain(alternatives: Sequence[Problem], stands: Sequence[ChoiceState], search: Search) -> Answer:
    """Return the answer to a problem whose choices are all refuted, with the reason."""
    from ..refuting.impossible import impossible

    if proof := _proof(stands):
        search.on_progress(Incumbents(None, 0, search.seconds, refuted=True))
    finding: Finding = impossible(alternatives, proof, search.session)
    return Answer(IMPOSSIBLE if finding.code == "PW601" else UNDECIDED, findings=(finding,), how=stands[0].how)


def _proof(stands: Sequence[ChoiceState]) -> str:
    """Return the independent refutation of all choices, in words; "" without proof."""
    from ..refuting.impossible import describe_enumeration

    states = [state for state in stands if state.how != "counting"]
    if not all(state.tried is not None or state.agreed for state in states):
        return ""
    if any(state.agreed for state in states):
        return "a second, separately written model agrees"
    return describe_enumeration(sum(state.tried or 0 for state in states))


def _best_first(problems: Sequence[Problem], search: Search, limit: float) -> tuple[list[ChoiceState], int]:
    """Return the states of the searched choices, best first, and a bound over all choices.

    The time is shared evenly among the remaining choices; unused time passes to later choices.
    """
    states = [ChoiceState(Layout(problem), search) for problem in problems]
    bounds = {number: state.bound for number, state in enumerate(states)}
    order = sorted(bounds, key=lambda number: (bounds[number], number))
    stands: list[ChoiceState] = []
    best: int | None = None
    for position, number in enumerate(order):
        if best is not None and bounds[number] >= best:
            break
        search.others = min((bound for index, bound in bounds.items() if index != number), default=None)
        state = states[number]
        _decide(state, limit / (len(order) - position))
        stands.append(state)
        limit -= state.spent
        if state.refuted:
            del bounds[number]
        else:
            bounds[number] = state.bound
        if state.assignment and (best is None or state.objective < best):
            best = state.objective
    return stands, min(bounds.values(), default=0)


def _decide(state: ChoiceState, limit: float) -> None:
    """Search a choice until the time is over or everything is proved."""
    layout, problem = state.layout, state.problem
    for first_answer in (greedy, greedy_even):
        if (values := first_answer(layout)) is not None:
            state.offer(values, "greedy")
        if state.is_proved:
            return
    from ..interval_dp import best_on_line
    from ..refuting.certificate import counting_row

    if state.assignment is None and counting_row(problem):
        state.how, state.refuted = "counting", True
        return
    if line := best_on_line(layout, state.tiers, state.counted):
        lower_bound, values = line
        state.offer(values, "sweep")
        if state.assignment is not None and state.objective == lower_bound:
            state.prove_best()
        elif state.tiers:  # `lower_bound` bounds all tiers in a single number
            state.prove(0, lower_bound // state.tiers[0].scale)
    if state.is_proved or settle(state):
        return
    state.search.session.must_search()
    from ..patterns.applicability import pays
    from .tiers import search_by_patterns, search_tiers

    spent = search_by_patterns(state, limit) if pays(layout, state.tiers) else 0.0
    if not state.is_proved and not state.refuted and not state.search.is_late:
        search_tiers(state, limit - spent)
    state.spent += spent
    if state.refuted and problem.explained and not confirm(state):
        from ..refuting.plain_model import is_refuted

        state.agreed = is_refuted(problem)


def settle(state: ChoiceState) -> bool:
    """Decide a small problem by enumeration: its best answer, or that there is none; False if large."""
    return _judge_all(state, small_combinations(state.layout))


def confirm(state: ChoiceState) -> bool:
    """Enumerate after a search without result, where an answer refutes the search; False if large."""
    return _judge_all(state, combinations(state.layout, MOST_CONFIRMING) if state.problem.previous is None else None)


def _judge_all(state: ChoiceState, every: Sequence[Values] | None) -> bool:
    """Judge all combinations: the best answer is proved, or that none exists; False if unknown."""
    for values in every or ():
        state.judge(values, "search")
    if every is None:
        return False
    state.spent += A_VALUE * len(every)
    state.refuted = state.assignment is None
    if state.refuted:
        state.tried = len(every)
    elif not has_free_order(state.layout):
        state.prove_best()
    return True
