"""Why an accelerator is held by whom it is, or by nobody."""

from __future__ import annotations

from ...models.machines.node_group import ACCELERATOR
from ...models.placements.plan import OPTIMAL, Plan
from ...models.problem import Problem
from ...models.whyhere import ALL, FULL, MORE, OUT, SMALL, Reason, WhyAccelerator
from ..objectives.moved.pieces import Members
from .barred import Barred


def why_accelerator(problem: Problem, plan: Plan, node: int, index: int) -> WhyAccelerator:
    """Why an accelerator that exists is held by whom it is in a plan; `problem` is the question that was solved."""
    its = problem.cluster.nodes[node]
    holders, held = [], its.taken
    for name in plan.components:
        for run in (run for run in plan.assignment.of(name) if run.node == node and run.kind == ACCELERATOR):
            held |= run.mask
            holders += [(name, rank) for rank in run.ranks if index in run.held_by(rank)]
    taken, idle = bool(its.taken >> index & 1), len(its.accelerators) - held.bit_count()
    names = {name for name, _ in holders}
    sets = [s for s in problem.colocated_sets if problem.kind(s[0]) == ACCELERATOR and all(c.runs is None for c in s)]
    others = tuple(
        _reason(problem, plan, members, node, bool(names) or taken, idle) for members in sets if not names & {c.name for c in members}
    )
    return WhyAccelerator(its.name, index, tuple(holders), taken, idle, others, plan.status == OPTIMAL)


def _reason(problem: Problem, plan: Plan, members: Members, node: int, is_held: bool, idle: int) -> Reason:
    name = "+".join(component.name for component in members)
    barred = Barred(problem, members)
    if finding := barred.why(problem.cluster.nodes[node]):
        return Reason(name, OUT, 0, finding.code, finding.message)
    amount = plan.assignment.amount(members[0].name)
    if amount >= min(component.most for component in members) // barred.size * barred.size:
        return Reason(name, ALL, amount)
    if is_held:
        return Reason(name, FULL)
    return Reason(name, SMALL, barred.size) if idle < barred.size else Reason(name, MORE, amount)
