"""Inference on ranks of its own: Megatron sets it up with tp and pp of its own section, and cp of what trains."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.component import Parallel
from placewright.models.reading import Reading

from .conftest import Job, codes

SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")


def section(*degrees: int) -> dict[str, Any]:
    return {"model": dict(zip(SIZES, degrees))}


def reading_of(job: Job, ranks: str, name: str = "inference", backend: str = "megatron", **settings: Any) -> Reading:
    apart = {"actor": "0-3", "rollout,reward": "4-7", name: ranks}
    return job(apart, "x16", **{"actor__training_backend": backend, "algorithm__recompute_logprobs": True, **settings})


def parallel(reading: Reading, name: str = "inference") -> Parallel:
    assert reading.problem is not None
    return reading.problem[name].parallel


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Parallel(2, 1, 2)),  # without a section they are those of the actor
        ({"inference": section(1, 2)}, Parallel(1, 2, 2)),
        ({"inference": section(2, 2, 8)}, Parallel(2, 2, 2)),  # its own cp is never read
        ({"inference": section(2)}, Parallel(2, 1, 2)),
        ({"inference": section(2), "actor_inference": section(1, 2)}, Parallel(1, 2, 2)),  # Megatron looks for this one first
    ],
)
def test_its_degrees_are_those_of_its_own_section(job: Job, settings: dict[str, Any], expected: Parallel) -> None:
    reading = reading_of(job, "8-15", actor__model=section(2, 1, 2)["model"], **settings)
    assert parallel(reading) == expected and codes(reading) == set()


@pytest.mark.parametrize("name", ["inference", "actor_inference"])
def test_a_count_that_its_replicas_do_not_divide_is_an_error(job: Job, name: str) -> None:
    assert codes(reading_of(job, "8-10", name, inference=section(2, 2), actor__model=section(2)["model"])) == {"PW208"}
    assert codes(reading_of(job, "8-11", name, inference=section(2, 2), actor__model=section(2)["model"])) == set()
    assert codes(reading_of(job, "8-13", name, inference=section(2, 2), actor__model=section(2)["model"])) == {"PW208"}


def test_fsdp_divides_nothing_by_pp(job: Job) -> None:
    assert codes(reading_of(job, "8-10", backend="fsdp", inference=section(1, 4))) == set()


def test_the_critics_has_degrees_of_its_own(job: Job) -> None:
    placed = {"actor": "0-1", "rollout,reward": "2-3", "inference": "4-5", "critic": "6-9", "critic_inference": "10-12"}
    critic = {"use_critic_model": True, "training_backend": "megatron", **section(2, 2)}

    def judged(ranks: str, **settings: Any) -> Reading:
        parts = {**placed, "critic_inference": ranks}
        return job(parts, "x16", actor__training_backend="megatron", algorithm__recompute_logprobs=True, critic=critic, **settings)

    assert codes(judged("10-12")) == {"PW208"}
    assert codes(judged("10-13")) == set()
    assert parallel(judged("10-12", critic_inference=section(3, 1)), "critic_inference") == Parallel(3)


@pytest.mark.parametrize(
    ("actor", "inference", "expected"),
    [((2, 1), (4, 1), {"PW208"}), ((4, 1), (4, 1), set()), ((4, 1), (2, 2), set()), ((2, 1), (2, 2), set()), ((2, 1), (2, 4), {"PW208"})],
)
def test_the_actor_hands_its_weights_on_to_no_larger_groups(
    job: Job, actor: tuple[int, ...], inference: tuple[int, ...], expected: set[str]
) -> None:
    settings: dict[str, Any] = {"actor__model": section(*actor)["model"], "inference": section(*inference)}
    assert codes(reading_of(job, "8-15", **settings)) == expected  # the last: 8 ranks wait for the weights of 4
    assert codes(reading_of(job, "8-15", backend="fsdp", **settings)) == set()


def test_the_edit_lets_the_weights_come(job: Job) -> None:
    reading = reading_of(job, "8-15", actor__model=section(4)["model"], inference=section(8))
    error = next(each for each in reading.findings if each.code == "PW208")
    assert error.help == "set `inference.model.tensor_model_parallel_size: 4`" and error.edit is not None and error.edit.text == "4"


@pytest.mark.timeout(10)
def test_a_tp_of_many_digits_is_judged_as_soon_as_any(job: Job) -> None:
    reading = reading_of(job, "8-15", actor__model=section(6)["model"], inference=section(4_000_000_000))
    error = next(each for each in reading.findings if "not a multiple of the tp of inference" in each.message)
    assert error.help == "set `inference.model.tensor_model_parallel_size: 2`"
