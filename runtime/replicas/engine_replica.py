"""Replicas of the engines that are here: the workers hold the accelerators, the servers ask them over ZeroMQ."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping

from ..engines.needed import need_serving
from ..engines.registry import engine_class
from ..refusal import refused
from ..verl.groups.ray_class import RayClassWithInitArgs
from .limits import Limits
from .replica import Replica, setting
from .threads import in_thread
from .worker import ReplicaWorker


class EngineReplica(Replica):
    """A replica of an engine, with one server on each of its nodes: the first is the master, the others are headless.

    `config` may also have `host`, the master's own address on which it listens, that of its node by default; `port`, any
    free one by default; `api_key`, which clients must show; and each of the Limits. `model_config` has `path`, under whose last part the model is
    served unless `served_model_name` is given, and the engine's own settings.
    Raises LaunchFailed: PW740 where a library is missing here, PW741 for what the engine cannot serve.
    """

    engine: ClassVar[str]

    def __init__(
        self, replica_rank: int, config: Any, model_config: Any, gpus_per_node: int = 8, is_reward_model: bool = False, *,
        on: Any = None, device_name: str | None = None,
    ) -> None:  # fmt: skip
        need_serving()
        super().__init__(replica_rank, config, model_config, gpus_per_node, is_reward_model, on=on, device_name=device_name)
        self.model = _plain(model_config)
        check_plain(self.model, self.subject)
        self.limits = Limits.of(lambda name, default: setting(config, name, default), self.subject)
        engine_class(self.engine).check(self.model, self.shape, self.nnodes)
        self._servers: Any = None

    @property
    def model_name(self) -> str:
        """Under which it answers."""
        path = str(self.model.get("path") or self.engine).rstrip("/")
        return str(self.model.get("served_model_name") or path.rpartition("/")[2])

    def get_ray_class_with_init_args(self) -> RayClassWithInitArgs:
        """See Replica."""
        return RayClassWithInitArgs(ReplicaWorker)

    async def launch_servers(self) -> None:
        """See Replica: a server on each node, pinned there by the bundle of its workers."""
        from .channel.address import host_port

        host, port = await in_thread(self._launch_servers, stop=self._stop_launching)
        self.servers = self._servers.handles
        self._server_handle = self.servers[0]
        self._server_address = host_port(host, port)

    def _stop_launching(self) -> None:
        """A model may take half an hour to load; whoever gives up meanwhile does not wait for it."""
        if self._servers is not None:
            self._servers.kill()

    def _launch_servers(self) -> tuple[str, int]:
        from .server.servers import Servers, access, new_key
        from .server.settings import ServerSettings

        group = self.worker_group
        if group is None:
            raise refused("PW741", self.subject, f"{self.subject} has no workers", "call one of its init methods")
        first = self.world_size * self.replica_rank if self._own_group is None else 0
        known, key, each = access(group.group, range(first, first + self.world_size)), new_key(), self.gpus_per_replica_node
        settings = [
            ServerSettings(
                self.engine, self.model, self.model_name, (self.shape.tensor, self.shape.data, self.shape.pipeline), node, self.nnodes,
                tuple(range(node * each, node * each + each)), tuple(known[node * each : node * each + each]), key,
                str(setting(self.config, "host", "")), self._seats[0].node.address, int(setting(self.config, "port", 0)),
                setting(self.config, "api_key", None), self.limits,
            )
            for node in range(self.nnodes)
        ]  # fmt: skip
        name = f"{self.engine}_server_{'reward_' if self.is_reward_model else ''}{self.replica_rank}"
        self._servers = Servers(group.port, name, self.node_seats, settings)
        address: tuple[str, int] = self._servers.launch()
        return address

    async def stop_servers(self) -> None:
        """See Replica."""
        servers, self._servers = self._servers, None
        if servers is not None:
            await in_thread(servers.close)

    async def sleep(self) -> None:
        """Gives back the memory that only answering needs; requests are refused until `wake_up`."""
        await in_thread(self._servers.ask, "sleep")

    async def wake_up(self) -> None:
        """Answers again."""
        await in_thread(self._servers.ask, "wake_up")

    async def clear_kv_cache(self) -> None:
        """Forgets what the engine keeps of earlier prompts, which new weights have made wrong."""
        await in_thread(self._servers.ask, "clear_kv_cache")


class EchoReplica(EngineReplica):
    """Answers with what it was asked."""

    engine = "echo"


class TransformerReplica(EngineReplica):
    """The small transformer in NumPy, with random weights."""

    engine = "transformer"


class VllmReplica(EngineReplica):
    """vLLM; where it has several nodes, headless on all but the first."""

    engine = "vllm"


class SglangReplica(EngineReplica):
    """SGLang; where it has several nodes, its own processes on all of them."""

    engine = "sglang"


REPLICAS: Mapping[str, type[EngineReplica]] = {cls.engine: cls for cls in (EchoReplica, TransformerReplica, VllmReplica, SglangReplica)}


def get_replica_class(name: str) -> type[EngineReplica]:
    """The class of an engine's replicas. Raises a ValueError (PW741) for a name that is not known."""
    if name not in REPLICAS:
        raise refused("PW741", name, f"there are no replicas of `{name}`", f"use one of {', '.join(REPLICAS)}", name)
    return REPLICAS[name]


get_rollout_replica_class = get_replica_class
"""verl's name of it."""


def check_plain(model: Mapping[str, Any], subject: str) -> None:
    """Raises a ValueError (PW741) for settings of a model that cannot be sent to the workers, such as objects with code."""
    from .channel.wire import Malformed, encode

    for name, value in model.items():
        try:
            encode(value)
        except Malformed as problem:
            message = f"`{name}` of the model of {subject} {problem}"
            raise refused("PW741", subject, message, "give numbers, text, and lists and dicts of them", name) from None


def _plain(model_config: Any) -> dict[str, Any]:
    """The settings of a model as a dict: of a mapping, a string, which is the path, or an object with attributes."""
    if model_config is None or isinstance(model_config, str):
        return {"path": model_config} if model_config else {}
    if isinstance(model_config, Mapping) or hasattr(model_config, "keys"):
        return {str(name): model_config[name] for name in model_config}
    return dict(vars(model_config))
