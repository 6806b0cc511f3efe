"""What people write for a key or an arrow is answered with the word that is meant."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest


def helps(folder: Path, hints: str, plan: str = "{}") -> list[str]:
    """What is advised for each fault of a file whose second component has these hints."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{seconds: {{8: 90}}}}\n  actor: {{seconds: {{8: 60}}{hints}}}\nplan: {plan}\n"
    (folder / "job.yaml").write_text(text)
    return [each.help for each in pw.verify(folder / "job.yaml").findings if each.code in ("PW104", "PW105")]


@pytest.mark.parametrize(
    ("hints", "help_"),
    [
        (", tensor_model_parallel_size: 2", "write `parallel: {tp: ...}`"),
        (", Pipeline_Parallel: 2", "write `parallel: {pp: ...}`"),
        (", duration: 5", "write `seconds`"),
        (", count: 5", "write `accelerators`, or `processes`"),
        (", depends_on: rollout", "write what works on what in `plan: {workflow: rollout -> actor}`"),
        (
            ", unavailable: [0]",
            "write `exclude` for nodes that it must not use; single unusable accelerators are `taken` in `cluster`",
        ),
        (", max_accelerators: 8", "write a range, such as `accelerators: 2-8`"),
        (", must_split: rollout", "write `disjoint_from`"),
        (", must_colocate: rollout", "write `colocate_with`"),
        (
            ", offload: 4GiB",
            "write `offloaded`, how much stays on an accelerator while another phase runs, or `estimate: {offload: true}`",
        ),
        (", resident: true", "write `offloaded`: what is never offloaded keeps as much as its `memory`"),
        (", num_nodes: 2", "write `accelerators`; choose nodes with `node_group`, `exclude` and `pin`"),
    ],
)
def test_a_key_of_a_component(hints: str, help_: str, tmp_path: Path) -> None:
    assert helps(tmp_path, hints) == [help_]


@pytest.mark.parametrize(
    ("plan", "help_"),
    [
        ("{async: true}", "write `cost_model: steady` where nothing waits for anything"),
        ("{sync: true}", "write `cost_model: stages` where phases come one after the other"),
        ("{minimize: seconds}", "write `minimise`"),
        (
            "{warmup: 2}",
            "write `batches`, the number of batches of an iteration: the time until the first batch reaches all components is counted",
        ),
        ("{order: 5}", "write chains such as `workflow: rollout -> actor`"),
    ],
)
def test_a_key_of_a_plan(plan: str, help_: str, tmp_path: Path) -> None:
    assert helps(tmp_path, "", plan) == [help_]


@pytest.mark.parametrize(
    "chain", ["actor > rollout", "actor --> rollout", "actor, rollout", "actor | rollout", "actor → rollout", "actor rollout"]
)
def test_what_is_nearly_a_chain_is_written_as_one(chain: str, tmp_path: Path) -> None:
    assert helps(tmp_path, "", f'{{workflow: "{chain}"}}') == ["write `actor -> rollout`, or `actor => rollout`; or leave `workflow` out"]


def test_a_chain_of_what_nobody_knows_is_answered_with_an_example(tmp_path: Path) -> None:
    assert helps(tmp_path, "", '{workflow: "env > actor"}') == ["write `rollout -> actor`, or `rollout => actor`; or leave `workflow` out"]
