"""Answer to a file: the grid, the components, the objective, the edit of the file, the verdict."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Iterable, Iterator, Mapping, Sequence

from ..models.answer import Answer
from ..models.findings.finding import Finding, Unchecked
from ..models.findings.span import Edit, apply_edits
from ..models.placements.plan import OPTIMAL, VERIFIED, Plan
from ..models.reading import Reading
from .diff import diff_of
from .grid import grid
from .progress import distance
from .table import components_table, objective_rows, placements_table, table
from .terminal import escape, paint
from .text import render_unchecked

if TYPE_CHECKING:
    from ..models.placements.moves import Moves
    from ..models.planning.planned import PlanningResult

GIVEN = "given"
_HOW = {
    GIVEN: "all ranks are given",
    "greedy": "",
    "patterns": "proved by counting uses of equal domains",
    "search": "proved by search",
    "sweep": "proved by a sweep over the ranks",
}


def render(
    reading: Reading,
    answer: Answer,
    edits: list[Edit],
    of_file: Sequence[Finding],
    placements: bool,
    is_written: bool,
    output: str,
    colour: bool = False,
    moves: Moves | None = None,
    further: Sequence[str] = (),
    account_blocks: Sequence[str] = (),
    keeps: bool = False,
    brief: bool = False,
) -> str:
    """Format an answer with a plan.

    Parameters
    ----------
    of_file : notes on what the file cannot express, or states differently with the plan.
    written, output : True if the edits were written; the name of the file of the plan, or "".
    moves : moves from the running plan.
    further : blocks on alternatives and reasons.
    account_blocks : blocks of the account of a plan by time; `keeps` is True if it advises to leave the file, `brief` if it replaces the
        table of components.
    """
    plan = answer.plan
    if plan is None:
        raise ValueError("an answer without a plan has nothing to show")
    is_brief = brief and answer.planned is not None and set(plan.components) <= set(answer.planned.question.components)
    blocks = [grid(plan), *([] if is_brief else [components_table(plan)])]
    blocks += [placements_table(plan, name) for name in plan.components if placements]
    blocks += account_blocks
    blocks += blocks_of(plan, moves, not is_brief, answer.how != GIVEN and not brief)
    blocks += further
    if edits:
        blocks.append(_change(reading, edits, is_written, keeps, colour))
    for finding in of_file:
        advice = f"\n  = help: {escape(finding.help)}" if finding.help else ""
        blocks.append(f"{paint(f'note[{finding.code}]', 'cyan', colour)}: {escape(finding.message)}{advice}")
    blocks += [render_unchecked(answer.unchecked)] if answer.unchecked else []
    blocks.append(_verdict(reading, answer, plan, output, colour))
    return "\n\n".join(blocks)


def blocks_of(plan: Plan, moves: Moves | None, with_degrees: bool = True, is_free: bool = False) -> Iterator[str]:
    """Yield blocks on chosen degrees, objective and moves; `is_free` if ranks were searched."""
    if plan.degrees and with_degrees:
        yield "\n".join(f"chosen for {escape(name)}: {degrees}" for name, degrees in plan.degrees.items())
    if plan.terms:
        yield table([["objective", "value", "bound"], *objective_rows(plan)], right=(1, 2))
    elif is_free:
        yield "objective: all valid placements are equally good; this is one of them"
    if moves:
        from .moves import render as render_moves

        yield render_moves(moves, plan)


def to_json(
    plan: Plan, moves: Moves | None = None, further: Mapping[str, object] | None = None, findings: Iterable[Finding] = (),
    unchecked: Iterable[Unchecked] = (), file: str = "",
) -> str:  # fmt: skip
    """Format the plan as JSON, with further findings and alternatives."""
    from ..models.placements.plan_file import plan_to_json
    from .json import finding_to_data, unchecked_to_data
    from .moves import to_data

    text, more = plan_to_json(plan), {**({"moves": to_data(moves)} if moves else {}), **(further or {})}
    finding_data = [finding_to_data(finding, file) for finding in findings]
    unchecked_data = [unchecked_to_data(item) for item in unchecked]
    more |= {**({"findings": finding_data} if finding_data else {}), **({"unchecked": unchecked_data} if unchecked_data else {})}
    return json.dumps({**json.loads(text), **more}, indent=1) + "\n" if more else text


def without_plan(file: str, verdict: str, findings: Iterable[Finding]) -> str:
    """Format the reasons against a plan as JSON."""
    from .json import finding_to_data, with_schema

    return with_schema(file=file, verdict=verdict, findings=[finding_to_data(finding, file) for finding in findings])


def _change(reading: Reading, edits: list[Edit], is_written: bool, keeps: bool, colour: bool) -> str:
    """Format the written edits, or the edits of a dry run."""
    name = escape(reading.source.name)
    if is_written:
        return f"{name}: written, as `--write` asks; what it was may be kept as well" if keeps else f"{name}: written"
    hint = f"{name} may stay as it is; to take the plan all the same, add `--write`:\n" if keeps else ""
    return hint + diff_of(reading.source.name, reading.source.text, apply_edits(reading.source.text, edits), colour)


def _of_counts(result: PlanningResult, how: str) -> str:
    """Format how counts were chosen by time; `how` is the same of the placement."""
    from .planning.words import format_extrapolated, format_proof

    if not result.proved:
        return "the counts are not proved the best"
    if result.is_own and how in _HOW.values():
        how = "the ranks are the file's own"
    elif how == _HOW[GIVEN]:
        how = ""
    elif how not in _HOW.values():
        how = f"the placement {how}"
    return f"counts {format_proof(result, format_extrapolated(result))}" + (f", {how}" if how else "")


def _verdict(reading: Reading, answer: Answer, plan: Plan, output: str, colour: bool) -> str:
    word = paint(plan.status, "green" if plan.status in (OPTIMAL, VERIFIED) else "yellow", colour)
    how = distance(plan) if plan.status not in (OPTIMAL, VERIFIED) else _HOW[answer.how]
    if answer.planned is not None:
        how = _of_counts(answer.planned, how)
    if answer.splits and plan.status == OPTIMAL:
        word, how = (
            paint("most even", "green", colour),
            f"{answer.splits:,} splits are equally good without times" + (f"; {how}" if how else ""),
        )
    file_note = f"; plan in {escape(output)}" if output else ""
    return f"{escape(reading.source.name)}: {word}{f' ({how})' if how else ''} in {plan.seconds:.2f} s, {plan.digest[:19]}{file_note}"
