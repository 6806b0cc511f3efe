"""Demands of which no single one rules every design out, and those of which one does."""

from __future__ import annotations

from pathlib import Path

import placewright as pw

TWO = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {8: 100}}
  b: {accelerators: 8, seconds: {8: 100}, disjoint_from: a}
  c: {accelerators: 4, seconds: {8: 100}, colocate_with: a}
"""
THREE = """\
cluster: 1x8xH100
components:
  a: {accelerators: 6, seconds: {8: 100}, memory: 70GiB}
  b: {accelerators: 6, seconds: {8: 100}, memory: 70GiB, disjoint_from: c}
  c: {accelerators: 6, seconds: {8: 100}, memory: 70GiB}
plan: {budget: {seconds: 150, accelerators: 7}}
"""


def test_demands_that_rule_everything_out_together_are_named_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TWO)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == (
        "impossible: giving up one demand is not enough, 2 together would be: `c` has 4 accelerators, and `b` and `a` share none"
    )
    assert found.span is not None and found.origin is not None and (found.span.line, found.origin.line) == (5, 4)
    (tmp_path / "plan.yaml").write_text(TWO.replace("accelerators: 4, ", "").replace(", disjoint_from: a", ""))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


def test_what_both_components_say_is_one_demand(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TWO.replace("8: 100}}\n  b", "8: 100}, disjoint_from: b}\n  b"))
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == (
        "impossible: giving up one demand is not enough, 2 together would be: `c` has 4 accelerators, and `a` and `b` share none"
    )
    (tmp_path / "plan.yaml").write_text(
        TWO.replace("c: {accelerators: 4,", "c: {").replace("8: 100}}\n  b", "8: 100}, disjoint_from: b}\n  b")
    )
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.help == "add 8 accelerators, or let `a` and `b` share"


def test_one_accelerator_is_one(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TWO.replace("accelerators: 4", "accelerators: 1"))
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert "`c` has 1 accelerator, and" in found.message


def test_a_count_that_rules_everything_out_by_itself_is_the_reason(tmp_path: Path) -> None:
    """More time and sharing would do together, too."""
    text = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {4: 100, 8: 100}}
  b: {accelerators: 1-8, seconds: {4: 30, 8: 100}, scaling: table, disjoint_from: a}
plan: {workflow: a -> b, budget: {seconds: 150, accelerators: 8}}
"""
    (tmp_path / "plan.yaml").write_text(text)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == "impossible: `a` has 8 accelerators, with which nothing keeps to all else that is asked"
    assert found.help == "leave more counts of `a` open" and found.span is not None and found.span.line == 3
    (tmp_path / "plan.yaml").write_text(text.replace("accelerators: 8, seconds: {4", "seconds: {4"))
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


def test_more_than_two_are_listed_once_each(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(THREE)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == "impossible: giving up one demand is not enough, 3 together would be" and found.origin is None
    assert found.notes == (
        "line 6: the time that is allowed", "line 3: the memory of an accelerator", "line 4: `b` and `c` share none",
        "searched: plans with accelerators shared whole",
    )  # fmt: skip


def test_of_several_that_share_nothing_those_are_named_that_help_alone(tmp_path: Path) -> None:
    """`rollout` is too wide to share with either of the others; `reward` and `actor` may be on the same two."""
    text = """\
cluster: 2x8xH100
components:
  rollout: {seconds: {8: 80}, accelerators: 12, disjoint_from: [actor]}
  actor: {seconds: {8: 90}, accelerators: 2-3}
  reward: {seconds: {8: 9}, accelerators: 2-3, disjoint_from: [rollout, actor]}
plan: {workflow: rollout -> reward -> actor, batches: 20, budget: {accelerators: 14}}
"""
    (tmp_path / "plan.yaml").write_text(text)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.help == "allow `accelerators: 16`, or let `reward` and `actor` share"
    (tmp_path / "plan.yaml").write_text(text.replace("[rollout, actor]", "rollout"))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


def test_where_both_budgets_are_short_it_is_told_what_both_have_to_be(tmp_path: Path) -> None:
    """Eight accelerators for tp 8, and on these 170 seconds: each of both budgets is too small whatever the other one is."""
    text = """\
cluster: 1x8xH100
components:
  rollout: {seconds: {8: 80}, parallel: {tp: 2}}
  actor: {seconds: {8: 90}, parallel: {tp: 8}}
plan: {workflow: rollout => actor, budget: {seconds: 150, accelerators: 6}}
"""
    (tmp_path / "plan.yaml").write_text(text)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message.startswith("impossible: giving up one demand is not enough, 2 together would be: the time that is allowed, and ")
    assert found.help == "allow `seconds: 170`, and allow `accelerators: 8`"
    (tmp_path / "plan.yaml").write_text(text.replace("150", "170").replace("accelerators: 6", "accelerators: 8"))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None
