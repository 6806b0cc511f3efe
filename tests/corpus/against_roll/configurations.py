"""Random configurations of ROLL: roles that share their GPUs in every way, degrees that divide them or not, batches."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Iterator

import yaml

PER_NODE, NODES = 8, 4
Config = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A configuration whose `device_mapping`s are lists of numbers, and the pipeline that it is for."""

    pipeline: str
    config: Config

    @property
    def written(self) -> Config:
        """The same as ROLL reads it: lists of numbers as texts."""
        return _written(deepcopy(self.config))

    @property
    def text(self) -> str:
        """The file."""
        return str(yaml.safe_dump(self.written, sort_keys=False))


def _written(config: Config) -> Config:
    for key, value in config.items():
        if key == "device_mapping":
            config[key] = str(value)
        elif isinstance(value, dict):
            _written(value)
    return config


class Dice:
    """Random configurations, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def questions(self, count: int, *pipelines: str) -> Iterator[Question]:
        """So many, of these pipelines in turn."""
        for number in range(count):
            pipeline = pipelines[number % len(pipelines)]
            yield Question(pipeline, {**getattr(self, f"_{pipeline}")(), "prompt_length": 64, "response_length": 64})

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    # -- device ids

    def _range(self, low: int = 0, high: int = 16) -> list[int]:
        start = self.random.randrange(low, high)
        if self._chance(0.7):
            start -= (start - low) % 2
        return list(range(start, self.random.randint(start + 1, high)))

    def _disturbed(self, ids: list[int], share: float = 0.15) -> list[int]:
        """The ids in another order, with one twice, or with one missing, now and then."""
        if not self._chance(share) or len(ids) < 2:
            return ids
        ids = list(ids)
        match self.random.randrange(4):
            case 0:
                self.random.shuffle(ids)
            case 1:
                ids.reverse()
            case 2:
                ids[self.random.randrange(len(ids))] = self.random.choice(ids)
            case _:
                ids.pop(self.random.randrange(len(ids)))
        return ids

    def _pair(self) -> tuple[list[int], list[int]]:
        """Ids of training and of inference: equal, one within the other, apart, or overlapping."""
        infer = self._one(list(range(8)), list(range(4)), list(range(16)), list(range(4, 12)), self._range())
        kind = self.random.randrange(6)
        if kind < 2:
            train = list(infer)
        elif kind == 2 and len(infer) > 1:
            cut = self.random.randrange(1, len(infer))
            cut -= cut % 2 if cut > 1 and self._chance(0.7) else 0
            train = infer[:cut] if self._chance(0.6) else infer[cut:]
        elif kind == 3:
            train = list(range(infer[-1] + 1, infer[-1] + 1 + self._one(1, 2, 4, 8)))
        elif kind == 4:
            train = self._range()
        else:
            train = list(range(max(infer[0] - self._one(0, 2, 4), 0), infer[-1] + 1 + self._one(0, 2, 4)))
        return self._disturbed(train), self._disturbed(infer)

    # -- roles

    def _training(self, ids: list[int]) -> Config:
        size = self._one(1, 1, 2, 2, 4)
        if self._chance(0.6):
            strategy: Config = {"tensor_model_parallel_size": size, "pipeline_model_parallel_size": self._one(1, 1, 1, 2)}
            for key in ("context_parallel_size", "expert_model_parallel_size", "expert_tensor_parallel_size"):
                if self._chance(0.25):
                    strategy[key] = self._one(1, 1, 2, 4)
            role: Config = {"strategy_args": {"strategy_name": "megatron_train", "strategy_config": strategy}}
        else:
            strategy = {"fsdp_size": self._one(1, 2, 4, len(ids))} if self._chance(0.5) else {}
            if self._chance(0.15):
                strategy |= {"ep_size": self._one(1, 2), "efsdp_size": self._one(1, 2)}
            role = {"strategy_args": {"strategy_name": "fsdp2_train", "strategy_config": strategy}}
            if self._chance(0.2):
                role["model_args"] = {"ulysses_size": 2}
        role["training_args"] = {"per_device_train_batch_size": self._one(1, 2), "gradient_accumulation_steps": self._one(1, 2, 4)}
        role["device_mapping"] = ids
        return role

    def _inference(self, ids: list[int]) -> Config:
        tp = self._one(1, 1, 1, 2, 2, 4)
        if self._chance(0.75):
            strategy: Config = {"tensor_parallel_size": tp} if tp > 1 or self._chance(0.5) else {}
            if self._chance(0.1):
                strategy["pipeline_parallel_size"] = 2
            if self._chance(0.1):
                strategy["data_parallel_size"] = self._one(1, 2, len(ids))
            role: Config = {"strategy_args": {"strategy_name": "vllm", "strategy_config": strategy}}
        else:
            strategy = {"tensor_parallel_size": self._one(tp, tp, tp, 2)} if self._chance(0.5) else {}
            role = {"strategy_args": {"strategy_name": "sglang", "strategy_config": {"mem_fraction_static": 0.8, **strategy}}}
            role["num_gpus_per_worker"] = tp
        return {**role, "device_mapping": ids, "generating_args": {}}

    def _reference(self, train: list[int]) -> Config:
        ids = list(train) if self._chance(0.8) else self._range()
        return {"strategy_args": {"strategy_name": self._one("hf_infer", "megatron_infer"), "strategy_config": {}}, "device_mapping": ids}

    def _actors(self) -> Config:
        train, infer = self._pair()
        config: Config = {
            "rollout_batch_size": self._one(64, 64, 64, 60, 16, 48),
            "adv_estimator": self._one("grpo", "grpo", "gae"),
            "init_kl_coef": self._one(0.0, 0.0, 0.1),
            "async_generation_ratio": self._one(0, 0, 0, 1, 1, 0.5),
            "actor_train": self._training(train),
            "actor_infer": self._inference(infer),
        }
        if self._chance(0.1):
            config["generate_opt_level"] = self._one(0, 1)
        if self._chance(0.1):
            config["actor_train"].setdefault("model_args", {})["lora_target"] = "all-linear"
        if config["init_kl_coef"] or self._chance(0.3):
            config["reference"] = self._reference(train)
        if config["adv_estimator"] == "gae" or self._chance(0.1):
            rest = [each for each in infer if each not in train]
            ids = rest[: self._one(1, 2, 4)] if rest and self._chance(0.6) else self._range()
            config["critic"] = {**self._training(ids), "device_mapping": ids}
        return config

    # -- pipelines

    def _rlvr(self) -> Config:
        config = self._actors()
        config["num_return_sequences_in_group"] = self._one(1, 2, 8, 8)
        config["rewards"] = {"math": {"world_size": 4, "tag_included": ["m"]}}
        if self._chance(0.1):
            config["rewards"]["judge"] = {**self._inference(self._range()), "tag_included": ["j"]}
        if self._chance(0.1):
            config["actor_train"]["use_dynamic_batching_in_train"] = True
            config["actor_train"]["max_tokens_per_microbatch_in_train"] = self._one(16384, 16384, 0)
        return config

    def _agentic(self) -> Config:
        config = self._actors()
        if self._chance(0.15):
            config["partial_gpu_mode"] = False
        if self._chance(0.15):
            config["reward"] = self._inference(self._range())
        for name in ("train_env_manager", "val_env_manager"):
            groups = self._one(8, 16)
            parts = [groups] if self._chance(0.9) else [groups // 2, groups // 2]
            config[name] = {"num_env_groups": groups, "group_size": self._one(1, 1, 2, 8), "tags": ["E"], "num_groups_partition": parts}
            if self._chance(0.1):
                config[name]["max_traj_per_env"] = self._one(1, 2, 8)
        config["val_batch_size"] = self._one(64, 64, 128, -1, 96)
        return config | {"custom_envs": {"E": {"env_type": "sokoban"}}}

    def _dpo(self) -> Config:
        config: Config = {"chosen_key": "chosen", "actor_train": self._training(self._disturbed(self._range())), "validation": {}}
        reference = self._reference(config["actor_train"]["device_mapping"])
        reference["strategy_args"]["strategy_name"] = "megatron_infer"
        config["reference"] = reference | ({"infer_batch_size": self._one(1, 2, 8)} if self._chance(0.8) else {})
        return config

    def _distill(self) -> Config:
        student = self._range()
        teacher = list(student) if self._chance(0.6) else self._range()
        config: Config = {"student": self._training(self._disturbed(student)), "teacher": self._training(self._disturbed(teacher))}
        name = config["teacher"]["strategy_args"]["strategy_name"]
        config["teacher"]["strategy_args"]["strategy_name"] = name.replace("_train", "_infer")
        if self._chance(0.6):
            config["logits_transfer_backend"] = self._one("nccl-only", "nccl-only", "ray", "ipc+nccl")
        return config

    def _sft(self) -> Config:
        return {"sft_train": self._training(self._disturbed(self._range()))}
