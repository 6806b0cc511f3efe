"""Methods of a group: registered ones, and views for colocated classes."""

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
    """Group with the registered methods of a class and views per colocated class."""

    name_prefix: str
    ray_cls_with_init: RayClassWithInitArgs | None
    fused_worker_used: bool
    sub_cls_name: str
    wg_dict: Mapping[str, Spawning] | None
    method_names: list[str]
    _bound: list[str]
    _dispatch_info: dict[str, list[Any]]
    _collect_info: dict[str, list[Any]]
    """Mesh -> the answers of all workers, cached after the first query.

    verl's trainers read and extend both dictionaries.
    """

    def spawn(self: View, prefix_set: Collection[str]) -> dict[str, View]:
        """Return a view per key: the same workers, with the original method names.

        Raises a ValueError (PW718) for an unknown key, where verl returns a group without methods.
        """
        views = {}
        for key in prefix_set:
            view = self._view()
            if self.fused_worker_used:
                view._bind(self._raw(key))
            else:
                view._bind_under(key)
            view.sub_cls_name = key
            views[key] = view
        return views

    def fuse(self, prefix_set: Collection[str]) -> None:
        """Set an attribute per key of fused classes: the view that `spawn` returns."""
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
            raise self._unknown_key(key, "fused", raw)
        return raw[key]

    def _bind_under(self, key: str) -> None:
        """Bind all methods, and those of a key also under their own names.

        The keys of a class that was colocated elsewhere are derived from the method names.
        """
        cls = self._class().worker
        methods = dict(methods_of(cls))
        methods_of_key = [name for name in methods if name.startswith(f"{key}_")]
        keys: Collection[str] = getattr(cls, KEYS, [key] if methods_of_key else [])
        if key not in keys:
            raise self._unknown_key(key, "colocated", keys)
        self._bind(cls)
        for name in methods_of_key:
            self._named(name.removeprefix(f"{key}_"), name, methods[name])

    def _unknown_key(self, key: str, how: str, keys: Collection[str]) -> Exception:
        return self._refused(f"no class is {how} as `{key}`; these are: {', '.join(keys) or 'none'}", "spawn one of these")

    def _view(self: View) -> View:
        """Return the same workers without the methods that their class gave this group."""
        view = copy.copy(self)
        for name in self._bound:
            delattr(view, name)
        view._bound, view.method_names, view.wg_dict, view._dispatch_info, view._collect_info = [], [], None, {}, {}
        return view

    def _bind(self, cls: type) -> list[str]:
        names = []
        for name, mode in methods_of(cls):
            self._named(name, name, mode)
            names.append(name)
        return names

    def _named(self, name: str, method: str, mode: Any) -> None:
        bind(self, name, method, mode)
        if name not in self._bound:
            self._bound.append(name)

    def _addressed(self, method: str, arguments: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        if self.fused_worker_used and method not in self.method_names:
            return "_fuw_execute", (f"{self.sub_cls_name}_fwmn_{method}", *arguments)
        return method, arguments

    def _refused(self, message: str, help: str) -> Exception:
        return refused("PW718", self.name_prefix, f"group `{self.name_prefix}`: {message}", help)
