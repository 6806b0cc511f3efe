"""Times that nobody measured are estimated from the model, the accelerators and the batch; what was measured counts before them."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import ESTIMATED, MEASURED
from placewright.models.findings.finding import UnusableInput
from placewright.models.planning.workload import SECOND

JOB = """
cluster: {cluster}
components:
  rollout: {{accelerators: 8, parallel: {{tp: 2}}, estimate: {{model: Qwen/Qwen2.5-7B-Instruct, sequence: 2560, offload: true}}}}
  actor: {{accelerators: 8, {actor}estimate: {{model: Qwen/Qwen2.5-7B-Instruct, sharding: fsdp, sequence: 2560, offload: true}}}}
plan: {{workflow: rollout => actor, batch: {{prompts: {prompts}, samples: 8, response: 2048, mean_response: 1000}}}}
"""


def seconds(folder: Path, prompts: int = 64, actor: str = "", cluster: str = "1x8xH100") -> dict[str, tuple[str, float]]:
    """Kind and seconds of each component's time."""
    file = folder / "job.yaml"
    file.write_text(JOB.format(prompts=prompts, actor=actor, cluster=cluster))
    account = pw.account(file, sandbox=False)
    assert account is not None
    return {basis.task.component: (basis.kind, basis.nanoseconds / SECOND) for basis in account.bases}


def test_what_was_measured_counts_before_an_estimate(tmp_path: Path) -> None:
    found = seconds(tmp_path, actor="seconds: 12, ")
    assert found["actor"] == (MEASURED, 12) and found["rollout"][0] == ESTIMATED


def test_more_prompts_take_longer_and_quicker_accelerators_less(tmp_path: Path) -> None:
    few, many, slow = seconds(tmp_path), seconds(tmp_path, 512), seconds(tmp_path, cluster="1x8xA100")
    for name in ("rollout", "actor"):
        assert few[name][1] < many[name][1] and few[name][1] < slow[name][1]
    assert many["actor"][1] / few["actor"][1] == pytest.approx(8, rel=0.15)


def test_a_cluster_file_says_how_fast_an_unknown_accelerator_is(tmp_path: Path) -> None:
    (tmp_path / "machines.yaml").write_text(
        "nodes: [{accelerators: {count: 8, model: XPU9, memory: 80GiB, speed: {bf16: 989, bandwidth: 3.35, link: 900}}}]"
    )
    file = tmp_path / "job.yaml"
    file.write_text(JOB.format(prompts=64, actor="", cluster="1x8xXPU9"))
    with pytest.raises(UnusableInput, match="the speed of `XPU9` is unknown"):
        pw.solve(file, sandbox=False)
    account = pw.account(file, cluster=tmp_path / "machines.yaml", sandbox=False)
    assert account is not None
    same = seconds(tmp_path)
    assert {basis.task.component: (basis.kind, basis.nanoseconds / SECOND) for basis in account.bases} == same
