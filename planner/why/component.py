"""Why a component can be run in no way at all: what it asks for, and what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Sequence

from ...models.component import UNBOUNDED, Component
from ...models.findings.finding import Finding, Severity, error
from ...models.findings.span import Span
from ...models.findings.wording import do, with_noun
from ...models.parallel import Parallel
from ...models.part import among
from ...models.placements.assignment import Assignment
from ...models.planning.measured import POWER, TABLE
from ...models.planning.option import Option, without_hints
from ...models.planning.question import Question
from ...models.planning.workload import Timed
from ...models.problem import AMOUNT, Problem
from ...models.quantity import write_memory
from ...models.record import dataclass
from ...models.share import Share
from ...solver.rules.amounts.all_placed import amount_of, asked_for
from ...solver.rules.amounts.model_divides import ModelDivides, of_hints
from ...solver.rules.groups.group_in_node import groups_over_nodes
from ...solver.wording import listed
from ..profile import options
from ..room import Room, room
from .demands import FEW, few, model_name

Helps = Callable[[str, int], bool]
"""Was a plan found, and placed, in which the component of that name has so many accelerators?"""
UNTRIED = "(not tried here; `placewright solve` tries it)"


NO_WAY, NO_PLAN = "can be run in no way", "is in no plan"
"""What is said of a component that cannot be run, and of one that its own ranks alone run."""
Counts = Callable[[Problem], list[int]]
"""The numbers of accelerators that the component can have in a problem."""


def without_options(problem: Problem, question: Question, helps: Helps | None = None) -> Iterator[Finding]:
    """A reason for each component that no count and no degrees fit, or whose memory no accelerator has. Without `helps` no count is tried."""
    holding = [each for each in problem.components if each.name not in question.options]
    space = room(problem, holding)
    for name, its in question.options.items():
        if not its:
            finding = with_given(problem, name, holding, _no_way(problem, problem[name], space, helps))
            own, worker = problem.job.planning.own, question.idle.workers.get(name)
            if worker is not None and own.get(name) in (None, own.get(worker)):  # the file itself has it nowhere, or where it is idle
                finding = replace(finding, help=f"{finding.help}{without_hints(worker)}")
            yield finding
        elif name not in question.idle.beside and (too_large := _too_large(problem[name], its, question)):
            yield too_large


def _no_way(problem: Problem, component: Component, space: Room, helps: Helps | None) -> Finding:
    """Of a component that can be run in no way: the first thing without which it could be."""
    timed, whole = component.timed, replace(component, least=1, most=UNBOUNDED, counts=())
    amounts = amount_of(component)
    if timed and timed.samples and _counts(problem, component, replace(timed, samples=0), space):
        can = _counts(problem, whole, timed, space)
        told = f"{timed.samples} samples divide evenly among its replicas on no count of {amounts}"
        if timed.scaling == TABLE and _counts(problem, component, replace(timed, scaling=POWER), space):
            inside = _counts(problem, component, replace(timed, samples=0), space)
            told = f"{timed.samples} samples divide evenly among its replicas on none of the counts of its table, {few(inside)}"
        written = "samples" in component.spans  # else they follow from other settings of the file
        other = "leave `samples` out" if written else "let there be another number of samples"
        field = "samples" if written else "timed"
        return _impossible(component, field, told, _another_amount(component, can, helps) if can else other, can[:1])
    if timed and timed.scaling == TABLE and (could := _counts(problem, component, replace(timed, scaling=POWER), space)):
        can = _counts(problem, whole, timed, space)
        help_text = _another_amount(component, can, helps) if can else f"measure it on {few(could)}"
        return _impossible(component, "timed", _not_in_table(component, timed), help_text, can[:1])
    can = _counts(problem, whole, timed, space)
    if dealt := undealt(problem, component, lambda its: _counts(its, component, timed, space)):
        share, could = dealt
        set_to = f"set `{share.amount_name}` to a multiple of {step_of(share, component, could)}"
        help_text = f"{set_to}, or {_another_amount(component, can, helps)}" if can else set_to
        return _impossible(component, AMOUNT, told_of(share, component), help_text, [share.amount], share.span)
    if can:
        told = f"it asks for {asked_for(component, 'accelerator')}, and can have {few(can)}: whole replicas of its degrees, on nodes that it may use"
        return _impossible(component, AMOUNT, told, _another_amount(component, can, helps), can[-1:])
    if timed and _counts(problem, component, None, space):
        return _impossible(component, "timed", *_measured_elsewhere(problem, component, timed, space))
    if component.accelerator_model and not any(kind.model == component.accelerator_model for kind in space.kinds):
        have = dict.fromkeys(node.accelerator_model for node in problem.cluster.nodes if node.accelerator_model)
        if component.accelerator_model not in have:
            told = f"no node has {component.accelerator_model}, the only model that it may use; there are {listed([model_name(model) for model in have]) or 'none'}"
            return _impossible(
                component,
                "accelerator_model",
                told,
                "name another, or leave `accelerator` out; how many it asks for is `accelerators`",
                [component.accelerator_model],
            )
    if not any(space.allowed(problem, component, kind) for kind in range(len(space.kinds))):
        told = "no accelerator that it may use is free of components with given ranks and of other jobs"
        return _impossible(component, "node_group", told, "let it use other nodes, or leave other ranks open")
    if found := too_wide(problem, component, space) or too_many(problem, component, space):
        return _impossible(component, "parallel", found.told, found.help, found.witnesses, way=found.way)
    if torn := _torn(problem, component):
        return _impossible(component, "parallel", torn.message, torn.help, torn.witnesses)
    told = "no degrees of it divide its model, its work and the accelerators of the nodes that it may use"
    return _impossible(component, "parallel", told, "leave its degrees open, or let it use other nodes")


def _another_amount(component: Component, can: Sequence[int], helps: Helps | None) -> str:
    """The nearest of the counts that it can have with which there is a plan; what else stands in the way of these is not told here."""
    nearest = sorted(can, key=lambda count: (max(component.least - count, count - component.most, 0), count))[:FEW]
    if helps is None:
        return f"write `accelerators: {nearest[0]}` {UNTRIED}"
    count = next((count for count in nearest if helps(component.name, count)), None)
    if count is not None:
        return f"write `accelerators: {count}`"
    return f"write `accelerators: {nearest[0]}`, and loosen what else is asked: with that alone no plan was found"


def _measured_elsewhere(problem: Problem, component: Component, timed: Timed, space: Room) -> tuple[str, str]:
    """What none of its times is of, and what helps."""
    may = dict.fromkeys(each.model for kind, each in enumerate(space.kinds) if space.allowed(problem, component, kind))
    measured = dict.fromkeys(each.model for each in timed.measured)
    if "" not in measured and not any(model in may for model in measured):
        told = f"its times were measured on {listed(list(measured))}, and it may use {listed([model_name(model) for model in may])}"
        return told, "measure it there, or leave the `accelerator` of a time out"
    choices = problem.job.choices.get(component.name, (component.parallel,))
    if not any(each.holds_with(choice) for each in timed.measured for choice in choices):
        said = (dict.fromkeys(each.degrees for each in timed.measured), dict.fromkeys(map(str, choices)))
        its, other = (" or ".join(found) for found in said)
        told = f"its times were measured with {its}; it may have {other}"
        return told, "measure it so, or leave the degrees of a time out"
    told = "its times were measured with other degrees than it may have, or on other accelerators than it may use"
    return told, "measure it as it may run, or leave the degrees and the `accelerator` of a time out"


def _not_in_table(component: Component, timed: Timed) -> str:
    measured = sorted({each.accelerators for each in timed.measured})
    inside = [count for count in measured if component.may_have(count)]
    if not inside:
        one_of = "one of " if component.least < component.most < UNBOUNDED else ""
        return f"its times are a table, and none of its counts is {one_of}{amount_of(component)}"
    told = f"its times are a table, and it can have none of the counts in it that it asks for, {few(inside)}"
    return f"{told}: whole replicas of its degrees, on nodes that it may use"


def _torn(problem: Problem, component: Component) -> Finding | None:
    """What of its model the first of its degrees do not divide, where none of them divides it."""
    rule, first = ModelDivides(), list[Finding]()
    uses = [use for use in rule.subjects(problem) if use[0].name == component.name]
    for parallel in problem.job.choices.get(component.name, (component.parallel,)):
        errors = [each for use in uses for each in of_hints(problem, use, parallel) if each.severity is Severity.ERROR]
        if not errors:
            return None
        first += errors
    return first[0] if first else None


def _counts(problem: Problem, component: Component, timed: Timed | None, space: Room) -> list[int]:
    return sorted({option.amount for option in options(problem, component, timed, space, 1)})


def _too_large(component: Component, its: tuple[Option, ...], question: Question) -> Finding | None:
    """Where no accelerator has the memory that it needs by itself, and all of that is said and not estimated."""
    limits = [(option.memory, question.kinds[option.kind].memory) for option in its if option.kind >= 0]
    known = [(need, limit) for need, limit in limits if limit is not None]
    if not limits or len(known) < len(limits) or any(need <= limit for need, limit in known) or any(option.estimated for option in its):
        return None
    need, have = min(need for need, _ in known), max(limit for _, limit in known)
    told = f"it needs {write_memory(need)} on each accelerator, whatever its count and degrees; there are {write_memory(have)}"
    help_text = (
        "`memory` is taken as it is written with any degrees: write what it is with higher ones, or let it use accelerators with more"
    )
    return _impossible(component, "memory", told, help_text, [need, have])


def _impossible(
    component: Component, field: str, told: str, help_text: str, witnesses: Sequence[int | str] = (), span: Span | None = None,
    way: str = NO_WAY,
) -> Finding:  # fmt: skip
    where = span or component.span(field)
    return error(
        "PW601", component.name, f"impossible: `{component.name}` {way}: {told}", where, help=help_text,
        witnesses=tuple(witnesses),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lacking:
    """What room is lacking, what helps, and the figures of it; `way`: what that means for the component."""

    told: str
    help: str
    witnesses: tuple[int, ...]
    way: str = NO_WAY


def too_wide(problem: Problem, component: Component, space: Room) -> Lacking | None:
    """Where one node has to hold together more accelerators than any node has that it may use, whatever its degrees.

    A plan has each group, and each process, on one node; ranks that the file itself gives may lie over nodes where their framework takes
    them, and stay where nobody says how long the component takes.
    """
    choices = [problem.divided(component.name, each) for each in problem.job.choices.get(component.name, (component.parallel,))]
    need, parallel = min(((space.group(problem, replace(component, parallel=its)), its) for its in choices), key=lambda each: each[0])
    may = {node for kind in range(len(space.kinds)) for node in space.allowed(problem, component, kind)}
    have = max((space.free[node] for node in may if node in space.free), default=0)
    if need <= have:
        return None
    told = f"{parallel} needs {with_noun(need, 'accelerator')} of one node, and the largest that it may use has {have}"
    helps, way = "lower its degrees, or let it use larger nodes", NO_WAY
    if _lies_over_nodes(problem, component):
        told, way = f"{told}; its own ranks over nodes are slow, and not refused", NO_PLAN
        helps = "lower its degrees, let it use larger nodes, or leave its `seconds` out: its ranks then stay"
    return Lacking(told, helps, (need, have), way)


def _lies_over_nodes(problem: Problem, component: Component) -> bool:
    """Has it ranks of its own with a group over nodes, where its framework takes these?"""
    own, able = problem.job.planning.own.get(component.name), problem.job.capabilities
    tp = problem.divided(component.name, problem.own_degrees(component)).tp
    return (
        own is not None and able.groups_may_cross and bool(groups_over_nodes(tp, Assignment({component.name: own}).repeats(component.name)))
    )


def too_many(problem: Problem, component: Component, space: Room) -> Lacking | None:
    """Where the smallest of its replicas takes more accelerators than there are that it may use."""
    shapes = problem.job.planning.shapes.get(component.name, {})
    if any(not each.least for each in shapes.values()):
        return None  # what a process takes then depends on its framework's way
    choices = problem.job.choices.get(component.name, (component.parallel,))
    least = {its: shapes[its].least if its in shapes else replace(component, parallel=its).step for its in choices}
    parallel, need = min(least.items(), key=lambda each: each[1])
    one = replace(component, parallel=problem.divided(component.name, parallel))
    size, have = space.group(problem, one), max(space.most(problem, one, kind) for kind in range(len(space.kinds)))
    if need <= have:
        return None
    whole = f" in groups of {size} on one node" if size > 1 else ""
    told = f"{parallel} needs {with_noun(need, 'accelerator')}{'' if shapes else ' for a replica'}, and it may use {have}{whole}"
    return Lacking(told, "lower its degrees, or let it use other nodes", (need, have))


def undealt(problem: Problem, component: Component, counts: Counts) -> tuple[Share, list[int]] | None:
    """The first of what it is dealt out without which it could have some counts, or without which and the others it could; and these counts."""
    its = [share for share in problem.job.shares if share.component == component.name]
    for gone in (*([share] for share in its), its):
        left = tuple(share for share in problem.job.shares if share not in gone)
        if gone and (can := counts(replace(problem, job=replace(problem.job, shares=left)))):
            return gone[0], can
    return None


def told_of(share: Share, component: Component) -> str:
    """`12 environments do not divide evenly among its processes on 4 accelerators; each share must be a multiple of 2`."""
    told = f"{share.said} {do(share.amount)} not divide evenly among its processes on {asked_for(component, 'accelerator')}"
    return f"{told}; each share must be a multiple of {share.said_of_each}" if share.multiple > 1 else told


def step_of(share: Share, component: Component, counts: list[int]) -> int:
    """What the number that is written must be a multiple of, so that it divides on one of these counts at least."""
    return min(share.step_over(count // component.per_process) for count in counts)


def with_given(problem: Problem, name: str, holding: Sequence[Component], finding: Finding) -> Finding:
    """Why a component can be run in no way; with whose given ranks are the reason, if it could be run without them.

    `holding` : the components that hold what they are given and let nobody else use it. One of them is named where one is enough, else
    all. Other ranks of theirs are proposed where as many accelerators are left beside them as it needs.
    """
    ways = [[each.name] for each in holding] + ([[each.name for each in holding]] if len(holding) > 1 else [])
    for names in ways:
        part = among(problem, {each.name for each in problem.components if each.name not in names})
        space = room(part, [each for each in holding if each.name not in names])
        if can := [option.amount for option in options(part, part[name], part[name].timed, space, 1)]:
            told, held = listed([f"`{each}`" for each in names]), problem.given().held_together(names)
            alone = replace(part[name], parallel=Parallel(), stride=1)
            has_room = min(can) + held <= max(space.most(part, alone, kind) for kind in range(len(space.kinds)))
            message = f"{finding.message}; without the ranks that are given to {told} it could be run"
            return replace(finding, message=message, help=f"{finding.help}, or give {told} other ranks" if has_room else finding.help)
    return finding
