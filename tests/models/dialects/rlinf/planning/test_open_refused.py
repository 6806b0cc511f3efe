"""What is left out of a plan as RLinf refuses it, and what is warned of."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.findings.finding import Severity
from placewright.models.planning.arrangement import CountConstraint

from .opened import APART, Read, problem, text


def test_apart_is_left_out_where_the_file_has_no_settings_for_it(read: Read) -> None:
    whole = text().replace("rollout: {", "rollout: {group_name: R, ")
    reading = read(whole).to_solve
    assert [way.name for way in problem(reading).job.planning.ways] == ["collocated"]
    (finding,) = (each for each in reading.findings if each.message.startswith("only plans"))
    assert finding.notes[0].startswith("the file has no `inference`")
    section = "inference: {group_name: I, load_from_actor: true, model: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 1, sequence_parallel: true}}\n"
    assert len(problem(read(whole + section).to_solve).job.planning.ways) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("task_type: reasoning", "task_type: reasoning, enable_dynamic_batch_size: true"),
        ("actor: {", "actor: {enable_dp_load_balance: true, "),
    ],
)
def test_apart_is_left_out_where_what_trains_refuses_it(read: Read, old: str, new: str) -> None:
    reading = read(text().replace(old, new)).to_solve
    assert [way.name for way in problem(reading).job.planning.ways] == ["collocated"]
    assert any("training refuses" in note for finding in reading.findings for note in finding.notes)


def test_a_job_that_has_no_way_left_is_impossible(read: Read) -> None:
    coding = text(APART).replace("task_type: reasoning", "task_type: coding_online_rl, enable_dynamic_batch_size: true")
    (finding,) = (each for each in read(coding).to_solve.findings if each.code == "PW601")
    assert finding.severity is Severity.ERROR and "neither share their accelerators nor be apart" in finding.message


def test_counts_apart_leave_no_engine_without_weights(read: Read) -> None:
    assert all(not way.multiples for way in problem(read(text()).to_solve).job.planning.ways)  # no whole job
    whole = (
        text()
        .replace("recompute_logprobs: true", "recompute_logprobs: false")
        .replace("rollout: {", "rollout: {group_name: R, rollout_backend: vllm, ")
    )
    _, apart = problem(read(whole).to_solve).job.planning.ways
    assert apart.multiples == (CountConstraint("rollout", "actor", 4),)


def test_rollout_apart_from_an_actor_whose_degrees_are_open_is_proved(read: Read) -> None:
    """The shortest would be tp 4 of the actor beside 2 accelerators of rollout, which would get no weights; with tp 2 they do."""
    whole = (
        text()
        .replace("num_nodes: 2", "num_nodes: 1")
        .replace("recompute_logprobs: true", "recompute_logprobs: false")
        .replace("rollout: {", "rollout: {group_name: R, rollout_backend: vllm, return_logprobs: true, ")
    )
    whole = whole[: whole.index("profile_data")]
    trains = "[{accelerators: 4, tp: 2, seconds: 40}, {accelerators: 4, tp: 4, seconds: 20}]"
    hints = f"actor: {{parallel: {{tp: [2, 4]}}, seconds: {trains}, scaling: table}}, rollout: {{parallel: {{tp: [1, 2]}}, seconds: {{2: 20, 3: 20, 6: 19}}, scaling: table}}"
    answer = solve(read(whole + f"placewright: {{components: {{{hints}}}}}\n"), sandbox=False)
    assert answer.planned is not None
    assert answer.planned.proved
    assert answer.planned.unplaceable == ()
    assert answer.planned.best.nanoseconds == 40_312_500_000


def test_counts_apart_hold_for_whatever_degrees_are_chosen(read: Read) -> None:
    """With tp 2 of the actor rollout may have 2 accelerators, though the file's own tp 4 would leave them without weights, and with it."""
    whole = (
        text()
        .replace("recompute_logprobs: true", "recompute_logprobs: false")
        .replace("rollout: {", "rollout: {group_name: R, rollout_backend: vllm, return_logprobs: true, ")
    )
    for choices, steps in (("[2, 4]", [2, 4]), ("[4, 8]", [4, 8]), ("4", [4])):
        hints = f"placewright: {{components: {{actor: {{parallel: {{tp: {choices}}}, seconds: {{16: 40}}}}, rollout: {{seconds: {{16: 60}}}}}}}}\n"
        planning = problem(read(whole + hints).to_solve).job.planning
        arrangements = [each.ways for each in planning.followed] or [planning.ways]
        assert [apart.multiples for _, apart in arrangements] == [(CountConstraint("rollout", "actor", step),) for step in steps], choices
