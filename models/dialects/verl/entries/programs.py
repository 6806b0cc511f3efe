"""Every program of verl and of verl-recipe that is known.

Source: verl, verl/trainer/*.py, verl/experimental/*/, examples/split_placement/; verl-recipe, */main_*.py.
"""

from __future__ import annotations

from ....pools.pool import Reserve
from .entry import BARE_SLOTS, Entry, Kind

_RUNNER = (Reserve("TaskRunner", 1),)
# Programs that are a Ray task, not an actor, give their CPU back while they wait for the pools: they reserve none.

MAIN_PPO = Entry("verl.trainer.main_ppo", Kind.HYBRID, "ppo_trainer", _RUNNER)
ONE_STEP_OFF = Entry(
    "verl.experimental.one_step_off_policy.main_ppo", Kind.SEPARATE, "one_step_off_ppo_trainer", (Reserve("OneStepTaskRunner", 10),)
)
FULLY_ASYNC = Entry(
    "verl.experimental.fully_async_policy.fully_async_main", Kind.SEPARATE, "fully_async_ppo_trainer",
    (Reserve("FullyAsyncRollouter", 10), Reserve("FullyAsyncTrainer", 10), Reserve("MessageQueue", 2), Reserve("FullyAsyncTaskRunner", 1)),
)  # fmt: skip
VLA = Entry("verl.experimental.vla.main_ppo", Kind.SIMULATION, "rob_ppo_trainer", trained="train_rollout_pool", rolled="env_gpu_pool")
SPLIT = Entry("main_ppo_split", Kind.SPLIT, "ppo_trainer_split", trained="actor_rollout_ref_pool", rolled="critic_pool")
SERVER = Entry("verl.trainer.main_generation_server", Kind.SERVER, "ppo_trainer")
GENERATION = Entry("verl.trainer.main_generation", Kind.GENERATION, "generation", slots=BARE_SLOTS)
TUNING = Entry("verl.trainer.sft_trainer_ray", Kind.TUNING, "sft_trainer_engine", slots=BARE_SLOTS)
PROCESSES = Entry("verl.trainer.fsdp_sft_trainer", Kind.PROCESSES, "sft_trainer")
EVALUATION = Entry("verl.trainer.main_eval", Kind.NOTHING, "evaluation")
DECLARED = Entry("verl.trainer.ppo.ray_trainer", Kind.DECLARED, "ppo_trainer", _RUNNER)


def _recipe(program: str, configuration: str) -> Entry:
    return Entry(f"recipe.{program}", Kind.HYBRID, configuration, _RUNNER, own_trainer=True)


PROGRAMS = (
    MAIN_PPO,
    Entry("verl.experimental.transfer_queue.main_ppo", Kind.HYBRID, "ppo_trainer", _RUNNER),
    ONE_STEP_OFF,
    FULLY_ASYNC,
    VLA,
    SPLIT,
    SERVER,
    GENERATION,
    TUNING,
    PROCESSES,
    EVALUATION,
    Entry("verl.trainer.sft_trainer", Kind.PROCESSES, "sft_trainer_engine"),
    _recipe("dapo.main_dapo", "dapo_trainer"),
    _recipe("entropy.main_entropy", "entropy_trainer"),
    _recipe("flowrl.main_flowrl", "flowrl_trainer"),
    Entry("recipe.prime.main_prime", Kind.HYBRID, "prime_trainer", own_trainer=True),
    _recipe("r1_ascend.main_ppo", "ppo_trainer"),
    _recipe("specRL.main_ppo", "specRL_trainer"),
    _recipe("spin.main_spin", "spin_trainer"),
    _recipe("spo.spo_main_ppo", "spo_trainer"),
    _recipe("sppo.main_sppo", "sppo_trainer"),
    Entry("recipe.gkd.main_gkd", Kind.SEPARATE, "on_policy_distill_trainer", _RUNNER, own_trainer=True, trained="actor_pool"),
)
"""All of them."""
