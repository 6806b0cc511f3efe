"""Records of the exact optimum alone, which do not say what was asked: we find it all the same."""

from __future__ import annotations

from itertools import product

import pytest
from placewright.models.planning.workload import SECOND
from rlinf_records import ALL, EXACT, GRAIN, NOT_BEST, REPLAYED, Record, seconds, tables

pytestmark = REPLAYED


def asked(total: int, costs: dict[str, float], batch: int = 512, degree: int = 2, running: int = 128) -> Record:
    """A record of a chain of components that says what was asked; all but this is the same in every record that does."""
    parts = {name: {"world_size": total, "dp_size": total if name == "rollout" else total // degree} for name in costs}
    config = {
        "data": {"rollout_batch_size": batch},
        "algorithm": {"group_size": 16, "n_minibatches": 4, "recompute_logprobs": "inference" in costs},
        "rollout": {"max_running_requests": running},
        "runner": {"task_type": "reasoning"},
        "profile_data": {f"{name}_cost": cost for name, cost in costs.items()},
    }
    graph = {name: list(later) for name, later in zip(costs, [*([each] for each in list(costs)[1:]), []])}
    return {"input": {"config": config, "components": parts, "graph": graph, "total_gpus": total}}


TWO: dict[str, float] = {"rollout": 224, "actor": 101}
THREE: dict[str, float] = {"rollout": 224, "inference": 10, "actor": 101}
FOUR: dict[str, float] = {"rollout": 224, "inference": 10, "critic": 40, "actor": 101}
OF_EXACT = {
    "reasoning_2": [asked(2, THREE)],
    "reasoning_8_2comp": [asked(8, TWO)],
    "reasoning_64_2comp": [asked(64, TWO)],
    "reasoning_256_2comp": [asked(256, TWO)],
    "reasoning_64_balanced": [asked(64, {"rollout": 120, "inference": 60, "actor": 120})],
    "reasoning_docs_8": [asked(8, {"rollout": 59.9, "inference": 30.8, "actor": 95.7}, batch=128, running=64)],
    "ext4_64_patched": [asked(64, FOUR)],
    "ext4_256_patched": [asked(256, FOUR)],
    "reasoning_8_2comp_tp1_rollheavy": [asked(8, {"rollout": 300, "actor": 10}, degree=1)],
    "reasoning_64_mid": [asked(64, {"rollout": 200, "inference": 90, "actor": 90}, batch=1024)],
    # Its times say that inference and actor take 90 together, and not how much of that each of them takes.
    "reasoning_16_mid": [asked(16, {"rollout": 224, "inference": its, "actor": 90 - its}) for its in (30, 45, 60)],
}
"""What was asked in records that do not say it, by RLinf's examples, its tests and the other records; a test says that it fits."""
UNPAIRED = [pytest.param(name, record, id=f"{name}-{number}") for name, its in OF_EXACT.items() for number, record in enumerate(its)]


def best_pipeline(record: Record) -> tuple[float, list[int] | None]:
    """The least time of a chain of which each component has accelerators of its own, all of them used; tried one by one."""
    its, total = tables(record), record["input"]["total_gpus"]
    batches, order = record["input"]["config"]["data"]["rollout_batch_size"], list(its)
    best: tuple[float, list[int] | None] = (float("inf"), None)
    for rest in product(*(its[name] for name in order[1:])):
        counts = [total - sum(rest), *rest]
        if counts[0] in its[order[0]]:
            each = [its[name][count].nanoseconds / SECOND / batches for name, count in zip(order, counts)]
            best = min(best, (sum(each) + max(each) * (batches - 1), counts))
    return best


def test_every_record_of_an_optimum_is_asked_about() -> None:
    assert set(EXACT) <= {*ALL, *OF_EXACT}


@pytest.mark.parametrize(("name", "record"), UNPAIRED)
def test_what_was_asked_is_what_the_record_says_of_it(name: str, record: Record) -> None:
    exact = EXACT[name]
    takes, counts = best_pipeline(record)
    expected, its = exact["best_pipeline_all_gpus"]
    assert takes == pytest.approx(expected, abs=1e-6)
    assert counts == its
    assert sum(record["input"]["config"]["profile_data"].values()) == pytest.approx(exact["collocated"])


@pytest.mark.parametrize(("name", "record"), UNPAIRED)
def test_the_optimum_is_found_where_only_that_is_recorded(name: str, record: Record) -> None:
    ours, exact = seconds(record), EXACT[name]
    assert ours <= exact["rlinf"] + GRAIN
    assert ours == pytest.approx(exact["optimum"][0], abs=GRAIN)
    assert 100 * (exact["rlinf"] / ours - 1) == pytest.approx(NOT_BEST.get(name, 0.0), abs=0.01)
