"""Sequences longer than the positions of their model: refused, or cut, by framework, release and engine."""

from __future__ import annotations

import json
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import Finding
from placewright.models.model_cards.card import card_of
from placewright.models.model_cards.known import KNOWN

CODE = "PW403"
VERL = """{environment}python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 data.max_prompt_length=1024 \\
  data.max_response_length={response} actor_rollout_ref.model.path={model} actor_rollout_ref.rollout.name={engine} \\
  actor_rollout_ref.rollout.tensor_model_parallel_size=2 actor_rollout_ref.rollout.max_num_batched_tokens=200000 \\
  actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
  actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=4 \\
  trainer.nnodes=1 trainer.n_gpus_per_node=8 {more}
"""
ROLL = """
exp_name: long
output_dir: ./out
logging_dir: ./log
save_steps: 10
track_with: tensorboard
num_gpus_per_node: 8
rollout_batch_size: 64
prompt_length: 1024
response_length: {response}
pretrain: Qwen/Qwen2.5-7B-Instruct
adv_estimator: grpo
num_return_sequences_in_group: 8
actor_train:
  training_args: {{per_device_train_batch_size: 1, gradient_accumulation_steps: 64}}
  strategy_args: {{strategy_name: megatron_train, strategy_config: {{tensor_model_parallel_size: 1}}}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {{strategy_name: {engine}, strategy_config: {{{config}}}}}
  device_mapping: list(range(0,8))
reference:
  strategy_args: {{strategy_name: megatron_infer, strategy_config: {{tensor_model_parallel_size: 1}}}}
  device_mapping: list(range(0,8))
"""
RLINF = """
cluster: {{num_nodes: 1, component_placement: {{"actor,rollout": all}}}}
runner: {{task_type: reasoning, seq_length: {length}}}
algorithm: {{group_size: 8}}
data: {{rollout_batch_size: 8}}
rollout: {{rollout_backend: {engine}, tensor_parallel_size: 1, pipeline_parallel_size: 1, model: {{model_path: Qwen/Qwen2.5-7B-Instruct}}}}
actor: {{training_backend: megatron, global_batch_size: 64, micro_batch_size: 1, model: {{tensor_model_parallel_size: 1, pipeline_model_parallel_size: 1}}}}
"""


def of_lengths(text: str, path: Path, framework: str, level: str = "training") -> list[Finding]:
    """Findings about positions of a file's text."""
    path.write_text(text)
    report = pw.verify(str(path), cluster="x8", framework=framework, level=level)
    return [finding for finding in report.findings if finding.code == CODE and "positions of" in finding.message]


def of_verl(
    folder: Path, release: str, response: int = 40_000, model: str = "Qwen/Qwen2.5-7B-Instruct", engine: str = "vllm", more: str = "", environment: str = "",
) -> list[str]:  # fmt: skip
    """Severity of each finding about positions of a script of verl."""
    text = VERL.format(response=response, model=model, engine=engine, more=more, environment=environment)
    return [finding.severity.value for finding in of_lengths(text, folder / "run.sh", f"verl=={release}")]


@pytest.mark.parametrize(
    ("release", "engine", "severity"),
    [
        ("0.3.0", "vllm", "error"), ("0.3.0", "sglang", "error"), ("0.4.1", "vllm", "error"), ("0.4.1", "sglang", "error"),
        ("0.5.0", "vllm", "error"), ("0.5.0", "sglang", "error"), ("0.6.1", "vllm", "error"), ("0.6.1", "sglang", "error"),
        ("0.7.0", "vllm", "warning"), ("0.7.1", "vllm", "warning"), ("0.8.0", "sglang", "warning"), ("0.9.0", "vllm", "warning"),
        ("1dda039b", "vllm", "warning"), ("0.5.0", "hf", ""),
    ],
)  # fmt: skip
def test_a_sample_beyond_the_positions_is_refused_until_0_7_and_then_cut(release: str, engine: str, severity: str, tmp_path: Path) -> None:
    assert of_verl(tmp_path, release, engine=engine) == ([severity] if severity else [])
    assert of_verl(tmp_path, release, 31_744, engine=engine) == []


@pytest.mark.parametrize(
    ("release", "limit", "severity"),
    [("0.5.0", 65_536, "error"), ("0.5.0", 32_768, ""), ("0.7.0", 65_536, ""), ("b178a3cd", 65_536, "error"), ("0.9.0", 65_536, "error"), ("0.9.0", 32_768, "")],
)  # fmt: skip
def test_a_limit_beyond_the_positions_is_refused(release: str, limit: int, severity: str, tmp_path: Path) -> None:
    found = of_verl(tmp_path, release, 2048, more=f"actor_rollout_ref.rollout.max_model_len={limit}")
    assert found == ([severity] if severity else [])


def test_servers_of_0_6_take_the_sample_for_the_limit(tmp_path: Path) -> None:
    mode = "actor_rollout_ref.rollout.mode=async actor_rollout_ref.rollout.max_model_len=8192"
    assert of_verl(tmp_path, "0.6.1", more=mode) == ["error"]
    assert of_verl(tmp_path, "0.6.1", engine="sglang", more=mode) == ["warning"]


def test_a_variable_of_vllm_allows_what_verl_does_not_check(tmp_path: Path) -> None:
    allowed = "export VLLM_ALLOW_LONG_MAX_MODEL_LEN=1\n"
    assert of_verl(tmp_path, "0.5.0", more="actor_rollout_ref.rollout.mode=async", environment=allowed) == ["warning"]
    assert of_verl(tmp_path, "0.5.0", environment=allowed) == ["error"]


@pytest.mark.parametrize(
    "key",
    [
        "+actor_rollout_ref.model.override_config.max_position_embeddings=65536",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.hf_overrides=x",
    ],
)
def test_settings_that_change_the_positions_leave_them_unjudged(key: str, tmp_path: Path) -> None:
    assert of_verl(tmp_path, "0.5.0", more=key) == []


@pytest.mark.parametrize("model", ["/models/Qwen2.5-7B-Instruct", "/models/mine"])
def test_a_path_proves_nothing(model: str, tmp_path: Path) -> None:
    assert of_verl(tmp_path, "0.5.0", model=model) == (["warning"] if "Qwen" in model else [])


def test_rope_scaling_counts_where_the_release_counts_it(tmp_path: Path) -> None:
    model = "meta-llama/Llama-3.1-8B-Instruct"
    assert of_verl(tmp_path, "0.6.1", 140_000, model, "sglang") == ["warning"]
    assert of_verl(tmp_path, "0.6.1", 140_000, model) == ["error"]


def test_the_finding_names_its_numbers_and_the_largest_answer(tmp_path: Path) -> None:
    text = VERL.format(response=40_000, model="Qwen/Qwen2.5-7B-Instruct", engine="vllm", more="", environment="")
    finding = of_lengths(text, tmp_path / "run.sh", "verl==0.5.0")[0]
    assert finding.message == "the 41024 tokens of a sample are more than the 32768 positions of `Qwen/Qwen2.5-7B-Instruct`"
    assert finding.notes[0] == "41024 tokens: `data.max_prompt_length` 1024 + `data.max_response_length` 40000"
    assert finding.help == "set `data.max_response_length=31744` or less, or name a model with more positions"
    assert not of_lengths(text, tmp_path / "run.sh", "verl==0.5.0", "placement")


@pytest.mark.parametrize(
    ("engine", "config", "response", "severity"),
    [
        ("vllm", "max_model_len: 65536", 4096, "error"), ("vllm", "max_model_len: 32768", 4096, ""), ("vllm", "block_size: 16", 40_000, "warning"),
        ("vllm", "max_model_len: 8192", 40_000, ""), ("sglang", "context_length: 65536", 4096, "warning"),
        ("vllm", "max_model_len: 65536, hf_overrides: {max_position_embeddings: 65536}", 4096, ""),
    ],
)  # fmt: skip
def test_roll_passes_the_limit_to_the_engine(engine: str, config: str, response: int, severity: str, tmp_path: Path) -> None:
    text = ROLL.format(engine=engine, config=config, response=response)
    found = [finding.severity.value for finding in of_lengths(text, tmp_path / "roll.yaml", "ROLL==0.3.0")]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(("engine", "length", "severity"), [("vllm", 40_000, "error"), ("vllm", 32_768, ""), ("sglang", 40_000, "warning")])
def test_rlinf_takes_the_length_of_the_runner_for_the_limit(engine: str, length: int, severity: str, tmp_path: Path) -> None:
    found = of_lengths(RLINF.format(engine=engine, length=length), tmp_path / "rlinf.yaml", "RLinf==a3816b59")
    assert [finding.severity.value for finding in found] == ([severity] if severity else [])


def test_a_configuration_beside_the_file_decides(tmp_path: Path) -> None:
    card = {"num_attention_heads": 28, "num_hidden_layers": 28, "max_position_embeddings": 32_768}
    (tmp_path / "config.json").write_text(json.dumps({**card, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}))
    (tmp_path / "run.sh").write_text(VERL.format(response=40_000, model="/m", engine="vllm", more="", environment=""))
    options = {"cluster": "x8", "framework": "verl==0.5.0", "model_config": str(tmp_path / "config.json")}
    assert not [finding for finding in pw.verify(str(tmp_path / "run.sh"), **options).findings if "positions of" in finding.message]
    (tmp_path / "config.json").write_text(json.dumps(card))
    found = [finding for finding in pw.verify(str(tmp_path / "run.sh"), **options).findings if "positions of" in finding.message]
    assert [finding.severity.value for finding in found] == ["error"]


@pytest.mark.parametrize(
    ("config", "positions", "unscaled"),
    [
        ({"max_position_embeddings": 32768}, 32768, 0),
        ({"max_position_embeddings": 32768, "rope_scaling": {"type": "linear", "factor": 2}}, 65536, 32768),
        ({"max_position_embeddings": 40960, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}, 131072, 40960),
        ({"max_position_embeddings": 163840, "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}}, 163840, 0),
        ({"max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 131072, 0),
        ({"max_position_embeddings": 128000, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}, 128000, 0),
        ({"max_position_embeddings": 4096, "model_max_length": 16384}, 16384, 4096),
        ({"text_config": {"max_position_embeddings": 32768}}, 32768, 0),
        ({"max_position_embeddings": 32768, "rope_scaling": {"type": "linear", "factor": "many"}}, 32768, 0),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, 0, 0),
    ],
)  # fmt: skip
def test_positions_of_a_configuration_are_those_that_engines_derive(config: dict[str, object], positions: int, unscaled: int) -> None:
    card = card_of("x", config)
    assert (card.positions, card.unscaled_positions) == (positions, unscaled)


def test_known_models_have_their_own_positions() -> None:
    expected = {
        "Qwen/Qwen2.5-7B-Instruct": 32768,
        "Qwen/Qwen2.5-7B": 131072,
        "Qwen/Qwen2.5-Math-7B": 4096,
        "Qwen/Qwen3-8B": 40960,
        "Qwen/Qwen2.5-72B": 0,
    }
    assert {name: KNOWN[name].positions for name in expected} == expected


def test_an_estimate_of_a_native_file_has_one_warning(tmp_path: Path) -> None:
    estimate = "estimate: {model: Qwen/Qwen2.5-7B-Instruct, sequence: 40000}"
    text = f"cluster: 1x8xH100\ncomponents:\n  rollout: {{placement: 0-7, {estimate}}}\n  actor: {{placement: 0-7, colocate_with: rollout, {estimate}}}\n"
    (tmp_path / "job.yaml").write_text(text)
    found = [finding for finding in pw.verify(str(tmp_path / "job.yaml")).findings if "positions of" in finding.message]
    assert [(finding.subject, finding.severity.value) for finding in found] == [("rollout", "warning")]
