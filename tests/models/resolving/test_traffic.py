"""What a job sends in a step, estimated from its models: by role, once for each pair, never where the user or an adapter says otherwise."""

from __future__ import annotations

import pytest
from placewright.models.dialects.load import read
from placewright.models.job import Link
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.model_cards import ModelCard
from placewright.models.model_cards.known import KNOWN
from placewright.models.reading import Reading
from placewright.models.resolving import mebibytes, with_models
from placewright.models.text.source import Source

QWEN = -(-2 * 7_615_616_512 // 2**20)
"""MiB of Qwen2.5-7B in 16 bits."""

VERL = """trainer: {nnodes: 2, n_gpus_per_node: 8}
data: {train_batch_size: 512}
algorithm: {adv_estimator: gae}
critic: {model: {path: /models/value}}
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-7B-Instruct}
  actor: {ppo_mini_batch_size: 128, use_kl_loss: true}
  rollout: {tensor_model_parallel_size: 4}
"""
ROLL = """pretrain: Qwen/Qwen2.5-7B
actor_train:
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 4}}
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}
  num_gpus_per_worker: 2
reference:
  strategy_args: {strategy_name: megatron_infer, strategy_config: {tensor_model_parallel_size: 4}}
rewards: {math: {world_size: 1, tag_included: [m]}}
placewright:
  components: {actor_train: {accelerators: 8}, actor_infer: {accelerators: 8}, reference: {colocate_with: actor_train}}
"""
RLINF = """cluster: {num_nodes: 2, component_placement: {actor: 0-7, rollout: 8-15}}
runner: {task_type: reasoning}
rollout: {model: {model_path: Qwen/Qwen2.5-7B}, tensor_parallel_size: 2, pipeline_parallel_size: 1}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 1}}
"""


def reading(text: str) -> Reading:
    found = read(Source("run.yaml", text), read_shorthand("2x8xH100"))
    assert found.problem is not None
    return found


def estimates(found: Reading) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    """(traffic of each component, links) that are estimated."""
    assert found.problem is not None
    job = found.problem.job
    traffic = {component.name: component.traffic for component in job.components if component.name in job.estimated}
    return traffic, [(link.source, link.target, link.weights) for link in job.links if link.estimate]


@pytest.mark.parametrize(
    ("text", "trainer", "takers"), [(VERL, "actor", ["rollout"]), (ROLL, "actor_train", ["actor_infer"]), (RLINF, "actor", ["rollout"])]
)
def test_weights_go_from_the_trainer_to_what_runs_its_model(text: str, trainer: str, takers: list[str]) -> None:
    traffic, links = estimates(reading(text))
    assert traffic == {trainer: QWEN}  # the critic of verl's file has a model of unknown size
    assert links == [(trainer, taker, QWEN) for taker in takers]


def test_explain_tells_of_it_with_its_formula() -> None:
    told = [(each.component, each.name, each.value, each.formula) for each in reading(ROLL).derivations if "estimate" in each.name]
    formula = "2 bytes x 7,615,616,512 parameters of Qwen/Qwen2.5-7B"
    assert told == [
        ("actor_train", "gradients per step (an estimate)", f"{QWEN:,} MiB", formula),
        ("actor_infer", "weights per step (an estimate) from actor_train", f"{QWEN:,} MiB", formula),
    ]


def test_what_the_user_says_goes_before() -> None:
    said = ROLL.replace("actor_train: {accelerators: 8}", "actor_train: {accelerators: 8, traffic: 1GiB}")
    said += "  links: [{from: actor_train, to: actor_infer, stream: 1MiB}]\n"
    found = reading(said)
    assert estimates(found) == ({}, [])
    assert found.problem is not None
    assert found.problem["actor_train"].traffic == 1024
    assert found.problem.job.links == (Link("actor_train", "actor_infer", 0, 1),)


@pytest.mark.parametrize(
    "change",
    [
        ("pretrain: Qwen/Qwen2.5-7B", "pretrain: /models/own"),
        ("actor_train:\n", "actor_train:\n  model_args: {lora_target: all-linear, lora_rank: 8}\n"),
    ],
)
def test_nothing_is_guessed(change: tuple[str, str]) -> None:
    assert estimates(reading(ROLL.replace(*change))) == ({}, [])


def test_a_rank_of_no_adapters_is_none() -> None:
    assert estimates(reading(VERL.replace("{path: Qwen/Qwen2.5-7B-Instruct}", "{path: Qwen/Qwen2.5-7B-Instruct, lora_rank: 0}")))[1]
    assert not estimates(reading(VERL.replace("{path: Qwen/Qwen2.5-7B-Instruct}", "{path: Qwen/Qwen2.5-7B-Instruct, lora_rank: 8}")))[1]


def test_a_model_that_the_user_names_takes_the_place_of_the_known_one() -> None:
    found = with_models(reading(ROLL), ModelCard("config.json", 8, 8, 8, parameters=2**20))
    assert estimates(found) == ({"actor_train": 2}, [("actor_train", "actor_infer", 2)])
    assert len([each for each in found.derivations if "estimate" in each.name]) == 2
    assert estimates(with_models(found, ModelCard("config.json", 8, 8, 8))) == ({}, [])


def test_the_block_may_say_how_large_the_model_is() -> None:
    text = ROLL.replace("pretrain: Qwen/Qwen2.5-7B", "pretrain: /models/own") + "  model: {parameters: 1048577}\n"
    assert estimates(reading(text))[1] == [("actor_train", "actor_infer", 3)]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen2.5-0.5B", 0.494), ("Qwen/Qwen2.5-72B", 72.7), ("Qwen/Qwen3-30B-A3B", 30.5), ("meta-llama/Llama-3.1-8B", 8.03),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1.777), ("deepseek-ai/DeepSeek-V3", 671.0),
    ],
)  # fmt: skip
def test_parameters_of_known_models(name: str, billions: float) -> None:
    assert abs(KNOWN[name].parameters / 1e9 - billions) < 0.01 * billions


def test_no_model_is_far_from_what_its_name_says() -> None:
    for name, card in KNOWN.items():
        size = next(
            (
                part
                for part in name.replace("-A3B", "").replace("-A22B", "").split("-")
                if part[:1].isdigit() and part.upper().endswith("B")
            ),
            "",
        )
        if size and card.parameters:
            assert 0.75 < card.parameters / 1e9 / float(size[:-1]) < 1.35, name


def test_amounts_are_rounded_up() -> None:
    assert [mebibytes(ModelCard("x", parameters=count)) for count in (1, 2**19, 2**19 + 1)] == [1, 1, 2]
