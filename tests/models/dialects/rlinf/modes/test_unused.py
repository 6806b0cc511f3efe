"""Components that nothing would start."""

from __future__ import annotations

from .conftest import Job, found


def said(job: Job, components: dict[str, str], **settings: object) -> list[tuple[str, str, str]]:
    reading = job(components, **settings)
    return [(finding.severity.value, finding.subject, finding.help) for finding in found(reading) if finding.code == "PW803"]


def test_a_misspelt_name_is_warned_of_with_what_was_meant(job: Job) -> None:
    assert said(job, {"actr": "0-3", "rollout,env": "4-7"}, runner__task_type="embodied") == [("warning", "actr", "write `actor`")]


def test_a_section_of_its_own_means_that_somebody_uses_it(job: Job) -> None:
    parts = {"actor,rollout,env": "all", "helper": "0"}
    assert said(job, parts, runner__task_type="embodied", helper__group_name="Helpers") == []
    assert [name for _, name, _ in said(job, parts, runner__task_type="embodied")] == ["helper"]


def test_what_other_tasks_start_is_a_remark(job: Job) -> None:
    assert said(job, {"actor,env,rollout": "all"}, runner__task_type="sft") == [("note", "env", "")]


def test_nothing_is_said_where_the_task_or_a_part_of_the_file_is_not_known(job: Job) -> None:
    assert said(job, {"actr": "all"}, runner__task_type=None) == []
    assert said(job, {"actr": "all"}, runner__task_type="embodied", defaults=["base"]) == []
