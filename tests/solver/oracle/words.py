"""What a native file says, in the oracle's own words: read with PyYAML from the documented keys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import lcm
from typing import Any, Iterable, Iterator, Sequence

import yaml

LEVELS = ("zone", "rack", "nvlink_domain", "node")
ACCELERATOR, NODE = "accelerator", "node"
KNOWN_MEMORY = {"H100": 80 * 1024}
"""MiB of an accelerator of a model, where the file does not say it."""
SAME = ("colocated", "rank aligned", "zero copy")
"""Relations of components that hold exactly the same accelerators."""
CHOSEN = "chosen"
"""Mark of a relation that the job leaves open."""


@dataclass(frozen=True)
class Machine:
    """One node: how many of each kind of resource, which of them are taken, and where it is."""

    name: str
    count: dict[str, int]
    taken: frozenset[int] = frozenset()
    model: str = ""
    memory: int | None = None
    numa: int = 1
    cpus: int | None = None
    host_memory: int | None = None
    topology: dict[str, str] = field(default_factory=dict)

    def numa_of(self, index: int) -> int:
        """Accelerators belong in order to NUMA domains, as evenly as can be."""
        return index * self.numa // max(1, self.count.get(ACCELERATOR, 0))


@dataclass(frozen=True)
class Seat:
    """One resource that a process can hold: an accelerator, or another device such as a robot."""

    kind: str
    node: int
    index: int
    free: bool


@dataclass(frozen=True)
class Cluster:
    """All machines in the order of their ranks, all seats, and who is in which node group."""

    machines: tuple[Machine, ...]
    groups: dict[str, tuple[str, tuple[int, ...]]]
    seats: tuple[Seat, ...]

    @cached_property
    def levels(self) -> list[str]:
        """Levels of the network on which there is something to cross, the widest first."""
        return [level for level in LEVELS if level != NODE and len(self.domains(level)) > 1]

    def numbered(self, kind: str, nodes: Sequence[int]) -> list[int]:
        """All seats of a kind on these nodes in the order of their numbers."""
        return [bit for node in nodes for bit, seat in enumerate(self.seats) if seat.node == node and seat.kind == kind]

    def domain(self, level: str, node: int) -> object:
        """The domain of a level that a node is in; nodes that name none share one."""
        return node if level == NODE else self.machines[node].topology.get(level)

    def domains(self, level: str) -> set[object]:
        """All domains of a level."""
        return {self.domain(level, node) for node in range(len(self.machines))}


@dataclass(frozen=True)
class Kept:
    """What `keep` says of one kind of group."""

    group: str
    level: str
    domains: int = 1
    required: bool = True


@dataclass(frozen=True)
class Wish:
    """One component: how many, where, and how its ranks are grouped."""

    name: str
    kind: str
    nodes: tuple[int, ...]
    counts: tuple[int, ...] = ()
    counted: str = "accelerators"
    per: int = 1
    degrees: dict[str, int] = field(default_factory=dict)
    choices: tuple[dict[str, int], ...] = ()
    memory: int = 0
    offloaded: int | None = None
    phases: frozenset[str] = frozenset()
    host_memory: int = 0
    cpus: int = 0
    model: str = ""
    contiguous: bool = False
    any_order: bool = False
    stride: int = 1
    keeps: tuple[Kept, ...] = ()
    spreads: tuple[tuple[str, int, int], ...] = ()
    pins: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()
    excluded: frozenset[int] = frozenset()
    traffic: int = 0
    given: tuple[tuple[int, tuple[int, ...]], ...] | None = None
    line: tuple[int, ...] = ()

    def degree(self, name: str) -> int:
        """A degree of parallelism, 1 where nobody says it."""
        return self.degrees.get(name, 1)

    @property
    def replica(self) -> int:
        """Accelerators of one replica."""
        return self.degree("tp") * self.degree("pp") * self.degree("cp") * self.degree("dp")

    @property
    def group(self) -> int:
        """Seats of one tp group, or of one process where that has more."""
        return lcm(self.degree("tp"), self.per)

    @property
    def unit(self) -> int:
        """What the number of its seats is a multiple of."""
        return lcm(self.replica, self.per, self.stride * self.group)

    def block(self, group: str, total: int) -> int:
        """Consecutive seats of one group of a kind, of `total` in all."""
        tp = self.degree("tp")
        return {"tp": tp, "ep": tp * self.degree("ep"), "replica": self.replica, "component": total}[group]


@dataclass(frozen=True)
class Job:
    """A whole question: machines, components, and what holds between them."""

    cluster: Cluster
    wishes: tuple[Wish, ...]
    relations: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    links: tuple[dict[str, Any], ...] = ()
    weights: dict[str, int] | None = None
    work: tuple[dict[str, Any], ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, Wish]:
        return {wish.name: wish for wish in self.wishes}

    def __getitem__(self, name: str) -> Wish:
        return self._by_name[name]

    def linked(self, name: str) -> bool:
        """Does a component send or receive over a link?"""
        return any(name in (link["from"], link["to"]) for link in self.links)

    @cached_property
    def bundles(self) -> list[frozenset[str]]:
        """Components that hold exactly the same seats, together; each other one by itself."""
        return united(self, SAME)

    @cached_property
    def settled(self) -> set[str]:
        """Components whose seats are given, or are those of a given one, and not by choice; a pair that must share has none."""
        together = united(replace(self, relations=tuple(each for each in self.relations if each[2] != CHOSEN)), SAME)
        pairs = (names for kind, names, _ in self.relations if kind == "colocated or disjoint")
        chosen = {name for names in pairs if not any(set(names) <= each for each in together) for name in names}
        with_given = (names for names in self.bundles if any(self[each].given is not None for each in names))
        return {name for names in with_given for name in names if self[name].given is not None or name not in chosen}

    def as_shared(self, masks: dict[str, int]) -> Job:
        """The job in which those of `colocated or disjoint` are colocated that hold the same seats."""
        pairs = [names for kind, names, _ in self.relations if kind == "colocated or disjoint" and set(names) <= set(masks)]
        same = tuple(("colocated", (a, b), CHOSEN) for a, b in pairs if masks[a] == masks[b])
        return replace(self, relations=(*self.relations, *same)) if same else self

    def with_degrees(self) -> Iterator[Job]:
        """The job with each choice of degrees that its lists leave open."""
        for choice in product(*(wish.choices or ({},) for wish in self.wishes)):
            yield replace(self, wishes=tuple(replace(w, degrees={**w.degrees, **its}) for w, its in zip(self.wishes, choice)))


def united(job: Job, kinds: Sequence[str]) -> list[frozenset[str]]:
    """Components that relations of these kinds bring together, directly or through others."""
    found = {wish.name: {wish.name} for wish in job.wishes}
    for kind, names, _ in job.relations:
        if kind in kinds:
            union = found[names[0]] | found[names[1]]
            for name in union:
                found[name] = union
    return list(dict.fromkeys(frozenset(each) for each in found.values()))


def read(text: str) -> Job:
    """The job of a native file that the generator wrote."""
    data = yaml.safe_load(text)
    cluster = _cluster(data["cluster"])
    wishes, relations = [], []
    for name, keys in data["components"].items():
        wishes.append(_wish(cluster, name, keys))
        relations += list(_relations(name, keys))
    for entry in data.get("relations", ()):
        level = entry.get("level", "rack" if entry["kind"] in ("apart", "near") else "")
        relations.append((entry["kind"], tuple(entry["components"]), level))
    links = tuple({**link, "weights": mib(link.get("weights")), "stream": mib(link.get("stream"))} for link in data.get("links", ()))
    return Job(cluster, tuple(wishes), tuple(relations), links, _weights(data.get("objective")), tuple(data.get("work", ())))


def mib(text: Any) -> int:
    """An amount of memory in MiB; 0 where there is none."""
    units = {"MiB": 1, "GiB": 1024, "TiB": 1024 * 1024}
    return 0 if text is None else int(text[:-3]) * units[text[-3:]]


def ranks(text: Any) -> list[int]:
    """The numbers of a text such as ``0-3,5``, or of a list of such texts."""
    found: list[int] = []
    for part in ",".join(map(str, text)).split(",") if isinstance(text, list) else str(text).split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _weights(objective: Any) -> dict[str, int] | None:
    if objective in (None, "lexicographic") or objective == {"order": "lexicographic"}:
        return None
    stated = objective.get("weights", {}) if isinstance(objective, dict) else {}
    return {level: stated.get(level, 1) for level in LEVELS}


def _cluster(data: dict[str, Any]) -> Cluster:
    machines: list[Machine] = []
    for node in data["nodes"]:
        for _ in range(node.get("repeat", 1)):
            its = node.get("accelerators", {})
            count = {ACCELERATOR: its["count"]} if its.get("count") else {}
            for device in node.get("hardware", ()):
                count[device["type"]] = count.get(device["type"], 0) + 1
            machines.append(
                Machine(
                    name=node.get("name") or f"node-{len(machines)}",
                    count=count,
                    taken=frozenset(its.get("taken", ())),
                    model=str(its.get("model", "")),
                    memory=mib(its["memory"]) if "memory" in its else KNOWN_MEMORY.get(str(its.get("model"))),
                    numa=its.get("numa", 1),
                    cpus=node.get("cpus"),
                    host_memory=mib(node["memory"]) if "memory" in node else None,
                    topology=node.get("topology", {}),
                )
            )
    seats = tuple(
        Seat(kind, rank, index, kind != ACCELERATOR or index not in machine.taken)
        for rank, machine in enumerate(machines)
        for kind, count in machine.count.items()
        for index in range(count)
    )
    everywhere = tuple(range(len(machines)))
    groups = {"cluster": (ACCELERATOR, everywhere), "node": (NODE, everywhere)}
    for group in data.get("node_groups", ()):
        members = tuple(ranks(group["node_ranks"]))
        groups[group["label"]] = (_kind([machines[member] for member in members]), members)
    return Cluster(tuple(machines), groups, seats)


def _kind(members: list[Machine]) -> str:
    """What counts as the resource of a group: its other hardware, else accelerators, else the nodes."""
    for machine in members:
        for kind in machine.count:
            if kind != ACCELERATOR:
                return kind
    return ACCELERATOR if any(machine.count for machine in members) else NODE


def _wish(cluster: Cluster, name: str, keys: dict[str, Any]) -> Wish:
    labels = str(keys.get("node_group", "cluster")).split(",")
    kind, numbered = cluster.groups[labels[0]][0], [node for label in labels for node in cluster.groups[label][1]]
    nodes = tuple(dict.fromkeys(numbered))  # a node in two of the groups may be used once, and is numbered twice
    counted = "processes" if "processes" in keys else "accelerators"
    per, stated = keys.get("accelerators_per_process", 1), keys.get("parallel", {})
    fixed = {degree: size for degree, size in stated.items() if not isinstance(size, list)}
    lists = {degree: size for degree, size in stated.items() if isinstance(size, list)}
    scale = per if counted == "processes" and kind != NODE else 1
    return Wish(
        name=name,
        kind=kind,
        nodes=nodes,
        line=tuple(cluster.numbered(kind, numbered)),
        counts=tuple(scale * count for count in _counts(keys.get(counted))),
        counted=counted,
        per=per,
        degrees=fixed,
        choices=tuple(dict(zip(lists, sizes)) for sizes in product(*lists.values())),
        memory=mib(keys.get("memory")),
        offloaded=mib(keys["offloaded"]) if "offloaded" in keys else None,
        phases=frozenset([keys["phase"]] if isinstance(keys.get("phase"), str) else keys.get("phase", ())),
        host_memory=mib(keys.get("host_memory")),
        cpus=keys.get("cpus", 0),
        model=str(keys.get("accelerator", "")),
        contiguous=keys.get("contiguous", False),
        any_order=keys.get("any_order", False),
        stride=keys.get("stride", 1),
        keeps=tuple(_keeps(keys.get("keep", {}))),
        spreads=tuple(_spreads(keys.get("spread", ()))),
        pins=tuple((frozenset(ranks(pin["ranks"])), _nodes(cluster, pin["nodes"])) for pin in keys.get("pin", ())),
        excluded=_nodes(cluster, keys["exclude"]) if "exclude" in keys else frozenset(),
        traffic=mib(keys.get("traffic")),
        given=tuple(_read_given(cluster, kind, numbered, keys["placement"])) if "placement" in keys else None,
    )


def _counts(value: Any) -> list[int]:
    return [] if value is None else ranks(value)


def _keeps(keep: dict[str, Any]) -> Iterator[Kept]:
    """A tp group is kept on one node where nothing else is said of it."""
    if "tp" not in keep:
        yield Kept("tp", NODE)
    for group, said in keep.items():
        for one in said if isinstance(said, list) else [said]:
            yield Kept(group, **one) if isinstance(one, dict) else Kept(group, one)


def _spreads(said: Any) -> Iterator[tuple[str, int, int]]:
    """Level, at least so many domains, at most so many percent in one: two domains where neither is said."""
    for one in said if isinstance(said, (list, tuple)) else [said]:
        keys = one if isinstance(one, dict) else {"level": one}
        yield keys.get("level", "rack"), keys.get("domains", 1 if "percent" in keys else 2), keys.get("percent", 100)


def _nodes(cluster: Cluster, said: Any) -> frozenset[int]:
    """Nodes by rank, range or name."""
    names = {machine.name: rank for rank, machine in enumerate(cluster.machines)}
    found: list[int] = []
    for one in said if isinstance(said, list) else [said]:
        found += [names[one]] if one in names else ranks(one)
    return frozenset(found)


def _relations(name: str, keys: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """What keys of a component say about others."""
    for key, kind in (
        ("colocate_with", "colocated"),
        ("disjoint_from", "disjoint"),
        ("within", "subset"),
        ("rank_aligned_with", "rank aligned"),
    ):
        for other in _listed(keys.get(key)):
            yield kind, (name, other), ""
    for other in _listed(keys.get("zero_copy_with")):
        yield "zero copy", (other, name), ""
    for key, kind in (("apart_from", "apart"), ("near", "near")):
        for other in _listed(keys.get(key)):
            said = other if isinstance(other, dict) else {"component": other}
            yield kind, (name, said["component"]), said.get("level", "rack")


def _listed(value: Any) -> Iterable[Any]:
    return () if value is None else value if isinstance(value, list) else [value]


def _read_given(cluster: Cluster, kind: str, nodes: Sequence[int], placement: Any) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Node and seats (bits of the cluster's seats) of each process, in rank order."""
    if isinstance(placement, list):
        yield from _entries(cluster, kind, placement)
        return
    number = [(cluster.seats[bit].node, bit) for bit in cluster.numbered(kind, nodes)]
    if kind == NODE:
        number = [(node, -1) for node in nodes]
    for part in str(placement).split(",") if ":" in str(placement) else [str(placement)]:
        resources, _, processes = part.partition(":")
        held = [number[rank] for rank in ranks(resources)]
        count = len(ranks(processes)) if processes else len(held)
        yield from _shared_out(held, count)


def _entries(cluster: Cluster, kind: str, entries: list[dict[str, Any]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    bits = {(seat.node, seat.index): bit for bit, seat in enumerate(cluster.seats) if seat.kind == kind}
    for entry in entries:
        node = next(iter(_nodes(cluster, entry["node"])))
        said = entry.get("accelerators", entry.get("hardware"))
        held = [(node, -1)] if said is None else [(node, bits[node, index]) for index in ranks(said)]
        yield from _shared_out(held, len(ranks(entry["ranks"])))


def _shared_out(held: list[tuple[int, int]], count: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Equal shares in order; with more processes than resources, consecutive ones share one."""
    for rank in range(count):
        share = held[rank * len(held) // count : (rank + 1) * len(held) // count] or [held[rank * len(held) // count]]
        yield share[0][0], tuple(bit for _, bit in share if bit >= 0)
