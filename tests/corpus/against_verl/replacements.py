"""What takes the place of parts of verl itself: nothing is loaded, sent or waited for, and groups are those of groups.py."""

from __future__ import annotations

import types
from importlib import import_module
from typing import Any, Callable

from first_step import step
from groups import Answer, Caller, Group, Reached, reach
from stand_ins import Empty, Here


class Engine:
    """The engine of the new workers: its process groups alone."""

    def __init__(self, *_: Any, engine_config: Any, **__: Any) -> None:
        self.sequence = 1
        if engine_config.strategy == "megatron":
            degrees = ("tensor_model", "pipeline_model", "virtual_pipeline_model", "context", "expert_model", "expert_tensor")
            asked = {f"{name}_parallel_size": getattr(engine_config, f"{name}_parallel_size") for name in degrees}
            if not Here.process.degrees:
                import_module("megatron.core.parallel_state").initialize_model_parallel(**asked)
            return
        from verl.workers.engine.fsdp.transformer_impl import FSDPEngine

        self.engine_config, self.sequence = engine_config, engine_config.ulysses_sequence_parallel_size
        FSDPEngine._init_device_mesh(self)

    def get_data_parallel_rank(self) -> int:
        """Of the first rank."""
        return 0

    def get_data_parallel_size(self) -> int:
        """Its data parallel ranks."""
        return Here.process.degrees.get("data_parallel") or Here.process.world // self.sequence

    def is_mp_src_rank_with_outputs(self) -> bool:
        """Of the first rank."""
        return True

    def initialize(self) -> None:
        """No model is built."""


def patch() -> None:
    """Stand-ins in verl's own modules: nothing is loaded, sent or waited for, and groups are those above."""
    from verl.experimental.agent_loop import agent_loop
    from verl.experimental.reward_loop import reward_model
    from verl.single_controller import ray as controllers
    from verl.single_controller.ray import base
    from verl.trainer import main_generation_server, main_ppo
    from verl.trainer.ppo import ray_trainer
    from verl.workers import engine_workers, fsdp_workers, megatron_workers
    from verl.workers.config import HFModelConfig
    from verl.workers.engine import EngineRegistry
    from verl.workers.rollout import replica

    def nothing(*_: Any, **__: Any) -> Any:
        return Empty()

    def stop(*_: Any, **__: Any) -> Any:
        raise Reached

    HFModelConfig.__post_init__ = nothing
    import_module("verl.utils").hf_tokenizer = import_module("verl.utils").hf_processor = nothing
    for module in ("verl.utils.fs", "verl.experimental.fully_async_policy.fully_async_main"):
        vars(import_module(module)).update(copy_to_local=nothing, copy_local_path_from_hdfs=nothing)
    for module in ("verl.trainer.main_ppo", "verl.experimental.one_step_off_policy.main_ppo"):
        vars(import_module(module)).update(create_rl_dataset=nothing, create_rl_sampler=nothing, load_reward_manager=nothing)
    for module in ("fully_async_rollouter", "fully_async_trainer"):
        vars(import_module(f"verl.experimental.fully_async_policy.{module}")).update(load_reward_manager=nothing)
    controllers.RayWorkerGroup = replica.RayWorkerGroup = base.RayWorkerGroup = Group
    ray_trainer.RayPPOTrainer._create_dataloader = lambda self, *_: setattr(self, "train_dataloader", [0])
    ray_trainer.RayPPOTrainer.fit = step
    ray_trainer.CheckpointEngineManager = nothing
    ray_trainer.calculate_workload = lambda lengths: lengths
    import_module("main_ppo_split").fit = lambda self: step(self, has_agents=False)
    one_step = import_module("verl.experimental.one_step_off_policy.ray_trainer")
    one_step.OneStepOffRayTrainer.fit = _later(step)
    import_module("verl.experimental.one_step_off_policy.main_ppo").OneStepOffRayTrainer = one_step.OneStepOffRayTrainer
    for workers in (fsdp_workers, megatron_workers, engine_workers):
        vars(workers).update(get_rollout_class=stop, log_gpu_memory_usage=nothing, set_random_seed=nothing)
    EngineRegistry.new = staticmethod(lambda **options: Engine(**options))
    engine_workers.FlopsCounter = nothing
    base.RayResourcePool.get_placement_groups = lambda self, *_, **__: [Empty() for _ in self.store]
    base.ResourcePoolManager.create_resource_pool = _checked(base.ResourcePoolManager.create_resource_pool)
    for module in (agent_loop, reward_model, main_generation_server):
        module.get_rollout_replica_class = _replica
    reward_model.RewardModelManager._initialize_router = nothing
    reward_model.RewardModelManager.get_router_address = nothing
    reward_model.RewardModelManager.sleep = nothing
    reward_model.RewardModelManager._initialize_llm_servers = _within("reward", reward_model.RewardModelManager._initialize_llm_servers)
    agent_loop.AgentLoopManager._initialize_llm_servers = _within("engines", agent_loop.AgentLoopManager._initialize_llm_servers)
    import_module("verl.experimental.fully_async_policy.base_detach_sync").threading = types.SimpleNamespace(Thread=Empty)
    streamed = import_module("verl.experimental.fully_async_policy.agent_loop").FullyAsyncAgentLoopManager
    streamed._initialize_llm_servers_async = _streamed(streamed._initialize_llm_servers_async)
    runner = import_module("verl.experimental.fully_async_policy.fully_async_main").FullyAsyncTaskRunner.__ray_actor_class__
    runner._create_trainer = _then_step(runner._create_trainer)
    import_module("verl.experimental.vla.main_ppo").RobRayPPOTrainer = _Declared
    del main_ppo


class _Declared:
    """A trainer of which only the pools are asked."""

    def __init__(self, resource_pool_manager: Any, **_: Any) -> None:
        self.manager = resource_pool_manager

    def init_workers(self) -> None:
        """Makes the pools."""
        self.manager.create_resource_pool()

    def fit(self) -> None:
        """Is not asked."""


def _streamed(function: Any) -> Any:
    async def run(self: Any) -> None:
        reach("engines")
        self.rollout_replica_class = _replica(self.config.actor_rollout_ref.rollout.name)
        await function(self)
        Answer.said["replicas"] = len(self.rollout_replicas)

    return run


def _then_step(function: Any) -> Any:
    def run(self: Any, config: Any) -> None:
        reach("start")
        function(self, config)
        step(self.components["trainer"]._actor)

    return run


def _later(function: Callable[[Any], None]) -> Any:
    async def run(self: Any) -> None:
        function(self)

    return run


def _within(stage: str, function: Any) -> Any:
    def run(*arguments: Any) -> Any:
        reach(stage)
        try:
            return function(*arguments)
        finally:
            count = len(getattr(arguments[0], "rollout_replicas", ()))
            Answer.said["replicas" if stage == "engines" else "reward replicas"] = count

    return run


def _checked(function: Any) -> Any:
    """Pools are told, then made."""

    def run(self: Any) -> None:
        before = Answer.said["stage"]
        reach("room")
        Answer.parts.update({name: list(sizes) for name, sizes in self.resource_pool_spec.items()})
        Answer.said["pools"] = Answer.parts
        Answer.said.setdefault("roles", {}).update({str(role): name for role, name in (self.mapping or {}).items()})
        function(self)
        reach("groups" if before == "start" else before)

    return run


def _replica(name: str) -> Any:
    """The replica of vLLM launches its servers; of the others only what all share is asked."""
    from verl.workers.rollout.replica import RolloutReplica
    from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer, vLLMReplica

    if Answer.said["stage"] == "start":
        reach("engines")

    class Servers(vLLMReplica if name == "vllm" else RolloutReplica):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            RolloutReplica.__init__(self, *arguments, **options)
            self.server_class = self

        def get_ray_class_with_init_args(self) -> Any:
            return types.SimpleNamespace(cls=None)

        def options(self, **_: Any) -> Any:
            return types.SimpleNamespace(remote=self._served)

        def _served(self, workers: list[Caller], **given: Any) -> Any:
            Answer.said["strange"] |= len({worker.place[0] for worker in workers}) > 1
            config = self.config
            if config.expert_parallel_size > 1:
                _experts(vLLMHttpServer, config, given, workers)
            served = _soon(("", 0, 0))
            return types.SimpleNamespace(get_master_address=served, launch_server=served, get_server_address=_soon(("here", 1)))

        if name != "vllm":

            async def launch_servers(self) -> None:
                assert len(self.workers) == self.world_size
                size = self.gpus_per_replica_node
                for first in range(0, self.world_size, size):
                    self._served(self.workers[first : first + size])

    return Servers


def _experts(server: Any, config: Any, given: dict[str, Any], workers: list[Caller]) -> None:
    """The part of launch_server that counts expert parallel ranks."""
    if given.get("gpus_per_node"):
        assert given["gpus_per_node"] % config.tensor_model_parallel_size == 0
        local = given["gpus_per_node"] // config.tensor_model_parallel_size
        assert len(workers) == local * config.tensor_model_parallel_size


def _soon(value: Any) -> Any:
    async def told(*_: Any, **__: Any) -> Any:
        return value

    return types.SimpleNamespace(remote=told)
