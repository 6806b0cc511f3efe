"""Several classes of workers in one process each."""

from __future__ import annotations

import asyncio
import inspect
import os
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping

from ....failure import refused
from ....workers.inside.base import Worker
from ..dispatch.mesh import Dispatch
from ..dispatch.register import MARK, Registered
from .calls import methods_of
from .ray_class import RayClassWithInitArgs, common_options

BASES = ("MegatronWorker", "Worker")
"""Names of worker base classes that a colocated class derives from.

Source: verl, single_controller/ray/base.py.
"""

KEYS = "worker_dict_keys"
"""Attribute name of the keys of a colocated class."""
HELD = "raw_cls_dict"
"""Attribute name of the classes by key of a colocated class. Source of the name: verl, as above."""


def create_colocated_worker_cls(class_dict: Mapping[str, RayClassWithInitArgs]) -> RayClassWithInitArgs:
    """Build a class that holds an object of every given class in the same process.

    Its registered methods are named ``{key}_{method}``. `spawn` of a group of this class returns
    one group per key, with the original method names. Raises a ValueError (PW718) if there are no
    classes, or if their options or method names conflict.
    """
    classes = {key: cia.worker for key, cia in must_be_some(class_dict).items()}
    init_arguments = {key: (cia.args, cia.kwargs) for key, cia in class_dict.items()}

    def construct(self: Any) -> None:
        base.__init__(self)  # type: ignore[misc]
        self.worker_dict = {key: constructed(cls, *init_arguments[key]) for key, cls in classes.items()}

    base = _base(next(iter(classes.values())))
    body: dict[str, Any] = {
        "__init__": construct,
        "__module__": base.__module__,
        "__doc__": "Holds one worker of each key.",
        KEYS: tuple(classes),
        HELD: classes,
    }
    for key, cls in classes.items():
        for name, how in methods_of(cls):
            direct = how.dispatch_mode is Dispatch.DIRECT_ROLLOUT_METHOD and "rollout" in key
            method_name = name if direct else f"{key}_{name}"
            if method_name in body:
                message = f"both `{method_name}` of `{key}` and another would have that name"
                raise refused("PW718", key, message, "rename one of the methods")
            body[method_name] = _delegate(key, name, inspect.iscoroutinefunction(getattr(cls, name)), how)
    colocated = RayClassWithInitArgs(type("WorkerDict", (base,), body))
    colocated.update_options(common_options({key: cia.options for key, cia in class_dict.items()}))
    return colocated


def must_be_some(class_dict: Mapping[str, RayClassWithInitArgs]) -> Mapping[str, RayClassWithInitArgs]:
    """Return the classes unchanged after a check.

    Raises a ValueError (PW718) if there are none (a pool without any role), or if one is not a
    RayClassWithInitArgs.
    """
    if not class_dict:
        raise refused("PW718", "", "there is no class of workers to colocate", "give a class for at least one key, or leave the pool out")
    for key, cia in class_dict.items():
        if not isinstance(cia, RayClassWithInitArgs):
            message = f"`{key}` is {cia!r}, and must be a RayClassWithInitArgs"
            raise refused("PW718", str(key), message, "give it as RayClassWithInitArgs(cls, ...)")
    return class_dict


def constructed(cls: type, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """Construct a colocated object, with DISABLE_WORKER_INIT set as a mark of colocation."""
    with _set("DISABLE_WORKER_INIT", "1"):
        return cls(*arguments, **named)


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


def _base(cls: type) -> type:
    """Return the worker base class that `cls` derives from; by default our Worker."""
    return next((base for base in cls.__mro__ if base.__name__ in BASES and base is not cls), Worker)


def _delegate(key: str, name: str, is_async: bool, mode: Registered) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        return getattr(self.worker_dict[key], name)(*arguments, **named)

    async def call_async(self: Any, *arguments: Any, **named: Any) -> Any:
        return await getattr(self.worker_dict[key], name)(*arguments, **named)

    delegate: Callable[..., Any] = call_async if is_async else call
    setattr(delegate, MARK, mode)
    return delegate


SEPARATOR = "_fwmn_"
"""Separator between the key of a class and its method."""


class FusedWorker(Worker):
    """Worker that holds an object of every class of `raw_cls_dict`, as attributes by key.

    Every object reaches the rest through its own `fused_worker_dict`.
    """

    is_fused_worker = True
    raw_cls_dict: Mapping[str, type] = {}
    init_args_dict: Mapping[str, tuple[Any, ...]] = {}
    init_kwargs_dict: Mapping[str, Mapping[str, Any]] = {}

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for key, cls in self.raw_cls_dict.items():
            self.fused_worker_dict[key] = constructed(cls, self.init_args_dict[key], self.init_kwargs_dict[key])
            setattr(self, key, self.fused_worker_dict[key])
        for worker in self.fused_worker_dict.values():
            setattr(worker, Worker.fused_worker_attr_name, self.fused_worker_dict)

    def _fuw_execute(self, method_name: str, *arguments: Any, **named: Any) -> Any:
        """Call ``KEY_fwmn_METHOD``: `METHOD` of the object with key `KEY`.

        Raises ValueError for an unknown key.
        """
        key, _, name = method_name.partition(SEPARATOR)
        if key not in self.fused_worker_dict:
            known = ", ".join(self.fused_worker_dict)
            raise ValueError(f"`{name}` was called of `{key}`, which is not among the fused: {known}")
        answer = getattr(self.fused_worker_dict[key], name)(*arguments, **named)
        return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


def create_colocated_worker_raw_cls(class_dict: Mapping[str, RayClassWithInitArgs]) -> type:
    """Build the base class of a fused worker class.

    Raises a ValueError (PW718) if there are none.
    """
    items = must_be_some(class_dict).items()
    body = {
        HELD: {key: cia.worker for key, cia in items},
        "init_args_dict": {key: cia.args for key, cia in items},
        "init_kwargs_dict": {key: cia.kwargs for key, cia in items},
        "__module__": FusedWorker.__module__,
    }
    return type("_".join(["FusedWorker", *class_dict]), (FusedWorker,), body)


def create_colocated_worker_cls_fused(class_dict: Mapping[str, RayClassWithInitArgs]) -> RayClassWithInitArgs:
    """Build a colocated class with mutually visible objects.

    `spawn` and `fuse` of its group give the groups of the keys; see create_colocated_worker_cls.
    """
    fused = RayClassWithInitArgs(create_colocated_worker_raw_cls(class_dict))
    fused.update_options(common_options({key: cia.options for key, cia in class_dict.items()}))
    fused.fused_worker_used = True
    return fused
