"""Which model each role of ROLL runs, and what of it its ranks divide."""

from __future__ import annotations

import pytest
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.model_cards import ModelCard
from placewright.models.reading import Reading
from placewright.models.resolving import with_models
from placewright.models.text.source import Source
from placewright.planner.verify import verify

RLVR = """# start_rlvr_pipeline.py
pretrain: models/policy
reward_pretrain: models/value
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: gae
init_kl_coef: 0.1
actor_train:
  model_args: {ulysses_size: SEQUENCE}
  strategy_args: {strategy_name: fsdp2_train, strategy_config: {fsdp_size: 8}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: TENSOR}}
  device_mapping: list(range(8,16))
reference:
  strategy_args: {strategy_name: megatron_infer, strategy_config: {pipeline_model_parallel_size: STAGES}}
  device_mapping: list(range(0,8))
critic:
  strategy_args: {strategy_name: fsdp2_train, strategy_config: {fsdp_size: 8}}
  device_mapping: list(range(0,8))
rewards:
  judge:
    model_args: {model_name_or_path: models/judge}
    strategy_args: {strategy_name: vllm}
    device_mapping: list(range(8,16))
    tag_included: [math]
"""


def job(sequence: int = 1, tensor: int = 1, stages: int = 1, more: str = "") -> str:
    text = RLVR.replace("SEQUENCE", str(sequence)).replace("TENSOR", str(tensor)).replace("STAGES", str(stages))
    return text + more


def reading(text: str, machines: str = "2x8") -> Reading:
    return read(Source("train.yaml", text), read_shorthand(machines))


def codes(text: str, machines: str = "2x8") -> list[str]:
    return [finding.code for finding in verify(reading(text, machines)).errors]


def paths(text: str) -> dict[str, str]:
    problem = reading(text).problem
    assert problem is not None
    return {name: use.path for name, use in problem.job.models.items()}


def test_models_come_from_the_top_of_the_file_where_one_of_the_policy_is_not_named() -> None:
    policy = dict.fromkeys(("actor_train", "actor_infer", "reference"), "models/policy")
    assert paths(job()) == {**policy, "critic": "models/value", "rewards.judge": "models/judge"}
    one = job().replace("{ulysses_size: 1}", "{model_name_or_path: models/own}")
    assert paths(one) == paths(job())


def test_models_are_their_own_where_every_one_is_named() -> None:
    named = job().replace("{ulysses_size: 1}", "{model_name_or_path: a}")
    for role, name in (("actor_infer", "b"), ("reference", "c")):
        named = named.replace(f"{role}:\n", f"{role}:\n  model_args: {{model_name_or_path: {name}}}\n")
    assert [paths(named)[role] for role in ("actor_train", "actor_infer", "reference")] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("model", "degrees", "faults"),
    [
        ("{heads: 28, kv_heads: 4, layers: 28}", (4, 4, 4), 0),
        ("{heads: 28, kv_heads: 4, layers: 28}", (8, 1, 1), 1),
        ("{heads: 28, kv_heads: 4, layers: 28}", (1, 8, 1), 1),
        ("{heads: 28, kv_heads: 4, layers: 28}", (1, 1, 8), 1),
        ("{heads: 28, kv_heads: 4, layers: 28}", (8, 8, 8), 3),
        ("{heads: 32, kv_heads: 4, layers: 32}", (8, 8, 8), 0),  # key-value heads are repeated
        ("{layers: 32}", (8, 8, 8), 0),
    ],
)
def test_what_does_not_divide_is_mended_by_its_edit(model: str, degrees: tuple[int, int, int], faults: int) -> None:
    text = job(*degrees, more=f"placewright: {{model: {model}}}\n")
    found = verify(reading(text)).errors
    assert [finding.code for finding in found] == ["PW404"] * faults
    edits = [finding.edit for finding in found if finding.edit]
    assert len(edits) == faults
    assert codes(apply_edits(text, edits)) == []


def test_the_reward_model_has_not_the_model_of_the_policy() -> None:
    text = job(more="placewright: {model: {heads: 7}}\n").replace(
        "strategy_args: {strategy_name: vllm}", "strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}"
    )
    assert codes(text) == []


def test_npus_do_without_ulysses() -> None:
    text = job(8, more="placewright: {model: {heads: 28}}\n")
    assert codes(text) == ["PW404"]
    assert codes(text, "2x8xNPU:910B") == []


@pytest.mark.parametrize(
    ("config", "degree"),
    [
        ("tensor_model_parallel_size: 2", "tp"),
        ("pipeline_model_parallel_size: 8", "pp"),
        ("pipeline_model_parallel_size: 2, virtual_pipeline_model_parallel_size: 4", "vpp"),
        ("expert_model_parallel_size: 8", "ep"),
        ("pipeline_model_parallel_size: 8, account_for_loss_in_pipeline_split: true", "29"),
        ("pipeline_model_parallel_size: 2, account_for_loss_in_pipeline_split: true, account_for_embedding_in_pipeline_split: true", ""),
        ('pipeline_model_parallel_size: 8, pipeline_model_parallel_layout: "Et*14|(t|)*6t*8L"', ""),
    ],
)
def test_megatron_divides_vocabulary_layers_and_experts(config: str, degree: str) -> None:
    text = job(more="placewright: {model: {heads: 32, layers: 28, vocabulary: 32001, experts: 12}}\n")
    text = text.replace("pipeline_model_parallel_size: 1", config)
    assert [finding.label.split()[0] for finding in verify(reading(text)).errors] == [degree] * bool(degree)


DISTILLED = """# start_onpolicy_distill_pipeline.py
is_pure_opd: true
pure_opd_pipeline_type: rlvr
pretrain: models/policy
rollout_batch_size: 64
student_train:
  model_args: {model_name_or_path: models/student}
  strategy_args: {strategy_name: megatron_train}
  device_mapping: list(range(0,8))
student_infer:
  model_args: {model_name_or_path: models/student}
  strategy_args: {strategy_name: vllm}
  device_mapping: list(range(0,8))
teacher:
  model_args: {model_name_or_path: models/teacher}
  strategy_args: {strategy_name: megatron_infer, strategy_config: {tensor_model_parallel_size: 8}}
  device_mapping: list(range(0,8))
"""


def test_a_teacher_that_is_the_reference_has_a_model_of_its_own() -> None:
    assert paths(DISTILLED) == {"student_train": "models/student", "student_infer": "models/student", "teacher": "models/teacher"}
    named = with_models(reading(DISTILLED), ModelCard("config.json", 7, 7, 7))
    assert named.problem is not None
    cards = {name: use.card for name, use in named.problem.job.models.items()}
    assert cards["student_train"] == cards["student_infer"] == ModelCard("config.json", 7, 7, 7)
    assert cards["teacher"] is None


def test_a_degree_that_is_left_to_solve_is_judged_too() -> None:
    text = job(more="placewright: {model: {heads: 28}, components: {actor_infer: {accelerators: 8}}}\n")
    text = text.replace("{tensor_parallel_size: 1}}\n  device_mapping: list(range(8,16))", "{tensor_parallel_size: 8}}")
    report = verify(reading(text))
    assert [finding.code for finding in report.errors] == ["PW404"] and report.pending == ("actor_infer",)
