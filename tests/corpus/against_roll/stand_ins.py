"""What ROLL's configurations and checks import and do not use, made up; and the little of torch and Ray that they do use."""

from __future__ import annotations

import logging
import sys
import types
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

PACKAGES = ("roll", "roll.pipeline", "roll.utils", "roll.pipeline.agentic", "roll.pipeline.rlvr", "roll.pipeline.dpo", "roll.pipeline.distill",
            "roll.pipeline.sft", "roll.distributed", "roll.distributed.executor", "roll.third_party", "roll.third_party.megatron",
            "roll.third_party.fsdp2")  # fmt: skip
"""Packages of ROLL whose `__init__` would load all of it."""
OWN = (
    "roll.configs", "roll.pipeline.rlvr.rlvr_config", "roll.pipeline.agentic.agentic_config", "roll.pipeline.agentic.agentic_pipeline",
    "roll.pipeline.dpo.dpo_config", "roll.pipeline.distill.distill_config", "roll.pipeline.distill.logits_transfer_group",
    "roll.pipeline.sft.sft_config", "roll.utils.config_utils", "roll.distributed.executor.model_update_group",
    "roll.third_party.megatron.model_update", "roll.third_party.fsdp2.model_update",
)  # fmt: skip
"""The modules of ROLL that are asked; all its others are made up."""


class _AnyAttribute(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()


class Empty(metaclass=_AnyAttribute):
    """Anything: it can be called, subclassed, or used as a decorator, and has any attribute."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not options else Empty()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty()


class _MadeUp(MetaPathFinder, Loader):
    """Every module that is not installed, and those of ROLL that are not asked."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top == "roll":
            asked = name in PACKAGES or any(name == own or name.startswith(f"{own}.") for own in OWN)
            return None if asked else ModuleSpec(name, self, is_package=True)
        if top in sys.stdlib_module_names or top in ("numpy", "omegaconf", "yaml", "antlr4", "packaging", "attr"):
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__dict__["__getattr__"] = _made_up
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _made_up(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _AnyAttribute(name, (Empty,), {"__module__": "stand_in"})


def install(checkout: str, per_node: int) -> None:
    """Makes those modules of ROLL importable from a checkout; a driver sees `per_node` devices."""
    sys.meta_path.insert(0, _MadeUp())
    sys.path.insert(0, checkout)
    for name in PACKAGES:
        module = types.ModuleType(name)
        module.__path__ = [f"{checkout}/{name.replace('.', '/')}"]
        sys.modules[name] = module
    import_module("ray").get = lambda handles: handles  # type: ignore[attr-defined]
    platform = types.SimpleNamespace(device_count=lambda: per_node, apply_ulysses_patch=lambda: True, device_type="cuda")
    import_module("roll.platforms").current_platform = platform  # type: ignore[attr-defined]
    logger = logging.getLogger("roll")
    logger.setLevel(logging.CRITICAL + 1)
    import_module("roll.utils.logging").get_logger = lambda *_, **__: logger  # type: ignore[attr-defined]
