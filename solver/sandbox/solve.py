"""Search in a child process; every answer is verified in this process."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer
from ...models.findings.finding import Finding, error
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..searching.progress import Incumbents, OnProgress, silent
from ..searching.search import LIMIT, SEED
from ..searching.search import solve as search
from ..session import SearchNeeded, Session
from ..unchecked import list_unchecked
from .end_reasons import Faulty, SearchStopped, stoppable
from .trust import Trust

MEMORY = 4096
"""MiB of address space of a search."""
BEGIN = "import sys; sys.path[:] = sys.argv[1:-1]; from placewright.solver.sandbox.child import main; main()"
"""Program of the child: uses the parent's module path, not the working directory."""


def report_unexplained(problem: Problem) -> Finding:
    """Return the finding of a problem refuted by sums, without fixes."""
    from ..refuting.impossible import shortage

    help_text = "loosen a demand, or add nodes: the change that helps is unknown"
    finding = shortage(problem)
    message = "impossible: what is given leaves no choice of parallel degrees"
    return replace(finding, help=help_text) if finding else error("PW601", "", message, help=help_text)


def command(memory: int = MEMORY) -> tuple[str, ...]:
    """Return the command line of the search process, with a memory limit in MiB."""
    return (sys.executable, "-c", BEGIN, *sys.path, str(memory))


def solve(
    problem: Problem, limit: float = LIMIT, seed: int = SEED, on_progress: OnProgress = silent, memory: int = MEMORY,
    child: Sequence[str] | None = None, session: Session | None = None,
) -> Answer:  # fmt: skip
    """Place all hinted components. Questions that need no search are answered in this process.

    Every answer is verified here. A search that crashes, exceeds its limits or does not end is
    stopped. Then, and on Ctrl-C, the answer is the best verified one, with a finding that gives the
    reason; ``undecided`` without an answer, ``impossible`` only if a sum proved it here. A false
    statement of the search is a bug (PW610). After a Ctrl-C nothing is searched. Raises
    SearchNeeded if a search is not allowed, and KeyboardInterrupt at a Ctrl-C that the session does
    not answer; no process is left running then.

    Parameters
    ----------
    limit, seed, on_progress : as in searching/search.py; `on_progress` receives verified answers
        only.
    memory : MiB of address space of the search.
    child : command line of the child.
    session : shared budget and processes; None for a fresh session.
    """
    session = session or Session()
    trust, began = Trust(problem, seed), time.monotonic()
    last: list[tuple[int | None, int, bool]] = []

    def report(progress: Incumbents) -> None:
        trust.hear(progress)
        # The child starts from facts known here and reports them again.
        if last != [(progress.objective, progress.bound, progress.refuted)]:
            last[:] = [(progress.objective, progress.bound, progress.refuted)]
            on_progress(progress)

    try:
        try:
            with stoppable(session), session.without_search():
                return search(problem, limit, seed, report, session)
        except SearchNeeded:
            if not session.may_search:
                raise
            if trust.best is None and not trust.refuted:
                on_progress(Incumbents(None, 0, time.monotonic() - began))
        from .dialogue import talk
        from .messages import SolveRequest

        trust.begin()
        answer = trust.answer(talk(session, child or command(memory), SolveRequest(problem, limit, seed), report, memory))
        return replace(answer, plan=_set_time(answer.plan, began))
    except Faulty as fault:
        return _without(trust, trust.find_believed(), fault.with_answer, began)
    except SearchStopped as why:
        return _without(trust, trust.best, why.with_answer if trust.best else why.without_answer, began)


def _without(trust: Trust, best: Plan | None, reason: Finding, began: float) -> Answer:
    """Return the answer without the child's answer, with the `reason`."""
    plan = _set_time(best, began)
    if plan is not None:
        return Answer(plan.status, plan, (reason,), "search", tuple(list_unchecked(trust.problem, plan.assignment)))
    if trust.refuted:
        return Answer(IMPOSSIBLE, None, (report_unexplained(trust.problem), reason), "counting")
    return Answer(UNDECIDED, None, (reason,), "search")


def _set_time(plan: Plan | None, began: float) -> Plan | None:
    """Set the plan's time to the total, including this process."""
    return plan and replace(plan, seconds=time.monotonic() - began)
