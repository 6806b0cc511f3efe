"""Nodes reserved by ROLL, and the devices of every worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ...component import Component
from ...configuration.notes import Notes, is_unknown
from ...configuration.settings import Amount
from ...derivation import Figure
from ...findings.finding import Finding, warning
from ...findings.span import Edit
from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...machines.node import GENERIC, EqualNodes, Node, Nodes, accelerators, numbered_nodes
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE_LABEL
from ...machines.shorthand import MAX_ACCELERATORS_PER_NODE, DeclaredNodes
from ...placements.assignment import Seat, compress
from ...placements.placement_text import RankRange, runs_of
from ...placements.run import Run
from ...placements.run_checks import deal_round_robin
from ...ranks import write_ranks
from ...releases.release import Range
from ...text.document import ShellMachine
from .device_mapping import ids_edit
from .findings import report
from .ids import Ids
from .job import Role, RollChecks, RollSetup
from .names import DEVICES, ROLE_OF
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


def devices_per_node(setup: RollSetup) -> int:
    """Return the devices that ROLL's driver counts, on the first node with accelerators."""
    notes, machines, is_replaced = setup.notes, setup.machines, setup.settings.since(REPLACED.since)
    amount = _whole(setup, PER_NODE, 8, is_replaced)
    file_count = min(amount.value, MAX_ACCELERATORS_PER_NODE) if amount and amount.value > 0 else 8
    if not is_replaced:
        return file_count
    visible = _count_visible(notes)
    if machines is None and visible is None:
        why = f"accelerators per node unknown; ROLL counts those of its own machine, {file_count} are assumed"
        notes.unsure(RULE, PER_NODE, why, True, f"Pass `--cluster x{file_count}`")
        return file_count
    if machines is None or isinstance(machines, DeclaredNodes):
        count = machines.count if machines else MAX_ACCELERATORS_PER_NODE
    else:
        count = next((len(stretch.node.accelerators) for stretch in machines.alike if stretch.node.accelerators), 0)
        if count and not machines.nodes[0].accelerators:
            notes.unsure(RULE, PER_NODE, "the first node has no accelerators; ROLL is taken to be started on the first one that has some")
    count = min(count, count if visible is None else visible)
    users = [role for role in setup.roles if role.counts and role.devices]
    if not count and users and not isinstance(machines, Cluster):
        report(notes, "driver_without_devices", users[0].key, users[0].place, role=users[0])
    if amount is not None and amount.scalar is not None and count and amount.value != count:
        values = {"value": amount.value, "count": count, "devices": with_noun(count, "device")}
        report(notes, "devices_replaced", "", amount.scalar, amount.becomes(count), **values)
    return count or file_count


def _whole(setup: RollSetup, key: str, default: int, is_replaced: bool) -> Amount | None:
    """Return a whole number; any number, or None, if ROLL replaces it unread."""
    value = setup.settings.at(key)
    if is_replaced and value is not None and is_unknown(value):
        setup.settings.note_replaced(key)
        return None
    return setup.settings.whole(key, RULE, default, exact=True, minimum=-_ANY if is_replaced else 1)


def _read_shell_machine(notes: Notes) -> ShellMachine:
    program = notes.document.program
    return (program.machine if program else None) or ShellMachine()


def _count_visible(notes: Notes) -> int | None:
    """Return the accelerators that the script shows the driver; `ray start --num-gpus` shows none."""
    machine = _read_shell_machine(notes)
    return machine.own if machine.for_ray else machine.accelerators


def nodes_reserved(setup: RollSetup, left_to_solve: bool) -> tuple[int, list[Finding]]:
    """Return the number of nodes that ROLL reserves, and a warning if the file differs.

    The highest device id of any role decides, started or not. `left_to_solve`: some roles have no
    ids yet, so more nodes may be needed, up to the number in the file.
    """
    counting = [role for role in setup.roles if role.counts and role.mapping is not None]
    with_devices = [role for role in counting if role.devices]
    amount = _whole(setup, NODES, 1, bool(with_devices) and not left_to_solve)
    file_count = amount.value if amount else 1
    if not with_devices:
        return file_count, []
    first = max(with_devices, key=lambda role: role.devices.highest)
    highest, devices = first.devices.highest, setup.per_node
    nodes = highest // devices + 1
    if left_to_solve:
        return max(nodes, file_count), []
    ids = Figure(f"{first.key}.{DEVICES}", f"device ids up to {highest}", first.place)
    driver = Figure(PER_NODE, devices, None, "the devices of the driver's machine")
    setup.derive("", NODES, nodes, f"highest device id {highest} // {devices} per node + 1", ids, driver)
    if amount is None or amount.scalar is None or file_count == nodes or len(with_devices) < len(counting):
        return nodes, []
    message = f"`{NODES}` is {file_count}, but ROLL replaces it with {nodes}: the highest device id is {highest}, with {devices} a node"
    help, edit = f"write `{NODES}: {nodes}`", amount.becomes(nodes)
    return nodes, [warning(REWRITTEN, "", message, amount.span, label=f"becomes {nodes}", help=help, edit=edit)]


# Reservation: whole nodes, with as many devices as the driver's machine.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, ResourceManager.__init__.


class DeviceReservation(RollChecks):
    """Reservation of `needed` nodes of `per_node` devices for the roles of a job.

    `machines` is the cluster if one is given; `large` are the nodes that ROLL may reserve; `beyond`
    are the roles that name devices of missing nodes.
    """

    def __init__(self, setup: RollSetup, node_count: int) -> None:
        super().__init__(setup)
        self.roles, self.per_node, self.needed = setup.roles, setup.per_node, node_count
        self.machines = setup.machines if isinstance(setup.machines, Cluster) else None
        self.model = GENERIC
        self.large: list[EqualNodes] = []
        self.beyond: list[Role] = []
        if self.machines is None:
            self.has = node_count if setup.machines else 0
            self.model = setup.machines.model if isinstance(setup.machines, DeclaredNodes) else GENERIC
            return
        nodes = self.machines.nodes
        self.model = nodes[0].accelerator_model or GENERIC
        stretches = nodes.alike if isinstance(nodes, Nodes) else [EqualNodes(node) for node in nodes]
        self.large = [stretch for stretch in stretches if stretch.node.count(ACCELERATOR) >= self.per_node]
        self.has = sum(stretch.count for stretch in self.large)
        if self.has or any(role.devices for role in self.roles):
            limit = self.has * self.per_node
            self.beyond = [role for role in self.roles if role.counts and role.devices.highest >= limit]

    def cluster(self, all_of_them: bool) -> Cluster:
        """Return the nodes of the job in rank order, with `per_node` devices per node.

        Nodes with fewer devices do not count; surplus devices are unused. If the machines are too
        few, add an error, and judge the rest on enough nodes. `all_of_them`: some role is left to
        solve and may use any node that ROLL can reserve.
        """
        devices, node_count, available = self.per_node, self.needed, self.has
        if self.machines is None:
            self._judge_shown()
            return self._of_needed_size()
        if not available and not any(role.devices for role in self.roles):
            return replace(self.machines, nodes=self.machines.nodes[: max(node_count, 1)], declared=())
        free_stretches = [stretch for stretch in self.large if stretch.node.free(ACCELERATOR).bit_count() >= devices]
        free = sum(stretch.count for stretch in free_stretches)
        top, nodes = self.settings.top, with_noun(node_count, "node")
        self._judge_shown()
        if available < node_count and not self.beyond:
            report(self.notes, "too_few_nodes", "", self.settings.at(NODES) or top, nodes=nodes, has=self._describe(), available=available)
        elif free < node_count <= available:
            values = {"nodes": with_noun(node_count, "whole node"), "available": available, "free": free, "are": are(free)}
            report(self.notes, "nodes_in_use", "", top, **values)
        if free < node_count:
            return self._of_needed_size()
        if node_count > 1 and any(stretch.node.count(ACCELERATOR) >= 2 * devices for stretch in free_stretches):
            report(self.notes, "reserved_twice", "", top, twice=2 * devices, devices=devices)
        stretches, rank, most = list[EqualNodes](), 0, free if all_of_them else node_count
        for stretch in free_stretches:
            count = min(stretch.count, most - rank)
            if count > 0:
                node = replace(stretch.node, rank=rank, accelerators=stretch.node.accelerators[:devices])
                stretches.append(EqualNodes(node, count, stretch.prefix, stretch.number))
                rank += count
        return Cluster(Nodes(stretches))

    def _of_needed_size(self) -> Cluster:
        return Cluster(Nodes([numbered_nodes(Node(0, "", accelerators(self.per_node, self.model)), self.needed)]))

    def _judge_shown(self) -> None:
        machine = _read_shell_machine(self.notes)
        count = min(max((role.devices.highest for role in self.roles if role.counts), default=-1) + 1, self.per_node)
        if machine.numbers and not set(range(count)) <= set(machine.numbers):
            at = machine.accelerators_span or self.settings.top
            texts = [",".join(map(str, ids)) for ids in (range(count), machine.numbers)]
            report(self.notes, "other_devices", "", at, variable=machine.variable, used=texts[0], shown=texts[1])
        visible, devices = machine.accelerators, with_noun(machine.accelerators or 0, "device")
        if visible is None or visible >= self.per_node or not self.has - 1 < self.needed <= self.has:
            return
        if machine.may_join:
            why = f"the script shows Ray {devices} of this node; the Ray that it may join is not known"
            self.notes.unsure(SHORT, "", why, True, "Write `ray start` into the script")
        else:
            at = machine.accelerators_span or self.settings.top
            report(self.notes, "too_few_shown", "", at, devices=devices, visible=visible, each=self.per_node)

    def _describe(self) -> str:
        fewer = len(self.machines.nodes) - self.has if self.machines else 0
        rest = f" ({with_noun(fewer, 'other')} {'has' if fewer == 1 else 'have'} fewer)" * (fewer > 0)
        return f"{with_noun(self.has, 'node')} of {with_noun(self.per_node, 'device')}{rest}"

    def report_beyond(self) -> None:
        """Add one finding for all roles that name missing devices."""
        roles, devices, limit = self.beyond, self.per_node, self.has * self.per_node
        ids = f"ids 0-{limit - 1}" if limit > 1 else "id 0 alone" if limit else "no id"
        first = max(roles, key=lambda role: role.devices.highest)
        highest = first.devices.highest
        text = f"`{first.key}` names device" if len(roles) == 1 else f"{len(roles)} roles name devices up to"
        help, edit = self._fix_ids(limit)
        help += f"give a cluster of {with_noun(self.needed, 'node')} of {devices}: `--cluster {self.needed}x{devices}`"
        lines = [f"`{role.key}` in line {role.place.line}: ids {write_ranks(role.devices.ranges)}" for role in roles if len(roles) > 1]
        if _count_visible(self.notes) == devices:
            lines.append(f"the script shows ROLL {with_noun(devices, 'device')} of its own node, and ROLL counts as many on all nodes")
        values = {"names": text, "highest": highest, "node": highest // devices, "has": self._describe(), "ids": ids, "help": help}
        report(self.notes, "beyond", first.key, first.place, edit, "error", lines, **values)
        self.notes.findings[-1] = replace(self.notes.findings[-1], also=tuple(role.key for role in roles if role is not first))

    def _fix_ids(self, limit: int) -> tuple[str, Edit | None]:
        """Return help and edit that keep the roles on existing devices: the same ids, or the first ones."""
        texts, edits = dict[str, list[str]](), list[Edit]()
        for role in self.beyond:
            size = max(role.num_gpus_per_worker, 1)
            kept_ids = Ids(id_ for id_ in role.devices if id_ < limit) if role.devices.solid else Ids()
            ids = kept_ids or Ids.join(range(min(len(role.devices), limit)))
            whole = Ids(ids[: len(ids) // size * size])
            better, edit = ids_edit(self.notes, role, whole)
            if edit is None or edit.span.file != self.notes.document.source.name or not whole:
                return "", None
            texts.setdefault(better, []).append(f"`{role.key}`")
            edits.append(edit)
        help = " and ".join(f"`{text}`" + f" for {', '.join(keys)}" * (len(edits) > 1) for text, keys in texts.items())
        return f"write {help}, or ", self.notes.join(*edits)


# Roles as components: devices of each worker.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, `allocate_placement_group`: the ids
# are cut into workers in written order; workers without devices go to the nodes in turn.


def build_open_component(role: Role) -> Component:
    """Build the component of a role left to solve; hints state the size."""
    devices, kind = max(role.num_gpus_per_worker, 1), ROLE_OF.get(role.part, "")
    return Component(role.key, (CLUSTER_LABEL,), per_process=devices, spans={"name": role.span}, role=kind, backend=role.backend)


def placed_component(setup: RollSetup, role: Role, nodes: int) -> Component:
    """Build the component of a started role, on the `nodes` reserved for all roles."""
    component = build_open_component(role)
    groups = (CLUSTER_LABEL,) if role.ids is not None or role.mapping is not None else (NODE_LABEL,)
    spans = {**component.spans} | ({"placement": role.place} if role.mapping is not None else {})
    if role.per_worker_span is not None:
        spans["per_process"] = role.per_worker_span
    if not role.readable or role.world_size is None:
        return replace(component, node_groups=groups, spans={**spans, "placement": role.place})
    if role.ids is None:
        workers, at = role.world_size, role.world_span or role.span
        turns = deal_round_robin(workers, min(nodes, len(setup.cluster.nodes)))
        return Component(role.key, groups, workers, workers, runs=turns, spans=spans | {"placement": at, "amount": at}, role=component.role)
    count, runs = len(role.ids), _runs_on(role.ids, component.per_process, setup)
    return replace(component, least=count, most=count, runs=runs, spans=spans)


def _runs_on(ids: Ids, devices: int, setup: RollSetup) -> Sequence[Run]:
    """Return the runs of workers with `devices` ids per worker; cheap for solid progressions."""
    if all(part.step == 1 and len(part) % devices == 0 for part in ids.parts):
        return runs_of([RankRange(part.start, part.stop, len(part) // devices) for part in ids.parts], setup.cluster, (CLUSTER_LABEL,))
    return compress(_workers(ids, devices, setup.per_node))


def _workers(ids: Ids, devices: int, per_node: int) -> Iterator[tuple[int, list[Seat]]]:
    seats = [divmod(id_, per_node) for id_ in ids]
    for rank in range(len(seats) // devices):
        yield rank, seats[rank * devices : (rank + 1) * devices]
