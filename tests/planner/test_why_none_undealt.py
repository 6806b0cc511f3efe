"""Work that divides among the processes of a component on none of its counts: what is told of it, and that its help helps."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.dialects import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source

FILE = """
cluster: {{num_nodes: 1, component_placement: {{env: 0-3, rollout: 0-3, actor: 0-3}}}}
runner: {{task_type: embodied, only_eval: false, val_check_interval: -1, max_epochs: 1, max_steps: -1}}
env: {{train: {{total_num_envs: {environments}, group_size: 1, env_type: libero, rollout_epoch: 1}}, group_name: E}}
rollout: {{pipeline_stage_num: {stages}, group_name: R, backend: huggingface}}
actor: {{training_backend: fsdp, global_batch_size: 8, micro_batch_size: 1, group_name: A, model: {{model_type: openvla}}}}
algorithm: {{}}
placewright:
  components:
    env: {{{accelerators}seconds: {{4: 40}}}}
    rollout: {{seconds: {{4: 50}}}}
    actor: {{seconds: {{4: 20}}}}
"""


def told(environments: int, stages: int, accelerators: str = "") -> list[str]:
    """What is said where nothing is possible, with its help; nothing where there is a plan."""
    text = FILE.format(environments=environments, stages=stages, accelerators=accelerators)
    answer = solve(load.read(Source("run.yaml", text), read_shorthand("1x4xH100"), "rlinf"), sandbox=False)
    assert (answer.plan is None) == bool([each for each in answer.findings if each.code == "PW601"])
    return [f"{each.message} | {each.help}" for each in answer.findings if each.code == "PW601"]


def test_environments_that_stages_do_not_divide_are_named() -> None:
    """It was told that no degrees divide the model."""
    assert told(6, 4) == [
        "impossible: `env` can be run in no way: 6 environments do not divide evenly among its processes on at least 1 accelerator; each share"
        " must be a multiple of rollout.pipeline_stage_num 4 | set `env.train.total_num_envs` to a multiple of 4"
    ]
    assert told(8, 4) == []


def test_with_a_count_it_is_told_which_numbers_and_which_counts_would_do() -> None:
    assert told(12, 2, "accelerators: 4, ") == [
        "impossible: `env` can be run in no way: 12 environments do not divide evenly among its processes on 4 accelerators; each share must be"
        " a multiple of rollout.pipeline_stage_num 2 | set `env.train.total_num_envs` to a multiple of 8, or write `accelerators: 3`"
    ]
    assert told(16, 2, "accelerators: 4, ") == told(12, 2, "accelerators: 3, ") == []


@pytest.mark.parametrize("environments", [1, 7])
def test_one_stage_needs_no_multiple(environments: int) -> None:
    (finding,) = told(environments, 1, "accelerators: 4, ")
    assert "multiple of rollout" not in finding and finding.startswith("impossible: `env` can be run in no way: ")
