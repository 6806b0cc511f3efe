"""Options `--previous`, `--lose`, `--trade`: a placement near the running plan.

The cluster or the job has changed since that plan was made.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

import click

from ...models.findings.finding import error
from .options import node_words

if TYPE_CHECKING:
    from ...models.findings.finding import Finding
    from ...models.findings.span import Edit
    from ...models.placements.moves import Moves
    from ...models.placements.plan import Plan
    from ...models.problem import Problem
    from ...planner.answer import Solver

Verb = TypeVar("Verb", bound=Callable[..., Any])
_PREVIOUS = "The plan that runs now: as few groups as possible move from it. Nodes are matched by their names."
_TRADE = "With --previous, also say what the next cheaper answer would cost in moves."
_LOSE = "These nodes are gone, by name or by rank."


def previous_options(verb: Verb) -> Verb:
    """Add `--previous`, `--lose` and `--trade` to a verb, as the argument `previous`."""

    @wraps(verb)
    def near_running_plan(*arguments: Any, previous: str | None, lost: tuple[tuple[str, ...], ...], trade: bool, **options: Any) -> Any:
        if trade and previous is None:
            raise click.UsageError("--trade compares with the plan that runs now: name it with --previous")
        return verb(*arguments, previous=Previous(previous, lost, trade), **options)

    lose = click.option("--lose", "lost", multiple=True, metavar="NODE,...", callback=node_words, help=_LOSE)
    further = click.option("--trade", is_flag=True, help=_TRADE)(lose(cast(Verb, near_running_plan)))
    return click.option("--previous", metavar="PLAN", help=_PREVIOUS)(further)


class Previous:
    """Running plan and lost nodes, as the command line names them."""

    def __init__(self, file: str | None, lost: tuple[tuple[str, ...], ...], trade: bool) -> None:
        self._trade = trade
        self._words = [word for words in lost for word in words]
        self._file = file
        self._plan: Plan | None = None

    def asked(self, problem: Problem) -> Problem:
        """Return the problem on the remaining nodes, near the running plan. Raises UnusableInput."""
        if not self._words and self._file is None:
            return problem
        from ...models.placements.plan_file import read_plan
        from ...solver.pricing.changes import near_running_plan

        self._plan = read_plan(self._file) if self._file is not None else None
        return near_running_plan(problem, self._plan, self._words)

    def moves(self, question: Problem, chosen: Problem, plan: Plan, solve: Solver) -> Moves | None:
        """Return the moves from the running plan to `plan`; None without a running plan.

        `chosen` is the problem with the chosen counts; `question` is the problem for the searches
        of
        `--trade`.
        """
        if self._plan is None:
            return None
        from ...solver.replanning import moves, with_trade

        moved = moves(chosen, self._plan, plan)
        if not self._trade:
            return moved
        return solve.session.unless_cancelled(lambda: with_trade(question, moved, plan, solve), lambda: moved)

    def writable(self, edits: list[Edit], unwritable: tuple[Finding, ...]) -> tuple[list[Edit], tuple[Finding, ...]]:
        """Return the edits of the file; none, and a finding, if nodes are gone.

        The ranks in the file still count the lost nodes.
        """
        if not self._words or not (edits or unwritable):
            return edits, unwritable
        message = "the answer cannot be written into this file: its ranks still count the nodes that are gone"
        return [], (error("PW603", "", message, help="change the cluster there first, or use the plan itself"),)
