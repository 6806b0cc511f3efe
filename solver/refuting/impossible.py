"""The sentence that says why nothing works, and which single change would make it work."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Iterator, Sequence

from ...models.component import COLOCATED, KEYS, UNBOUNDED, Component
from ...models.demand import Clause, Demand
from ...models.findings.finding import Finding, error
from ...models.problem import AMOUNT, Problem
from ...models.share import Share
from ..layout.amounts import even
from ..rules import RULES
from .certificate import counting_row
from .given_room import Possible, holders_of_room, shared_room
from .row import Row


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
    clauses = [*_clauses(tried, row), *holders_of_room(tried, row)]
    fixes = [*_fixes(tried, row, possible), *shared_room(tried, row, possible)]
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
            for amount in (_largest(problem, component, possible), _larger(problem, component, row, possible)):
                if amount:
                    yield f"ask for {amount} instead of {component.least} for {component.name}"
        elif share := next((each for each in problem.shares if each.component == demand.component and each.field == demand.field), None):
            yield from _other_amounts(problem, share, possible)
        elif _can_be_dropped(problem, demand) and possible(problem.without(demand)):
            yield _dropped(demand)


def _works(problem: Problem, component: Component, amount: int, possible: Possible) -> bool:
    """Is it possible if the component asks for that much?"""
    components = tuple(replace(c, least=amount, most=amount) if c is component else c for c in problem.components)
    changed = replace(problem, job=replace(problem.job, components=components))
    return counting_row(changed) is None and possible(changed)


def _larger(problem: Problem, component: Component, row: Row, possible: Possible) -> int:
    """More by what is short, if that works: others may need this component to be larger; 0 if it does not."""
    step = lcm(component.step, component.unit)
    amount = -(-(component.most + (row.need - row.have) * component.per_process) // step) * step
    fits = component.most < amount <= problem.cluster.total(problem.kind(component))
    return amount if fits and _works(problem, component, amount, possible) else 0


def _largest(problem: Problem, component: Component, possible: Possible) -> int:
    """The largest smaller amount of this component that works, 0 if none was found.

    Amounts of its own step are tried by bisection, then what those that share its accelerators ask for.
    """

    def works(amount: int) -> bool:
        return _works(problem, component, amount, possible)

    step = lcm(component.step, component.unit)
    amounts: Sequence[int] = range(step, component.least, step)
    if any(share.component == component.name for share in problem.shares):
        amounts = tuple(amount for amount in amounts if even(problem, component, amount))
    low, high = 0, len(amounts) if amounts and works(amounts[0]) else 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(amounts[middle - 1]) else (low, middle - 1)
    best = amounts[low - 1] if low else 0
    partners = next(members for members in problem.colocated_sets if component in members)
    asked = {amount for member in partners for amount in (member.least, member.most) if best < amount < component.least}
    return next((amount for amount in sorted(asked, reverse=True) if works(amount)), best)


def _can_be_dropped(problem: Problem, demand: Demand) -> bool:
    """Would the file still be one? A stride needs its range, a component without an amount its partner.

    What a framework demands nobody can drop.
    """
    if demand.field == "cpus":
        return "cpus" in problem[demand.component].spans
    if demand.field == "contiguous":
        return problem[demand.component].stride == 1
    names = tuple(demand.component.split("+"))
    its = [relation for relation in problem.job.relations if relation.components == names and relation.kind == demand.field]
    if its:
        said = demand.field in _KEYS and not any(relation.reason for relation in its)
        return said and (demand.field != COLOCATED or all(problem[name].least > 1 or problem[name].most < UNBOUNDED for name in names))
    return True


_KEYS = {
    "node_groups": "node_group",
    "per_process": "accelerators_per_process",
    "accelerator_model": "accelerator",
    **KEYS,
}
"""Field of a demand -> the key that says it, where that has another name."""


def _dropped(demand: Demand) -> str:
    """Giving a demand up, in the keys that the user wrote."""
    one, _, other = demand.component.partition("+")
    key = _KEYS.get(demand.field, demand.field)
    return f"drop `{key}: {other}` of {one}" if other else f"drop `{key}` of {one}"


def _other_amounts(problem: Problem, share: Share, possible: Possible) -> Iterator[str]:
    """The nearest amounts to deal out with which it was solved, if the number of processes is as good as said."""
    component = problem[share.component]
    if component.least != component.most:
        return
    processes = component.least // component.per_process
    step = lcm(*(each.step_over(processes) for each in problem.shares if each.amount_name == share.amount_name))
    for amount in (share.written // step * step, share.written // step * step + step):
        shares = tuple(
            replace(each, amount=amount * each.factor) if each.amount_name == share.amount_name else each for each in problem.job.shares
        )
        changed = replace(problem, job=replace(problem.job, shares=shares))
        if amount and counting_row(changed) is None and possible(changed):
            yield f"set `{share.amount_name}` to {amount}"
