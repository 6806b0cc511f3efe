"""Mutually visible worker classes in the same process: `create_colocated_worker_cls_fused`."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Mapping

from ...workers.inside.base import Worker
from .colocated import HELD, constructed, must_be_some
from .options import common_options
from .ray_class import RayClassWithInitArgs

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
