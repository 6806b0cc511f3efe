"""verl's programs, run up to their first step: their own code, with stand-ins for what it starts, loads and sends.

A worker group has one real worker, the first, whose process is a stand-in that knows how many ranks there are. Every method of a
group that is not named here does nothing.
"""

from __future__ import annotations

import asyncio
import os
import types
from contextlib import suppress
from importlib import import_module
from typing import Any, Callable, ClassVar, Iterator

import numpy as np
from stand_ins import Empty, Here, Process, Remote


class Reached(Exception):
    """All is done that is asked of a function."""


class Answer:
    """What has become known so far."""

    said: ClassVar[dict[str, Any]] = {}
    parts: ClassVar[dict[str, list[int]]] = {}


def reach(stage: str) -> None:
    """From here on, verl refuses in this stage."""
    Answer.said["stage"] = stage


# -- worker groups and their pools


class Caller:
    """A worker as others call it: it tells its node and its accelerator."""

    def __init__(self, node: str, accelerator: int) -> None:
        self.place = (node, str(accelerator))
        self.__ray_call__ = types.SimpleNamespace(remote=self._told)

    async def _told(self, asked: Callable[[Any], Any]) -> tuple[str, str]:
        return self.place


def places(pool: Any) -> list[Caller]:
    """The accelerators of a pool, or of a part of one, in the order of the ranks."""
    first, size = getattr(pool, "start_bundle_index", 0), pool.store[0]
    return [
        Caller(f"{pool.name_prefix.partition('_split_')[0]}-{rank // size}", rank % size) for rank in range(first, first + pool.world_size)
    ]


class Group:
    """A worker group."""

    def __init__(self, resource_pool: Any, ray_cls_with_init: Any, **options: Any) -> None:
        Answer.said["stage"], before = "workers", Answer.said["stage"]
        self.workers, self.world_size = places(resource_pool), resource_pool.world_size
        Here.taken += 0 if hasattr(resource_pool, "start_bundle_index") else self.world_size
        self.process = Here.process = Process(self.world_size)
        environment = {"RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": self.world_size, "MASTER_ADDR": "here", "MASTER_PORT": 1}
        os.environ.update({name: str(value) for name, value in environment.items()})
        made = getattr(ray_cls_with_init.cls, "__ray_actor_class__", None)
        self.worker = made() if made is not None and made.__name__ == "WorkerDict" else None
        reach(before)

    def spawn(self, prefix_set: Any) -> dict[str, Any]:
        """The roles of the group."""
        return {name: Role(self, name) for name in prefix_set}


class Role:
    """One role of a group."""

    def __init__(self, group: Group, name: str) -> None:
        self.group, self.name, self.workers, self.world_size = group, name, group.workers, group.world_size
        self.worker = group.worker.worker_dict[name]
        self._dispatch_info = {"actor": [self.ranks - 1]}

    @property
    def ranks(self) -> int:
        """Its data parallel ranks."""
        if "data_parallel" in self.group.process.degrees:
            return int(self.group.process.degrees["data_parallel"])
        engine = getattr(self.worker, "engine", None)
        worker = getattr(self.worker, "config", None)
        sequence = getattr(self.worker, "ulysses_sequence_parallel_size", None)
        if sequence is None:
            sequence = engine.sequence if engine else worker.actor.get("ulysses_sequence_parallel_size", 1)
        return self.world_size // int(sequence)

    def init_model(self) -> None:
        """The models are not loaded; the engine that generates is built."""
        from verl.utils.config import omega_conf_to_dataclass

        Here.process, worker = self.group.process, self.worker
        if getattr(worker, "_is_actor", False):
            reach("workers")
            omega_conf_to_dataclass(worker.config.actor)
        if hasattr(self.worker, "_build_rollout") and getattr(self.worker, "_is_rollout", False):
            reach("engines")
            built: Callable[[], Any] = self.worker._build_rollout
        elif hasattr(self.worker, "_is_actor") and type(self.worker).__module__ == "verl.workers.engine_workers":
            reach("engines")
            built = self.worker.init_model
        else:
            return
        with suppress(Reached):
            built()

    def reset(self) -> None:
        """The engine of new workers is not built."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()


# -- the first step


def step(trainer: Any) -> None:
    """The samples of a step go to the agents, then to the ranks, and into mini batches there."""
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
    if agents is not None:
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


# -- what stands in


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
    import_module("main_ppo_split").fit = step
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


# -- the programs


def _run_remote(module: str, name: str) -> Callable[[Any], None]:
    def run(config: Any) -> None:
        found = getattr(import_module(module), name)
        made = found.__ray_actor_class__ if isinstance(found, Remote) else found
        if isinstance(made, type):
            actor = made()
            getattr(actor, "run" if name != "FullyAsyncTaskRunner" else "_initialize_components")(config)
        else:
            made(config)

    return run


def _serve(config: Any) -> None:
    from omegaconf import OmegaConf
    from verl.trainer.main_generation_server import generate, start_server

    OmegaConf.resolve(config)
    servers, addresses = asyncio.run(start_server(config))
    Answer.said["replicas"] = len(servers)
    if not addresses:
        reach("step")
        asyncio.run(generate(addresses, "", 1, {}, np.zeros(8, dtype=object)))


PROGRAMS: dict[str, Callable[[Any], None]] = {
    "main_ppo": _run_remote("verl.trainer.main_ppo", "TaskRunner"),
    "one_step_off": _run_remote("verl.experimental.one_step_off_policy.main_ppo", "OneStepTaskRunner"),
    "fully_async": _run_remote("verl.experimental.fully_async_policy.fully_async_main", "FullyAsyncTaskRunner"),
    "vla": _run_remote("verl.experimental.vla.main_ppo", "main_task"),
    "split": _run_remote("main_ppo_split", "main_task"),
    "server": _serve,
}


def run(program: str, config: Any, nodes: list[int], answer: dict[str, Any]) -> None:
    """Runs a program; the answer is filled as it goes."""
    if not hasattr(run, "patched"):
        patch()
        run.patched = True  # type: ignore[attr-defined]
    Answer.said, Answer.parts = answer, {}
    answer.update(stage="start", strange=False)
    Here.available, Here.taken = sum(nodes), 0
    try:
        PROGRAMS[program](config)
    finally:
        answer["waits"] = not fits(sorted((size for sizes in Answer.parts.values() for size in sizes), reverse=True), nodes)


def fits(parts: list[int], nodes: list[int]) -> bool:
    """Is there a node for every part? Ray puts a part onto one node, and waits for ever if none has room (tried in all ways)."""
    states = {tuple(sorted(nodes))}
    for part in parts:
        states = {tuple(sorted((*state[:at], state[at] - part, *state[at + 1 :]))) for state in states for at in _rooms(state, part)}
    return bool(states)


def _rooms(state: tuple[int, ...], part: int) -> Iterator[int]:
    firsts = dict(zip(reversed(state), range(len(state) - 1, -1, -1)))
    return (at for size, at in firsts.items() if size >= part)
