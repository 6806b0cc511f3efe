"""Hints about degrees without a cluster: what contradicts the settings on every one is an error."""

from __future__ import annotations

from itertools import product
from typing import Callable

import pytest
from placewright.models.reading import Reading
from placewright.planner.verify import verify

Read = Callable[..., Reading]
FILE = """
cluster: {{num_nodes: 1, component_placement: {placed}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: {infers}}}
data: {{rollout_batch_size: 64}}
rollout: {{return_logprobs: true, max_running_requests: 64, tensor_parallel_size: 2, pipeline_parallel_size: {stages}}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: 2}}}}
inference: {{model: {{tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1}}}}
placewright: {{components: {{actor: {{seconds: {{8: 40}}}}, NAME: {{parallel: {hint}, seconds: {{8: 40}}}}}}}}
"""
TOGETHER, APART = '{"actor,rollout,reward": all}', "{rollout: 0-3, reward: 0-3, actor: 4-5, inference: 6-7}"
UNEVEN = "{rollout: 0-4, reward: 0-4, actor: 5-6, inference: 7}"
HINTS = ("{tp: 1}", "{tp: 2}", "{tp: 4}", "{tp: 2, pp: 2}", "{tp: 2, cp: 2}", "{tp: [1, 4]}")


def text(placed: str, hint: str, stages: int, name: str = "rollout") -> str:
    infers = "false" if placed == TOGETHER else "true"
    return FILE.format(placed=placed, hint=hint, stages=stages, infers=infers).replace("NAME", name)


def contradicted(reading: Reading, name: str = "rollout") -> bool:
    return any(each.code == "PW121" and each.subject == name for each in verify(reading).errors)


@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("hint", HINTS)
def test_what_is_an_error_without_a_cluster_is_one_wherever_the_ranks_lie(read: Read, hint: str, stages: int) -> None:
    with_ranks = {placed: contradicted(read(text(placed, hint, stages), "x8")) for placed in (TOGETHER, APART)}
    assert verify(read(text(UNEVEN, hint, stages), "x8")).errors  # RLinf refuses these ranks, whatever the hints say
    for placed in (*with_ranks, UNEVEN):
        assert contradicted(read(text(placed, hint, stages), None)) is all(with_ranks.values())


@pytest.mark.parametrize(("hint", "machines"), list(product(("{tp: 1}", "{tp: 2}", "{tp: 1, pp: 2}"), ("x8", None))))
def test_inference_is_judged_without_a_cluster_as_with_one(read: Read, hint: str, machines: str | None) -> None:
    assert contradicted(read(text(APART, hint, 1, "inference"), machines), "inference") is (hint != "{tp: 2}")
