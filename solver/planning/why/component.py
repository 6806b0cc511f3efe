"""Why a component can be run in no way at all: what it asks for, and what there is."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Sequence

from ....models.component import UNBOUNDED, Component
from ....models.findings.finding import Finding, Severity, error
from ....models.findings.span import Span
from ....models.planning.idle import without_hints
from ....models.planning.measured import POWER, TABLE
from ....models.planning.option import Option
from ....models.planning.question import Question
from ....models.planning.workload import Timed
from ....models.problem import AMOUNT, Problem
from ....models.quantity import write_memory
from ...rules.amounts.all_placed import amount_of, asked_for
from ...rules.amounts.model_divides import ModelDivides, of_hints
from ...wording import listed
from ..asking.options import options
from ..asking.room import Room, room
from .common import few
from .eased import FEW
from .given import with_given
from .on_nodes import NO_WAY, too_many, too_wide
from .said import model_name
from .undealt import step_of, told_of, undealt

Helps = Callable[[str, int], bool]
"""Was a plan found, and placed, in which the component of that name has so many accelerators?"""
UNTRIED = "(not tried here; `placewright solve` tries it)"


def without_options(problem: Problem, question: Question, helps: Helps | None = None) -> Iterator[Finding]:
    """A reason for each component that no count and no degrees fit, or whose memory no accelerator has. Without `helps` no count is tried."""
    holding = [each for each in problem.components if each.name not in question.options]
    space = room(problem, holding)
    for name, its in question.options.items():
        if not its:
            finding = with_given(problem, name, holding, _no_way(problem, problem[name], space, helps))
            own, worker = problem.job.own, question.idle.workers.get(name)
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
