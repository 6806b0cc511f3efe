"""Random problems with demands on the topology and on nodes, on top of others."""

from __future__ import annotations

import random
from dataclasses import replace

from placewright.models.component import APART, NEAR, Component, Keep, Pin, Relation, Spread
from placewright.models.problem import Problem

from ..cases import GIB, component

LEVEL = ("rack", "node")


def with_demands(source: random.Random, question: Problem) -> Problem:
    """The problem with a few demands more: of each sort one now and then."""
    nodes = len(question.cluster.nodes)
    cluster = replace(question.cluster, nodes=tuple(replace(n, memory=source.choice([None, 3, 6, 9])) for n in question.cluster.nodes))
    components = [_demanding(source, each, nodes) if source.random() < 0.7 else each for each in question.components]
    if source.random() < 0.3:
        agent = component("agent", source.choice([1, 2]), node_groups=("node",), host_memory=source.choice([0, 0, 2]))
        components.append(_demanding(source, agent, nodes) if source.random() < 0.5 else agent)
    relations = list(question.job.relations)
    if len(components) > 1 and source.random() < 0.4:
        one, other = source.sample([each.name for each in components], 2)
        relations.append(Relation(source.choice([APART, NEAR]), (one, other), level=source.choice(LEVEL)))
    return replace(question, cluster=cluster, job=replace(question.job, components=tuple(components), relations=tuple(relations)))


def _demanding(source: random.Random, each: Component, nodes: int) -> Component:
    """The component with one demand, or a few."""
    ranks = max(1, each.least // each.per_process)
    for _ in range(source.choice([1, 1, 2])):
        kind = source.choice(["excluded", "pins", "pins", "spread", "spread", "wish", "kept", "host_memory", "offloaded"])
        if kind == "excluded":
            each = replace(each, excluded=tuple(source.sample(range(nodes), 1)))
        elif kind == "pins":
            first = source.randrange(ranks)
            where = tuple(sorted(source.sample(range(nodes), source.choice([1, 1, 2]))))
            each = replace(each, pins=(*each.pins, Pin(range(first, source.randint(first + 1, ranks)), where)))
        elif kind == "spread":
            each = replace(each, spread=(Spread(source.choice(LEVEL), source.choice([1, 2]), source.choice([34, 50, 75, 100])),))
        elif kind == "host_memory":
            each = replace(each, host_memory=source.choice([1, 2, 3]))
        elif kind == "offloaded":
            each = replace(each, offloaded=source.choice([10, 20]) * GIB)
        elif each.runs is None:
            what, level = source.choice(["replica", "component"]), source.choice(LEVEL)
            each = replace(each, keep=(Keep(what, level, source.choice([1, 1, 2]) if what == "component" else 1, kind == "kept"),))
    return each
