"""Every example is a configuration that is right, but for those that show what is not; what it leaves open can be solved and written."""

from __future__ import annotations

import json
from pathlib import Path

import placewright as pw
import pytest
import yaml
from placewright.cli.main import run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MACHINES = {
    "faulty.yaml": "2x8xH100",
    "hints.yaml": "4x8xH100",
    "roll/rlvr.yaml": "2x8xH100",
    "roll/small.yaml": "2x2xH100",
    "verl/ppo.sh": "2x8xH100",
    "rlinf/reasoning.yaml": "x8xH100",
}
NOT_RIGHT = {"faulty.yaml", "tight.yaml"}
"""One with faults, and one that asks for more than there is."""
NO_JOBS = {"cluster.yaml", "composed/placement/shared.yaml", "composed/placement/split.yaml", "composed/train.yaml"}
FILES = sorted(
    path.relative_to(EXAMPLES).as_posix()
    for path in EXAMPLES.rglob("*")
    if path.suffix in (".yaml", ".sh") and path.relative_to(EXAMPLES).as_posix() not in NO_JOBS
)


def test_there_is_one_for_each_kind_of_file() -> None:
    assert {Path(file).parts[0] for file in FILES if "/" in file} == {"native", "rlinf", "roll", "verl"}
    assert len([file for file in FILES if file.startswith("native/")]) >= 4


@pytest.mark.parametrize("level", ["placement", "training"])
@pytest.mark.parametrize("file", [file for file in FILES if file not in NOT_RIGHT])
def test_an_example_is_right(file: str, level: str, capsys: pytest.CaptureFixture[str]) -> None:
    machines = ["--cluster", MACHINES[file]] if file in MACHINES else []
    assert run(["verify", str(EXAMPLES / file), *machines, "--level", level]) == 0
    said = capsys.readouterr().out
    assert "error[" not in said
    assert "warning[" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", [file for file in FILES if "placewright:" in (EXAMPLES / file).read_text("utf-8") or file.startswith("native/")]
)
def test_what_an_example_leaves_open_is_solved_and_written(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / Path(file).name
    copy.write_text((EXAMPLES / file).read_text("utf-8"), "utf-8")
    machines = ["--cluster", MACHINES[file]] if file in MACHINES else []
    report = pw.verify(copy, MACHINES.get(file))
    if not report.pending:
        return
    assert run(["solve", str(copy), *machines, "--write"]) == 0
    again = pw.verify(copy, MACHINES.get(file))
    assert (again.verdict, again.pending) == ("ok", ())
    capsys.readouterr()


def test_the_cluster_file_is_what_its_comments_say() -> None:
    cluster = pw.cluster(EXAMPLES / "cluster.yaml")
    assert isinstance(cluster, pw.Cluster)
    assert [node.name for node in cluster.nodes] == ["gpu-a0", "gpu-a1", "gpu-b0", "gpu-b1", "head", "arms"]
    assert cluster.groups["robots"].kind == "Franka"
    assert cluster.nodes[3].taken == 1 << 7


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith("native/")])
def test_native_examples_name_their_schema_and_keep_to_it(file: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    text = (EXAMPLES / file).read_text("utf-8")
    first = text.partition("\n")[0]
    named = (EXAMPLES / file).parent / first.removeprefix("# yaml-language-server: $schema=")
    assert named.resolve() == EXAMPLES / "placewright.schema.json"
    its = json.loads(json.dumps(yaml.safe_load(text)))  # to an editor each key is a string, such as the counts of `seconds`
    jsonschema.Draft7Validator(json.loads(named.read_text("utf-8"))).validate(its)
