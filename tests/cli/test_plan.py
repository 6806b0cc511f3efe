"""`placewright plan` and `init`: from a model, a cluster and an algorithm to a plan."""

from __future__ import annotations

import json
import re
from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.models.dialects.native.from_model import native_file
from placewright.models.dialects.native.job_sizes import ALGORITHMS, JobRequest

SEVEN = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--cluster", "2x8xH100", "--prompts", "128", "--response", "2048"]


def test_a_plan_is_on_one_screen_with_its_range_and_its_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *SEVEN]) == 0
    said = capsys.readouterr()
    assert said.err == "" and len(said.out.splitlines()) < 40
    for words in (
        "seconds an iteration (",
        "under estimated times",
        "memory: ",
        "bottleneck: ",
        "next: `init`",
    ):
        assert words in " ".join(said.out.split())


def components_of(file: Path) -> set[str]:
    """Names of the components of a file."""
    problem = pw.load(file).problem
    assert problem is not None
    return {component.name for component in problem.components}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_file_behind_it_has_no_fault(algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "job.yaml"
    assert run(["init", *SEVEN, "--algorithm", algorithm, "-o", str(file)]) == 0
    report = pw.verify(file)
    assert report.findings == () and {"rollout", "actor", *ALGORITHMS[algorithm]} == components_of(file)
    assert run(["init", *SEVEN, "-o", str(file)]) == 2 and "already" in capsys.readouterr().err


def test_the_plan_is_written_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "job.yaml"
    assert run(["plan", *SEVEN, "-o", str(file)]) == 0
    report = pw.verify(file)
    assert report.findings == () and report.plan is not None and report.plan.components


@pytest.mark.parametrize(
    ("model", "cluster"), [("Qwen/Qwen2.5-72B-Instruct", "8x8xH100"), ("Qwen/Qwen3-235B-A22B", "16x4xGB200"), ("deepseek-ai/DeepSeek-V3", "64x8xH800"), ("deepseek-ai/DeepSeek-V3", "2x72xGB200")]
)  # fmt: skip
def test_large_models_get_degrees_that_fit(model: str, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--model", model, "--cluster", cluster, "--prompts", "512", "--response", "4096", "--format", "json"]) == 0
    planned = json.loads(capsys.readouterr().out)["planned"]
    assert all(bill["peak"] < bill["capacity"] for bill in planned["memory"])
    for basis in planned["rests_on"]:
        assert basis["kind"] == "estimated" and basis["low"] < basis["seconds"] < basis["high"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--model", "Qwen/Qwen2.5-8B-Instruct"], 2, "name `Qwen/Qwen2.5-7B-Instruct`, if that is meant"),
        (["--cluster", "2x8xH1000"], 1, "the speed of `H1000` is unknown, so no time can be estimated on it; `H100` is known"),
        (["--cluster", "x8"], 2, "how many nodes"),
        (["--response", "1000", "--mean-response", "1001"], 2, "--mean-response is larger than --response"),
        (["--prompts", "1000000000000"], 2, "not in the range"),
        (["-o", "-", "--format", "json"], 2, "only one thing can be written to standard output"),
        (["--model", "deepseek-ai/DeepSeek-V3"], 1, "for its weights, gradients and optimizer; the largest has 80 GiB ... by the estimates it fits on "),
        (["--model", "Qwen/Qwen2.5-14B-Instruct", "--cluster", "2x1x4090"], 1, "by the estimates it fits on no number of these nodes"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_said(options: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *SEVEN, *options]) == code
    said = " ".join(capsys.readouterr().err.split())
    assert all(part in said for part in words.split(" ... "))


def test_the_file_is_printed_for_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", *SEVEN]) == 0
    text = capsys.readouterr().out
    assert run(["init", *SEVEN, "-o", "-"]) == 0 and capsys.readouterr().out == text
    assert run(["plan", *SEVEN, "-o", "-"]) == 0
    printed = capsys.readouterr()
    plan = pw.verify(printed.out).plan
    assert plan is not None and plan.components and "seconds an iteration" in printed.err
    assert list(tmp_path.iterdir()) == []


def test_all_accelerators_are_a_count_however_many_there_are() -> None:
    for name in ("2x8xH100", "1024x8xH100", "1000x4xGB200"):
        cluster = pw.cluster(name)
        assert isinstance(cluster, pw.Cluster)
        text = native_file(JobRequest("Qwen/Qwen2.5-7B-Instruct", 128, 2048), cluster)
        assert (
            f"{cluster.total()}]" in text
            and max(len(components.split(",")) for components in re.findall("(?s)accelerators: (.+?])", text)) <= 64
        )


@pytest.mark.parametrize(("prompts", "response"), [(1024, 2048), (128, 1000), (96, 100), (6, 100)])
@pytest.mark.parametrize("framework", ["verl", "roll", "rlinf"])
def test_micro_batches_divide_what_each_rank_has(framework: str, prompts: int, response: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", *SEVEN, "--prompts", str(prompts), "--response", str(response), "--framework", framework]
    assert run([*words, "-o", "-"]) == 0
    assert pw.verify(capsys.readouterr().out, "2x8xH100").errors == ()


def test_a_model_by_its_configuration_is_planned_like_a_known_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = {
        "hidden_size": 3584, "intermediate_size": 18_944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
        "vocab_size": 152_064, "tie_word_embeddings": False,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    for path in (tmp_path, tmp_path / "config.json"):
        assert run(["plan", *SEVEN, "--model", str(path), "--framework", "verl", "-o", "-"]) == 0
        assert f"actor_rollout_ref.model.path={tmp_path} " in capsys.readouterr().out
    seconds = []
    for model in (str(tmp_path), SEVEN[1]):
        assert run(["plan", *SEVEN, "--model", model, "--format", "json"]) == 0
        seconds.append(json.loads(capsys.readouterr().out)["planned"]["seconds"])
    assert seconds[0] == pytest.approx(seconds[1], rel=0.001)


def test_a_batch_that_no_ranks_divide_is_said_and_a_native_plan_uses_all(capsys: pytest.CaptureFixture[str]) -> None:
    odd = ["plan", *SEVEN, "--prompts", "100", "--samples", "7"]
    assert run(odd) == 0
    assert ", 16 accelerators," in " ".join(capsys.readouterr().out.split())
    assert run([*odd, "--framework", "verl"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "700 sequences do not divide among 16 data parallel ranks" in said and "such as 96 prompts" in said


SMALL = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--prompts", "128", "--response", "2048"]


def test_the_least_nodes_that_are_said_have_a_plan_and_one_less_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    for nodes, fits in ((1, False), (4, False), (5, True)):
        run(["plan", *SMALL, "--cluster", f"{nodes}x2x4090"])
        said = capsys.readouterr().err
        assert ("it fits on 5 nodes like these" in said) is not fits and ("it fits on" in said) is not fits


def test_over_slow_networks_a_model_is_divided_rather_than_gathered() -> None:
    def trained(cluster: str) -> str:
        machines = pw.cluster(cluster)
        assert isinstance(machines, pw.Cluster)
        return str(re.findall("sharding: ([a-z]+)", native_file(JobRequest(SMALL[1], 128, 2048), machines))[-1])

    assert (trained("8x2x4090"), trained("4x8xH100")) == ("distributed", "fsdp")


def test_micro_batches_are_as_large_as_the_accelerators_allow() -> None:
    def micro_batch(cluster: str) -> int:
        machines = pw.cluster(cluster)
        assert isinstance(machines, pw.Cluster)
        text = native_file(JobRequest("Qwen/Qwen2.5-1.5B-Instruct", 128, 1536), machines)
        return int(re.findall("micro_batch: ([0-9]+)", text)[-1])

    assert (micro_batch("1x8xH100"), micro_batch("1x2x4090")) == (4, 1)


def test_the_network_is_said_where_nobody_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *SEVEN]) == 0
    assert "network: 50 GB/s each way for each H100, assumed" in " ".join(capsys.readouterr().out.split())
    assert run(["plan", *SEVEN, "--cluster", "1x8xH100"]) == 0
    assert "network:" not in capsys.readouterr().out


def test_wide_nodes_that_are_alike_share_lines_of_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "deepseek-ai/DeepSeek-V3", "--cluster", "4x72xGB200", "--prompts", "1024", "--response", "8192"]
    assert run(["plan", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["node-0", "..", "node-3", *["ABC"] * 16] and lines[5].split() == ["+64", *["."] * 8] and len(lines) < 50


def test_idle_accelerators_have_a_reason_and_the_batch_that_fills_them(capsys: pytest.CaptureFixture[str]) -> None:
    batch = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--response", "4096"]
    assert run(["plan", *batch, "--cluster", "3x8xH100", "--prompts", "512"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    idle = re.search(
        r"idle: 8 of 24 accelerators are idle, as 4096 sequences divide among 16; with `--prompts 513` none is: ([\d.]+) seconds", said
    )
    assert idle is not None
    assert run(["plan", *batch, "--cluster", "3x8xH100", "--prompts", "513"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"plan: {idle[1]} seconds an iteration" in said and "idle" not in said


def test_what_trains_has_the_sizes_of_the_accelerators_that_train_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Slower accelerators with less memory beside them change nothing: they are idle, and the batch is not why."""

    def planned(cluster: str) -> tuple[str, str]:
        assert run(["plan", "--model", "Qwen/Qwen2.5-7B-Instruct", "--prompts", "256", "--response", "4096", "--cluster", cluster]) == 0
        said = " ".join(capsys.readouterr().out.split())
        seconds = re.search(r"plan: ([\d.]+) seconds an iteration", said)
        assert seconds is not None
        return seconds[1], said

    alone, beside = planned("1x8xH100"), planned("1x8xH100+2x8x4090")
    assert alone[0] == beside[0]
    assert "idle: 16 of 24 accelerators are idle " in beside[1]


@pytest.mark.parametrize("response", ["400000", "40000"])
def test_a_response_beyond_the_positions_of_the_model_is_one_finding(response: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--cluster", "2x8xH100", "--prompts", "512", "--response", response]
    for verb in (["init", *words], ["plan", *words, "--framework", "roll"]):
        run(verb)
        err = capsys.readouterr().err
        assert err.count("warning[PW403]") == 1 and "error" not in err
        assert "more than the 32768 positions of" in err


def test_a_response_within_the_positions_of_the_model_is_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "Qwen/Qwen2.5-7B-Instruct", "--cluster", "2x8xH100", "--prompts", "512", "--prompt", "768", "--response", "32000"]
    assert run(["init", *words]) == 0 and capsys.readouterr().err == ""
