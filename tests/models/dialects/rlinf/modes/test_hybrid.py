"""What the programs of embodied jobs and of fine-tuning start is placed."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.reading import Reading

from .conftest import Job, codes, found


@pytest.mark.parametrize(
    ("task", "placed", "missing"),
    [
        ("embodied", "env", ""),
        ("embodied", "actor,rollout", "env"),
        ("embodied_eval", "env,rollout", ""),
        ("embodied_eval", "env", "rollout"),
        ("sft", "actor", ""),
        ("sft", "env,rollout", "actor"),
        ("offline", "actor", ""),
        ("offline", "env", "actor"),
    ],
)
def test_what_every_program_starts_is_placed(job: Job, task: str, placed: str, missing: str) -> None:
    errors = found(job({placed: "all"}, runner__task_type=task), Severity.ERROR)
    assert [(each.code, each.subject) for each in errors] == ([("PW123", missing)] if missing else [])


def test_offline_jobs_that_evaluate_need_environments(job: Job) -> None:
    evaluates = {"runner__task_type": "offline", "runner__val_check_interval": 5}
    assert codes(job({"actor": "all"}, **evaluates)) == {"PW123"}
    assert codes(job({"actor,env,rollout": "all"}, **evaluates)) == set()


def test_programs_that_train_start_more(job: Job) -> None:
    training = {"runner__task_type": "embodied", "actor__training_backend": "fsdp"}
    warned = found(job({"env,rollout": "all"}, **training), Severity.WARNING)
    assert [(each.code, each.subject) for each in warned] == [("PW123", "actor")]
    assert found(job({"env": "all"}, runner__only_eval=True, **training), Severity.WARNING) == []


def test_what_may_stand_elsewhere_is_not_missed(read: Callable[..., Reading]) -> None:
    text = "runner: {task_type: embodied}\ncluster: {num_nodes: 1, component_placement: {actor: all}}\n"
    assert codes(read(text, "x8")) == {"PW123"}
    assert codes(read(f"defaults: [base]\n{text}", "x8")) == set()
