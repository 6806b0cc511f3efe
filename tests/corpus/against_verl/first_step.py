"""The samples of the first step, dealt out as verl does it."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
from groups import Answer, Reached, Role, reach


def step(trainer: Any, has_agents: bool = True) -> None:
    """The samples of a step go to the agents, if these generate, then to the ranks, and into mini batches there."""
    from verl.protocol import DataProto
    from verl.single_controller.base.decorator import _split_args_kwargs_data_proto

    reach("step")
    config, roles = trainer.config, {"actor": trainer.actor_rollout_wg}
    if trainer.use_critic:
        roles["critic"] = trainer.critic_wg
    agents, drawn = getattr(trainer, "async_rollout_manager", None), config.data.get("gen_batch_size", config.data.train_batch_size)
    if agents is None:  # of the two halves that run apart, this is the one that trains
        drawn = trainer.required_samples
    data = DataProto(batch=None, non_tensor_batch={"x": np.zeros(drawn * config.actor_rollout_ref.rollout.n, dtype=object)}, meta_info={})
    for name, role in roles.items():
        Answer.said[f"{name} ranks"] = role.ranks
    if agents is not None and has_agents:
        data.chunk(len(agents.agent_loop_workers))
    if hasattr(trainer, "reward_loop_manager"):
        data.chunk(len(trainer.reward_loop_manager.reward_loop_workers))
    if config.trainer.balance_batch and getattr(trainer, "use_prefix_grouper", False):
        _balance(trainer, drawn, config.actor_rollout_ref.rollout.n)
    for role in roles.values():
        _split_args_kwargs_data_proto(role.ranks, data)
    if getattr(trainer, "rm_wg", None) is not None:
        _split_args_kwargs_data_proto(trainer.rm_wg.ranks, data)
    reach("update")
    for name in ("critic", "actor"):
        if name in roles:
            _update(trainer, name, roles[name], len(data) // roles[name].ranks)


def _balance(trainer: Any, groups: int, each: int) -> None:
    class Mask:
        shape = (groups * each, 1)

        def view(self, *_: int) -> Any:
            return np.ones(self.shape, dtype=int)

    uids = np.array([f"group {number // each}" for number in range(groups * each)], dtype=object)
    batch = types.SimpleNamespace(batch={"attention_mask": Mask()}, non_tensor_batch={"uid": uids}, reorder=lambda order: None)
    trainer._balance_batch(batch, metrics={})


def _update(trainer: Any, name: str, role: Role, mine: int) -> None:
    from verl.protocol import DataProto

    section = trainer.config.actor_rollout_ref.actor if name == "actor" else trainer.config.critic
    worker, each = role.worker, trainer.config.actor_rollout_ref.rollout.n
    if trainer.config.trainer.get("use_legacy_worker_impl") == "disable":
        from verl.workers import engine_workers

        def stop(*_: Any, **__: Any) -> None:
            raise Reached

        asked = {"mini_batch_size": section.ppo_mini_batch_size * each}
        engine_workers.tu = types.SimpleNamespace(pop=lambda data, key, default=None: asked.get(key, default), make_iterator=stop)
        engine_workers.maybe_fix_3d_position_ids = lambda data: None
        fake = types.SimpleNamespace(
            engine=types.SimpleNamespace(get_data_parallel_size=lambda: role.ranks, get_data_parallel_rank=lambda: 0)
        )
        try:
            _inner(engine_workers.TrainingWorker.train_mini_batch)(fake, types.SimpleNamespace(shape=(mine,)))
        except Reached:
            return
    mini = worker.config.actor.ppo_mini_batch_size if name == "actor" else worker.config.ppo_mini_batch_size
    Answer.said[f"{name} mini batch"] = mini
    if section.strategy != "megatron":
        DataProto(batch=None, non_tensor_batch={"x": np.zeros(mine, dtype=object)}, meta_info={}).split(mini)
    else:
        data = types.SimpleNamespace(batch=types.SimpleNamespace(batch_size=(mine,)), meta_info={})
        DataProto.make_iterator(data, mini_batch_size=mini, epochs=1)


def _inner(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function
