"""Options of actors, as in `ray.remote`: followed or refused, never dropped silently."""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping

from ...refusal import refused

FOLLOWED = ("num_cpus", "num_gpus", "resources", "runtime_env", "max_concurrency", "lifetime")
IN_ENVIRONMENT = ("env_vars", "py_executable")
HELP = "use num_cpus, num_gpus, max_concurrency, lifetime, and runtime_env with env_vars and py_executable"
NEUTRAL: dict[str, Callable[[Any], bool]] = {
    "max_restarts": lambda value: value == 0,
    "max_task_retries": lambda value: value == 0,
    "scheduling_strategy": lambda value: value == "DEFAULT",
    "placement_group": lambda value: value in ("default", None),
    "placement_group_bundle_index": lambda value: value == -1,
    "get_if_exists": lambda value: not value,
}
"""Options accepted without effect, with a test for neutral values."""
WHY = {
    "name": "workers are named after the group's `name_prefix`",
    "namespace": "workers are in the namespace of this process",
    "max_restarts": "a worker that was started again would have no place in its group; a launch can be started again whole",
    "max_task_retries": "a worker is not started again",
    "scheduling_strategy": "the pool says where the workers are",
    "placement_group": "the pool says where the workers are",
    "placement_group_bundle_index": "the pool says where the workers are",
    "accelerator_type": "the pool has that: RayResourcePool(..., accelerator_type=...)",
}


def check_options(worker: str, options: Mapping[str, Any]) -> None:
    """Check the options of a worker class.

    Raises a ValueError (PW718) for options that would have no effect.
    """
    for name, value in options.items():
        if value is None or name in FOLLOWED or (name in NEUTRAL and NEUTRAL[name](value)) or name.startswith("_"):
            continue
        reason = f": {WHY[name]}" if name in WHY else ""
        raise refused("PW718", worker, f"option `{name}` of {worker} would not be followed{reason}", HELP, name)
    for name in options.get("runtime_env") or {}:
        if name not in IN_ENVIRONMENT:
            message = f"`{name}` in the runtime_env of {worker} would not be followed"
            help = "use env_vars and py_executable, install it on the nodes, or give it to ray.init(runtime_env=...)"
            raise refused("PW718", worker, message, help, name)


def common_options(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the options and environment variables of classes that share a process.

    `options`: by the key of the class. Raises a ValueError (PW718) where two classes disagree.
    """
    common: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    variables: dict[str, Any] = {}
    first: dict[str, str] = {}
    for key, own_options in options.items():
        process_environment = dict(own_options.get("runtime_env") or {})
        actor_options = {name: value for name, value in own_options.items() if name != "runtime_env" and name not in NEUTRAL}
        for target, values in (
            (variables, process_environment.pop("env_vars", None) or {}),
            (environment, process_environment),
            (common, actor_options),
        ):
            for name, value in values.items():
                if target.setdefault(name, value) != value:
                    message = f"`{name}` is {target[name]!r} for `{first[name]}` and {value!r} for `{key}`, which share a process"
                    raise refused("PW718", key, message, "let both say the same, or give them groups of their own", name)
                first.setdefault(name, key)
    environment |= {"env_vars": variables} if variables else {}
    return common | ({"runtime_env": environment} if environment else {})


def slots(worker: str, options: Mapping[str, Any], pool: str, limit: int, resource: str) -> int:
    """Return the number of slots of a worker on a seat: requested CPUs, at least 1.

    `limit`: number of slots of a seat; `resource`: Ray's name of the seat's accelerator, "" without
    one. Raises a ValueError (PW702) for more than one seat of the pool offers, because Ray would
    wait for that forever.
    """
    cpus = options.get("num_cpus") or 0
    if cpus > limit:
        message = f"each {worker} asks for {cpus:g} CPUs, and a place of pool `{pool}` has {limit}, its max_colocate_count"
        raise refused("PW702", worker, message, "give the pool a larger max_colocate_count", amount=math.ceil(cpus - limit))
    amounts = {"GPU": options.get("num_gpus") or 0, **(options.get("resources") or {})}
    for name, amount in amounts.items():
        has = 1 if resource == name else 0
        if amount > has:
            message = f"each {worker} asks for {amount:g} `{name}`, and a place of pool `{pool}` has {has}"
            raise refused("PW702", worker, message, "ask for no more than the pool's places have", amount=math.ceil(amount - has))
    return max(1, math.ceil(cpus))
