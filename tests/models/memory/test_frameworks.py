"""What the settings of a framework say of how its models are run, where a hint asks for an estimate."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.models.estimate import non_default_keys

RLINF = """
cluster: {num_nodes: 1, component_placement: {"actor,rollout": all}}
runner: {task_type: reasoning, seq_length: 16384}
algorithm: {recompute_logprobs: false}
actor:
  training_backend: megatron
  model: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 1, recompute_granularity: selective}
  optim: {use_distributed_optimizer: true}
  micro_batch_size: 2
  offload_weight: true
  offload_grad: true
  offload_optimizer: true
rollout: {gpu_memory_utilization: 0.55, tensor_parallel_size: 2, model: {model_path: /models/Qwen2.5-7B-Instruct}}
"""
VERL = """
python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=1 algorithm.adv_estimator=grpo \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct data.max_prompt_length=1024 data.max_response_length=3072 \\
    """
ASKING = """
placewright:
  components: {actor: {estimate: {}}, rollout: {estimate: {sequences: 8}}}
"""


def estimates(folder: Path, name: str, text: str, cluster: str = "1x8xH100") -> dict[str, dict[str, object] | None]:
    """What is known of each component's run."""
    (folder / name).write_text(text)
    reading = pw.load(folder / name, cluster)
    assert reading.problem is not None, reading.findings
    return {each.name: non_default_keys(each.estimate) if each.estimate else None for each in reading.problem.components}


def test_megatron_in_rlinf(tmp_path: Path) -> None:
    assert estimates(tmp_path, "train.yaml", RLINF + ASKING) == {
        "actor": {"sharding": "distributed", "sequence": 16_384, "micro_batch": 2, "recompute": "selective", "offload": True},
        "rollout": {"sequence": 16_384, "sequences": 8, "utilization": 55, "offload": True},
    }


def test_fsdp_in_rlinf(tmp_path: Path) -> None:
    text = RLINF.replace("megatron", "fsdp")
    fsdp = estimates(tmp_path, "train.yaml", text + ASKING)["actor"]
    assert fsdp == {"sharding": "fsdp", "sequence": 16_384, "micro_batch": 2, "recompute": "none"}
    there = text.replace(
        "  micro_batch_size: 2",
        "  micro_batch_size: 2\n  enable_offload: true\n  fsdp_config: {sharding_strategy: no_shard, gradient_checkpointing: true}",
    )
    assert estimates(tmp_path, "train.yaml", there + ASKING)["actor"] == {"sequence": 16_384, "micro_batch": 2, "offload": True}


def test_the_actor_of_rlinf_has_the_model_of_its_rollout(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(RLINF.replace("megatron", "fsdp") + ASKING)
    problem = pw.load(tmp_path / "train.yaml", "1x8xH100").problem
    assert problem is not None
    cards = {name: use.card.name for name, use in problem.job.models.items() if use.card}
    assert cards == {"actor": "Qwen/Qwen2.5-7B-Instruct", "rollout": "Qwen/Qwen2.5-7B-Instruct"}


def test_nothing_is_estimated_that_nobody_asks_for(tmp_path: Path) -> None:
    assert estimates(tmp_path, "train.yaml", RLINF) == {"actor": None, "rollout": None}


def test_what_the_user_writes_goes_before_the_settings(tmp_path: Path) -> None:
    asking = ASKING.replace("actor: {estimate: {}}", "actor: {estimate: {micro_batch: 1, offload: false, sequence: 4096}}")
    found = estimates(tmp_path, "train.yaml", RLINF + asking)["actor"]
    assert found == {"sharding": "distributed", "sequence": 4096, "recompute": "selective"}


def test_fsdp_in_verl(tmp_path: Path) -> None:
    asks = "+placewright.components.actor.estimate='{}' +placewright.components.rollout.estimate='{}'"
    found = estimates(tmp_path, "run.sh", VERL + "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 " + asks + "\n")
    assert found["actor"] == {"sharding": "fsdp", "sequence": 4096, "micro_batch": 4}
    assert found["rollout"] == {"sequence": 4096, "utilization": 50, "offload": True}


def test_fused_kernels_and_models_in_16_bits_in_verl(tmp_path: Path) -> None:
    """verl, verl/workers/fsdp_workers.py: `model_dtype` is that of weights and so of Adam's states; fused kernels make logits in chunks."""
    more = "actor_rollout_ref.model.use_fused_kernels=True actor_rollout_ref.actor.fsdp_config.model_dtype=bf16 algorithm.use_kl_in_reward=True "
    asks = "+placewright.components.actor.estimate='{}' +placewright.components.ref.estimate='{}'\n"
    found = estimates(tmp_path, "run.sh", VERL + more + asks)
    assert found["actor"] == {"sharding": "fsdp", "sequence": 4096, "logits": "chunked", "optimizer": "adam16"}
    assert found["ref"] == {"sharding": "fsdp", "sequence": 4096, "logits": "chunked"}


def test_batches_of_changing_size_in_verl(tmp_path: Path) -> None:
    more = "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=24000 "
    more += "actor_rollout_ref.actor.fsdp_config.param_offload=True actor_rollout_ref.actor.fsdp_config.optimizer_offload=True "
    more += "actor_rollout_ref.model.enable_gradient_checkpointing=False actor_rollout_ref.rollout.free_cache_engine=False "
    asks = "+placewright.components.actor.estimate='{}' +placewright.components.rollout.estimate='{}'"
    found = estimates(tmp_path, "run.sh", VERL + more + asks + "\n")
    assert found["actor"] == {"sharding": "fsdp", "sequence": 24_000, "recompute": "none", "offload": True}
    assert found["rollout"] == {"sequence": 4096, "utilization": 50}


def test_ulysses_in_verl(tmp_path: Path) -> None:
    """Its ranks divide each sequence, and the reference policy's are the actor's; tokens of a batch of changing size are already a rank's."""
    more = "actor_rollout_ref.actor.ulysses_sequence_parallel_size=4 algorithm.use_kl_in_reward=True "
    asks = "+placewright.components.actor.estimate='{}' +placewright.components.ref.estimate='{}'\n"
    found = estimates(tmp_path, "run.sh", VERL + more + asks)
    assert found["actor"] == {"sharding": "fsdp", "sequence": 1024} == found["ref"]
    tokens = "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=24000 "
    found = estimates(tmp_path, "run.sh", VERL + more + tokens + asks)
    assert found["actor"] == {"sharding": "fsdp", "sequence": 24_000} == found["ref"]


def test_hybrid_sharding(tmp_path: Path) -> None:
    """Groups of `fsdp_size` ranks hold all of a model each, in verl and ROLL: verl, verl/workers/fsdp_workers.py (create_device_mesh); ROLL,
    roll/distributed/strategy/fsdp2_strategy.py (create_device_mesh_with_ep), where 1 is all ranks too."""
    more = "actor_rollout_ref.actor.fsdp_config.fsdp_size={} +placewright.components.actor.estimate='{{}}'\n"
    assert estimates(tmp_path, "run.sh", VERL + more.format(4))["actor"] == {"sharding": "fsdp", "shards": 4, "sequence": 4096}
    assert estimates(tmp_path, "run.sh", VERL + more.format(-1))["actor"] == {"sharding": "fsdp", "sequence": 4096}
    for size, shards in ((4, 4), (1, None)):
        strategy = f"strategy_name: fsdp2_infer, strategy_config: {{fsdp_size: {size}}}"
        found = estimates(tmp_path, "rlvr.yaml", ROLL.replace("strategy_name: fsdp2_infer", strategy))["reference"]
        assert found is not None and found["sharding"] == "fsdp" and found.get("shards") == shards


def test_adapters(tmp_path: Path) -> None:
    """Where a framework trains adapters alone, so does the estimate: verl's model.lora_rank, ROLL's lora_target, RLinf's is_lora."""
    more = "actor_rollout_ref.model.lora_rank=32 algorithm.use_kl_in_reward=True "
    asks = "+placewright.components.actor.estimate='{}' +placewright.components.rollout.estimate='{}'\n"
    found = estimates(tmp_path, "run.sh", VERL + more + asks)
    assert found["actor"] == {"lora_rank": 32, "sharding": "fsdp", "sequence": 4096}
    assert found["rollout"] is not None and "lora_rank" not in found["rollout"]
    for said, rank in (("lora_target: all-linear, lora_rank: 16", 16), ("lora_target: all-linear", 8), ("lora_rank: 16", None)):
        text = ROLL.replace("actor_train:\n", f"actor_train:\n  model_args: {{{said}}}\n", 1)
        actor = estimates(tmp_path, "rlvr.yaml", text)["actor_train"]
        assert actor is not None and actor.get("lora_rank") == rank
    for said, rank in (("is_lora: true, lora_rank: 32", 32), ("is_lora: false, lora_rank: 32", None)):
        text = RLINF.replace("megatron", "fsdp").replace(
            "model: {tensor_model_parallel_size: 4", f"model: {{{said}, tensor_model_parallel_size: 4"
        )
        actor = estimates(tmp_path, "train.yaml", text + ASKING)["actor"]
        assert actor is not None and actor.get("lora_rank") == rank


def test_megatron_in_verl(tmp_path: Path) -> None:
    more = "actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 "
    more += "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full "
    asks = "+placewright.components.actor.estimate='{}'"
    found = estimates(tmp_path, "run.sh", VERL + more + asks + "\n")
    assert found["actor"] == {"sharding": "distributed", "sequence": 4096}


ROLL = """
pretrain: Qwen/Qwen2.5-7B
prompt_length: 2048
response_length: 4096
num_gpus_per_node: 8
actor_train:
  training_args: {per_device_train_batch_size: 2}
  strategy_args:
    strategy_name: megatron_train
    strategy_config: {tensor_model_parallel_size: 2, use_distributed_optimizer: true, recompute_granularity: full}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {gpu_memory_utilization: 0.8}}
  device_mapping: list(range(0,8))
reference:
  model_args: {dtype: fp16, disable_gradient_checkpointing: true}
  strategy_args: {strategy_name: fsdp2_infer}
  device_mapping: list(range(0,8))
  infer_batch_size: 4
placewright:
  components: {actor_train: {estimate: {}}, actor_infer: {estimate: {}}, reference: {estimate: {}}}
"""


def test_roll(tmp_path: Path) -> None:
    found = estimates(tmp_path, "rlvr.yaml", ROLL)
    assert found["actor_train"] == {"sharding": "distributed", "sequence": 6144, "micro_batch": 2, "offload": True}
    assert found["actor_infer"] == {"sequence": 6144, "utilization": 80, "offload": True}
    assert found["reference"] == {
        "precision": "fp16", "sharding": "fsdp", "sequence": 6144, "micro_batch": 4, "recompute": "none", "offload": True,
    }  # fmt: skip
