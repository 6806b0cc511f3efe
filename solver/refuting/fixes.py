"""Fixes of a single demand: amounts, degrees, memory, topology."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import Callable, Iterator, Sequence

from ...models.component import Component, Parallel
from ...models.demand import Demand
from ...models.findings.wording import plural
from ...models.locality import WHOLE, Keep, Spread
from ...models.problem import Problem
from ...models.quantity import write_memory
from ...models.share import Share
from ..layout.layout import even
from ..memory import peak
from ..rules.amounts.all_placed import amount_of
from ..wording import level_name
from .census import CountingRow
from .conflict import LOOSENED, OTHER, Change
from .oracle import Oracle, Verdict

Apply = Callable[[Problem], Problem]


GIB = 1024
MAX_DOMAINS = 64
"""Largest number of domains offered."""


class FixTrial:
    """Impossible problem with an oracle that tests changes."""

    def __init__(self, alternatives: Sequence[Problem], oracle: Oracle) -> None:
        self.alternatives, self.oracle = tuple(alternatives), oracle

    @property
    def problem(self) -> Problem:
        """The problem at the first choice of parallel degrees."""
        return self.alternatives[0]

    def works(self, apply: Apply) -> bool:
        """Return True if the problem is possible with the change."""
        return self.oracle.judge(self._changed(apply)) is Verdict.POSSIBLE

    def solved(self, apply: Apply) -> bool:
        """Return True if an answer with the change was found and verified."""
        return self.oracle.solved(self._changed(apply))

    def _changed(self, apply: Apply) -> list[Problem]:
        return list({problem.job.components: problem for problem in map(apply, self.alternatives)}.values())


def with_component(name: str, change: Callable[[Component], Component]) -> Apply:
    """Return a change of a single component."""

    def apply(problem: Problem) -> Problem:
        components = tuple(change(component) if component.name == name else component for component in problem.components)
        return replace(problem, job=replace(problem.job, components=components))

    return apply


def best(count: int, works: Callable[[int], bool]) -> int:
    """Return the largest working number below `count`, by bisection; -1 if 0 fails.

    If a number works, smaller numbers must work too.
    """
    if count <= 0 or not works(0):
        return -1
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


def amounts(trial: FixTrial, demand: Demand, row: CountingRow | None) -> Iterator[Change]:
    """Yield feasible amounts, as close to the requested amount as possible."""
    component = trial.problem[demand.component]
    for amount in (_largest(trial, component), _larger(trial, component, row) if row else 0):
        if amount:
            share = abs(component.least - amount) / max(component.least, amount)
            yield Change(
                f"ask for {amount} instead of {instead_of(component)} for {component.name}", (LOOSENED, share), asking(component, amount)
            )


def instead_of(component: Component) -> str:
    """Return the requested minimum, or the list of counts."""
    return amount_of(component) if component.counts else str(component.least)


def asking(component: Component, amount: int) -> Apply:
    """Return a change to exactly this amount."""
    return with_component(component.name, lambda member: replace(member, least=amount, most=amount))


def _larger(trial: FixTrial, component: Component, row: CountingRow) -> int:
    """Return the amount enlarged by the shortage if feasible, else 0.

    Other components may need this component to be larger.
    """
    step = lcm(component.step, component.unit)
    amount = -(-(component.most + (row.need - row.have) * component.per_process) // step) * step
    fits = component.most < amount <= trial.problem.cluster.total(trial.problem.kind(component))
    return amount if fits and trial.works(asking(component, amount)) else 0


def _largest(trial: FixTrial, component: Component) -> int:
    """Return the largest feasible smaller amount, 0 if unknown.

    Multiples of the component's step are bisected, then the amounts of colocated components are
    tried.
    """
    problem, step = trial.problem, lcm(component.step, component.unit)
    # A component in several domains has at least as many groups.
    domains = max((spread.domains for spread in component.spread), default=1)
    tried: Sequence[int] = range(-(-domains * component.group_size // step) * step, component.least, step)
    if any(share.component == component.name for share in problem.shares):
        tried = tuple(amount for amount in tried if even(problem, component, amount))
    position = best(len(tried), lambda index: trial.works(asking(component, tried[index])))
    amount = tried[position] if position >= 0 else 0
    partners = next(members for members in problem.colocated_sets if component in members)
    partner_amounts = {
        amount_of_member
        for member in partners
        for amount_of_member in (member.least, member.most)
        if amount < amount_of_member < component.least
    }
    return next((candidate for candidate in sorted(partner_amounts, reverse=True) if trial.works(asking(component, candidate))), amount)


def other_work(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the nearest feasible amounts of work, if the number of processes is fixed."""
    problem = trial.problem
    share = next(
        (candidate for candidate in problem.shares if candidate.component == demand.component and candidate.field == demand.field), None
    )
    if share is None or problem[share.component].least != problem[share.component].most:
        return
    component = problem[share.component]
    processes = component.least // component.per_process
    step = lcm(*(candidate.step_over(processes) for candidate in problem.shares if candidate.amount_name == share.amount_name))
    for amount in (share.written // step * step, share.written // step * step + step):
        if amount and trial.works(_dealing(share, amount)):
            effort = abs(share.written - amount) / max(amount, share.written)
            yield Change(f"set `{share.amount_name}` to {amount}", (OTHER, effort), _dealing(share, amount))


def _dealing(share: Share, amount: int) -> Apply:
    def apply(problem: Problem) -> Problem:
        shares = tuple(
            replace(candidate, amount=amount * candidate.factor) if candidate.amount_name == share.amount_name else candidate
            for candidate in problem.job.shares
        )
        return replace(problem, job=replace(problem.job, shares=shares))

    return apply


def other_degrees(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the feasible degrees nearest to the requested ones."""
    component = trial.problem[demand.component]
    for parallel in _smaller(component):
        if trial.works(_with(component, parallel)):
            share = 1 - parallel.replica / component.parallel.replica
            text = f"use {parallel} instead of {component.parallel} for {component.name}"
            yield Change(text, (OTHER, share), _with(component, parallel))
            return


def _smaller(component: Component) -> list[Parallel]:
    """Return smaller degrees that divide the requested ones, largest first."""
    parallel = component.parallel
    candidates = [
        replace(parallel, tp=tp, pp=pp)
        for tp in _divisors(parallel.tp)
        for pp in _divisors(parallel.pp)
        if (tp, pp) != (parallel.tp, parallel.pp)
    ]
    nested = [
        candidate for candidate in candidates if candidate.tp % component.per_process == 0 or component.per_process % candidate.tp == 0
    ]
    return sorted(nested, key=lambda candidate: (-candidate.replica, -candidate.tp))


def _with(component: Component, parallel: Parallel) -> Apply:
    return with_component(component.name, lambda member: replace(member, parallel=parallel))


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def less_memory(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the largest feasible memory, in whole GiB if at least 1 GiB."""
    problem = trial.problem
    component = problem[demand.component]
    members = next(candidates for candidates in problem.colocated_sets if component in candidates)
    for amount in sorted({_beside(component, members, size) for size in _sizes(trial)} - {0}, reverse=True):
        if amount < component.memory and trial.works(needing(component, amount)):
            share = (component.memory - amount) / component.memory
            text = f"set `memory` of {component.name} to {written(amount)} instead of {written(component.memory)}"
            yield Change(text, (LOOSENED, share), needing(component, amount))
            return


def less_of_node(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield the most feasible CPUs or host memory (whole GiB) of a process."""
    component, host = trial.problem[demand.component], demand.field == "host_memory"
    requested, step = (component.host_memory, GIB) if host else (component.cpus, 1)

    def needing(amount: int) -> Apply:
        return with_component(component.name, lambda member: replace(member, host_memory=amount) if host else replace(member, cpus=amount))

    amount = step * (1 + best(-(-requested // step) - 1, lambda index: trial.works(needing((index + 1) * step))))
    if amount:
        now, after = (written(requested), written(amount)) if host else (str(requested), str(amount))
        text = f"set `{demand.field}` of {component.name} to {after} instead of {now}"
        yield Change(text, (LOOSENED, (requested - amount) / requested), needing(amount))


def _sizes(trial: FixTrial) -> set[int]:
    return {kind.memory for kind in trial.oracle.census.kinds if kind.memory is not None}


def _beside(component: Component, members: tuple[Component, ...], size: int) -> int:
    """Return the most memory of the component within `size` for all members; 0 for none."""

    def fits(memory: int) -> bool:
        return peak(tuple(replace(member, memory=memory) if member is component else member for member in members)) <= size

    amount = max(best(size + 1, fits), 0)
    return amount // GIB * GIB or amount


def needing(component: Component, memory: int) -> Apply:
    """Return a change of the memory of a component, in MiB."""
    return with_component(component.name, lambda member: replace(member, memory=memory, offloaded=min(member.offloaded, memory)))


def written(memory: int) -> str:
    """Return MiB as written in a file: `40GiB`."""
    return write_memory(memory).replace(" ", "")


def looser(trial: FixTrial, demand: Demand) -> Iterator[Change]:
    """Yield feasible weaker forms of a keep or a spread."""
    if demand.field.split()[0] not in ("keep", "spread"):
        return
    component = trial.problem[demand.component]
    for keep in component.keep:
        if demand.field == f"keep {keep.what} in {keep.level}" and keep.required:
            yield from _looser_keep(trial, component, keep)
    for spread in component.spread:
        if demand.field == f"spread over {spread.level}":
            yield from _looser_spread(trial, component, spread)


def _looser_keep(trial: FixTrial, component: Component, keep: Keep) -> Iterator[Change]:
    name = level_name(keep.level)
    if keep.what == WHOLE:
        # The most domains first, so that bisection ends at the fewest.
        tried = range(MAX_DOMAINS, keep.domains, -1)
        position = best(len(tried), lambda index: trial.works(_kept(component, keep, replace(keep, domains=tried[index]))))
        if position >= 0:
            domains = tried[position]
            text = f"keep {component.name} in {domains} {plural(name, domains)} instead of {keep.domains}"
            yield Change(text, (LOOSENED, 1 - keep.domains / domains), _kept(component, keep, replace(keep, domains=domains)))
    preferred = _kept(component, keep, replace(keep, required=False))
    if trial.works(preferred):
        yield Change(f"make `keep: {{{keep.what}: {keep.level}}}` of {component.name} `required: false`", (OTHER, 1.0), preferred)


def _looser_spread(trial: FixTrial, component: Component, spread: Spread) -> Iterator[Change]:
    name = level_name(spread.level)
    if spread.percent < 100:
        tried = range(100, spread.percent, -1)
        position = best(len(tried), lambda index: trial.works(_spread(component, spread, replace(spread, percent=tried[index]))))
        if position >= 0:
            percent = tried[position]
            text = f"let one {name} hold {percent} % of {component.name} instead of {spread.percent} %"
            yield Change(text, (LOOSENED, 1 - spread.percent / percent), _spread(component, spread, replace(spread, percent=percent)))
    if spread.domains > 1:
        position = best(spread.domains - 1, lambda index: trial.works(_spread(component, spread, replace(spread, domains=index + 1))))
        if position >= 0:
            text = f"spread {component.name} over {position + 1} {plural(name, position + 1)} instead of {spread.domains}"
            share = 1 - (position + 1) / spread.domains
            yield Change(text, (LOOSENED, share), _spread(component, spread, replace(spread, domains=position + 1)))


def _kept(component: Component, before: Keep, after: Keep) -> Apply:
    return with_component(
        component.name, lambda member: replace(member, keep=tuple(after if keep == before else keep for keep in member.keep))
    )


def _spread(component: Component, before: Spread, after: Spread) -> Apply:
    return with_component(
        component.name, lambda member: replace(member, spread=tuple(after if spread == before else spread for spread in member.spread))
    )
