"""Files that `plan --framework` writes: the releases of the framework take them without an error or a warning."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
import yaml
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
    if framework == "rlinf" and job[2] == "rloo":
        words = ["--model", job[0], "--cluster", job[1], "--algorithm", "rloo", "--prompts", "512", "--response", "4096"]
        assert run(["plan", *words, "--framework", framework]) == 2
        assert "RLinf has no estimator of advantages for rloo" in capsys.readouterr().err
        return
    path = written(tmp_path, framework, *job)
    capsys.readouterr()
    for release in RELEASES[framework]:
        if release == "roll==0.2.0" and "A3B" in job[0]:
            continue  # without `expert_tensor_parallel_size`
        report = pw.verify(path, job[1], framework=release or ())
        faults = [f"{release}: {finding.code} {finding.message}" for finding in report.findings if finding.severity.value != "note"]
        assert faults == []
        assert report.verdict == "ok", (release, report.missing)


def test_the_split_of_the_file_is_that_of_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "roll", "Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "grpo", 512)
    printed = capsys.readouterr().out
    plan = pw.verify(path, "2x8xH100").plan
    assert plan is not None
    assert {name: plan.assignment.count_held(name) for name in plan.components} == {"actor_train": 16, "actor_infer": 16, "reference": 16}
    assert "16 accelerators" in printed


def test_agent_workers_divide_the_answers_of_verl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--cluster", "1x6xH100", "--prompts", "6", "--samples", "6", "--response", "100"]
    path = tmp_path / "run.sh"
    assert run(["plan", *words, "--framework", "VeRL", "-o", str(path)]) == 0
    capsys.readouterr()
    assert "actor_rollout_ref.rollout.agent.num_workers=6 " in path.read_text("utf-8") and pw.verify(path, "1x6xH100").findings == ()


def test_verl_with_a_critic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "verl", "Qwen/Qwen2.5-7B-Instruct", "2x8xH100", "ppo", 512)
    text = path.read_text("utf-8")
    assert "critic.ppo_micro_batch_size_per_gpu=1 \\\n" in text
    assert "algorithm.adv_estimator=gae \\\n" in text
    capsys.readouterr()
    for release in RELEASES["verl"][-3:]:  # before 0.8.0 the keys of a critic's FSDP are others
        report = pw.verify(path, "2x8xH100", framework=release or ())
        assert report.verdict == "ok" and [finding for finding in report.findings if finding.severity.value != "note"] == []


def test_a_critic_of_verl_divides_its_sequences_where_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sh"
    words = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--cluster", "4x8xH100", "--algorithm", "ppo", "--prompts", "1024"]
    assert run(["plan", *words, "--response", "32000", "--framework", "verl", "-o", str(path)]) == 0
    capsys.readouterr()
    assert "critic.fsdp.ulysses_sequence_parallel_size=2 \\\n" in path.read_text("utf-8")
    assert pw.verify(path, "4x8xH100").verdict == "ok"


@pytest.mark.parametrize("cluster", ["1x8xH100", "2x8xH100"])
def test_rlinf_with_a_critic(cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RLinf trains a critic by Megatron alone."""
    path = written(tmp_path, "rlinf", "Qwen/Qwen2.5-7B-Instruct", cluster, "ppo", 512)
    capsys.readouterr()
    data = yaml.safe_load(path.read_text("utf-8"))
    assert [data[name]["training_backend"] for name in ("actor", "critic")] == ["megatron", "megatron"]
    report = pw.verify(path, cluster)
    assert report.verdict == "ok" and [finding for finding in report.findings if finding.severity.value != "note"] == []


def placed(path: Path, cluster: str) -> dict[str, tuple[int, str]]:
    """Component -> accelerators and parallel sizes that a file says."""
    reading = pw.load(path, cluster)
    assert reading.problem is not None and reading.findings == ()
    plan = pw.verify(reading).plan
    assert plan is not None
    return {part.name: (plan.assignment.count_held(part.name), str(part.parallel)) for part in reading.problem.components}


V3 = ["--model", "deepseek-ai/DeepSeek-V3", "--prompts", "1024", "--response", "8192"]


@pytest.mark.parametrize("framework", ["roll", "rlinf", "verl"])
def test_nodes_of_72_have_a_split_without_gaps(framework: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ROLL's engine of tp 8 is in two stages: 8 divides 72, 16 does not; RLinf has no stages, and 128 ranks are the most.

    The file says why the rest is idle; a stage on another node is not a fault.
    """
    path = tmp_path / ("run.sh" if framework == "verl" else "job.yaml")
    assert run(["plan", *V3, "--cluster", "4x72xGB200", "--framework", framework, "-o", str(path)]) == 0
    idle = f"{160 if framework == 'rlinf' else 32} of 288 accelerators are idle, as 8192 sequences divide among 256"
    assert f"idle: {idle}" in " ".join(capsys.readouterr().out.split())
    assert f"# {'' if framework == 'rlinf' else 'placewright: ignore[PW801] '}{idle}\n" in path.read_text("utf-8")
    report = pw.verify(path, "4x72xGB200")
    assert [finding for finding in report.findings if finding.severity.value != "note"] == []
    sizes = placed(path, "4x72xGB200")
    assert {count for count, _ in sizes.values()} == {128 if framework == "rlinf" else 256}
    engines = {"roll": "tp 8, pp 2", "rlinf": "tp 16", "verl": "tp 16, ep 32, dp 2"}
    assert sizes["actor_infer" if framework == "roll" else "rollout"][1] == engines[framework]


@pytest.mark.parametrize(("framework", "engine"), [("verl", "tp 8, ep 64, dp 8"), ("roll", "tp 8, pp 4")])
def test_an_engine_over_nodes_is_in_the_file(framework: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ("run.sh" if framework == "verl" else "job.yaml")
    assert run(["plan", *V3, "--cluster", "64x8xH800", "--framework", framework, "-o", str(path)]) == 0
    capsys.readouterr()
    assert placed(path, "64x8xH800")["actor_infer" if framework == "roll" else "rollout"] == (512, engine)


def test_a_framework_whose_engines_stay_on_a_node_is_refused_what_needs_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *V3, "--cluster", "64x8xH800", "--framework", "rlinf"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no node holds an engine of `deepseek-ai/DeepSeek-V3`, and engines of this framework do not span nodes" in said


def test_rlinf_is_told_how_the_actor_is_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "rlinf", "meta-llama/Llama-3.1-70B-Instruct", "8x8xH100", "grpo", 512)
    capsys.readouterr()
    job = yaml.safe_load(path.read_text("utf-8"))
    actor, model = job["actor"], job["actor"]["model"]
    assert (actor["training_backend"], actor["offload_optimizer"], model["recompute_granularity"]) == ("megatron", True, "full")
    assert model["tensor_model_parallel_size"] >= job["rollout"]["tensor_parallel_size"] > 1
    assert job["algorithm"]["training_batch_size_per_gpu"] == actor["micro_batch_size"]


def test_long_sequences_are_divided_where_they_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "Qwen/Qwen2.5-14B-Instruct", "--cluster", "2x8xA100", "--prompts", "512", "--response", "16384"]
    path = tmp_path / "run.sh"
    assert run(["plan", *words, "--framework", "verl", "-o", str(path)]) == 0
    assert capsys.readouterr().err == ""
    text = path.read_text("utf-8")
    assert "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 " in text and "use_remove_padding=True" in text
    assert pw.verify(path, "2x8xA100").findings == ()


def test_rlinf_divides_long_sequences_by_tensor_parallelism(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RLinf's FSDP divides no sequence."""
    words = ["--model", "Qwen/Qwen2.5-14B-Instruct", "--cluster", "2x8xA100", "--prompts", "512", "--response", "16384"]
    assert run(["plan", *words, "--framework", "rlinf", "-o", str(tmp_path / "job.yaml")]) == 0
    capsys.readouterr()
    actor = yaml.safe_load((tmp_path / "job.yaml").read_text("utf-8"))["actor"]
    assert (actor["training_backend"], actor["model"]["tensor_model_parallel_size"]) == ("megatron", 4)


def test_the_release_of_a_conversion_is_not_compared_with_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("cluster: 1x8\ncomponents:\n  actor: {placement: 0-99}\n")
    assert run(["convert", str(path), "--to", "verl", "--framework", "verl==0.8.0"]) == 1
    told = capsys.readouterr().err
    assert "PW102" in told and "PW015" not in told
