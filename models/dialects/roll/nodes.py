"""Nodes reserved by ROLL, and the devices of every worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterable, Iterator, Sequence, Union

from ...component import UNBOUNDED, Component
from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Derivation, Figure
from ...findings.finding import Finding, Severity, warning
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...machines.node import GENERIC, Alike, Node, Nodes, accelerators, numbered_nodes
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE_LABEL
from ...machines.shorthand import MAX_ACCELERATORS_PER_NODE, AsDeclared
from ...placements.assignment import Seat, compress
from ...placements.placement_text import RankRange, runs_of
from ...placements.run import Run
from ...placements.sound import in_turn
from ...ranks import write_ranks
from ...record import dataclass
from ...releases.release import Range
from ...text.document import ShellMachine
from .device_mapping import ids_edit, overlaps_no_edit
from .ids import Ids
from .job import Role
from .names import ACTOR_INFER, ACTOR_TRAIN, DEVICES, ROLE_OF
from .roles import REWRITTEN

# Devices per node as ROLL counts them, and nodes that it reserves.
#
# Source: ROLL, roll/configs/base_config.py, BaseConfig.__post_init__ (`current_platform.device_count()` of the machine
# that the job is started on; the highest device id of all roles), roll/pipeline/rlvr/rlvr_config.py.

PER_NODE, NODES = "num_gpus_per_node", "num_nodes"
RULE, SHORT = "PW102", "PW114"
REPLACED = Range(since="0.1.3")
"""Releases that replace `num_gpus_per_node` by the driver's device count."""
_ANY = 10**9
"""Bound for numbers that ROLL replaces before it reads them."""


def devices_per_node(notes: Notes, settings: Settings, machines: Cluster | AsDeclared | None) -> int:
    """Return the devices that ROLL's driver counts on its own machine.

    The driver is assumed on the first node with accelerators.
    """
    is_replaced = notes.choice is None or notes.choice.since("0.1.3")
    written = settings.whole(PER_NODE, RULE, 8, exact=True, least=-_ANY if is_replaced else 1)
    stated = min(written.value, MAX_ACCELERATORS_PER_NODE) if written and written.value > 0 else 8
    if not is_replaced:
        return stated
    seen = _seen(notes)
    if machines is None and seen is None:
        why = f"accelerators per node unknown; ROLL counts those of its own machine, {stated} are assumed"
        notes.unsure(RULE, PER_NODE, why, True, f"Pass `--cluster x{stated}`")
        return stated
    if machines is None or isinstance(machines, AsDeclared):
        count = machines.count if machines else MAX_ACCELERATORS_PER_NODE
    else:
        count = next((len(group.node.accelerators) for group in machines.alike if group.node.accelerators), 0)
        if count and not machines.nodes[0].accelerators:
            notes.unsure(RULE, PER_NODE, "the first node has no accelerators; ROLL is taken to be started on the first one that has some")
    count = min(count, count if seen is None else seen)
    if written is not None and written.scalar is not None and count and written.value != count:
        message = f"`{PER_NODE}` is {written.value}, but ROLL replaces it with {count}: the devices of the machine that it is started on"
        label, help, edit = f"becomes {count}", f"write `{PER_NODE}: {count}`", written.becomes(count)
        notes.judge(REPLACED, Severity.WARNING, REWRITTEN, "", message, written.scalar, label, help, edit)
    return max(count, 1)


def _shown(notes: Notes) -> ShellMachine:
    """Return what the script tells Ray about the node."""
    program = notes.document.program
    return (program.machine if program else None) or ShellMachine()


def _seen(notes: Notes) -> int | None:
    """Return the number of accelerators that the script shows the driver; None if unknown.

    `ray start --num-gpus` informs Ray alone, not the driver.
    """
    shown = _shown(notes)
    return None if shown.for_ray else shown.accelerators


def nodes_reserved(
    notes: Notes, settings: Settings, roles: Iterable[Role], per_node: int, derivations: list[Derivation], left_to_solve: bool
) -> tuple[int, list[Finding]]:
    """Return the number of nodes that ROLL reserves, and a warning if the file differs.

    The highest device id of any role decides, started or not. `left_to_solve`: some roles have no
    ids yet, so more nodes may be needed, up to the number in the file.
    """
    counting = [role for role in roles if role.counts and role.mapping is not None]
    known = [role for role in counting if role.ids is not None and role.ids.count]
    written = settings.whole(NODES, RULE, 1, exact=True, least=-_ANY if known and not left_to_solve else 1)
    stated = written.value if written else 1
    first = max(known, key=_highest, default=None)
    if first is None:
        return stated, []
    highest, devices = _highest(first), per_node
    nodes = highest // devices + 1
    if left_to_solve:
        return max(nodes, stated), []
    ids = Figure(f"{first.key}.{DEVICES}", f"device ids up to {highest}", first.place)
    figures = (ids, Figure(PER_NODE, devices, None, "the devices of the driver's machine"))
    derivations.append(Derivation("", NODES, nodes, f"highest device id {highest} // {devices} per node + 1", figures))
    if written is None or written.scalar is None or stated == nodes or len(known) < len(counting):
        return nodes, []
    message = f"`{NODES}` is {stated}, but ROLL replaces it with {nodes}: the highest device id is {highest}, with {devices} a node"
    help, edit = f"write `{NODES}: {nodes}`", written.becomes(nodes)
    return nodes, [warning(REWRITTEN, "", message, written.span, label=f"becomes {nodes}", help=help, edit=edit)]


def _highest(role: Role) -> int:
    return role.ids.highest if role.ids else 0


# Reservation: whole nodes, with as many devices as the driver's machine.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, ResourceManager.__init__.

Verifies = Callable[[Union[Edit, None], Union[Cluster, None]], bool]
AT_RESERVING = "ROLL notices this as it counts the nodes of Ray, before it reserves any or starts a worker"
_WAITS = "ROLL waits for whole nodes without a limit and says nothing"


@dataclass(frozen=True)
class DeviceReservation:
    """Reservation of `num_nodes` nodes of `per_node` devices for the roles of a job."""

    notes: Notes
    settings: Settings
    roles: Sequence[Role]
    per_node: int
    num_nodes: int

    def cluster(self, machines: Cluster | AsDeclared | None, all_of_them: bool) -> Cluster:
        """Return the nodes of the job in rank order, with `per_node` devices per node.

        Nodes with fewer devices do not count; surplus devices are unused. If the machines are too
        few, add an error, and judge the rest on enough nodes. `all_of_them`: some role is left to
        solve and may use any node that ROLL can reserve.
        """
        devices, needed = self.per_node, self.num_nodes
        if not isinstance(machines, Cluster):
            self._judge_shown(needed if machines else 0)
            return _of_size(needed, devices, machines.model if machines else GENERIC)
        large = self._large(machines)
        if not large and not any(role.on_devices for role in self.roles):
            return replace(machines, nodes=machines.nodes[: max(needed, 1)], declared=())
        free_groups = [group for group in large if group.node.free(ACCELERATOR).bit_count() >= devices]
        has, free = sum(group.count for group in large), sum(group.count for group in free_groups)
        top, nodes = self.settings.top, with_noun(needed, "node")
        self._judge_shown(has)
        if has < needed and not self.beyond(machines):
            message = f"ROLL needs {nodes}; the cluster has {self._describe(machines)}"
            at = self.settings.at(NODES) or top
            self.notes.error(SHORT, "", message, at, f"only {has}", f"give a cluster of {nodes}", None, AT_RESERVING)
        elif free < needed <= has:
            message = f"ROLL reserves whole nodes, here {needed}; of {has} only {free} {are(free)} free"
            self.notes.error(SHORT, "", message, top, "", "wait for the other jobs, or use fewer nodes", None, _WAITS)
        if free < needed:
            return _of_size(needed, devices, _model(machines))
        if needed > 1 and any(group.node.count(ACCELERATOR) >= 2 * devices for group in free_groups):
            message = (
                f"a node has {2 * devices} devices or more: ROLL may reserve {devices} of them twice, and use the first {devices} for both"
            )
            help = "start ROLL on one of the larger nodes, or on nodes that are alike"
            self.notes.warn(SHORT, "", message, top, "", help)
        nodes_left, taken = free if all_of_them else needed, list[Alike]()
        for group in free_groups:
            rank = sum(chosen.count for chosen in taken)
            count = min(group.count, nodes_left - rank)
            if count > 0:
                node = replace(group.node, rank=rank, accelerators=group.node.accelerators[:devices])
                taken.append(Alike(node, count, group.prefix, group.number))
        return Cluster(Nodes(taken))

    def _judge_shown(self, has: int) -> None:
        """Refuse a script that shows Ray fewer devices than ROLL counts per node.

        Such a node is none of the `has` nodes that ROLL may reserve.
        """
        shown, at = _shown(self.notes).accelerators, _shown(self.notes).accelerators_span
        if shown is not None and shown < self.per_node and has - 1 < self.num_nodes <= has:
            message = f"the script shows Ray {with_noun(shown, 'device')} of this node, but ROLL uses only nodes of {self.per_node}"
            help = f"show Ray all {self.per_node}, or show ROLL as few: `CUDA_VISIBLE_DEVICES`"
            self.notes.error(SHORT, "", message, at or self.settings.top, f"{shown} of {self.per_node}", help, None, AT_RESERVING)

    def _large(self, machines: Cluster) -> list[Alike]:
        alike = machines.nodes.alike if isinstance(machines.nodes, Nodes) else [Alike(node) for node in machines.nodes]
        return [group for group in alike if group.node.count(ACCELERATOR) >= self.per_node]

    def _describe(self, machines: Cluster) -> str:
        has = sum(group.count for group in self._large(machines))
        fewer = len(machines.nodes) - has
        rest = f" ({with_noun(fewer, 'other')} {'has' if fewer == 1 else 'have'} fewer)" * (fewer > 0)
        return f"{with_noun(has, 'node')} of {with_noun(self.per_node, 'device')}{rest}"

    def beyond(self, machines: Cluster | AsDeclared | None) -> list[Role]:
        """Return the roles that name devices of missing nodes."""
        if not isinstance(machines, Cluster):
            return []
        limit = sum(group.count for group in self._large(machines)) * self.per_node
        counted = limit or any(role.on_devices for role in self.roles)
        return [role for role in self.roles if counted and role.counts and role.ids is not None and role.ids.highest >= limit]

    def tell_of(self, roles: list[Role], machines: Cluster | AsDeclared | None, verifies: Verifies) -> None:
        """Add one finding for all roles that name missing devices, with verified helps."""
        if not isinstance(machines, Cluster):
            return
        devices = self.per_node
        limit = sum(group.count for group in self._large(machines)) * devices
        ids = f"ids 0-{limit - 1}" if limit > 1 else "id 0 alone" if limit else "no id"
        first = max(roles, key=_highest)
        names = f"`{first.key}` names device" if len(roles) == 1 else f"{len(roles)} roles name devices up to"
        message = (
            f"{names} {_highest(first)}, which is on node {_highest(first) // devices}; the cluster has {self._describe(machines)}: {ids}"
        )
        help, edit = next(((help, edit) for help, edit in self._within(roles, limit) if verifies(edit, None)), ("", None))
        if verifies(None, _of_size(self.num_nodes, devices, _model(machines))):
            larger = f"give a cluster of {with_noun(self.num_nodes, 'node')} of {devices}: `--cluster {self.num_nodes}x{devices}`"
            help = f"{help}, or {larger}" if help else larger
        holes = any(role.part in (ACTOR_TRAIN, ACTOR_INFER) and role.ids and not role.ids.solid for role in roles)
        if holes or (edit is not None and not overlaps_no_edit(self.notes, edit)):
            edit = None  # the update of weights says more exactly where ranges with holes may be
        listed = [f"`{role.key}` in line {role.place.line}: ids {write_ranks(role.ids.ranges)}" for role in roles if role.ids]
        listed = listed if len(roles) > 1 else []
        if _seen(self.notes) == devices:
            listed.append(f"the script shows ROLL {with_noun(devices, 'device')} of its own node, and ROLL counts as many on all nodes")
        help = help or (f"name {ids} alone" if limit else "")
        self.notes.error(RULE, first.key, message, first.place, f"only {ids}", help, edit, AT_RESERVING, *listed)
        also = tuple(role.key for role in roles if role is not first)
        self.notes.findings[-1] = replace(self.notes.findings[-1], also=also)

    def _within(self, roles: list[Role], limit: int) -> Iterator[tuple[str, Edit]]:
        """Yield (help, edit) to keep the roles on existing devices.

        Candidates: without the ids beyond, as many of the first ids, or fewer.
        """
        every = [role.ids or Ids() for role in roles]
        below = [_below(ids, limit) for ids in every]
        as_many = [Ids.of([range(min(ids.count, limit))]) for ids in every]
        fewer = [[_below(ids.sliced(slice(ids.count // part)), limit) for ids in every] for part in (2, 4)]
        for candidate in (below, as_many, *fewer) if all(ids.solid for ids in every) else (as_many, below, *fewer):
            texts, edits = dict[str, list[str]](), list[Edit]()
            for role, ids in zip(roles, candidate):
                size = max(role.num_gpus_per_worker, 1)
                whole = ids.sliced(slice(ids.count // size * size))
                better, edit = ids_edit(self.notes, role.key, role.mapping, whole)
                is_here = edit is not None and edit.span.file == self.notes.document.source.name
                if edit is None or not is_here or not whole.count or not overlaps_no_edit(self.notes, edit):
                    break
                texts.setdefault(better, []).append(f"`{role.key}`")
                edits.append(edit)
            else:
                help = " and ".join(f"`{text}`" + f" for {', '.join(names)}" * (len(roles) > 1) for text, names in texts.items())
                yield f"write {help}", self.notes.joined(*edits)


def _below(ids: Ids, limit: int) -> Ids:
    return Ids.of(range(id_, id_ + 1) for id_ in ids if id_ < limit)


def _of_size(nodes: int, devices: int, model: str) -> Cluster:
    return Cluster(Nodes([numbered_nodes(Node(0, "", accelerators(devices, model)), nodes)]))


def _model(machines: Cluster) -> str:
    return machines.nodes[0].accelerator_model or GENERIC


# Roles as components: devices of each worker.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, `allocate_placement_group`: the ids
# are cut into workers in written order; workers without devices go to the nodes in turn.


def placed_component(role: Role, cluster: Cluster, per_node: int, nodes: int) -> Component:
    """Build the component of a started role; without runs if the workers are unknown.

    `nodes` are reserved for all roles together.
    """
    groups = (CLUSTER_LABEL,) if role.ids is not None or role.mapping is not None else (NODE_LABEL,)
    devices, kind = max(role.num_gpus_per_worker, 1), ROLE_OF.get(role.part, "")
    spans = {"name": role.span} | ({"placement": role.place} if role.mapping is not None else {})
    if role.per_worker_span is not None:
        spans["per_process"] = role.per_worker_span
    if not role.readable or role.world_size is None:
        return Component(role.key, groups, per_process=devices, spans={**spans, "placement": role.place}, role=kind, backend=role.backend)
    if role.ids is None:
        spans |= {"placement": role.world_span or role.span, "amount": role.world_span or role.span}
        turns: Sequence[Run] = in_turn(role.world_size, min(nodes, len(cluster.nodes)))
        return Component(role.key, groups, role.world_size, role.world_size, runs=turns, spans=spans, role=kind)
    count, runs = role.ids.count, runs_on(role.ids, devices, cluster, per_node)
    return Component(role.key, groups, count, count, devices, runs=runs, spans=spans, role=kind, backend=role.backend)


def opened(role: Role) -> Component:
    """Build the component of a role left to solve; hints state the size."""
    devices, kind, spans = max(role.num_gpus_per_worker, 1), ROLE_OF.get(role.part, ""), {"name": role.span}
    return Component(role.key, (CLUSTER_LABEL,), 1, UNBOUNDED, devices, spans=spans, role=kind, backend=role.backend)


def runs_on(ids: Ids, each: int, cluster: Cluster, per_node: int) -> Sequence[Run]:
    """Return the runs of workers with `each` ids per worker, in order.

    The cost grows with the number of progressions if these are solid, else with the ids.
    """
    if all(part.step == 1 and len(part) % each == 0 for part in ids.parts):
        return runs_of([RankRange(part.start, part.stop, len(part) // each) for part in ids.parts], cluster, (CLUSTER_LABEL,))
    return compress(_workers(ids, each, per_node))


def _workers(ids: Ids, devices: int, per_node: int) -> Iterator[tuple[int, list[Seat]]]:
    worker_seats: list[Seat] = []
    rank = 0
    for id_ in ids:
        worker_seats.append(divmod(id_, per_node))
        if len(worker_seats) == devices:
            yield rank, worker_seats
            worker_seats, rank = [], rank + 1
