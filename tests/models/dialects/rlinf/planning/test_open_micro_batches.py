"""Micro batches of Megatron, which bound the replicas of an actor whose ranks are open."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.span import apply_edits
from placewright.planner import write_back

from .opened import TOGETHER, text

HINTED = (
    text("{}").partition("profile_data")[0].replace("n_minibatches: 1", "n_minibatches: 2, training_batch_size_per_gpu: 256")
    + "placewright: {components: {actor: {accelerators: 4-16}, rollout: {accelerators: 2-16, colocate_with: actor}, reward: {accelerators: 2-16, colocate_with: actor}}}\n"
)
"""Update of 256 samples: two replicas of tp 4 take no whole micro batches of 256."""


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Plans that the file refused after a search proposed them."""
    found: list[object] = []
    refuse = write_back._refusals

    def remember(*arguments: object) -> object:
        refused = refuse(*arguments)  # type: ignore[arg-type]
        found.extend(refused)
        return refused

    monkeypatch.setattr(write_back, "_refusals", remember)
    return found


@pytest.mark.parametrize("its", [HINTED, text(TOGETHER).replace("n_minibatches: 1", "n_minibatches: 2, training_batch_size_per_gpu: 128")])
def test_a_plan_keeps_whole_micro_batches(its: str, tmp_path: Path, refusals: list[object]) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(its)
    answer = pw.solve(file, "2x8", sandbox=False)
    reading = pw.load(file, "2x8").to_solve
    edits, findings = write_back.edits_of(reading, answer)
    assert answer.plan is not None and edits and not findings and not refusals
    file.write_text(apply_edits(reading.source.text, edits))
    assert pw.verify(file, "2x8").errors == ()


def test_no_count_with_whole_micro_batches_is_impossible(tmp_path: Path, refusals: list[object]) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(HINTED.replace("4-16", "8"))
    answer = pw.solve(file, "2x8", sandbox=False)
    assert answer.plan is None and answer.verdict == "impossible" and not refusals


def test_a_tensor_parallel_group_of_rollout_is_a_minimum(tmp_path: Path, refusals: list[object]) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        HINTED.replace("megatron", "fsdp")
        .replace("per_gpu: 256", "per_gpu: 1")
        .replace("tensor_model_parallel_size: 4", "tensor_model_parallel_size: 1")
        .replace("4-16", "1-8")
    )
    answer = pw.solve(file, "2x8", sandbox=False)
    assert answer.plan is not None and not refusals
