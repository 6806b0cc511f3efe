"""Random problems: any cluster, any place, any hint."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import strategies as st
from placewright.models.component import (
    APART,
    COLOCATED,
    COLOCATED_OR_DISJOINT,
    DISJOINT,
    IN_ORDER,
    KEPT,
    NEAR,
    NOT_FEWER,
    RANK_ALIGNED,
    SUBSET,
    TP,
    WHOLE,
    ZERO_COPY,
    Component,
    Keep,
    Parallel,
    Pin,
    Relation,
    Spread,
)
from placewright.models.estimate import MemoryInput
from placewright.models.job import WEIGHTED, Capabilities, Job, Link, Preference, Share
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL, EnvConfig, NodeGroup
from placewright.models.machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL
from placewright.models.placements.assignment import compress
from placewright.models.placements.placement_text import RankRange, runs_of
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.models.roles import ROLES

ESTIMATES = (
    MemoryInput(), MemoryInput(parameters=7_600_000_000, sharding="zero3", shards=8, sequence=8192), MemoryInput("Qwen/Qwen2.5-7B", sequences=64, offload=True),
    MemoryInput(layers=28, hidden=3584, heads=28, kv_heads=4, precision="fp16", optimizer="sgd", lora_rank=16, attention_scores=True, utilization=60),
)  # fmt: skip
NAMES = ("actor", "rollout", "env", "critic", "a b", "x.y", "123", "on", "ünï", "rewards.math")


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Nodes with as many accelerators as may be, robots and CPU nodes among them, and groups that overlap as they like."""
    nodes = []
    for rank in range(draw(st.integers(1, 4))):
        model = draw(st.sampled_from(("H100", "A100", "GPU", "AMD_GPU:MI300X")))
        count = draw(st.sampled_from((0, 1, 2, 4, 8)))
        numa = draw(st.integers(1, max(count, 1))) if draw(st.booleans()) else 1
        devices = accelerators(count, model, draw(st.sampled_from((None, None, 40960))), numa=numa)
        robots = tuple(Hardware("Turtle2") for _ in range(draw(st.sampled_from((0, 0, 1)))))
        name = draw(st.sampled_from((f"node-{rank}", f"node-{rank}", f"gpu{rank}")))
        cpus, topology = draw(st.sampled_from((None, 64))), draw(st.sampled_from(({}, {"rack": "a"}, {"zone": "z", "rack": "1"})))
        nodes.append(Node(rank, name, devices, robots, cpus, topology=topology))
    bare = Cluster(tuple(nodes))
    groups = []
    for label in draw(st.sampled_from(((), (), ("a",), ("late", "4090")))):
        ranks = tuple(sorted(draw(st.sets(st.integers(0, len(nodes) - 1), min_size=1))))
        robots_too = all(node.hardware for node in (nodes[rank] for rank in ranks)) and not groups
        kinds = [bare.default_kind(ranks), NODE, *(["Turtle2"] if robots_too else [])]
        software = (EnvConfig(ranks[:1], (("A", "1"),)),) if draw(st.booleans()) else ()
        groups.append(NodeGroup(label, ranks, draw(st.sampled_from(kinds)), software))
    return bare.with_groups(groups)


def labels_of(cluster: Cluster) -> list[tuple[str, ...]]:
    """Groups, alone and in pairs of one kind, that have something to place on."""
    alone = [(label,) for label in (CLUSTER_LABEL, NODE_LABEL, *(group.label for group in cluster.declared))]
    pairs = [one + other for one, other in product(alone, alone) if cluster.kind(one) == cluster.kind(other) and one != other]
    apart = [pair for pair in pairs if not set(cluster.groups[pair[0]].node_ranks) & set(cluster.groups[pair[1]].node_ranks)]
    return [labels for labels in (*alone, *apart) if cluster.numbering(labels).size]


@st.composite
def in_a_text(draw: st.DrawFn, cluster: Cluster, labels: tuple[str, ...]) -> tuple[Run, ...]:
    """Runs that a placement text says: shared, divided, with holes."""
    size, start, pairs = cluster.numbering(labels).size, 0, []
    for _ in range(draw(st.integers(1, 3))):
        start += draw(st.integers(0, 2))
        count = draw(st.integers(1, 4))
        if start + count > size:
            break
        divisors = [each for each in range(1, count + 1) if count % each == 0] if cluster.kind(labels) != NODE else [count]
        pairs.append(RankRange(start, start + count, draw(st.sampled_from((*divisors, count * 2)))))
        start += count
    return tuple(runs_of(pairs or [RankRange(0, 1, 1)], cluster, labels))


@st.composite
def anywhere(draw: st.DrawFn, cluster: Cluster, label: str) -> tuple[Run, ...]:
    """Processes on any resources of a group, in any order, also on several nodes."""
    stretches = cluster.numbering((label,)).stretches
    places = [(stretch.node_rank, index) for stretch in stretches for index in range(stretch.count)]
    held = st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True)
    return compress(enumerate(draw(st.lists(held, min_size=1, max_size=5))), cluster.groups[label].kind, label)


@st.composite
def components(draw: st.DrawFn, cluster: Cluster, name: str, odd: bool) -> tuple[Component, tuple[Parallel, ...]]:
    """One component, given or open, and the degrees that it leaves open."""
    labels = draw(st.sampled_from(labels_of(cluster)))
    kind = cluster.kind(labels)
    phases = draw(st.sampled_from(((), (), ("train",), ("infer", "train"))))
    role = draw(st.sampled_from(("", "", *ROLES[:3])))
    parallel = Parallel(draw(st.sampled_from((1, 2))), draw(st.sampled_from((1, 1, 2)))) if kind != NODE else Parallel()
    memory = draw(st.sampled_from((0, 1024, 1500))) if kind != NODE else 0
    if draw(st.booleans()):
        elsewhere = odd and kind != NODE and len(labels) == 1 and draw(st.booleans())
        runs = draw(anywhere(cluster, labels[0])) if elsewhere else draw(in_a_text(cluster, labels))
        held = [max(1, sum(run.each for run in runs if rank in run.ranks)) for rank in range(runs[-1].ranks.stop)]
        each = held[0] if len(set(held)) == 1 else 1
        size = len(held) * each
        return Component(name, labels, size, size, each, parallel, memory, phases, runs=runs, role=role), (parallel,)
    if kind == NODE:
        return Component(name, labels, 2, 2, phases=phases, role=role, cpus=draw(st.sampled_from((0, 3)))), (Parallel(),)
    choices = (parallel,)
    if draw(st.booleans()):
        choices = tuple(Parallel(*each) for each in product((2, 4), (1,), (1,), draw(st.sampled_from(((1,), (1, 2))))))
    least, factor = draw(st.sampled_from((4, 8))), draw(st.sampled_from((1, 2)))
    contiguous = draw(st.booleans())
    counts = ((least, least + 1), (2 * least, 2 * least)) if factor > 1 and draw(st.booleans()) else ()
    model = draw(st.sampled_from(("", "H100")))
    return Component(
        name, labels, least, least * factor, draw(st.sampled_from((1, 2))), choices[0], memory, phases, model, contiguous,
        2 if contiguous and draw(st.booleans()) else 1, any_order=contiguous and draw(st.booleans()), role=role, counts=counts,
    ), choices  # fmt: skip


@st.composite
def demands(draw: st.DrawFn, cluster: Cluster, component: Component) -> Component:
    """The component with demands on the topology, and on the memory of nodes."""
    if not draw(st.booleans()):
        return component
    nodes = range(len(cluster.nodes))
    on_nodes = cluster.kind(component.node_groups) == NODE
    levels = [level for level in (*LEVELS, NODE_LEVEL) if level == NODE_LEVEL or any(node.topology.get(level) for node in cluster.nodes)]
    whats = [WHOLE] if on_nodes else draw(st.lists(st.sampled_from(KEPT), unique=True))
    keep = [
        Keep(
            what,
            draw(st.sampled_from(ALL_LEVELS if what == TP else levels)),
            draw(st.integers(1, 2)) if what == WHOLE else 1,
            draw(st.booleans()),
        )
        for what in sorted(whats, key=KEPT.index)
    ]
    spread = [Spread(draw(st.sampled_from(levels)), *draw(st.sampled_from(((2, 100), (1, 60), (3, 50)))))] if draw(st.booleans()) else []
    pin = Pin(range(draw(st.integers(0, 1)), 2), tuple(sorted(draw(st.sets(st.sampled_from(nodes), min_size=1)))))
    pins = (pin,) if draw(st.booleans()) else ()
    excluded = tuple(sorted(draw(st.sets(st.sampled_from(nodes), max_size=len(nodes) - 1))))
    amounts = st.sampled_from((0, 2048, 1500))
    offloaded = 512 if component.memory and component.phases and not on_nodes and draw(st.booleans()) else 0
    return replace(
        component, keep=tuple(keep), spread=tuple(spread), pins=pins, excluded=excluded, offloaded=offloaded, host_memory=draw(amounts),
        traffic=draw(amounts), estimate=draw(st.sampled_from((None, *ESTIMATES))) if not on_nodes else None,
    )  # fmt: skip


@st.composite
def problems(draw: st.DrawFn, odd: bool = True) -> Problem:
    """Up to four components on a cluster, with relations between those on accelerators, and work that is dealt out.

    `odd`: with places that no text can say, and with demands that no hint can say.
    """
    cluster = draw(clusters())
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    drawn = [draw(components(cluster, name, odd)) for name in names]
    found = tuple(draw(demands(cluster, component)) for component, _ in drawn)
    choices = {component.name: degrees for component, degrees in drawn if len(degrees) > 1}
    on_accelerators = [c for c in found if {cluster.groups[label].kind for label in c.node_groups} == {ACCELERATOR}]
    relations = []
    if len(on_accelerators) > 1 and draw(st.booleans()):
        kind, (one, other) = draw(st.sampled_from((COLOCATED, DISJOINT, SUBSET, RANK_ALIGNED, ZERO_COPY))), on_accelerators[:2]
        if kind == ZERO_COPY and (one.name in choices or other.name in choices or one.parallel.tp % other.parallel.tp):
            kind = COLOCATED
        if not (one.contiguous and other.contiguous and one.node_groups != other.node_groups):  # such hints contradict each other
            relations.append(Relation(kind, (one.name, other.name)))
        if odd and draw(st.booleans()):
            kind = draw(st.sampled_from((COLOCATED_OR_DISJOINT, IN_ORDER, NOT_FEWER)))
            relations.append(Relation(kind, (other.name, one.name), reason=draw(st.sampled_from(("", "RLinf's auto mode")))))
    if len(found) > 1 and draw(st.booleans()):
        levels = draw(st.sets(st.sampled_from(LEVELS[:1] + LEVELS[2:]), min_size=1))
        relations += [
            Relation(draw(st.sampled_from((APART, NEAR))), (found[0].name, found[1].name), level=level) for level in sorted(levels)
        ]
        relations = [relation for relation in relations if _sensible(cluster, relation)]
    links = tuple(
        Link(one.name, other.name, *draw(st.sampled_from(((1024, 0, 1), (0, 3, 2), (5, 5, 8)))))
        for one, other in zip(found, found[1:])
        if draw(st.booleans())
    )
    preference = draw(st.sampled_from((Preference(), Preference(WEIGHTED), Preference(WEIGHTED, {"zone": 100, "rack": 0}))))
    shares = (Share(names[0], 64, draw(st.sampled_from((1, 8))), "environments", "n", proved=draw(st.booleans())),) if odd else ()
    capabilities = Capabilities(shares_accelerators=True, groups_may_cross=True, processes_may_cross=True)
    return Problem(cluster, Job(found, tuple(relations), capabilities, choices, shares, links=links, preference=preference))


def _sensible(cluster: Cluster, relation: Relation) -> bool:
    """Components are not apart where all nodes are in one domain: that is refused as it is read."""
    return relation.kind != APART or any(node.topology.get(relation.level) for node in cluster.nodes)
