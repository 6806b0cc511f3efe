"""Why there is no design, in words: of memory, of what a framework demands, of counts, budgets and what has no name."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

from .texts import solved


@pytest.mark.slow
def test_memory_that_is_needed_at_once_is_told_as_a_sum(tmp_path: Path) -> None:
    text = "cluster: 2x8xH100\ncomponents:\n  rollout: {seconds: {8: 55}, colocate_with: actor, memory: 60GiB}\n"
    text += "  actor: {seconds: {8: 60}, memory: 50GiB}\nplan: {workflow: rollout => actor}\n"
    (finding,) = solved(tmp_path, text).findings
    sentence = "rollout and actor together need 110 GiB on one accelerator, the largest usable has 80 GiB"
    assert finding.message == f"impossible: {sentence}" and finding.witnesses == (110 * 1024, 80 * 1024)
    assert "set `memory` of rollout to 30GiB instead of 60GiB" in finding.help
    assert solved(tmp_path, text.replace("60GiB", "30GiB")).plan is not None


def test_what_the_framework_demands_is_not_told_to_be_dropped(tmp_path: Path) -> None:
    """Who shares a pool of verl is on the same accelerators: the file can only drop its own demand, or leave more counts open."""
    script = (
        "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2 "
        "data.train_batch_size=256 actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.name=vllm algorithm.adv_estimator=grpo '+placewright.components.actor={seconds: {8: 100}, %s}' "
        "'+placewright.components.rollout={seconds: {8: 180}, %s}'\n"
    )

    def told(actor: str, rollout: str) -> tuple[tuple[str, ...], str]:
        (tmp_path / "run.sh").write_text(script % (actor, rollout))
        (finding,) = pw.solve(tmp_path / "run.sh", cluster="8x8xH100", sandbox=False).findings
        return finding.notes, finding.help

    reason = "verl runs all roles of a pool in the same processes"
    assert told("disjoint_from: rollout", "accelerators: 8-32")[1] == f"drop this demand: {reason}"
    notes, advice = told("accelerators: 8-16", "accelerators: 24-32")
    assert any(reason in note for note in notes) and "drop" not in advice
    _, advice = told("memory: 60GiB", "memory: 50GiB")
    assert "set `memory` of actor to " in advice and "drop" not in advice


@pytest.mark.parametrize(("budget", "allowed"), [("0.0006", "0.0006"), ("0.0000004", "0.0000004")])
def test_a_budget_finer_than_a_millisecond_is_told_as_it_is(tmp_path: Path, budget: str, allowed: str) -> None:
    text = f"""
cluster: 2x8
components:
  rollout: {{accelerators: 8, seconds: {{8: 0.0004}}}}
  actor: {{accelerators: 8, seconds: {{8: 0.0003}}}}
plan: {{workflow: rollout -> actor, budget: {{seconds: {budget}}}}}
"""
    (tmp_path / "job.yaml").write_text(text)
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.findings[0].message == f"impossible: an iteration takes at least 0.0007 seconds, {allowed} are allowed"
    assert answer.findings[0].help.startswith("allow `seconds: 0.0007`")
    (tmp_path / "job.yaml").write_text(text.replace(f"{{seconds: {budget}}}", "{seconds: 0.0007}"))
    assert pw.solve(tmp_path / "job.yaml", sandbox=False).planned is not None


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        (
            "{accelerators: 1, seconds: {8: 100}, scaling: table}",
            "a asks for 1 accelerator (the cluster has 8); the times of a are a table for 8",
        ),
        ("{seconds: {8: 100}, parallel: {tp: [5, 3], pp: 4}}", "a has tp 5, pp 4 or tp 3, pp 4 (the largest node has 8 accelerators)"),
        ("{seconds: {8: 100}, accelerators: 9-12}", "a asks for 9-12 accelerators (the cluster has 8); a can have 1-8"),
        (
            "{accelerators: 8, seconds: [{accelerators: 8, seconds: 100, accelerator: H100}]}",
            "a was measured on H100 (the cluster has accelerators of no known model)",
        ),
    ],
)
def test_one_and_what_has_no_name_are_told_in_words(component: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(f"cluster: 1x8\ncomponents:\n  a: {component}\n")
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message.startswith("impossible: no plan can run `a`")
    assert set(reason.split("; ")) <= {text.split(": ")[-1] for text in (found.message, *found.notes)}
