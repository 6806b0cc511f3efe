"""Degrees and sizes of a role of ROLL, as its strategies read them."""

from __future__ import annotations

from math import prod

from .configurations import Config


def strategy_of(role: Config) -> tuple[str, Config]:
    arguments = role.get("strategy_args")
    return (arguments["strategy_name"], arguments["strategy_config"]) if arguments else ("", {})


def each_of(role: Config) -> int:
    name, strategy = strategy_of(role)
    if name == "vllm":
        return int(strategy.get("tensor_parallel_size", 1) * strategy.get("pipeline_parallel_size", 1))
    return int(role.get("num_gpus_per_worker", 1)) if name in ("sglang", "hf_infer", "") else 1


def megatron_replica(strategy: Config) -> int:
    names = ("tensor_model", "pipeline_model", "context")
    return prod(strategy.get(f"{name}_parallel_size", 1) for name in names)


def data_parallel(role: Config) -> int:
    """Data parallel ranks; 0 where they do not come out even."""
    name, strategy = strategy_of(role)
    replica = megatron_replica(strategy) if name.startswith("megatron") else 1
    if name.startswith("fsdp2"):
        replica = role.get("model_args", {}).get("ulysses_size", 1)
    ranks = len(role["device_mapping"])
    return ranks // replica if ranks % replica == 0 else 0
