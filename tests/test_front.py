"""The front door: the verbs as functions, loaded when they are first used."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import placewright as pw
import pytest

HINTS = (
    "cluster: 2x4xH100\ncomponents:\n  actor: {accelerators: 4, parallel: {tp: 4}}\n  rollout: {accelerators: 4, disjoint_from: actor}\n"
)
RLINF = "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: 0-7\n    rollout: 8-15\n"


@pytest.fixture
def hints(tmp_path: Path) -> Path:
    path = tmp_path / "hints.yaml"
    path.write_text(HINTS)
    return path


@pytest.fixture
def rlinf(tmp_path: Path) -> Path:
    path = tmp_path / "train.yaml"
    path.write_text(RLINF)
    return path


def test_every_name_of_the_front_door_opens() -> None:
    for name in pw.__all__:
        assert getattr(pw, name) is not None
    assert set(pw.__all__) <= set(dir(pw))
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        pw.sovle  # noqa: B018


def test_importing_it_loads_next_to_nothing() -> None:
    script = "import sys, placewright; print(*sorted(name for name in sys.modules if name.split('.')[0] in ('yaml', 'pydantic', 'ray', 'ortools')))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_load_keeps_what_is_wrong_for_later(tmp_path: Path) -> None:
    reading = pw.load(tmp_path / "none.yaml")
    assert reading.problem is None
    assert [finding.code for finding in reading.findings] == ["PW001"]


def test_verify_takes_machines_as_an_object_or_in_one_word(rlinf: Path) -> None:
    assert pw.verify(rlinf, cluster="x8").verdict == "ok"
    assert pw.verify(rlinf, cluster=pw.cluster("2x8xH100")).verdict == "ok"  # type: ignore[arg-type]
    report = pw.verify(rlinf, cluster="1x8")
    assert [finding.code for finding in report.errors] == ["PW114"]
    assert pw.verify(pw.load(rlinf, cluster="x8")).plan is not None


def test_a_shorthand_that_is_none_is_a_value_error(rlinf: Path) -> None:
    with pytest.raises(ValueError, match="NODESxACCELERATORS"):
        pw.verify(rlinf, cluster="2x8x")


def test_solve_gives_a_plan_that_survives_its_file(hints: Path, tmp_path: Path) -> None:
    answer = pw.solve(hints)
    assert answer.verdict == "optimal"
    assert answer.plan is not None
    assert isinstance(answer.plan, pw.Plan)
    pw.write_plan(answer.plan, tmp_path / "plan.json")
    assert pw.read_plan(tmp_path / "plan.json").digest == answer.plan.digest
    (first, *_) = answer.plan.placements("rollout")
    assert isinstance(first, pw.Placement)
    assert (first.node_rank, first.visible_accelerators) == (1, ("0",))


def test_solve_takes_a_problem(hints: Path) -> None:
    problem = pw.load(hints).problem
    assert problem is not None
    assert pw.solve(problem).verdict == "optimal"


def test_solve_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(HINTS.replace("accelerators: 4", "accelerators: 8"))
    answer = pw.solve(tmp_path / "large.yaml")
    assert (answer.verdict, answer.plan) == ("impossible", None)
    assert answer.findings[0].code == "PW601"


def test_solve_raises_for_a_configuration_with_errors(rlinf: Path) -> None:
    with pytest.raises(pw.UnusableInput) as caught:
        pw.solve(rlinf, cluster="1x8")
    assert [finding.code for finding in caught.value.findings] == ["PW114"]


def test_launch_raises_before_anything_starts_if_there_is_no_plan(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text(HINTS.replace("accelerators: 4", "accelerators: 8"))
    with pytest.raises(pw.UnusableInput) as caught:
        pw.launch(tmp_path / "large.yaml", simulate=True)
    assert [finding.code for finding in caught.value.findings] == ["PW601"]


def test_without_ray_only_launching_fails(hints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from placewright.runtime.failure import LaunchFailed
    from placewright.runtime.port import ray_compat

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(LaunchFailed) as caught:
        ray_compat.need_ray()
    assert [finding.code for finding in caught.value.findings] == ["PW708"]
    assert pw.solve(hints).verdict == "optimal"


def test_machines_may_be_a_path_and_nothing_else_than_machines(rlinf: Path, tmp_path: Path) -> None:
    path = tmp_path / "2x8.yaml"  # a name like a shorthand is still a file
    path.write_text("nodes: [{repeat: 2, accelerators: {count: 4}}]")
    assert [finding.code for finding in pw.verify(rlinf, cluster=path).errors] == ["PW102"]
    assert [finding.code for finding in pw.verify(rlinf, cluster=str(path)).errors] == ["PW102"]
    with pytest.raises(TypeError, match="not int"):
        pw.verify(rlinf, cluster=5)  # type: ignore[arg-type]


def test_a_dialect_that_is_not_there_and_a_name_that_is_none(rlinf: Path) -> None:
    with pytest.raises(ValueError, match="there is no dialect `slime`"):
        pw.verify(rlinf, dialect="slime")
    assert [finding.code for finding in pw.load("a\0b").findings] == ["PW001"]


def test_what_the_command_line_can_say_the_functions_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "conf" / "places").mkdir(parents=True)
    (tmp_path / "conf" / "places" / "split.yaml").write_text("actor: 0-3\nrollout: ${oc.env:ROLLOUT}\n")
    file = tmp_path / "train.yaml"
    file.write_text("defaults: [places/split@cluster.component_placement, _self_]\ncluster: {num_nodes: 1}\n")
    monkeypatch.setenv("ROLLOUT", "4-11")
    options: dict[str, Any] = {"config_roots": [tmp_path / "conf"], "allow_env": ["ROLLOUT"]}
    (unknown,) = pw.verify(file, "x8").errors
    assert (unknown.code, "--config-root" in unknown.help) == ("PW010", True)
    assert [finding.code for finding in pw.verify(file, "x8", **options).errors] == ["PW102"]
    report = pw.verify(file, "x8", settings=["cluster.num_nodes=2"], level="training", **options)
    assert report.plan is not None
    assert report.plan.components == ("actor", "rollout")
    answer = pw.solve(file, "x8", settings=["cluster.num_nodes=2"], **options)
    assert answer.plan is not None


def test_values_that_yaml_has_not_are_named_and_a_setting_may_be_a_text() -> None:
    job: dict[str, Any] = {"cluster": "1x8", "components": {"actor": {"placement": "0-7"}}}
    with pytest.raises(TypeError, match="maps, lists, numbers and texts, not PosixPath"):
        pw.verify({**job, "output": Path("out")})
    assert [finding.code for finding in pw.verify(job, settings="components.actor.placement=0-8").errors] == ["PW102"]


def test_hints_without_a_cluster_are_still_to_solve(tmp_path: Path) -> None:
    (tmp_path / "hints.yaml").write_text("cluster: {num_nodes: 2}\nplacewright: {components: {actor: {accelerators: 4}}}\n")
    assert pw.verify(tmp_path / "hints.yaml").pending == ("actor",)


def test_convert_gives_the_text_and_what_was_lost(hints: Path, rlinf: Path) -> None:
    done = pw.convert(rlinf, "native", cluster="2x8")
    assert (done.verdict, done.losses, done.findings) == ("exact", (), ())
    assert done.text == "cluster: 2x8\ncomponents:\n  actor: {placement: 0-7}\n  rollout: {placement: 8-15}\n"
    assert pw.convert(hints, "rlinf").text.startswith("cluster:\n  num_nodes: 2\n")
    assert [finding.code for finding in pw.convert(rlinf, "native").findings] == ["PW011"]
    with pytest.raises(ValueError, match="no dialect `hydra`"):
        pw.convert(rlinf, "hydra")


RACKS = """\
cluster:
  nodes:
    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: a}}
    - {repeat: 2, accelerators: {count: 8, model: H100}, topology: {rack: b}}
components:
  actor: {accelerators: 8, parallel: {tp: 8}}
  rollout: {accelerators: 16, parallel: {tp: 8}, memory: 40GiB}
"""


@pytest.fixture
def racks(tmp_path: Path) -> Path:
    path = tmp_path / "racks.yaml"
    path.write_text(RACKS)
    return path


def test_solve_stays_near_a_plan_where_nodes_are_gone(racks: Path, tmp_path: Path) -> None:
    before = pw.solve(racks).plan
    assert before is not None
    gone = next(placement.node_id for placement in before.placements("actor"))
    answer, moves = pw.replan(racks, before, [gone], trade=True)
    assert answer.plan is not None
    assert moves is not None
    assert (moves.lost, moves.moved, moves.kept, moves.proved) == (1, 0, 2, True)
    assert moves.no_trade
    assert [p.node_id for p in answer.plan.placements("rollout")] == [p.node_id for p in before.placements("rollout")]
    pw.write_plan(before, tmp_path / "plan.json")
    again = pw.solve(racks, previous=tmp_path / "plan.json", lose=[gone])
    assert again.plan is not None
    assert again.plan.digest == answer.plan.digest
    assert pw.replan(racks, before, ["node-0", 1])[1] is None  # 24 accelerators on the 16 that are left


def test_nodes_and_terms_that_do_not_exist_are_findings(racks: Path) -> None:
    with pytest.raises(pw.UnusableInput) as caught:
        pw.solve(racks, lose=["node-9"])
    assert [finding.code for finding in caught.value.findings] == ["PW609"]
    with pytest.raises(pw.UnusableInput) as caught:
        pw.solve(racks, at_most={"extra rack": 0})
    assert [(finding.code, finding.help) for finding in caught.value.findings] == [("PW611", "write `extra racks=0`")]
    assert pw.solve(racks, at_most={"extra racks": 0}).verdict == "optimal"


def test_whatif_prices_demands_machines_and_settings(racks: Path) -> None:
    pricing = pw.whatif(racks)
    assert [(each.name, each.effect) for each in pricing.after] == [
        ("without actor.parallel", "same"), ("without rollout.parallel", "same"), ("without rollout.memory", "same"),
    ]  # fmt: skip
    asked = pw.whatif(racks, nodes=["+1", "-2"], lose=[["node-0", 2], 3], change=["components.actor.accelerators=16"], sandbox=False)
    assert [(each.name, each.effect) for each in asked.after] == [
        ("--nodes +1", "same"), ("--nodes -2", "impossible now"), ("--lose node-0,2", "impossible now"), ("--lose 3", "same"),
        ("--set components.actor.accelerators=16", "larger"),
    ]  # fmt: skip
    with pytest.raises(pw.UnusableInput) as caught:
        pw.whatif(racks, drop=["rollout.memry"])
    assert caught.value.findings[0].help == "name `rollout.memory`"
    with pytest.raises(TypeError, match="not a Reading"):
        pw.whatif(pw.load(racks), change=["components.actor.accelerators=16"])


def test_alternatives_say_why_they_lose(racks: Path) -> None:
    found = pw.alternatives(racks, 2)
    best, other = found.found
    assert best.loss is None
    assert other.differs
    assert other.loss is None or other.loss.value > other.loss.best
    with pytest.raises(pw.UnusableInput) as caught:
        pw.alternatives(racks, lose=[0, 1])
    assert [finding.code for finding in caught.value.findings] == ["PW601"]


def test_machines_are_discovered_from_pasted_texts(tmp_path: Path) -> None:
    (tmp_path / "smi.txt").write_text("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n")
    found = pw.discover(nvidia_smi=[tmp_path / "smi.txt"])
    assert [(node.name, node.accelerator_model) for node in found.nodes] == [("node-0", "H100")]
    with pytest.raises(ValueError, match="name what is to be discovered"):
        pw.discover()


NATIVE = {"cluster": "2x4xH100", "components": {"actor": {"placement": "0-3"}, "rollout": {"placement": "4-7"}}}


def test_a_mapping_and_a_text_are_taken_where_a_file_is() -> None:
    text = "cluster: 2x4xH100\ncomponents:\n  actor: {placement: 0-3}\n  rollout: {placement: 4-7}\n"
    of_mapping, of_text = pw.verify(NATIVE), pw.verify(text)
    assert of_mapping.plan is not None
    assert of_text.plan is not None
    assert of_mapping.plan.digest == of_text.plan.digest
    assert pw.solve(text.replace("placement: 0-3", "accelerators: 4")).verdict == "optimal"


def test_a_report_is_true_if_ok_and_prints_as_the_command_does() -> None:
    report = pw.verify(NATIVE)
    assert report
    assert str(report).splitlines()[0] == "component  world size  nodes  accelerators  ranks"
    faulty = pw.verify({**NATIVE, "components": {"actor": {"placement": "0-30"}}})
    assert not faulty
    assert str(faulty).startswith("error[PW102]: `actor`: `0-30` is outside `cluster`")
    assert not pw.verify({**NATIVE, "components": {}})


def test_a_plan_prints_its_grid_and_is_a_picture_in_a_notebook() -> None:
    plan = pw.verify(NATIVE).plan
    assert plan is not None
    assert str(plan).splitlines()[1] == "node-0  A  A  A  A"
    assert "node-1:3 H100\nB rollout: rank 3" in plan._repr_html_()  # type: ignore[attr-defined]


def test_an_answer_prints_its_plan_or_the_reasons_why_there_is_none() -> None:
    answer = pw.solve(NATIVE)
    assert str(answer) == str(answer.plan)
    assert answer._repr_html_().startswith(answer.plan._repr_html_())  # type: ignore[attr-defined, union-attr]
    job = {"cluster": "1x4xH100", "components": {"actor": {"accelerators": 3}, "rollout": {"accelerators": 2, "disjoint_from": "actor"}}}
    impossible = pw.solve(job)
    assert str(impossible).startswith("error[PW601]: ")
    assert str(impossible).endswith("\n\nimpossible")


def test_older_argument_names_still_work_and_say_their_new_ones() -> None:
    with pytest.warns(DeprecationWarning, match="`set` is called `settings`"):
        report = pw.verify(NATIVE, set=["components.actor.placement=0-30"])
    assert [finding.code for finding in report.errors] == ["PW102"]
    with pytest.raises(TypeError, match="there is no argument `sets`"):
        pw.verify(NATIVE, sets=[])


def test_the_model_is_read_from_its_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps({"num_attention_heads": 6, "num_hidden_layers": 2, "hidden_size": 768, "vocab_size": 100})
    )
    job = {**NATIVE, "components": {"actor": {"placement": "0-3", "parallel": {"tp": 4}}}}
    assert [finding.code for finding in pw.verify(job, model_config=tmp_path / "config.json").errors] == ["PW404"]


def test_the_version_is_that_of_the_package() -> None:
    assert pw.__version__ == importlib.metadata.version("placewright")
