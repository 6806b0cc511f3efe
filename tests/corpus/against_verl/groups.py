"""Worker groups: of each the first worker is real, in a process that knows how many ranks there are.

Every method of a group that is not named here does nothing.
"""

from __future__ import annotations

import os
import types
from contextlib import suppress
from typing import Any, Callable, ClassVar

from stand_ins import Empty, Here, Process


class Reached(Exception):
    """All is done that is asked of a function."""


class Answer:
    """What has become known so far."""

    said: ClassVar[dict[str, Any]] = {}
    parts: ClassVar[dict[str, list[int]]] = {}


def reach(stage: str) -> None:
    """From here on, verl refuses in this stage."""
    Answer.said["stage"] = stage


class Caller:
    """A worker as others call it: it tells its node and its accelerator."""

    def __init__(self, node: str, accelerator: int) -> None:
        self.place = (node, str(accelerator))
        self.__ray_call__ = types.SimpleNamespace(remote=self._told)

    async def _told(self, asked: Callable[[Any], Any]) -> tuple[str, str]:
        return self.place


def places(pool: Any) -> list[Caller]:
    """The accelerators of a pool, or of a part of one, in the order of the ranks."""
    first = getattr(pool, "start_bundle_index", 0)
    held = Here.places(pool.name_prefix.partition("_split_")[0], pool.store)
    return [Caller(*place) for place in held[first : first + pool.world_size]]


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
