"""Classes of workers with arguments and actor options, and several classes in one process."""

from __future__ import annotations

import inspect
import math
import os
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping

from ...failure import build_refusal
from ...workers.inside.base import Worker
from .calls import methods_of
from .dispatch import MARK, CallMode, Dispatch

FOLLOWED = ("num_cpus", "num_gpus", "resources", "runtime_env", "max_concurrency")
IN_ENVIRONMENT = ("env_vars", "py_executable")
HELP = "use num_cpus, num_gpus, max_concurrency, and runtime_env with env_vars and py_executable"
NEUTRAL: Mapping[str, Any] = {
    "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "DEFAULT", "placement_group": "default",
    "placement_group_bundle_index": -1, "get_if_exists": False,
}  # fmt: skip
"""Option without effect -> the value that is accepted all the same."""


def check_options(worker: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError (PW718) for options that would have no effect."""
    for name, value in options.items():
        if value is not None and name not in FOLLOWED and value != NEUTRAL.get(name) and not name.startswith("_"):
            raise build_refusal("PW718", worker, f"option `{name}` of {worker} would not be followed", HELP, name)
    for name in options.get("runtime_env") or {}:
        if name not in IN_ENVIRONMENT:
            message = f"`{name}` in the runtime_env of {worker} would not be followed"
            help = "use env_vars and py_executable, install it on the nodes, or give it to ray.init(runtime_env=...)"
            raise build_refusal("PW718", worker, message, help, name)


def common_options(options: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the options of classes in one process, by key. Conflict: ValueError (PW718)."""
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
                    raise build_refusal("PW718", key, message, "write the same for both, or give them groups of their own", name)
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
        raise build_refusal("PW702", worker, message, "give the pool a larger max_colocate_count", amount=math.ceil(cpus - limit))
    amounts = {"GPU": options.get("num_gpus") or 0, **(options.get("resources") or {})}
    for name, amount in amounts.items():
        has = 1 if resource == name else 0
        if amount > has:
            message = f"each {worker} asks for {amount:g} `{name}`, and a place of pool `{pool}` has {has}"
            raise build_refusal("PW702", worker, message, "ask for no more than the pool's places have", amount=math.ceil(amount - has))
    return max(1, math.ceil(cpus))


OPTIONS = ("master_addr", "master_port", "use_gpu", "device_name", "profile_steps", "worker_nsight_options", "worker_env", "on")


def check_parameters(name_prefix: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError (PW718) for unknown or contradicting parameters of a group."""

    def refuse(message: str, help: str) -> Exception:
        return build_refusal("PW718", name_prefix, f"group `{name_prefix}`: {message}", help)

    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise refuse(f"there is no parameter `{unknown[0]}`", f"the others are {', '.join(OPTIONS)}")
    if options.get("profile_steps") and options.get("worker_nsight_options"):
        raise refuse("workers are not started under a profiler here", "leave worker_nsight_options out")
    if (options.get("master_addr") is None) != (options.get("master_port") is None):
        raise refuse("only one of `master_addr` and `master_port` is given", "give both or neither")


def plain(cls: Any) -> type:
    """Return the class behind an actor class made by `ray.remote`; any other class unchanged."""
    worker_class: type = getattr(cls, "__ray_actor_class__", cls)
    return worker_class


class RayClassWithInitArgs:
    """Worker class, plain or made by ``@ray.remote``, with the constructor arguments of every
    worker.

    Attributes
    ----------
    cls : the class as passed in.
    args, kwargs : constructor arguments.

    Raises a ValueError (PW718) for options of ``@ray.remote(...)`` that would have no effect.
    """

    def __init__(self, cls: Any, *args: Any, **kwargs: Any) -> None:
        self.cls = cls
        self.args = args
        self.kwargs = kwargs
        self._options: dict[str, Any] = {}
        check_options(self.worker.__name__, self.options)

    @property
    def worker(self) -> type:
        """User's own class."""
        return plain(self.cls)

    @property
    def options(self) -> dict[str, Any]:
        """Options of the actors: those of ``@ray.remote(...)``, overridden by added ones."""
        decorator_options = dict(getattr(self.cls, "_default_options", None) or {}) if plain(self.cls) is not self.cls else {}
        return {name: value for name, value in (decorator_options | self._options).items() if value is not None}

    def update_options(self, options: Mapping[str, Any]) -> None:
        """Add actor options.

        Supported: `runtime_env` (`env_vars`, `py_executable`), `max_concurrency`, `num_cpus`.

        A worker takes one slot of its seat per CPU that it asks for. Accelerators come with the
        seat; asking for more is refused. Raises a ValueError (PW718) for options that would have no
        effect.
        """
        check_options(self.worker.__name__, options)
        self._options.update(options)

    set_additional_resource = update_options  # verl's name for even a single entry


BASES = ("MegatronWorker", "Worker")
"""Names of worker base classes that a colocated class derives from.

Source: verl, single_controller/ray/base.py.
"""

HELD = "raw_cls_dict"
"""Attribute name of the classes by key of a colocated class. Source of the name: verl, as above."""


def create_colocated_worker_cls(class_dict: Mapping[str, RayClassWithInitArgs]) -> RayClassWithInitArgs:
    """Build a class that holds an object of every given class in the same process.

    Its registered methods are named ``{key}_{method}``. `spawn` of a group of this class returns
    one group per key, with the original method names. Raises a ValueError (PW718) if there are no
    classes, or if their options or method names conflict.
    """
    if not class_dict:
        help = "give a class for at least one key, or leave the pool out"
        raise build_refusal("PW718", "", "there is no class of workers to colocate", help)
    classes = {key: cia.worker for key, cia in class_dict.items()}
    init_arguments = {key: (cia.args, cia.kwargs) for key, cia in class_dict.items()}

    def construct(self: Any) -> None:
        base.__init__(self)  # type: ignore[misc]
        with _set("DISABLE_WORKER_INIT", "1"):  # verl's mark of colocation
            arguments = ((key, cls, *init_arguments[key]) for key, cls in classes.items())
            self.worker_dict = {key: cls(*positional, **keywords) for key, cls, positional, keywords in arguments}

    first = next(iter(classes.values()))
    base = next((base for base in first.__mro__ if base.__name__ in BASES and base is not first), Worker)
    body: dict[str, Any] = {
        "__init__": construct,
        "__module__": base.__module__,
        "__doc__": "Holds one worker of each key.",
        HELD: classes,
    }
    for key, cls in classes.items():
        for name, how in methods_of(cls):
            direct = how.dispatch_mode is Dispatch.DIRECT_ROLLOUT_METHOD and "rollout" in key
            method_name = name if direct else f"{key}_{name}"
            if method_name in body:
                message = f"both `{method_name}` of `{key}` and another would have that name"
                raise build_refusal("PW718", key, message, "rename one of the methods")
            body[method_name] = _delegate(key, name, inspect.iscoroutinefunction(getattr(cls, name)), how)
    wrapper = RayClassWithInitArgs(type("WorkerDict", (base,), body))
    wrapper.update_options(common_options({key: cia.options for key, cia in class_dict.items()}))
    return wrapper


@contextmanager
def _set(name: str, value: str) -> Iterator[None]:
    previous = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if previous is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = previous


def _delegate(key: str, name: str, is_async: bool, mode: CallMode) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self.worker_dict[key], name)(*arguments, **keywords)

    async def call_async(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return await getattr(self.worker_dict[key], name)(*arguments, **keywords)

    delegate: Callable[..., Any] = call_async if is_async else call
    setattr(delegate, MARK, mode)
    return delegate
