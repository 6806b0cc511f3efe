"""`placewright fit`: what a run measured beside what was estimated."""

from __future__ import annotations

import io
import json
from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.models.account import ESTIMATED, FITTED, MEASURED
from placewright.models.performance.metrics import benchmarks, read_rows, seconds_by_role
from placewright.models.planning.workload import SECOND

JOB = """
cluster: 1x8xH100
components:
  rollout: {accelerators: 8, parallel: {tp: 2}, estimate: {model: Qwen/Qwen2.5-7B-Instruct, sequence: 2560, offload: true}}
  actor: {accelerators: 8, estimate: {model: Qwen/Qwen2.5-7B-Instruct, sharding: fsdp, sequence: 2560, offload: true}}
plan: {workflow: rollout => actor, batch: {prompts: 64, samples: 8, response: 2048}}
"""
LOG = """
(TaskRunner pid=1) step:1 - actor/kl_loss:0.001 - timing_s/gen:140.0 - timing_s/old_log_prob:12.0 - timing_s/update_actor:99.0 - timing_s/step:251
(TaskRunner pid=1) step:2 - actor/kl_loss:0.001 - timing_s/gen:90.0 - timing_s/old_log_prob:10.0 - timing_s/update_actor:80.0 - timing_s/step:180
noise without numbers
(TaskRunner pid=1) step:3 - timing_s/gen:np.float64(92.0) - timing_s/old_log_prob:10.2 - timing_s/update_actor:82.0 - timing_s/step:184
"""
VERL_LINES = '{"step": 7, "data": {"timing_s/gen": 91.0, "timing_s/ref": 9.5, "perf/throughput": 1200.5}}\n'
ROLL_LINES = '{"time/step_generate": 50.0, "time/ref_log_probs_values": 5.0, "time/old_log_probs": 6.0, "time/step_train": 40.0}\n'
RLINF = '{"profile_data": {"actor_cost": 95.7, "rollout_cost": 120.0, "inference_cost": 30.0}}'
BENCH = '{"completed": 1000, "total_input_tokens": 1000000, "total_output_tokens": 500000, "duration": 60.5}'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LOG, {"rollout": 91.0, "inference": 10.1, "actor": 81.0}), (VERL_LINES, {"rollout": 91.0, "reference": 9.5}),
        (ROLL_LINES * 2, {"rollout": 50.0, "reference": 5.0, "inference": 6.0, "actor": 40.0}),
        (RLINF, {"actor": 95.7, "rollout": 120.0, "inference": 30.0}), ("timing_s/gen:1.2e+02\n", {"rollout": 120.0}), ("timing_s/gen:1e400\n", {}), ('{"timing_s/gen": Infinity}', {}), ("nothing: here", {}), ("[[[[", {}), ("", {}),
    ],
)  # fmt: skip
def test_metrics_are_read_as_frameworks_write_them(text: str, found: dict[str, float], tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text(text)
    seconds = {role: pytest.approx(value) for role, (value, _) in seconds_by_role(read_rows(tmp_path / "metrics")).items()}
    assert seconds == found


def test_a_benchmark_of_vllm_is_its_requests(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_text(BENCH)
    assert benchmarks(read_rows(tmp_path / "bench.json")) == [(1000, 1000.0, 500.0, 60.5)]


def test_measured_beats_fitted_beats_estimated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, job = tmp_path / "train.log", tmp_path / "job.yaml"
    log.write_text(LOG)
    job.write_text(JOB)
    assert run(["fit", str(log), str(job), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    by_name = {entry["component"]: entry for entry in said["fitted"]}
    assert by_name["rollout"]["measured"] == 91.0 and by_name["actor"]["measured"] == pytest.approx(81.0 + 10.1)
    factor = said["calibrate"]["generate"]
    job.write_text(
        JOB.replace("plan: {", f"plan: {{calibrate: {{generate: {factor}}}, ").replace(
            "actor: {accelerators: 8,", "actor: {accelerators: 8, seconds: 90,"
        )
    )
    account = pw.account(job, sandbox=False)
    assert account is not None
    times = {basis.task.component: (basis.kind, basis.nanoseconds / SECOND) for basis in account.bases}
    assert times == {"rollout": (FITTED, pytest.approx(91.0, rel=1e-4)), "actor": (MEASURED, 90.0)}
    job.write_text(JOB)
    unfitted = pw.account(job, sandbox=False)
    assert unfitted is not None and {basis.kind for basis in unfitted.bases} == {ESTIMATED}


def test_what_to_write_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.log").write_text(LOG)
    (tmp_path / "job.yaml").write_text(JOB)
    assert run(["fit", str(tmp_path / "train.log"), str(tmp_path / "job.yaml")]) == 0
    said = capsys.readouterr().out
    assert "  rollout: {seconds: {8: 91}}" in said and "  calibrate: {generate: " in said


@pytest.mark.parametrize(("metrics", "words"), [("loss: 1", "no seconds of a component"), (None, "cannot be read")])
def test_metrics_that_say_nothing_are_unusable(metrics: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if metrics is not None:
        (tmp_path / "train.log").write_text(metrics)
    (tmp_path / "job.yaml").write_text(JOB)
    assert run(["fit", str(tmp_path / "train.log"), str(tmp_path / "job.yaml")]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_metrics_may_be_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.yaml").write_text(JOB)
    monkeypatch.setattr("sys.stdin", io.StringIO(LOG))
    assert run(["fit", "-", str(tmp_path / "job.yaml")]) == 0
    assert "  rollout: {seconds: {8: 91}}" in capsys.readouterr().out
    assert run(["fit", "-", "-"]) == 2 and "read once" in capsys.readouterr().err
