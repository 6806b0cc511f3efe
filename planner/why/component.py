"""Why no plan can run a component: the fewest of the demands on it with which it has no option, found without a search."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator, Sequence

from ...models.component import Component
from ...models.demand import Demand
from ...models.findings.finding import Finding, error
from ...models.findings.wording import with_noun
from ...models.machines.accelerators import GENERIC
from ...models.parallel import Parallel
from ...models.part import among
from ...models.planning.kind import Kind
from ...models.planning.measured import POWER, TABLE
from ...models.planning.option import Option
from ...models.planning.question import Question
from ...models.planning.workload import Timed, Workload
from ...models.problem import AMOUNT, Problem
from ...models.quantity import write_memory
from ...models.record import dataclass
from ...solver.refuting.clauses import clauses
from ...solver.refuting.droppable import key_of
from ...solver.refuting.quickxplain import quickxplain
from ...solver.rules.amounts.all_placed import asked_for
from ...solver.wording import listed
from ..problem import asked
from ..profile import options
from ..room import Room, room

TIMES, COUNTS, RANKS = "timed", "counts of times", "runs"
"""Fields of demands: with which degrees and on which models a component was measured, on which counts its times hold, its given ranks."""
MOST_NAMED = 6
"""Counts that are written one by one."""


@dataclass(frozen=True)
class Unfit:
    """A component without an option, and the demands that leave it none."""

    finding: Finding
    demands: tuple[Demand, ...]


def unfit(problem: Problem, question: Question) -> Iterator[Unfit]:
    """The components that no count and degrees suit, or whose memory no accelerator has."""
    holding = frozenset(
        each.name for each in problem.components if each.name not in question.options
    )
    for name, its in question.options.items():
        idle = name in question.idle.beside
        if _fits(its, question.kinds, idle):
            continue
        demands = _demands(problem, problem[name], holding)

        def refuted(
            kept: Sequence[Demand],
            name: str = name,
            every: Sequence[Demand] = demands,
            idle: bool = idle,
        ) -> bool:
            changed = without(problem, [each for each in every if each not in kept])
            found, space = _options(changed, name, holding)
            return not _fits(found, space.kinds, idle)

        blamed = tuple(quickxplain(demands, refuted)) if refuted(demands) else ()
        yield Unfit(_finding(problem, problem[name], blamed, holding), blamed)


def without(problem: Problem, given_up: Iterable[Demand]) -> Problem:
    """The problem without these demands; those on degrees leave more degrees open, a component without its given ranks is left out."""
    gone = tuple(given_up)
    job, changed = problem.job, problem.without(*gone)
    names = {
        field: {each.component for each in gone if each.field == field}
        for field in (TIMES, COUNTS, RANKS, "parallel")
    }
    choices = {
        name: tuple(_more_degrees(problem, problem[name])) for name in sorted(names["parallel"])
    }
    parts = tuple(
        replace(
            each, timed=_timed(each.timed, each.name in names[TIMES], each.name in names[COUNTS])
        )
        for each in changed.components
    )
    changed = replace(
        changed, job=replace(changed.job, components=parts, choices={**job.choices, **choices})
    )
    return among(changed, {each.name for each in parts} - names[RANKS]) if names[RANKS] else changed


def few(counts: Sequence[int]) -> str:
    """Of many counts, in order, the first and the last; `1-8` where none between them is missing."""
    if len(counts) <= MOST_NAMED:
        return ", ".join(map(str, counts))
    if counts[-1] - counts[0] < len(counts):
        return f"{counts[0]}-{counts[-1]}"
    return f"{', '.join(map(str, counts[: MOST_NAMED - 1]))}, ... {counts[-1]}"


def counts(problem: Problem, name: str) -> list[int]:
    """The counts with which a component has an option."""
    question = asked(problem, problem.job.workload or Workload())
    return sorted({option.amount for option in question.options.get(name, ())})


def model_name(model: str) -> str:
    """A model of accelerators as it stands in a sentence, where the cluster may name none."""
    return "accelerators of no known model" if model in ("", GENERIC) else model


def _options(
    problem: Problem, name: str, holding: frozenset[str]
) -> tuple[tuple[Option, ...], Room]:
    """The options of a component, and the room for it where these components hold their ranks."""
    space = room(problem, [each for each in problem.components if each.name in holding])
    return options(problem, problem[name], problem[name].timed, space, 1), space


def _fits(its: Sequence[Option], kinds: Sequence[Kind], idle: bool) -> bool:
    """True if an option has the memory that it needs by itself; an estimate rules none out."""
    limits = [kinds[each.kind].memory if each.kind >= 0 else None for each in its]
    return any(
        idle or limit is None or each.memory <= limit or each.estimated
        for each, limit in zip(its, limits)
    )


def _demands(problem: Problem, component: Component, holding: frozenset[str]) -> list[Demand]:
    """The demands on a component, its times, and the ranks of those that hold theirs."""
    name, fixed = component.name, component.name in problem.job.shapes
    found = [
        each
        for each in problem.demands
        if each.component == name and not (fixed and each.field == "parallel")
    ]
    if name in problem.job.choices and not fixed:
        found.append(Demand(name, "parallel", component.span("parallel")))
    found += of_times(component)
    given = (problem[other] for other in sorted(holding))
    return list(
        dict.fromkeys(
            [*found, *(Demand(each.name, RANKS, each.span("placement")) for each in given)]
        )
    )


def of_times(component: Component) -> Iterator[Demand]:
    """The demands that the measured times of a component make."""
    timed = component.timed
    if timed is not None and (timed.scaling == TABLE or timed.samples):
        yield Demand(
            component.name,
            COUNTS,
            component.span("samples" if timed.samples and "samples" in component.spans else TIMES),
        )
    if timed is not None and any(each.parallel or each.model for each in timed.measured):
        yield Demand(component.name, TIMES, component.span(TIMES))


def _more_degrees(problem: Problem, component: Component) -> Iterator[Parallel]:
    """The degrees that a component may have, none at all, and those with which it was measured."""
    yield from problem.job.choices.get(component.name, (component.parallel,))
    yield Parallel()
    yield from (
        (each.parallel for each in component.timed.measured if each.parallel is not None)
        if component.timed
        else ()
    )


def _timed(timed: Timed | None, for_any: bool, on_any: bool) -> Timed | None:
    """The same times, for any degrees and models, or on any count."""
    if timed is not None and for_any:
        timed = replace(
            timed,
            measured=tuple(replace(each, parallel=None, model="") for each in timed.measured),
            longest_of=(),
        )
    return replace(timed, scaling=POWER, samples=0) if timed is not None and on_any else timed


def _finding(
    problem: Problem, component: Component, demands: Sequence[Demand], holding: frozenset[str]
) -> Finding:
    said = [_said(problem, component, demand, demands, holding) for demand in demands]
    why = (
        "; ".join(text for text, _ in said)
        or "no count and no degrees of it suit the cluster and its framework"
    )
    span = demands[0].span if demands else component.span(AMOUNT)
    places = [(each.span.line, text) for each, (text, _) in zip(demands, said) if each.span]
    notes = tuple(f"line {line}: {text}" for line, text in places if span and line != span.line)
    witnesses = next((figures for _, figures in said if figures), ())
    message = f"impossible: no plan can run `{component.name}`: {why}"
    return error("PW601", component.name, message, span, notes=notes, witnesses=witnesses)


def _said(
    problem: Problem,
    component: Component,
    demand: Demand,
    demands: Sequence[Demand],
    holding: frozenset[str],
) -> tuple[str, tuple[int, ...]]:
    """A demand in words, with (need, have) where numbers show that it is too much."""
    if demand.field == RANKS:
        return f"`{demand.component}` has given ranks", ()
    found, space = _options(problem, component.name, holding)
    free, _ = _options(without(problem, [demand]), component.name, holding)
    if demand.field == AMOUNT:
        amounts = sorted({each.amount for each in free})
        can = f", and can have {few(amounts)}" if amounts else ""
        return f"it asks for {asked_for(component, 'accelerator')}{can}", tuple(amounts[-1:])
    if demand.field == "memory" and found:
        need, have = (
            min(each.memory for each in found),
            max(space.kinds[each.kind].memory or 0 for each in found),
        )
        return (
            f"it needs {write_memory(need)} on each accelerator; there are {write_memory(have)}",
            (need, have),
        )
    if demand.field == "parallel":
        return _of_degrees(problem, component, space)
    if demand.field == "accelerator_model":
        models = dict.fromkeys(
            model_name(node.accelerator_model)
            for node in problem.cluster.nodes
            if node.accelerators
        )
        return (
            f"it may use {component.accelerator_model} alone; there are {listed(list(models)) or 'none'}",
            (),
        )
    if demand.field in (TIMES, COUNTS) and component.timed:
        may = [
            kind.model
            for number, kind in enumerate(space.kinds)
            if space.allowed(problem, component, number)
        ]
        return (
            f"its {holds_for(component.timed) if demand.field == COUNTS else _measured(component.timed, may)}",
            (),
        )
    text = next(
        (each.text for each in clauses(problem, [demand])),
        f"`{key_of(demand)}` of `{component.name}`",
    )
    return text, ()


def _of_degrees(problem: Problem, component: Component, space: Room) -> tuple[str, tuple[int, ...]]:
    """The degrees of a component; what they need of one node, or in all, where that is more than there is."""
    choices = tuple(dict.fromkeys(problem.job.choices.get(component.name, (component.parallel,))))
    parts = {
        each: replace(component, parallel=problem.divided(component.name, each)) for each in choices
    }
    kinds = range(len(space.kinds))
    nodes = {node for kind in kinds for node in space.allowed(problem, component, kind)}
    large = max((space.free[node] for node in nodes if node in space.free), default=0)
    need, degrees = min(
        ((space.group(problem, part), each) for each, part in parts.items()), key=lambda its: its[0]
    )
    if need > large:
        text = f"{degrees} needs {with_noun(need, 'accelerator')} of one node, and the largest that it may use has {large}"
        return text, (need, large)
    whole, degrees = min(
        ((part.step, each) for each, part in parts.items()), key=lambda its: its[0]
    )
    most = max((space.most(problem, parts[degrees], kind) for kind in kinds), default=0)
    if whole > most:
        text = f"{degrees} needs {with_noun(whole, 'accelerator')} for a replica, and it may use {most} in groups of {need} on one node"
        return text, (whole, most)
    return f"it may have {' or '.join(map(str, choices))}", ()


def holds_for(timed: Timed) -> str:
    """The counts for which times hold, such as `times are a table for 8, 16`."""
    said = [f"replicas divide {with_noun(timed.samples, 'sample')} evenly"] if timed.samples else []
    said += (
        [f"times are a table for {few(sorted({each.accelerators for each in timed.measured}))}"]
        if timed.scaling == TABLE
        else []
    )
    return ", and its ".join(said)


def _measured(timed: Timed, may: Sequence[str]) -> str:
    """The degrees and models for which times hold; `may`: the models that the component may use."""
    rows = dict.fromkeys(
        " ".join(
            f"{word} {text}" for word, text in (("with", each.degrees), ("on", each.model)) if text
        )
        for each in timed.measured
    )
    text = f"times were measured {' or '.join(rows)}"
    if may and not {each.model for each in timed.measured} & {"", *may}:
        text += f", and it may use {listed(list(dict.fromkeys(map(model_name, may))))}"
    return text
