"""What shares no accelerators because nobody says that it takes turns is told: else nobody knows why it is not planned so."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

ROLLOUT, ACTOR, REWARD = "seconds: {8: 100}, memory: 50GiB", "seconds: {8: 60}, memory: 40GiB", "seconds: {8: 9}, memory: 45GiB"
TOGETHER = "never on the same accelerators: 50 GiB and 40 GiB at once are more than the 80 GiB of one"


@pytest.mark.parametrize(
    ("rollout", "others", "said"),
    [
        (ROLLOUT, f"actor: {{{ACTOR}}}", f"rollout and actor: {TOGETHER} (write a `phase` of each if they take turns)"),
        (f"{ROLLOUT}, phase: generate", f"actor: {{{ACTOR}}}", f"rollout and actor: {TOGETHER} (write a `phase` of actor"),
        (ROLLOUT, f"actor: {{{ACTOR}}}\n  reward: {{{REWARD}}}", "rollout, actor and reward: not all on the same accelerators"),
        (f"{ROLLOUT}, phase: generate", f"actor: {{{ACTOR}, phase: train}}", ""),
        (f"{ROLLOUT}, disjoint_from: actor", f"actor: {{{ACTOR}}}", ""),
        (ROLLOUT.replace("50GiB", "40GiB"), f"actor: {{{ACTOR}}}", ""),
        (f"{ROLLOUT}, phase: generate, offloaded: 45GiB", f"actor: {{{ACTOR}}}", ""),
    ],
)
def test_it_is_said_where_turns_would_help(rollout: str, others: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{rollout}}}\n  {others}\n")
    found = pw.account(file, searches=0, sandbox=False)
    assert found is not None
    told = [each for each in found.assumed if "`phase`" in each]
    assert len(told) == bool(said) and all(each.startswith(said) for each in told)
