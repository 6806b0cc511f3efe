"""Assumptions of a plan."""

from __future__ import annotations

from typing import Iterator

from ...models.account import BETWEEN, ESTIMATED, FAR, FITTED, FORMULA, MEASURED, Account, Basis
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import LONGEST, SECOND
from ...solver.wording import join_names
from ..terminal import escape
from .words import task_name

_ANY = "since its time names no degrees: "
_FIRST = "the first that fit beside the others, else those that need least memory"
_AS_WRITTEN = "those of the file"


def assumptions(account: Account) -> str:
    """Format a line for each unmeasured time and other assumption."""
    question = account.planned.question
    lines = [_time(question, basis) for basis in account.bases if basis.kind != MEASURED]
    measured_tasks = [task_name(question, basis.task) for basis in account.bases if basis.kind == MEASURED]
    if measured_tasks:
        lines.append(f"{join_names(measured_tasks)}: as measured")
    lines += [_slowest(question, basis) for basis in account.bases if basis.several]
    models = [task_name(question, basis.task) for basis in account.bases if basis.any_model]
    tasks_of_text: dict[str, list[str]] = {}
    for basis in account.bases:
        if basis.any_degrees:
            # A native file may give all ranks and leave degrees open: then none of these are the file's.
            which = _AS_WRITTEN if basis.as_written and not account.given else _FIRST
            tasks_of_text.setdefault(f"equally fast with any {basis.any_degrees}, {_ANY}{which}", []).append(
                task_name(question, basis.task)
            )
    lines += [f"{join_names(names)}: {text}" for text, names in tasks_of_text.items()]
    most_models = max((len(kind.models) for kind in question.kinds), default=0)
    at_once = ", of several models at once too" if most_models > 1 else ", of several memory sizes at once too" if most_models else ""
    lines += [f"{join_names(models)}: as long on any accelerators{at_once}, since no time says on which"] if models else []
    if account.own is not None:
        lines += [f"yours: {_slowest(question, basis)}" for basis in account.own.bases if basis.several and basis not in account.bases]
        lines += [
            f"yours: {_time(question, basis)}" for basis in account.own.bases if basis.kind != MEASURED and basis not in account.bases
        ]
    lines += _list_filled(account)
    lines.append(f"an iteration: {account.source}")
    lines += [_round(question, cycle) for cycle in question.flow.rounds]
    lines += account.assumed
    arrangement = account.planned.best.design.way(question)
    if arrangement is not None and arrangement.without:  # RLinf's actor computes probabilities by itself there
        idle = join_names(sorted(arrangement.without))
        lines.append(f"{idle}: not started where the job is {arrangement.name}, the components on those accelerators do its work")
    entries = [entry for bill in account.bills for entry in bill.peak.entries]
    if estimated_names := list(dict.fromkeys(entry.component for entry in entries if entry.origin == ESTIMATED)):
        lines.append(f"{join_names(estimated_names)}: memory by an estimate, not measured (`--format json` has each term)")
    return "\n".join(["rests on:", *(f"  {escape(line)}" for line in dict.fromkeys(lines))])


def _slowest(question: PlanningProblem, basis: Basis) -> str:
    """Format `actor on H100 and A100: as long as on the slowest, A100, ...`."""
    models = join_names(list(basis.several))
    how = "on each of them" if basis.alike else f"as on the slowest, {basis.slowest}"
    return f"{task_name(question, basis.task)} on {models}: as long {how}, each rank with the same share"


def _list_filled(account: Account) -> Iterator[str]:
    """Yield components with more accelerators than needed."""
    result = account.planned
    for name, most in result.filled.items():
        amount = result.best.design.options[name].amount
        yield f"{name}: {amount}{f' of at most {most}' if amount < most else ', the most that was asked'}, since no time says how many"


def _round(question: PlanningProblem, tasks: frozenset[int]) -> str:
    """Format how tasks of a cycle are assumed to run."""
    names = join_names([task_name(question, question.tasks[task]) for task in sorted(tasks)])
    return f"{names}: wait for each other, a batch passes them once in this order, in turn on shared accelerators"


def _time(question: PlanningProblem, basis: Basis) -> str:
    name_of_task = task_name(question, basis.task)
    suffixes = [f" ({text})" for text in basis.named] or [""] * len(basis.counts)
    counts = join_names([f"{count}{name}" for count, name in zip(basis.counts, suffixes)])
    if basis.kind in (FORMULA, ESTIMATED, FITTED):
        return f"{name_of_task} on {basis.amount}: {basis.scaling}"
    if basis.kind == BETWEEN:
        return f"{name_of_task} on {basis.amount}: interpolated {'between' if len(basis.counts) > 1 else 'from'} {counts} ({basis.scaling})"
    far = f", {basis.beyond:.1f}x beyond: measure it there" if basis.beyond > FAR else f", {basis.beyond:.1f}x beyond"
    cut = (
        f", counted as {LONGEST // SECOND:,} seconds, which no time that follows from others exceeds"
        if basis.nanoseconds >= LONGEST
        else ""
    )
    low, high = basis.counts[0], basis.counts[-1]
    fewer = f"; {high} took longer than {low}, so that fewer are taken to be quicker" if basis.rising and basis.amount < low else ""
    return f"{name_of_task} on {basis.amount}: extrapolated from {counts} ({basis.scaling}){far}{cut}{fewer}"
