"""What is said of pools that cannot be, and what is offered instead."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.reading import Reading

Read = Callable[..., Reading]
Codes = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("settings", "machines", "offered"),
    [
        ("trainer.nnodes=2 trainer.n_gpus_per_node=3 actor_rollout_ref.rollout.tensor_model_parallel_size=1", "1x4+1x2", "2"),
        ("trainer.nnodes=2 trainer.n_gpus_per_node=8", "1x8", "1"),
        ("trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.tensor_model_parallel_size=4", "1x7", "4"),
    ],
)
def test_the_size_that_is_offered_fits(read: Read, settings: str, machines: str, offered: str) -> None:
    (finding,) = read(settings, machines).findings
    assert finding.code == "PW215" and finding.edit is not None and finding.edit.text == offered


def test_the_rest_is_judged_where_the_pools_have_no_room(read: Read) -> None:
    reading = read("trainer.nnodes=4 trainer.n_gpus_per_node=8", "2x8")
    assert reading.problem is not None and reading.problem.build_given().world_size("actor") == 32


def test_numbers_must_be_whole_and_above_zero(codes: Codes) -> None:
    assert codes("trainer.nnodes=0") == ["PW105"]
    assert codes("trainer.nnodes=two") == ["PW105"]
    assert codes("trainer.n_gpus_per_node=8.0") == ["PW105"]


@pytest.mark.parametrize("key", ["ppo_mini_batch_size", "ppo_micro_batch_size_per_gpu", "ulysses_sequence_parallel_size"])
def test_numbers_that_are_only_divided_may_be_floats(codes: Codes, key: str) -> None:
    assert "PW105" not in codes(f"actor_rollout_ref.actor.{key}=1.0")
    assert "PW105" in codes(f"actor_rollout_ref.actor.{key}=1.5")


def test_a_pool_of_the_reward_model_needs_workers_of_its_own(codes: Codes) -> None:
    own = "reward_model.enable_resource_pool=true reward_model.nnodes=1"
    assert codes(f"{own} reward_model.enable=true") == ["PW123"]
    assert codes(own) == ["PW123"]
    assert codes(f"{own} reward_model.enable=true reward_model.use_reward_loop=false") == []
    assert codes(f"{own} reward_model.enable=true", program="recipe.dapo.main_dapo") == []


@pytest.mark.parametrize(("nodes", "each", "parts"), [(1, 8, "1 x 4"), (2, 8, "1 x 8"), (4, 8, "2 x 8"), (3, 8, "1 x 8"), (1, 9, "1 x 4")])
def test_split_placement_halves_nodes_or_accelerators(read: Read, nodes: int, each: int, parts: str) -> None:
    settings = f"trainer.nnodes={nodes} trainer.n_gpus_per_node={each} actor_rollout_ref.rollout.tensor_model_parallel_size=1"
    reading = read(settings, program="main_ppo_split.py")
    assert reading.problem is not None and {pool.sizes for pool in reading.problem.job.pools} == {parts}
    assert [finding.code for finding in reading.findings] == (["PW804"] if nodes == 3 or each == 9 else [])


def test_as_many_nodes_are_taken_as_the_pools_need(read: Read) -> None:
    settings = "trainer.nnodes=2 trainer.n_gpus_per_node=6 rollout.nnodes=2 rollout.n_gpus_per_node=2"
    for machines, nodes in (("x8", 2), ("x6", 3), ("", 4)):
        problem = read(settings, machines, "verl.experimental.one_step_off_policy.main_ppo").problem
        assert problem is not None and len(problem.cluster.nodes) == nodes


def test_accelerators_that_are_too_few_on_every_node_are_a_fault_even_where_the_nodes_are_as_declared(codes: Codes) -> None:
    assert "PW215" in codes("trainer.n_gpus_per_node=8", "x4")
