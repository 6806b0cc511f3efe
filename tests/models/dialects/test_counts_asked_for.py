"""Counts that hints ask for, of components whose degrees follow from a choice: each is judged with those that come out, not with the file's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from .followed_files import FSDP, INTERPOLATED, RLINF, VERL, planned

TIMES = "{accelerators: 1, seconds: 20}, {accelerators: 2, seconds: 9}, {accelerators: 4, seconds: 5}"


def rlinf(counts: str) -> str:
    actor = "{accelerators: 2, tp: 2, seconds: 50}, {accelerators: 2, tp: 1, seconds: 20}"
    its = RLINF.format(backend="megatron", own=2, offered=[2, 1], inference=INTERPOLATED, actor=actor, inferred=TIMES)
    return its.replace("    inference: {scaling", f"    inference: {{accelerators: {counts}, scaling")


@pytest.mark.parametrize("counts", ["1", "[1, 3]"])
def test_a_count_that_one_of_the_choices_takes_is_planned(tmp_path: Path, counts: str) -> None:
    """With tp 1 of the actor inference has it too: 1 was refused by the file's tp 2, and of 1 and 3 impossible was told."""
    file = tmp_path / "run.yaml"
    file.write_text(rlinf(counts))
    options = planned(file, "rlinf").best.design.options
    assert (options["inference"].amount, options["inference"].parallel.tp, options["actor"].parallel.tp) == (1, 1, 1)


def test_a_count_is_judged_by_the_degrees_that_are_open_to_it(tmp_path: Path) -> None:
    """Rollout on one was refused by the tp 2 of its settings, where its hints offer tp 1."""
    file = tmp_path / "run.yaml"
    its = rlinf("2").replace("tensor_parallel_size: 1}", "tensor_parallel_size: 2}")
    its = its.replace("rollout: {scaling: table, seconds: {4: 20}}", "rollout: {accelerators: 1, parallel: {tp: [2, 1]}, seconds: {1: 20}}")
    file.write_text(its)
    rollout = planned(file, "rlinf").best.design.options["rollout"]
    assert (rollout.amount, rollout.parallel.tp) == (1, 1)


@pytest.mark.parametrize("counts", ["2", "[2, 6]"])
def test_verl_a_count_is_judged_by_the_degrees_of_its_size(tmp_path: Path, counts: str) -> None:
    """Two were refused, which hold no multiple of the tp 8 that the pool of eight in the file makes."""
    file = tmp_path / "run.yaml"
    file.write_text(
        VERL.format(
            actor_keys=FSDP.format(1), rollout_tp='"${trainer.n_gpus_per_node}"', actor_parallel="", rollout_parallel=f"accelerators: {counts}, ",
            actor="{accelerators: 2, seconds: 9}", rollout="{accelerators: 2, seconds: 9}",
        )
    )  # fmt: skip
    rollout = planned(file, "verl").best.design.options["rollout"]
    assert rollout.amount == 2 and rollout.parallel.tp <= 2
