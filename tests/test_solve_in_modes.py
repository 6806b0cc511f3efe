"""Hints in files of RLinf's packing modes: what is written verifies, and what is said to be impossible no ranks can say.

CASES small random files; where the verdict is "impossible", all ranges are tried that the hints allow.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
import yaml
from placewright.models.answer import IMPOSSIBLE
from placewright.models.dialects import rlinf
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

CASES = examples(80)
SIZES = {"1x4": 4, "2x2": 4, "1x2+1x3": 5, "3x2": 6}
AMOUNTS = (1, 2, 3, 4, "1-4", "2-6")


def a_file(source: random.Random, nodes: int, size: int) -> dict[str, Any]:
    """Actor, rollout and reward, each hinted or given; sizes of engines; one group or the whole cluster."""
    tp = source.choice((1, 1, 2))
    root: dict[str, Any] = {
        "cluster": {"num_nodes": nodes, "component_placement": {}},
        "runner": {"task_type": "reasoning"},
        "algorithm": {"recompute_logprobs": source.random() < 0.5},
        "actor": {"training_backend": source.choice(("fsdp", "megatron")), "model": {"tensor_model_parallel_size": source.choice((tp, 2))}},
        "rollout": {"tensor_parallel_size": tp, "return_logprobs": True},
    }
    if source.random() < 0.3:
        root["data"] = {"type": "wideseek_r1"}
    if nodes > 1:
        root["cluster"]["node_groups"] = [{"label": "last", "node_ranks": nodes - 1}, {"label": "rest", "node_ranks": f"0-{nodes - 2}"}]
    hints: dict[str, Any] = {}
    for name in ("actor", "rollout", "reward"):
        if source.random() < 0.3:
            first = source.randrange(size)
            root["cluster"]["component_placement"][name] = f"{first}-{source.randrange(first, size)}"
            continue
        hints[name] = {source.choice(("accelerators", "accelerators", "processes")): source.choice(AMOUNTS)}
        if nodes > 1 and source.random() < 0.3:
            hints[name]["node_group"] = source.choice(("last", "rest", "last,rest"))
        if source.random() < 0.4:
            other = source.choice([each for each in ("actor", "rollout", "reward") if each != name])
            hints[name] = {source.choice(("colocate_with", "within", "disjoint_from")): other, **hints[name]}
    root["placewright"] = {"components": hints or {"actor": {"accelerators": 1}}}
    return root


def loaded(root: dict[str, Any] | str, machines: str) -> Reading:
    text = root if isinstance(root, str) else yaml.safe_dump(root, sort_keys=False)
    return rlinf.read(Document.of(Source("run.yaml", text)), read_shorthand(machines), "placement")


def wanted(hints: dict[str, dict[str, Any]], ranks: dict[str, range], reading: Reading) -> bool:
    """Do the ranges say what the hints ask for? Only those share that say so, or are given, or that the mode puts together."""
    assert reading.problem is not None
    problem, held = reading.problem, {name: set(its) for name, its in ranks.items()}
    together = {frozenset(relation.components) for relation in problem.job.relations if relation.reason and relation.kind != "disjoint"}
    for name, its in hints.items():
        component, where = problem[name], problem.cluster.numbering(("cluster",))
        low, high = component.least, component.most
        nodes = Counter(where.locate(rank)[0].node_rank for rank in ranks[name])
        if not low <= len(ranks[name]) <= high or not nodes.keys() <= problem.cluster.members(component.node_groups):
            return False
        if any(count % component.unit for count in nodes.values()):
            return False  # RLinf takes groups over several nodes; what is searched never has them
        for key, holds in (("colocate_with", set.__eq__), ("within", set.__le__), ("disjoint_from", set.isdisjoint)):
            if key in its and not holds(held[name], held[its[key]]):
                return False
        for other in ranks.keys() - {name}:
            said = any(hints.get(a, {}).get(key) == b for a, b in ((name, other), (other, name)) for key in ("colocate_with", "within"))
            if held[name] & held[other] and not said and frozenset((name, other)) not in together:
                return False
    return True


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_what_is_solved_verifies_and_what_is_impossible_has_no_ranks() -> None:
    source, verdicts = random.Random(99), dict[str, int]()
    while sum(verdicts.values()) < CASES:
        machines = source.choice(list(SIZES))
        size = SIZES[machines]
        cluster = read_shorthand(machines)
        root = a_file(source, len(cluster.nodes), size)  # type: ignore[union-attr]
        reading = loaded(root, machines)
        if verify(reading).errors or reading.problem is None:
            continue
        answer = solve(reading.problem, 2.0)
        verdicts[answer.verdict] = verdicts.get(answer.verdict, 0) + 1
        if answer.plan is not None:
            written = apply_edits(reading.source.text, rlinf.write(reading, answer.plan.assignment))
            for text in (written, written.partition("placewright:")[0]):
                assert verify(loaded(text, machines)).errors == (), written
                assert loaded(text, machines).problem is not None
        elif answer.verdict == IMPOSSIBLE:
            hints, given = root["placewright"]["components"], root["cluster"]["component_placement"]
            every = [range(first, stop) for first in range(size) for stop in range(first + 1, size + 1)]
            fixed = {name: range(int(text.split("-")[0]), int(text.split("-")[1]) + 1) for name, text in given.items()}
            for chosen in product(every, repeat=len(hints)):
                ranks = {**fixed, **dict(zip(hints, chosen))}
                if wanted(hints, ranks, reading):
                    placed = {name: f"{its[0]}-{its[-1]}" for name, its in ranks.items()}
                    bare = {**root, "cluster": {**root["cluster"], "component_placement": placed}}
                    del bare["placewright"]
                    assert verify(loaded(bare, machines)).errors, (yaml.safe_dump(root), placed, answer.findings)
    assert {"optimal", "impossible"} <= verdicts.keys()
