"""Checks of the parameters of a group, before anything is reserved."""

from __future__ import annotations

from typing import Any, Mapping

from ...refusal import kind_of, refused
from ..pools.pool import RayResourcePool
from .ray_class import RayClassWithInitArgs

OTHERS = ("master_addr", "master_port", "use_gpu", "device_name", "profile_steps", "worker_nsight_options", "worker_env", "on")


def check_parameters(name_prefix: str, pool: object, cia: object, others: Mapping[str, Any]) -> None:
    """Check the parameters of a group.

    Raises a ValueError (PW718) if one has the wrong type or is unknown, or if two exclude each
    other.
    """

    def refuse(message: str, help: str) -> Exception:
        return refused("PW718", name_prefix, f"group `{name_prefix}`: {message}", help)

    for name, value, kind in (("resource_pool", pool, RayResourcePool), ("ray_cls_with_init", cia, RayClassWithInitArgs)):
        if value is not None and not isinstance(value, kind):
            raise refuse(f"`{name}` is {kind_of(value)}, and must be a {kind.__name__}", f"give it as `{name}={kind.__name__}(...)`")
    unknown = [name for name in others if name not in OTHERS]
    if unknown:
        raise refuse(f"there is no parameter `{unknown[0]}`", f"the others are {', '.join(OTHERS)}")
    if others.get("profile_steps") and others.get("worker_nsight_options"):
        raise refuse("workers are not started under a profiler here", "leave worker_nsight_options out")
    if (others.get("master_addr") is None) != (others.get("master_port") is None):
        raise refuse("only one of `master_addr` and `master_port` is given", "give both or neither")
    variables = others.get("worker_env") or {}
    if not isinstance(variables, Mapping) or not all(isinstance(text, str) for pair in variables.items() for text in pair):
        raise refuse(f"`worker_env` is {variables!r}", "give a dict of texts by names of variables")
