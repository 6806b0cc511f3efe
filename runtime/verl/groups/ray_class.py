"""RayClassWithInitArgs: a worker class and its constructor arguments."""

from __future__ import annotations

from typing import Any, Mapping

from ...refusal import refused
from .options import check_options
from .single import beside, in_bundle


def plain(cls: Any) -> type:
    """Return the class behind an actor class made by `ray.remote`; any other class unchanged."""
    unwrapped: type = getattr(cls, "__ray_actor_class__", cls)
    return unwrapped


class RayClassWithInitArgs:
    """Worker class, plain or made by ``@ray.remote``, with the constructor arguments of every
    worker.

    Attributes
    ----------
    cls : the class as passed in.
    args, kwargs : constructor arguments.
    fused_worker_used : True if it holds several classes, which are called through it.

    Raises a ValueError (PW718) for anything but a class, and for options of ``@ray.remote(...)``
    that would have no effect.
    """

    def __init__(self, cls: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(plain(cls), type):
            raise refused("PW718", "", f"{cls!r} is not a class of workers", "give the class itself, plain or made by @ray.remote")
        self.cls = cls
        self.args = args
        self.kwargs = kwargs
        self.fused_worker_used = False
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

        Supported: `runtime_env` (`env_vars`, `py_executable`), `max_concurrency`, `lifetime`,
        `num_cpus`.

        A worker takes one slot of its seat per CPU that it asks for. Accelerators come with the
        seat; asking for more is refused. Raises a ValueError (PW718) for options that would have no
        effect.
        """
        check_options(self.worker.__name__, options)
        self._options.update(options)

    def set_additional_resource(self, additional_resource: Mapping[str, Any]) -> None:
        """Add actor options, even a single entry; verl's other name for `update_options`."""
        self.update_options(additional_resource)

    def __call__(
        self, placement_group: Any = None, placement_group_bundle_idx: int = 0, use_gpu: bool = True, num_gpus: float = 1,
        sharing_with: Any = None, device_name: str = "cuda",
    ) -> Any:  # fmt: skip
        """Start an actor in a bundle of a placement group, or beside `sharing_with`.

        Beside `sharing_with` it runs on the same node and sees the same accelerators; its
        constructor gets `cuda_visible_devices`. Without either it is an object in this process. The
        actor is Ray's own and belongs to no group: pass its environment by `update_options`; it
        ends with its last handle. Raises LaunchFailed (PW704, PW705) if `sharing_with` does not
        report its accelerators.
        """
        if sharing_with is not None:
            actor_class, devices = beside(self.cls, self.worker.__name__, self._options, sharing_with)
            return actor_class.remote(*self.args, cuda_visible_devices=devices, **self.kwargs)
        if placement_group is None:
            return self.worker(*self.args, **self.kwargs)
        count = num_gpus if use_gpu else 0
        return in_bundle(self.cls, self._options, placement_group, placement_group_bundle_idx, count, device_name).remote(
            *self.args, **self.kwargs
        )
