"""Random command lines of verl's programs: mostly right, each with a few of the mistakes that are made with them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

FSDP, MEGATRON = "ppo_trainer", "ppo_megatron_trainer"
PROGRAMS = {
    "main_ppo": ("verl.trainer.main_ppo", "verl/trainer/config", (FSDP, MEGATRON)),
    "one_step_off": ("verl.experimental.one_step_off_policy.main_ppo", "verl/experimental/one_step_off_policy/config",
                     ("one_step_off_ppo_trainer", "one_step_off_ppo_megatron_trainer")),
    "fully_async": ("verl.experimental.fully_async_policy.fully_async_main", "verl/experimental/fully_async_policy/config",
                    ("fully_async_ppo_trainer", "fully_async_ppo_megatron_trainer")),
    "split": ("main_ppo_split.py", "examples/split_placement/config", ("ppo_trainer_split",)),
    "vla": ("verl.experimental.vla.main_ppo", "verl/experimental/vla/config", ("rob_ppo_trainer",)),
    "server": ("verl.trainer.main_generation_server", "verl/trainer/config", (FSDP,)),
}  # fmt: skip
"""Program -> what is started, where its configurations lie, and which there are."""
ACTOR, ROLLOUT, REFERENCE, MODEL = (f"actor_rollout_ref.{name}" for name in ("actor", "rollout", "ref", "model"))


@dataclass(frozen=True)
class Question:
    """A program with its settings, on nodes with so many accelerators."""

    program: str
    configuration: str
    settings: dict[str, Any] = field(default_factory=dict)
    nodes: tuple[int, ...] = ()

    @property
    def texts(self) -> list[str]:
        """`key=value`."""
        return [f"{key}={'null' if value is None else value}" for key, value in self.settings.items()]

    @property
    def asked(self) -> dict[str, Any]:
        """What the oracle is asked."""
        folder = PROGRAMS[self.program][1]
        return {"program": self.program, "config": f"{folder}/{self.configuration}.yaml", "settings": self.texts, "nodes": list(self.nodes)}

    @property
    def script(self) -> str:
        """What a person writes."""
        module = PROGRAMS[self.program][0]
        start = f"python3 {module}" if module.endswith(".py") else f"python3 -m {module}"
        return " \\\n    ".join([f"{start} --config-name={self.configuration}", *self.texts]) + "\n"


class Dice(random.Random):
    """Chances. What a careful author would not write has the chance `care`."""

    care = 0.1

    def chance(self, share: float) -> bool:
        """So often."""
        return self.random() < share

    def one(self, *choices: Any) -> Any:
        """One of these."""
        return self.choice(choices)

    def size(self, *likely: int) -> int:
        """One of the likely sizes, or an odd one."""
        return int(self.one(1, 2, 3, 4, 5, 6, 8, 16)) if self.chance(self.care) else int(self.choice(likely))

    def question(self, program: str) -> Question:
        """A command line of this program."""
        self.care = self.one(0.0, 0.03, 0.1, 0.2)
        configuration = self.choice(PROGRAMS[program][2])
        settings = getattr(self, f"_{program}")("megatron" in configuration)
        if self.chance(self.care):
            settings.pop(self.choice(list(settings)))
        nodes = (self.one(8, 8, 8, 4, 16),) * self.one(1, 2, 2, 3, 4, 4, 8)
        if self.chance(0.1):
            nodes = (*nodes, self.one(2, 4, 6))
        return Question(program, configuration, settings, nodes)

    def _pool(self, nodes: str, accelerators: str) -> dict[str, Any]:
        return {nodes: self.size(1, 1, 1, 2, 2, 4), accelerators: self.size(8, 8, 8, 4, 4, 2, 1)}

    def _engine(self, owner: str = ROLLOUT) -> dict[str, Any]:
        found: dict[str, Any] = {
            f"{owner}.name": self.one("vllm", "vllm", "sglang"),
            f"{owner}.tensor_model_parallel_size": self.size(1, 2, 2, 4),
        }
        if self.chance(0.15):
            found[f"{owner}.data_parallel_size"] = self.size(1, 2, 2, 4)
            if self.chance(0.5):
                tp = found[f"{owner}.tensor_model_parallel_size"]
                found[f"{owner}.expert_parallel_size"] = tp * found[f"{owner}.data_parallel_size"]
        if self.chance(self.care / 2):
            found[f"{owner}.expert_parallel_size"] = self.size(1, 2, 4)
        return found

    def _megatron(self, owner: str) -> dict[str, Any]:
        found = {
            f"{owner}.megatron.tensor_model_parallel_size": self.size(1, 2, 2, 4),
            f"{owner}.megatron.pipeline_model_parallel_size": self.size(1, 1, 2),
        }
        for name, share in (("context_parallel_size", 0.2), ("expert_model_parallel_size", 0.25), ("expert_tensor_parallel_size", 0.2),
                            ("virtual_pipeline_model_parallel_size", 0.08)):  # fmt: skip
            if self.chance(share):
                found[f"{owner}.megatron.{name}"] = self.size(1, 2, 2, 4)
        return found

    def _fsdp(self, owner: str, model: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.chance(0.3):
            found[f"{owner}.strategy"] = self.one("fsdp", "fsdp2", "fsdp2")
        if self.chance(self.care / 3):
            found[f"{owner}.strategy"] = self.one("fsdp3", "megatron")
        if self.chance(0.25):
            found[f"{owner}.ulysses_sequence_parallel_size"] = self.size(1, 2, 2, 4)
            if self.chance(0.8):
                found[f"{model}.use_remove_padding"] = True
        if self.chance(0.25):
            middle = "model." if owner != ACTOR else ""
            found[f"{owner}.{middle}fsdp_config.fsdp_size"] = self.one(-1, 2, 4, 8, self.size(1))
        return found

    def _micro(self, owner: str, name: str = "ppo_micro_batch_size") -> dict[str, Any]:
        kind, size = self.random(), self.one(1, 1, 2, 2, 4, 8, self.size(3))
        if kind < 1 - self.care:
            return {f"{owner}.{name}_per_gpu": size}
        both = {f"{owner}.{name}": self.one(8, 16, 32, 12), f"{owner}.{name}_per_gpu": size}
        return {key: value for key, value in both.items() if self.chance(0.5)}

    def _batches(self) -> dict[str, Any]:
        mini = self.one(16, 32, 64, 128, 256, self.size(24, 48, 96))
        found: dict[str, Any] = {
            "data.train_batch_size": mini * self.one(1, 1, 2, 4, 8) if not self.chance(self.care) else self.one(8, 20, 60, 100),
            f"{ACTOR}.ppo_mini_batch_size": mini, f"{ROLLOUT}.n": self.one(1, 1, 4, 5, 8, 16),
            f"{ACTOR}.use_dynamic_bsz": self.chance(0.4),
            **self._micro(ACTOR), **self._micro(ROLLOUT, "log_prob_micro_batch_size"), **self._micro(REFERENCE, "log_prob_micro_batch_size"),
            **self._micro("critic"),
        }  # fmt: skip
        if self.chance(0.1):
            found["critic.ppo_mini_batch_size"] = self.size(16, 32, 64)
        if self.chance(0.1):
            found["critic.use_dynamic_bsz"] = self.chance(0.5)
        if self.chance(0.1):
            found[f"{ROLLOUT}.agent.num_workers"] = self.size(1, 2, 4, 8, 16)
        return found

    def _roles(self) -> dict[str, Any]:
        found: dict[str, Any] = {"algorithm.adv_estimator": self.one("gae", "grpo", "grpo")}
        for key, share in ((f"{ACTOR}.use_kl_loss", 0.4), ("algorithm.use_kl_in_reward", 0.15)):
            if self.chance(share):
                found[key] = True
        if self.chance(0.1):
            found[f"{MODEL}.lora_rank"] = self.one(8, 32, 0, 1024 if self.chance(self.care) else 64)
        return found

    def _trained(self, megatron: bool) -> dict[str, Any]:
        if megatron:
            critic = self._megatron("critic") if self.chance(0.4) else {}
            return {**self._megatron(ACTOR), **critic}
        critic = self._fsdp("critic", "critic.model")
        actor = self._fsdp(ACTOR, MODEL)
        if f"{ACTOR}.strategy" in actor and self.chance(0.7):
            critic["critic.strategy"] = actor[f"{ACTOR}.strategy"]
        return {**actor, **critic}

    def _main_ppo(self, megatron: bool) -> dict[str, Any]:
        found = {
            **self._pool("trainer.nnodes", "trainer.n_gpus_per_node"), **self._engine(), **self._roles(), **self._batches(),
            **self._trained(megatron),
        }  # fmt: skip
        if self.chance(0.1):
            found["critic.enable"] = self.chance(0.7)
        if self.chance(0.1):
            found["trainer.use_legacy_worker_impl"] = self.one(
                "disable", "disable", "disable", "enable", "never" if self.chance(self.care) else "auto"
            )
        if self.chance(0.2):
            found |= self._reward(found.get("trainer.use_legacy_worker_impl") == "disable")
        if self.chance(self.care / 3):
            found["actor_rollout_ref.hybrid_engine"] = False
        if self.chance(0.05) and not megatron:
            found[f"+{ACTOR}.use_prefix_grouper"] = True
        return found

    def _reward(self, new: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"reward_model.enable": self.chance(0.9), **self._engine("reward_model.rollout")}
        if self.chance(0.3):
            found |= {"reward_model.enable_resource_pool": True, **self._pool("reward_model.nnodes", "reward_model.n_gpus_per_node")}
        if self.chance(0.4) and not new:
            found |= {"reward_model.use_reward_loop": False, "+reward_model.micro_batch_size_per_gpu": 2}
        if self.chance(0.2):
            found["reward_model.num_workers"] = self.size(1, 2, 4)
        return found

    def _one_step_off(self, megatron: bool) -> dict[str, Any]:
        found = {
            "actor_rollout_ref.hybrid_engine": False, **self._pool("trainer.nnodes", "trainer.n_gpus_per_node"),
            **self._pool("rollout.nnodes", "rollout.n_gpus_per_node"), **self._engine(), **self._roles(), **self._batches(),
            **self._trained(megatron),
        }  # fmt: skip
        if self.chance(0.7):
            found["rollout.n_gpus_per_node"] = found["trainer.n_gpus_per_node"]
        return found

    def _fully_async(self, megatron: bool) -> dict[str, Any]:
        found = {
            **self._one_step_off(megatron),
            "data.train_batch_size": 0,
            "data.gen_batch_size": 1,
            f"{ROLLOUT}.calculate_log_probs": True,
        }
        if self.chance(self.care):
            found[self.one("data.train_batch_size", "data.gen_batch_size", "async_training.trigger_parameter_sync_step")] = self.one(
                0, 1, 8
            )
        if self.chance(0.3):
            found["async_training.require_batches"] = self.one(1, 2, 3)
        return found

    def _split(self, megatron: bool) -> dict[str, Any]:
        found = {
            **self._pool("trainer.nnodes", "trainer.n_gpus_per_node"), **self._engine(), **self._roles(), **self._batches(),
            **self._trained(megatron),
        }  # fmt: skip
        found["algorithm.adv_estimator"] = self.one("gae", "gae", "gae", "grpo")
        return {
            key: value for key, value in found.items() if not key.endswith(("data_parallel_size", "expert_parallel_size", "num_workers"))
        }

    def _vla(self, megatron: bool) -> dict[str, Any]:
        found = {
            "trainer.nnodes": self.size(1, 2, 4), "+trainer.n_rollout_gpus_per_node": self.size(4, 8), "+trainer.n_env_gpus_per_node": self.size(4, 8),
        }  # fmt: skip
        if self.chance(0.3):
            found |= {"env.disagg_sim.enable": True, "env.disagg_sim.nnodes": self.size(1, 2)}
        return found

    def _server(self, megatron: bool) -> dict[str, Any]:
        return {**self._pool("trainer.nnodes", "trainer.n_gpus_per_node"), **self._engine()}
