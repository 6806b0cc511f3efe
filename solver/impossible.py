"""The sentence that says why nothing works, and which single change would make it work."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Callable, Iterator, Sequence

from ..models.component import COLOCATED, UNBOUNDED, Component
from ..models.demand import Clause, Demand
from ..models.finding import Finding, error
from ..models.problem import AMOUNT, Problem
from .certificate import counting_row
from .row import Row
from .rules import RULES

Possible = Callable[[Problem], bool]


def impossible(alternatives: Sequence[Problem], possible: Possible) -> Finding:
    """The Finding for a problem that was proved impossible, with the counting row if there is one and what would mend it.

    `alternatives` are the choices of parallel degrees that were refuted; `possible` solves a changed problem, so that no
    fix is offered that was not itself solved.
    """
    tried = next((each for each in alternatives if counting_row(each)), alternatives[0])
    row = counting_row(tried)
    if row is None:
        message = "impossible: no placement satisfies all demands together (two independent searches agree; no single sum shows it)"
        return error("PW601", "", message, help="drop or loosen a demand")
    clauses = list(_clauses(tried, row))
    fixes = list(_fixes(tried, row, possible))
    message = f"impossible: {row}"
    if len(alternatives) > 1:
        shown = ", ".join(f"{component.name} {component.parallel}" for component in tried.hinted if component.parallel.replica > 1)
        message += f" (with {shown}; so too with every other choice of parallel degrees)"
    help_text = "; or ".join(fixes) if fixes else "no single demand is to blame: loosen several, or add nodes"
    subject = row.components[0]
    return error(
        "PW601", subject.name, message, subject.span(AMOUNT), notes=tuple(clause.text for clause in clauses), help=help_text,
        witnesses=(row.need, row.have), amount=row.need - row.have,
    )  # fmt: skip


def _clauses(problem: Problem, row: Row) -> Iterator[Clause]:
    """What was asked of the components in the row and bears on it, in the user's words."""
    names = {component.name for component in row.components}
    own = [demand for demand in problem.demands if names & set(demand.component.split("+"))]
    bears = {demand for demand in own if demand.field == AMOUNT or str(counting_row(problem.without(demand))) != str(row)}
    seen = set()
    for rule in RULES:
        for subject in rule.subjects(problem):
            clause = rule.explain(problem, subject)
            if clause.text not in seen and any(names & set(demand.component.split("+")) for demand in bears & set(clause.demands)):
                seen.add(clause.text)
                yield clause


def _fixes(problem: Problem, row: Row, possible: Possible) -> Iterator[str]:
    """Single changes after which the problem was solved; amounts as large as they can stay."""
    names = {component.name for component in row.components}
    for demand in problem.demands:
        if not names & set(demand.component.split("+")):
            continue
        if demand.field == AMOUNT:
            component = problem[demand.component]
            largest = _largest(problem, component, possible)
            if largest:
                yield f"ask for {largest} instead of {component.least} for {component.name}"
        elif _can_be_dropped(problem, demand) and possible(problem.without(demand)):
            yield _dropped(demand)


def _largest(problem: Problem, component: Component, possible: Possible) -> int:
    """The largest smaller amount of this component that works, 0 if none was found.

    Amounts of its own step are tried by bisection, then what those that share its accelerators ask for.
    """

    def works(amount: int) -> bool:
        components = tuple(replace(c, least=amount, most=amount) if c is component else c for c in problem.components)
        changed = replace(problem, job=replace(problem.job, components=components))
        return counting_row(changed) is None and possible(changed)

    step = lcm(component.step, component.unit)
    low, high = 0, (component.least - 1) // step
    if not works(step):
        high = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle * step) else (low, middle - 1)
    partners = next(members for members in problem.colocated_sets if component in members)
    asked = {amount for member in partners for amount in (member.least, member.most) if low * step < amount < component.least}
    best = low * step if low and works(low * step) else 0
    return next((amount for amount in sorted(asked, reverse=True) if works(amount)), best)


def _can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Would the file still be one? A stride needs its range, and a component without an amount its partner."""
    if demand.field == "contiguous":
        return problem[demand.component].stride == 1
    if demand.field == COLOCATED:
        return all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in demand.component.split("+"))
    return True


def _dropped(demand: Demand) -> str:
    """Giving a demand up, in the keys that the user wrote."""
    one, _, other = demand.component.partition("+")
    keys = {
        "node_groups": "node_group",
        "per_process": "accelerators_per_process",
        "accelerator_model": "accelerator",
        "colocated": "colocate_with",
        "disjoint": "disjoint_from",
    }
    key = keys.get(demand.field, demand.field)
    return f"drop `{key}: {other}` of {one}" if other else f"drop `{key}` of {one}"
