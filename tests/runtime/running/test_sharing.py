"""Launches that hold a part of a node: beside other jobs, on whichever accelerators are free, and said so everywhere."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Iterator

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.plan_file import plan_file_of, plan_to_json
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up, launch
from placewright.runtime.port.on_ray import RayPort
from placewright.runtime.port.port import RayBundle
from placewright.runtime.progress import OnStep, Step, silent
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from placewright.runtime.reserving.reservation import NodeDemand, Reservation
from placewright.runtime.running.start import GrantedAccelerators, with_given
from placewright.runtime.world.matching import Survey, match_machines

from ..conftest import Planner
from ..fake import FakePort, Fault
from ..faults.everywhere import carries
from ..faults.faulty import FaultyPort
from ..recovery.launching import Trainer
from ..world.machines import ray_node, report

HALF = {"actor": (Run(range(4), 1),)}
TOLD = "node-1: accelerators 0-3 of the plan are 4-7 there"


def plan_on(cluster: str = "2x8xH100", runs: dict[str, tuple[Run, ...]] = HALF, **changes: Any) -> Plan:
    return replace(Plan(read_shorthand(cluster), Assignment(runs), VERIFIED), **changes)


def with_node(plan: Plan, rank: int, **changes: Any) -> Plan:
    nodes = list(plan.cluster.nodes)
    nodes[rank] = replace(nodes[rank], **changes)
    return replace(plan, cluster=Cluster(tuple(nodes)))


@contextmanager
def other_job(port: Any, count: int, node_id: str = "ray-1", name: str = "other") -> Iterator[None]:
    """Another job that holds the first free accelerators of a node."""
    reservation = Reservation(port, name, [NodeDemand(RayBundle(node_id, {"GPU": float(count)}), "", "")])
    try:
        reservation.acquire()
        yield
    finally:
        reservation.release()


@contextmanager
def launched(port: Any, plan: Plan, share: bool = True, progress: OnStep = silent, restarts: int = 0) -> Iterator[Launch]:
    with ExitStack() as stack:
        yield bring_up(stack, plan, port, Trainer, 60.0, progress, policy=RestartPolicy(restarts), share_nodes=share)


def refused(port: Any, plan: Plan, share: bool = True) -> list[tuple[str, str, str | None]]:
    with pytest.raises(LaunchFailed) as caught, launched(port, plan, share):
        pytest.fail("it was launched")
    return [(finding.code, finding.message, finding.help) for finding in caught.value.findings]


def visible(running: Launch) -> list[str]:
    return [",".join(row.visible) for row in running.audit]


def held_of(port: FakePort, rank: int) -> dict[str, float]:
    (bundle,) = (bundle for each in port.holdings() if each.name != "other" for bundle in each.bundles if bundle.node_id == f"ray-{rank}")
    return dict(bundle.resources)


def test_what_is_free_of_a_node_stands_for_what_the_plan_names_and_every_place_says_so() -> None:
    port, told = FakePort(8, 8), list[Step]()
    with other_job(port, 4), launched(port, plan_on(cpus={"actor": 2}), progress=told.append) as running:
        assert running.given == (GrantedAccelerators(1, "node-1", (0, 1, 2, 3), (4, 5, 6, 7)),)
        assert TOLD in [str(step) for step in told]
        assert running.plan.assignment.of("actor") == (Run(range(4), 1, first=4),)
        assert [its.visible_accelerators for its in running.plan.placements("actor")] == [("4",), ("5",), ("6",), ("7",)]
        assert visible(running) == ["4", "5", "6", "7"]
        assert [actor.environment["CUDA_VISIBLE_DEVICES"] for actor in port.actors] == ["4", "5", "6", "7"]
        assert [actor.environment["LOCAL_HARDWARE_RANKS"] for actor in port.actors] == ["4", "5", "6", "7"]
        assert held_of(port, 1) == {"GPU": 4, "CPU": 8}
        assert plan_file_of(plan_to_json(running.plan).encode(), "plan.json").plan == running.plan
    assert port.left_over() == {}


def test_two_launches_share_one_node() -> None:
    port = FakePort(8, 8)
    with launched(port, plan_on()) as first, launched(port, plan_on()) as second:
        assert (visible(first), visible(second)) == (["0", "1", "2", "3"], ["4", "5", "6", "7"])
        assert (first.given, [str(each) for each in second.given]) == ((), [TOLD])
        assert first.plan == plan_on()
        ((code, message, _),) = refused(port, plan_on())
        assert code == "PW702" and "needs 4 accelerators free, 0 are" in message
    assert port.left_over() == {}


def test_what_is_given_in_pieces_keeps_the_order_of_every_process() -> None:
    plan = plan_on(runs={"actor": (Run(range(2), 1, first=3, each=2, step=-2, pitch=-1),)})
    assert [its.visible_accelerators for its in plan.placements("actor")] == [("3", "1"), ("2", "0")]
    moved = with_given(plan, [GrantedAccelerators(1, "node-1", (0, 1, 2, 3), (1, 4, 6, 7))])
    assert [its.visible_accelerators for its in moved.placements("actor")] == [("7", "4"), ("6", "1")]
    assert plan_file_of(plan_to_json(moved).encode(), "plan.json").plan == moved


def test_components_on_the_same_accelerators_stay_together() -> None:
    runs = {
        "actor": (Run(range(2), 0, each=4, pitch=4), Run(range(2, 4), 1)),
        "reference": (Run(range(2), 1),),
        "env": (Run(range(1), 1, "node", each=0, node_group="node"),),
    }
    port = FakePort(8, 8)
    with other_job(port, 3), launched(port, plan_on(runs=runs)) as running:
        seen = {(row.component, row.rank): ",".join(row.visible) for row in running.audit}
        assert seen == {
            ("actor", 0): "0,1,2,3", ("actor", 1): "4,5,6,7", ("actor", 2): "3", ("actor", 3): "4",
            ("reference", 0): "3", ("reference", 1): "4", ("env", 0): "0,1,2,3,4,5,6,7",
        }  # fmt: skip
        assert (held_of(port, 0)["GPU"], held_of(port, 1)["GPU"]) == (8, 2)


def test_only_shared_nodes_are_asked() -> None:
    port = FakePort(8, 8)
    with launched(port, plan_on(runs={"actor": (Run(range(8), 0), Run(range(8, 12), 1))})):
        assert port.calls.count("run") == 1
    port = FakePort(8, 8)
    with launched(port, plan_on(runs={"actor": (Run(range(8), 0),)})):
        assert "run" not in port.calls


@pytest.mark.parametrize(
    "plan",
    [
        plan_on(runs={"actor": (Run(range(8), 1),)}),
        plan_on(isolate_accelerator=False),
        with_node(plan_on(), 1, accelerators=tuple(replace(its, physical_id=f"GPU-{its.index}") for its in plan_on().cluster.nodes[1].accelerators)),
        plan_on("2x4xH100"),
    ],
    ids=["uses it all", "processes see the whole node", "ids of its own", "another machine"],
)  # fmt: skip
def test_a_node_is_held_whole_where_others_cannot_stand_for_what_the_plan_names(plan: Plan) -> None:
    port = FakePort(8, 8)
    with launched(port, plan) as running:
        assert held_of(port, 1)["GPU"] == 8
        assert (running.given, running.plan) == ((), plan)


def test_without_the_option_a_node_is_held_whole_and_the_help_names_the_option_where_it_were_enough() -> None:
    port = FakePort(8, 8)
    with launched(port, plan_on(), share=False):
        assert held_of(port, 1)["GPU"] == 8
    with other_job(port, 4):
        ((code, message, help),) = refused(port, plan_on(), share=False)
        assert code == "PW702" and "needs 8 accelerators free, 4 are" in message
        assert help is not None and help.endswith("or hold only the 4 that the plan uses there: `--share-nodes`")
    with other_job(port, 5):
        for share in (False, True):
            ((_, _, help),) = refused(port, plan_on(), share)
            assert help is not None and "--share-nodes" not in help


def test_what_the_plan_counts_as_taken_is_not_taken_for_its_own() -> None:
    port = FakePort(8, 8)
    plan = with_node(plan_on(runs={"actor": (Run(range(2), 1, first=4),)}), 1, taken=0b1111)
    ((code, message, _),) = refused(port, plan)
    assert (code, "gave accelerators 0, 1, which the plan's machine does not have or counts as taken" in message) == ("PW702", True)
    assert port.left_over() == {}
    with other_job(port, 5), launched(port, plan) as running:
        assert visible(running) == ["5", "6"]


def test_ids_that_others_use_are_compared_when_it_is_known_which_are_meant() -> None:
    plan = plan_on("1x8xH100", {"actor": (Run(range(4), 0),)})
    node, look = ray_node("a", 8), report(8)
    for device in look["devices"][:4]:
        device["used"] = 60_000
    seen = Survey({node.node_id: look})
    assert list(match_machines(plan, [node], seen, share_nodes=True)) == [0]
    moved = with_given(plan, [GrantedAccelerators(0, "node-0", (0, 1, 2, 3), (4, 5, 6, 7))])
    assert list(match_machines(moved, [node], seen)) == [0]
    with pytest.raises(LaunchFailed, match="has the accelerators 0, 1, 2, 3 in use"):
        match_machines(plan, [node], seen)


def test_a_restart_shares_again_and_may_be_given_others() -> None:
    port = FakePort(8, 8)
    with ExitStack() as other:
        other.enter_context(other_job(port, 4))
        with launched(port, plan_on(), restarts=1) as running:
            other.close()
            port.kill(port.actors[0].start.name)
            recovery = running.recover()
            assert recovery.moves is None
            assert (held_of(port, 1)["GPU"], visible(running), running.given) == (4, ["0", "1", "2", "3"], ())
            assert running.plan == plan_on()
    assert port.left_over() == {}


def test_what_a_lost_node_had_is_given_what_another_job_left_of_the_next() -> None:
    port = FakePort(8, 8)
    with other_job(port, 4, "ray-0"), launched(port, plan_on(), restarts=1) as running:
        assert visible(running) == ["0", "1", "2", "3"]
        port.lose_node(1)
        recovery = running.recover()
        assert (recovery.lost, [str(each) for each in running.given]) == (
            ("node-1",),
            ["node-0: accelerators 0-3 of the plan are 4-7 there"],
        )
        assert ({row.node for row in running.audit}, visible(running)) == ({"node-0"}, ["4", "5", "6", "7"])
    assert port.left_over() == {}


@pytest.mark.parametrize("count", [0, 3])
def test_a_node_that_does_not_tell_all_ids_ends_the_launch(count: int) -> None:
    class Terse(FakePort):
        def answer(self, ticket: Any) -> Any:
            its = super().answer(ticket)
            return its[:count] if isinstance(its, list) else its

    port = Terse(8, 8)
    assert [(code, message) for code, message, _ in refused(port, plan_on())] == [
        ("PW702", f"node 1 (`node-1`) gave 4 accelerators and reports the ids of {count}")
    ]
    assert port.left_over() == {}


@pytest.mark.parametrize("kind", [Fault, KeyboardInterrupt])
@pytest.mark.parametrize("after", [False, True])
def test_nothing_is_left_wherever_it_fails(after: bool, kind: type[BaseException]) -> None:
    seen: list[str] = []
    for number in range(1, 500):
        behind = FakePort(8, 8)
        with other_job(behind, 4):
            port = FaultyPort(behind, number, kind, after)
            problem: BaseException | None = None
            try:
                with launched(port, plan_on()) as running:
                    assert running.call("actor", "step") == ["stepped"] * 4
            except (kind, LaunchFailed) as caught:
                problem = caught
            if len(port.calls) < number:
                break
            seen.append(port.calls[number - 1])
            assert carries(problem, kind), (number, seen[-1])
            if (seen[-1], after) != ("hold", True):  # what is held without our knowing ends with the connection
                assert behind.left_over() == {"holds": ["other"]}, (number, seen[-1])
    assert {"hold", "state", "run", "collect_done", "answer", "start", "release"} <= set(seen)


@pytest.mark.ray
def test_on_real_ray_a_launch_takes_what_another_job_left_of_a_node(plan: Planner, address: str) -> None:
    made = plan("2x4xH100", actor=(Run(range(2), 1),))
    port = RayPort()
    node = next(each.node_id for each in port.nodes() if each.rank == 1)
    with other_job(port, 2, node, "placewright-test-other"):
        with pytest.raises(LaunchFailed, match="needs 4 accelerators free, 2 are") as caught, launch(made, address=address):
            pytest.fail("it was launched")
        assert "--share-nodes" in (caught.value.findings[0].help or "")
        with launch(made, address=address, share_nodes=True) as running:
            assert [str(each) for each in running.given] == ["node-1: accelerators 0-1 of the plan are 2-3 there"]
            assert visible(running) == ["2", "3"]
            assert [its.visible_accelerators for its in running.plan.placements("actor")] == [("2",), ("3",)]
