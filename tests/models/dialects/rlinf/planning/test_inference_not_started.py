"""Memory of inference that RLinf does not start where actor and rollout share accelerators: it counts nowhere."""

from __future__ import annotations

import pytest
from placewright.api import solve
from placewright.models.answer import Answer
from placewright.models.dialects import load
from placewright.models.findings.finding import Finding, Severity, UnusableInput
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.accounting import account_of
from placewright.planner.verify import verify

FILE = """
cluster: {{num_nodes: 1, component_placement: {{actor: "0-3", rollout: "0-3", reward: "0-3"}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 4, n_minibatches: 1, recompute_logprobs: true}}
data: {{rollout_batch_size: 8}}
rollout: {{tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: false}}
inference: {{load_from_actor: true, model: {{tensor_model_parallel_size: 1}}}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: 1}}}}
placewright:
  components:
    actor: {{seconds: {{4: 40}}, {actor}}}
    rollout: {{seconds: {{4: 50}}, {rollout}}}
    inference: {{seconds: {{4: 20}}, {inference}}}
    reward: {{{reward}}}
"""
COLLOCATED = 110 * SECOND


def read(actor: str, rollout: str, inference: str, reward: str = "memory: 0GiB", file: str = FILE) -> Reading:
    text = file.format(actor=actor, rollout=rollout, inference=inference, reward=reward)
    return load.read(Source("run.yaml", text), read_shorthand("1x4xH100"), "rlinf", "training")


def solved(reading: Reading) -> tuple[Answer, PlanningResult]:
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None, answer.findings
    return answer, answer.planned


def refused(reading: Reading) -> list[str]:
    return [each.code for each in verify(reading).errors]


@pytest.mark.parametrize("inference", ["memory: 30GiB", "memory: 90GiB", "memory: 90GiB, phase: infer"])
def test_ranks_that_verify_accepts_are_the_plan_and_their_own(inference: str) -> None:
    """An arrangement of 162.5 seconds was called proved, since 90 GiB were not there."""
    reading = read("memory: 30GiB", "memory: 30GiB", inference)
    assert not refused(reading)
    answer, found = solved(reading)
    assert found.proved and found.best.nanoseconds == COLLOCATED
    assert {option.amount for option in found.best.design.options.values()} == {4}
    assert not any("inference" in each.subject for each in answer.unchecked)


def test_the_bill_has_what_is_started_alone() -> None:
    reading = read("memory: 30GiB", "memory: 30GiB", "memory: 30GiB", "memory: 1GiB")
    _, found = solved(reading)
    (bill,) = account_of(reading.to_solve.problem, found).bills
    assert {entry.component for moment in bill.moments for entry in moment.entries} == {"actor", "rollout", "reward"}
    assert bill.peak.mebibytes == 61 << 10


PHASES = ("memory: 70GiB, phase: train", "memory: 70GiB, phase: generate")


def test_nobody_works_in_the_phase_of_inference_that_nobody_asks_for() -> None:
    never = FILE.replace("recompute_logprobs: true", "recompute_logprobs: false").replace("return_logprobs: false", "return_logprobs: true")
    reading = read(*PHASES, "memory: 60GiB, phase: infer", "memory: 20GiB, phase: infer", never)
    assert not refused(reading)
    _, found = solved(reading)
    assert found.best.nanoseconds == 90 * SECOND


def test_who_has_its_memory_all_the_time_is_in_no_phase() -> None:
    reading = read("memory: 30GiB", "memory: 30GiB", "memory: 30GiB, phase: infer")
    assert reading.problem is not None and reading.problem["actor"].phases == ()


def why_not(reading: Reading) -> list[Finding]:
    try:
        found = solve(reading, sandbox=False).findings
    except UnusableInput as refused:
        found = refused.findings
    return [each for each in found if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("tp", "hints", "told"),
    [
        (2, "accelerators: 1", "`inference` asks for 1 accelerator, but the settings of the job need a multiple of 2"),
    ],
)
def test_hints_with_which_it_can_never_be_started_may_be_left_out(tp: int, hints: str, told: str) -> None:
    """`verify` takes the file, since RLinf starts no inference there; the plan of the file without these hints is its own placement."""
    file = FILE.replace("model: {{tensor_model_parallel_size: 1}}", f"model: {{{{tensor_model_parallel_size: {tp}}}}}")
    file = file.replace("seconds: {{4: 20}}, {inference}", "{inference}")
    reading = read("", "", hints + ", seconds: {1: 20}", file=file)
    assert not refused(reading)
    (finding,) = why_not(reading)
    assert finding.message == told
    _, found = solved(read("", "", "", file=file.replace("    inference: {{{inference}}}\n", "")))
    assert found.proved and found.is_own


APART = """
cluster: {num_nodes: 1, component_placement: {actor: "4", rollout: "3", inference: "0-2", reward: "4"}}
runner: {task_type: reasoning}
algorithm: {group_size: 4, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 8}
rollout: {tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: false}
inference: {load_from_actor: true, model: {tensor_model_parallel_size: 1}}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}
placewright:
  components:
    actor: {scaling: power, seconds: {2: 58, 4: 44}}
    rollout: {scaling: power, seconds: {1: 135, 3: 82}}
    inference: {INFERENCE}
"""


@pytest.mark.parametrize("hints", ["memory: 1GiB", "scaling: power, seconds: {2: 226, 3: 150}"])
def test_given_ranks_that_samples_do_not_divide_among_are_refused_with_times_too(hints: str) -> None:
    """With times `verify` took them, and the plan then told that they may not be proposed."""
    reading = load.read(Source("run.yaml", APART.replace("INFERENCE", hints)), read_shorthand("1x5"), "rlinf", "training")
    (finding,) = verify(reading).errors
    assert finding.message == "32 samples do not divide among 3 replicas of `inference`"
    assert finding.notes == (
        "32 samples: `data.rollout_batch_size` x `algorithm.group_size`", "RLinf notices this only when it has started"
    )  # fmt: skip
