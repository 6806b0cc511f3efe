"""Candidate configurations of each component: counts and degrees with time and memory.

Dominated ones are among them: the search leaves these out (`search/choices.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping

from ..models.component import UNBOUNDED, Component
from ..models.machines.node_group import ACCELERATOR
from ..models.memory.work import whole_groups
from ..models.parallel import Parallel
from ..models.planning.arrangement import ProcessShape
from ..models.planning.option import NO_KIND, Option
from ..models.planning.workload import TimedComponent
from ..models.problem import Problem
from .capacity import AcceleratorCapacity, timed_model
from .memory import estimate, is_estimated, need_on
from .times import Time, times_of


def options(
    problem: Problem, component: Component, times_by_task: TimedComponent | None, room: AcceleratorCapacity, batches: int
) -> tuple[Option, ...]:
    """Return all configurations of a component; those with the degrees of the file first.

    `times_by_task` is None for a component without times: it takes accelerators and no time. Times are
    rounded up to whole multiples of `batches`.
    """
    own_shapes, shapes = _list_degrees(problem, component), problem.job.planning.shapes.get(component.name, {})
    own_degrees = problem.own_degrees(component)
    choices = sorted(problem.job.choices.get(component.name, tuple(own_shapes)), key=lambda parallel: parallel != own_degrees)
    candidates: list[Option] = []
    if problem.kind(component) != ACCELERATOR:
        most = len(problem.cluster.numbering(component.node_groups).stretches) if component.most >= UNBOUNDED else component.most
        times = [times_of(times_by_task, phase, component.parallel, "") for phase in times_by_task.phases] if times_by_task else []
        for amount in range(component.least, max(component.least, most) + 1):
            bare = Option(
                NO_KIND, amount, component.parallel, (), component.memory, component.offloaded, processes=amount // component.per_process
            )
            option = build_option(bare, (time_by_count(amount) for time_by_count in times), batches)
            candidates += [option] if option is not None and component.may_have(amount) else []
        return tuple(candidates)
    for parallel in choices:
        if not _divides(problem, component, parallel):
            continue
        variant = _shape(component, parallel, shapes.get(parallel) or own_shapes.get(parallel))
        size = room.group(problem, variant)
        for kind in range(len(room.kinds)):
            node_kind, most = room.kinds[kind], min(variant.most, room.most(problem, variant, kind))
            sizes = {node.accelerator_memory for node in room.nodes[kind]} if node_kind.mixed else {node_kind.memory}
            amounts = [
                count
                for count in range(-(-variant.least // variant.step) * variant.step, most + 1, variant.step)
                if variant.may_have(count)
            ]
            model = timed_model(problem, variant, node_kind)
            times = [times_of(times_by_task, phase, parallel, model) for phase in times_by_task.phases] if times_by_task and amounts else []
            for amount in amounts:
                if _shares(problem, variant, amount, parallel) and not (
                    times_by_task and times_by_task.samples and times_by_task.samples % (amount // variant.parallel.replica)
                ):
                    need = need_on(problem, variant, parallel, amount, sizes)
                    bare_option = Option(
                        kind, amount, parallel, (), need.memory, need.kept, estimated=need.estimated, group=size,
                        processes=amount // variant.per_process, on_sizes=need.on_sizes,
                        undivided=problem.divide(component.name, parallel) != parallel,
                    )  # fmt: skip
                    option = build_option(bare_option, (time_by_count(amount) for time_by_count in times), batches)
                    candidates += [option] if option is not None else []
    if len(choices) > 1 and is_estimated(component) and not problem.workload.heeds_estimates:

        def order(option: Option) -> tuple[int, ...]:
            """Return kind and count, then memory: of otherwise equal degrees, the least comes first."""
            total = estimate(problem, component, option.parallel, option.amount, room.kinds[option.kind].memory)
            return (option.kind, option.amount, *((total.mebibytes, total.kept) if total else (0, 0)))

        candidates.sort(key=order)
    return tuple(candidates)


def _list_degrees(problem: Problem, component: Component) -> Mapping[Parallel, ProcessShape | None]:
    """Return the degrees of a component, own and by arrangement, with their shapes."""
    shape_of: dict[Parallel, ProcessShape | None] = {component.parallel: None}
    shapes = [arrangement.shapes[component.name] for arrangement in problem.job.planning.ways if component.name in arrangement.shapes]
    for shape in (
        shapes if len(shapes) == len(problem.job.planning.ways) else ()
    ):  # Else the shapes are its own, whatever becomes of them in an arrangement.
        shape_of.setdefault(shape.parallel, shape)
    return shape_of


def _shape(component: Component, parallel: Parallel, shape: ProcessShape | None) -> Component:
    """Return the component with degrees and their process shape."""
    if shape is None:
        return replace(component, parallel=parallel)
    count = max(component.least, shape.least)
    return replace(component, per_process=shape.per_process, stride=shape.stride, parallel=shape.parallel, least=count)


def build_option(option: Option, times: Iterable[Time | None], batches: int) -> Option | None:
    """Return the option with times in multiples of `batches`; None for an unknown time."""
    times_of_tasks = list(times)
    nanoseconds = tuple(-(-time.nanoseconds // batches) * batches for time in times_of_tasks if time is not None)
    is_extrapolated = any(time is not None and time.extrapolated for time in times_of_tasks)
    return replace(option, nanoseconds=nanoseconds, extrapolated=is_extrapolated) if len(nanoseconds) == len(times_of_tasks) else None


def _shares(problem: Problem, component: Component, amount: int, parallel: Parallel) -> bool:
    """Return True if all shares divide among this count, and the dialect accepts it."""
    processes, accepted_pairs = amount // component.per_process, problem.job.planning.accepted.get(component.name)
    if accepted_pairs is not None and (amount, parallel) not in accepted_pairs:
        return False
    if not whole_groups(component.divided_among, amount, problem.divide(component.name, parallel)):
        return False
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def _divides(problem: Problem, component: Component, parallel: Parallel) -> bool:
    """Return True if the known model divides by these degrees."""
    use = problem.job.models.get(component.name)
    if use is None or use.card is None or use.card.assumed:
        return True
    return all(split.suits(use.card, split.of(parallel)) for split in use.splits if split.proved)
