"""Why there is no design, in words: of memory, of what a framework demands, of counts, budgets and what has no name."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE

from .texts import solved


@pytest.mark.parametrize(
    ("rollout", "actor", "help_text", "mended"),
    [
        ("memory: 60GiB", "memory: 50GiB", "say the `phase` in which each needs its memory, of `rollout` and `actor`, so that they take turns",
         ("memory: 60GiB, phase: a", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a", "memory: 50GiB, phase: a", "let them work in other phases (`phase`)",
         ("memory: 60GiB, phase: a", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a, offloaded: 40GiB", "memory: 50GiB, phase: b", "keep less of one while others work (`offloaded`)",
         ("memory: 60GiB, phase: a, offloaded: 4GiB", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a, offloaded: 40GiB", "memory: 50GiB", "say the `phase` of `actor`, and keep less while others work (`offloaded`)",
         ("memory: 60GiB, phase: a, offloaded: 4GiB", "memory: 50GiB, phase: b")),
    ],
)  # fmt: skip
def test_memory_that_is_needed_at_once_is_told_with_what_helps(
    rollout: str, actor: str, help_text: str, mended: tuple[str, str], tmp_path: Path
) -> None:
    """Only what was searched: phases where none is said or both have the same, less beside others where that is too much."""
    text = "cluster: 2x8xH100\ncomponents:\n  rollout: {seconds: {8: 55}, colocate_with: actor, %s}\n"
    text += "  actor: {seconds: {8: 60}, %s}\nplan: {workflow: rollout => actor}\n"
    (finding,) = solved(tmp_path, text % (rollout, actor)).findings
    assert finding.message.startswith("impossible: whoever shares accelerators needs at least ")
    assert finding.help.startswith(f"{help_text}, or let `rollout` and `actor` be on others")
    assert solved(tmp_path, text % mended).plan is not None


def test_what_the_framework_demands_is_not_told_to_be_dropped(tmp_path: Path) -> None:
    """Who shares a pool of verl is on the same accelerators: the file can only drop its own demand, or leave more counts open."""
    script = (
        "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2 "
        "data.train_batch_size=256 actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.name=vllm algorithm.adv_estimator=grpo '+placewright.components.actor={seconds: {8: 100}, %s}' "
        "'+placewright.components.rollout={seconds: {8: 180}, %s}'\n"
    )

    def told(actor: str, rollout: str) -> tuple[str, str]:
        (tmp_path / "run.sh").write_text(script % (actor, rollout))
        (finding,) = pw.solve(tmp_path / "run.sh", cluster="8x8xH100", sandbox=False).findings
        return finding.message, finding.help

    reason = "verl runs all roles of a pool in the same processes"
    assert told("disjoint_from: rollout", "accelerators: 8-32")[1] == f"drop this demand: {reason}"
    message, advice = told("accelerators: 8-16", "accelerators: 24-32")
    assert message.endswith(f"({reason})") and advice == "leave more of their counts and degrees open"
    _, advice = told("memory: 60GiB", "memory: 50GiB")
    assert advice == "say the `phase` in which each needs its memory, of `actor` and `rollout`, so that they take turns"


def test_a_component_for_which_nothing_is_free_is_not_told_of_degrees(tmp_path: Path) -> None:
    text = "cluster: 1x8xH100\ncomponents:\n  a: {placement: 0-7, memory: 1GiB}\n  b: {seconds: {8: 224}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    reason = "no accelerator that it may use is free of components with given ranks and of other jobs; without the ranks that are given to `a` it could be run"
    assert finding.message == f"impossible: `b` can be run in no way: {reason}"


def test_counts_that_have_nothing_in_common_are_told(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text(
        "cluster: 2x8\ncomponents:\n"
        "  rollout: {accelerators: 1-16, seconds: {8: 55}, parallel: {tp: 3}, colocate_with: actor}\n"
        "  actor: {accelerators: 1-16, seconds: {8: 60, 16: 33}, scaling: table}\n"
    )
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message.endswith("on the same accelerators: `rollout` (tp 3) can have 3, 6, 9, 12, `actor` 8, 16")


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
        ("{accelerators: 1, seconds: {8: 100}, scaling: table}", "its times are a table, and none of its counts is 1"),
        (
            "{seconds: {8: 100}, parallel: {tp: [5, 3], pp: 4}}",
            "tp 3, pp 4 needs 12 accelerators for a replica, and it may use 6 in groups of 3 on one node",
        ),
        ("{seconds: {8: 100}, accelerators: 9-12}", "it asks for 9-12 accelerators, and can have 1-8"),
        (
            "{accelerators: 8, seconds: [{accelerators: 8, seconds: 100, accelerator: H100}]}",
            "its times were measured on H100, and it may use accelerators of no known model",
        ),
    ],
)
def test_one_and_what_has_no_name_are_told_in_words(component: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(f"cluster: 1x8\ncomponents:\n  a: {component}\n")
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message.startswith(f"impossible: `a` can be run in no way: {reason}")
