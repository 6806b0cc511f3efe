"""Accelerators of several models: what nothing tells apart is one kind; where something does, nobody says more than was searched."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.planner.verify import why_not

BOTH = "1x4xH100+1x4xA100"
HETEROGENEOUS = "{workflow: rollout => actor, scope: [heterogeneous]}"


def written(folder: Path, components: str, cluster: str = BOTH, plan: str = "{workflow: rollout => actor}") -> str:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {each.strip()}" for each in components.strip().splitlines())
    file.write_text(f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    return str(file)


def solved(folder: Path, components: str, cluster: str = BOTH, plan: str = "{workflow: rollout => actor}") -> Answer:
    return pw.solve(written(folder, components, cluster, plan), sandbox=False)


def test_a_component_may_be_on_models_that_nothing_tells_apart(tmp_path: Path) -> None:
    """It was measured on 8, and no model has as many."""
    parts = "actor: {accelerators: 2-8, seconds: {8: 50}, phase: train}\nrollout: {accelerators: 8, seconds: {8: 40}, phase: generate}"
    answer = solved(tmp_path, parts)
    assert answer.planned is not None and answer.planned.proved
    (kind,) = answer.planned.question.kinds
    assert (kind.model, kind.accelerators, kind.models) == ("H100 and A100", 8, ("H100", "A100"))
    assert answer.planned.best.nanoseconds == 90 * 10**9


@pytest.mark.parametrize(
    ("more", "cluster"),
    [
        (", accelerator: A100", BOTH),
        ("", "1x4xH100+1x4x910B"),
    ],
    ids=["one names its model", "two vendors"],
)
def test_models_that_differ_in_what_is_asked_stay_apart(more: str, cluster: str, tmp_path: Path) -> None:
    parts = f"actor: {{accelerators: 2-8, seconds: {{8: 50}}, phase: train}}\nrollout: {{accelerators: 1-4, seconds: {{8: 40}}, phase: generate{more}}}"
    answer = solved(tmp_path, parts, cluster)
    assert answer.planned is not None
    assert len(answer.planned.question.kinds) == 2 and answer.planned.best.design.options["actor"].amount <= 4
    assert "actor" in answer.planned.question.of_one_kind


@pytest.mark.parametrize("memory", [0, 20, 50])
@pytest.mark.parametrize("more", ["1x4xH200", "1x2xA100-40GB", "1x4x4090"])
def test_more_nodes_make_no_plan_slower(more: str, memory: int, tmp_path: Path) -> None:
    """Whatever memory they have: those before them are as good as each other still."""
    parts = "\n".join(
        f"{name}: {{accelerators: 2-8, seconds: {{8: 50}}, phase: {name}, memory: {memory}GiB}}" for name in ("actor", "rollout")
    )
    fewer, answer = solved(tmp_path, parts), solved(tmp_path, parts, f"{BOTH}+{more}")
    assert fewer.planned is not None and fewer.planned.best.nanoseconds == 100 * 10**9
    assert answer.planned is not None and answer.plan is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds <= fewer.planned.best.nanoseconds


def test_own_ranks_on_several_models_have_a_price(tmp_path: Path) -> None:
    """RLinf's `all` was measured on both, so that this is the time of the file itself."""
    file = tmp_path / "run.yaml"
    file.write_text(
        'cluster: {num_nodes: 2, component_placement: {"actor,rollout,reward": all}}\n'
        "runner: {task_type: reasoning}\nalgorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: false}\n"
        "data: {rollout_batch_size: 64}\n"
        "rollout: {tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}\n"
        "actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}\nprofile_data: {rollout_cost: 100, actor_cost: 20}\n",
        encoding="utf-8",
    )
    account = pw.account(str(file), cluster="1x4xH100+1x4xA800")
    assert account is not None and account.own is not None and account.own.priced is not None
    assert account.own.priced.nanoseconds == 120 * 10**9
    assert account.planned.best.nanoseconds <= 120 * 10**9


@pytest.mark.parametrize("more", ["", "+1x4x910B", "+1x4x910B+1x2xH200"])
def test_given_ranks_may_be_on_models_that_nothing_tells_apart(more: str, tmp_path: Path) -> None:
    """Whatever other nodes there are."""
    parts = "actor: {placement: 0-7, seconds: {8: 50}, phase: train}\nrollout: {accelerators: 1-8, seconds: {8: 50}, phase: generate, within: actor}"
    answer = solved(tmp_path, parts, BOTH + more)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == 100 * 10**9


SPREAD = [
    "actor: {accelerators: 3, accelerator: H100, seconds: {3: 50}}\nrollout: {accelerators: 3, accelerator: A100, seconds: {3: 50}}\naux: {accelerators: 2}",
    "actor: {accelerators: 6, seconds: {8: 50}, phase: train}\nrollout: {accelerators: 1-8, accelerator: H100, seconds: {3: 50}, phase: generate}",
    "actor: {accelerators: 6-8, seconds: {8: 50}, phase: train}\n"
    'rollout: {placement: "2-5", seconds: {4: 50}, phase: generate, within: actor}\nreward: {accelerators: 1, accelerator: H100, within: actor}',
]


@pytest.mark.parametrize("parts", SPREAD, ids=["without times", "with times", "given ranks"])
def test_what_may_only_be_on_several_kinds_is_planned_in_that_scope(parts: str, tmp_path: Path) -> None:
    assert solved(tmp_path, parts).planned is None
    answer = solved(tmp_path, parts, plan=HETEROGENEOUS)
    assert answer.planned is not None and answer.planned.proved and answer.plan is not None
    assert any(len({run.node for run in answer.plan.assignment.of(name)}) > 1 for name in answer.plan.assignment.runs)
    problem = pw.load(str(tmp_path / "job.yaml")).problem
    assert problem is not None and not list(why_not(problem))


def test_a_count_that_no_kind_has_alone_is_no_reason(tmp_path: Path) -> None:
    """Five of `c` could be on both kinds at once; two of `b` are not the five of `a`, wherever they are."""
    parts = (
        "a: {seconds: {3: 49}, accelerators: 5}\n"
        "b: {seconds: [{accelerators: 4, seconds: 67, accelerator: A100}], accelerators: 2, parallel: {tp: [2, 4]}, colocate_with: a}\n"
        "c: {seconds: {3: 35, 5: 21}, scaling: table, accelerators: 5}"
    )
    answer = pw.solve(written(tmp_path, parts, plan="{workflow: a -> b -> c, scope: heterogeneous}"), sandbox=False)
    (finding,) = answer.findings
    assert answer.verdict == IMPOSSIBLE and any("a asks for 5" in note for note in finding.notes)
    assert not any("c asks for" in note for note in finding.notes)


def test_what_is_impossible_on_any_kinds_is_impossible(tmp_path: Path) -> None:
    parts = (
        "actor: {accelerators: 6, seconds: {8: 50}, memory: 90GiB, phase: train}\n"
        "rollout: {accelerators: 5-8, accelerator: H100, seconds: {3: 50}, phase: generate}"
    )
    answer = solved(tmp_path, parts, plan=HETEROGENEOUS)
    assert answer.verdict == IMPOSSIBLE
    first, second = answer.findings
    assert first.message == "impossible: no plan can run `actor`: actor needs 90 GiB on each accelerator (the largest has 80 GiB)"
    assert second.message == "impossible: no plan can run `rollout` with all of its demands"
    assert any(note.startswith("rollout asks for 5-8") for note in second.notes), second.notes
