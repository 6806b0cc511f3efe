"""How many accelerators the actor has at least, so that inference apart from it gets its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import placewright as pw
import pytest
from placewright.models.reading import Reading

Read = Callable[..., Reading]
FILE = """
cluster: {num_nodes: 1, component_placement: {rollout: 0-1, reward: 0-1, inference: 2-5, actor: 6-7}}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 64}
rollout: {tensor_parallel_size: 1, max_running_requests: 64}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 2}}
inference: {model: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: STAGES}}
profile_data: {rollout_cost: 300, actor_cost: 1, inference_cost: 100}
"""


@pytest.mark.parametrize(("stages", "least"), [(1, 2), (2, 4), (3, 6)])
def test_a_plan_gives_it_as_many_as_ranks_of_inference_wait_for_it(stages: int, least: int, read: Read) -> None:
    reading = read(FILE.replace("STAGES", str(stages))).to_solve
    assert reading.problem is not None
    (apart,) = (way for way in reading.problem.job.planning.ways if way.apart)
    assert apart.least == {"actor": least}


def test_the_plan_itself_needs_no_net(tmp_path: Path) -> None:
    """Of actor and inference apart, the actor has what the tp x pp of inference needs, and not only two; the framework's file is never asked."""
    (tmp_path / "run.yaml").write_text(FILE.replace("STAGES", "2"))
    reading = pw.load(tmp_path / "run.yaml", "1x18xH100").to_solve
    assert reading.problem is not None
    ours, with_net = (pw.solve(each, sandbox=False) for each in (reading.problem, reading))
    assert ours.plan is not None and with_net.plan is not None
    assert ours.plan.assignment.amount("actor") == 4
    assert ours.plan.digest == with_net.plan.digest
    assert ours.planned is not None and with_net.planned is not None and with_net.planned.proved
