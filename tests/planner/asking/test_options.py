"""Which ways to run a component are looked at."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.planner import benders as rounds

VERL = """
data: {train_batch_size: 256}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  model: {path: Qwen/Qwen2.5-7B-Instruct}
  actor: {strategy: fsdp, ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 4}
  rollout: {name: vllm, tensor_model_parallel_size: OWN, n: 8, log_prob_micro_batch_size_per_gpu: 8}
trainer: {nnodes: 1, n_gpus_per_node: 8}
placewright:
  components:
    actor: {seconds: {train: {8: 120}}}
    rollout: {parallel: {tp: [1, 2, 4]}, seconds: {generate: {8: 200}}}
"""


@pytest.mark.parametrize("own", [1, 2, 4])
def test_where_degrees_are_as_good_those_of_the_file_stay(own: int, tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text(VERL.replace("OWN", str(own)))
    planned = pw.solve(file, "1x8xH100").planned
    assert planned is not None
    assert planned.best.design.options["rollout"].parallel.tp == own


KEPT = """
cluster:
  nodes:
  - accelerators: {count: 4, taken: [3]}
  - accelerators: {count: 4}
  - accelerators: {count: 4}
components:
  actor: {accelerators: 3-10, keep: {component: node}, seconds: {6: 19.51, 8: 13.495, 11: 9.972}}
  rollout: {accelerators: 1-11, seconds: {6: 20.412, 9: 16.667}, exclude: [0]}
  critic: {accelerators: 1-11, seconds: {4: 5.0, 7: 3.78}, exclude: [0]}
  judge: {placement: '10', seconds: {2: 28.717, 7: 11.595}}
relations: [{kind: subset, components: [judge, actor]}]
plan: {workflow: [rollout => judge, rollout -> actor, rollout -> critic, judge -> critic], batches: 1, nested: true}
"""


@pytest.mark.slow
def test_what_is_kept_together_is_asked_for_no_more_than_one_domain_has(tmp_path: Path) -> None:
    """Of eight counts six have no place on a node: after twelve designs with these it was undecided."""
    file = tmp_path / "kept.yaml"
    file.write_text(KEPT)
    planned = pw.solve(file, sandbox=False).planned
    assert planned is not None and planned.proved
    assert planned.best.design.options["actor"].amount == 4


MANY = """
cluster: 4x8xH100
components:
  rollout: {accelerators: 1-32, parallel: {tp: [1, 2, 4]}, seconds: {8: 90, 32: 30}, memory: 20GiB}
  actor: {accelerators: 1-32, parallel: {tp: [1, 2]}, seconds: {8: 60, 32: 20}, memory: 30GiB}
plan: {workflow: rollout -> actor, batches: 4}
"""


def test_what_it_takes_to_list_options_is_time_that_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(MANY, encoding="utf-8")
    spent, each = [], rounds.ASKED
    for counted in (0.0, each):
        monkeypatch.setattr(rounds, "ASKED", counted)
        planned = pw.solve(file, sandbox=False).planned
        assert planned is not None and planned.proved
        spent.append(planned.spent)
    assert spent[1] - spent[0] >= 0.99 * each * sum(map(len, planned.question.options.values())) > 0
