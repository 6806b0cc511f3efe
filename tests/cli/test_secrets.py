"""What an environment variable holds is used, and never shown: in no message, frame, JSON, table, diff or plan."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.main import run
from sampling import some

SECRET = "${oc.env:SECRET}"
TEXTS = ["hunter2-pass", "0-3:hunter2", "hunter2 " * 40, "hunter2,0-1", "${oc.env:HOME}hunter2", "hunter2\nhunter2", "[hunter2]"]
RANKS = ["7531-9753", "7531", "0:7531", "7531:0-7531", "9-7531-2", "-7531", "7531,7531", "7531 7531", "0-7531:0-7531:0-7531", "7531" * 30]
PLACES = {
    "placement": f"cluster: {{num_nodes: 2, component_placement: {{actor: '{SECRET}'}}}}",
    "part of a placement": f"cluster: {{num_nodes: 2, component_placement: {{actor: '0-{SECRET}'}}}}",
    "placement in words": f"cluster: {{num_nodes: 2, component_placement: {{actor: {{node_group: cluster, placement: '{SECRET}'}}}}}}",
    "placement elsewhere": f"gpus: '{SECRET}'\ncluster: {{num_nodes: 2, component_placement: {{actor: '${{gpus}}', rollout: '${{gpus}}'}}}}",
    "key": f"a: {{b: 0-3}}\ncluster: {{num_nodes: 2, component_placement: {{actor: '${{a.{SECRET}}}'}}}}",
    "variable": f"cluster: {{num_nodes: 2, component_placement: {{actor: '${{oc.env:{SECRET}}}'}}}}",
    "sum": f"cluster: {{num_nodes: 2, component_placement: {{actor: '${{multiply:{SECRET},2}}'}}}}",
    "nodes": f"cluster: {{num_nodes: '{SECRET}', component_placement: {{actor: 0-3}}}}",
    "nodes, decoded": "cluster: {num_nodes: '${oc.decode:%s}', component_placement: {actor: 0-99}}".replace("%s", SECRET),
    "hint, decoded": "cluster: {num_nodes: 2}\nplacewright: {components: {actor: {accelerators: '${oc.decode:%s}'}}}".replace("%s", SECRET),
    "cluster": f"cluster: '{SECRET}'",
    "all places": f"cluster: {{num_nodes: 2, component_placement: '{SECRET}'}}",
    "group": f"cluster: {{num_nodes: 2, component_placement: {{actor: {{node_group: '{SECRET}', placement: 0-3}}}}}}",
    "groups": f"cluster: {{num_nodes: 2, component_placement: {{actor: {{node_group: ['{SECRET}', cluster], placement: 0-3}}}}}}",
    "label": "cluster: {num_nodes: 2, node_groups: [{label: '%s', node_ranks: 0}], component_placement: {actor: 0-3}}".replace(
        "%s", SECRET
    ),
    "node ranks": "cluster: {num_nodes: 2, node_groups: [{label: a, node_ranks: '%s'}], component_placement: {actor: 0-3}}".replace(
        "%s", SECRET
    ),
    "variables": "cluster: {num_nodes: 2, node_groups: [{label: a, node_ranks: 0, env_configs: [{node_ranks: 0, env_vars: [{TOKEN: '%s'}]}]}], "
    "component_placement: {actor: {node_group: a, placement: 0-3}}}".replace("%s", SECRET),
    "interpreter": "cluster: {num_nodes: 2, node_groups: [{label: a, node_ranks: 0, env_configs: [{node_ranks: 0, python_interpreter_path: "
    "'%s'}]}], component_placement: {actor: {node_group: a, placement: 0-3}}}".replace("%s", SECRET),
    "robot": "cluster: {num_nodes: 2, node_groups: [{label: a, node_ranks: 0, hardware: {type: Franka, configs: [{node_rank: 0, robot_ip: "
    "'%s'}]}}], component_placement: {env: {node_group: a, placement: 0}}}".replace("%s", SECRET),
    "robot type": "cluster: {num_nodes: 2, node_groups: [{label: a, node_ranks: 0, hardware: {type: '%s', configs: [{node_rank: 0}]}}], "
    "component_placement: {env: {node_group: a, placement: 0}}}".replace("%s", SECRET),
    "profiling": f"cluster: {{num_nodes: 2, profiling: {{backend: '{SECRET}', steps: ['{SECRET}']}}, component_placement: {{actor: 0-3}}}}",
    "task": f"runner: {{task_type: '{SECRET}'}}\ncluster: {{num_nodes: 2, component_placement: {{actor,rollout: 0-3}}}}",
    "environments": f"env: {{train: {{total_num_envs: '{SECRET}', group_size: 2}}}}\nrunner: {{task_type: embodied}}\n"
    "cluster: {num_nodes: 2, component_placement: {actor,rollout,env: 0-3}}",
    "hint": f"cluster: {{num_nodes: 2}}\nplacewright: {{components: {{actor: {{accelerators: '{SECRET}'}}}}}}",
    "native": f"cluster: 2x8\ncomponents: {{actor: {{accelerators: '{SECRET}'}}}}",
    "native placement": f"cluster: 2x8\ncomponents: {{actor: {{placement: '{SECRET}'}}}}",
    "native cluster": f"cluster: '{SECRET}'\ncomponents: {{actor: {{placement: 0-3}}}}",
    "search path": f"hydra: {{searchpath: ['file://{SECRET}', '{SECRET}/x', 'pkg://{SECRET}']}}\ndefaults: [nothing, '../{SECRET}/x', 'a/{SECRET}']\n"
    "cluster: {num_nodes: 2, component_placement: {actor: 0-3}}",
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLACEWRIGHT_DEBUG", "1")


@pytest.mark.parametrize(
    ("place", "value"), [(place, value) for number, place in enumerate(PLACES) for value in some([*TEXTS, *RANKS], 8, number)]
)
def test_no_text_of_a_variable_comes_out(
    place: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET", value)
    (tmp_path / "a.yaml").write_text(PLACES[place] + "\n")
    common = ["a.yaml", "--cluster", "2x8", "--allow-env", "SECRET"]
    said = ""
    for command in (
        ["verify", *common, "--placements", "--level", "training"],
        ["verify", *common, "--placements", "--format", "json"],
        ["solve", *common, "-o", "plan.json", "--write"],
        ["solve", *common, "--format", "json"],
        ["verify", *common, "--set", f"++cluster.component_placement.rollout='{SECRET}'"],
    ):
        assert run(command) in (0, 1, 2, 5)
        captured = capsys.readouterr()
        said += captured.out + captured.err
    said += "".join(path.read_text() for path in tmp_path.iterdir())
    assert "hunter2" not in said
    if value in RANKS:
        assert "7531" not in said


def test_it_is_used_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "0-3")
    (tmp_path / "a.yaml").write_text(PLACES["placement"])
    assert pw.verify("a.yaml", "2x8", allow_env=["SECRET"]).plan is not None
    assert pw.verify("a.yaml", "2x8").plan.components == ()  # type: ignore[union-attr]


def test_what_is_wrong_is_said_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "0-99")
    (tmp_path / "a.yaml").write_text(PLACES["placement"])
    (finding,) = pw.verify("a.yaml", "2x8", allow_env=["SECRET"]).errors
    assert finding.code == "PW102"
    assert finding.message == "a rank is outside what exists: `${oc.env:SECRET}` comes from the environment and is not shown"
    assert (finding.label, finding.edit) == ("", None)


def test_a_text_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    (tmp_path / "a.yaml").write_text(PLACES["placement"])
    report = pw.verify("a.yaml", "2x8", allow_env=["SECRET"])
    assert report.errors == ()
    assert "the environment variable `SECRET` holds text, which is not shown and so not judged" in [each.why for each in report.unchecked]


def test_a_folder_that_a_variable_names_is_read_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hunter2" / "part").mkdir(parents=True)
    (tmp_path / "hunter2" / "part" / "x.yaml").write_text("cluster: {component_placement: {actor: 0-99}}\n")
    (tmp_path / "a.yaml").write_text(
        f"hydra: {{searchpath: ['file://{SECRET}']}}\ndefaults: [part/x@_global_]\ncluster: {{num_nodes: 2}}\n"
    )
    monkeypatch.setenv("SECRET", str(tmp_path / "hunter2"))
    assert run(["verify", "a.yaml", "--cluster", "2x8", "--allow-env", "SECRET", "--config-root", "."]) == 1
    said = capsys.readouterr().out
    assert "--> ${oc.env:SECRET}/part/x.yaml:1:40" in said
    assert "actor: 0-99" in said
    assert "hunter2" not in said
