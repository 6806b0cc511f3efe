"""RLinf's own placement tool as the oracle: its tables and its totals, on random profiled jobs.

Runs where the environment variable PLACEWRIGHT_RLINF names a checkout of RLinf; embodied jobs where scipy is installed too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from placewright.models.dialects import rlinf
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.workload import SECOND, Workload
from placewright.models.problem import Problem
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.search.search import search
from sampling import examples

CHECKOUT = os.environ.get("PLACEWRIGHT_RLINF", "")
TOOL = Path(__file__).parents[2] / "benchmarks" / "auto" / "toolkit.py"
CASES = examples(150)
GRAIN = 2e-5
pytestmark = [
    pytest.mark.skipif(
        not (CHECKOUT and (Path(CHECKOUT) / "toolkits").is_dir()), reason="PLACEWRIGHT_RLINF names no whole checkout of RLinf"
    ),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]


def a_reasoning_job(source: random.Random) -> dict[str, Any]:
    """Its file, as a map; all on everything, as RLinf's tool wants it."""
    tp = source.choice((1, 2, 4))
    return {
        "cluster": {"num_nodes": source.choice((1, 2, 3, 4)), "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning", "seq_length": 4096},
        "algorithm": {"group_size": source.choice((4, 8)), "n_minibatches": source.choice((1, 2, 4)), "recompute_logprobs": source.random() < 0.6},
        "data": {"rollout_batch_size": source.choice((32, 48, 64, 128))},
        "rollout": {
            "tensor_parallel_size": source.choice((1, min(tp, 2))), "max_running_requests": source.choice((8, 64, 127, 128, 200)),
            "gpu_memory_utilization": 0.5, "return_logprobs": True,
        },
        "actor": {"training_backend": "megatron", "model": {"tensor_model_parallel_size": tp}},
        "profile_data": {f"{name}_cost": source.randrange(500, 30_000) / 100 for name in ("rollout", "inference", "actor")},
        "placewright": {"plan": {"cost_model": "rlinf"}},
    }  # fmt: skip


def an_embodied_job(source: random.Random) -> dict[str, Any]:
    """Its file, as a map, with profiles of three to five points."""
    counts = sorted(source.sample((2, 4, 6, 8, 12, 16, 32, 48, 64), source.choice((3, 4, 5))))
    rows = {
        name: {count: round(source.uniform(0.05, 0.4) * count + source.uniform(0, 1), 2) for count in counts} for name in ("env", "rollout")
    }
    return {
        "cluster": {"num_nodes": source.choice((1, 2, 3)), "component_placement": {"actor,env,rollout": "all"}},
        "runner": {"task_type": "embodied"},
        "data": {"env_num": source.choice((32, 48, 64, 96))},
        "algorithm": {"group_size": 1},
        "profile_data": {**{f"{name}_profile_data": its for name, its in rows.items()}, "actor_cost": source.randrange(100, 9000) / 100},
        "placewright": {"plan": {"cost_model": "rlinf-embodied"}},
    }


def told(root: dict[str, Any], total: int) -> str:
    """The file as a question to the tool, with what RLinf's placement would tell it of the components."""
    config = json.loads(json.dumps({key: value for key, value in root.items() if key not in ("cluster", "placewright")}))
    if root["runner"]["task_type"] == "embodied":
        graph, worlds, sizes = {"env": ["env_rollout"], "env_rollout": ["actor"], "actor": []}, ("env", "rollout", "actor"), {}
    else:
        again = root["algorithm"]["recompute_logprobs"]
        graph = {"rollout": ["inference"], "inference": ["actor"], "actor": []} if again else {"rollout": ["actor"], "actor": []}
        worlds = ("rollout", "actor")
        engine, tp = root["rollout"]["tensor_parallel_size"], root["actor"]["model"]["tensor_model_parallel_size"]
        sizes = {"rollout": total // engine, "actor": total // tp}
    question = {"task": root["runner"]["task_type"], "accelerators": total, "graph": graph, "worlds": dict.fromkeys(worlds, total)}
    return json.dumps({**question, "sizes": sizes, "config": config})


def ours(root: dict[str, Any], each: int) -> tuple[Problem, Workload]:
    text = yaml.safe_dump(root, sort_keys=False)
    reading = rlinf.read(
        Document.of(Source("run.yaml", text)), read_shorthand(f"{root['cluster']['num_nodes']}x{each}"), "placement"
    ).to_solve
    assert not reading.failed and reading.problem is not None and reading.problem.job.planning.workload is not None, text
    return reading.problem, reading.problem.job.planning.workload


def tables_agree(root: dict[str, Any], problem: Problem, workload: Workload, theirs: dict[str, Any]) -> bool:
    """Are they equal? What was measured must be, and all formulas; curves of embodied jobs may be others, where scipy's fit is a poor one."""
    batches = root["data"]["rollout_batch_size"] if workload.model == "rlinf" else 1
    alike = True
    for name, table in theirs.items():
        timed = problem["rollout" if name == "env_rollout" else name].timed
        assert timed is not None
        expected = {int(count): value * batches for count, value in table.items() if value is not None}
        assert {each.accelerators for each in timed.measured} == set(expected)
        for each in timed.measured:
            equal = each.nanoseconds / SECOND == pytest.approx(expected[each.accelerators], rel=1e-4)
            assert equal or "curve" in each.assumed, f"{name} {each}\n{yaml.safe_dump(root)}"
            alike = alike and equal
    return alike


def is_started(problem: Problem, counts: dict[str, int]) -> bool:
    """Does all work divide among what the tool proposes? It does not look; RLinf's workers do."""
    its = {"rollout" if name == "env_rollout" else name: count for name, count in counts.items()}
    return all(
        share.divides(its[share.component] // problem[share.component].per_process) for share in problem.shares if share.component in its
    )


@pytest.mark.parametrize("make", [a_reasoning_job, an_embodied_job])
def test_tables_are_equal_and_no_total_of_the_tool_is_smaller(make: Any) -> None:
    if make is an_embodied_job and importlib.util.find_spec("scipy") is None:
        pytest.skip("scipy, which RLinf's tool fits curves with, is not installed")
    source, counts = random.Random(2026), Counter[str]()
    jobs = [(make(source), source.choice((4, 8))) for _ in range(CASES)]
    lines = [told(root, root["cluster"]["num_nodes"] * each) for root, each in jobs]
    done = subprocess.run([sys.executable, str(TOOL), CHECKOUT], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    for (root, each), line in zip(jobs, done.stdout.splitlines()):
        theirs = json.loads(line)
        problem, workload = ours(root, each)
        question, model = planning_problem(problem), cost_model(workload.model)
        found = search(question, model)
        if "total" not in theirs:
            counts[f"theirs: {theirs['error']}, ours: {'an answer' if found.best else 'none'}"] += 1
            continue
        if any(value is not None and value <= 0 for table in theirs["tables"].values() for value in table.values()):
            counts["theirs has times below zero"] += 1  # a curve that falls too far: no time is what we take for possible
            continue
        if not tables_agree(root, problem, workload, theirs["tables"]):
            counts["another curve"] += 1
            continue
        if not is_started(problem, theirs["counts"]):
            counts["RLinf would not start theirs"] += 1
            continue
        assert found.best is not None and found.proved
        cost, total = found.best.price[0] / SECOND, Fraction(theirs["total"])
        assert cost <= total + Fraction(GRAIN), yaml.safe_dump(root)
        counts["equal" if cost >= total - Fraction(GRAIN) else "better"] += 1
    print(make.__name__, dict(counts))
    assert counts["equal"] + counts["better"] > CASES / 3
    assert counts["another curve"] < CASES / 4
