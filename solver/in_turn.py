"""Processes that a framework deals out over its reserved nodes (`in_turn`).

The nodes follow from the placement of all other components.
"""

from __future__ import annotations

from ..models.answer import UNDECIDED, Answer, Solve
from ..models.findings.finding import error
from ..models.machines.node_group import ACCELERATOR
from ..models.placements.assignment import Assignment
from ..models.placements.plan import Plan
from ..models.placements.run_checks import deal_round_robin
from ..models.problem import Problem
from .wording import join_names

TRIES = 4
"""Limit of answers; processes without accelerators rarely change the number of nodes."""


def solve_in_turn(problem: Problem, solve: Solve) -> Answer:
    """Solve a problem with `in_turn` processes by fixed-point iteration."""
    dealt_problem, answer_so_far = problem, solve(problem)
    for _ in range(TRIES):
        if not problem.job.in_turn or answer_so_far.plan is None:
            return answer_so_far
        dealt = _dealt(dealt_problem, _nodes(answer_so_far.plan.assignment))
        if dealt == dealt_problem:
            return answer_so_far
        dealt_problem, answer_so_far = dealt, solve(dealt)
    names = join_names([f"`{name}`" for name in sorted(problem.job.in_turn)])
    message = f"how many nodes are used changes with where the processes of {names} are, and they with it"
    return Answer(UNDECIDED, findings=(error("PW604", "", message, help="give the ranks of some component"),), how="search")


def with_in_turn_fixed(problem: Problem, plan: Plan) -> Problem:
    """Return the problem with `in_turn` processes fixed as in the plan."""
    names = problem.job.in_turn
    return problem.with_fields({name: {"runs": plan.assignment.of(name)} for name in names}) if names else problem


def _nodes(assignment: Assignment) -> int:
    """Return the number of nodes up to the last node with used accelerators."""
    nodes = [node for name in assignment.runs for node, kind in assignment.masks(name) if kind == ACCELERATOR]
    return max(nodes, default=0) + 1


def _dealt(problem: Problem, nodes: int) -> Problem:
    """Return the problem with `in_turn` processes on this number of nodes."""
    runs_of = {component.name: component.runs for component in problem.components if component.name in problem.job.in_turn}
    sizes = {name: Assignment({name: runs}).world_size(name) for name, runs in runs_of.items() if runs is not None}
    return problem.with_fields({name: {"runs": deal_round_robin(size, nodes)} for name, size in sizes.items()})
