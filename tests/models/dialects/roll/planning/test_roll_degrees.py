"""What open degrees of a ROLL file make of its workers, and which of them are taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Mapping

import pytest
from placewright.api import solve
from placewright.models.dialects.roll import planning as chosen
from placewright.models.parallel import Parallel
from placewright.models.reading import Reading

from .opened import config, of, problem_of


def test_each_choice_of_degrees_has_the_workers_that_roll_makes_of_it() -> None:
    planned = problem_of(config())
    shapes = planned.job.planning.shapes["actor_infer"]
    assert {parallel.tp: shape.per_process for parallel, shape in shapes.items()} == {1: 1, 2: 2, 4: 4}
    assert planned.job.choices["actor_infer"] == (Parallel(1), Parallel(2), Parallel(4))


def test_degrees_that_do_not_divide_the_samples_are_not_accepted_at_that_count() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "actor_train": {"seconds": {8: 80}, "parallel": {"tp": [1, 2]}}}})
    accepted = problem_of(its).job.planning.accepted["actor_train"]
    assert {amount for amount, parallel in accepted if parallel == Parallel(2)} == {2, 4, 8, 16, 32}
    assert {amount for amount, parallel in accepted if parallel == Parallel(1)} == {1, 2, 4, 8, 16, 32}
    assert not any(share.component == "actor_train" for share in problem_of(its).job.shares)


def test_what_the_strategy_has_no_key_for_is_an_error() -> None:
    blocks = config()["placewright"]["components"]
    its = config(placewright={"components": {**blocks, "actor_infer": {"seconds": {8: 240}, "parallel": {"cp": [2, 4]}}}})
    findings = of(its).to_solve.findings
    assert [finding.code for finding in findings] == ["PW121"]
    why = "the strategy of `actor_infer` cannot express them"
    assert findings[0].message == "every choice of degrees that the hints leave open is refused"
    assert findings[0].notes == (f"with cp 2 of `actor_infer`, {why}", f"with cp 4 of `actor_infer`, {why}")


@pytest.mark.parametrize("degrees", [[1], [2], [4], [1, 2, 4], [4, 2, 1]])
def test_data_parallel_ranks_of_vllm_are_its_workers_with_any_degrees(degrees: list[int]) -> None:
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"]["data_parallel_size"] = 2
    its["placewright"]["components"]["actor_infer"]["parallel"] = {"tp": degrees}
    answer = solve(problem_of(its))
    assert answer.plan is not None
    assert answer.plan.assignment.world_size("actor_infer") == 2
    assert answer.plan.assignment.amount("actor_infer") == 2 * max(degrees)  # it takes the less time on the more devices


@pytest.mark.parametrize("own", [1, 2, 4])
@pytest.mark.parametrize("listed", [[1, 2, 4], [4, 2, 1], [2, 4]])
def test_degrees_that_make_no_difference_stay_those_of_the_file_or_are_the_first_that_are_listed(own: int, listed: list[int]) -> None:
    """Workers of other sizes are kept for what they may be in step with; that is no reason to take them."""
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"]["tensor_parallel_size"] = own
    its["placewright"]["components"]["actor_infer"]["parallel"]["tp"] = listed
    answer = solve(of(its, "1x8").to_solve)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["actor_infer"].parallel.tp == (own if own in listed else listed[0])


def test_training_within_inference_may_have_any_count_where_the_degrees_of_inference_are_open() -> None:
    """How large a worker of inference is in the file says nothing of one with other degrees."""
    its = config()
    its["actor_train"] |= {
        "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
        "strategy_args": {"strategy_name": "megatron_train"},
    }
    its["placewright"] = {
        "components": {
            "actor_train": {"seconds": {1: 90, 4: 30}, "accelerators": "1-3", "parallel": {"tp": [1, 2]}, "within": "actor_infer"},
            "actor_infer": {"seconds": {1: 90, 4: 30}, "accelerators": "1-3", "parallel": {"tp": [1, 2]}},
        }
    }
    its["rollout_batch_size"] = 24
    its["actor_train"]["device_mapping"], its["actor_infer"]["device_mapping"] = "[0,1]", "[0,1]"
    planned = problem_of(its, "1x4")
    assert {count for count, _ in planned.job.planning.accepted["actor_train"]} == {1, 2, 3}
    answer = solve(planned, sandbox=False)
    assert answer.plan is not None
    assert answer.planned is not None
    assert answer.planned.proved
    assert [answer.plan.assignment.amount(name) for name in ("actor_train", "actor_infer")] == [3, 3]


def test_a_mesh_larger_than_all_devices_asks_for_no_more_of_them() -> None:
    """`fsdp_size` of 32 holds all ranks where there are 16: any count is possible that the work divides among."""
    trains = {
        "training_args": {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16},
        "strategy_args": {"strategy_name": "fsdp2_train", "strategy_config": {"fsdp_size": 32}},
        "device_mapping": "list(range(0,8))",
    }
    answer = solve(of(config(actor_train=trains), "2x8"), sandbox=False)
    assert answer.planned is not None
    assert answer.planned.proved
    assert problem_of(config(actor_train=trains), "2x8")["actor_train"].step == 1


@pytest.mark.parametrize("listed", [[1, 3], [3, 4]])
def test_degrees_that_do_not_nest_with_the_workers_of_the_file_are_planned(listed: list[int]) -> None:
    """A worker of an engine is as large as its tp: those of the file, of 2, say nothing of workers with other degrees."""
    its = config()
    its["actor_infer"]["strategy_args"]["strategy_config"]["tensor_parallel_size"] = 2
    its["placewright"]["components"]["actor_infer"]["parallel"]["tp"] = listed
    found = of(its, "1x8").to_solve
    assert not [each for each in found.findings if each.severity.value == "error"]
    answer = solve(found)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["actor_infer"].parallel.tp in listed


def test_each_choice_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With interpolations every choice was read with its batches to judge it, and again for what follows from it."""
    its, read_ = config(), Counter[tuple[tuple[str, str], ...]]()
    key = "actor_infer.strategy_args.strategy_config.tensor_parallel_size"
    its["actor_train"]["strategy_args"]["strategy_config"]["tensor_model_parallel_size"] = f"${{{key}}}"
    anew = chosen.DegreeReader._read_together

    def counted(self: chosen.DegreeReader, degrees: Mapping[str, Parallel]) -> chosen.Found:
        before = self.read

        def reading(*arguments: Any) -> Reading:
            read_[tuple((name, str(each)) for name, each in degrees.items())] += 1
            return before(*arguments)

        return anew(replace(self, read=reading), degrees)

    monkeypatch.setattr(chosen.DegreeReader, "_read_together", counted)
    assert problem_of(its).job.planning.tied == {"actor_train": "actor_infer"}
    assert len(read_) == 3 and set(read_.values()) == {1}
