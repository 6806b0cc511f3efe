"""Components that are left to solve obey the mode too."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, IN_ORDER
from placewright.models.reading import Reading

from .conftest import Job

QUIET = {"algorithm__recompute_logprobs": False, "rollout__return_logprobs": True}
MEGATRON = {"actor__training_backend": "megatron", "actor__model__tensor_model_parallel_size": 4}


def hinted(job: Job, hints: dict[str, Any], machines: str = "x8", nodes: int = 2, **settings: Any) -> Reading:
    return job({}, machines, nodes, placewright__components=hints, **{**QUIET, **settings})


def demanded(reading: Reading) -> set[tuple[str, tuple[str, ...]]]:
    assert reading.problem is not None
    return {(relation.kind, relation.components) for relation in reading.problem.job.relations if relation.reason}


def test_what_is_to_be_found_takes_the_shape_that_the_settings_give(job: Job) -> None:
    hints = {"actor": {"accelerators": 8}, "rollout": {"accelerators": 8, "colocate_with": "actor"}, "reward": {"accelerators": 1}}
    reading = hinted(job, hints, rollout__tensor_parallel_size=2, **MEGATRON)
    assert reading.problem is not None and not reading.findings
    actor, rollout = reading.problem["actor"], reading.problem["rollout"]
    assert (actor.parallel.tp, actor.contiguous) == (4, True)
    assert (rollout.per_process, rollout.stride, rollout.contiguous) == (2, 2, True)
    assert (COLOCATED, ("actor", "rollout")) in demanded(reading)


@pytest.mark.parametrize(
    ("more", "settings", "expected"),
    [
        ({}, {}, (DISJOINT, ("actor", "rollout"))),
        ({"rollout": {"accelerators": "4-8"}, "actor": {"accelerators": "4-8"}}, {}, (COLOCATED_OR_DISJOINT, ("actor", "rollout"))),
        ({"rollout": {"accelerators": 8}}, {}, (COLOCATED, ("actor", "rollout"))),
        ({"rollout": {"accelerators": 8}, "reward": {"colocate_with": "actor"}}, {}, (COLOCATED_OR_DISJOINT, ("actor", "rollout"))),
        (
            {"rollout": {"accelerators": 8, "colocate_with": "reward"}, "reward": {"colocate_with": "actor"}},
            {},
            (COLOCATED, ("actor", "rollout")),
        ),
        (
            {"rollout": {"accelerators": 8}, "reward": {"accelerators": 1, "within": "actor"}},
            {},
            (COLOCATED_OR_DISJOINT, ("actor", "rollout")),
        ),
        ({"rollout": {"accelerators": "4-8", "within": "actor"}}, {}, (COLOCATED, ("actor", "rollout"))),
        ({"rollout": {"processes": "2-4"}}, {"rollout__tensor_parallel_size": 4}, (COLOCATED, ("actor", "rollout"))),
        ({"rollout": {"accelerators": "4-8"}}, {"algorithm__recompute_logprobs": True}, (COLOCATED, ("actor", "rollout"))),
        ({}, {"rollout__pipeline_parallel_size": 2}, (DISJOINT, ("actor", "rollout"))),
        ({"inference": {"accelerators": 2}}, {}, (DISJOINT, ("rollout", "inference"))),
        ({"critic": {"accelerators": 2}}, {}, (DISJOINT, ("rollout", "critic"))),
        ({}, {"runner__task_type": "coding_online_rl"}, (DISJOINT, ("actor", "rollout"))),
        ({}, {"cluster__auto_scheduler": True}, (IN_ORDER, ("actor", "rollout"))),
    ],
)
def test_the_arrangement_follows_from_the_hints_the_task_and_the_other_components(
    job: Job, more: dict[str, Any], settings: dict[str, Any], expected: tuple[str, tuple[str, ...]]
) -> None:
    hints = {"actor": {"accelerators": 8}, "rollout": {"accelerators": 4}, "reward": {"accelerators": 1}, **more}
    assert expected in demanded(hinted(job, hints, **settings))


def test_hints_against_the_settings_contradict_them(job: Job) -> None:
    hints = {
        "actor": {"accelerators": 6, "parallel": {"tp": 2}},
        "rollout": {"accelerators": 8, "accelerators_per_process": 4},
        "reward": {"accelerators": 1},
    }
    reading = hinted(job, hints, **MEGATRON)
    assert sorted(finding.code for finding in reading.findings) == ["PW121", "PW121", "PW208"]


def test_degrees_that_the_settings_fix_are_no_longer_open(job: Job) -> None:
    hints = {"actor": {"accelerators": 8, "parallel": {"tp": [4, 2]}}, "rollout": {"accelerators": 4}, "reward": {"accelerators": 1}}
    reading = hinted(job, hints, actor__model__pipeline_model_parallel_size=2, **MEGATRON)
    assert reading.problem is not None and "actor" not in reading.problem.job.choices

    reading = hinted(job, hints, **{**MEGATRON, "actor__model__tensor_model_parallel_size": 2})  # the second of them
    assert reading.problem is not None and reading.problem["actor"].parallel.tp == 2 and not reading.findings


@pytest.mark.parametrize("name", ["actor", "critic", "inference"])
@pytest.mark.parametrize("tp", [2, 4, [2, 4]])
def test_a_tp_of_what_fsdp_trains_divides_nothing(job: Job, name: str, tp: int | list[int]) -> None:
    settings = {"actor__training_backend": "fsdp", "critic__training_backend": "fsdp", "actor__model__tensor_model_parallel_size": 2}
    hints: dict[str, Any] = {each: {"accelerators": 2} for each in ("actor", "rollout", "reward", name)}
    hints[name] = {"accelerators": 3, "parallel": {"tp": tp}}
    reading = hinted(job, hints, **settings)
    assert reading.problem is not None and [each for each in reading.findings if each.code in ("PW121", "PW208")] == []
    assert reading.problem[name].step == 1 and name not in reading.problem.job.choices
    hints["actor"] = {"accelerators": 1}
    assert "PW208" in {each.code for each in hinted(job, hints, **settings).findings}


def test_of_an_embodied_actor_no_tp_is_read(job: Job) -> None:
    hints = {"actor": {"accelerators": 1, "parallel": {"tp": 2}}, "env": {"accelerators": 1}, "rollout": {"accelerators": 1}}
    reading = hinted(job, hints, runner__task_type="embodied", actor__training_backend="fsdp")
    assert reading.problem is not None and reading.problem["actor"].step == 1
    assert [each for each in reading.findings if each.code == "PW208"] == []


def test_processes_are_engines_of_as_many_accelerators_as_the_settings_say(job: Job) -> None:
    hints = {"actor": {"accelerators": 4}, "rollout": {"processes": "1-2"}, "reward": {"colocate_with": "actor"}}
    reading = hinted(job, hints, rollout__tensor_parallel_size=4, **MEGATRON)
    assert reading.problem is not None and not reading.findings
    assert (reading.problem["rollout"].least, reading.problem["rollout"].most) == (4, 8)
    hints["rollout"] = {"processes": [1, 3]}
    listed = hinted(job, hints, rollout__tensor_parallel_size=4, **MEGATRON).problem
    assert listed is not None and listed["rollout"].counts == ((4, 4), (12, 12))
    hints["rollout"] = {"processes": 2, "accelerators": 4}
    assert [finding.code for finding in hinted(job, hints, rollout__tensor_parallel_size=4, **MEGATRON).findings] == ["PW121"]


def test_an_actor_gets_no_fewer_accelerators_than_its_tp(job: Job) -> None:
    settings = {"actor__training_backend": "fsdp", "actor__model__tensor_model_parallel_size": 4}
    hints = {"actor": {"accelerators": "1-8"}, "rollout": {"colocate_with": "actor"}, "reward": {"accelerators": 1}}
    reading = hinted(job, hints, **settings)
    assert reading.problem is not None and reading.problem["actor"].least == 4
    hints["actor"] = {"accelerators": [1, "3-6", 8]}
    listed = hinted(job, hints, **settings).problem
    assert listed is not None and listed["actor"].counts == ((4, 6), (8, 8))
    hints["actor"] = {"accelerators": 2}
    assert [finding.code for finding in hinted(job, hints, **settings).findings] == ["PW208"]


def test_what_is_packed_is_not_asked_for_on_nodes(job: Job) -> None:
    hints = {"actor": {"accelerators": 4}, "rollout": {"accelerators": 4}, "reward": {"node_group": "node", "processes": 1}}
    assert [finding.code for finding in hinted(job, hints).findings] == ["PW121"]


def test_of_a_shape_that_is_not_known_only_the_range_is(job: Job) -> None:
    components = {"actor": {"node_group": "node", "placement": "0"}, "reward": "0"}
    reading = job(components, placewright__components={"rollout": {"accelerators": 2}}, **QUIET)
    assert reading.problem is not None and reading.problem["rollout"].contiguous
