"""What RLinf's FSDP shards over: one dimension of all ranks of the actor."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.findings.finding import Severity

from .conftest import Job, codes, found

TOGETHER = {"actor,rollout,reward": "all"}


def judged(job: Job, task: str = "reasoning", backend: str = "fsdp", **config: Any) -> set[str]:
    placed = TOGETHER if task == "reasoning" else {"actor,rollout,env": "all"}
    return codes(job(placed, runner__task_type=task, actor__training_backend=backend, actor__fsdp_config=config))


@pytest.mark.parametrize("kind", ["full_shard", "shard_grad_op", "no_shard", None])
def test_what_all_ranks_share_is_fine(job: Job, kind: str | None) -> None:
    assert judged(job, sharding_strategy=kind) == set()


@pytest.mark.parametrize("task", ["reasoning", "embodied", "sft", "offline"])
@pytest.mark.parametrize("kind", ["hybrid_shard", "FULL_SHARD", "zero3"])
def test_what_needs_two_dimensions_or_is_not_known_is_an_error(job: Job, task: str, kind: str) -> None:
    assert "PW123" in judged(job, task, sharding_strategy=kind)
    assert "PW123" in judged(job, task, sharding_strategy=kind, strategy="fsdp")


def test_others_do_not_look_at_it(job: Job) -> None:
    assert judged(job, sharding_strategy="hybrid_shard", strategy="fsdp2") == set()
    assert judged(job, backend="megatron", sharding_strategy="hybrid_shard") == set()


def test_the_edit_shards_over_all(job: Job) -> None:
    reading = job(TOGETHER, actor__training_backend="fsdp", actor__fsdp_config={"sharding_strategy": "hybrid_shard"})
    (error,) = found(reading, Severity.ERROR)
    assert error.edit is not None and error.edit.text == "full_shard"
    assert (
        error.message
        == "`actor.fsdp_config.sharding_strategy` is `hybrid_shard`, but RLinf gives FSDP one dimension of ranks, all of `actor`"
    )
