"""Choice of the fixes of an impossible problem, sharing included: the smallest ones that were solved."""

from __future__ import annotations

from itertools import chain, combinations, islice
from typing import Iterator, Sequence

from ...models.component import COLOCATED, KEYS, SUBSET, Component
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.problem import AMOUNT, Demand, Problem
from ...models.sharing import given_part
from .census import CountingRow
from .conflict import can_be_dropped, describe_drop, maximal
from .fixes import (
    CROWDED,
    DROPPED,
    LOOSENED,
    SHARED,
    Apply,
    Change,
    FixTrial,
    asking,
    chain_changes,
    find_colocated,
    find_searched,
    instead,
    more_nodes,
    relate,
    softer,
    with_component,
    without,
)

MAX_TOGETHER = 4
"""Largest number of joint changes; more are no useful advice."""
MAX_FIXES = 5
"""Largest number of fixes shown."""
MAX_GIVEN = 4
"""Largest number of explicit components tried for sharing."""
MAX_ALL = 5
"""Largest number of searched components offered to share all together."""
MAX_PAIRS = 10
"""Largest number of pairs of searched components tried: all pairs of five."""
MAX_SHARED = 2
"""Largest number of pairs of searched components offered to share."""


def rank_changes(trial: FixTrial, demands: Sequence[Demand], row: CountingRow | None) -> tuple[Change, ...]:
    """Return solved single changes of these demands, smallest first."""
    candidates: list[Change] = []
    for demand in demands:
        weaker, dropping = list(softer(trial, demand, row)), without(demand)
        candidates += weaker
        if not weaker and can_be_dropped(trial.problem, demand) and trial.works(dropping):
            candidates.append(Change(describe_drop(demand), (DROPPED, 1.0), dropping))
    candidates += chain(share_with_given(trial, row), share_in_turn(trial, row), more_nodes(trial, row)) if row else ()
    solutions: dict[str, Change] = {}
    for change in sorted(candidates, key=lambda change: change.effort):
        if len(solutions) < MAX_FIXES and change.text not in solutions and trial.is_solved(change.apply):
            solutions[change.text] = change
    return tuple(solutions.values())


def combine_changes(trial: FixTrial, demands: Sequence[Demand]) -> tuple[Change, ...]:
    """Return a single combined change that was solved; empty if none is small.

    As many demands as possible are kept: fixed demands first, amounts last, as amounts can shrink.
    The remaining demands are changed.
    """
    firm = [demand for demand in demands if demand.field != AMOUNT and not can_be_dropped(trial.problem, demand)]
    order = sorted(demands, key=lambda demand: (demand not in firm, demand.field == AMOUNT))

    def possible(subset: Sequence[Demand]) -> bool:
        drops = [demand for demand in order if demand not in subset]
        return trial.works(lambda problem: problem.without(*drops))

    remaining = maximal(order, possible)
    changes = [demand for demand in order if demand not in remaining]
    if not 1 < len(changes) <= MAX_TOGETHER or any(demand in firm for demand in changes):
        return ()
    steps, texts = [without(demand) for demand in changes], [describe_drop(demand) for demand in changes]
    for position, demand in enumerate(changes):
        if demand.field == AMOUNT:
            component = trial.problem[demand.component]
            amount = _amount_beside(trial, component, steps[:position] + steps[position + 1 :])
            if not amount:
                return ()
            steps[position], texts[position] = asking(component, amount), instead(component, amount)
    kind = DROPPED if any(demand.field != AMOUNT for demand in changes) else LOOSENED
    change = Change(" and ".join(texts), (kind, float(len(changes))), chain_changes(steps))
    return (change,) if trial.is_solved(change.apply) else ()


def _amount_beside(trial: FixTrial, component: Component, steps: Sequence[Apply]) -> int:
    """Return the largest feasible smaller amount beside other changes; 0 if unknown."""
    step = chain_changes(steps)(trial.problem)[component.name].step
    return trial.last(range(step, component.least, step), lambda amount: chain_changes([*steps, asking(component, amount)]))


# -- sharing of accelerators


def find_given_beside(problem: Problem, row: CountingRow) -> list[Component]:
    """Return explicit components outside the row with resources of the row's kind, if shareable."""
    if not problem.job.capabilities.shares_accelerators:
        return []
    names = {component.name for component in row.components}
    kinds = {problem.kind(component) for component in find_searched(problem, row)} - {NODE}
    given_components = given_part(problem).components
    return [
        component for component in given_components if problem.kind(component) in kinds and component.name not in names and component.runs
    ]


def share_with_given(trial: FixTrial, row: CountingRow) -> Iterator[Change]:
    """Yield changes in which hinted components share with explicit ones."""
    problem = trial.problem
    for component in _firsts(problem, find_searched(problem, row)):
        for holder in find_given_beside(problem, row)[:MAX_GIVEN]:
            size = problem.build_given().count_held(holder.name, problem.kind(holder))
            hints = with_component(holder.name, runs=None, least=size, most=size)
            colocation, nesting = relate(COLOCATED, component, holder), chain_changes([hints, relate(SUBSET, holder, component)])
            if trial.works(colocation):
                yield Change(f"add `colocate_with: {holder.name}` to {component.name}", (SHARED, 0.0), colocation)
            elif trial.works(nesting):
                text = f"give {holder.name} no ranks but the hints `{{accelerators: {size}, within: {component.name}}}`"
                yield Change(text, (SHARED, 1.0), nesting)


def _firsts(problem: Problem, components: Sequence[Component]) -> list[Component]:
    """Return the first of these components in every colocated set."""
    firsts: dict[tuple[Component, ...], Component] = {}
    for component in components:
        firsts.setdefault(find_colocated(problem, component), component)
    return list(firsts.values())


def share_in_turn(trial: FixTrial, row: CountingRow) -> Iterator[Change]:
    """Yield changes in which two searched components share, else all of them."""
    problem, job = trial.problem, trial.problem.job
    if job.pools or job.planning.laying is not None:
        return  # pools of a framework have accelerators of their own
    firsts = [component for component in _firsts(problem, problem.hinted) if problem.kind(component) == ACCELERATOR]
    names = {component.name for component in row.components}
    of_row = [component for component in firsts if names.intersection(member.name for member in find_colocated(problem, component))]
    pairs = sorted(combinations(of_row, 2), key=lambda pair: _sharing_kind(problem, pair))
    changes = [_sharing(problem, [pair]) for pair in pairs[:MAX_PAIRS]]
    working = list(islice((change for change in changes if trial.works(change.apply)), MAX_SHARED))
    if working or not 2 < len(firsts) <= MAX_ALL:
        yield from working
        return
    order = sorted(firsts, key=lambda component: -component.most)
    outer = [
        next(host for host in order[: number + 1] if host.most in (member.most, order[number].most))
        for number, member in enumerate(order[1:])
    ]
    yield _sharing(problem, list(zip(outer, order[1:])))


def _sharing_kind(problem: Problem, pair: tuple[Component, ...]) -> int:
    """Return `CROWDED` if members of both colocated sets need a phase at once, else `SHARED`."""
    first, second = ({phase for member in find_colocated(problem, component) for phase in member.phases} for component in pair)
    return CROWDED if first & second else SHARED


def _sharing(problem: Problem, pairs: Sequence[tuple[Component, Component]]) -> Change:
    """Return the change in which the second component of each pair shares with the first."""
    texts, steps = list[str](), list[Apply]()
    for pair in pairs:
        outer, inner = pair
        kind = COLOCATED if inner.most >= outer.least and outer.most >= inner.least else SUBSET
        if kind == SUBSET and inner.least > outer.most:
            outer, inner = inner, outer
        texts.append(f"add `{KEYS[kind]}: {outer.name}` to {inner.name}")
        steps.append(relate(kind, inner, outer))
    return Change(" and ".join(texts), (max(_sharing_kind(problem, pair) for pair in pairs), 0.0), chain_changes(steps))
