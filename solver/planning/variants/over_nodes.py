"""A plan has each tensor parallel group on one node, unless hints say otherwise: what groups over nodes could save."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.answer import Answer, Solve
from ....models.findings.finding import Finding
from ....models.placements.plan import Plan
from ....models.planning.design import Design
from ....models.planning.kind import NO_KIND
from ....models.planning.planned import OverNodes, Planned
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ...rules.groups.group_in_node import GroupInNode, groups_over_nodes
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.room import cut
from ..costs import cost_model
from ..loop.rounds import Refused
from ..searching.search import search
from ..searching.sizes.settling import Settle


def but_for(refused: Refused, *codes: str) -> Refused:
    """What the framework refuses for other reasons than these, that the file as it is gives."""

    def but(plan: Plan, design: Design) -> Sequence[Finding]:
        found = refused(plan, design)
        return () if all(finding.code in codes for finding in found) else found

    return but


def but_for_groups(refused: Refused) -> Refused:
    """What the framework refuses beside groups over nodes: a native file has no hint yet that lets them be so."""
    return but_for(refused, GroupInNode.code)


def over_nodes(plan: Solve, quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what is known of plans whose groups lie over nodes, given how one is planned where none does.

    Nothing is said where none of these can be better. Else they are planned too, and the best is told beside the plan: such groups are
    slow, and nobody asked for them; beside a plan that is hurried it is told what they take at least. `quietly` plans a problem and tells nothing meanwhile. The other options are those of the search
    for counts (see searching/search.py).
    """

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        planned, workload = found.planned, problem.job.workload
        if planned is None or workload is None or was_heard() or not may_have_groups(problem, planned.question):
            return found
        question = asked(problem, workload, over_nodes=True)
        alike = without_groups(question) == without_groups(planned.question)
        if alike and not planned.unplaceable and not workload.bandwidth:
            return found  # where groups may lie made no difference to what was searched
        searched = search(question, cost_model(planned.model), 0.0 if planned.hurried else limit, seed, 1, (), settle, answer_interrupted)
        held = 0 if question.aim == SECONDS else question.held
        least = planned.bound if searched.bound is None else searched.bound + held
        if least >= planned.price[0] or was_heard():
            return found
        told = OverNodes(least) if planned.hurried else _told(problem, planned, least, quietly(with_groups_over_nodes(problem)))
        return found if told.bound >= planned.price[0] else replace(found, planned=replace(planned, over_nodes=told))

    return answer


def _told(problem: Problem, planned: Planned, least: int, other: Answer) -> OverNodes:
    """What is told of plans that cost `least` at least, the best of which the other answer is, as far as processes lie on one node."""
    if other.planned is None or other.plan is None:
        return OverNodes(least)
    bound = least if problem.job.capabilities.processes_may_cross else max(least, other.planned.bound)
    best = other.planned.best
    if other.planned.price[0] >= planned.price[0]:
        return OverNodes(bound)
    return OverNodes(bound, best, torn(problem, best.design, other.plan))


def torn(problem: Problem, design: Design, plan: Plan) -> tuple[str, ...]:
    """The components whose groups lie over nodes in a plan."""
    divided = ((name, option) for name, option in design.options.items() if option.kind != NO_KIND and not option.undivided)
    degrees = ((name, option.parallel.tp) for name, option in divided)
    return tuple(name for name, tp in degrees if problem[name].runs is None and groups_over_nodes(tp, plan.assignment.repeats(name)))


def with_groups_over_nodes(problem: Problem) -> Problem:
    """The problem in which groups may lie over nodes."""
    components = tuple(cut(each) if each.runs is None else each for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def has_groups(question: Question) -> bool:
    """Does a node hold several accelerators of some component together?"""
    return any(option.group > 1 for its in question.options.values() for option in its)


def may_have_groups(problem: Problem, question: Question) -> bool:
    """Are there groups that a node holds together, or some that no node can, so that they are no option in the question?"""
    workload = problem.job.workload
    if workload is None or has_groups(question):
        return workload is not None
    degrees = ((name, each) for name in question.options for each in problem.job.choices.get(name, (problem[name].parallel,)))
    if not any(problem.divided(name, each).tp > 1 for name, each in degrees):
        return False
    wide = asked(problem, workload, question.barred, over_nodes=True)
    return without_groups(wide).options != question.options


def without_groups(question: Question) -> Question:
    """The question that says no longer what a node holds together, to compare it with one in which groups may lie over nodes."""
    options = {name: tuple(replace(option, group=1) for option in its) for name, its in question.options.items()}
    return replace(question, options=options)
