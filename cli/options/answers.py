"""Options `--previous`, `--lose`, `--trade`, `--top`, `--at-most` and `--why` of an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from ...models.findings.finding import UnusableInput, error
from ...models.findings.wording import plural
from .shared import Verb, lose_option, with_options

if TYPE_CHECKING:
    from ...models.findings.finding import Finding
    from ...models.findings.span import Edit
    from ...models.placements.moves import Moves
    from ...models.placements.plan import Plan
    from ...models.problem import Problem
    from ...models.reading import Reading
    from ...planner.answer import Solver


_PREVIOUS = "The plan that runs now: as few groups as possible move from it. Nodes are matched by their names."
_TRADE = "With --previous, also say what the next cheaper answer would cost in moves."


def previous_options(verb: Verb) -> Verb:
    """Add `--previous`, `--lose` and `--trade` to a verb, as the argument `previous`."""

    @wraps(verb)
    def near_running_plan(*arguments: Any, previous: str | None, losses: tuple[tuple[str, ...], ...], trade: bool, **options: Any) -> Any:
        if trade and previous is None:
            raise click.UsageError("--trade compares with the plan that runs now: name it with --previous")
        return verb(*arguments, previous=Previous(previous, losses, trade), **options)

    return with_options(
        near_running_plan,
        lose_option("These nodes are gone, by name or by rank."),
        click.option("--trade", is_flag=True, help=_TRADE),
        click.option("--previous", metavar="PLAN", help=_PREVIOUS),
    )


class Previous:
    """Running plan and lost nodes, as the command line names them."""

    def __init__(self, file: str | None, losses: tuple[tuple[str, ...], ...], trade: bool) -> None:
        self._trade = trade
        self._words = [word for words in losses for word in words]
        self._file = file
        self.plan: Plan | None = None

    @property
    def is_asked(self) -> bool:
        """True if a running plan or lost nodes are named."""
        return bool(self._words) or self._file is not None

    def near_plan(self, problem: Problem, file: Reading) -> Problem:
        """Return the problem of a file on the remaining nodes, near the plan. Raises UnusableInput."""
        if not self.is_asked:
            return problem
        from ...models.placements.plan_file import read_plan
        from ...solver.pricing.changes import stay_near_plan

        self.plan = read_plan(self._file) if self._file is not None else None
        return stay_near_plan(problem, self.plan, self._words, file)

    def moves(self, question: Problem, problem: Problem, plan: Plan, solve: Solver) -> Moves | None:
        """Return the moves from the running plan to `plan`; None without a running plan.

        `problem` is the problem with the chosen counts; `question` is the problem for the searches of `--trade`.
        """
        if self.plan is None:
            return None
        from ...solver.replanning import moves, with_trade

        plan_moves = moves(problem, self.plan, plan)
        if not self._trade:
            return plan_moves
        return solve.session.unless_cancelled(lambda: with_trade(question, plan_moves, plan, solve), lambda: plan_moves)

    def writable(self, edits: list[Edit], unwritable: tuple[Finding, ...]) -> tuple[list[Edit], tuple[Finding, ...]]:
        """Return the edits of the file. None, and a finding, if its ranks count lost nodes."""
        if not self._words or not (edits or unwritable):
            return edits, unwritable
        message = "the answer cannot be written into this file: its ranks still count the nodes that are gone"
        return [], (error("PW603", "", message, help="change the cluster there first, or use the plan itself"),)


MOST = 20
_TOP = "Also show the next best placements of another structure, this many in all, and why each lost."
_AT_MOST = "A term of the objective, as it is printed, may be no more than this; may be given several times."
_WHY = "Report why a component is where it is, or why an accelerator such as `node-3:5` is held or idle; may be given several times."


def further_options(verb: Verb) -> Verb:
    """Add `--top`, `--at-most` and `--why` to a verb, as the argument `further`."""

    @wraps(verb)
    def asking(*arguments: Any, top: int, why: tuple[str, ...], limits: tuple[str, ...], **options: Any) -> Any:
        return verb(*arguments, further=ExtraOptions(top, why, limits), **options)

    return with_options(
        asking,
        click.option("--why", multiple=True, metavar="COMPONENT|NODE:INDEX", help=_WHY),
        click.option("--at-most", "limits", multiple=True, metavar="TERM=NUMBER", help=_AT_MOST),
        click.option("--top", type=click.IntRange(1, MOST), default=1, show_default=True, help=_TOP),
    )


class ExtraOptions:
    """Alternatives, caps and explanations that the command line requests."""

    def __init__(self, top: int, why: tuple[str, ...], limits: tuple[str, ...]) -> None:
        self._top, self._why, self._limits = top, why, limits

    def limit(self, problem: Problem) -> Problem:
        """Return the problem with the caps of `--at-most`.

        Raises UnusableInput for an unknown component, accelerator or term.
        """
        for word in self._why:
            if word not in {component.name for component in problem.components}:
                _read_accelerator(problem, word)
        if not self._limits:
            return problem
        from ...solver.objectives.tiers import cap_of

        limits = [text.rpartition("=") for text in self._limits]
        return replace(problem, caps=(*problem.caps, *(cap_of(name.strip(), number.strip()) for name, _, number in limits)))

    def report(self, problem: Problem, plan: Plan, solve: Solver) -> tuple[list[str], dict[str, object]]:
        """Return (blocks of text, JSON data) about a plan for the problem."""
        blocks: list[str] = []
        data: dict[str, object] = {}
        if self._top > 1:
            from ...report.alternatives import render, to_data
            from ...solver.alternatives import alternatives
            from ...solver.structure import level_of

            ranking = alternatives(problem, plan, self._top, solve, solve.session)
            blocks.append(render(ranking, level_of(problem)))
            data["alternatives"] = to_data(ranking)
        if self._why:
            unless = solve.session.unless_cancelled
            answers = (unless(partial(self._reason, problem, plan, solve, word), lambda: None) for word in self._why)
            explanations = [answer for answer in answers if answer is not None]
            blocks += [text for text, _ in explanations]
            data["why"] = [fields for _, fields in explanations]
        return blocks, data

    def _reason(self, problem: Problem, plan: Plan, solve: Solver, word: str) -> tuple[str, dict[str, object]]:
        from ...report import why

        if word in {component.name for component in problem.components}:
            from ...solver.place_reasons import why_component

            explanation = why_component(problem, plan, word, solve)
            return why.of_component(explanation), why.component_data(explanation)
        from ...solver.place_reasons import why_accelerator

        holding = why_accelerator(problem.as_chosen(plan.degrees, plan.assignment), plan, *_read_accelerator(problem, word))
        return why.of_accelerator(holding), why.accelerator_data(holding)


def _read_accelerator(problem: Problem, word: str) -> tuple[int, int]:
    """Return (node rank, local index) of `NODE:INDEX`. Raises UnusableInput."""
    name, _, number = word.rpartition(":")
    ranks = {node.name: node.rank for node in problem.cluster.nodes}
    rank = ranks.get(name, int(name) if name.isdecimal() and len(name) < 10 and int(name) < len(ranks) else -1)
    count = len(problem.cluster.nodes[rank].accelerators) if rank >= 0 else 0
    if not number.isdecimal() or len(number) > 9 or int(number) >= count:
        have = (
            f"`{name}` has {count} {plural('accelerator', count)}" if rank >= 0 else "name a component, or an accelerator as `NODE:INDEX`"
        )
        first = problem.components[0].name if problem.components else ""
        advice = f"`--why {first}`, or `--why {next(iter(ranks), '')}:0`"
        raise UnusableInput([error("PW609", "", f"there is no `{word[:80]}` to explain: {have}", help=advice)])
    return rank, int(number)
