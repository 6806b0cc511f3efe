"""ResourcePoolManager: pools by name, and which role runs on which."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Hashable, Mapping

from ...refusal import refused
from ...reserving.fitting import Need, fit
from ...reserving.reservation import FIRST_PAUSE, LONGEST_PAUSE, WAIT_LIMIT
from ...world.inventory import inventory
from .devices import resource_of
from .on import port_of
from .pool import RayResourcePool
from .shortage import hopeless, shortage

COLOCATED = 3
"""How many groups may share an accelerator. Source: verl, single_controller/ray/base.py, `create_resource_pool`."""


@dataclass
class ResourcePoolManager:
    """Pools by name, each with the processes on each of its nodes; `mapping`: role -> the name of its pool.

    `on`: HOST:PORT of the cluster, or a cluster object; else that of `ray.init`. Roles may be any keys.
    """

    resource_pool_spec: Mapping[str, list[int]]
    mapping: Mapping[Any, str] | None = None
    resource_pool_dict: dict[str, RayResourcePool] = field(default_factory=dict)
    on: Any = None

    def create_resource_pool(self) -> None:
        """Makes the pools that are not made yet; each is reserved when it is first used.

        Raises a ValueError (PW702) within a second if all of them together do not fit what is free, with the sum that
        shows it and who holds the rest; and (PW718) for an empty pool and for what is none.
        """
        if not isinstance(self.resource_pool_spec, Mapping):
            message = f"the pools are given as {self.resource_pool_spec!r}"
            raise refused("PW718", "", message, "give a dict from names to lists, such as {'global_pool': [8, 8]}")
        made = {
            name: RayResourcePool(sizes, use_gpu=True, max_colocate_count=COLOCATED, name_prefix=name, on=self.on)
            for name, sizes in self.resource_pool_spec.items()
            if name not in self.resource_pool_dict
        }
        if made:
            self._check(made)
        self.resource_pool_dict.update(made)

    def get_resource_pool(self, role: Hashable) -> RayResourcePool:
        """The pool of a role. Raises a ValueError (PW718) for a role that is on none, and a pool that was not created."""
        name = (self.mapping or {}).get(role)
        if name is None:
            known = ", ".join(f"`{each}`" for each in self.mapping or {}) or "none"
            raise refused("PW718", str(role), f"role `{role}` is on no pool; these are: {known}", "add it to the mapping")
        if name not in self.resource_pool_dict:
            raise refused("PW718", name, f"pool `{name}` of role `{role}` has not been created", "call create_resource_pool() first")
        return self.resource_pool_dict[name]

    def get_n_gpus(self) -> int:
        """How many accelerators all pools have together."""
        return sum(size for sizes in self.resource_pool_spec.values() for size in sizes)

    def close(self) -> None:
        """Gives back all pools and ends every worker in them; they can be created anew. May be called twice."""
        for name, pool in list(self.resource_pool_dict.items()):
            pool.close()
            del self.resource_pool_dict[name]

    def __enter__(self) -> ResourcePoolManager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self, pools: Mapping[str, RayResourcePool]) -> None:
        port, pause = port_of(self.on), FIRST_PAUSE
        device = "cuda" if any(node.total.get(resource_of("cuda")) for node in port.nodes()) else "npu"
        if not any(node.total.get(resource_of(device)) for node in port.nodes()):
            device = "cuda"
        lead = resource_of(device)
        needs: list[Need] = [need for pool in pools.values() for need in pool.needs(device)]
        deadline = port.now() + WAIT_LIMIT
        while fit(nodes := inventory(port), needs, lead) is None:
            if port.now() >= deadline or hopeless(nodes, needs, lead):
                raise shortage(port, nodes, "`, `".join(pools), needs, lead)
            port.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
