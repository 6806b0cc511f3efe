"""The nodes that ROLL reserves, and which worker holds which devices of which node."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterable, Iterator, Sequence, Union

from ...component import UNBOUNDED, Component
from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...derivation import Derivation, Figure
from ...findings.finding import Finding, Severity, warning
from ...findings.span import Edit
from ...findings.wording import with_noun
from ...machines.accelerators import GENERIC, accelerators
from ...machines.cluster import Cluster, Node, Nodes
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE_LABEL
from ...machines.nodes import Alike, numbered_nodes
from ...machines.shorthand import MAX_ACCELERATORS_PER_NODE, AsDeclared
from ...notation.mapping import runs_of
from ...notation.placement_text import Pair
from ...placements.assignment import Run, Seat, compress
from ...placements.in_turn import in_turn
from ...ranks import write_ranks
from ...record import dataclass
from ...releases.release import Range
from ...text.tree import Scalar
from .device_mapping import KEY, joined, other_ids, stands_alone
from .ids import Ids
from .job import Role
from .names import ACTOR_INFER, ACTOR_TRAIN, ROLE_OF
from .roles import REWRITTEN

# How many devices ROLL counts on a node, and how many nodes it reserves: figures that it takes from elsewhere than the file.
#
# Source: ROLL, roll/configs/base_config.py, BaseConfig.__post_init__ (`current_platform.device_count()` of the machine that the job is
# started on; the highest device id of all roles), roll/pipeline/rlvr/rlvr_config.py.

PER_NODE, NODES = "num_gpus_per_node", "num_nodes"
RULE = "PW102"
REPLACED = Range(since="0.1.3")
"""Releases that replace the devices of a node by what the driver counts."""
_ANY = 10**9
"""Where ROLL replaces a number before it reads it, any is accepted."""


@dataclass(frozen=True, slots=True)
class PerNode:
    """How many devices a node has as ROLL counts them; `assumed` where nobody described the machines."""

    count: int
    assumed: bool = False


def devices_per_node(notes: Notes, settings: Settings, machines: Cluster | AsDeclared | None) -> PerNode:
    """What ROLL's driver counts on its own machine, which is taken to be the first one with accelerators."""
    replaced = notes.choice is None or notes.choice.since("0.1.3")
    written = settings.whole(PER_NODE, RULE, 8, exact=True, least=-_ANY if replaced else 1)
    if not replaced:
        count = min(written.value, MAX_ACCELERATORS_PER_NODE) if written else 8
        return PerNode(count, machines is None and (written is None or written.scalar is None))
    if machines is None:
        count = min(written.value, MAX_ACCELERATORS_PER_NODE) if written and written.value > 0 else 8
        why = f"accelerators per node unknown; ROLL counts those of its own machine, {count} are assumed"
        notes.unsure(RULE, PER_NODE, why, True, f"Pass `--cluster x{count}`")
        return PerNode(count, True)
    count = (
        machines.count
        if isinstance(machines, AsDeclared)
        else next((len(its.node.accelerators) for its in machines.alike if its.node.accelerators), 0)
    )
    if isinstance(machines, Cluster) and count and not machines.nodes[0].accelerators:
        notes.unsure(RULE, PER_NODE, "the first node has no accelerators; ROLL is taken to be started on the first one that has some")
    if written is not None and written.scalar is not None and count and written.value != count:
        message = f"`{PER_NODE}` is {written.value}, but ROLL replaces it with {count}: the devices of the machine that it is started on"
        notes.judge(
            REPLACED, Severity.WARNING, REWRITTEN, "", message, written.scalar, f"becomes {count}", f"write `{PER_NODE}: {count}`",
            written.becomes(count),
        )  # fmt: skip
    return PerNode(max(count, 1))


def nodes_reserved(
    notes: Notes, settings: Settings, roles: Iterable[Role], per_node: PerNode, derivations: list[Derivation], left_to_solve: bool
) -> tuple[int, list[Finding]]:
    """(how many nodes ROLL reserves, what is to be said of another number in the file): those up to the highest device id of any role, also of one that it does not start.

    `left_to_solve`: some roles have no ids yet, so that it may be as many more as the file says.
    """
    counting = [role for role in roles if role.counts and role.mapping is not None]
    known = [role for role in counting if role.ids is not None and role.ids.count]
    written = settings.whole(NODES, RULE, 1, exact=True, least=-_ANY if known and not left_to_solve else 1)
    if not known:
        return written.value if written else 1, []
    first = max(known, key=lambda role: role.ids.highest if role.ids else 0)
    highest = first.ids.highest if first.ids else 0
    nodes = highest // per_node.count + 1
    if left_to_solve:
        return max(nodes, written.value if written else 1), []
    figures = (
        Figure(f"{first.key}.{KEY}", f"device ids up to {highest}", first.place),
        Figure(PER_NODE, per_node.count, None, "the devices of the driver's machine"),
    )
    derivations.append(Derivation("", NODES, nodes, f"highest device id {highest} // {per_node.count} per node + 1", figures))
    if written is not None and isinstance(written.scalar, Scalar) and written.value != nodes and len(known) == len(counting):
        message = f"`{NODES}` is {written.value}, but ROLL replaces it with {nodes}: the highest device id is {highest}, with {per_node.count} a node"
        help, edit = f"write `{NODES}: {nodes}`", written.becomes(nodes)
        return nodes, [warning(REWRITTEN, "", message, written.span, label=f"becomes {nodes}", help=help, edit=edit)]
    return nodes, []


# The nodes that ROLL reserves: whole ones, with as many devices as the driver's machine has.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, ResourceManager.__init__.

Verifies = Callable[[Union[Edit, None], Union[Cluster, None]], bool]
AT_RESERVING = "ROLL notices this as it counts the nodes of Ray, before it reserves any or starts a worker"
_WAITS = "ROLL waits for whole nodes without a limit and says nothing"


@dataclass(frozen=True)
class Reserving:
    """What is reserved for a job: `num_nodes` nodes of `per_node` devices, for these roles."""

    notes: Notes
    settings: Settings
    roles: Sequence[Role]
    per_node: PerNode
    num_nodes: int

    def cluster(self, machines: Cluster | AsDeclared | None, all_of_them: bool) -> Cluster:
        """The nodes of the job in rank order, each with as many devices as ROLL counts.

        Nodes with fewer devices do not count, surplus devices are not used. Where the machines are too few, that is an error, and the
        rest is judged as if there were enough. `all_of_them`: something is left to solve, which may use any node that can be reserved.
        """
        if not isinstance(machines, Cluster):
            return self._assumed(machines.model if machines else GENERIC)
        large = self._large(machines)
        if not large and not any(role.on_devices for role in self.roles):
            return replace(machines, nodes=machines.nodes[: max(self.num_nodes, 1)], declared=())
        found = [its for its in large if its.node.free(ACCELERATOR).bit_count() >= self.per_node.count]
        has, free = sum(its.count for its in large), sum(its.count for its in found)
        if has < self.num_nodes:
            if not self.beyond(machines):
                self._too_few(machines, has)
        elif free < self.num_nodes:
            self._not_free(has, free)
        if free < self.num_nodes:
            return self._assumed(_model(machines))
        if self.num_nodes > 1 and any(its.node.count(ACCELERATOR) >= 2 * self.per_node.count for its in found):
            self._two_on_one()
        return Cluster(self._numbered(found, free if all_of_them else self.num_nodes))

    def _assumed(self, model: str) -> Cluster:
        return Cluster(Nodes([numbered_nodes(Node(0, "", accelerators(self.per_node.count, model)), self.num_nodes)]))

    def _numbered(self, found: list[Alike], most: int) -> Nodes:
        """The first nodes, with ranks from 0 on and without surplus devices."""
        nodes: list[Alike] = []
        rank = 0
        for its in found:
            count = min(its.count, most - rank)
            if count > 0:
                node = replace(its.node, rank=rank, accelerators=its.node.accelerators[: self.per_node.count])
                nodes.append(Alike(node, count, its.prefix, its.number))
                rank += count
        return Nodes(nodes)

    def _large(self, machines: Cluster) -> list[Alike]:
        return [its for its in _stretches(machines) if its.node.count(ACCELERATOR) >= self.per_node.count]

    def beyond(self, machines: Cluster | AsDeclared | None) -> list[Role]:
        """Roles that name devices of nodes which do not exist."""
        if not isinstance(machines, Cluster):
            return []
        limit = sum(its.count for its in self._large(machines)) * self.per_node.count
        counted = self._large(machines) or any(role.on_devices for role in self.roles)
        return [role for role in self.roles if counted and role.counts and role.ids is not None and role.ids.highest >= limit]

    def _exist(self, machines: Cluster, has: int) -> str:
        fewer = len(machines.nodes) - has
        others = f" ({with_noun(fewer, 'other')} {'has' if fewer == 1 else 'have'} fewer)" * (fewer > 0)
        return f"{with_noun(has, 'node')} of {with_noun(self.per_node.count, 'device')}{others}"

    def _too_few(self, machines: Cluster, has: int) -> None:
        """No role names a device that does not exist, but the file asks for more nodes."""
        message = f"ROLL needs {with_noun(self.num_nodes, 'node')}; the cluster has {self._exist(machines, has)}"
        at, label = self.settings.at(NODES) or self.settings.top, f"{has} exist{'s' * (has == 1)}"
        self.notes.error("PW114", "", message, at, label, f"give a cluster of {with_noun(self.num_nodes, 'node')}", None, AT_RESERVING)

    def tell_of(self, roles: list[Role], machines: Cluster | AsDeclared | None, verifies: Verifies) -> None:
        """Add one finding for all roles that name devices which do not exist, with the helps that were tried."""
        if not isinstance(machines, Cluster):
            return
        each, has = self.per_node.count, sum(its.count for its in self._large(machines))
        ids = f"ids 0-{has * each - 1}" if has * each > 1 else "id 0 alone" if has else "no id"
        first = max(roles, key=lambda role: role.ids.highest if role.ids else 0)
        highest = first.ids.highest if first.ids else 0
        names = f"`{first.key}` names" if len(roles) == 1 else f"{len(roles)} roles name devices up to"
        what = f"{names} {'device ' * (len(roles) == 1)}{highest}, which is on node {highest // each}"
        message = f"{what}; the cluster has {self._exist(machines, has)}: {ids}"
        listed = [
            f"`{role.key}` in line {role.place.line}: ids {write_ranks(role.ids.ranges)}" for role in roles if role.ids and len(roles) > 1
        ]
        help, edit = next(((help, edit) for help, edit in self._within(roles, has * each) if verifies(edit, None)), ("", None))
        larger = with_noun(self.num_nodes, "node") + f" of {each}: `--cluster {self.num_nodes}x{each}`"
        if verifies(None, Cluster(Nodes([numbered_nodes(Node(0, "", accelerators(each, _model(machines))), self.num_nodes)]))):
            help = f"{help}, or give a cluster of {larger}" if help else f"give a cluster of {larger}"
        if any(role.part in (ACTOR_TRAIN, ACTOR_INFER) and role.ids and not role.ids.solid for role in roles):
            edit = None  # the update of weights says more exactly where ranges with holes may be
        if edit is not None and not stands_alone(self.notes, edit):
            edit = None
        label = f"{ids} exist{'s' * (has * each == 1)}" if has else "none exists"
        help = help or (f"name {ids} alone" if has else "")
        self.notes.error("PW102", first.key, message, first.place, label, help, edit, AT_RESERVING, *listed)
        others = tuple(role.key for role in roles if role is not first)
        self.notes.findings[-1] = replace(self.notes.findings[-1], also=others)

    def _within(self, roles: list[Role], limit: int) -> Iterator[tuple[str, Edit]]:
        """(help, edit) of ways to name devices that exist: without those beyond, as many of the first, or fewer."""
        holes = any(role.ids and not role.ids.solid for role in roles)
        for way in (_as_many, _below, _half, _quarter) if holes else (_below, _as_many, _half, _quarter):
            texts, edits = dict[str, list[str]](), list[Edit]()
            for role in roles:
                ids = role.ids or Ids()
                kept = way(ids, limit)
                whole = kept.sliced(slice(kept.count // max(role.num_gpus_per_worker, 1) * max(role.num_gpus_per_worker, 1)))
                better, mine = other_ids(self.notes, role.key, role.mapping, whole)
                if (
                    mine is None
                    or not whole.count
                    or not stands_alone(self.notes, mine)
                    or mine.span.file != self.notes.document.source.name
                ):
                    break
                texts.setdefault(better, []).append(f"`{role.key}`")
                edits.append(mine)
            else:
                help = " and ".join(f"`{text}`" + f" for {', '.join(names)}" * (len(roles) > 1) for text, names in texts.items())
                yield f"write {help}", joined(self.notes, edits)

    def _not_free(self, has: int, free: int) -> None:
        message = f"ROLL reserves {with_noun(self.num_nodes, 'whole node')}; of {has} only {free} {'has' if free == 1 else 'have'} {with_noun(self.per_node.count, 'device')} free"
        self.notes.error("PW114", "", message, self.settings.top, "", "wait for the other jobs, or use fewer nodes", None, _WAITS)

    def _two_on_one(self) -> None:
        each = self.per_node.count
        message = f"a node has {2 * each} devices or more: ROLL may reserve {each} of them twice, and use the first {each} for both"
        help = "start ROLL on one of the larger nodes, or on nodes that are alike"
        self.notes.warn("PW114", "", message, self.settings.top, "", help)


def _below(ids: Ids, limit: int) -> Ids:
    """The ids below a limit, in their order."""
    return Ids.of(
        part if max(part[0], part[-1]) < limit else range(part.start, max(limit, part.start), part.step) if part.step > 0
        else part[-(-(part.start - limit + 1) // -part.step) :]
        for part in ids.parts
    )  # fmt: skip


def _as_many(ids: Ids, limit: int) -> Ids:
    return Ids.of([range(min(ids.count, limit))])


def _half(ids: Ids, limit: int) -> Ids:
    return _below(ids.sliced(slice(ids.count // 2)), limit)


def _quarter(ids: Ids, limit: int) -> Ids:
    return _below(ids.sliced(slice(ids.count // 4)), limit)


def _model(machines: Cluster) -> str:
    return machines.nodes[0].accelerator_model or GENERIC


def _stretches(machines: Cluster) -> Sequence[Alike]:
    return machines.nodes.alike if isinstance(machines.nodes, Nodes) else [Alike(node) for node in machines.nodes]


# Roles as components: which worker holds which devices of which node.
#
# Source: ROLL, roll/distributed/scheduler/resource_manager.py, `allocate_placement_group`: the ids are cut into workers in the order in
# which they are written; workers without devices go to the nodes in turn.


def placed(role: Role, cluster: Cluster, per_node: int, nodes: int) -> Component:
    """The component of a role that ROLL starts; without runs where its workers are not known. `nodes` are reserved for all roles."""
    spans = {"name": role.span}
    groups = (CLUSTER_LABEL,) if role.ids is not None or role.mapping is not None else (NODE_LABEL,)
    if role.mapping is not None:
        spans["placement"] = role.place
    if role.per_worker_span is not None:
        spans["per_process"] = role.per_worker_span
    each = max(role.num_gpus_per_worker, 1)
    what = ROLE_OF.get(role.part, "")
    if not role.readable or role.world_size is None:
        return Component(role.key, groups, per_process=each, spans={**spans, "placement": role.place}, role=what, backend=role.backend)
    if role.ids is None:
        spans |= {"placement": role.world_span or role.span, "amount": role.world_span or role.span}
        runs: Sequence[Run] = in_turn(role.world_size, min(nodes, len(cluster.nodes)))
        return Component(role.key, groups, role.world_size, role.world_size, runs=runs, spans=spans, role=what)
    count = role.ids.count
    runs = runs_on(role.ids, each, cluster, per_node)
    return Component(role.key, groups, count, count, each, runs=runs, spans=spans, role=what, backend=role.backend)


def opened(role: Role) -> Component:
    """The component of a role whose place is left to solve: its hints say how large it is."""
    return Component(
        role.key,
        (CLUSTER_LABEL,),
        1,
        UNBOUNDED,
        max(role.num_gpus_per_worker, 1),
        spans={"name": role.span},
        role=ROLE_OF.get(role.part, ""),
        backend=role.backend,
    )


def runs_on(ids: Ids, each: int, cluster: Cluster, per_node: int) -> Sequence[Run]:
    """The runs of workers that hold `each` of the ids, in their order; the cost grows with progressions where they are solid."""
    if all(part.step == 1 and len(part) % each == 0 for part in ids.parts):
        return runs_of([Pair(part.start, part.stop, len(part) // each) for part in ids.parts], cluster, (CLUSTER_LABEL,))
    return compress(_workers(ids, each, per_node))


def _workers(ids: Ids, each: int, per_node: int) -> Iterator[tuple[int, list[Seat]]]:
    held: list[Seat] = []
    rank = 0
    for id_ in ids:
        held.append(divmod(id_, per_node))
        if len(held) == each:
            yield rank, held
            held, rank = [], rank + 1
