"""What verl imports and does not use here, made up; and the little of torch, Megatron and Ray that its arithmetic does use."""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import logging
import sys
import types
from dataclasses import dataclass, field
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from math import prod
from typing import Any, Callable, ClassVar, Sequence

import numpy

REAL = (
    "programs",
    "groups",
    "first_step",
    "replacements",
    "oracle",
    "verl",
    "main_ppo_split",
    "numpy",
    "omegaconf",
    "hydra",
    "yaml",
    "antlr4",
    "packaging",
    "attr",
)
"""What is imported as it is; all else but the standard library is made up."""


class _Anything(type):
    """Any attribute, any sum with it, any item of it is anything again."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()

    def __getitem__(cls, item: Any) -> Any:
        return cls


class Empty(metaclass=_Anything):
    """Anything: it can be called, subclassed, or used as a decorator, and has any attribute."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not options else Empty()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()

    def __neg__(self) -> Any:
        return self

    def __getitem__(self, item: Any) -> Any:
        return self

    def __iter__(self) -> Any:
        return iter(())


class _MadeUp(MetaPathFinder, Loader):
    """Every module that is not real."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        return None if top in REAL or top in sys.stdlib_module_names else ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__dict__.update(__getattr__=_made_up, __version__="99.0.0")
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _made_up(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Anything(name, (Empty,), {"__module__": "stand_in"})


@dataclass
class Process:
    """The process that runs at this moment: the first of so many, with what the libraries keep for it."""

    world: int = 1
    grouped: bool = False
    degrees: dict[str, int] = field(default_factory=dict)


class Here:
    """Where the current process is kept; how many accelerators Ray has, and how many of them are taken; which are left on each node.

    A part of a pool lies on the first node that has room for it.
    """

    process = Process()
    available = 0
    taken = 0
    left: ClassVar[list[int]] = []
    placed: ClassVar[dict[str, list[tuple[str, int]]]] = {}

    @classmethod
    def places(cls, pool: str, parts: Sequence[int]) -> list[tuple[str, int]]:
        """(node, accelerator) of every rank of a pool; a part that no node has room for has one of its own."""
        if pool not in cls.placed:
            cls.placed[pool] = []
            for number, size in enumerate(parts):
                node = next((node for node, left in enumerate(cls.left) if left >= size), None)
                first = cls.left[node] - size if node is not None else 0
                name = f"node {node}" if node is not None else f"{pool} {number}"
                if node is not None:
                    cls.left[node] = first
                cls.placed[pool] += [(name, first + rank) for rank in range(size)]
        return cls.placed[pool]


class Mesh:
    """A device mesh. A rank that is left out of it cannot say where in it it is, so no world is larger."""

    def __init__(self, shape: Sequence[int]) -> None:
        if prod(shape) != Here.process.world:
            raise RuntimeError(f"a mesh of {tuple(shape)} for {Here.process.world} ranks")
        self.shape, self.ndim = shape, len(shape)

    def size(self, dim: int | None = None) -> int:
        """Ranks in it."""
        return prod(self.shape) if dim is None else self.shape[dim]

    def __getitem__(self, name: str) -> Any:
        return types.SimpleNamespace(get_local_rank=lambda: 0)


def _initialize_model_parallel(**asked: Any) -> None:
    """What Megatron demands of its degrees. Source: Megatron-LM, megatron/core/parallel_state.py, initialize_model_parallel."""
    degree = {name.removesuffix("_parallel_size"): value for name, value in asked.items() if name.endswith("_parallel_size")}
    tensor, stages, virtual = degree["tensor_model"], degree["pipeline_model"], degree["virtual_pipeline_model"]
    world, model = Here.process.world, tensor * stages * degree["context"]
    if world % model:
        raise RuntimeError(f"world_size ({world}) is not divisible by {model}")
    if virtual is not None and not stages > 1:
        raise RuntimeError("pipeline-model-parallel size should be greater than 1 with interleaved schedule")
    inner = tensor if degree["expert_tensor"] is None else degree["expert_tensor"]
    if world % (inner * degree["expert_model"] * stages):
        raise RuntimeError(f"world_size ({world}) is not divisible by expert_tensor_model_pipeline_parallel size")
    Here.process.degrees = {"data_parallel": world // model, "pipeline_model_parallel": stages}


class Remote:
    """A class or a function behind `ray.remote`; an instance is made only of what `STARTED` names."""

    STARTED = ("FullyAsyncRollouter", "FullyAsyncTrainer")

    def __init__(self, cls: Any) -> None:
        self.__ray_actor_class__ = cls

    def remote(self, *arguments: Any, **options: Any) -> Any:
        """A handle."""
        made = self.__ray_actor_class__
        return Handle(made(*arguments, **options)) if made.__name__ in self.STARTED else Empty()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()


class Handle:
    """An actor: what its methods return is there at once."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        return types.SimpleNamespace(remote=getattr(self._actor, name))


def _get(handles: Any) -> Any:
    return asyncio.run(handles) if inspect.iscoroutine(handles) else handles


def _remote(*arguments: Any, **options: Any) -> Any:
    return Remote if options else Remote(arguments[0])


def _grouped() -> bool:
    return Here.process.grouped


def _group(*_: Any, **__: Any) -> None:
    Here.process.grouped = True


def install(checkout: str) -> None:
    """Makes verl importable from a checkout, and all that it needs."""
    sys.meta_path.insert(0, _MadeUp())
    sys.path[:0] = [checkout, f"{checkout}/examples/split_placement"]
    logging.disable(logging.CRITICAL)
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: "0.12.0" if name == "vllm" else version(name)
    _set("torch.distributed", is_initialized=_grouped, init_process_group=_group, get_rank=lambda *_: 0, get_world_size=_world)
    _set("torch.distributed.device_mesh", init_device_mesh=lambda _, mesh_shape, **__: Mesh(mesh_shape))
    _set("torch", float32=float, device=str, tensor=numpy.array, distributed=import_module("torch.distributed"))
    ranks: dict[str, Callable[..., Any]] = {f"get_{kind}_rank": lambda *_, **__: 0 for kind in ("tensor_model_parallel",
        "context_parallel", "data_parallel", "pipeline_model_parallel")}  # fmt: skip
    sizes = {
        f"get_{kind}_world_size": lambda kind=kind: Here.process.degrees[kind] for kind in ("data_parallel", "pipeline_model_parallel")
    }
    _set("megatron.core.parallel_state", initialize_model_parallel=_initialize_model_parallel, **ranks, **sizes)
    _set("megatron.core", parallel_state=import_module("megatron.core.parallel_state"))
    _set("ray._private.state", available_resources_per_node=lambda: {"node": {"GPU": Here.available - Here.taken}})
    nodes = [{"NodeID": "node", "Alive": True, "Resources": {"CPU": 1}}]
    _set("ray", remote=_remote, get=_get, nodes=lambda: nodes)
    _set("tensordict", __version__="0.10.0")
    _set("vllm.config.lora", MaxLoRARanks=_ranks())


def _ranks() -> Any:
    from typing import Literal

    return Literal[1, 8, 16, 32, 64, 128, 256, 320, 512]


def _world(*_: Any) -> int:
    return Here.process.world


def _set(module: str, **values: Any) -> None:
    import_module(module).__dict__.update(values)
