"""ResourcePoolManager: pools by name, and the pool of each role."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Hashable, Mapping

from ....failure import refused
from ....reserving.fitting import Need, fit
from ....reserving.reservation import FIRST_PAUSE, LONGEST_PAUSE, WAIT_LIMIT
from ....world.inventory import inventory
from .pool import RayResourcePool, port_of, resource_of
from .shortage import hopeless, shortage

COLOCATED = 3
"""Number of groups that may share an accelerator.

Source: verl, single_controller/ray/base.py, `create_resource_pool`.
"""


@dataclass
class ResourcePoolManager:
    """Pools by name, as processes per node; `mapping`: role -> name of its pool.

    `on`: HOST:PORT of the cluster, or a cluster object; None: that of `ray.init`. Roles may be any
    keys.
    """

    resource_pool_spec: Mapping[str, list[int]]
    mapping: Mapping[Any, str] | None = None
    resource_pool_dict: dict[str, RayResourcePool] = field(default_factory=dict)
    on: Any = None

    def create_resource_pool(self) -> None:
        """Create the missing pools; each is reserved at first use.

        Raises a ValueError within a second: PW702 if all pools together do not fit the free
        capacity, with the sum that shows it and the holders of the rest; PW718 for an empty pool or
        a wrong type.
        """
        if not isinstance(self.resource_pool_spec, Mapping):
            message = f"the pools are given as {self.resource_pool_spec!r}"
            raise refused("PW718", "", message, "give a dict from names to lists, such as {'global_pool': [8, 8]}")
        new_pools = {
            name: RayResourcePool(sizes, use_gpu=True, max_colocate_count=COLOCATED, name_prefix=name, on=self.on)
            for name, sizes in self.resource_pool_spec.items()
            if name not in self.resource_pool_dict
        }
        if new_pools:
            self._check(new_pools)
        self.resource_pool_dict.update(new_pools)

    def get_resource_pool(self, role: Hashable) -> RayResourcePool:
        """Return the pool of a role.

        Raises a ValueError (PW718) for a role without a pool, and for a pool that was not created.
        """
        name = (self.mapping or {}).get(role)
        if name is None:
            known = ", ".join(f"`{known_role}`" for known_role in self.mapping or {}) or "none"
            raise refused("PW718", str(role), f"role `{role}` is on no pool; these are: {known}", "add it to the mapping")
        if name not in self.resource_pool_dict:
            raise refused("PW718", name, f"pool `{name}` of role `{role}` has not been created", "call create_resource_pool() first")
        return self.resource_pool_dict[name]

    def get_n_gpus(self) -> int:
        """Return the number of accelerators of all pools."""
        return sum(size for sizes in self.resource_pool_spec.values() for size in sizes)

    def close(self) -> None:
        """Release all pools and end every worker in them; they can be created again. Idempotent."""
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
