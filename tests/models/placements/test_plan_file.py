"""A plan survives its file whole, is written whole or not at all, and is believed only as far as its digest goes."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from placewright.cli.options.standard_input import plan_file_in
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import NODE, EnvConfig, NodeGroup
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.moves import GroupMoves, Moves, Trade
from placewright.models.placements.plan import OPTIMAL, Plan, TermValue
from placewright.models.placements.plan_file import plan_to_json, read_plan, read_plan_file
from placewright.models.placements.run import Run
from placewright.models.text.files import write_whole
from placewright.report.solution import to_json

MACHINES = read_shorthand("2x8xH100+1x0")
assert isinstance(MACHINES, Cluster)
NODES = (
    *MACHINES.nodes[:2],
    Node(
        2,
        "robot",
        hardware=(Hardware("Franka", (("robot_ip", "10.0.0.1"),)),),
        cpus=8,
        memory=1024,
        labels={"a": "b"},
        topology={"rack": "r1"},
    ),
)
GROUPS = (
    NodeGroup("a800", (0, 1), "Accelerator", (EnvConfig((0,), (("GLOO_SOCKET_IFNAME", "eth0"),), "/opt/bin/python"),)),
    NodeGroup("arms", (2,), "Franka"),
)
PLAN = Plan(
    replace(MACHINES, nodes=NODES, declared=GROUPS),
    Assignment(
        {
            "actor": (Run(range(4), 0, first=0, each=2, pitch=2, node_group="a800"), Run(range(4, 6), 1, each=1)),
            "env": (Run(range(1), 2, "Franka", node_group="arms"),),
            "agent": (Run(range(100), 2, NODE, each=0, pitch=0, node_group="node"),),
        }
    ),
    OPTIMAL,
    (TermValue("extra racks", 2, 2, 1),),
    bound=2,
    seed=1,
    seconds=0.25,
)


def test_a_plan_that_is_too_large_is_refused_with_the_limit_of_plans(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(PLAN))
    with path.open("r+b") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(UnusableInput, match="is larger than 64 MiB"):
        plan_file_in(str(path))


def test_a_plan_that_is_written_and_read_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_whole(path, plan_to_json(PLAN))
    again = read_plan(path)
    assert again == PLAN
    assert again.digest == PLAN.digest
    assert again.placements("actor") == PLAN.placements("actor")
    assert again.cluster.groups["a800"].env_configs == GROUPS[0].env_configs


def test_a_plans_file_holds_the_moves_from_the_plan_before(tmp_path: Path) -> None:
    parts = (GroupMoves("actor", 2, before=8, now=8, lost=4, kept=3, renumbered=1), GroupMoves("env", 1, 1, 0, 0, 0))
    path = tmp_path / "plan.json"
    for moves in (
        Moves(parts, bound=1, before=(("extra racks", 1),), trade=Trade(2, "extra racks", 1)),
        Moves(parts, bound=0, no_trade=True, traffic_first=True),
        None,
    ):
        write_whole(path, to_json(PLAN, moves))
        assert read_plan_file(path) == (PLAN, moves)
    data = json.loads(to_json(PLAN, Moves(parts, bound=1)))
    assert refused(changed(tmp_path, moves={**data["moves"], "bound": "<b>"})).startswith("PW008 `plan.json` is not a plan: moves.bound")


@pytest.mark.parametrize(("shorthand", "model"), [("1x2", None), ("1x2xH100", "H100"), ("1x2xNV_GPU:X9", "X9"), ("1x2xNPU:X9", "NPU:X9")])
def test_accelerators_are_written_as_they_were_named(shorthand: str, model: str | None, tmp_path: Path) -> None:
    machines = read_shorthand(shorthand)
    assert isinstance(machines, Cluster)
    plan = Plan(machines, Assignment({"actor": (Run(range(2), 0),)}), OPTIMAL)
    write_whole(tmp_path / "plan.json", plan_to_json(plan))
    (node,) = json.loads(plan_to_json(plan))["cluster"]["nodes"]
    assert node["accelerators"].get("model") == model
    assert read_plan(tmp_path / "plan.json").digest == plan.digest


def test_numa_domains_and_zones_are_parts_of_the_digest(tmp_path: Path) -> None:
    first = NODES[0]
    divided = replace(first, accelerators=accelerators(8, "H100", numa=2), topology={"zone": "a"})
    plan = replace(PLAN, cluster=replace(PLAN.cluster, nodes=(divided, *NODES[1:])))
    write_whole(tmp_path / "plan.json", plan_to_json(plan))
    again = read_plan(tmp_path / "plan.json")
    assert again.cluster.nodes[0] == divided
    digests = {
        each.digest
        for each in (PLAN, plan, replace(PLAN, cluster=replace(PLAN.cluster, nodes=(replace(first, topology={"zone": "a"}), *NODES[1:]))))
    }
    assert len(digests) == 3


def test_time_is_no_part_of_the_digest_but_the_place_is() -> None:
    assert replace(PLAN, seconds=9.0).digest == PLAN.digest
    assert replace(PLAN, assignment=Assignment({"actor": PLAN.assignment.of("actor")})).digest != PLAN.digest


def refused(path: Path) -> str:
    with pytest.raises(UnusableInput) as caught:
        read_plan(path)
    (finding,) = caught.value.findings
    return f"{finding.code} {finding.message.replace(str(path), 'plan.json')}"


def changed(tmp_path: Path, **change: object) -> Path:
    """The plan with some of its JSON exchanged."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**json.loads(plan_to_json(PLAN)), **change}))
    return path


RUN = {"ranks": [0, 1], "node": 0, "kind": "Accelerator", "first": 0, "each": 1, "step": 1, "pitch": 1, "node_group": "cluster"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "PW008 `plan.json` is not a plan: schema: Input should be 1"),
        ({"status": "good"}, "PW008 `plan.json` is not a plan: status: Input should be 'verified', 'optimal' or 'feasible'"),
        ({"components": {"a": [{**RUN, "node": 3}]}}, "PW008 `plan.json` is not a plan: `a` is on a node that the plan's cluster does not have"),
        ({"components": {"a": [{**RUN, "first": 8}]}}, "PW008 `plan.json` is not a plan: `a` holds resources that node 0 does not have (Accelerator: 8)"),
        ({"components": {"a": [{**RUN, "pitch": -1, "ranks": [0, 2]}]}}, "PW008 `plan.json` is not a plan: `a` holds resources that node 0 does not have (Accelerator: 8)"),
        ({"components": {"a": [{**RUN, "ranks": [0, 1 << 30], "pitch": 0}]}}, "PW008 `plan.json` is not a plan: it has more than 1,048,576 processes"),
        ({"components": {"a": [{**RUN, "ranks": [0, 2], "each": 4, "step": 0, "pitch": 1}]}}, "PW008 `plan.json` is not a plan: `a` holds resources"),
        ({"components": {"a": [{**RUN, "ranks": [3, 7]}]}}, "PW008 `plan.json` is not a plan: the ranks of `a` do not follow each other: 3 where 0 comes next"),
        ({"components": {"a": [RUN, {**RUN, "ranks": [0, 2]}]}}, "PW008 `plan.json` is not a plan: the ranks of `a` do not follow"),
        ({"components": {"a": []}}, "PW008 `plan.json` is not a plan: `a` has no process"),
        ({"components": {"a": [{**RUN, "node_group": "b"}]}}, "PW008 `plan.json` is not a plan: `a` is in node group `b`, which the plan's cluster does not have"),
        ({"components": {"a": [RUN]}}, "PW009 `plan.json` was changed after it was made: its digest is"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    assert refused(changed(tmp_path, **change)).startswith(message)


def test_a_missing_file_and_a_text_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.json").startswith("PW001")
    (tmp_path / "text.json").write_text("{]")
    assert refused(tmp_path / "text.json").startswith("PW008")


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: pipe.read_text() == "text")
    reader.start()
    write_whole(pipe, "text")
    reader.join(60)
    assert pipe.is_fifo()


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("old")
    path.chmod(0o640)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["config.yaml"]
    monkeypatch.undo()
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
