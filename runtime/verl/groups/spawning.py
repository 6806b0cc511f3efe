"""The methods of a group: those of its class, and groups of the same workers for each of several classes in one process."""

from __future__ import annotations

import copy
from typing import Any, Collection, Mapping, Sequence, TypeVar

from ...refusal import refused
from .binding import bind, methods_of
from .colocated import HELD, KEYS
from .executing import Executing
from .ray_class import RayClassWithInitArgs

View = TypeVar("View", bound="Spawning")


class Spawning(Executing):
    """A group that has the registered methods of its class, and gives a group for each key of colocated or fused classes."""

    name_prefix: str
    ray_cls_with_init: RayClassWithInitArgs | None
    fused_worker_used: bool
    sub_cls_name: str
    wg_dict: Mapping[str, Spawning] | None
    method_names: list[str]
    _bound: list[str]
    _dispatch_info: dict[str, list[Any]]
    _collect_info: dict[str, list[Any]]
    """Mesh -> what each worker says of it, as far as it was asked; trainers of verl's read them and add to them."""

    def spawn(self: View, prefix_set: Collection[str]) -> dict[str, View]:
        """For each key of colocated classes a group of the same workers, which has the methods of that class under their own names.

        Raises a ValueError (PW718) for a key that is none of theirs, where verl gives a group without methods.
        """
        found = {}
        for key in prefix_set:
            view = self._view()
            if self.fused_worker_used:
                view._bind(self._raw(key))
            else:
                view._bind_under(key)
            view.sub_cls_name = key
            found[key] = view
        return found

    def fuse(self, prefix_set: Collection[str]) -> None:
        """Gives this group an attribute for each key of fused classes: the group that `spawn` gives for it."""
        if self.wg_dict is None:
            self.wg_dict = self.spawn(prefix_set)
        for key, view in self.wg_dict.items():
            setattr(self, key, view)
        self.method_names = self._bind(self._class().worker)

    def _class(self) -> RayClassWithInitArgs:
        if self.ray_cls_with_init is None:
            raise self._refused("no class of workers is given", "give ray_cls_with_init")
        return self.ray_cls_with_init

    def _raw(self, key: str) -> type:
        raw: Mapping[str, type] = getattr(self._class().worker, HELD, {})
        if key not in raw:
            raise self._no_such(key, "fused", raw)
        return raw[key]

    def _bind_under(self, key: str) -> None:
        """All methods, and those of a key under their own names too. A class that was put together elsewhere tells its keys by them."""
        cls = self._class().worker
        methods = dict(methods_of(cls))
        own = [name for name in methods if name.startswith(f"{key}_")]
        keys: Collection[str] = getattr(cls, KEYS, [key] if own else [])
        if key not in keys:
            raise self._no_such(key, "colocated", keys)
        self._bind(cls)
        for name in own:
            self._named(name.removeprefix(f"{key}_"), name, methods[name])

    def _no_such(self, key: str, how: str, keys: Collection[str]) -> Exception:
        return self._refused(f"no class is {how} as `{key}`; these are: {', '.join(keys) or 'none'}", "spawn one of these")

    def _view(self: View) -> View:
        """The same workers again, without the methods that the class gave this group."""
        view = copy.copy(self)
        for name in self._bound:
            delattr(view, name)
        view._bound, view.method_names, view.wg_dict, view._dispatch_info, view._collect_info = [], [], None, {}, {}
        return view

    def _bind(self, cls: type) -> list[str]:
        names = []
        for name, how in methods_of(cls):
            self._named(name, name, how)
            names.append(name)
        return names

    def _named(self, name: str, method: str, how: Any) -> None:
        bind(self, name, method, how)
        if name not in self._bound:
            self._bound.append(name)

    def _addressed(self, method: str, arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        if self.fused_worker_used and method not in self.method_names:
            return "_fuw_execute", (f"{self.sub_cls_name}_fwmn_{method}", *arguments)
        return method, arguments

    def _refused(self, message: str, help: str) -> Exception:
        return refused("PW718", self.name_prefix, f"group `{self.name_prefix}`: {message}", help)
