"""RayClassWithInitArgs: a class of workers and what its constructor is given."""

from __future__ import annotations

from typing import Any, Mapping

from ...refusal import refused
from .options import check_options
from .single import beside, in_bundle


def plain(cls: Any) -> type:
    """The class itself of one that `ray.remote` made an actor class of."""
    found: type = getattr(cls, "__ray_actor_class__", cls)
    return found


class RayClassWithInitArgs:
    """A class, plain or made by ``@ray.remote``, and the arguments of its constructor; every worker of a group gets the same.

    Attributes
    ----------
    cls : as it was given.
    args, kwargs : for its constructor.
    fused_worker_used : whether it holds several classes, which are called through it.

    Raises a ValueError (PW718) for what is no class, and for options of ``@ray.remote(...)`` that nothing here would follow.
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
        """The user's own class."""
        return plain(self.cls)

    @property
    def options(self) -> dict[str, Any]:
        """The options of its actors: those of ``@ray.remote(...)``, then those that were added."""
        given = dict(getattr(self.cls, "_default_options", None) or {}) if plain(self.cls) is not self.cls else {}
        return {name: value for name, value in (given | self._options).items() if value is not None}

    def update_options(self, options: Mapping[str, Any]) -> None:
        """Adds options of actors: `runtime_env` with `env_vars` and `py_executable`, `max_concurrency`, `lifetime`, `num_cpus`.

        A worker takes one slot of its place for each CPU that it asks for; of accelerators it has that of its place, and may ask
        for no more. Raises a ValueError (PW718) for options that nothing here would follow.
        """
        check_options(self.worker.__name__, options)
        self._options.update(options)

    def set_additional_resource(self, additional_resource: Mapping[str, Any]) -> None:
        """More options of actors, in verl's other way to say it; see `update_options`. One alone counts too."""
        self.update_options(additional_resource)

    def __call__(
        self, placement_group: Any = None, placement_group_bundle_idx: int = 0, use_gpu: bool = True, num_gpus: float = 1,
        sharing_with: Any = None, device_name: str = "cuda",
    ) -> Any:  # fmt: skip
        """One actor of the class in a bundle of a placement group of Ray's, or on the node of `sharing_with`, seeing what that sees.

        Without either, an object in this process. The actor is Ray's own and in no group: what must stand in its environment
        is given by `update_options`, and it ends when nobody has its handle. Beside another its constructor is given
        `cuda_visible_devices`. Raises LaunchFailed (PW704, PW705) if the other does not tell what it sees.
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
