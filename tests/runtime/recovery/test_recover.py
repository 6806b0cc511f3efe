"""A launch that lost something: started again, with what was lost elsewhere and the rest where it was, or ended with the reason."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
from placewright.models.job import Job
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import Step, silent
from placewright.runtime.recovery.lifetime import Launch, RestartPolicy
from placewright.runtime.recovery.restarts import pause_before
from placewright.solver.searching.search import solve

from ..fake import FakePort
from .launching import Trainer, codes, hanging, launched, places, plan_of, problem


def test_what_was_on_a_lost_node_moves_and_everything_else_stays_where_it_was() -> None:
    port = FakePort(4, 4, 4, 4)
    with launched(port, problem("4x4xH100", 12)) as running:
        before = places(running)
        lost = next(row.node for row in running.audit)
        port.later(5, lambda: port.lose_node(int(lost[-1]), silently=True))
        assert running.run(hanging(port)) == ["stepped"] * 12
        after = places(running)
        (recovery,) = running.recoveries
        assert recovery.lost == (lost,)
        assert recovery.moves is not None and recovery.moves.proved
        assert (recovery.moves.lost, recovery.moves.moved, recovery.moves.kept) == (2, 0, 4)
        assert recovery.moved == "2 of 6 groups moved, 2 were on lost nodes, proved to be the fewest"
        stayed = {rank for rank, place in before.items() if place[0] != lost}
        assert {rank: after[rank] for rank in stayed} == {rank: before[rank] for rank in stayed}
        assert lost not in {node for node, _ in after.values()}


def test_a_worker_that_dies_is_started_again_where_it_was_without_a_search() -> None:
    port, told = FakePort(4, 4), list[Step]()
    with launched(port, problem("2x4xH100", 8), told=told.append) as running:
        before, digest = places(running), running.plan.digest
        names = {actor.start.name for actor in port.actors}
        port.later(5, lambda: port.kill(port.actors[3].start.name))
        running.run(hanging(port))
        assert sum(str(step).startswith("restart 1 of 1: rank 3 of `actor` on ") for step in told) == 1
        assert (places(running), running.plan.digest) == (before, digest)
        assert str(running.recoveries[0]).endswith("s: everything is where it was")
        assert not names & {actor.start.name for actor in port.actors if not actor.dead}


def test_a_node_that_only_the_cluster_counts_on_is_not_used_again() -> None:
    port = FakePort(4, 4, 4)
    with launched(port, problem("3x4xH100", 8)) as running:
        node = running.audit[0].ray_node
        port.later(5, lambda: port.cut_off.add(node))
        running.run(hanging(port))
        assert node not in {row.ray_node for row in running.audit}
        assert running.recoveries[0].lost == (f"node-{node[-1]}",)


def test_a_method_can_be_run_by_its_name() -> None:
    port = FakePort(4)
    with launched(port, problem("1x4xH100", 4)) as running:
        port.kill(port.actors[0].start.name)
        assert running.run("step") == {"actor": ["stepped"] * 4}


def test_two_losses_need_two_restarts() -> None:
    port = FakePort(4, 4, 4, 4)
    with launched(port, problem("4x4xH100", 8), restarts=2) as running:
        for attempt in (1, 2):
            node = next(iter(running.audit)).node
            port.lose_node(int(node[-1]))
            with pytest.raises(LaunchFailed) as caught:
                running.call("actor", "step")
            assert running.recover(caught.value).attempt == attempt
        assert len({row.node for row in running.audit}) == 2


def test_restarts_that_are_spent_end_it_with_what_was_lost() -> None:
    port = FakePort(4, 4, 4, 4)
    with launched(port, problem("4x4xH100", 4), restarts=1) as running:
        for _ in range(2):
            port.lose_node(int(next(iter(running.audit)).node[-1]))
            with pytest.raises(LaunchFailed) as caught:
                running.run("step") if running.recoveries else running.call("actor", "step")
            if not running.recoveries:
                running.recover(caught.value)
        assert codes(caught.value)[-1] == "PW714"
        assert "it was restarted once, as often as it may be" in str(caught.value)
        assert port.left_over() == {}


def test_without_restarts_a_loss_is_raised_and_everything_released() -> None:
    port = FakePort(4)
    with launched(port, problem("1x4xH100", 4), restarts=0) as running:
        port.kill(port.actors[2].start.name)
        with pytest.raises(LaunchFailed, match="it may not be restarted") as caught:
            running.run("step")
        assert codes(caught.value) == ["PW704", "PW714"]
        assert port.left_over() == {}


def test_what_fits_no_longer_is_ended_with_the_sum_that_shows_it() -> None:
    port = FakePort(4, 4)
    with launched(port, problem("2x4xH100", 8), restarts=3) as running:
        port.lose_node(1)
        with pytest.raises(LaunchFailed) as caught:
            running.run("step")
        assert codes(caught.value)[0] == "PW713"
        assert "PW601" in codes(caught.value)
        assert caught.value.findings[-1].message == (
            "the launch is not recovered: its components fit no longer on the node that is left of 2"
        )
        assert port.left_over() == {}


def test_a_second_node_that_is_lost_before_the_restart_is_named_too() -> None:
    port = FakePort(4, 4, 4)
    with launched(port, problem("3x4", 8)) as running:
        lost, later = sorted({row.node_rank for row in running.audit})
        port.lose_node(lost)
        with pytest.raises(LaunchFailed) as first:
            running.watch(5)
        port.lose_node(later)
        with pytest.raises(LaunchFailed) as caught:
            running.recover(first.value)
    named = [finding.subject for finding in caught.value.findings if finding.code == "PW713"]
    assert named == [f"node-{lost}", f"node-{later}"]


@pytest.mark.parametrize(("restarts", "back"), [(1, False), (2, False), (1, True)])
def test_a_node_that_an_earlier_restart_replaced_is_named_too_unless_it_is_back(restarts: int, back: bool) -> None:
    port = FakePort(4, 4, 4)
    with launched(port, problem("3x4xH100", 8), restarts=restarts) as running:
        first = min(row.node_rank for row in running.audit)
        port.lose_node(first)
        running.run("step")
        if back:
            port.add_node(first, 4)
        later = max(row.node_rank for row in running.audit)
        port.lose_node(later)
        with pytest.raises(LaunchFailed) as caught:
            running.run("step")
    messages = " ".join(finding.message for finding in caught.value.findings if finding.code == "PW713")
    assert (f"`node-{first}`" in messages, f"`node-{later}`" in messages) == (not back, True)


def test_a_second_loss_in_a_restart_after_which_nothing_fits_ends_the_launch_once() -> None:
    port = FakePort(4, 4, 4)
    later: list[int] = []

    def lose(step: Step) -> None:
        if step.words.startswith("placing anew") and later:
            port.lose_node(later.pop())

    with launched(port, problem("3x4", 8), restarts=3, told=lose) as running:
        first, second = sorted({row.node_rank for row in running.audit})
        later.append(second)
        port.lose_node(first)
        with pytest.raises(LaunchFailed) as caught:
            running.run("step")
        assert running.restarts.used == 2
    assert codes(caught.value) == ["PW702", "PW713", "PW601", "PW714"]
    assert [finding.subject for finding in caught.value.findings[:2]] == [f"node-{second}", f"node-{first}"]


def test_given_ranks_are_placed_nowhere_else() -> None:
    port = FakePort(4, 4)
    asked = problem("2x4xH100", 4)
    fixed = replace(asked.components[0], runs=plan_of(asked).assignment.of("actor"))
    with launched(port, replace(asked, job=Job((fixed,)))) as running:
        port.lose_node(running.audit[0].node_rank)
        with pytest.raises(LaunchFailed) as caught:
            running.run("step")
        assert codes(caught.value) == ["PW713", "PW607", "PW714"]
        assert caught.value.findings[-1].message == "the launch is not recovered: ranks are given on lost nodes"


def test_a_plan_alone_keeps_together_what_lay_together_as_long_as_there_is_room() -> None:
    for spare, nodes in ((4, 1), (2, 2)):
        port = FakePort(4, spare, spare)
        asked = problem(f"1x4xH100+{2}x{spare}xH100", 4)
        plan = replace(plan_of(asked), assignment=Assignment({"actor": (Run(range(4), 0),)}))
        with ExitStack() as stack:
            running = bring_up(stack, plan, port, Trainer, 60, silent, policy=RestartPolicy(1, None, solve))
            port.lose_node(0)
            running.run("step")
            assert len({row.node for row in running.audit}) == nodes


def test_a_function_that_fails_by_itself_is_not_run_again() -> None:
    port = FakePort(4)
    with launched(port, problem("1x4xH100", 4), restarts=5) as running:
        with pytest.raises(ZeroDivisionError):
            running.run(lambda launch: 1 // 0)
        with pytest.raises(AttributeError, match="have no method `missing`"):
            running.run("missing")
        assert running.recoveries == ()


def test_a_function_that_hides_the_loss_behind_an_error_of_its_own_is_run_again() -> None:
    port = FakePort(4)
    calls: list[int] = []

    def train(running: Launch) -> str:
        calls.append(1)
        if len(calls) == 1:
            port.kill(port.actors[0].start.name)
            raise ValueError("no gradients")
        return "done"

    with launched(port, problem("1x4xH100", 4)) as running:
        assert running.run(train) == "done"
        assert len(running.recoveries) == 1


def test_restarts_in_a_row_pause_longer_and_one_after_a_steady_minute_does_not() -> None:
    port = FakePort(4)
    seconds = []
    with launched(port, problem("1x4xH100", 4), restarts=4) as running:
        for steady in (0, 0, 0, 61):
            port.pause(steady)
            port.kill(next(actor for actor in port.actors if not actor.dead).start.name)
            seconds.append(running.recover().seconds)
    assert [round(each) for each in seconds] == [0, 1, 2, 0]


def test_pauses_grow_up_to_half_a_minute() -> None:
    assert [pause_before(restarts) for restarts in range(8)] == [0, 1, 2, 4, 8, 16, 30, 30]
