"""Changes of one demand that were tried: amounts, degrees, memory, topology."""

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
from .census import Row
from .conflict import LOOSENED, OTHER, Change
from .oracle import Oracle, Verdict

Apply = Callable[[Problem], Problem]


GIB = 1024
MAX_DOMAINS = 64
"""So many domains are offered at most."""


class Trial:
    """A question that is impossible, and an oracle that says of a change whether it would help."""

    def __init__(self, alternatives: Sequence[Problem], oracle: Oracle) -> None:
        self.alternatives, self.oracle = tuple(alternatives), oracle

    @property
    def problem(self) -> Problem:
        """The question by the first choice of parallel degrees."""
        return self.alternatives[0]

    def works(self, apply: Apply) -> bool:
        """Is it possible with the change?"""
        return self.oracle.judge(self._changed(apply)) is Verdict.POSSIBLE

    def solved(self, apply: Apply) -> bool:
        """Was an answer found with the change, and verified?"""
        return self.oracle.solved(self._changed(apply))

    def _changed(self, apply: Apply) -> list[Problem]:
        return list({problem.job.components: problem for problem in map(apply, self.alternatives)}.values())


def with_component(name: str, change: Callable[[Component], Component]) -> Apply:
    """The question with one component changed."""

    def apply(problem: Problem) -> Problem:
        components = tuple(change(its) if its.name == name else its for its in problem.components)
        return replace(problem, job=replace(problem.job, components=components))

    return apply


def best(count: int, works: Callable[[int], bool]) -> int:
    """The largest number below `count` that works, by bisection, if smaller ones work where a larger one does; -1 if 0 does not."""
    if count <= 0 or not works(0):
        return -1
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


def amounts(trial: Trial, demand: Demand, row: Row | None) -> Iterator[Change]:
    """Amounts with which it is possible, as near to what was asked for as can be."""
    component = trial.problem[demand.component]
    for amount in (_largest(trial, component), _larger(trial, component, row) if row else 0):
        if amount:
            share = abs(component.least - amount) / max(component.least, amount)
            yield Change(
                f"ask for {amount} instead of {instead_of(component)} for {component.name}", (LOOSENED, share), asking(component, amount)
            )


def instead_of(component: Component) -> str:
    """What it asks for at least, or all of a list."""
    return amount_of(component) if component.counts else str(component.least)


def asking(component: Component, amount: int) -> Apply:
    """The question with exactly this amount."""
    return with_component(component.name, lambda its: replace(its, least=amount, most=amount))


def _larger(trial: Trial, component: Component, row: Row) -> int:
    """More by what is short, if that works: others may need this component to be larger; 0 if it does not."""
    step = lcm(component.step, component.unit)
    amount = -(-(component.most + (row.need - row.have) * component.per_process) // step) * step
    fits = component.most < amount <= trial.problem.cluster.total(trial.problem.kind(component))
    return amount if fits and trial.works(asking(component, amount)) else 0


def _largest(trial: Trial, component: Component) -> int:
    """The largest smaller amount of this component that works, 0 if none was found.

    Amounts of its own step are tried by bisection, then what those that share its accelerators ask for.
    """
    problem, step = trial.problem, lcm(component.step, component.unit)
    # What must lie in several domains has as many groups at least.
    domains = max((spread.domains for spread in component.spread), default=1)
    tried: Sequence[int] = range(-(-domains * component.group_size // step) * step, component.least, step)
    if any(share.component == component.name for share in problem.shares):
        tried = tuple(amount for amount in tried if even(problem, component, amount))
    found = best(len(tried), lambda index: trial.works(asking(component, tried[index])))
    amount = tried[found] if found >= 0 else 0
    partners = next(members for members in problem.colocated_sets if component in members)
    asked = {each for member in partners for each in (member.least, member.most) if amount < each < component.least}
    return next((each for each in sorted(asked, reverse=True) if trial.works(asking(component, each))), amount)


def other_work(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The nearest amounts to deal out with which it is possible, if the number of processes is as good as said."""
    problem = trial.problem
    share = next((each for each in problem.shares if each.component == demand.component and each.field == demand.field), None)
    if share is None or problem[share.component].least != problem[share.component].most:
        return
    component = problem[share.component]
    processes = component.least // component.per_process
    step = lcm(*(each.step_over(processes) for each in problem.shares if each.amount_name == share.amount_name))
    for amount in (share.written // step * step, share.written // step * step + step):
        if amount and trial.works(_dealing(share, amount)):
            effort = abs(share.written - amount) / max(amount, share.written)
            yield Change(f"set `{share.amount_name}` to {amount}", (OTHER, effort), _dealing(share, amount))


def _dealing(share: Share, amount: int) -> Apply:
    def apply(problem: Problem) -> Problem:
        shares = tuple(
            replace(each, amount=amount * each.factor) if each.amount_name == share.amount_name else each for each in problem.job.shares
        )
        return replace(problem, job=replace(problem.job, shares=shares))

    return apply


def other_degrees(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The degrees nearest to what was asked for with which it is possible."""
    component = trial.problem[demand.component]
    for parallel in _smaller(component):
        if trial.works(_with(component, parallel)):
            share = 1 - parallel.replica / component.parallel.replica
            text = f"use {parallel} instead of {component.parallel} for {component.name}"
            yield Change(text, (OTHER, share), _with(component, parallel))
            return


def _smaller(component: Component) -> list[Parallel]:
    """Smaller degrees that divide those that were asked for, the largest first."""
    its = component.parallel
    found = [replace(its, tp=tp, pp=pp) for tp in _divisors(its.tp) for pp in _divisors(its.pp) if (tp, pp) != (its.tp, its.pp)]
    nested = [each for each in found if each.tp % component.per_process == 0 or component.per_process % each.tp == 0]
    return sorted(nested, key=lambda each: (-each.replica, -each.tp))


def _with(component: Component, parallel: Parallel) -> Apply:
    return with_component(component.name, lambda its: replace(its, parallel=parallel))


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


def less_memory(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The largest memory with which it is possible, in whole GiB where that is at least one."""
    problem = trial.problem
    component = problem[demand.component]
    members = next(its for its in problem.colocated_sets if component in its)
    for amount in sorted({_beside(component, members, size) for size in _sizes(trial)} - {0}, reverse=True):
        if amount < component.memory and trial.works(needing(component, amount)):
            share = (component.memory - amount) / component.memory
            text = f"set `memory` of {component.name} to {written(amount)} instead of {written(component.memory)}"
            yield Change(text, (LOOSENED, share), needing(component, amount))
            return


def less_of_node(trial: Trial, demand: Demand) -> Iterator[Change]:
    """The most CPUs or host memory, in whole GiB, of a process with which it is possible."""
    component, host = trial.problem[demand.component], demand.field == "host_memory"
    asked, step = (component.host_memory, GIB) if host else (component.cpus, 1)

    def needing(amount: int) -> Apply:
        return with_component(component.name, lambda its: replace(its, host_memory=amount) if host else replace(its, cpus=amount))

    amount = step * (1 + best(-(-asked // step) - 1, lambda index: trial.works(needing((index + 1) * step))))
    if amount:
        now, then = (written(asked), written(amount)) if host else (str(asked), str(amount))
        text = f"set `{demand.field}` of {component.name} to {then} instead of {now}"
        yield Change(text, (LOOSENED, (asked - amount) / asked), needing(amount))


def _sizes(trial: Trial) -> set[int]:
    return {kind.memory for kind in trial.oracle.census.kinds if kind.memory is not None}


def _beside(component: Component, members: tuple[Component, ...], size: int) -> int:
    """The most memory that the component may need where all members together must not need more than `size`; 0 for none."""

    def fits(memory: int) -> bool:
        return peak(tuple(replace(its, memory=memory) if its is component else its for its in members)) <= size

    amount = max(best(size + 1, fits), 0)
    return amount // GIB * GIB or amount


def needing(component: Component, memory: int) -> Apply:
    """The question in which a component needs so many MiB."""
    return with_component(component.name, lambda its: replace(its, memory=memory, offloaded=min(its.offloaded, memory)))


def written(memory: int) -> str:
    """So many MiB as a file has them: `40GiB`."""
    return write_memory(memory).replace(" ", "")


def looser(trial: Trial, demand: Demand) -> Iterator[Change]:
    """Weaker forms of a keep or a spread with which it is possible."""
    if demand.field.split()[0] not in ("keep", "spread"):
        return
    component = trial.problem[demand.component]
    for keep in component.keep:
        if demand.field == f"keep {keep.what} in {keep.level}" and keep.required:
            yield from _looser_keep(trial, component, keep)
    for spread in component.spread:
        if demand.field == f"spread over {spread.level}":
            yield from _looser_spread(trial, component, spread)


def _looser_keep(trial: Trial, component: Component, keep: Keep) -> Iterator[Change]:
    name = level_name(keep.level)
    if keep.what == WHOLE:
        # More domains are tried first: the fewest that do.
        tried = range(MAX_DOMAINS, keep.domains, -1)
        found = best(len(tried), lambda index: trial.works(_kept(component, keep, replace(keep, domains=tried[index]))))
        if found >= 0:
            domains = tried[found]
            text = f"keep {component.name} in {domains} {plural(name, domains)} instead of {keep.domains}"
            yield Change(text, (LOOSENED, 1 - keep.domains / domains), _kept(component, keep, replace(keep, domains=domains)))
    preferred = _kept(component, keep, replace(keep, required=False))
    if trial.works(preferred):
        yield Change(f"make `keep: {{{keep.what}: {keep.level}}}` of {component.name} `required: false`", (OTHER, 1.0), preferred)


def _looser_spread(trial: Trial, component: Component, spread: Spread) -> Iterator[Change]:
    name = level_name(spread.level)
    if spread.percent < 100:
        tried = range(100, spread.percent, -1)
        found = best(len(tried), lambda index: trial.works(_spread(component, spread, replace(spread, percent=tried[index]))))
        if found >= 0:
            percent = tried[found]
            text = f"let one {name} hold {percent} % of {component.name} instead of {spread.percent} %"
            yield Change(text, (LOOSENED, 1 - spread.percent / percent), _spread(component, spread, replace(spread, percent=percent)))
    if spread.domains > 1:
        found = best(spread.domains - 1, lambda index: trial.works(_spread(component, spread, replace(spread, domains=index + 1))))
        if found >= 0:
            text = f"spread {component.name} over {found + 1} {plural(name, found + 1)} instead of {spread.domains}"
            share = 1 - (found + 1) / spread.domains
            yield Change(text, (LOOSENED, share), _spread(component, spread, replace(spread, domains=found + 1)))


def _kept(component: Component, before: Keep, after: Keep) -> Apply:
    return with_component(component.name, lambda its: replace(its, keep=tuple(after if each == before else each for each in its.keep)))


def _spread(component: Component, before: Spread, after: Spread) -> Apply:
    return with_component(component.name, lambda its: replace(its, spread=tuple(after if each == before else each for each in its.spread)))
