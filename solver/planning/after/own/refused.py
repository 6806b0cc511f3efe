"""Why the file's own count of a component is none that may be planned."""

from __future__ import annotations

from .....models.component import Component, Parallel
from .....models.findings.wording import are, with_noun
from .....models.memory.shards import not_whole, whole_groups
from .....models.placements.assignment import Assignment
from .....models.problem import Problem
from ....rules.amounts.all_placed import asked_for
from ....rules.amounts.even_shares import EvenShares


def refused(problem: Problem, component: Component, amount: int, parallel: Parallel) -> str:
    """The first of what speaks against so many accelerators of a component with these degrees, as a sentence; "" if that is not known."""
    for share in problem.shares:
        if share.component == component.name and not share.divides(amount // component.per_process):
            own = Assignment({component.name: problem.job.own.get(component.name) or component.runs or ()})
            for finding in EvenShares().check(problem, share, own):
                return finding.message
    if not component.may_have(amount):
        return f"`{component.name}` is to have {asked_for(component, 'accelerator')}, not {amount}"
    choices = problem.job.choices.get(component.name, (parallel,))
    if parallel not in choices:
        return f"`{component.name}` is to have {' or '.join(map(str, choices))}, not {parallel}"
    taken = problem.job.accepted.get(component.name)
    if taken is not None and (amount, parallel) not in taken:
        runs = f"the framework does not run `{component.name}` on {amount} with {parallel}"
        return f"{runs}: pools, batches or replicas do not divide so, as `verify --level training` tells"
    divided = problem.divided(component.name, parallel)
    if left := amount % divided.replica:
        whole = f"plans are of whole replicas, and {with_noun(left, 'accelerator')} {are(left)} left"
        return f"the {with_noun(amount, 'accelerator')} of `{component.name}` {are(amount)} no multiple of {divided}: {whole}"
    if not whole_groups(component.divided_among, amount, divided):
        return not_whole(component.name, amount // (divided.tp * divided.pp), component.divided_among)
    timed = component.timed
    replicas = amount // divided.replica
    if timed and timed.samples and (not replicas or timed.samples % replicas):
        return f"{timed.samples} samples do not divide among the {replicas} replicas of `{component.name}`"
    return ""
