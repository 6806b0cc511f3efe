"""Replicas of the engines that are registered here."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping

from ..compat.verl.worker_classes import RayClassWithInitArgs
from ..engines.engine import engine_class, need_serving
from ..failure import refused
from .loop import in_thread
from .replica import Replica, setting
from .settings import Limits
from .wire import Malformed
from .worker import ReplicaWorker


class EngineReplica(Replica):
    """Replica of an engine with a server per node: the first is the master, the rest are headless.

    `config` may also have `host`, the master's listening address, by default that of its node;
    `port`, by default any free port; `api_key`, which clients must send; and each of the Limits.
    `model_config` has `path`, whose last part is the served name unless `served_model_name` is
    given, and the engine's own settings. Raises LaunchFailed: PW740 if a library is missing here,
    PW741 for a configuration that the engine cannot serve.
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
        """Name of the served model."""
        path = str(self.model.get("path") or self.engine).rstrip("/")
        return str(self.model.get("served_model_name") or path.rpartition("/")[2])

    def get_ray_class_with_init_args(self) -> RayClassWithInitArgs:
        """Return the worker class; see Replica."""
        return RayClassWithInitArgs(ReplicaWorker)

    async def launch_servers(self) -> None:
        """Start a server on every node, in the bundle of the workers; see Replica."""
        from .channel import host_port

        host, port = await in_thread(self._launch_servers, stop=self._stop_launching)
        self.servers = self._servers.handles
        self._server_handle = self.servers[0]
        self._server_address = host_port(host, port)

    def _stop_launching(self) -> None:
        """End the servers: a model may take half an hour to load."""
        if self._servers is not None:
            self._servers.kill()

    def _launch_servers(self) -> tuple[str, int]:
        from .servers import Servers, access
        from .settings import ServerSettings

        group = self.worker_group
        if group is None:
            raise refused("PW741", self.subject, f"{self.subject} has no workers", "call one of its init methods")
        first = self.world_size * self.replica_rank if self._own_group is None else 0
        master = self._seats[0].node.address
        workers = access(group.group, range(first, first + self.world_size), master if self.nnodes > 1 else "")
        settings = [
            ServerSettings(
                self.engine, self.model, self.model_name, (self.shape.tensor, self.shape.data, self.shape.pipeline), node, self.nnodes,
                () if node else tuple(workers), str(setting(self.config, "host", "")), master, int(setting(self.config, "port", 0)),
                setting(self.config, "api_key", None), self.limits,
            )
            for node in range(self.nnodes)
        ]  # fmt: skip
        name = f"{self.engine}_server_{'reward_' if self.is_reward_model else ''}{self.replica_rank}"
        self._servers = Servers(group.port, name, self.node_seats, settings)
        address: tuple[str, int] = self._servers.launch()
        return address

    async def stop_servers(self) -> None:
        """End the servers; see Replica."""
        servers, self._servers = self._servers, None
        if servers is not None:
            await in_thread(servers.close)

    async def sleep(self) -> None:
        """Release the memory that only answering needs; requests are refused until `wake_up`."""
        await in_thread(self._servers.ask, "sleep")

    async def wake_up(self) -> None:
        """Answer again."""
        await in_thread(self._servers.ask, "wake_up")

    async def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        await in_thread(self._servers.ask, "clear_kv_cache")


class EchoReplica(EngineReplica):
    """Replica that answers with the request itself."""

    engine = "echo"


class VllmReplica(EngineReplica):
    """Replica of vLLM; on several nodes, headless on all but the first."""

    engine = "vllm"


class SglangReplica(EngineReplica):
    """Replica of SGLang; on several nodes, with its own processes on all of them."""

    engine = "sglang"


REPLICAS: Mapping[str, type[EngineReplica]] = {cls.engine: cls for cls in (EchoReplica, VllmReplica, SglangReplica)}


def get_replica_class(name: str) -> type[EngineReplica]:
    """Return the replica class of an engine. Unknown: ValueError (PW741)."""
    if name not in REPLICAS:
        raise refused("PW741", name, f"there are no replicas of `{name}`", f"use one of {', '.join(REPLICAS)}", name)
    return REPLICAS[name]


get_rollout_replica_class = get_replica_class
"""verl's name of the function."""


def check_plain(model: Mapping[str, Any], subject: str) -> None:
    """Raise ValueError (PW741) for model settings that cannot be sent to workers."""
    from .wire import encode

    for name, value in model.items():
        try:
            encode(value)
        except Malformed as problem:
            message = f"`{name}` of the model of {subject} {problem}"
            raise refused("PW741", subject, message, "give numbers, text, and lists and dicts of them", name) from None


def _plain(model_config: Any) -> dict[str, Any]:
    """Convert a path, a mapping, or an object with attributes to a dict."""
    if model_config is None or isinstance(model_config, str):
        return {"path": model_config} if model_config else {}
    if isinstance(model_config, Mapping) or hasattr(model_config, "keys"):
        return {str(name): model_config[name] for name in model_config}
    return dict(vars(model_config))
