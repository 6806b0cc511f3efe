"""RLHF jobs of four to six models, as a question of planning: every count and every strategy with its times and its memory.

The figures are made by formulas, so that a study needs no machine: a phase takes a 13B model so many seconds on 8 accelerators (`SECONDS`), in
proportion to the parameters, and speeds up with a power of the count that is drawn for each job. Tensor and pipeline parallelism cost
some of it. Memory is that of mixed precision with a distributed optimizer. What more accelerators would slow down leaves some of them idle.
"""

from __future__ import annotations

import random
from typing import Iterator, Sequence

from placewright.models.parallel import Parallel
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import PlanningProblem, Task, Workflow
from placewright.models.planning.workload import PHASES

GENERATE, INFER, TRAIN = PHASES
MODELS = ("actor", "reference", "critic", "reward", "cost", "judge")
WORK = {"actor": (GENERATE, TRAIN), "critic": (INFER, TRAIN)}
"""Phases of a model; the others infer alone."""
SECONDS = {GENERATE: 300.0, INFER: 40.0, TRAIN: 200.0}
SIZES = (7, 13, 34, 70)
"""Parameters in 10^9."""
POWERS = {GENERATE: (0.35, 0.8), INFER: (0.6, 0.95), TRAIN: (0.75, 0.98)}
"""From which range the power of the count is drawn: decoding gains least from more accelerators."""
GIB = 1024
MEMORY = 80 * GIB


def question(models: int, accelerators: int, unit: int, seed: int) -> PlanningProblem:
    """A job of so many models, whose counts are multiples of `unit`."""
    draw = random.Random(f"{models} {accelerators} {seed}")
    names = MODELS[:models]
    tasks = tuple(Task(name, phase) for name in names for phase in _phases(name))
    powers = {phase: draw.uniform(*POWERS[phase]) for phase in PHASES}
    options = {name: _options(name, draw.choice(SIZES), powers, accelerators, unit) for name in names}
    return PlanningProblem((AcceleratorKind("H100", accelerators, MEMORY),), tasks, options, flow=Workflow(phases=PHASES))


def _phases(name: str) -> tuple[str, ...]:
    return WORK.get(name, (INFER,))


def _options(name: str, size: int, powers: dict[str, float], accelerators: int, unit: int) -> tuple[Option, ...]:
    found: list[Option] = []
    last: tuple[Option, ...] = ()
    for count in range(unit, accelerators + 1, unit):
        kept = [Option(0, count, each.parallel, each.nanoseconds, each.memory, each.kept) for each in last]
        last = tuple(_best([*_strategies(name, size, powers, count), *kept]))
        found += last
    return tuple(found)


def _strategies(name: str, size: int, powers: dict[str, float], count: int) -> Iterator[Option]:
    """Those that fit into the memory by themselves."""
    for tp in (1, 2, 4, 8):
        for pp in (1, 2, 4):
            if count % (tp * pp):
                continue
            slower = (1 + 0.04 * (tp - 1)) * (1 + 0.05 * (pp - 1))
            times = tuple(
                round(SECONDS[phase] * size / 13 * slower * (8 / count) ** powers[phase] * 10**6) * 1000 for phase in _phases(name)
            )
            weights = _mebibytes(2 * size / (tp * pp))
            memory = weights + 6 * GIB
            if TRAIN in _phases(name):
                memory = _mebibytes(6 * size / (tp * pp) + 12 * size / count) + 8 * GIB
            if memory <= MEMORY:
                yield Option(0, count, Parallel(tp, pp), times, memory, weights)


def _mebibytes(gigabytes: float) -> int:
    return round(gigabytes * 10**9 / 2**20)


def _best(options: Sequence[Option]) -> Iterator[Option]:
    """Those that no other is at least as good as in every time and in memory."""
    seen: list[tuple[int, ...]] = []
    for option in sorted(options, key=lambda each: (each.nanoseconds, each.memory, each.kept)):
        figures = (*option.nanoseconds, option.memory, option.kept)
        if not any(all(theirs <= mine for theirs, mine in zip(other, figures)) for other in seen):
            seen.append(figures)
            yield option
