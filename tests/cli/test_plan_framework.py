"""Files that `plan --framework` writes: the releases of the framework take them without an error or a warning."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.main import run

RELEASES = {
    "verl": ["verl==0.5.0", "verl==0.6.1", "verl==0.7.0", "verl==0.8.0", "verl==0.9.0", ""],
    "roll": ["roll==0.2.0", "roll==0.3.0", ""],
    "rlinf": ["rlinf==0.1", "rlinf==0.2", ""],
}
JOBS = [
    ("Qwen/Qwen2.5-1.5B-Instruct", "1x8xA100", "grpo", 128),
    ("Qwen/Qwen2.5-7B-Instruct", "4x8xH100", "grpo", 1024),
    ("Qwen/Qwen2.5-7B-Instruct", "3x8xH100", "grpo", 1000),
    ("Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "dapo", 512),
    ("Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "rloo", 512),
    ("Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "reinforce++", 512),
    ("Qwen/Qwen2.5-32B-Instruct", "8x8xH800", "grpo", 512),
    ("Qwen/Qwen3-30B-A3B", "4x8xH100", "grpo", 512),
    ("meta-llama/Llama-3.1-70B-Instruct", "8x8xH100", "grpo", 512),
]


def written(folder: Path, framework: str, model: str, cluster: str, algorithm: str, prompts: int) -> Path:
    path = folder / ("run.sh" if framework == "verl" else "job.yaml")
    words = ["--model", model, "--cluster", cluster, "--algorithm", algorithm, "--prompts", str(prompts), "--response", "4096"]
    assert run(["plan", *words, "--framework", framework, "-o", str(path)]) == 0
    return path


@pytest.mark.parametrize("framework", RELEASES)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: " ".join(map(str, job)))
def test_its_releases_take_the_file(
    framework: str, job: tuple[str, str, str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, framework, *job)
    capsys.readouterr()
    for release in RELEASES[framework]:
        report = pw.verify(path, job[1], framework=release or ())
        faults = [f"{release}: {finding.code} {finding.message}" for finding in report.findings if finding.severity.value != "note"]
        assert faults == [f"{release}: PW801 8 of 24 accelerators are held by no component"] * (
            job[1] == "3x8xH100" and framework != "roll"
        )
        assert report.verdict == "ok", (release, report.missing)


def test_the_split_of_the_file_is_that_of_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "roll", "Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "grpo", 512)
    printed = capsys.readouterr().out
    plan = pw.verify(path, "2x8xH100").plan
    assert plan is not None
    assert {name: plan.assignment.held(name) for name in plan.components} == {"actor_train": 16, "actor_infer": 16, "reference": 16}
    assert "16 accelerators" in printed


def test_verl_with_a_critic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = written(tmp_path, "verl", "Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "ppo", 512).read_text("utf-8")
    assert "critic.ppo_micro_batch_size_per_gpu=1 \\\n" in text
    assert "algorithm.adv_estimator=gae \\\n" in text
    capsys.readouterr()


@pytest.mark.parametrize("framework", ["roll", "rlinf"])
def test_a_split_with_gaps_is_refused_where_the_framework_needs_a_solid_range(framework: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "deepseek-ai/DeepSeek-V3", "--cluster", "4x72xGB200", "--prompts", "1024", "--response", "8192"]
    assert run(["plan", *words, "--framework", framework]) == 2
    assert "256 of the ranks 0-279, not one solid range" in capsys.readouterr().err
