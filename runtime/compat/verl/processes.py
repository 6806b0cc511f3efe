"""Processes of a verl group on the seats of a pool."""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from dataclasses import replace
from typing import Callable, Mapping, Sequence

from ....models.machines.node_group import CLUSTER_LABEL
from ....models.placements.placement import Placement
from ...failure import build_failure, build_refusal, quote_names
from ...port.port import CREATED, Port, Start
from ...running.monitor import Monitor
from ...workers.group import WorkerGroup
from ...workers.inside.base import Worker
from ...workers.member import Member, rank_environment
from ...world.ray_machine import name_of
from .pool import Seat, type_on
from .worker_classes import HELD, RayClassWithInitArgs

_NUMBERS = itertools.count()
NOSET_SWITCH = "RAY_EXPERIMENTAL_NOSET_"
"""Prefix of the variables that keep Ray from setting the visible accelerators of a process."""


class PoolProcesses(WorkerGroup):
    """Workers on seats; a seat is freed with the worker or the last handle.

    `slots`: number of slots that each worker takes of its seat.
    """

    def __init__(
        self, port: Port, component: str, members: Sequence[Member], worker: type, seats: Sequence[Seat], concurrency: int | None,
        meeting_port: str | None, slots: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(port, component, members, worker, concurrency, meeting_port)
        self.seats = list(seats)
        self.slots = slots
        self._taken: list[tuple[Seat, int]] = []

    def seat(self, member: Member, start: Start) -> Start:
        """Return the start options with the bundle and reservation of the member's seat."""
        seat = self.seats[member.placement.rank]
        return replace(start, hold=seat.reservation.hold, bundle=seat.bundle)

    def take_seats(self) -> None:
        """Mark the seats as taken for as long as the worker handles exist."""
        for seat, worker in zip(self.seats, self.workers):
            for number in itertools.islice(_NUMBERS, self.slots):
                seat.taken[number] = self.component
                self._taken.append((seat, number))
                weakref.finalize(worker, seat.taken.pop, number, None)

    def kill(self) -> None:
        """End every worker and free the seats. Idempotent."""
        super().kill()
        for seat, number in self._taken:
            seat.taken.pop(number, None)


def placements_on(seats: Sequence[Seat], use_gpu: bool) -> list[Placement]:
    """Return the Placement of every rank; a rank sees the seat's accelerator or none."""
    nodes: dict[int, int] = {}
    for seat in seats:
        nodes.setdefault(seat.node_rank, len(nodes))
    sizes, local_ranks = Counter(seat.node_rank for seat in seats), Counter[int]()
    placements = []
    for rank, seat in enumerate(seats):
        uses = use_gpu and bool(seat.accelerator)
        placements.append(
            Placement(
                rank, seat.node_rank, name_of(seat.node), nodes[seat.node_rank], seat.number if uses else -1,
                type_on(seat.node, seat.device if uses else ""), local_ranks[seat.node_rank], sizes[seat.node_rank],
                (seat.accelerator,) if uses else (), True, (seat.number,) if uses else (), CLUSTER_LABEL,
            )
        )  # fmt: skip
        local_ranks[seat.node_rank] += 1
    return placements


def members_on(
    seats: Sequence[Seat], component: str, prefix: str, cia: RayClassWithInitArgs, use_gpu: bool, address: str, worker_env: Mapping[str, str]
) -> list[Member]:  # fmt: skip
    """Build a Member with environment variables for every seat.

    Raises a ValueError (PW718) if `worker_env` contradicts that environment. Source of the names
    WG_PREFIX, WG_BACKEND and RAY_LOCAL_WORLD_SIZE, and of the actors' names: verl,
    single_controller/ray/base.py, `_create_worker`; of REDIS_STORE_SERVER_HOST: base/worker.py. A
    class that derives from verl's own Worker would read NOSET_SWITCH as "Ray counts the
    accelerators" and fail, so those variables are left out for it.
    """
    is_our_worker = all(issubclass(cls, Worker) for cls in (cia.worker, *getattr(cia.worker, HELD, {}).values()))
    runtime_env = cia.options.get("runtime_env") or {}
    variables = {**(runtime_env.get("env_vars") or {}), **worker_env}
    members = []
    for placement, seat in zip(placements_on(seats, use_gpu), seats):
        environment = rank_environment(component, placement, len(seats), address) | {
            "WG_PREFIX": prefix, "WG_BACKEND": "ray", "RAY_LOCAL_WORLD_SIZE": str(seat.local_world_size),
            "REDIS_STORE_SERVER_HOST": address.strip("[]"),
        }  # fmt: skip
        if not is_our_worker:
            environment = {name: value for name, value in environment.items() if not name.startswith(NOSET_SWITCH)}
        conflict = sorted({*environment, "MASTER_PORT"} & set(variables))
        if conflict:
            message = f"Cannot override protected system env: {', '.join(conflict)}"
            raise build_refusal("PW718", component, message, "leave these to the group", *conflict)
        name = f"{component}_{seat.part}:{seat.local_rank}"
        members.append(Member(placement, name, environment, variables, runtime_env.get("py_executable"), cia.args, cia.kwargs))
    return members


def check_free_slots(seats: Sequence[Seat], component: str, slots: int = 1) -> None:
    """Raise ValueError (PW702) for a seat without `slots` free slots: Ray would wait."""
    for seat in seats:
        if seat.free < slots:
            groups = quote_names(dict.fromkeys(seat.taken.values()))
            wanted_slots = "no slot" if slots == 1 else f"no {slots} slots"
            taken_text = "all" if not seat.free else f"{len(seat.taken)} of them"
            message = f"group `{component}` finds {wanted_slots} on {seat.where}: pool `{seat.pool}` has {seat.limit} for each place, {taken_text} taken by {groups}"
            help = "close one of these groups, or give the pool a larger max_colocate_count"
            raise build_refusal("PW702", component, message, help, amount=slots - seat.free)


def check_nodes_alive(seats: Sequence[Seat], component: str) -> None:
    """Raise LaunchFailed (PW713) for a lost node, which Ray would not report."""
    reservation = seats[0].reservation
    state = reservation.port.state(reservation.hold)
    if state != CREATED:
        alive_ids = {node.node_id for node in reservation.port.nodes()}
        lost_nodes = sorted({seat.node_rank for seat in seats if seat.node.node_id not in alive_ids})
        names = ", ".join(dict.fromkeys(seat.where for seat in seats if seat.node_rank in lost_nodes))
        names = names or f"all of it, which is {state.lower()}"
        message = f"group `{component}` cannot start: pool `{seats[0].pool}` has lost {names}"
        raise build_failure("PW713", component, message, "close the pool and make another on the nodes that are left", *lost_nodes)


def loss_check(group: WorkerGroup, seats: Sequence[Seat]) -> Callable[[], None]:
    """Return the periodic check of blocking calls. It raises LaunchFailed (PW704, PW713)."""
    return Monitor(group.port, seats[0].reservation.hold, {seat.node_rank: seat.node.node_id for seat in seats}, [group]).check
