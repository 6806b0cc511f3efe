"""Memory that is there for a component anyhow is no reason to prefer degrees that need less."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.parallel import UNDIVIDED
from placewright.models.planning.option import Kind, Option
from placewright.planner.memory import need
from placewright.planner.profile import Ample

JOB = """\
cluster: 4x8x{model}
components:
  rollout: {{parallel: {{tp: [1, 2, 4, 8]}}, seconds: {{8: 120, 32: 36}}, phase: generate, memory: 20GiB, offloaded: 2GiB}}
  actor:
    parallel: {{tp: [1, 2, 4, 8], pp: [1, 2, 4]}}
    seconds: {{8: 100, 32: 30}}
    phase: train
    estimate: {{model: Qwen/Qwen2.5-7B-Instruct, sequence: 8192, sharding: distributed, offload: true}}
plan: {{workflow: rollout => actor}}
"""
LIMIT = 10


@pytest.mark.parametrize(("model", "degrees"), [("H100", (1, 1)), ("4090", (2, 2))])
def test_the_first_degrees_that_fit_are_chosen_where_no_time_tells_them_apart(model: str, degrees: tuple[int, int], tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(JOB.format(model=model))
    answer = pw.solve(file, sandbox=False)
    assert answer.planned is not None
    actor = answer.planned.best.design.options["actor"]
    assert actor.amount == 32
    assert (actor.parallel.tp, actor.parallel.pp) == degrees
    problem = pw.load(file).problem
    assert problem is not None
    room = problem.cluster.nodes[0].accelerator_memory
    assert room is not None
    needs = [need(problem, problem["actor"], each, 32, room) for each in problem.job.choices["actor"]]
    assert actor.parallel == next(each for each, its in zip(problem.job.choices["actor"], needs) if its.memory <= room - 2048)


def fits(options: dict[str, Option], resident: frozenset[str], turns: dict[str, tuple[str, ...]]) -> bool:
    """Is there memory enough in every phase, and in the turns of those that name none?"""
    moments = [*{phase for its in turns.values() for phase in its}, *(name for name in options if name not in turns), ""]
    return all(
        sum(
            option.memory if name in resident or moment in turns.get(name, (name,)) else option.kept
            for name, option in options.items()
        )
        <= LIMIT
        for moment in moments
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_what_needs_no_more_takes_the_place_of_another_wherever_that_fits(seed: int) -> None:
    random = Random(seed)
    names = "abc"[: random.choice((2, 3))]
    every = {
        name: [
            Option(0, 1, UNDIVIDED, (1,), memory, random.randint(0, memory)) for memory in (random.randint(0, 12) for _ in range(3))
        ]
        for name in names
    }  # fmt: skip
    resident = frozenset(name for name in names if random.random() < 0.25)
    phases = (("p",), ("q",), ("p", "q"))
    turns = {name: random.choice(phases) for name in names if name not in resident and random.random() < 0.6}
    ample = Ample((Kind("large", 8, LIMIT),), every, resident, turns, random.random() < 0.5)
    for chosen in product(*every.values()):
        design = dict(zip(names, chosen))
        if fits(design, resident, turns):
            for name, other in [(each, other) for each in names for other in every[each]]:
                if all(mine <= theirs for mine, theirs in zip(ample.needs(name, other), ample.needs(name, design[name]))):
                    assert fits({**design, name: other}, resident, turns)
