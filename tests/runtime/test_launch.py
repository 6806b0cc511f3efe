"""Plans on a real Ray cluster of simulated nodes: exactly where they say, all or none, and nothing left."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from placewright.models.machines.node_group import EnvConfig, NodeGroup
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import launch
from placewright.runtime.running import monitor
from placewright.runtime.simulated.simulated_nodes import REAP_PERIOD

from ..unhindered import unhindered
from .conftest import Planner

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("worker_classes")]


def with_variables(plan: Plan, **variables: str) -> Plan:
    """The plan, its components moved into a group of all nodes that gives these environment variables."""
    ranks = tuple(node.rank for node in plan.cluster.nodes)
    group = NodeGroup("all", ranks, "Accelerator", (EnvConfig(ranks, tuple(variables.items())),))
    runs = {name: tuple(replace(run, node_group="all") for run in its) for name, its in plan.assignment.runs.items()}
    return replace(plan, cluster=plan.cluster.with_groups([group]), assignment=replace(plan.assignment, runs=runs))


def failure(plan: Plan, address: str, worker: str | None = None, timeout: float = 60.0) -> LaunchFailed:
    trusted = ["TEST_DIRECTORY"]
    with pytest.raises(LaunchFailed) as caught, launch(plan, address=address, worker=worker, timeout=timeout, trusted_env=trusted):
        pytest.fail("it was launched")
    return caught.value


def test_every_worker_has_its_exact_accelerators_on_its_exact_node_and_two_components_may_share_them(plan: Planner, address: str) -> None:
    made = plan(
        "2x4xH100",
        actor=(Run(range(1), 1, first=3, each=2, step=-2, pitch=2), Run(range(1, 2), 0, first=0, each=2, pitch=2)),
        rollout=(Run(range(2), 1, first=1, each=1, pitch=2),),
    )
    with launch(made, address=address) as running:
        seen = {(row.component, row.rank): (row.node_rank, row.visible) for row in running.audit}
        assert seen == {
            ("actor", 0): (1, ("3", "1")),
            ("actor", 1): (0, ("0", "1")),
            ("rollout", 0): (1, ("1",)),
            ("rollout", 1): (1, ("3",)),
        }
        assert {row.world_size for row in running.audit} == {2}
        nodes = {row.node_rank: row.ray_node for row in running.audit}
        assert len(set(nodes.values())) == 2
        later = running.call("actor", "environment")
        assert [its["CUDA_VISIBLE_DEVICES"] for its in later] == ["3,1", "0,1"]
        assert len({its["MASTER_PORT"] for its in later}) == 1


def test_workers_are_called_together_and_the_first_failure_counts(plan: Planner, address: str, tmp_path: Path) -> None:
    made = with_variables(plan("2x4", actor=(Run(range(2), 0),)), GREETING="from the file")
    logs = tmp_path / "logs"
    with launch(made, address=address, worker="workers:Counter", trusted_env=["GREETING"], log_dir=str(logs)) as running:
        assert running.call("actor", "add", 1, other=10) == [11, 12]
        assert running.call_all("variable", "GREETING") == {"actor": ["from the file"] * 2}
        assert running.call("actor", "variable", "RANK") == ["0", "1"]
        with pytest.raises(LaunchFailed, match="rank 1 has had enough") as caught:
            running.call("actor", "fail")
        assert caught.value.findings[0].code == "PW709"
        assert "workers.py" in caught.value.traceback
        assert (logs / "actor-1.log").read_text().endswith("RuntimeError: rank 1 has had enough\n")
        assert {file.stat().st_mode & 0o777 for file in logs.iterdir()} == {0o600}
        running.stop()
        running.stop()


def test_a_stopped_worker_is_found_by_its_heartbeat(plan: Planner, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "BEAT", 0.5)
    made = plan("2x4", actor=(Run(range(2), 0),))
    with launch(made, address=address, worker="workers:Counter", heartbeat=1) as running:
        os.kill(running.audit[1].pid, signal.SIGSTOP)
        with pytest.raises(LaunchFailed, match="rank 1 of `actor` on `node-0` has not answered for 1 s"):
            running.call("actor", "sleep")


def test_what_a_killed_worker_leaves_behind_ends_on_simulated_nodes(plan: Planner, address: str) -> None:
    with launch(plan("2x4", actor=(Run(range(2), 0),)), address=address, worker="workers:Parent") as running:
        children = running.call("actor", "children")
        os.kill(running.audit[1].pid, signal.SIGKILL)
        began = unhindered()
        while os.path.exists(f"/proc/{children[1]}"):
            assert unhindered() - began < 10
            time.sleep(0.05)
        assert os.path.exists(f"/proc/{children[0]}")


def test_what_a_worker_detaches_lives_as_long_as_the_worker(plan: Planner, address: str) -> None:
    with launch(plan("2x4", actor=(Run(range(1), 0),)), address=address, worker="workers:Detacher") as running:
        (detached,) = running.call("actor", "detach")
        time.sleep(2.5 * REAP_PERIOD)
        assert os.path.exists(f"/proc/{detached}")
        assert running.call("actor", "code") == [3]
    began = unhindered()
    while os.path.exists(f"/proc/{detached}"):
        assert unhindered() - began < 10
        time.sleep(0.05)


def test_a_call_that_takes_too_long_names_the_ranks(plan: Planner, address: str) -> None:
    late = pytest.raises(LaunchFailed, match=r"rank `actor` 0 has not answered `sleep` within 0.5 s")
    with launch(plan("2x4", actor=(Run(range(1), 0),)), address=address, worker="workers:Counter") as running, late:
        running.call("actor", "sleep", timeout=0.5)


def test_a_constructor_that_raises_ends_the_start_at_once_though_another_takes_long(plan: Planner, address: str) -> None:
    problem = failure(plan("2x4", actor=(Run(range(2), 0),)), address, "workers:RefusesOne")
    (finding,) = problem.findings
    assert (finding.code, finding.witnesses) == ("PW703", (1,))
    assert finding.message == "rank 1 of `actor` on `node-0` could not be constructed: ValueError: no weights for rank 1"
    assert "in __init__" in problem.traceback


def test_a_worker_that_is_killed_during_start_is_reported_at_once(plan: Planner, address: str, tmp_path: Path) -> None:
    killed: list[float] = []

    def kill_rank_1() -> None:
        mark = tmp_path / "actor-1"
        while not (mark.exists() and mark.read_text()):
            time.sleep(0.01)
        killed.append(unhindered())
        os.kill(int(mark.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill_rank_1, daemon=True)
    thread.start()
    made = with_variables(plan("2x4", actor=(Run(range(2), 1),)), TEST_DIRECTORY=str(tmp_path))
    problem = failure(made, address, "workers:Sleeper")
    assert unhindered() - killed[0] < 10  # rank 0 would have slept for ten minutes
    (finding,) = problem.findings
    assert (finding.code, finding.witnesses) == ("PW704", (1,))
    assert "rank 1 of `actor` on `node-1` died while it was starting" in finding.message


def test_a_rank_0_that_is_killed_is_blamed_itself_and_not_those_that_wait_for_it(plan: Planner, address: str, tmp_path: Path) -> None:
    made = with_variables(plan("2x4", actor=(Run(range(3), 1),)), TEST_DIRECTORY=str(tmp_path))
    problem = failure(made, address, "workers:KilledFirst")
    assert [(finding.code, finding.witnesses) for finding in problem.findings] == [("PW704", (0,))]


def test_a_start_that_takes_too_long_names_the_ranks_that_are_late(plan: Planner, address: str, tmp_path: Path) -> None:
    made = with_variables(plan("2x4", actor=(Run(range(2), 0),)), TEST_DIRECTORY=str(tmp_path))
    (finding,) = failure(made, address, "workers:Sleeper", timeout=3).findings
    assert finding.code == "PW705"
    late = finding.message.removesuffix(" ready within 3 s")
    assert late in (
        "ranks `actor` 0-1 were not",
        "rank `actor` 0 was not",
        "rank `actor` 1 was not",
    )  # on a busy machine one of them has not even begun when the other waits to be constructed


def test_a_worker_that_sees_something_else_stops_the_launch(plan: Planner, address: str) -> None:
    problem = failure(plan("2x4", actor=(Run(range(1), 0),)), address, "workers:Blind")
    assert problem.findings[0].code == "PW706"
    assert problem.findings[0].message.endswith("accelerators is 3, the plan says 0")


def test_a_cluster_that_is_too_small_is_told_node_by_node(plan: Planner, address: str) -> None:
    problem = failure(plan("3x8", actor=tuple(Run(range(8 * n, 8 * n + 8), n) for n in range(3))), address)
    assert [(finding.code, finding.subject, finding.amount) for finding in problem.findings] == [
        ("PW702", "node-0", 4),
        ("PW702", "node-1", 4),
        ("PW702", "node-2", 1),
    ]


def test_a_cluster_that_another_job_uses_is_told_with_what_is_free(plan: Planner, address: str) -> None:
    import ray

    other = ray.util.placement_group([{"GPU": 3}], bundle_label_selector=[{"placewright.node-rank": "1"}])
    try:
        assert other.wait(60)
        both = plan("2x4", actor=(Run(range(4), 0), Run(range(4, 8), 1)))
        problem = failure(both, address, timeout=1)
    finally:
        ray.util.remove_placement_group(other)
    (finding,) = problem.findings
    assert (finding.code, finding.amount) == ("PW702", 3)
    assert "needs 4 accelerators free, 1 are, after waiting 0.6 s (3 by `" in finding.message


def test_agents_on_nodes_hold_no_accelerator_while_another_plan_uses_them_all(plan: Planner, address: str) -> None:
    agents = plan("2x4", agent=(Run(range(1), 0, "node", each=0, node_group="node"),))
    trainers = plan("2x4", actor=(Run(range(1), 0, each=4, pitch=4),))
    with launch(trainers, address=address) as one, launch(agents, address=address) as other:
        assert one.audit[0].visible == ("0", "1", "2", "3")
        assert len(other.audit) == 1


def test_a_class_that_cannot_be_imported_is_refused_before_anything_starts(plan: Planner, address: str) -> None:
    assert failure(plan("2x4", actor=(Run(range(1), 0),)), address, "workers:Missing").findings[0].code == "PW707"


def test_a_plan_without_processes_is_refused(plan: Planner, address: str) -> None:
    assert failure(plan("2x4"), address).findings[0].code == "PW112"


def test_a_plan_for_machines_that_nobody_counted_is_refused(plan: Planner, address: str) -> None:
    made = plan("2x4", actor=(Run(range(1), 0),))
    assert failure(replace(made, cluster=replace(made.cluster, counted=False)), address).findings[0].code == "PW011"


def test_a_process_that_is_connected_to_a_cluster_simulates_no_other(plan: Planner, address: str) -> None:
    with pytest.raises(LaunchFailed, match="none can be simulated") as caught, launch(plan("1x1", actor=(Run(range(1), 0),))):
        pytest.fail("it was launched")
    assert address in caught.value.findings[0].help
