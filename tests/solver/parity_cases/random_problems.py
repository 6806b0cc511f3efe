"""Random tiny problems, of so many Assignments that all can be looked at."""

from __future__ import annotations

import random

from placewright.models.component import Component
from placewright.models.model_cards import ModelUse
from placewright.models.placements.assignment import compress
from placewright.models.problem import Problem
from placewright.solver.search_scope import find_unsupported

from .. import parity
from ..cases import cluster, component, given, heads, problem, share
from ..enumerated import can_be_enumerated
from .adding_demands import with_demands
from .kept import with_keeps


def random_problem(source: random.Random, most: int = 2_500) -> Problem:
    """A problem with at most `most` Assignments; limits hit capacities often (30 + 50 = 80 GiB)."""
    while True:
        nodes = [
            {
                "count": source.choice([1, 2, 3, 4, 4]),
                "rack": source.choice("ab"),
                "gib": source.choice([40, 80]),
                "model": source.choice(["X", "X", "Y"]),
            }
            for _ in range(source.choice([2, 2, 3]))
        ]
        for each in nodes:
            each["cpus"] = source.choice([None, 2, 3, 8])
            each["taken"] = source.choice([0, 0, 0, 0, 1, 2]) & ((1 << each["count"]) - 1)
        where = cluster(*nodes, g=tuple(sorted(source.sample(range(len(nodes)), source.choice([1, 2])))))
        components, pairs, dealt = list[Component](), dict.fromkeys(("together", "apart", "within", "either", "not_fewer"), ""), []
        models: dict[str, ModelUse] = {}
        if source.random() < 0.25:
            free = [(rank, i) for rank, each in enumerate(nodes) for i in range(each["count"]) if not each["taken"] >> i & 1]
            held = sorted(source.sample(free, min(len(free), source.choice([1, 2, 3]))))
            components.append(given("g", *compress(enumerate([seat] for seat in held)), memory=source.choice([0, 0, 30]) * 1024))
        for name in "abc"[: source.choice([1, 1, 2, 2, 3])]:
            tp, contiguous = source.choice([1, 1, 2, 2, 3]), source.random() < 0.4
            stride = source.choice([1, 1, 1, 2]) if contiguous else 1
            each = source.choice([1, tp])
            least = tp * stride * source.choice([1, 1, 2])
            components.append(
                component(
                    name, least, least + source.choice([0, 0, 0, 1, tp]), tp=tp, pp=source.choice([1, 1, 1, 2]), gib=source.choice([0, 0, 30, 40, 50]),
                    phases=source.choice([(), (), ("p",), ("p", "q")]), per_process=each, contiguous=contiguous, stride=stride,
                    node_groups=source.choice([("cluster",), ("cluster",), ("g",)]), accelerator_model=source.choice(["", "", "", "X"]),
                    cpus=source.choice([0, 0, 0, 1, 2]), role=source.choice(["", "rollout"]),
                )
            )  # fmt: skip
            if len(components) > 1 and (
                kind := source.choice(["together", "apart", "within", "within", "either", "not_fewer", "", "", "", ""])
            ):
                pairs[kind] += f" {name}+{components[0].name}"
            if tp > 1 and source.random() < 0.2:
                models[name] = heads(source.choice([4, 6]), source.choice([0, 1, 2, 4]), source.random() < 0.2)
            if source.random() < 0.2:
                dealt.append(share(name, source.choice([4, 6, 8]), source.choice([1, 1, 2])))
        in_sequence = " ".join(each.name for each in components) if source.random() < 0.05 else ""
        found = problem(
            where,
            *components,
            in_sequence=in_sequence,
            shares=True,
            dealt=tuple(dealt),
            whole=source.random() < 0.3,
            models=models,
            **pairs,
        )
        ranged = [{c.node_groups for c in members if c.contiguous} for members in found.colocated_sets]
        if all(len(groups) <= 1 for groups in ranged) and parity.space(found) <= most and not find_unsupported(found):
            return found


def random_demands(source: random.Random, most: int = 1_000) -> Problem:
    """A problem with demands on the topology, of at most so many Assignments."""
    while True:
        found = with_demands(source, random_problem(source, most))
        if parity.space(found) <= most and not find_unsupported(found):
            return found


def random_keeps(source: random.Random, most: int = 1_500) -> Problem:
    """A problem about what is kept together, of at most so many Assignments."""
    while True:
        found = with_keeps(source, random_problem(source, most))
        if can_be_enumerated(found) and parity.space(found) <= most and not find_unsupported(found):
            return found
