"""The times of a reasoning job: RLinf's formulas, for every component with a cost.

Source: RLinf, toolkits/auto_placement/util.py (init_global_config_reasoning) and node.py.
"""

from __future__ import annotations

from functools import partial
from typing import Collection, Mapping, Sequence

from ....component import Component, Parallel
from ....configuration.settings import Settings
from ....findings.wording import with_noun
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment
from ....planning.measured import TABLE, Measured
from ....planning.workload import Timed
from ..capabilities import INFERENCE as ROLES
from ..modes.degrees import generated_otherwise, generating, inferred, inferred_otherwise, trained
from .profile import Profile
from .tables import Batch, Table, formula_of, generated
from .tables import trained as trained_on

CODE = "PW604"
INFERENCE, CRITICS = ("inference", "actor_inference"), "critic_inference"
BATCH = ("data.rollout_batch_size", "algorithm.group_size")
"""Without these nothing is known of the batch of a step."""


def reasoning(
    settings: Settings, cluster: Cluster, placed: Mapping[str, Component], profile: Profile, counts: Mapping[str, int],
    choices: Mapping[str, Sequence[Parallel]],
) -> dict[str, Timed] | None:  # fmt: skip
    """Component -> its times, `inference` among them where it is a part of its own; None where a setting is not known.

    The costs are those of a run in which actor and rollout share their accelerators. Where the file has them apart, that run is taken
    to have been on all accelerators of the cluster, or of the node groups that both name. `counts`: where it is said. `choices` are
    degrees that hints leave open: with each of them a component may be on the counts that the formulas have for replicas of that size.
    """
    batch, running = batch_of(settings), settings.whole("rollout.max_running_requests", CODE, 1)
    if batch is None:
        return None
    total, shared = cluster.total(), measured_on(cluster, placed)[0]
    found: dict[str, Timed] = {}
    for name, cost in profile.costs.items():
        if name not in placed and not besides(settings, name, placed, found):
            continue
        if name in INFERENCE and not infers(settings):
            continue
        own, measured = _own(settings, name), counts.get(name, shared)
        if own is None or running is None:
            return None

        if name == "rollout":
            table = partial(generated, cost.nanoseconds, measured, running=running.value, batch=batch)
        else:
            formula = formula_of(settings.word(f"{ROLES.get(name, name)}.training_backend", CODE))
            table = partial(trained_on, cost.nanoseconds, measured, total=total, batch=batch, formula=formula)
        role = ROLES.get(name)
        # Then those of what trains hold where that does its work, and engines of tp alone on the accelerators of the actor.
        otherwise = (generated_otherwise(generating(settings)) if name == "rollout" else role and inferred_otherwise(settings, role)) or ()
        if every := [*otherwise, *([own, *choices[name]] if name in choices else [])]:
            found[name] = Timed(tuple(row for each in dict.fromkeys(every) for row in _measured(table(each.replica), each)), TABLE)
        else:
            found[name] = timed(table(own.replica))
    return found


def measured_on(cluster: Cluster, placed: Mapping[str, Component]) -> tuple[int, str]:
    """On how many accelerators the costs were measured, and what was assumed for that; "" if nothing was."""
    held, total = Assignment({name: its.runs or () for name, its in placed.items()}), cluster.total()
    if held.masks("actor") != held.masks("rollout"):
        labels = placed["actor"].node_groups
        size = cluster.numbering(labels).size if labels == placed["rollout"].node_groups else total
        where = f" of {' and '.join(f'`{label}`' for label in labels)}" if size < total else ""
        return (
            size,
            f"the costs are taken as those of a run in which actor and rollout share all {size} accelerators{where}; here they are apart",
        )
    measured = held.held("actor")
    said = f"the costs are taken as measured on {with_noun(measured, 'accelerator')}, which actor and rollout share in this file, not on all {total}"
    return measured, said if measured < total else ""


def batch_of(settings: Settings) -> Batch | None:
    """The batch of a step; None where a number of it is not known."""
    prompts, group = (settings.whole(path, CODE) for path in BATCH)
    updates = settings.whole("algorithm.n_minibatches", CODE, 1)
    return Batch(prompts.value, group.value, updates.value) if prompts and group and updates else None


def besides(settings: Settings, name: str, placed: Collection[str], found: Collection[str]) -> bool:
    """Is it a component of its own where actor and rollout are apart, though the file does not place it?"""
    if name == CRITICS:
        return "critic" in placed and bool(settings.flag("critic.use_critic_model", CODE))
    return name in INFERENCE and infers(settings) and not set(INFERENCE) & {*placed, *found}


def unstarted(settings: Settings, placed: Collection[str], hinted: Collection[str]) -> list[str]:
    """Of components whose hints say seconds, those that infer and are started nowhere: nobody asks for what they compute."""
    asked = (name for name in ROLES if name in hinted and name not in placed)
    return [name for name in asked if (name == CRITICS or not infers(settings)) and not besides(settings, name, placed, ())]


def infers(settings: Settings) -> bool:
    """Are probabilities computed once more before training, by a component of their own where actor and rollout are apart?"""
    return bool(settings.flag("algorithm.recompute_logprobs", CODE) or settings.flag("algorithm.importance_sampling_fix", CODE))


def timed(table: Table) -> Timed:
    """A table as measurements: only its counts are possible."""
    return Timed(_measured(table), TABLE)


def _measured(table: Table, parallel: Parallel | None = None) -> tuple[Measured, ...]:
    """The measurements of a table, for these degrees alone; for any where there are none."""
    return tuple(Measured(count, row.nanoseconds, "", parallel, assumed=row.formula) for count, row in sorted(table.items()))


def _own(settings: Settings, name: str) -> Parallel | None:
    """The degrees that the file has for a component; None where they are not known."""
    role = ROLES.get(name)
    if name == "rollout":
        return generating(settings).parallel
    return (inferred(settings, role) if role else trained(settings, name if name == "critic" else "actor")).parallel
