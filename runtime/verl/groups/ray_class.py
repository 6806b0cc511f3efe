"""RayClassWithInitArgs: a class of workers and what its constructor is given."""

from __future__ import annotations

from typing import Any, Mapping

from ...refusal import refused

HELD = ("num_cpus", "num_gpus", "resources", "scheduling_strategy", "placement_group", "placement_group_bundle_index")
"""Options of actors that the pool answers for: its reservation holds what they ask."""
OBEYED = ("runtime_env", "max_concurrency", "lifetime", "name", "namespace", "max_restarts", "max_task_retries")
"""Options that are followed, or that a group decides: its own name, no restarts."""


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

    Raises a ValueError (PW718) for what is no class.
    """

    def __init__(self, cls: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(plain(cls), type):
            raise refused("PW718", "", f"{cls!r} is not a class of workers", "give the class itself, plain or made by @ray.remote")
        self.cls = cls
        self.args = args
        self.kwargs = kwargs
        self.fused_worker_used = False
        self._options: dict[str, Any] = {}

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
        """Adds options of actors: `runtime_env` with `env_vars` and `py_executable`, `max_concurrency`, `lifetime`.

        What a worker may use is what the pool reserved for it, so amounts of resources are not asked for again. Raises a
        ValueError (PW718) for options that nothing here would follow.
        """
        for name in options:
            if name not in HELD + OBEYED:
                message = f"option `{name}` of {self.worker.__name__} would not be followed"
                raise refused("PW718", self.worker.__name__, message, f"use {', '.join(OBEYED[:3])}", name)
        for name in options.get("runtime_env") or {}:
            if name not in ("env_vars", "py_executable"):
                message = f"`{name}` in the runtime_env of {self.worker.__name__} would not be followed"
                raise refused("PW718", self.worker.__name__, message, "use env_vars and py_executable, or install it on the nodes", name)
        self._options.update(options)

    def set_additional_resource(self, additional_resource: Mapping[str, Any]) -> None:
        """More options of actors, in verl's other way to say it; see `update_options`. One alone counts too."""
        self.update_options(additional_resource)

    def __call__(self) -> Any:
        """An object of the class, in this process."""
        return self.worker(*self.args, **self.kwargs)
