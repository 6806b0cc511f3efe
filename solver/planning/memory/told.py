"""What is said where estimates of memory decide a plan, or where no plan fits by them."""

from __future__ import annotations

from ....models.findings.finding import Finding, Severity, warning
from ....models.memory.bill import BlockBill
from ....models.memory.estimated import SLACK
from ....models.planning.measured import SECOND
from ....models.planning.planned import Priced
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ....models.quantity import write_estimate, write_memory
from ...durations import figure
from ...wording import listed


def none_fits(problem: Problem, bills: tuple[BlockBill, ...]) -> Finding:
    """No plan fits by the estimates, so that the best one without them was taken."""
    tight = [each for each in bills if each.tight]
    message = f"by the estimates of memory no plan leaves {SLACK} % of each accelerator; this is the best one without them"
    first = next((name for each in tight for name in each.block.components if problem[name].estimate), _first(problem))
    advice = "write the `memory` that was measured, or leave more open: counts, degrees, `sharding`, `recompute`"
    return warning("PW805", first, message, problem[first].span("estimate"), help=advice, notes=tuple(map(needed, tight)))


def decides(problem: Problem, question: Question, best: Priced, without: Priced, bills: tuple[BlockBill, ...]) -> Finding:
    """Another plan would win without the estimates."""
    more, fewer = best.accelerators(question), without.accelerators(question)
    message = f"without the estimates of memory, {_counts(without)} would take {_seconds(without)} s and not {_seconds(best)} s"
    if problem.job.workload is not None and problem.job.workload.aim != SECONDS and fewer != more:
        message = f"without the estimates of memory, {fewer} accelerators would be enough and not {more}: {_counts(without)}"
    elif without.nanoseconds + without.traffic == best.nanoseconds + best.traffic:
        message = f"without the estimates of memory, {_counts(without)} would do"
    first = next((name for each in bills if each.tight for name in each.block.components if problem[name].estimate), _first(problem))
    notes = tuple(needed(each) for each in bills if each.tight)
    advice = "write the `memory` that was measured, if it is less"
    return Finding("PW805", Severity.INFO, first, message, problem[first].span("estimate"), help=advice, notes=notes)


def needed(bill: BlockBill) -> str:
    """What a block needs at its worst moment, component by component, against what there is."""
    peak = bill.peak
    parts = " + ".join(
        f"{entry.component} {write_estimate(entry.mebibytes)} ({_why(entry.state, entry.origin)})"
        for entry in peak.entries
        if entry.mebibytes
    )
    has = f"of {write_memory(bill.capacity)} " if bill.capacity is not None else ""
    return f"{write_estimate(peak.mebibytes)} {has}on each accelerator of {listed(bill.block.components)}: {parts}"


def _why(state: str, origin: str) -> str:
    return f"{origin}, {state}" if state == "kept" else origin


def _first(problem: Problem) -> str:
    return next(each.name for each in problem.components if each.estimate)


def _counts(priced: Priced) -> str:
    """`rollout on 8 and actor on 8 (tp 2)`."""
    options = priced.design.options.items()
    parts = [f"{name} on {option.amount}" + (f" ({option.parallel})" if option.parallel.replica > 1 else "") for name, option in options]
    return listed(parts)


def _seconds(priced: Priced) -> str:
    return figure((priced.nanoseconds + priced.traffic) / SECOND, 6)
