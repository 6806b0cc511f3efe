"""Plans of a ROLL file with times, written into it: devices and degrees."""

from __future__ import annotations

import pytest
import yaml
from placewright.api import solve
from placewright.models.dialects import roll
from placewright.models.findings.span import apply_edits
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.planner.verify import verify

from .opened import Config, config, of


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0, 1])
@pytest.mark.parametrize(
    "infer",
    [
        {"strategy_args": {"strategy_name": "vllm"}},
        {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"tensor_parallel_size": 2}}},
        {"strategy_args": {"strategy_name": "vllm", "strategy_config": {"gpu_memory_utilization": 0.8}}, "num_gpus_per_worker": 1},
        {"strategy_args": {"strategy_name": "sglang", "strategy_config": {"tensor_parallel_size": 2}}, "num_gpus_per_worker": 2},
    ],
)
def test_the_answer_is_written_over_devices_and_degrees_and_verify_finds_nothing(infer: Config, ratio: int) -> None:
    rows = [{"accelerators": 8, "tp": tp, "seconds": seconds} for tp, seconds in ((1, 300), (2, 240), (4, 150))]
    blocks = {"actor_train": {"seconds": {8: 80}}, "actor_infer": {"seconds": rows, "parallel": {"tp": [1, 2, 4]}}}
    its = config(
        actor_infer={**infer, "device_mapping": "list(range(8,16))"}, async_generation_ratio=ratio, placewright={"components": blocks}
    )
    text = yaml.safe_dump(its, sort_keys=False)
    reading = of(text)
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None
    assert answer.plan.degrees["actor_infer"] == Parallel(4)
    after = apply_edits(text, roll.write(reading.to_solve, answer.plan.assignment, answer.plan.degrees))
    for level in ("placement", "training"):
        assert verify(of(after, level=level)).errors == ()
    again = of(after)
    assert again.problem is not None
    assert again.problem["actor_infer"].per_process == 4
    for name in ("actor_train", "actor_infer"):
        assert list(seats(again.problem[name].runs or ())) == list(seats(answer.plan.assignment.of(name)))
    others = {key: value for key, value in yaml.safe_load(after).items() if key not in ("actor_train", "actor_infer")}
    assert others == {key: value for key, value in its.items() if key not in ("actor_train", "actor_infer")}


def test_devices_that_stay_keep_their_words() -> None:
    its = config()
    its["actor_train"]["device_mapping"] = "list(range(0,4)) + list(range(4,8))"
    its["actor_infer"]["device_mapping"] = "[8, 9, 10, 11, 12, 13, 14, 15]"
    reading = of(its).to_solve
    assert reading.problem is not None
    runs = {**reading.problem.build_given().runs, **reading.problem.job.planning.own}
    assert roll.write(reading, Assignment(runs), {}) == []
    there = compress((rank, [(1, rank)]) for rank in range(8))
    moved = Assignment({**runs, "actor_train": there})
    edits = roll.write(reading, moved, {})
    assert [edit.text for edit in edits] == ["list(range(8,16))"]


def test_degrees_are_written_into_a_strategy_that_says_nothing_yet() -> None:
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"] = {}
    its["placewright"]["components"]["actor_infer"]["parallel"] = {"tp": [2]}
    reading = of(its).to_solve
    assert reading.problem is not None
    answer = solve(reading.problem)
    assert answer.plan is not None
    text = apply_edits(reading.source.text, roll.write(reading, answer.plan.assignment, answer.plan.degrees))
    assert "strategy_config: {tensor_parallel_size: 2}" in text
    assert not verify(of(text)).errors


@pytest.mark.parametrize("pinned", ["actor_train", "actor_infer"])
def test_pinned_ranks_turn_what_trains_and_what_generates_alike_and_the_file_is_planned_again_as_it_was(pinned: str) -> None:
    blocks = {"actor_train": {"seconds": {8: 80, 16: 45}}, "actor_infer": {"seconds": {8: 240, 16: 130}}}
    free = solve(of(yaml.safe_dump(config(placewright={"components": blocks}), sort_keys=False), "2x8"), sandbox=False)
    hints = {**blocks, pinned: {**blocks[pinned], "pin": [{"ranks": "0-1", "nodes": [1]}]}}
    text = yaml.safe_dump(config(placewright={"components": hints}), sort_keys=False)
    reading = of(text, "2x8")
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None and answer.planned is not None and free.planned is not None
    assert answer.planned.proved
    assert answer.planned.best.nanoseconds == free.planned.best.nanoseconds
    assert next(iter(seats(answer.plan.assignment.of(pinned))))[1][0][0][0] == 1
    after = apply_edits(text, roll.write(reading.to_solve, answer.plan.assignment, answer.plan.degrees))
    for level in ("placement", "training"):
        assert verify(of(after, "2x8", level=level)).errors == ()
    again = solve(of(after, "2x8"), sandbox=False)
    assert again.planned is not None
    assert again.planned.is_own
