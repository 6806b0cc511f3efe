"""What times rest on, for each way in which they follow from what was measured."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import BETWEEN, BEYOND, MEASURED, Basis
from placewright.report.planning.assumptions import assumptions
from placewright.report.planning.data import to_data


def basis(tmp_path: Path, timed: str) -> Basis:
    """That of a component on 8 accelerators."""
    path = tmp_path / "train.yaml"
    path.write_text(f"cluster: 1x8xH100\ncomponents:\n  actor: {{accelerators: 8, seconds: {timed}}}\n")
    (found,) = pw.account(path, sandbox=False, searches=0).bases
    assert found.amount == 8
    return found


@pytest.mark.parametrize(
    ("timed", "kind", "counts", "scaling", "beyond"),
    [
        ("{8: 10}", MEASURED, (8,), "", 1),
        ("{4: 20, 16: 6}", BETWEEN, (4, 16), "power", 1),
        ("{2: 40, 4: 20}", BEYOND, (2, 4), "power", 2),
        ("{16: 6, 32: 4}", BEYOND, (16, 32), "power", 2),
        ("{1: 80}", BEYOND, (1,), "linear", 8),
        ("{4: 20, 64: 6}, scaling: linear", BETWEEN, (4,), "linear", 1),
        ("{1: 80, 2: 50, 3: 40}", BEYOND, (2, 3), "power", 8 / 3),
    ],
)
def test_what_a_time_rests_on(tmp_path: Path, timed: str, kind: str, counts: tuple[int, ...], scaling: str, beyond: float) -> None:
    found = basis(tmp_path, timed)
    assert (found.kind, found.counts, found.scaling) == (kind, counts, scaling)
    assert found.beyond == pytest.approx(beyond)


def test_one_time_for_several_degrees_is_said_to_be_taken_for_each(tmp_path: Path) -> None:
    assert not basis(tmp_path, "{8: 10}").any_degrees
    assert basis(tmp_path, "{8: 10}, parallel: {tp: [1, 2]}, memory: 10GiB").any_degrees
    each = "[{seconds: 10, accelerators: 8, tp: 1}, {seconds: 9, accelerators: 8, tp: 2}], parallel: {tp: [1, 2]}"
    assert not basis(tmp_path, each).any_degrees
    some = "[{seconds: 20, accelerators: 4}, {seconds: 6, accelerators: 16}, {seconds: 8, accelerators: 16, tp: 2}], parallel: {tp: [1, 2]}"
    assert not basis(tmp_path, some).any_degrees  # with tp 2 it takes longer


def test_a_time_that_is_counted_as_less_than_follows_from_others_is_told_as_that(tmp_path: Path) -> None:
    path = tmp_path / "train.yaml"
    path.write_text("cluster: 1x8xH100\ncomponents:\n  actor: {accelerators: 4, seconds: {8: 6000000}}\n")
    said = "actor on 4: extrapolated from 8 (linear), 2.0x beyond"
    assert f"{said}, counted as 10,000,000 seconds, which no time that follows from others exceeds" in assumptions(
        pw.account(path, searches=0)
    )
    path.write_text(path.read_text().replace("6000000", "4000000"))
    assert f"{said}\n" in assumptions(pw.account(path, searches=0))


VERL = """
data: {train_batch_size: 256}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-7B-Instruct}
  actor: {strategy: fsdp, ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 4}
  rollout: {name: vllm, tensor_model_parallel_size: 2, n: 8, log_prob_micro_batch_size_per_gpu: 8}
trainer: {nnodes: 1, n_gpus_per_node: 4}
placewright:
  components:
    actor: {seconds: {8: 100}}
    rollout: {seconds: {8: 90}, parallel: {tp: [1, 2]}}
"""


@pytest.mark.parametrize(("open_", "told"), [("[1, 2]", "those of the file"), ("[1, 4]", "the first that fit")])
def test_degrees_that_a_file_has_already_are_taken_before_the_first_and_told_as_that(tmp_path: Path, open_: str, told: str) -> None:
    path = tmp_path / "train.yaml"
    path.write_text(VERL.replace("[1, 2]", open_))
    found = pw.account(path, cluster="1x8xH100", sandbox=False, searches=0)
    its = next(each for each in found.bases if each.task.component == "rollout")
    assert its.any_degrees and its.as_written is (told == "those of the file")
    assert f"rollout: equally fast with any degrees, since its time names no degrees: {told}" in assumptions(found)
    rests = to_data(found)["rests_on"]
    assert {each["task"]: each.get("as_written") for each in rests}[str(its.task)] is its.as_written


def test_measurements_of_the_model_and_the_degrees_go_before_others(tmp_path: Path) -> None:
    rows = "[{seconds: 9, accelerators: 8, accelerator: H100}, {seconds: 10, accelerators: 4}]"
    found = basis(tmp_path, rows)
    assert (found.kind, found.nanoseconds) == (MEASURED, 9_000_000_000)
