"""What RLinf's placement code imports and does not use, made up; and the little of Ray that it does use, on this process alone."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import types
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Callable

MADE_UP = (
    "ray",
    "torch",
    "transformers",
    "megatron",
    "icmplib",
    "torchvision",
    "numpy",
    "gymnasium",
    "groot",
    "safetensors",
    "huggingface_hub",
)
PACKAGES = ("rlinf", "rlinf.scheduler", "rlinf.utils")
"""Packages of RLinf whose `__init__` would load all of it."""


class _AnyAttribute(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Empty()


class _Empty(metaclass=_AnyAttribute):
    """Anything: it can be called, subclassed, or used as a decorator, and has any attribute."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _Empty()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Empty()


class _MadeUp(MetaPathFinder, Loader):
    """Every module below the names of MADE_UP."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in MADE_UP else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__dict__["__getattr__"] = made_up
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def made_up(name: str) -> Any:
    """Any attribute of a module: an empty class."""
    if name.startswith("__"):
        raise AttributeError(name)
    return _AnyAttribute(name, (_Empty,), {"__module__": "stand_in"})


class _Remote:
    """A class behind `ray.remote`: its instances are made here, on the node that the affinity names."""

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._node = ""

    def options(self, scheduling_strategy: Any = None, **others: Any) -> _Remote:
        found = _Remote(self._cls)
        found._node = scheduling_strategy.node_id
        return found

    def remote(self, *arguments: Any) -> _Handle:
        os.environ["RLINF_NODE_RANK"] = self._node.rpartition("-")[2]
        try:
            return _Handle(self._cls(*arguments))
        finally:
            del os.environ["RLINF_NODE_RANK"]


class _Handle:
    """An actor: what its methods return is there at once."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        return types.SimpleNamespace(remote=getattr(self._actor, name))


class _Affinity:
    def __init__(self, node_id: str, soft: bool) -> None:
        self.node_id = node_id


def install(checkout: Path) -> None:
    """Makes RLinf's placement code importable from a checkout."""
    sys.meta_path.insert(0, _MadeUp())
    version: Callable[[str], str] = importlib.metadata.version
    importlib.metadata.version = lambda name: "2.50.0" if name == "ray" else version(name)
    import ray
    import ray.util.scheduling_strategies as strategies
    import torch
    import torch.distributed

    ray.remote, ray.get, ray.is_initialized = _Remote, lambda handles: handles, lambda: True
    ray.get_runtime_context = lambda: types.SimpleNamespace(get_node_id=lambda: "node-0")
    strategies.NodeAffinitySchedulingStrategy = _Affinity
    torch.distributed.is_initialized = lambda: False
    torch.jit = types.SimpleNamespace(script=lambda function: function)
    torch.compile = lambda function: function
    for name in PACKAGES:
        module = types.ModuleType(name)
        module.__path__ = [str(checkout.joinpath(*name.split(".")))]
        sys.modules[name] = module
