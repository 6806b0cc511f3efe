"""Times and workload of a file with times.

Sources in RLinf:

- toolkits/auto_placement/util.py (init_global_config_reasoning, init_global_config_env), node.py and
  auto_placement_worker.py (get_workflow_graph).
- examples/embodiment/train_async.py (the losses that it runs),
  rlinf/workers/rollout/hf/async_huggingface_worker.py (wait_if_stale: with 0 nothing is generated
  before the weights are new).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Collection, Iterator, Mapping, Sequence

from ....component import Component, Parallel
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....findings.wording import do, with_noun
from ....hints.block import said_of_plan, timed_names
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment
from ....planning.workload import STEADY, TABLE, After, Measured, TimedComponent, Workload
from ....text.tree import Value
from ....times import as_it_runs
from ..known import INFERENCE, KEY, PLANS
from ..modes.parts import (
    CRITICS_INFERENCE,
    INFERRING,
    inference_degrees,
    inference_degrees_by_arrangement,
    rollout_degrees,
    rollout_degrees_by_arrangement,
    trained_degrees,
)
from .tables import BY_ENVIRONMENTS, Batch, ProfileData, Table, formula_of, generated_table, simulated_table, trained_table

BATCH = ("data.rollout_batch_size", "algorithm.group_size")
"""Settings that the batch of a step requires."""
Placed = Mapping[str, Component]
EMBODIED_MODEL = "rlinf-embodied"
"""Name of `RlinfEmbodied` in cost_models.py, which a file that is only read does not load."""


def assignment_of(placed: Placed) -> Assignment:
    """Return the assignment of components with ranks."""
    return Assignment({name: component.runs or () for name, component in placed.items()})


def reasoning(
    settings: Settings,
    cluster: Cluster,
    placed: Placed,
    profile: ProfileData,
    counts: Mapping[str, int],
    choices: Mapping[str, Sequence[Parallel]],
) -> dict[str, TimedComponent] | None:
    """Return component -> times, `inference` included if separate; None if a setting is unknown.

    Costs are those of a run in which actor and rollout share accelerators. If they are apart in the
    file, the run is assumed to be on all accelerators of the cluster, or of the node groups that
    both name. `counts`: accelerators from hints. With each of the `choices` of degrees a component
    may have the counts that the formulas give for replicas of that size.
    """
    batch, running = batch_of(settings), settings.whole("rollout.max_running_requests", PLANS, 1)
    if batch is None:
        return None
    total, shared = cluster.total(), measured_on(cluster, placed)[0]
    times: dict[str, TimedComponent] = {}
    for name, cost in profile.costs.items():
        if (name not in placed and not is_separate(settings, name, placed, times)) or (name in INFERRING and not infers(settings)):
            continue
        role, measured = INFERENCE.get(name), counts.get(name, shared)
        degrees = (
            rollout_degrees(settings)
            if name == "rollout"
            else inference_degrees(settings, role)
            if role
            else trained_degrees(settings, _trains(name))
        )
        own_degrees = degrees.parallel
        if own_degrees is None or running is None:
            return None
        table: Callable[[int], Table]
        if name == "rollout":
            table = partial(generated_table, cost, measured, running=running.value, batch=batch)
        else:
            formula = formula_of(settings.word(f"{role or name}.training_backend", PLANS))
            table = partial(trained_table, cost, measured, total=total, batch=batch, formula=formula)
        # On the actor's accelerators, engines have tp alone, and inference has the degrees of the
        # trained role.
        both_degrees = (
            rollout_degrees_by_arrangement(degrees)
            if name == "rollout"
            else inference_degrees_by_arrangement(settings, role)
            if role
            else None
        )
        candidates = dict.fromkeys([*(both_degrees or ()), *((own_degrees, *choices[name]) if name in choices else ())])
        rows = (
            [row for parallel in candidates for row in _measured(table(parallel.replica), parallel)]
            if candidates
            else _measured(table(own_degrees.replica))
        )
        times[name] = TimedComponent(tuple(rows), TABLE)
    return times


def _trains(name: str) -> str:
    return name if name == "critic" else "actor"


def measured_on(cluster: Cluster, placed: Placed) -> tuple[int, str]:
    """Return the accelerators behind the costs, and the assumption about them ("" if none)."""
    assignment, total = assignment_of(placed), cluster.total()
    if assignment.masks("actor") != assignment.masks("rollout"):
        labels = placed["actor"].node_groups
        size = cluster.numbering(labels).size if labels == placed["rollout"].node_groups else total
        where = f" of {' and '.join(f'`{label}`' for label in labels)}" if size < total else ""
        run = f"all {size} accelerators{where}; here they are apart"
        return size, f"the costs are taken as those of a run in which actor and rollout share {run}"
    measured = assignment.held("actor")
    note = f"the costs are taken as measured on {with_noun(measured, 'accelerator')}, which actor and rollout share in this file, not on all {total}"
    return measured, note if measured < total else ""


def batch_of(settings: Settings) -> Batch | None:
    """Return the batch of a step; None if a part is unknown."""
    prompts, group = (settings.whole(path, PLANS) for path in BATCH)
    updates = settings.whole("algorithm.n_minibatches", PLANS, 1)
    return Batch(prompts.value, group.value, updates.value) if prompts and group and updates else None


def is_separate(settings: Settings, name: str, placed: Collection[str], found: Collection[str]) -> bool:
    """Return True if inference is a component although the file does not place it.

    That is so where actor and rollout are apart.
    """
    if name == CRITICS_INFERENCE:
        return "critic" in placed and bool(settings.flag("critic.use_critic_model", PLANS))
    return name in INFERRING and infers(settings) and not set(INFERRING) & {*placed, *found}


def unstarted_inference(settings: Settings, placed: Collection[str], hinted: Collection[str]) -> list[str]:
    """Return inference components with hinted seconds that no program starts."""
    unplaced = [name for name in INFERENCE if name in hinted and name not in placed]
    unplaced = [name for name in unplaced if name == CRITICS_INFERENCE or not infers(settings)]
    return [name for name in unplaced if not is_separate(settings, name, placed, ())]


def infers(settings: Settings) -> bool:
    """Return True if probabilities are recomputed before training.

    A separate component does it where actor and rollout are apart.
    """
    return bool(settings.flag("algorithm.recompute_logprobs", PLANS) or settings.flag("algorithm.importance_sampling_fix", PLANS))


def _measured(table: Table, parallel: Parallel | None = None) -> list[Measured]:
    """Return the measurements of a table, for these degrees alone; None: for any."""
    return [Measured(count, row.nanoseconds, "", parallel, assumed=row.formula) for count, row in sorted(table.items())]


ENVIRONMENTS = ("data.env_num", "env.train.total_num_envs")
"""Keys of the number of environments: RLinf's tool reads the first, its workers the second."""


def embodied(
    settings: Settings, cluster: Cluster, placed: Placed, profile: ProfileData, counts: Mapping[str, int]
) -> dict[str, TimedComponent] | None:
    """Return component -> times; None if the number of environments is unknown.

    `counts`: accelerators of measured costs.
    """
    amount = environments(settings)
    if amount is None and profile.shares:
        return None
    assignment, times = assignment_of(placed), dict[str, TimedComponent]()
    for name, component in placed.items():
        total = cluster.numbering(component.node_groups).size
        if name in profile.shares and amount is not None:
            table = simulated_table(profile.shares[name], amount.value, total, even=name == "env")
        elif name in profile.costs:
            formula = formula_of(settings.word(f"{name}.training_backend", PLANS))
            table = trained_table(profile.costs[name], counts.get(name, assignment.held(name)), 1, total, Batch(1, 1, 1), formula)
        else:
            continue
        times[name] = TimedComponent(tuple(_measured(table)), TABLE)
    return times


def environments(settings: Settings) -> Amount | None:
    """Return the number of environments."""
    return next((amount for path in ENVIRONMENTS if settings.has(path) and (amount := settings.whole(path, PLANS))), None)


LEADERS = ("rollout", "actor", "env")
"""Preferred leaders of a component without times on accelerators of several planned ones."""
Lost = Callable[[str], int]
"""Number of counts of a planned component excluded by a follower."""


def along(placed: Placed, planned: Placed, lost: Mapping[str, Lost]) -> Iterator[tuple[str, str]]:
    """Yield (component, planned leader) for components without times on planned accelerators.

    The leader is the first on the same accelerators, else on some of them; a component in `lost`
    follows the first leader with the fewest excluded counts.
    """
    assignment = assignment_of(placed)
    order = [name for name in LEADERS if name in planned] + [name for name in planned if name not in LEADERS]
    for name in placed:
        component_masks = assignment.masks(name)
        equal = [candidate for candidate in order if assignment.masks(candidate) == component_masks]
        met = [
            candidate for candidate in order if any(mask & assignment.masks(candidate).get(key, 0) for key, mask in component_masks.items())
        ]
        first = [] if name in planned else [*equal, *met][:1]
        for leader in first:
            yield name, min([leader, *order], key=lost[name]) if name in lost else leader


def check_times(
    notes: Notes, settings: Settings, cluster: Cluster, placed: Placed, profile: ProfileData, times: Mapping[str, TimedComponent], task: str
) -> None:
    """Note findings where the settings of the job do not suit the times."""
    if task == "embodied":
        _check_environments(notes, settings, cluster, placed, profile, times)
        return
    batch, updates = batch_of(settings), settings.whole("algorithm.n_minibatches", PLANS, 1)
    if profile.costs and batch and updates and batch.samples % batch.updates:
        message = f"{with_noun(batch.samples, 'sample')} of a step {do(batch.samples)} not divide into {updates.said}: RLinf's own tool refuses that"
        notes.warn(PLANS, KEY, message, updates.span or settings.top, "", "choose a number that divides them")


def _check_environments(
    notes: Notes, settings: Settings, cluster: Cluster, placed: Placed, profile: ProfileData, times: Mapping[str, TimedComponent]
) -> None:
    """Note differing numbers of environments, and tables without a usable share."""
    tools, workers = (settings.whole(path, PLANS) if settings.has(path) else None for path in ENVIRONMENTS)
    if profile.shares and tools and workers and tools.value != workers.value:
        message = f"the times are those of {with_noun(tools.value, 'environment')} (`{tools.name}`, which RLinf's tool reads), but its workers start"
        message += f" {workers.value} (`{workers.name}`)"
        notes.warn(PLANS, KEY, message, tools.span or settings.top, "", f"write the same number for both, or drop `{tools.name}`")
    amount = environments(settings)
    for name, rows in profile.shares.items():
        if amount is None or name not in times or times[name].measured:
            continue
        total, most = cluster.numbering(placed[name].node_groups).size, max(rows)
        share = f"no share of {with_noun(amount.value, 'environment')} among up to {total} accelerators"
        message = f"impossible: `{BY_ENVIRONMENTS[name]}` has times for up to {most} on one accelerator, and {share} is among them"
        notes.error("PW601", name, message, profile.spans[name], "", "measure more numbers of environments, or add nodes")


LOSS, STALE, STAGES = "algorithm.loss_type", "algorithm.staleness_threshold", "rollout.pipeline_stage_num"
ONLY = "decoupled_actor_critic"
EITHER = ("embodied_sac", "embodied_dagger", "rlt_ac")
"""Losses that both of RLinf's programs run.

`train_embodied_agent.py` trains when all is generated; `train_async.py` does not wait.
"""


def _as_started(settings: Settings, workload: Workload, stated_keys: Collection[str], names: Collection[str]) -> Workload:
    """Return the workload of an embodied job, adapted to the starting program.

    `stated_keys` are the keys of its plan.
    """
    loss = settings.word(LOSS, PLANS)
    stale = settings.whole(STALE, PLANS, least=0) if settings.has(STALE) else None
    ahead = stale is not None and stale.value > 0
    adjusted = workload
    if loss == ONLY and (stale is None or ahead):
        adjusted = as_it_runs(workload, stated_keys, f"`{LOSS}: {ONLY}`")
    elif loss in EITHER and ahead:
        adjusted = as_it_runs(workload, stated_keys, f"`{STALE}`")
    elif loss in EITHER and "cost_model" not in stated_keys:
        how = f"cost model {workload.model}: the job is taken to train when all is generated, as `train_embodied_agent.py` has it;"
        how += f" where `train_async.py` starts it, write `cost_model: {STEADY}` in `placewright.plan`"
        adjusted = replace(workload, assumed=(*workload.assumed, how))
    stages = settings.whole(STAGES, PLANS, 1) if adjusted.model == STEADY and {"env", "rollout"} <= set(names) else None
    if stages is not None and stages.value == 1:
        note = f"env and rollout: counted as if neither waited for the other, as each does where they are apart (`{STAGES}: 1`)"
        adjusted = replace(adjusted, assumed=(*adjusted.assumed, note))
    return adjusted


def with_rlinf_defaults(
    settings: Settings, task: str, workload: Workload, components: Sequence[Component], hints: Value | None
) -> Workload:
    """Return the workload of components with times; unstated keys follow RLinf.

    Batches are the prompts of a step; in an embodied job they are the stages of the pipeline, and
    training begins after all rollouts.
    """
    stated_keys, is_embodied, names = said_of_plan(hints), task == "embodied", [component.name for component in components]
    if is_embodied:
        assumed = (*workload.assumed, *_counts_of_actor(components, timed_names(hints)))
        workload = _as_started(settings, replace(workload, assumed=assumed), stated_keys, names)
    by_environment = workload.model == EMBODIED_MODEL
    if "workflow" not in stated_keys:
        edges = _embodied_order(names, by_environment) if is_embodied else _reasoning_order(names)
        workload = replace(workload, after=tuple(edges))
    if "batches" not in stated_keys and is_embodied:
        amount = environments(settings) if by_environment else settings.whole(STAGES, PLANS, 1)
        workload = replace(workload, batches=amount.value if amount else 1)
    elif "batches" not in stated_keys:
        batch = batch_of(settings)
        workload = replace(workload, batches=batch.prompts if batch else 1)
    return replace(workload, nested=True) if is_embodied and "nested" not in stated_keys else workload


def _counts_of_actor(components: Sequence[Component], hinted: Collection[str]) -> Iterator[str]:
    """Yield a note that RLinf's tool plans an embodied actor on at most two counts.

    They are one accelerator and the measured number.
    """
    timed = next((component.timed for component in components if component.name == "actor" and component.name not in hinted), None)
    if timed is not None and timed.scaling == TABLE and len(timed.measured) <= 2:
        counts = " or ".join(str(count) for count in sorted({row.accelerators for row in timed.measured}))
        yield f"actor: on {counts} alone, as RLinf's tool has it; `seconds` of it in `placewright.components`, by count, let it be on others"


def _embodied_order(names: Collection[str], by_environment: bool) -> Iterator[After]:
    """Yield the order of an embodied job: env and rollout by stage, then training.

    Training waits for all stages, except in RLinf's own estimate.
    """
    chain = [name for name in ("env", "rollout", "actor") if name in names]
    yield from (After(before, after, after == "actor" and not by_environment) for before, after in zip(chain, chain[1:]))


def _reasoning_order(names: Collection[str]) -> Iterator[After]:
    """Yield the order rollout -> inference -> trained component; others have none.

    Without inference, rollout -> trained component.
    """
    inference = list({INFERENCE[name]: name for name in INFERENCE if name in names}.values())
    yield from (After("rollout", name) for name in inference)
    yield from (After(name, trains) for trains in ("actor", "critic") if trains in names for name in inference or ["rollout"])
