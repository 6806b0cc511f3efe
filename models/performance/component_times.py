"""Estimated times of components, for every count and all degrees of a choice."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Iterator, Mapping, Sequence

from ..component import Component
from ..estimate import MemoryInput
from ..machines.cluster import Cluster
from ..machines.node import GENERIC, Node
from ..memory.estimate import with_estimate_numbers
from ..memory.work import ModelShape, shape_of
from ..model_cards.known import known_model
from ..parallel import Parallel
from ..planning.workload import PHASES, SECOND, IterationBatch, Measurement, TimedComponent
from ..roles import ACTOR, CRITIC, INFERENCE, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER, role_of
from .generate import SEQUENCES, generate_seconds
from .hardware import AcceleratorSpeed, nearest_model, speed_of
from .infer import infer_seconds
from .interval import Interval, exactly
from .model_run import ModelRun, SequenceBatch
from .train import Training, train_seconds
from .transfer import offload_seconds, sync_seconds

_ALL_COUNTS, _STEP = 64, 8
"""Counts up to which each has a time; above, multiples of the step."""
_UTILIZATION = 90
"""Percent of an accelerator that an engine takes unless its estimate says otherwise."""
_SHARE_OF_LONGEST = Interval(0.25, 0.5, 1.0)
"""Mean over longest answer, where only the longest is known."""
_LEFT = Interval(0.8, 1.0, 1.25)
"""What a fitted factor leaves open on other counts: assumed, no source has it."""
_STATES = 12
"""Bytes of a parameter that training offloads: weights and both moments of Adam in 32 bits."""
_TRAINED, _READING = (ACTOR, STUDENT, CRITIC), (REFERENCE, INFERENCE, TEACHER, REWARD)


def shape_for(component: Component) -> ModelShape | None:
    """Return the shape of a component's model; None if a number is missing."""
    if component.estimate is None:
        return None
    card = with_estimate_numbers(component, known_model(component.estimate.model) if component.estimate.model else None)
    shape = shape_of(component.estimate, card)
    return shape if shape.total and shape.layers and shape.hidden and shape.heads else None


def speeds_of(cluster: Cluster) -> Mapping[str, tuple[AcceleratorSpeed | None, int]]:
    """Return accelerator model -> its figures, and the accelerators that its link joins."""
    speeds = {model: (_speed(node), len(node.accelerators)) for model, node in _nodes(cluster).items()}
    return {model: (speed, int(speed.domain if speed else 0) or count) for model, (speed, count) in speeds.items()}


def _nodes(cluster: Cluster) -> dict[str, Node]:
    """Return accelerator model -> a node with it."""
    return {stretch.node.accelerator_model: stretch.node for stretch in cluster.alike if stretch.node.accelerators}


def _speed(node: Node) -> AcceleratorSpeed | None:
    first = node.accelerators[0]
    memory = {"memory": first.memory / 1024} if first.memory else {}
    return speed_of(first.model, {**memory, **dict(first.speed)})


def unknown_speed(cluster: Cluster) -> str:
    """Return a sentence on accelerators without figures; "" if all are known."""
    unknown = next((model for model, (speed, _) in speeds_of(cluster).items() if speed is None), None)
    if unknown is None:
        return ""
    if unknown == GENERIC:
        return "the accelerators have no model, so no time can be estimated; write it as in `2x8xH100`"
    near = nearest_model(unknown)
    return f"the speed of `{unknown}` is unknown, so no time can be estimated on it" + (f"; `{near}` is known" if near else "")


def assumed_network(cluster: Cluster) -> str:
    """Return the assumed speed between nodes; "" if the cluster says it."""
    speeds = [
        f"{speed.network:g} GB/s each way for each {model}"
        for model, node in _nodes(cluster).items()
        if (speed := _speed(node)) is not None and "network" not in dict(node.accelerators[0].speed)
    ]
    return ", ".join(speeds) if len(cluster.nodes) > 1 else ""


def estimated_times(
    components: Sequence[Component],
    choices: Mapping[str, Sequence[Parallel]],
    cluster: Cluster,
    batch: IterationBatch,
    factors: Mapping[str, float] = {},
) -> dict[str, TimedComponent]:
    """Return component -> estimated times of those with a known model and without `seconds`.

    `factors`: phase -> measured over estimated.
    """
    reads_apart = any(role_of(component) == INFERENCE for component in components)
    engines = [part for item in components if role_of(item) == ROLLOUT for part in choices.get(item.name, (item.parallel,))]
    engine = max(engines, key=lambda part: part.tp * part.pp, default=None)
    times = dict[str, TimedComponent]()
    for component in components:
        shape = shape_for(component)
        if component.timed is None and shape is not None and role_of(component) in (ROLLOUT, *_TRAINED, *_READING):
            degrees = choices.get(component.name, (component.parallel,))
            rows = tuple(
                row
                for parallel in degrees
                for row in _rows(component, shape, parallel, cluster, batch, (reads_apart, engine), factors.get(phase_of(component)))
            )
            times |= {component.name: TimedComponent(rows)} if rows else {}
    return times


def _rows(
    component: Component,
    shape: ModelShape,
    parallel: Parallel,
    cluster: Cluster,
    batch: IterationBatch,
    neighbours: tuple[bool, Parallel | None],
    factor: float | None,
) -> Iterator[Measurement]:
    phase = component.phases[0] if len(component.phases) == 1 else ""
    for model, (speed, near) in speeds_of(cluster).items():
        for count in _counts(component, parallel, cluster.total()):
            if speed is None:
                continue
            run = ModelRun(shape, parallel, count, speed, near, expert_tp=component.estimate.expert_tp if component.estimate else 0)
            seconds = phase_seconds(component, run, batch, neighbours[0]).plus(moving_seconds(component, run, neighbours[1]))
            seconds = seconds if factor is None else _LEFT.times(seconds.likely * factor)
            words = f"{'estimated' if factor is None else 'fitted'}, {_format(seconds.low)} to {_format(seconds.high)} seconds (docs/performance.md)"
            low, likely, high = (max(1, ceil(bound * SECOND)) for bound in seconds)
            yield Measurement(count, likely, phase, parallel, model, assumed=words, bounds=(low, high))


def _format(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"


def _counts(component: Component, parallel: Parallel, total: int) -> list[int]:
    """Return the counts that have a time: of whole replicas, all up to `_ALL_COUNTS`."""
    most = min(component.most, total)
    counts = range(-(-component.least // parallel.replica) * parallel.replica, most + 1, parallel.replica)
    return [
        count
        for count in counts
        if component.may_have(count) and (count <= _ALL_COUNTS or count % _STEP == 0 or component.least == component.most)
    ]


def phase_of(component: Component) -> str:
    """Return the phase of a component's work."""
    role = role_of(component)
    return PHASES[0] if role == ROLLOUT else PHASES[2] if role in _TRAINED else PHASES[1]


def moving_seconds(component: Component, run: ModelRun, engine: Parallel | None) -> Interval:
    """Return the seconds of weights to the engines and of offloaded states.

    `engine`: the degrees of the rollout; None without one.
    """
    role, seconds = role_of(component), exactly(0.0)
    if role == ACTOR and engine is not None:
        seconds = sync_seconds(run, replace(run, parallel=engine))
    if role in _TRAINED and component.estimate is not None and component.estimate.offload:
        seconds = seconds.plus(offload_seconds(run, 2 * _STATES * run.shape.total / run.accelerators))
    return seconds


def phase_seconds(component: Component, run: ModelRun, batch: IterationBatch, reads_apart: bool) -> Interval:
    """Return the seconds of an iteration of a component.

    What trains reads the answers once too, for their log probabilities or values, unless a component
    of role `inference` does (`reads_apart`); PPO, arXiv 1707.06347, section 3.
    """
    estimate, role = component.estimate or MemoryInput(), role_of(component)
    response = exactly(float(batch.mean_response)) if batch.mean_response else _SHARE_OF_LONGEST.times(batch.response)
    sequences = SequenceBatch(batch.prompts * batch.samples, batch.prompt, response, batch.response)
    if role == ROLLOUT:
        utilization = (estimate.utilization or _UTILIZATION) / 100
        return generate_seconds(run, sequences, utilization, estimate.sequences or SEQUENCES)
    reading = infer_seconds(run, sequences, max(1.0, sequences.sequences / (run.replicas * estimate.micro_batch)))
    if role in _READING:
        return reading
    training = Training(estimate.sharding, estimate.recompute, estimate.micro_batch, batch.steps)
    training_seconds = train_seconds(run, sequences, training)
    return training_seconds if reads_apart and role == ACTOR else training_seconds.plus(reading)
