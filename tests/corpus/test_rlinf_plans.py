"""What RLinf's placement tool answered, replayed: we are never worse, as good as the exact optimum, and answer where it crashes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from placewright.models.dialects import rlinf
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.workload import SECOND
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.plan import plan
from placewright.solver.searching.search import solve
from rlinf_records import ALL, ANSWERED, CRASHED, EXACT, GRAIN, NOT_BEST, REPLAYED, Record, is_embodied, seconds, tables

pytestmark = REPLAYED


@pytest.mark.parametrize("name", ANSWERED)
def test_the_tables_are_those_of_rlinf(name: str) -> None:
    record = ALL[name]
    batches = 1 if is_embodied(record) else record["input"]["config"]["data"]["rollout_batch_size"]
    ours = tables(record)
    for component, theirs in record["output"]["profile_tables"].items():
        expected = {int(count): cost * batches for count, cost in theirs.items() if cost is not None}
        assert {count: row.nanoseconds / SECOND for count, row in ours[component].items()} == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ANSWERED)
def test_no_answer_of_rlinf_is_better_and_none_at_all_is_better_than_ours(name: str) -> None:
    ours, theirs = seconds(ALL[name]), ALL[name]["output"]["result"]["total_cost"]
    assert ours <= theirs + GRAIN
    if name in EXACT:
        assert ours == pytest.approx(EXACT[name]["optimum"][0], abs=GRAIN)
        assert 100 * (theirs / ours - 1) == pytest.approx(NOT_BEST.get(name, 0.0), abs=0.01)


@pytest.mark.parametrize("name", CRASHED)
def test_there_is_an_answer_where_rlinf_crashes(name: str) -> None:
    """With four components and more its tool ends in a TypeError; with that turned into a refusal it finds what we find."""
    patched = ALL.get(f"{name}_patched")
    ours = seconds(ALL[name])
    together = sum(its for key, its in ALL[name]["input"]["config"]["profile_data"].items() if key.endswith("_cost"))
    assert ours <= together + GRAIN
    if patched is not None and patched["output"]["ok"]:
        assert ours <= patched["output"]["result"]["total_cost"] + GRAIN


# ---- the same as files


def text(record: Record) -> str:
    """An RLinf file of a collocated run that says what the record does."""
    config = record["input"]["config"]
    total, its = record["input"]["total_gpus"], record["input"]["components"]
    placed = ["actor", "rollout", *(("env",) if is_embodied(record) else ("reward",))]
    root: dict[str, Any] = {
        "cluster": {"num_nodes": nodes(total), "component_placement": {",".join(placed): "all"}},
        "runner": config["runner"],
        "data": dict(config["data"]),
        "profile_data": dict(config["profile_data"]),
        "algorithm": dict(config["algorithm"]),
        "rollout": {**config.get("rollout", {}), "return_logprobs": True},
        "actor": {"training_backend": "megatron", "model": {}},
    }
    if is_embodied(record):
        root["placewright"] = {"plan": {"cost_model": "rlinf-embodied"}}
        for key in ("env_profile_data", "rollout_profile_data"):
            root["profile_data"][key] = {int(count): value for count, value in config["profile_data"][key].items()}
    else:
        root["placewright"] = {"plan": {"cost_model": "rlinf"}}
        root["actor"]["model"]["tensor_model_parallel_size"] = its["actor"]["world_size"] // its["actor"]["dp_size"]
        root["rollout"]["tensor_parallel_size"] = its["rollout"]["world_size"] // its["rollout"]["dp_size"]
    return yaml.safe_dump(root, sort_keys=False)


def nodes(total: int) -> int:
    return total // 8 if total % 8 == 0 else 1


OF_RLINF = [name for name in ANSWERED if not ALL[name]["input"].get("extended") and ALL[name]["input"]["total_gpus"] <= 256]


@pytest.mark.parametrize("name", OF_RLINF)
def test_a_file_gets_a_plan_that_is_as_good(name: str) -> None:
    record = ALL[name]
    total = record["input"]["total_gpus"]
    machines = read_shorthand(f"{nodes(total)}x{total // nodes(total)}")
    reading = rlinf.read(Document.of(Source("run.yaml", text(record))), machines, "placement").to_solve
    assert not reading.failed and reading.problem is not None and reading.problem.job.planning.workload is not None
    planned = plan(reading.problem, solve).planned
    assert planned is not None and planned.proved
    assert planned.best.nanoseconds / SECOND <= record["output"]["result"]["total_cost"] + GRAIN
    if name in EXACT:
        assert planned.best.nanoseconds / SECOND == pytest.approx(EXACT[name]["optimum"][0], abs=GRAIN)
