"""Costs of a profile with degrees that are open: each choice has the counts and times that RLinf's formulas have for replicas of that size."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.findings.span import apply_edits
from placewright.planner.write_back import edits_of

FILE = """\
cluster: {{num_nodes: 1, component_placement: {{"actor,rollout,reward": all}}}}
data: {{rollout_batch_size: {batch}}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: false}}
runner: {{task_type: reasoning}}
rollout: {{rollout_backend: vllm, return_logprobs: true, max_running_requests: {running}, tensor_parallel_size: {rollout}}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: {actor}}}}}
profile_data: {{actor_cost: {train}, rollout_cost: {generate}}}
"""
OPEN = "placewright: {components: {actor: {parallel: {tp: [1, 2, 4]}}, rollout: {parallel: {tp: [1, 2, 4]}}}}\n"


def solved(file: Path, text: str) -> pw.Solution:
    file.write_text(text)
    return pw.solve(file, "1x8", "rlinf", sandbox=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_plan_is_the_best_of_all_files_that_have_some_of_the_degrees(tmp_path: Path, seed: int) -> None:
    random, file = Random(seed), tmp_path / "run.yaml"
    costs = {"train": random.randint(10, 60), "generate": random.randint(10, 60)}
    costs |= {"batch": random.choice((16, 48, 64)), "running": random.choice((4, 16, 64))}
    every = {}
    for actor, rollout in ((one, other) for one, other in product((1, 2, 4), repeat=2) if other <= one):  # else RLinf refuses it
        answer = solved(file, FILE.format(actor=actor, rollout=rollout, **costs))
        if answer.planned is not None:
            assert answer.planned.proved
            every[actor, rollout] = answer.planned.best.nanoseconds
    answer = solved(file, FILE.format(actor=4, rollout=4, **costs) + OPEN)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == min(every.values())
    reading = pw.load(file, "1x8", "rlinf").to_solve
    edits, told = edits_of(reading, answer)
    assert told == ()  # its times are read as they were planned
    again = solved(file, apply_edits(file.read_text(), edits))
    assert again.planned is not None and again.planned.best.nanoseconds == min(every.values())
