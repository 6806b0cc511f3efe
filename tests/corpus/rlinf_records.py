"""What RLinf's placement tool answered, recorded, and each record as a question of planning."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from placewright.models.dialects.rlinf.planning.times import (
    Batch,
    Table,
)
from placewright.models.dialects.rlinf.planning.times import (
    generated_table as generated,
)
from placewright.models.dialects.rlinf.planning.times import (
    simulated_table as simulated,
)
from placewright.models.dialects.rlinf.planning.times import (
    trained_table as trained,
)
from placewright.models.parallel import UNDIVIDED
from placewright.models.planning.option import AcceleratorKind, Option
from placewright.models.planning.problem import Edge, PlanningProblem, Sharing, Task, Workflow
from placewright.models.planning.workload import SECOND
from placewright.planner.check import faults, price
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search

GOLDEN = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf" / "golden"
REPLAYED = [pytest.mark.skipif(not GOLDEN.is_dir(), reason="the corpus is not beside the repository"), pytest.mark.timeout(300)]
"""Marks of tests that replay these records."""

Record = dict[str, Any]
GRAIN = 2e-5
"""Seconds: times are rounded up to whole ns of a batch, and curves to whole ns."""


def records(name: str) -> dict[str, Record]:
    path = GOLDEN / name
    lines = gzip.decompress(path.read_bytes()).decode().splitlines() if path.is_file() else []
    return {record["id"]: record for record in map(json.loads, lines)}


ALL, EXACT = records("auto_placement.jsonl.gz"), records("auto_placement_exact.jsonl.gz")
ANSWERED = [name for name, record in ALL.items() if record["output"]["ok"]]
CRASHED = [name for name, record in ALL.items() if not record["output"]["ok"]]
NOT_BEST = {"reasoning_8_offbyone": 4.84, "reasoning_64_mid": 5.40}
"""Records in which RLinf's answer is so many percent above the optimum."""


def is_embodied(record: Record) -> bool:
    return bool(record["input"]["config"]["runner"]["task_type"] == "embodied")


def tables(record: Record) -> dict[str, Table]:
    """The tables by our reading of RLinf's formulas."""
    config, total = record["input"]["config"], record["input"]["total_gpus"]
    costs = {name: round(Fraction(str(value)) * SECOND) for name, value in config["profile_data"].items() if name.endswith("_cost")}
    found: dict[str, Table] = {}
    for name, its in record["input"]["components"].items():
        world = its["world_size"]
        if is_embodied(record):
            points = config["profile_data"].get(f"{name}_profile_data")
            shares = {int(count): Fraction(str(seconds)) for count, seconds in (points or {}).items()}
            environments = config["data"]["env_num"]
            alone = trained(costs["actor_cost"], world, 1, total, Batch(1, 1, 1))
            found["env_rollout" if name == "rollout" else name] = simulated(shares, environments, total, name == "env") if points else alone
            continue
        batch = Batch(config["data"]["rollout_batch_size"], config["algorithm"]["group_size"], config["algorithm"]["n_minibatches"])
        replica, cost = world // its["dp_size"], costs[f"{name}_cost"]
        running = config["rollout"]["max_running_requests"]
        generates = name == "rollout"
        found[name] = generated(cost, world, replica, running, batch) if generates else trained(cost, world, replica, total, batch)
    return found


def question(record: Record) -> PlanningProblem:
    """The record as a question of planning."""
    config, total = record["input"]["config"], record["input"]["total_gpus"]
    batches = config["data"]["env_num" if is_embodied(record) else "rollout_batch_size"]
    its, graph = tables(record), record["input"]["graph"]
    order: list[str] = []
    while len(order) < len(its):
        order.append(
            next(name for name in its if name not in order and not any(name in graph[other] for other in its if other not in order))
        )
    options = {
        name: tuple(Option(0, count, UNDIVIDED, (-(-row.nanoseconds // batches) * batches,)) for count, row in its[name].items())
        for name in order
    }
    edges = tuple(Edge(order.index(one), order.index(other)) for one in order for other in graph[one] if other in order)
    tasks = tuple(Task(name) for name in order)
    return PlanningProblem(
        (AcceleratorKind("", total),), tasks, options, Workflow(edges, batches=batches), sharing=Sharing(nested=is_embodied(record))
    )


def seconds(record: Record) -> float:
    """Of our best design under RLinf's own cost model; it is proved, and an answer by plain arithmetic."""
    asked, model = question(record), cost_model("rlinf-embodied" if is_embodied(record) else "rlinf")
    found = search(asked, model)
    assert found.best is not None and found.proved
    assert list(faults(asked, model, found.best.design)) == []
    assert price(asked, model, found.best.design) == found.best.price
    return found.best.price[0] / SECOND
