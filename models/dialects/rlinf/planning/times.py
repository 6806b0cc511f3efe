"""Times and workload of a file with times.

Sources in RLinf:

- toolkits/auto_placement/util.py (init_global_config_reasoning) and node.py.
- toolkits/auto_placement/util.py (init_global_config_env) and node.py.
- examples/embodiment/train_async.py (the losses that it runs; no other program has the workers of the first),
  rlinf/workers/rollout/hf/async_huggingface_worker.py (wait_if_stale: with 0 nothing is generated before the weights
  are new).
- toolkits/auto_placement/auto_placement_worker.py (get_workflow_graph).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Collection, Iterator, Mapping, Sequence

from ....component import Component, Parallel
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....findings.wording import are, do, with_noun
from ....hints.said import said_of_plan, timed_names
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment
from ....planning.measured import TABLE, Measured
from ....planning.workload import RLINF_EMBODIED, STEADY, After, Timed, Workload
from ....text.tree import Value
from ....times.usual import as_it_runs
from ..known import FSDP, INFERENCE, KEY, PLANS
from ..modes.parts import generated_otherwise, generating, inferred, inferred_otherwise, inferring, trained
from .tables import BY_ENVIRONMENTS, Batch, Profile, Table, formula_of, generated_table, simulated_table, trained_table

OF_ACTOR, CRITICS = ("inference", "actor_inference"), "critic_inference"
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
    batch, running = batch_of(settings), settings.whole("rollout.max_running_requests", PLANS, 1)
    if batch is None:
        return None
    total, shared = cluster.total(), measured_on(cluster, placed)[0]
    found: dict[str, Timed] = {}
    for name, cost in profile.costs.items():
        if name not in placed and not besides(settings, name, placed, found):
            continue
        if name in OF_ACTOR and not infers(settings):
            continue
        own, measured = _own(settings, name), counts.get(name, shared)
        if own is None or running is None:
            return None

        if name == "rollout":
            table = partial(generated_table, cost.nanoseconds, measured, running=running.value, batch=batch)
        else:
            formula = formula_of(settings.word(f"{INFERENCE.get(name, name)}.training_backend", PLANS))
            table = partial(trained_table, cost.nanoseconds, measured, total=total, batch=batch, formula=formula)
        role = INFERENCE.get(name)
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
    prompts, group = (settings.whole(path, PLANS) for path in BATCH)
    updates = settings.whole("algorithm.n_minibatches", PLANS, 1)
    return Batch(prompts.value, group.value, updates.value) if prompts and group and updates else None


def besides(settings: Settings, name: str, placed: Collection[str], found: Collection[str]) -> bool:
    """Is it a component of its own where actor and rollout are apart, though the file does not place it?"""
    if name == CRITICS:
        return "critic" in placed and bool(settings.flag("critic.use_critic_model", PLANS))
    return name in OF_ACTOR and infers(settings) and not set(OF_ACTOR) & {*placed, *found}


def unstarted(settings: Settings, placed: Collection[str], hinted: Collection[str]) -> list[str]:
    """Of components whose hints say seconds, those that infer and are started nowhere: nobody asks for what they compute."""
    asked = (name for name in INFERENCE if name in hinted and name not in placed)
    return [name for name in asked if (name == CRITICS or not infers(settings)) and not besides(settings, name, placed, ())]


def infers(settings: Settings) -> bool:
    """Are probabilities computed once more before training, by a component of their own where actor and rollout are apart?"""
    return bool(settings.flag("algorithm.recompute_logprobs", PLANS) or settings.flag("algorithm.importance_sampling_fix", PLANS))


def timed(table: Table) -> Timed:
    """A table as measurements: only its counts are possible."""
    return Timed(_measured(table), TABLE)


def _measured(table: Table, parallel: Parallel | None = None) -> tuple[Measured, ...]:
    """The measurements of a table, for these degrees alone; for any where there are none."""
    return tuple(Measured(count, row.nanoseconds, "", parallel, assumed=row.formula) for count, row in sorted(table.items()))


def _own(settings: Settings, name: str) -> Parallel | None:
    """The degrees that the file has for a component; None where they are not known."""
    role = INFERENCE.get(name)
    if name == "rollout":
        return generating(settings).parallel
    return (inferred(settings, role) if role else trained(settings, name if name == "critic" else "actor")).parallel


ENVIRONMENTS = ("data.env_num", "env.train.total_num_envs")
"""Where their number stands: RLinf's tool reads the first, its workers the second."""


def embodied(
    settings: Settings, cluster: Cluster, placed: Mapping[str, Component], profile: Profile, counts: Mapping[str, int]
) -> dict[str, Timed] | None:
    """Component -> its times; None where the number of environments is not known. `counts`: those that costs were measured on, where said."""
    amount = environments(settings)
    if amount is None and profile.shares:
        return None
    held = Assignment({name: its.runs or () for name, its in placed.items()})
    found: dict[str, Timed] = {}
    for name in placed:
        total = cluster.numbering(placed[name].node_groups).size
        if name in profile.shares and amount is not None:
            found[name] = timed(simulated_table(profile.shares[name].seconds, amount.value, total, even=name == "env"))
        elif name in profile.costs:
            measured = counts.get(name, held.held(name))
            formula = formula_of(settings.word(f"{name}.training_backend", PLANS))
            found[name] = timed(trained_table(profile.costs[name].nanoseconds, measured, 1, total, Batch(1, 1, 1), formula))
    return found


def environments(settings: Settings) -> Amount | None:
    """How many environments there are."""
    return next((amount for path in ENVIRONMENTS if settings.has(path) and (amount := settings.whole(path, PLANS))), None)


LEADERS = ("rollout", "actor", "env")
"""With which of the planned ones a component goes along that has no time and lies on the accelerators of several."""
Lost = Callable[[str], int]
"""How many counts of a planned component its follower cannot have."""


def along(placed: Mapping[str, Component], planned: Mapping[str, Component], lost: Mapping[str, Lost]) -> Iterator[tuple[str, str]]:
    """(component, the planned one that it goes along with), for those without times on accelerators of planned ones.

    It is the first on the same accelerators, or on some of them. One in `lost` is bound to no accelerators, only to counts: it goes
    along with the first that loses the fewest by it.
    """
    held = Assignment({name: its.runs or () for name, its in placed.items()})
    order = [name for name in LEADERS if name in planned] + [name for name in planned if name not in LEADERS]
    for name in placed:
        if name in planned:
            continue
        mine = held.masks(name)
        equal = [each for each in order if held.masks(each) == mine]
        met = [each for each in order if any(mask & held.masks(each).get(key, 0) for key, mask in mine.items())]
        first = [*equal, *met][:1]
        if first and name in lost:
            first = [min([*first, *order], key=lost[name])]
        yield from ((name, leader) for leader in first)


IMPOSSIBLE = "PW601"


def of_environments(notes: Notes, settings: Settings) -> None:
    """A warning where the number that the times are taken for is not the one that the workers start."""
    first, second = (settings.whole(path, PLANS) if settings.has(path) else None for path in ENVIRONMENTS)
    if first and second and first.value != second.value:
        message = f"the times are those of {with_noun(first.value, 'environment')} (`{first.name}`, which RLinf's tool reads), but its workers start"
        message += f" {second.value} (`{second.name}`)"
        notes.warn(PLANS, KEY, message, first.span or settings.top, "", f"write the same number for both, or drop `{first.name}`")


def of_updates(notes: Notes, settings: Settings) -> None:
    """A warning where the samples of a step are no whole number of updates."""
    batch = batch_of(settings)
    updates = settings.whole("algorithm.n_minibatches", PLANS, 1)
    if batch and updates and batch.samples % batch.updates:
        message = f"{with_noun(batch.samples, 'sample')} of a step {do(batch.samples)} not divide into {updates.said}: RLinf's own tool refuses that"
        message += f", and here an update is taken to be {batch.samples // batch.updates} of them"
        notes.warn(PLANS, KEY, message, updates.span or settings.top, "", "choose a number that divides them")


def of_rows(
    notes: Notes, settings: Settings, cluster: Cluster, placed: Mapping[str, Component], profile: Profile, times: Mapping[str, Timed],
    hinted: Collection[str],
) -> None:  # fmt: skip
    """An error for each component that no number of accelerators gives a share of environments that its table has a time for."""
    amount = environments(settings)
    for name in profile.shares:
        if amount is None or name in hinted or name not in times or times[name].measured:
            continue
        rows, key = profile.shares[name], BY_ENVIRONMENTS[name]
        total = cluster.numbering(placed[name].node_groups).size
        most, least = max(rows.seconds), -(-amount.value // total)
        message = f"impossible: `{key}` has times for {with_noun(most, 'environment')} on one accelerator at most, and {amount.value} on {total} {are(amount.value)}"
        message += f" {least} on each" if least > most else " none of its numbers on each"
        help = f"measure {least} on one accelerator, or add nodes" if least > most else "measure more numbers of environments"
        notes.error(IMPOSSIBLE, name, message, rows.span, "", help)


LOSS, STALE, STAGES = "algorithm.loss_type", "algorithm.staleness_threshold", "rollout.pipeline_stage_num"
ONLY = "decoupled_actor_critic"
TRAINS = "actor"
EITHER = ("embodied_sac", "embodied_dagger", "rlt_ac")
"""Losses that both of RLinf's programs run: `train_embodied_agent.py`, which trains when all is generated, and `train_async.py`."""


def as_started(settings: Settings, workload: Workload, said: Collection[str], names: Collection[str]) -> Workload:
    """The workload by the program that starts the job, with what is taken for granted of that.

    `said` are the keys of its plan, `names` the components that have times.
    """
    loss = settings.word(LOSS, PLANS)
    stale = settings.whole(STALE, PLANS, least=0) if settings.has(STALE) else None
    ahead = stale is not None and stale.value > 0
    found = workload
    if loss == ONLY and (stale is None or ahead):
        found = as_it_runs(workload, said, f"`{LOSS}: {ONLY}`")
    elif loss in EITHER and ahead:
        found = as_it_runs(workload, said, f"`{STALE}`")
    elif loss in EITHER and "cost_model" not in said:
        how = f"cost model {workload.model}: the job is taken to train when all is generated, as `train_embodied_agent.py` has it;"
        how += f" where `train_async.py` starts it, write `cost_model: {STEADY}` in `placewright.plan`"
        found = replace(workload, assumed=(*workload.assumed, how))
    if found.model == STEADY and {"env", "rollout"} <= set(names):
        stages = settings.whole(STAGES, PLANS, 1)
        if stages is not None and stages.value == 1:
            apart = f"env and rollout: counted as if neither waited for the other, as each does where they are apart (`{STAGES}: 1`)"
            found = replace(found, assumed=(*found.assumed, apart))
    return found


_FEW = 2
"""One accelerator, and those on which it was measured: what RLinf's formula knows of an embodied job."""


def as_rlinf(settings: Settings, task: str, workload: Workload, components: Sequence[Component], hints: Value | None) -> Workload:
    """The workload of the file, whose `components` have times; what its block does not say is as RLinf does it.

    Batches are the prompts of a step, of an embodied job the stages of its pipeline. There training begins when all rollouts are done.
    """
    said, embodied, names = said_of_plan(hints), task == "embodied", [each.name for each in components]
    if embodied:
        of_profile = [each for each in components if each.name not in timed_names(hints)]
        workload = replace(workload, assumed=(*workload.assumed, *_counts_of_actor(of_profile), *_unread(settings, components)))
        workload = as_started(settings, workload, said, names)
    else:
        workload = replace(workload, assumed=(*workload.assumed, *_undivided(settings, names)))
    if "workflow" not in said:
        edges = _embodied(names, workload.model == RLINF_EMBODIED) if embodied else _reasoning(names)
        workload = replace(workload, after=tuple(edges))
    if "batches" not in said:
        workload = replace(workload, batches=_batches(settings, embodied, workload.model == RLINF_EMBODIED))
    if embodied and "nested" not in said:
        workload = replace(workload, nested=True)
    return workload


def _counts_of_actor(components: Sequence[Component]) -> Iterator[str]:
    """That RLinf's tool knows few counts of what trains in an embodied job, so that no others are planned."""
    timed = next((each.timed for each in components if each.name == "actor"), None)
    if timed is not None and timed.scaling == TABLE and len(timed.measured) <= _FEW:
        counts = " or ".join(str(count) for count in sorted({each.accelerators for each in timed.measured}))
        yield f"actor: on {counts} alone, as RLinf's tool has it; `seconds` of it in `placewright.components`, by count, let it be on others"


def _unread(settings: Settings, components: Sequence[Component]) -> Iterator[str]:
    """That degrees that hints say of what FSDP trains are read nowhere in an embodied job."""
    hinted = any(each.name == TRAINS and "parallel" in each.spans for each in components)
    if hinted and settings.word(f"{TRAINS}.training_backend", PLANS) == FSDP:
        yield f"{TRAINS}: on any count, whatever tp is said of it: RLinf reads none of what FSDP trains in an embodied job"


def _undivided(settings: Settings, names: Collection[str]) -> Iterator[str]:
    """That FSDP runs inference with no tp, whatever the file says: RLinf looks only whether it has as many accelerators."""
    for name, role in INFERENCE.items():
        if name in names and settings.word(f"{role}.training_backend", PLANS) == FSDP:
            tp = inferring(settings, role)
            if tp is not None and tp.value > 1:
                yield f"{name}: tp 1, as FSDP divides no layer; by its tp (`{tp.name}`) RLinf only wants at least as many accelerators"


def _batches(settings: Settings, embodied: bool, by_environment: bool) -> int:
    if not embodied:
        batch = batch_of(settings)
        return batch.prompts if batch else 1
    amount = environments(settings) if by_environment else settings.whole("rollout.pipeline_stage_num", PLANS, 1)
    return amount.value if amount else 1


def _embodied(names: Collection[str], by_environment: bool) -> Iterator[After]:
    """The simulator and its policy answer each other, stage by stage; training waits for all of it, but in RLinf's own estimate."""
    chain = [name for name in ("env", "rollout", "actor") if name in names]
    yield from (After(one, other, other == "actor" and not by_environment) for one, other in zip(chain, chain[1:]))


def _reasoning(names: Collection[str]) -> Iterator[After]:
    """rollout -> inference -> what trains; without inference rollout -> what trains; other components where no one says it: nowhere."""
    inferring = {INFERENCE[name]: name for name in INFERENCE if name in names}
    yield from (After("rollout", name) for name in inferring.values())
    for trains in ("actor", "critic"):
        if trains in names:
            before = list(inferring.values()) or ["rollout"]
            yield from (After(name, trains) for name in before)
