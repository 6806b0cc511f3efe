"""Where actor and rollout share accelerators RLinf starts no inference: its memory counts nowhere there, and the actor does its work."""

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


@pytest.mark.parametrize(("reward", "faults", "seconds"), [("5GiB", [], 110), ("20GiB", ["PW501"], 182.5)])
def test_the_actor_works_in_the_phase_of_what_it_does_the_work_of(reward: str, faults: list[str], seconds: float) -> None:
    """Beside 70 GiB of the actor, reward has room in that phase with 5 GiB, and none with 20: `verify` counted no actor there."""
    reading = read(*PHASES, "memory: 60GiB, phase: infer", f"memory: {reward}, phase: infer")
    assert refused(reading) == faults
    _, found = solved(reading)
    assert found.proved and found.best.nanoseconds == seconds * SECOND


def test_so_it_does_whatever_else_the_hints_of_inference_say() -> None:
    reading = read(*PHASES, "phase: [infer, train], colocate_with: actor", "memory: 20GiB, phase: infer")
    assert refused(reading) == ["PW501"]
    assert reading.problem is not None and reading.problem["actor"].phases == ("train", "infer")


def test_phases_of_times_are_those_in_which_what_does_the_work_has_its_memory() -> None:
    in_phase = FILE.replace("inference: {{seconds: {{4: 20}}, ", "inference: {{seconds: {{infer: {{4: 20}}}}, ")
    assert refused(read(*PHASES, "memory: 60GiB", "memory: 20GiB, phase: infer", in_phase)) == ["PW501"]
    assert not refused(read(*PHASES, "memory: 60GiB", "memory: 5GiB, phase: infer", in_phase))


def test_without_times_of_inference_the_actor_works_in_its_phase_too() -> None:
    """Then actor and rollout can only share accelerators, and the plan counts what `verify` does: reward has to be elsewhere."""
    untimed = FILE.replace("inference: {{seconds: {{4: 20}}, ", "inference: {{")
    reading = read(*PHASES, "phase: infer", "memory: 20GiB, phase: infer", untimed)
    assert refused(reading) == ["PW501"]
    _, apart = solved(reading)
    assert apart.best.nanoseconds == 180 * SECOND
    assert [block.accelerators for block in apart.best.design.blocks if block.components == ("actor", "rollout")] == [2]
    _, found = solved(read(*PHASES, "phase: infer", "memory: 5GiB, phase: infer", untimed))
    assert found.best.nanoseconds == 90 * SECOND


def test_nobody_works_in_the_phase_of_inference_that_nobody_asks_for() -> None:
    never = FILE.replace("recompute_logprobs: true", "recompute_logprobs: false").replace("return_logprobs: false", "return_logprobs: true")
    reading = read(*PHASES, "memory: 60GiB, phase: infer", "memory: 20GiB, phase: infer", never)
    assert not refused(reading)
    _, found = solved(reading)
    assert found.best.nanoseconds == 90 * SECOND


def test_who_has_its_memory_all_the_time_is_in_no_phase() -> None:
    reading = read("memory: 30GiB", "memory: 30GiB", "memory: 30GiB, phase: infer")
    assert reading.problem is not None and reading.problem["actor"].phases == ()


def test_the_critic_works_in_the_phase_of_the_inference_of_values() -> None:
    critic = (
        FILE.replace('reward: "0-3"', 'reward: "0-3", critic: "0-3"')
        .replace("placewright:\n", "critic: {{use_critic_model: true, training_backend: megatron, model: {{tensor_model_parallel_size: 1}}}}\nplacewright:\n")
        .replace("    reward:", "    critic: {{seconds: {{4: 10}}, phase: train}}\n    critic_inference: {{seconds: {{4: 10}}, phase: judge}}\n    reward:")
    )  # fmt: skip
    reading = read(*PHASES, "phase: infer", file=critic)
    assert not refused(reading) and reading.problem is not None
    assert {each.name: each.phases for each in reading.problem.components if each.phases} == {
        "actor": ("train", "infer"), "rollout": ("generate",), "critic": ("train", "judge"),
    }  # fmt: skip


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
        (
            1,
            "parallel: {tp: [8, 16]}",
            "impossible: no plan can run `inference`: inference has tp 8 or tp 16 (the largest node has 4 accelerators)",
        ),
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
