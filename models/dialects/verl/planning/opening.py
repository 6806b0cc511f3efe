"""A job with open pools: how verl lays them out, which counts and degrees it takes, and what its workload is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Callable, Sequence
from typing import Mapping as MappingType

from ....component import DISJOINT, Component, Relation
from ....configuration.settings import Amount
from ....hints.said import said_of_plan
from ....machines.cluster import Cluster
from ....parallel import Parallel
from ....planning.workload import Workload
from ....pools.laying import Laying
from ....pools.pool import Pool
from ....times.usual import as_it_runs, usual_order
from ..job import Setup
from .accepted import Taken, Together, accepted
from .asynchronous import asynchronous
from .degrees import changed
from .refused import Refused
from .together import follow

HINTS, PLANNED = "placewright", "PW604"
MEND = "mend this and plan again: until then, of the counts that verl refuses, those are planned that have fewest such reasons"
APART = "no two pools of verl have an accelerator in common"
Own = Callable[[str], MappingType[str, Amount]]
"""Component -> the numbers that say its own degrees."""
Leader = Callable[[str], "str | None"]
"""Component -> the one whose degrees it has; None where these are its own."""


def plan_pools(setup: Setup, cluster: Cluster, pools: tuple[Pool, ...], own: Own, leader: Leader, refused: Refused) -> None:
    """Adds all that to the job. Degrees that nobody opened, and that follow from the size of a pool, are those that come out on each."""
    open_ = [pool for pool in pools if pool not in setup.pools]
    if not open_ or setup.workload is None:
        return
    setup.laying = Laying(tuple(pool if pool in setup.pools else replace(pool, parts=()) for pool in pools), setup.entry.reserves)
    firsts = [(pool, pool.components[0]) for pool in pools if pool.components]
    for (one, name), (other, beside) in combinations(firsts, 2):
        if one in open_ or other in open_:
            setup.relations.append(Relation(DISJOINT, (name, beside), None, APART))
    setup.workload = _workload(setup, setup.workload)
    # In parts of which some have other degrees than those that are planned no plan can be written, also where verl takes none of these.
    names = [name for pool in pools for name in pool.components]
    setup.by_size |= {name for name in names if any(its.name in refused.following for its in own(name).values())}
    came_out = list[dict[Together, set[int]]]()
    for pool in open_:
        tied = {name: first for name in pool.components if (first := leader(name)) is not None and setup.choices.get(first)}
        whose = {name: tied.get(name, name) for name in pool.components}
        choices = {
            name: {each: _otherwise(own(its), each) for each in setup.choices[its]} for name, its in whose.items() if setup.choices.get(its)
        }
        setup.tied = {**setup.tied, **tied}
        inside = [each for each in setup.components if each.name in pool.components]
        degrees = {each.name: each.parallel for each in setup.components}
        taken = accepted(pool, cluster, degrees, choices, refused, partial(_may_have, inside))
        setup.accepted = {**setup.accepted, **taken.pairs}
        came_out.append(taken.together)
        _tell(setup, pool, taken)
    before = setup.sizes_not_read
    follow(setup, came_out)
    if (left := setup.sizes_not_read - before) and setup.workload is not None:
        said = (
            f"degrees that follow from sizes: {left:,} counts on which several differ in another way than the planned ones are not planned"
        )
        setup.workload = replace(setup.workload, assumed=(*setup.workload.assumed, said))


def _may_have(components: Sequence[Component], count: int) -> bool:
    return all(each.may_have(count) for each in components)


def _tell(setup: Setup, pool: Pool, taken: Taken) -> None:
    """What is refused on every size, and what nobody read."""
    for name, always in taken.always.items():
        if always not in {finding.message for finding in setup.notes.findings}:
            message = f"verl refuses every size of `{pool.name}`, such as the largest: {always}"
            setup.notes.warn(PLANNED, name, message, pool.span("name") or setup.settings.top, "", MEND)
    if taken.unread and setup.workload is not None:
        setup.sizes_not_read += len(taken.unread)
        nodes, each = min(taken.unread, key=lambda size: (size[0] * size[1], size))
        said = f"sizes of `{pool.name}`: {len(taken.unread):,} of those that have room, such as {nodes} x {each}, are not planned"
        setup.workload = replace(setup.workload, assumed=(*setup.workload.assumed, said))


def _otherwise(amounts: MappingType[str, Amount], parallel: Parallel) -> dict[str, int]:
    """Key -> its number, of those that are not written already: so that what is the same for several components is read once."""
    return {amounts[degree].name: number for degree, number in changed(amounts, parallel).items()}


def _workload(setup: Setup, workload: Workload) -> Workload:
    """The workload of the file; what its block does not say is as verl does it.

    Pools that train and generate at the same time are steady: each works on what the other made before. In one pool all take turns.
    """
    said = said_of_plan(setup.settings.tree(HINTS))
    workload = as_it_runs(workload, said, asynchronous(setup))
    return workload if "workflow" in said else replace(workload, after=tuple(usual_order(setup.components)))
