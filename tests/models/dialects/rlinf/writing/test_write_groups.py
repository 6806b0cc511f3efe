"""Node groups whose ranks are not those of the whole cluster: a plan stays in them, and the file that is written verifies."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.span import apply_edits
from placewright.planner.verify import verify
from placewright.planner.write_back import edits_of

FILE = """\
cluster:
  num_nodes: 4
  node_groups:
    - {label: a, node_ranks: 0-1}
    - {label: h, node_ranks: 2-3}
  component_placement:
    actor,rollout,reward: {node_group: h, placement: all}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 4, recompute_logprobs: true}
data: {rollout_batch_size: 256}
rollout: {rollout_backend: sglang, tensor_parallel_size: 2, pipeline_parallel_size: 1, max_running_requests: 64}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 2}}
"""
PROFILE = "profile_data: {rollout_cost: 95.7, actor_cost: 59.9, inference_cost: 30.8}\n"
SECONDS = "actor: {seconds: {16: 59.9, 4: 120}}, rollout: {seconds: {16: 95.7, 8: 98}}, inference: {seconds: {16: 30.8}}"
LINES = """\
placewright:
  components:
    actor: {parallel: {tp: [2, 4]}, seconds: {16: 59.9, 4: 120}}
    rollout:
      seconds: {16: 95.7, 8: 98}  # measured
    inference: {seconds: {16: 30.8}, node_group: h}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "times",
    [PROFILE, PROFILE + "placewright:\n  plan: {batches: 256}\n", f"placewright: {{components: {{{SECONDS}}}}}\n", LINES],
)
def test_the_file_that_is_written_verifies_with_all_components_in_their_group(tmp_path: Path, times: str) -> None:
    file, text = tmp_path / "run.yaml", FILE + times
    file.write_text(text)
    first = pw.solve(file, "x8", sandbox=False)
    edits, findings = edits_of(pw.load(file, "x8").to_solve, first)
    assert [each.code for each in findings] == ["PW604"] * times.startswith(PROFILE)  # costs count for other ranks then
    file.write_text(apply_edits(text, edits))
    for level in ("placement", "training"):
        assert verify(pw.load(file, "x8", level=level)).errors == ()
    assert first.plan is not None
    assert all(run.node in (2, 3) for runs in first.plan.assignment.runs.values() for run in runs)


def test_where_all_stays_in_the_group_its_hints_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(FILE + "profile_data: {rollout_cost: 80, actor_cost: 60, inference_cost: 10}\n")
    reading = pw.load(file, "x8").to_solve
    edits, _ = edits_of(reading, pw.solve(file, "x8", sandbox=False))
    assert edits == []
