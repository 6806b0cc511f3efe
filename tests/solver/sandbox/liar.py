"""A process that searches as it should not: a fake of placewright.solver.sandbox.child, one way of lying for each name.

`python liar.py NAME [FILE] MEMORY`: the number of the process is written to the file, if there is one.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Callable

from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.component import Parallel
from placewright.models.findings.finding import error
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED, Plan
from placewright.models.problem import Problem
from placewright.solver.sandbox.child import main
from placewright.solver.searching.progress import Incumbents, OnProgress
from placewright.solver.searching.search import solve

Lie = Callable[[Problem, float, int, OnProgress], Answer]


def right(problem: Problem) -> Plan:
    """The plan of an honest search."""
    plan = solve(problem).plan
    if plan is None:
        raise SystemExit("there is no answer to lie about")
    return plan


def answering(change: Callable[[Plan, Problem], Plan]) -> Lie:
    """The right answer, changed."""

    def lie(problem: Problem, limit: float, seed: int, tell: OnProgress) -> Answer:
        plan = change(right(problem), problem)
        return Answer(plan.status, plan, how="search")

    return lie


def after(act: Callable[[], object]) -> Lie:
    """Something that happens after the right answer was told, before it is given."""

    def lie(problem: Problem, limit: float, seed: int, tell: OnProgress) -> Answer:
        plan = right(problem)
        tell(Incumbents(replace(plan, status=FEASIBLE, bound=0, terms=tuple(replace(term, bound=0) for term in plan.terms)), 0, 0.0))
        return at_once(act)(problem, limit, seed, tell)

    return lie


def at_once(act: Callable[[], object]) -> Lie:
    """Something that happens instead of a search."""

    def lie(problem: Problem, limit: float, seed: int, tell: OnProgress) -> Answer:
        act()
        return Answer(UNDECIDED, findings=(error("PW602", "", "undecided"),), how="search")

    return lie


def saying(answer: Answer) -> Lie:
    """An answer that has nothing to do with the problem."""
    return lambda problem, limit, seed, tell: answer


def moved(plan: Plan, problem: Problem) -> Plan:
    """The first component lies where the second is."""
    runs = dict(plan.assignment.runs)
    first, second, *_ = runs
    return replace(plan, assignment=Assignment({**runs, first: runs[second]}))


def changed_run(**fields: object) -> Callable[[Plan, Problem], Plan]:
    """The first run of the first component is another."""

    def change(plan: Plan, problem: Problem) -> Plan:
        runs = dict(plan.assignment.runs)
        name, its = next(iter(runs.items()))
        return replace(plan, assignment=Assignment({**runs, name: (replace(its[0], **fields), *its[1:])}))  # type: ignore[arg-type]

    return change


def without_one(plan: Plan, problem: Problem) -> Plan:
    """A component is missing."""
    return replace(plan, assignment=Assignment(dict(list(plan.assignment.runs.items())[1:])))


def cheaper(plan: Plan, problem: Problem) -> Plan:
    """The objective is said to be one less than it is."""
    return replace(
        plan, terms=(*plan.terms[:-1], replace(plan.terms[-1], value=plan.terms[-1].value - 1, bound=0)), bound=0, status=FEASIBLE
    )


def hang() -> None:
    """Keeps to no limit, and listens to nobody."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def hold() -> None:
    """The same, and never lets another thread of the interpreter run."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ctypes.PyDLL(None).sleep(3600)


def devour() -> None:
    """Takes memory until there is none."""
    taken = []
    while True:
        taken.append(bytearray(64 << 20))


def abort_for_memory() -> None:
    """Ends as C++ does without memory."""
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n")
    os.abort()


def abort() -> None:
    """Ends as a failed check of a C++ library does."""
    os.write(2, b"F0000 00:00:00.000000 1 cp_model_solver.cc:1] Check failed: a == b (1 vs. 2)\n*** \x1b[31mred\n")
    os.abort()


def raises() -> None:
    """A fault of our own."""
    raise KeyError("no such thing")


def chatter() -> None:
    """A library prints to standard output."""
    os.write(1, b"hello from a library\n")
    print("and from another")


def contradicting(with_presolve_alone: bool) -> Lie:
    """CP-SAT itself says that a model has no solution, though it has some."""
    from ortools.sat.python import cp_model

    honest = cp_model.CpSolver.solve

    def lying(self: cp_model.CpSolver, model: cp_model.CpModel, callback: cp_model.CpSolverSolutionCallback | None = None) -> object:
        if self.parameters.cp_model_presolve or not with_presolve_alone:
            model = model.clone()
            model.add_bool_or([])
        return honest(self, model, callback)

    cp_model.CpSolver.solve = lying  # type: ignore[assignment, method-assign]
    return solve


IMPOSSIBLE_BECAUSE = error("PW601", "actor", "impossible: actor needs 99 accelerators, the cluster has 24", witnesses=(99, 24), amount=75)
LIES: dict[str, Callable[[], Lie]] = {
    "impossible": lambda: saying(Answer(IMPOSSIBLE, findings=(IMPOSSIBLE_BECAUSE,), how="search")),
    "wrong sum": lambda: saying(Answer(IMPOSSIBLE, findings=(IMPOSSIBLE_BECAUSE,), how="counting")),
    "presolve": lambda: contradicting(with_presolve_alone=True),
    "twice": lambda: contradicting(with_presolve_alone=False),
    "no reason": lambda: saying(Answer(IMPOSSIBLE, how="search")),
    "no plan": lambda: saying(Answer(OPTIMAL, how="search")),
    "overlap": lambda: answering(moved),
    "outside": lambda: answering(changed_run(node=77)),
    "no such accelerator": lambda: answering(changed_run(first=3, step=5)),
    "endless ranks": lambda: answering(changed_run(ranks=range(0, 1 << 62))),
    "missing": lambda: answering(without_one),
    "cheaper": lambda: answering(cheaper),
    "other seed": lambda: answering(lambda plan, problem: replace(plan, seed=plan.seed + 1)),
    "degrees": lambda: answering(lambda plan, problem: replace(plan, degrees={"a": Parallel(2)})),
    "bound above": lambda: answering(lambda plan, problem: replace(plan, bound=plan.objective + 1)),
    "not optimal": lambda: answering(lambda plan, problem: replace(plan, bound=plan.objective - 1, status=OPTIMAL)),
    "verified": lambda: answering(lambda plan, problem: replace(plan, status=VERIFIED)),
    "crash": lambda: at_once(abort),
    "crash later": lambda: after(abort),
    "exit": lambda: at_once(lambda: os._exit(0)),
    "exit 7 later": lambda: after(lambda: os._exit(7)),
    "raises": lambda: at_once(raises),
    "raises later": lambda: after(raises),
    "killed": lambda: at_once(lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "hang": lambda: at_once(hang),
    "hold": lambda: at_once(hold),
    "hang later": lambda: after(hang),
    "devour": lambda: at_once(devour),
    "devour later": lambda: after(devour),
    "bad_alloc": lambda: at_once(abort_for_memory),
    "chatter": lambda: after(chatter),
}


def speechless(name: str) -> None:
    """Ways of not even asking what the question is."""
    if name == "deaf":
        hang()
    if name == "babble":
        os.write(1, b"not JSON\n")
    if name == "other words":
        os.write(1, b'{"0":[]}\n')
    if name == "too much":
        while True:
            os.write(1, b"x" * 65536)


if __name__ == "__main__":
    _, lie, *file, memory = sys.argv
    for each in file:
        Path(each).write_text(str(os.getpid()))
    speechless(lie)
    if lie in LIES:
        main(LIES[lie]())
