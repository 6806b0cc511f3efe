"""Which program reads a configuration, and which components it puts onto which pools."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read as read_text
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import EqualNodes, Nodes
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify

from .conftest import ENGINES, RELEASE

Read = Callable[..., Reading]

ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo"
POOLS = {
    "verl.trainer.main_ppo": {"global_pool": "actor rollout critic"},
    "recipe/dapo/main_dapo.py": {"global_pool": "actor rollout critic"},
    ONE_STEP: {"trainer_pool": "actor critic", "rollout_pool": "rollout"},
    "verl.experimental.fully_async_policy.fully_async_main": {"trainer_pool": "actor critic", "rollout_pool": "rollout"},
    "examples/split_placement/main_ppo_split.py": {"actor_rollout_ref_pool": "actor rollout", "critic_pool": "critic"},
    "verl.trainer.main_generation": {"the pool": "rollout"},
    "verl.trainer.sft_trainer_ray": {"the pool": "actor"},
    "recipe.gkd.main_gkd": {"actor_pool": "actor", "rollout_pool": "rollout"},
    "recipe/gkd/megatron/main_gkd.py": {"actor_pool": "actor", "rollout_pool": "rollout"},
    "recipe.partial_rollout.main_ppo": {"global_pool": "actor rollout critic"},
    "recipe.specRL.histoSpec.main_ppo": {"global_pool": "actor rollout critic"},
}


@pytest.mark.parametrize("program", POOLS)
def test_a_program_makes_its_pools(read: Read, program: str) -> None:
    problem = read("", program=program).problem
    assert problem is not None
    assert {pool.name: " ".join(pool.components) for pool in problem.job.pools} == POOLS[program]


RECIPES = ("atropos.main_atropos", "dance_grpo.dance_grpo_fsdp.main_dance", "dapo.dapo_transfer_queue.main_dapo", "dynamo.main_dynamo",
           "gvpo.gvpo_main_ppo", "rep_exp.main_rep_exp")  # fmt: skip


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_without_known_defaults_has_the_pool_that_is_written(read: Read, recipe: str) -> None:
    reading = read("trainer.nnodes=1 trainer.n_gpus_per_node=8 critic.enable=false", program=f"recipe.{recipe}")
    assert reading.problem is not None and [pool.name for pool in reading.problem.job.pools] == ["global_pool"]
    assert not any("is not known here; it is taken" in each.why for each in reading.unchecked)


WITH_TASK_RUNNER = (*RECIPES, "dapo.main_dapo", "entropy.main_entropy", "flowrl.main_flowrl", "partial_rollout.main_ppo", "r1_ascend.main_ppo",
                    "specRL.main_ppo", "spin.main_spin", "spo.spo_main_ppo", "sppo.main_sppo")  # fmt: skip


@pytest.mark.parametrize(("recipe", "runners"), [*((recipe, 1) for recipe in WITH_TASK_RUNNER), ("prime.main_prime", 0)])
def test_the_task_runner_of_a_recipe_needs_a_cpu_beside_the_pool(recipe: str, runners: int) -> None:
    nodes = Nodes([EqualNodes(replace(node, cpus=24)) for node in read_shorthand("1x8").nodes])
    text = f"python3 -m recipe.{recipe} {' '.join(ENGINES)} trainer.nnodes=1 trainer.n_gpus_per_node=8\n"
    reading = read_text(Source("run.sh", text), Cluster(nodes), "verl", composer=Composer(frameworks=(f"verl=={RELEASE}",)))
    messages = [finding.message for finding in verify(reading).findings if finding.code == "PW502"]
    assert messages == ["`global_pool` needs 24 CPUs of one node + 1 of TaskRunner, but node-0 has 24"] * runners


def test_reference_and_critic_are_there_when_they_are_needed(read: Read) -> None:
    def roles(settings: str) -> list[str]:
        problem = read(settings).problem
        return [component.name for component in problem.components] if problem else []

    assert roles("algorithm.adv_estimator=grpo") == ["actor", "rollout"]
    assert roles("algorithm.adv_estimator=grpo critic.enable=true") == ["actor", "rollout", "critic"]
    assert roles("critic.enable=false actor_rollout_ref.actor.use_kl_loss=true") == ["actor", "rollout", "ref"]
    assert roles("critic.enable=false algorithm.use_kl_in_reward=true actor_rollout_ref.model.lora_rank=8") == ["actor", "rollout"]
    assert roles("critic.enable=false reward_model.enable=true") == ["actor", "rollout", "reward_model"]


def test_simulators_lie_beside_the_actor_on_the_same_nodes(read: Read) -> None:
    settings = "trainer.nnodes=2 trainer.n_rollout_gpus_per_node=6 trainer.n_env_gpus_per_node=2"
    problem = read(settings, program="verl.experimental.vla.main_ppo").problem
    assert problem is not None and len(problem.cluster.nodes) == 2
    assert problem.build_given().world_size("env") == 4 and problem.build_given().node_ranges("env") == (range(0, 2),)


def test_every_server_has_a_pool_of_its_own(read: Read) -> None:
    problem = read("trainer.n_gpus_per_node=8", program="verl.trainer.main_generation_server").problem
    assert problem is not None and [pool.name for pool in problem.job.pools] == ["rollout_pool_0 to rollout_pool_3"]


def test_torchrun_says_how_many_processes_there_are(read: Read) -> None:
    def started(**options: str) -> Reading:
        return read("", program="verl.trainer.fsdp_sft_trainer", **options)

    problem = started(nnodes="2", nproc_per_node="4").problem
    assert problem is not None and problem.build_given().world_size("actor") == 8
    unknown = started(nnodes="1", nproc_per_node="gpu")
    assert unknown.problem is not None and unknown.problem.components == ()
    assert any("`--nproc_per_node=gpu` starts" in each.why for each in unknown.unchecked)


def test_where_no_program_is_named_the_keys_speak(read: Read) -> None:
    why = [each.why for each in read("rollout.nnodes=1 actor_rollout_ref.rollout.n=1", program="").unchecked]
    assert f"nothing says which program reads this file; `{ONE_STEP}` is assumed" in why


def test_a_program_that_is_not_known_is_taken_for_what_its_keys_say(read: Read) -> None:
    reading = read("trainer.nnodes=2 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.n=1", program="my.own.main")
    assert any(each.why.startswith("`my.own.main` is not known here") for each in reading.unchecked)
    assert reading.problem is not None and reading.problem.build_given().world_size("actor") == 16


def test_a_server_that_takes_requests_is_no_trainer_of_verl(read: Read) -> None:
    trained = "trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.actor.ppo_mini_batch_size=1 actor_rollout_ref.rollout.n=4"
    reading = read(f"{trained} server.auto_merge_verl_default_config=true", program="")
    assert any(each.why.startswith("`verl_tinker` is not known here") for each in reading.unchecked)
    assert not reading.proves


@pytest.mark.parametrize("how", [{"config_name": "my_trainer"}, {"program": "my.own.main"}])
def test_what_an_unknown_configuration_does_not_write_is_not_known(read: Read, how: dict[str, str]) -> None:
    reading = read("trainer.nnodes=2", **how)
    assert reading.findings == () and reading.problem is not None and reading.problem.components == ()
    assert len([each for each in reading.unchecked if "not written" in each.why]) == 1


def test_the_errors_of_an_unknown_program_are_warnings(read: Read) -> None:
    settings = "trainer.nnodes=1 trainer.n_gpus_per_node=4 actor_rollout_ref.rollout.tensor_model_parallel_size=3"
    settings += " actor_rollout_ref.rollout.data_parallel_size=1 actor_rollout_ref.rollout.pipeline_model_parallel_size=1"
    settings += " actor_rollout_ref.rollout.expert_parallel_size=1"
    severities = [
        {each.severity.value for each in verify(read(settings, "1x8", program=name)).findings if each.code == "PW208"}
        for name in ("verl.trainer.main_ppo", "my.own.main")
    ]
    assert severities[0] == {"error"}
    assert severities[1] == {"warning"}


def test_a_default_says_where_it_comes_from(read: Read) -> None:
    sizes = {each.name: each for each in read("").derivations if each.component == "rollout"}
    assert sizes["replicas"].value == 4
    assert {figure.name: (figure.value, figure.default) for figure in sizes["replica size"].figures} == {
        f"actor_rollout_ref.rollout.{name}": (value, "verl b178a3cd, verl/trainer/config/ppo_trainer.yaml")
        for name, value in (
            ("tensor_model_parallel_size", 2),
            ("pipeline_model_parallel_size", 1),
            ("data_parallel_size", 1),
            ("expert_parallel_size", 1),
        )
    }


@pytest.mark.parametrize("program", ["my_verl.trainer.main_ppo", "my_verl/trainer/main_ppo.py", "main_ppo.py", "main_generation.py"])
def test_a_program_of_the_same_name_in_another_package_is_not_known(read: Read, program: str) -> None:
    reading = read("data.train_batch_size=16 actor_rollout_ref.actor.ppo_mini_batch_size=64", program=program)
    assert not reading.proves
    assert any(program in item.why and item.decides for item in reading.unchecked)


@pytest.mark.parametrize("program", ["trainer/main_ppo.py", "/opt/verl/verl/trainer/main_ppo.py", "verl/trainer/main_ppo.py"])
def test_a_path_to_a_program_of_verl_is_known(read: Read, program: str) -> None:
    assert read("", program=program).proves
