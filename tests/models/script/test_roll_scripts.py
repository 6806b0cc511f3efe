"""Scripts that start ROLL: what they show it of the machine, and configurations that they write."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import read_shorthand
from placewright.planner.verify import verify

ROLE = {"strategy_args": {"strategy_name": "megatron_train"}, "device_mapping": "list(range(0,4))"}
JOB = {
    "adv_estimator": "grpo",
    "init_kl_coef": 0,
    "actor_train": ROLE,
    "actor_infer": {**ROLE, "strategy_args": {"strategy_name": "vllm"}},
    "rewards": {"math": {"world_size": 1}},
}
START = "python examples/start_rlvr_pipeline.py --config_path . --config_name "


def verdict(folder: Path, script: str) -> tuple[str, str]:
    (folder / "job.yaml").write_text(yaml.safe_dump(JOB), "utf-8")
    (folder / "run.sh").write_text(script, "utf-8")
    report = verify(load(folder / "run.sh", read_shorthand("1x8")))
    return report.verdict, " ".join(item.add for item in report.missing)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("export CUDA_VISIBLE_DEVICES=0,1,2,3\nray start --head --num-gpus=4\n", "ok"),  # the driver counts 4 too
        ("ray start --head --num-gpus=4\nexport CUDA_VISIBLE_DEVICES=0,1,2,3\n", "ok"),
        ("ray start --head --num-gpus=4\n", "faulty"),  # the driver counts 8, and Ray has no node of 8
        ("export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5\nray start --head --num-gpus=4\n", "faulty"),
    ],
)
def test_what_the_driver_sees_is_compared_with_what_ray_has(tmp_path: Path, before: str, expected: str) -> None:
    assert verdict(tmp_path, f"{before}{START}job\n")[0] == expected


@pytest.mark.parametrize(("before", "codes"), [("", []), ("export RAY_ADDRESS=local\n", ["PW114"]), ("ray start --head\n", ["PW114"])])
def test_a_release_that_counts_no_devices_of_the_driver_may_join_a_ray_that_runs(tmp_path: Path, before: str, codes: list[str]) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(JOB), "utf-8")
    (tmp_path / "run.sh").write_text(f"export CUDA_VISIBLE_DEVICES=0,1\n{before}{START}job\n", "utf-8")
    report = verify(load(tmp_path / "run.sh", read_shorthand("1x8"), composer=Composer(frameworks=("roll==0.1.0",))))
    assert [finding.code for finding in report.findings if "shows Ray" in finding.message] == codes
    assert any("may join" in item.fact for item in report.missing) == (not codes)


@pytest.mark.parametrize(
    "write", ["cat > made.yaml <<EOF\na: $(date)\nEOF\n", "cat <<EOF | tee ./made.yaml\na: 1\nEOF\n", "python make.py > made.yaml\n"]
)
def test_a_configuration_that_the_script_writes_is_not_said_to_be_missing(tmp_path: Path, write: str) -> None:
    found, add = verdict(tmp_path, f"{write}{START}made\n")
    assert (found, "verify again" in add) == ("incomplete", True)
    assert verdict(tmp_path, f"echo a > remade.yaml.log\n{START}made\n")[0] == "unusable"


@pytest.mark.parametrize("edit", ["sed -i 's/64/63/' ./job.yaml", "yq -i '.a = 1' job.yaml", "perl -pi -e s/a/b/ $(dirname $0)/job.yaml"])
def test_a_configuration_that_the_script_edits_before_is_not_judged_as_it_is_now(tmp_path: Path, edit: str) -> None:
    assert verdict(tmp_path, f"{edit}\n{START}job\n") == ("incomplete", "Run that part, then verify the configuration itself")
    for other in (edit.replace("-i", "-n").replace("-pi", "-ne"), edit.replace("job.yaml", "other.yaml"), f"cp job.yaml out\n#{edit}"):
        assert verdict(tmp_path, f"{other}\n{START}job\n")[0] == "ok"
    assert verdict(tmp_path, f"{START}job\n{edit}\n")[0] == "ok"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ("sed -i s/64/63/ elsewhere/job.yaml", "ok"),
        ("cd elsewhere; sed -i s/64/63/ ../job.yaml; cd ..", "incomplete"),
        ("sed -i s/64/63/ {folder}/job.yaml", "incomplete"),
        ("sed -i s/64/63/ /elsewhere/{name}/job.yaml", "incomplete"),
    ],
)
def test_an_edited_file_of_another_folder_is_another_file(tmp_path: Path, edit: str, expected: str) -> None:
    assert verdict(tmp_path, f"{edit.format(folder=tmp_path, name=tmp_path.name)}\n{START}job\n")[0] == expected


@pytest.mark.parametrize(("folder", "path"), [("sub", "../sub"), ("examples/cfg", "cfg")])
def test_a_configuration_is_beside_the_program_wherever_the_shell_went(tmp_path: Path, folder: str, path: str) -> None:
    """Hydra counts a relative `config_path` from the program's folder."""
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sub").mkdir(exist_ok=True)
    (tmp_path / folder / "job.yaml").write_text(yaml.safe_dump(JOB), "utf-8")
    (tmp_path / "run.sh").write_text(f"cd sub\npython ../examples/start_rlvr_pipeline.py --config_path {path} --config_name job\n", "utf-8")
    assert verify(load(tmp_path / "run.sh", read_shorthand("1x8"))).verdict == "ok"


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0", "0.3.0", "8eb27cc2"])
def test_an_interpolation_that_nothing_here_reads_is_refused_too(tmp_path: Path, release: str) -> None:
    """Source: ROLL, examples/start_*_pipeline.py (OmegaConf.to_container with resolve)."""
    for value, refused in (("${nothing_here}", True), ("${actor_train.device_mapping}", False), ("${oc.env:NOTHING_HERE}", False)):
        (tmp_path / "job.yaml").write_text(yaml.safe_dump({**JOB, "note": value}), "utf-8")
        report = verify(load(tmp_path / "job.yaml", read_shorthand("1x8"), composer=Composer(frameworks=(f"roll=={release}",))))
        assert ("PW120" in [finding.code for finding in report.errors]) is refused, (value, report.errors)
