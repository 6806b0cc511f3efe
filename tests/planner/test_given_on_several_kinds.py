"""Ranks on several kinds of accelerators are out of scope of a plan, and that is said."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.planning.workload import SECOND
from placewright.report.planning.own import own_placement

BOTH = "1x4xH100+1x4xA100"
ACTOR = "actor: {accelerators: 1-4, seconds: {1: 12, 2: 7, 3: 5, 4: 4}, accelerator: H100, phase: train}"


def solved(folder: Path, *components: str, plan: str = "{cost_model: stages}") -> Answer:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {component}" for component in components)
    file.write_text(f"cluster: {BOTH}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("judge", ['placement: "3-4", seconds: {2: 2}, phase: infer', 'placement: "3-4", within: [actor]'])
@pytest.mark.parametrize("plan", ["{cost_model: stages}", "{cost_model: stages, scope: [nested]}"])
def test_given_ranks_on_several_kinds_are_undecided(judge: str, plan: str, tmp_path: Path) -> None:
    answer = solved(tmp_path, ACTOR, f"judge: {{{judge}}}", plan=plan)
    assert answer.verdict == UNDECIDED != IMPOSSIBLE
    assert answer.findings[0].message == (
        "undecided: `judge` is out of scope, as its given ranks are on several kinds of accelerators (H100 and A100)"
    )


def test_what_is_neither_timed_nor_related_is_planned_around(tmp_path: Path) -> None:
    answer = solved(tmp_path, ACTOR, 'judge: {placement: "3-4"}')
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == 5 * SECOND
    assert answer.planned.best.accelerators(answer.planned.question) == 3 + 2


ROWS = ", ".join(
    f"{{accelerators: {count}, accelerator: {model}, seconds: {seconds}}}"
    for count in (8, 16)
    for model, seconds in (("H100", 20), ("A100", 50))
)
RLINF = f"""
cluster: {{num_nodes: 2, component_placement: {{"actor,rollout,reward": all}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 8, n_minibatches: 1, recompute_logprobs: false}}
data: {{rollout_batch_size: 64}}
rollout: {{tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: 1}}}}
placewright:
  components:
    actor: {{seconds: [{ROWS}]}}
    rollout: {{seconds: [{ROWS}]}}
"""
HETEROGENEOUS = "  plan: {scope: [heterogeneous]}\n"


def test_own_ranks_on_several_kinds_have_a_price_in_that_scope_alone(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(RLINF, encoding="utf-8")
    account = pw.account(str(tmp_path / "run.yaml"), "1x8xH100+1x8xA100", sandbox=False, searches=0)
    assert account.planned.proved
    assert own_placement(account) == (
        "yours: it has no price under this cost model: `actor` is on H100 and A100, which only `scope: [heterogeneous]` compares"
    )
    (tmp_path / "run.yaml").write_text(RLINF + HETEROGENEOUS, encoding="utf-8")
    account = pw.account(str(tmp_path / "run.yaml"), "1x8xH100+1x8xA100", sandbox=False, searches=0)
    assert own_placement(account).startswith("yours: 100 seconds, ")
