"""verl's `RayResourcePool`: accelerators of some nodes, held by one reservation."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence

from ....models.machines.node import NO_ACCELERATOR
from ...failure import LaunchFailed, build_failure, build_refusal, quote_names
from ...port.connection import Connection
from ...port.on_ray import RayPort
from ...port.port import Hold, Port, RayBundle, RayNode, attempts
from ...port.ray_compat import need_ray
from ...reserving.fitting import Need, fit
from ...reserving.reservation import WAIT_LIMIT, NodeDemand, Reservation, accelerators_given
from ...world.inventory import inventory
from ...world.ray_machine import name_of
from ...world.vendors import vendor_of
from .shortage import hopeless, shortage

DEVICES = {"cuda": "NV_GPU", "npu": "NPU", "xpu": "INTEL_GPU", "musa": "MUSA_GPU"}
"""Device name -> accelerator type; PyTorch, and so verl, calls AMD's ``cuda`` too."""
MODELS = {"AMD-": "AMD_GPU", "Intel-GPU": "INTEL_GPU"}
"""Prefix of a model that Ray tells apart -> accelerator type.

Source: Ray, python/ray/util/accelerators/accelerators.py.
"""


def resource_of(device_name: str) -> str:
    """Return Ray's resource of a device. Unknown device: ValueError (PW718)."""
    if device_name not in DEVICES:
        names = quote_names(DEVICES)
        message = f"there are no accelerators of device `{device_name}`"
        raise build_refusal("PW718", "", message, f"use one of {names}, or a pool with use_gpu=False", device_name)
    vendor = vendor_of(DEVICES[device_name])
    return vendor.resource if vendor else ""


def device_there(port: Port) -> str:
    """Return the first device with accelerators on some node, ``cuda`` by default."""
    resources = {name for node in port.nodes() for name, amount in node.total.items() if amount}
    return next((device for device in DEVICES if resource_of(device) in resources), "cuda")


def type_on(node: RayNode, device_name: str) -> str:
    """Return the accelerator type of a device; AMD's and Intel's by Ray's label."""
    if not device_name:
        return NO_ACCELERATOR
    models = [name.removeprefix("accelerator_type:") for name in node.total if name.startswith("accelerator_type:")]
    kinds = [kind for start, kind in MODELS.items() for model in models if model.startswith(start)]
    return kinds[0] if kinds and device_name == "cuda" else DEVICES[device_name]


@dataclass(eq=False)
class Seat:
    """Place on a node for `limit` processes of different groups.

    Attributes
    ----------
    pool : name of the pool that it was reserved for.
    part, local_rank, local_world_size : the part of the pool, the rank in it, and its size.
    node, node_rank : its node, and the rank of the node in the order of all nodes.
    device, accelerator, number : device name and physical id of the accelerator, "" without one;
        its number on the node.
    reservation, bundle : reservation that holds it, and its bundle there.
    taken : the components in it, by a unique number per slot.
    """

    pool: str
    part: int
    local_rank: int
    local_world_size: int
    node: RayNode
    node_rank: int
    device: str
    accelerator: str
    number: int
    reservation: Reservation
    bundle: int
    limit: int
    taken: dict[int, str] = field(default_factory=dict)

    @property
    def free(self) -> int:
        """Number of free slots."""
        return self.limit - len(self.taken)

    @property
    def where(self) -> str:
        """Description of the seat for messages."""
        name = name_of(self.node)
        return f"accelerator {self.accelerator} of `{name}`" if self.accelerator else f"`{name}`"


def port_of(on: Any = None) -> Port:
    """Return the port of HOST:PORT, a cluster object or a Port; None: that of `ray.init`.

    An address is connected to until this process ends or calls `ray.shutdown`. Raises LaunchFailed
    (PW701) if no Ray cluster answers there, or if none is named and this process is not connected.
    """
    if on is not None and not isinstance(on, str):
        port: Port = getattr(on, "port", on)
        return port
    ray = need_ray()
    if isinstance(on, str):
        Connection(on).open()
    elif not ray.is_initialized():
        help = "call `ray.init()` first, or name the cluster: `on='HOST:PORT'`"
        raise build_failure("PW701", "", "this process is connected to no Ray cluster", help)
    return RayPort(str(ray.get_runtime_context().namespace))


def fitting(port: Port, needs: Sequence[Need], lead: str, name: str) -> Iterator[tuple[Sequence[RayNode], list[int], bool]]:
    """Yield (nodes, node position of each part, is last) while the parts fit.

    Raises ValueError (PW702) if they do not fit in time, at once if they would not fit an empty
    cluster.
    """
    for last in attempts(port, WAIT_LIMIT):
        nodes = inventory(port)
        positions = fit(nodes, needs, lead)
        if positions is not None:
            yield nodes, positions, last
        elif last or hopeless(nodes, needs, lead):
            raise shortage(port, nodes, name, needs, lead)


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


MODEL_SHARE = 1e-4
"""Amount requested, per accelerator, of the resource that stands for a model in Ray."""
_ONE_AT_A_TIME = threading.RLock()
"""Lock for the choice of nodes: a thread sees earlier choices as reserved."""


class RayResourcePool:
    """Pool of processes on nodes, such as ``[8, 8]``: a part is whole on a node; all or nothing is reserved.

    It is reserved at first use: by a group, `split_resource_pool` or `get_placement_groups`. Part i
    is then bundle i of one placement group; equal parts stand in node order, so that ranks do. Each
    accelerator comes with `max_colocate_count` CPUs, and that many groups may share it.
    `accelerator_type`: a model that Ray tells apart, such as ``H100``. `on`: HOST:PORT of the
    cluster, or a cluster object; None: that of `ray.init`.

    It is released, with every worker in it, by `close`, at the end of a `with` block, or when this
    process ends. Every failure is a LaunchFailed within a second, where verl would wait; most are a
    ValueError too.
    """

    def __init__(
        self, process_on_nodes: Sequence[int] | None = None, use_gpu: bool = True, name_prefix: str | None = None,
        max_colocate_count: int = 10, accelerator_type: str | None = None, *, on: Any = None,
    ) -> None:  # fmt: skip
        self.store = list(process_on_nodes or [])
        self.max_colocate_count = max_colocate_count
        self.use_gpu = use_gpu
        self.name_prefix = secrets.token_hex(3) if name_prefix is None else name_prefix
        self.accelerator_type = accelerator_type
        self.on = on
        self._port: Port | None = None
        self._seats: list[Seat] | None = None
        self._reservation: Reservation | None = None
        self._closed = False
        self._lock = threading.RLock()

    @property
    def world_size(self) -> int:
        """Number of processes."""
        return sum(self.store)

    @property
    def port(self) -> Port:
        """Cluster of the pool. Raises LaunchFailed (PW701) without one."""
        if self._port is None:
            self._port = port_of(self.on)
        return self._port

    @property
    def reservation(self) -> Reservation | None:
        """Reservation of the pool; None before the first use."""
        return self._reservation

    @property
    def pgs(self) -> list[Hold] | None:
        """Placement group of the pool, in a list; None before the first use."""
        return [self.reservation.hold] if self.reservation is not None else None

    def get_placement_groups(self, strategy: str = "STRICT_PACK", name: str | None = None, device_name: str = "cuda") -> list[Hold]:
        """Reserve the pool if necessary and return its only placement group, in a list.

        Every part is whole on one node, whatever the `strategy`. Raises as `seats`.
        """
        self.seats(device_name, name)
        return self.pgs or []

    def seats(self, device_name: str = "cuda", name: str | None = None) -> list[Seat]:
        """Return the seats in rank order, reserving the pool if necessary.

        `device_name` and `name` count for the first call alone. Raises LaunchFailed within a
        second: PW702 with need, have and holders; PW718 for an invalid request; PW717 for a name
        that is taken; PW704 and PW705 if Ray does not report the granted accelerators.
        """
        with self._lock:
            if self._closed:
                raise build_refusal("PW718", self.name_prefix, f"pool `{self.name_prefix}` has been closed", "make another pool")
            if self._seats is None:
                self._seats = self._reserve_seats(device_name if self.use_gpu else "", name)
            return self._seats

    def needs(self, device_name: str = "cuda") -> list[Need]:
        """Return the needs of every part, by Ray's names. Empty pool: ValueError (PW718)."""
        name = self.name_prefix
        if not self.store or not all(map(_counts, self.store)):
            message = (
                f"pool `{name}` is {self.store}: it has no place for a worker on some node" if self.store else f"pool `{name}` is empty"
            )
            raise build_refusal("PW718", name, message, "give a list of how many processes each node shall have, such as [8, 8]")
        if not _counts(self.max_colocate_count):
            message = f"pool `{name}` lets {self.max_colocate_count} groups share its places"
            raise build_refusal("PW718", name, message, "give max_colocate_count as a whole number of at least 1")
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
        is_resource = any(model in node.total for node in self.port.nodes())
        return model if is_resource else f"accelerator_type:{model.removeprefix('accelerator_type:')}"

    def _reserve_seats(self, device_name: str, name: str | None) -> list[Seat]:
        needs, lead = self.needs(device_name or "cuda"), resource_of(device_name) if device_name else "CPU"
        name = f"{name or self.name_prefix + 'verl_group_' + '_'.join(map(str, self.store)) + ':'}0"
        with _ONE_AT_A_TIME:
            nodes, positions, reservation = self._reserve_parts(needs, lead, name)
        try:
            return self._seat(reservation, nodes, positions, device_name)
        except BaseException:
            self._release()
            raise

    def _reserve_parts(self, needs: Sequence[Need], lead: str, name: str) -> tuple[Sequence[RayNode], list[int], Reservation]:
        """Return nodes, node position of each part, and reservation; retry if another job was faster."""
        for nodes, positions, last in fitting(self.port, needs, lead, self.name_prefix):
            node_demands = []
            for position, need in zip(positions, needs):
                location = f"node {position} (`{name_of(nodes[position])}`)"
                node_demands.append(NodeDemand(RayBundle(nodes[position].node_id, need), self.name_prefix, location, position))
            self._reservation = reservation = Reservation(self.port, name, node_demands)
            try:
                reservation.acquire(limit=0.0)
                return nodes, positions, reservation
            except BaseException as problem:
                self._release()
                if last or not isinstance(problem, LaunchFailed) or problem.findings[0].code != "PW702":
                    raise
        raise shortage(self.port, inventory(self.port), self.name_prefix, needs, lead)

    def _seat(self, reservation: Reservation, nodes: Sequence[RayNode], positions: Sequence[int], device_name: str) -> list[Seat]:
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
