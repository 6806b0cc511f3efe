"""Times and workload of a file with times: `profile_data` and RLinf's formulas.

Sources in RLinf:

- docs (guides/auto_placement) and toolkits/auto_placement/{util,node}.py
  (init_global_config_reasoning, init_global_config_env, get_valid_gpu_num_list),
  auto_placement_worker.py (get_workflow_graph) and fitter.py, which fits curves by scipy. Any
  `<component>_cost` is read.
- examples/embodiment/train_async.py (the losses that it runs),
  rlinf/workers/rollout/hf/async_huggingface_worker.py (wait_if_stale: with 0 nothing is generated
  before the weights are new).

The tables have the time of an iteration; the tool divides it by the number of batches for the time
of a batch.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, Callable, Collection, Iterator, Mapping, NamedTuple, Sequence

from ....component import Component, Parallel
from ....configuration.notes import Notes
from ....configuration.parts import is_absent
from ....configuration.settings import Amount, Settings
from ....findings.span import Span
from ....findings.wording import with_noun
from ....hints.block import find_plan_keys, timed_names
from ....hints.seconds import duration
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment
from ....planning.curves import fit
from ....planning.workload import SECOND, STEADY, TABLE, After, Measurement, TimedComponent, Workload
from ....quantity import AdviceError
from ....record import dataclass
from ....text.tree import MapNode, Scalar, Value
from ....times import as_it_runs
from ..known import COST, CRITICS_INFERENCE, INFERENCE, INFERRING, KEY, MEGATRON, PLANS, report
from ..modes.state import degrees_by_arrangement, degrees_of

BY_ENVIRONMENTS = {"env": "env_profile_data", "rollout": "rollout_profile_data"}
"""Component -> key of seconds by the number of environments on an accelerator."""


@dataclass(frozen=True)
class ProfileData:
    """Times of the section `profile_data`.

    Attributes
    ----------
    costs : component -> nanoseconds per iteration.
    shares : component -> seconds per iteration, by the number of environments on one accelerator.
    spans : component -> span of its time.
    """

    costs: Mapping[str, int]
    shares: Mapping[str, Mapping[int, Fraction]]
    spans: Mapping[str, Span]

    def span(self, name: str = "") -> Span | None:
        """Return the span of a component's time, by default of the first cost."""
        return self.spans.get(name or next(iter(self.costs), ""))


def read_profile(notes: Notes, settings: Settings) -> ProfileData:
    """Return the section (empty if missing); note values that are no seconds."""
    section = settings.at(KEY)
    costs, shares, spans = dict[str, int](), dict[str, Mapping[int, Fraction]](), dict[str, Span]()
    for entry in section if isinstance(section, MapNode) else ():
        name = entry.key.text.removesuffix(COST)
        if name != entry.key.text and (cost := _seconds(notes, settings, f"{KEY}.{entry.key.text}")) is not None:
            costs[name], spans[name] = cost, entry.value.span
    for name, key in BY_ENVIRONMENTS.items():
        table = settings.at(f"{KEY}.{key}")
        if isinstance(table, MapNode) and (rows := dict(_read_rows(notes, settings, key, table))):
            shares[name], spans[name] = rows, table.span
    return ProfileData(costs, shares, spans)


def _read_rows(notes: Notes, settings: Settings, key: str, table: MapNode) -> Iterator[tuple[int, Fraction]]:
    for entry in table:
        count = entry.key.text
        if not (count.isascii() and count.isdecimal() and len(count) < 10 and int(count)):
            report(notes, "environments no number", KEY, entry.key, key=key, count=count[:40])
        elif (seconds := _seconds(notes, settings, f"{KEY}.{key}.{count}")) is not None:
            yield int(count), Fraction(seconds, SECOND)


def _seconds(notes: Notes, settings: Settings, path: str) -> int | None:
    value = settings.at(path)
    if value is None or is_absent(value):
        return None
    try:
        return duration(value.value if isinstance(value, Scalar) else value)
    except ValueError as wrong:
        advice = wrong.advice if isinstance(wrong, AdviceError) else "write the seconds of an iteration, such as `59.9`"
        notes.error("PW105", path, f"`{path}`: {wrong}", value, "no seconds", advice)
        return None


def is_started(settings: Settings, name: str, names: Collection[str]) -> bool:
    """Return True if programs start an inference component with actor and rollout apart."""
    if name == CRITICS_INFERENCE:
        return "critic" in names and bool(settings.flag("critic.use_critic_model", PLANS))
    return name in INFERRING and infers(settings)


def is_separate(settings: Settings, name: str, names: Collection[str], with_times: Collection[str]) -> bool:
    """Return True if inference is a component although unplaced: actor and rollout are apart."""
    return is_started(settings, name, names) and (name == CRITICS_INFERENCE or not set(INFERRING) & {*names, *with_times})


def infers(settings: Settings) -> bool:
    """Return True if probabilities are recomputed, by a separate component if apart."""
    return bool(settings.flag("algorithm.recompute_logprobs", PLANS) or settings.flag("algorithm.importance_sampling_fix", PLANS))


MEGATRON_FORMULA = "RLinf's formula for Megatron"
"""Formula that RLinf's tool uses for any trained or probability-computing component.

See `formula_of`.
"""


Table = Mapping[int, Measurement]
"""Accelerators -> time of an iteration; other counts are infeasible."""


class Batch(NamedTuple):
    """Prompts of a step, samples per prompt, and updates per step.

    Keys: `data.rollout_batch_size`, `algorithm.group_size`, `algorithm.n_minibatches`.
    """

    prompts: int
    group: int
    updates: int

    @property
    def samples(self) -> int:
        """Number of samples per step."""
        return self.prompts * self.group


def formula_of(backend: str | None) -> str:
    """Return the name of the formula for a backend; the formula is meant for Megatron."""
    return MEGATRON_FORMULA if backend == MEGATRON else f"{MEGATRON_FORMULA}, taken for {'FSDP' if backend == 'fsdp' else 'this'} too"


def trained_table(nanoseconds: int, measured_on: int, replica: int, total: int, batch: Batch, formula: str = MEGATRON_FORMULA) -> Table:
    """Return the table of a trained or probability-computing component.

    Replicas have `replica` accelerators; the cost was measured on `measured_on` of `total`. The
    number of replicas divides the groups of an update. s times fewer accelerators take s times as long,
    divided by 1 + s / 10 (at least 1.1, at most 1.9), the gain from less communication.
    """
    update = batch.samples // batch.updates
    replicas = [count for count in range(1, total // replica + 1) if update % (count * batch.group) == 0]
    table = {}
    for count in [count * replica for count in replicas] or range(replica, total + 1, replica):
        if count < measured_on:
            slower = Fraction(measured_on, count)
            gain = 1 + min(Fraction(9, 10), max(slower / 10, Fraction(1, 10)))
            table[count] = Measurement(count, round(nanoseconds * slower / gain), assumed=formula)
    return {**table, measured_on: Measurement(measured_on, nanoseconds)}


def generated_table(nanoseconds: int, measured_on: int, engine: int, running: int, batch: Batch) -> Table:
    """Return the table of rollout in engines of `engine` accelerators.

    An engine runs at most `running` requests; from 128 on, nine tenths count as its capacity.
    Rollout is as fast as measured while the engines can run all samples at once; else the time
    grows as the accelerators become fewer.
    """
    capacity = -(-running * 9 // 10) if running >= 128 else running
    table = {}
    for count in range(engine, measured_on, engine):
        slower = 1 if count // engine * capacity >= batch.samples else Fraction(measured_on, count)
        table[count] = Measurement(count, round(nanoseconds * slower), assumed="RLinf's formula for rollout")
    return {**table, measured_on: Measurement(measured_on, nanoseconds)}


def simulated_table(profile: Mapping[int, Fraction], environments: int, total: int, even: bool) -> Table:
    """Return the table of environments dealt to processes with an accelerator each.

    `profile`: seconds by the number of environments on one accelerator. `even`: every process must
    have equally many; else the time of the smaller share counts. More environments per accelerator
    than measured are infeasible; between measurements a curve is used.
    """
    table, curve = dict[int, Measurement](), None
    for count in range(1, min(total, environments) + 1):
        share = environments // count
        if (even and environments % count) or share > max(profile):
            continue
        if share in profile:
            table[count] = Measurement(count, round(profile[share] * SECOND))
        elif (curve := curve or fit(tuple(profile.items()))) is not None and (seconds := curve.curve(share)) > 0:
            formula = f"a curve {curve.family} through the measured ones, as RLinf fits it"
            table[count] = Measurement(count, max(1, round(seconds * SECOND)), assumed=formula)
    return table


BATCH = ("data.rollout_batch_size", "algorithm.group_size")
"""Settings that the batch of a step requires."""
ENVIRONMENTS = ("data.env_num", "env.train.total_num_envs")
"""Keys of the number of environments: RLinf's tool reads the first, its workers the second."""
ComponentsByName = Mapping[str, Component]
EMBODIED_MODEL = "rlinf-embodied"
"""Name of `RlinfEmbodied` in cost_models.py, which a file that is only read does not load."""


@dataclass(frozen=True)
class TimedFile:
    """File with times.

    Attributes
    ----------
    placed : components with ranks on accelerators.
    profile : times of the section `profile_data`.
    hints : block `placewright` of the file.
    """

    notes: Notes
    settings: Settings
    cluster: Cluster
    task: str
    placed: ComponentsByName
    profile: ProfileData
    hints: Value | None

    @property
    def hinted(self) -> frozenset[str]:
        """Components with `seconds` in their hints."""
        return timed_names(self.hints)

    @property
    def assignment(self) -> Assignment:
        """Ranks of the placed components."""
        return Assignment({name: component.runs or () for name, component in self.placed.items()})

    def size(self, name: str) -> int:
        """Return the number of accelerators in the node groups of a component."""
        return self.cluster.numbering(self.placed[name].node_groups).size

    def times(self) -> dict[str, TimedComponent] | None:
        """Return component -> times; None if a setting is unknown."""
        return self._embodied_times() if self.task == "embodied" else self._reasoning_times()

    def _reasoning_times(self) -> dict[str, TimedComponent] | None:
        """Return the times of costs, `inference` included if separate, for all open degrees."""
        settings = self.settings
        batch, running = batch_of(settings), settings.whole("rollout.max_running_requests", PLANS, 1)
        if batch is None:
            return None
        total, (measured_on, _) = self.cluster.total(), self.find_measured_on()
        times: dict[str, TimedComponent] = {}
        for name, cost in self.profile.costs.items():
            if (name not in self.placed and not is_separate(settings, name, self.placed, times)) or (
                name in INFERRING and not infers(settings)
            ):
                continue
            own_degrees = degrees_of(settings, name).parallel
            if own_degrees is None or running is None:
                return None
            table: Callable[[int], Table]
            if name == "rollout":
                table = partial(generated_table, cost, measured_on, running=running.value, batch=batch)
            else:
                formula = formula_of(settings.word(f"{INFERENCE.get(name, name)}.training_backend", PLANS))
                table = partial(trained_table, cost, measured_on, total=total, batch=batch, formula=formula)
            both_degrees = degrees_by_arrangement(settings, name) or ()
            rows = [row for parallel in both_degrees for row in _rows(table(parallel.replica), parallel)]
            times[name] = TimedComponent(tuple(rows if both_degrees else _rows(table(own_degrees.replica))), TABLE)
        return times

    def _embodied_times(self) -> dict[str, TimedComponent] | None:
        amount, assignment, times = environments(self.settings), self.assignment, dict[str, TimedComponent]()
        if amount is None and self.profile.shares:
            return None
        for name in self.placed:
            if name in self.profile.shares and amount is not None:
                table = simulated_table(self.profile.shares[name], amount.value, self.size(name), even=name == "env")
            elif name in self.profile.costs:
                formula = formula_of(self.settings.word(f"{name}.training_backend", PLANS))
                table = trained_table(self.profile.costs[name], assignment.count_held(name), 1, self.size(name), Batch(1, 1, 1), formula)
            else:
                continue
            times[name] = TimedComponent(tuple(_rows(table)), TABLE)
        return times

    def find_measured_on(self) -> tuple[int, tuple[str, ...]]:
        """Return the accelerators behind the costs, and (assumption about them, reason), if any.

        Costs are those of a run in which actor and rollout share accelerators. If they are apart in
        the file, the run is assumed to be on all of the cluster, or of the node groups of both.
        """
        assignment, total = self.assignment, self.cluster.total()
        if assignment.masks("actor") != assignment.masks("rollout"):
            labels = self.placed["actor"].node_groups
            size = self.size("actor") if labels == self.placed["rollout"].node_groups else total
            scope = f" of {' and '.join(f'`{label}`' for label in labels)}" if size < total else ""
            assumption = f"the costs are taken as those of actor and rollout together on all {size} accelerators{scope}"
            return size, (assumption, "actor and rollout are apart in this file")
        count = assignment.count_held("actor")
        noun = with_noun(count, "accelerator")
        assumption = f"the costs are taken as measured on {noun}, not on all {total}"
        return count, (assumption, f"actor and rollout share {noun} in this file") if count < total else ()

    def check(self, times: Mapping[str, TimedComponent]) -> None:
        """Note an error for tables without a time for any share of the environments."""
        amount, profile = environments(self.settings) if self.task == "embodied" else None, self.profile
        for name, rows in profile.shares.items():
            if amount is None or name not in times or times[name].measured:
                continue
            values: dict[str, Any] = {"key": BY_ENVIRONMENTS[name], "amount": amount.value, "size": self.size(name), "most": max(rows)}
            report(self.notes, "no time for shares", name, profile.spans[name], **values)

    def followers(self, candidates: ComponentsByName, times: Mapping[str, TimedComponent]) -> dict[str, str]:
        """Return component without times -> planned leader on its accelerators.

        The leader is the first on the same accelerators, else on some of them; `reward` follows the
        first leader with the most counts that divide the prompts of a step.
        """
        assignment, batch = self.assignment, batch_of(self.settings) if self.task != "embodied" else None

        def count_lost(name: str) -> int:
            counts = {row.accelerators for row in times[name].measured} if name in times else range(1, self.size(name) + 1)
            return sum(batch is not None and batch.prompts % count > 0 for count in counts)

        order, leaders = sorted(candidates, key=lambda name: LEADERS.index(name) if name in LEADERS else len(LEADERS)), dict[str, str]()
        for name in self.placed:
            masks = assignment.masks(name)
            equal = [leader for leader in order if assignment.masks(leader) == masks]
            neighbours = [leader for leader in order if any(mask & assignment.masks(leader).get(key, 0) for key, mask in masks.items())]
            for leader in [] if name in candidates else [*equal, *neighbours][:1]:
                leaders[name] = min([leader, *order], key=count_lost) if name == "reward" and batch else leader
        return leaders


LEADERS = ("rollout", "actor", "env")
"""Preferred leaders of a component without times on accelerators of several planned ones."""


def batch_of(settings: Settings) -> Batch | None:
    """Return the batch of a step; None if a part is unknown."""
    prompts, group = (settings.whole(path, PLANS) for path in BATCH)
    updates = settings.whole("algorithm.n_minibatches", PLANS, 1)
    return Batch(prompts.value, group.value, updates.value) if prompts and group and updates else None


def _rows(table: Table, parallel: Parallel | None = None) -> Iterator[Measurement]:
    return (replace(table[count], parallel=parallel) for count in sorted(table))


def environments(settings: Settings) -> Amount | None:
    """Return the number of environments."""
    return next((amount for path in ENVIRONMENTS if settings.has(path) and (amount := settings.whole(path, PLANS))), None)


LOSS, STALE, STAGES = "algorithm.loss_type", "algorithm.staleness_threshold", "rollout.pipeline_stage_num"
ONLY = "decoupled_actor_critic"
EITHER = ("embodied_sac", "embodied_dagger", "rlt_ac")
"""Losses that both of RLinf's programs run.

`train_embodied_agent.py` trains when all is generated; `train_async.py` does not wait.
"""


def _as_started(settings: Settings, workload: Workload, stated_keys: Collection[str], names: Collection[str]) -> Workload:
    """Return the workload of an embodied job, adapted to the starting program."""
    loss = settings.word(LOSS, PLANS)
    stale = settings.whole(STALE, PLANS, minimum=0) if settings.has(STALE) else None
    is_ahead = stale is not None and stale.value > 0
    result = workload
    if loss == ONLY and (stale is None or is_ahead):
        result = as_it_runs(workload, stated_keys, f"`{LOSS}: {ONLY}`")
    elif loss in EITHER and is_ahead:
        result = as_it_runs(workload, stated_keys, f"`{STALE}`")
    elif loss in EITHER and "cost_model" not in stated_keys:
        assumption = f"cost model {workload.model}: the job is taken to train when all is generated, as `train_embodied_agent.py` has it;"
        assumption += f" where `train_async.py` starts it, write `cost_model: {STEADY}` in `placewright.plan`"
        result = replace(workload, assumed=(*workload.assumed, assumption))
    stages = settings.whole(STAGES, PLANS, 1) if result.model == STEADY and {"env", "rollout"} <= set(names) else None
    if stages is not None and stages.value == 1:
        note = f"env and rollout: counted as if neither waited for the other, as each does where they are apart (`{STAGES}: 1`)"
        result = replace(result, assumed=(*result.assumed, note))
    return result


def with_rlinf_defaults(
    settings: Settings, task: str, workload: Workload, components: Sequence[Component], hints: Value | None
) -> Workload:
    """Return the workload of components with times; unstated keys follow RLinf.

    Batches are the prompts of a step; in an embodied job they are the stages of the pipeline, and
    training begins after all rollouts.
    """
    stated_keys, is_embodied, names = find_plan_keys(hints), task == "embodied", [component.name for component in components]
    if is_embodied:
        workload = _as_started(settings, workload, stated_keys, names)
    by_environment = workload.model == EMBODIED_MODEL
    if "workflow" not in stated_keys:
        chain = [name for name in ("env", "rollout", "actor") if name in names]
        # Training waits for all stages, except in RLinf's estimate.
        edges = [After(before, after, after == "actor" and not by_environment) for before, after in zip(chain, chain[1:])]
        if not is_embodied:
            inference = list({INFERENCE[name]: name for name in INFERENCE if name in names}.values())
            trained_names = [name for name in ("actor", "critic") if name in names]
            edges = [After("rollout", name) for name in inference]
            edges += [After(name, trains) for trains in trained_names for name in inference or ["rollout"]]
        workload = replace(workload, after=tuple(edges))
    if "batches" not in stated_keys and is_embodied:
        amount = environments(settings) if by_environment else settings.whole(STAGES, PLANS, 1)
        workload = replace(workload, batches=amount.value if amount else 1)
    elif "batches" not in stated_keys:
        batch = batch_of(settings)
        workload = replace(workload, batches=batch.prompts if batch else 1)
    return replace(workload, nested=True) if is_embodied and "nested" not in stated_keys else workload
