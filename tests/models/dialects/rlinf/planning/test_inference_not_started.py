"""Where actor and rollout share accelerators RLinf starts no inference: its memory counts nowhere there, and the actor does its work."""

from __future__ import annotations

import pytest
from placewright.models.answer import Answer
from placewright.models.dialects import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.measured import SECOND
from placewright.models.planning.planned import Planned
from placewright.models.text.source import Source
from placewright.solver.planning.after.accounting import account_of
from placewright.solver.verify import verify
from placewright.solving import solve

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


def planned(actor: str, rollout: str, inference: str, reward: str = "memory: 0GiB") -> tuple[Answer, Planned]:
    text = FILE.format(actor=actor, rollout=rollout, inference=inference, reward=reward)
    reading = load.read(Source("run.yaml", text), read_shorthand("1x4xH100"), "rlinf", "training")
    assert not verify(reading).errors
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None, answer.findings
    return answer, answer.planned


@pytest.mark.parametrize("inference", ["memory: 30GiB", "memory: 90GiB", "memory: 90GiB, phase: infer"])
def test_ranks_that_verify_accepts_are_the_plan_and_their_own(inference: str) -> None:
    """An arrangement of 162.5 seconds was called proved, since 90 GiB were not there."""
    answer, found = planned("memory: 30GiB", "memory: 30GiB", inference)
    assert found.proved and found.best.nanoseconds == COLLOCATED
    assert {option.amount for option in found.best.design.options.values()} == {4}
    assert not any("inference" in each.subject for each in answer.unchecked)


def test_the_bill_has_what_is_started_alone() -> None:
    text = FILE.format(actor="memory: 30GiB", rollout="memory: 30GiB", inference="memory: 30GiB", reward="memory: 1GiB")
    reading = load.read(Source("run.yaml", text), read_shorthand("1x4xH100"), "rlinf", "training")
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None
    (bill,) = account_of(reading.to_solve.problem, answer.planned).bills
    assert {entry.component for moment in bill.moments for entry in moment.entries} == {"actor", "rollout", "reward"}
    assert bill.peak.mebibytes == 61 << 10


@pytest.mark.parametrize(("reward", "seconds"), [("5GiB", 110), ("20GiB", 182.5)])
def test_the_actor_works_in_the_phase_of_what_it_does_the_work_of(reward: str, seconds: float) -> None:
    """Beside 70 GiB of the actor, reward has room in that phase with 5 GiB, and none with 20."""
    phases = ("memory: 70GiB, phase: train", "memory: 70GiB, phase: generate", "memory: 60GiB, phase: infer")
    _, found = planned(*phases, f"memory: {reward}, phase: infer")
    assert found.proved and found.best.nanoseconds == seconds * SECOND
