"""verl's `RayWorkerGroup`: one worker on each place of a pool, called together."""

from __future__ import annotations

import copy
import secrets
from typing import TYPE_CHECKING, Any, Collection, Mapping, Sequence

from ...failure import build_refusal
from ...port.port import Actor, Ticket
from ...workers.calls import Results
from ...workers.group import Gang, WorkerGroup, attach_members, list_unplaced
from .calls import bind, methods_of
from .dispatch import shares
from .pool import RayResourcePool, Seat, port_of, resource_of
from .processes import PoolProcesses, check_free_slots, check_nodes_alive, loss_check, members_on
from .worker_classes import HELD, RayClassWithInitArgs, check_parameters, slots

READY_LIMIT = 300
"""Time limit, in seconds, for the construction of all workers.

verl has the parameter and ignores it.
"""


class RayWorkerGroup:
    """Workers of a class on all seats of a pool, in rank order.

    Methods marked by `register` are methods of the group.

    Parameters
    ----------
    resource_pool : pool of the workers. None attaches to running workers, by `worker_handles`.
    ray_cls_with_init : their class and its arguments.
    bin_pack : accepted as in verl; each part of a pool is whole on one node either way.
    name_prefix : prefix of their names, ``{name_prefix}{class}_{part}:{place}``; default: six
        random letters.
    ray_wait_register_center_timeout : time limit, in seconds, for the construction of all workers.
    options : `master_addr` and `master_port`, both or neither; `use_gpu`, True if they see the
        pool's accelerators; `device_name`, ``cuda`` or ``npu``; `worker_env`, more environment
        variables; `on`, the cluster to attach on.

    The constructor returns when all workers are constructed. It fails at the first failing worker,
    which ends the rest. The workers end by `close`, at the end of a `with` block, or with this
    process; like Ray's own actors also with their last handle. Every failure is a LaunchFailed,
    within a second where a name, a slot or the pool is the reason. Source: verl,
    verl/single_controller/ray/base.py.

    Blocking calls raise LaunchFailed at the first worker that raises (PW709) or dies (PW704),
    however long the rest would take. The exception that a worker raised is the cause of PW709.

    Non-blocking calls return references, as Ray's own calls do. `group` is the same workers behind
    our own interface, such as ``group.on(0, 1).call("train")``. `master_address` and `master_port`
    are the rendezvous, on rank 0's node; None for attached workers.
    """

    timeout: float | None = None
    """Time limit of blocking calls, in seconds; None: unlimited."""

    def __init__(
        self, resource_pool: RayResourcePool | None = None, ray_cls_with_init: RayClassWithInitArgs | None = None, bin_pack: bool = True,
        name_prefix: str | None = None, worker_handles: Sequence[Actor] | None = None,
        ray_wait_register_center_timeout: float = READY_LIMIT, **options: Any,
    ) -> None:  # fmt: skip
        prefix = secrets.token_hex(3) if name_prefix is None else str(name_prefix)
        check_parameters(prefix, options)
        self.resource_pool = resource_pool
        self.ray_cls_with_init = ray_cls_with_init
        self.name_prefix = prefix
        self.device_name = str(options.get("device_name", "cuda"))
        self._gang: Gang | None = None
        self._ticket: type | None = None
        self.master_address: str | None = None
        self.master_port: str | None = None
        # mesh -> the answers of all workers; verl's trainers read and extend both
        self._dispatch_info: dict[str, list[Any]] = {}
        self._collect_info: dict[str, list[Any]] = {}
        if resource_pool is None:
            if not worker_handles:
                raise self._refuse("there is neither a pool nor workers to attach to", "give resource_pool or worker_handles")
            members = list_unplaced([f"{prefix}:{rank}" for rank in range(len(worker_handles))])
            cls = ray_cls_with_init.worker if ray_cls_with_init is not None else object
            self.group = attach_members(port_of(options.get("on")), prefix, members, cls, worker_handles)
        else:
            self.group = self._start(resource_pool, options, ray_wait_register_center_timeout)
        self.port, self.world_size = self.group.port, self.group.world_size
        self._bound: list[str] = []
        if ray_cls_with_init is not None:
            self._bind(ray_cls_with_init.worker)

    def spawn(self, prefix_set: Collection[str]) -> dict[str, RayWorkerGroup]:
        """Return a view per key, with the original names. Unknown key: ValueError (PW718)."""
        views = {}
        for key in prefix_set:
            view = copy.copy(self)
            for name in self._bound:  # the same workers without the methods that their class gave this group
                delattr(view, name)
            view._bound, view._dispatch_info, view._collect_info = [], {}, {}
            view._bind_under(key)
            views[key] = view
        return views

    @property
    def worker_names(self) -> list[str]:
        """Names of the workers' actors, in rank order."""
        return [member.name for member in self.group.members]

    @property
    def workers(self) -> list[Actor]:
        """Actor handles of the workers in rank order; they have the methods of their class."""
        return self.group.workers

    def execute_rank_zero_async(self, method_name: str, *args: Any, **kwargs: Any) -> Ticket:
        """Return a reference to the answer of rank 0."""
        return self._ask(0, method_name, args, kwargs)

    execute_rank_zero = execute_rank_zero_async

    def execute_rank_zero_sync(self, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """Return the answer of rank 0."""
        return self.fetch([0], [self.execute_rank_zero_async(method_name, *args, **kwargs)], method_name)[0]

    def execute_all_async(self, method_name: str, *args: Any, **kwargs: Any) -> list[Ticket]:
        """Return references to the answers of all workers, in rank order.

        If every argument is a list with one element per worker, each worker gets its own element;
        otherwise every worker gets all arguments unchanged. See `shares`.
        """
        split = shares(args, kwargs, self.world_size)
        return [self._ask(rank, method_name, positional, keywords) for rank, (positional, keywords) in enumerate(split)]

    execute_all = execute_all_async

    def execute_all_sync(self, method_name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the answers of all workers in rank order; arguments as for execute_all_async."""
        return self.fetch(range(self.world_size), self.execute_all_async(method_name, *args, **kwargs), method_name)

    def fetch(self, ranks: Sequence[int], tickets: Sequence[Ticket], method_name: str = "") -> list[Any]:
        """Fetch answers of `ranks`; LaunchFailed at the first failure."""
        return Results(self.group, dict(zip(tickets, ranks)), method_name, self.timeout).wait()

    def is_awaited(self, answer: object) -> bool:
        """Return True if `answer` is a reference from a call of this group."""
        return self._ticket is not None and type(answer) is self._ticket

    def dispatch_info(self, mesh_name: str) -> list[int]:
        """Return the chunk number of every worker on a mesh; cached."""
        return self._query_once(self._dispatch_info, "_query_dispatch_info", mesh_name)

    def collect_info(self, mesh_name: str) -> list[bool]:
        """Return, per worker, True if the answer on a mesh counts; cached."""
        return self._query_once(self._collect_info, "_query_collect_info", mesh_name)

    def close(self) -> None:
        """End the workers, wait until their names are free, and free their slots. Idempotent."""
        if self._gang is not None:
            self._gang.kill()

    def __enter__(self) -> RayWorkerGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a registered method, known only at run time."""

    def _class(self) -> RayClassWithInitArgs:
        if self.ray_cls_with_init is None:
            raise self._refuse("no class of workers is given", "give ray_cls_with_init")
        return self.ray_cls_with_init

    def _bind_under(self, key: str) -> None:
        """Bind all methods, and those of a key also under their own names."""
        cls = self._class().worker
        methods = dict(methods_of(cls))
        methods_of_key = [name for name in methods if name.startswith(f"{key}_")]
        keys: Collection[str] = getattr(cls, HELD, [key] if methods_of_key else [])
        if key not in keys:
            message = f"no class is colocated as `{key}`; these are: {', '.join(keys) or 'none'}"
            raise self._refuse(message, "spawn one of these")
        self._bind(cls)
        for name in methods_of_key:
            self._add_method(name.removeprefix(f"{key}_"), name, methods[name])

    def _bind(self, cls: type) -> None:
        for name, mode in methods_of(cls):
            self._add_method(name, name, mode)

    def _add_method(self, name: str, method: str, mode: Any) -> None:
        bind(self, name, method, mode)
        if name not in self._bound:
            self._bound.append(name)

    def _ask(self, rank: int, method: str, arguments: Sequence[Any], keywords: dict[str, Any]) -> Ticket:
        ticket = self.group.request(rank, method, arguments, keywords)
        self._ticket = type(ticket)
        return ticket

    def _refuse(self, message: str, help: str) -> Exception:
        return build_refusal("PW718", self.name_prefix, f"group `{self.name_prefix}`: {message}", help)

    def _start(self, pool: RayResourcePool, options: Mapping[str, Any], limit: float) -> WorkerGroup:
        cia, use_gpu = self._class(), options.get("use_gpu", pool.use_gpu)
        if use_gpu and not pool.use_gpu:
            raise self._refuse("use_gpu is True but resource_pool.use_gpu is False", "give the pool use_gpu=True")
        seats = pool.seats(self.device_name)
        component = f"{self.name_prefix}{cia.worker.__name__}"
        options_of_class, seat = cia.options, seats[0]
        resource = resource_of(seat.device) if use_gpu and seat.device else ""
        slots_per_worker = slots(cia.worker.__name__, options_of_class, seat.pool, seat.limit, resource)
        check_free_slots(seats, component, slots_per_worker)
        check_nodes_alive(seats, component)
        address, meeting = options.get("master_addr"), options.get("master_port")
        meeting_port = None if meeting is None else str(meeting)
        members = members_on(
            seats, component, self.name_prefix, cia, use_gpu, str(address or seats[0].node.address), options.get("worker_env") or {}
        )  # fmt: skip
        concurrency = options_of_class.get("max_concurrency")
        group = PoolProcesses(pool.port, component, members, cia.worker, seats, concurrency, meeting_port, slots_per_worker)
        reports = self._begin(seats, group, limit)
        first = reports[0]["environment"]
        self.master_address, self.master_port = first["MASTER_ADDR"], first["MASTER_PORT"]
        return group

    def _begin(self, seats: Sequence[Seat], group: PoolProcesses, limit: float) -> list[dict[str, Any]]:
        """Start all workers or none, and return the report of each."""
        gang = Gang(group.port, seats[0].reservation, {seat.node_rank: seat.bundle for seat in seats}, [group])
        try:
            reports = gang.start(limit)[group.component]
            group.take_seats()
        except BaseException:
            gang.kill()
            raise
        group.alarm = loss_check(group, seats)
        self._gang = gang
        return reports

    def _query_once(self, cache: dict[str, list[Any]], method: str, mesh_name: str) -> list[Any]:
        if mesh_name not in cache:
            cache[mesh_name] = getattr(self, method)(mesh_name)
        return cache[mesh_name]
