"""RayResourcePool: accelerators of several nodes in a common reservation."""

from __future__ import annotations

import secrets
import threading
from typing import Any, Sequence

from ...failure import LaunchFailed
from ...port.node import RayNode
from ...port.port import Bundle, Hold, Port
from ...refusal import refused
from ...reserving.fitting import Need, fit
from ...reserving.parts import accelerators_given
from ...reserving.reservation import FIRST_PAUSE, LONGEST_PAUSE, WAIT_LIMIT, Reservation
from ...reserving.wanted import Wanted
from ...world.inventory import inventory
from ...world.labels import name_of
from .devices import resource_of
from .on import port_of
from .resource_pool import ResourcePool, check_pool
from .seat import Seat
from .shortage import hopeless, shortage

MODEL_SHARE = 1e-4
"""Amount requested, per accelerator, of the resource that stands for a model in Ray."""
_ONE_AT_A_TIME = threading.RLock()
"""Lock for the choice of nodes: a thread sees earlier choices as reserved."""


class RayResourcePool(ResourcePool):
    """Pool such as ``[8, 8]``: a part is whole on a node; all or nothing is reserved.

    It is reserved at first use: by a group, `split_resource_pool` or `get_placement_groups`. Part i
    is then bundle i of one placement group; equal parts stand in node order, so that ranks do. Each
    accelerator comes with `max_colocate_count` CPUs, and that many groups may share it.
    `accelerator_type`: a model that Ray tells apart, such as ``H100``. `detached`: the pool
    outlives this process. `on`: HOST:PORT of the cluster, or a cluster object; None: that of
    `ray.init`.

    It is released, with every worker in it, by `close`, at the end of a `with` block, or when this
    process ends. Every failure is a LaunchFailed within a second, where verl would wait; most are a
    ValueError too.
    """

    def __init__(
        self, process_on_nodes: Sequence[int] | None = None, use_gpu: bool = True, name_prefix: str | None = None,
        max_colocate_count: int = 10, detached: bool = False, accelerator_type: str | None = None, *, on: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(process_on_nodes, max_colocate_count)
        self.use_gpu = use_gpu
        self.name_prefix = secrets.token_hex(3) if name_prefix is None else name_prefix
        self.detached = detached
        self.accelerator_type = accelerator_type
        self.on = on
        self._port: Port | None = None
        self._seats: list[Seat] | None = None
        self._reservation: Reservation | None = None
        self._closed = False
        self._lock = threading.RLock()

    @property
    def port(self) -> Port:
        """Cluster of the pool.

        Raises LaunchFailed (PW701) if there is none.
        """
        if self._port is None:
            self._port = port_of(self.on)
        return self._port

    @property
    def reservations(self) -> list[Reservation]:
        """Reservations of the pool; empty before the first use."""
        return [self._reservation] if self._reservation is not None else []

    @property
    def pgs(self) -> list[Hold] | None:
        """Placement group of the pool, in a list; None before the first use."""
        return [reservation.hold for reservation in self.reservations] or None

    def get_placement_groups(self, strategy: str = "STRICT_PACK", name: str | None = None, device_name: str = "cuda") -> list[Hold]:
        """Reserve the pool if necessary and return its only placement group, in a list.

        Every part is whole on one node, whatever the `strategy`. Raises as `seats`.
        """
        self.seats(device_name, name)
        return [reservation.hold for reservation in self.reservations]

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Return the seats in rank order, reserving the pool if necessary.

        `device_name` and `name` count for the first call alone. Raises LaunchFailed within a
        second: PW702 with need, have and holders; PW718 for an invalid request; PW717 for a name
        that is taken; PW704 and PW705 if Ray does not report the granted accelerators.
        """
        with self._lock:
            if self._closed:
                raise refused("PW718", self.name_prefix, f"pool `{self.name_prefix}` has been closed", "make another pool")
            if self._seats is None:
                self._seats = self._reserved(device_name if self.use_gpu else "", name)
            return self._seats

    def needs(self, device_name: str = "cuda") -> list[Need]:
        """Return the resource needs of every part, by Ray's names.

        Raises a ValueError (PW718) for an empty pool or an unknown device.
        """
        check_pool(self.name_prefix, self.store, self.max_colocate_count)
        lead = resource_of(device_name) if self.use_gpu else ""
        needs: list[Need] = []
        for size in self.store:
            need = {lead: float(size)} if lead else {}
            need["CPU"] = float(size * self.max_colocate_count)
            if lead and self.accelerator_type is not None:
                need[self._model()] = size * MODEL_SHARE
            needs.append(need)
        return needs

    def close(self) -> None:
        """Release everything and end every worker in the pool. Idempotent."""
        with self._lock:
            self._closed = True
            self._seats = None
            self._release()

    def __enter__(self) -> RayResourcePool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _release(self) -> None:
        if self._reservation is not None:
            self._reservation.release()
            self._reservation = None

    def _model(self) -> str:
        """Return the model's resource: the plain name if a node has it, else Ray's own."""
        model = str(self.accelerator_type)
        return (
            model
            if any(model in node.total for node in self.port.nodes())
            else f"accelerator_type:{model.removeprefix('accelerator_type:')}"
        )

    def _reserved(self, device_name: str, name: str | None) -> list[Seat]:
        needs, lead = self.needs(device_name or "cuda"), resource_of(device_name) if device_name else "CPU"
        name = f"{name or self.name_prefix + 'verl_group_' + '_'.join(map(str, self.store)) + ':'}0"
        with _ONE_AT_A_TIME:
            nodes, positions, reservation = self._held(needs, lead, name)
        try:
            return self._seated(reservation, nodes, positions, device_name)
        except BaseException:
            self._release()
            raise

    def _held(self, needs: Sequence[Need], lead: str, name: str) -> tuple[Sequence[RayNode], list[int], Reservation]:
        """Return the nodes, the node position of each part, and the reservation.

        Chooses again if another job was faster.
        """
        deadline, pause = self.port.now() + WAIT_LIMIT, FIRST_PAUSE
        while True:
            nodes = inventory(self.port)
            positions = fit(nodes, needs, lead)
            last = self.port.now() >= deadline
            if positions is None and (last or hopeless(nodes, needs, lead)):
                raise shortage(self.port, nodes, self.name_prefix, needs, lead)
            if positions is not None and (reservation := self._tried(nodes, positions, needs, name, last)):
                return nodes, positions, reservation
            self.port.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _tried(
        self, nodes: Sequence[RayNode], positions: Sequence[int], needs: Sequence[Need], name: str, last: bool
    ) -> Reservation | None:
        """Reserve these nodes; None if another job was faster and `last` is False."""
        wanted = []
        for position, need in zip(positions, needs):
            location = f"node {position} (`{name_of(nodes[position])}`)"
            wanted.append(Wanted(Bundle(nodes[position].node_id, need), self.name_prefix, location, position))
        self._reservation = reservation = Reservation(self.port, name, wanted, self.detached)
        try:
            reservation.acquire(limit=0.0)
        except BaseException as problem:
            self._release()
            if isinstance(problem, LaunchFailed) and problem.findings[0].code == "PW702" and not last:
                return None
            raise
        return reservation

    def _seated(self, reservation: Reservation, nodes: Sequence[RayNode], positions: Sequence[int], device_name: str) -> list[Seat]:
        resource = resource_of(device_name) if device_name else ""
        by_id = {node.node_id: node for node in nodes}
        ids: list[tuple[str, ...]] = [()] * len(positions)
        if resource:
            ids = accelerators_given(self.port, reservation.hold, reservation.wanted, resource, by_id)
        seats = []
        for part, (position, size) in enumerate(zip(positions, self.store)):
            node = nodes[position]
            for local_rank in range(size):
                accelerator = ids[part][local_rank] if resource else ""
                number = int(accelerator) if accelerator.isdecimal() else local_rank if resource else -1
                seats.append(
                    Seat(
                        self.name_prefix, part, local_rank, size, node, position, device_name, accelerator, number, reservation, part,
                        self.max_colocate_count,
                    )
                )  # fmt: skip
        return seats
