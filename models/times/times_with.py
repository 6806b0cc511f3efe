"""What is known of the times of a job with the degrees that were chosen for its components."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Mapping

from ..job import Job
from ..parallel import Parallel
from ..planning.workload import Timed


def times_with(job: Job, degrees: Mapping[str, Parallel]) -> dict[str, Timed]:
    """Component -> its times, of those that have some: with what follows from the choice, and of those with `degrees` what holds with these."""
    changes = next(
        (each.changes for each in job.planning.followed if all(degrees.get(name) == its for name, its in each.degrees.items())), {}
    )
    found = {}
    for each in job.components:
        changed = changes.get(each.name)
        timed = changed.timed if changed is not None and changed.timed is not None else each.timed
        if timed is not None:
            found[each.name] = holding(timed, degrees[each.name]) if each.name in degrees else timed
    return found


def holding(timed: Timed, parallel: Parallel) -> Timed:
    """The measurements that hold with these degrees, without their names: of what was measured on a count those that name degrees, if any do."""
    its = [row for row in timed.measured if row.holds_with(parallel)]
    named = {(row.phase, row.accelerators) for row in its if row.parallel is not None}
    kept = (row for row in its if row.parallel is not None or (row.phase, row.accelerators) not in named)
    return replace(timed, measured=tuple(replace(row, parallel=None) for row in kept))


def shortest(timed: Timed, parallel: Parallel) -> float:
    """The shortest that was measured with these degrees, in nanoseconds; infinite where none was."""
    return min((row.nanoseconds for row in timed.measured if row.holds_with(parallel)), default=inf)
