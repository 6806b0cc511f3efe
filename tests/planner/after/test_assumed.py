"""What a plan takes for granted of how an iteration goes is said."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

FILE = """
cluster: 2x8xH100
components:
  rollout: {seconds: {8: 60, 16: 35}}
  judge: {seconds: {2: 20, 4: 11}}
  critic: {seconds: {infer: {2: 10}, train: {2: 20}}}
  actor: {seconds: {4: 50, 8: 27}}
plan: PLAN
"""
EVERY = "rollout -> critic.infer -> critic.train -> actor, rollout -> judge"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (f"{{workflow: [{EVERY}]}}", []),
        ("{workflow: [rollout -> critic -> actor]}", ["judge: waits for no component, since no chain of `workflow` names it"]),
        (
            "{workflow: [rollout -> critic.infer -> actor]}",
            ["judge and critic.train: wait for no component, since no chain of `workflow` names them"],
        ),
        ("{}", ["rollout, judge, critic and actor: wait for no component, since no `workflow` says what works on what"]),
        ("{cost_model: steady}", []),
        ("{cost_model: stages, phases: [generate, infer, train, '']}", []),
        (
            f"{{workflow: [{EVERY}], minimise: accelerators}}",
            ["the fewest accelerators however long an iteration takes: no `budget` of seconds is set"],
        ),
        (f"{{workflow: [{EVERY}], minimise: accelerators, budget: {{seconds: 500}}}}", []),
    ],
)
def test_it_is_said(plan: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(FILE.replace("PLAN", plan))
    account = pw.account(tmp_path / "job.yaml", sandbox=False)
    assert account is not None and list(account.assumed) == said


def test_one_alone_waits_for_nobody_which_goes_without_saying(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("cluster: 2x8xH100\ncomponents: {actor: {seconds: {4: 50, 8: 27}}}\n")
    account = pw.account(tmp_path / "job.yaml", sandbox=False)
    assert account is not None and account.assumed == ()
