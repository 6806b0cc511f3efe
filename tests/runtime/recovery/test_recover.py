"""A launch that lost something: started again, with what was lost elsewhere and the rest where it was, or ended with the reason."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Callable, Iterator, Sequence

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment, Run
from placewright.models.placements.plan import Plan
from placewright.models.problem import Problem
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.launch import bring_up
from placewright.runtime.launched import Launch
from placewright.runtime.port.port import Bundle, Start
from placewright.runtime.progress import silent
from placewright.runtime.recovery.again import Again
from placewright.runtime.recovery.lifetime import pause_before
from placewright.solver.searching.search import solve

from ..fake import FakeActor, FakeHold, FakePort


class Trainer:
    """Takes a step."""

    def step(self) -> str:
        """Answers when its process does."""
        return "stepped"


def problem(cluster: str, least: int, most: int = 0) -> Problem:
    """An actor in groups of two accelerators, one process each."""
    actor = Component("actor", least=least, most=most or least, parallel=Parallel(tp=2))
    return Problem(read_shorthand(cluster), Job((actor,)))


def plan_of(asked: Problem) -> Plan:
    plan = solve(asked).plan
    assert plan is not None
    return plan


@contextmanager
def launched(port: FakePort, asked: Problem, restarts: int = 1, elastic: bool = False, given: Problem | None = None) -> Iterator[Launch]:
    with ExitStack() as stack:
        yield bring_up(stack, plan_of(asked), port, Trainer, 60, silent, again=Again(restarts, elastic, given or asked, solve))
    assert port.left_over() == {}


def places(running: Launch) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Rank -> its node and accelerators."""
    return {row.rank: (row.node, row.visible) for row in running.audit}


def codes(failure: LaunchFailed) -> list[str]:
    return [finding.code for finding in failure.findings]


def hanging(port: FakePort) -> Callable[[Launch], Any]:
    """A function that takes a step of an hour as long as this is the first start, and is short later."""
    seen: list[str] = []

    def train(running: Launch) -> list[str]:
        if not seen:
            port.slow |= {actor.start.name: 3600.0 for actor in port.actors if not actor.dead}
        seen.append(running.plan.digest)
        return running.call("actor", "step")

    return train


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
    port = FakePort(4, 4)
    with launched(port, problem("2x4xH100", 8)) as running:
        before, digest = places(running), running.plan.digest
        names = {actor.start.name for actor in port.actors}
        port.later(5, lambda: port.kill(port.actors[3].start.name))
        running.run(hanging(port))
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
        assert "it was restarted 1 times, as often as it may be" in str(caught.value)
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


def test_given_ranks_are_placed_nowhere_else() -> None:
    port = FakePort(4, 4)
    asked = problem("2x4xH100", 4)
    fixed = replace(asked.components[0], runs=plan_of(asked).assignment.of("actor"))
    with launched(port, replace(asked, job=Job((fixed,)))) as running:
        port.lose_node(running.audit[0].node_rank)
        with pytest.raises(LaunchFailed) as caught:
            running.run("step")
        assert codes(caught.value) == ["PW713", "PW607", "PW714"]


def test_a_range_shrinks_with_the_cluster_and_grows_again_with_it() -> None:
    port = FakePort(4, 4, 4)
    with launched(port, problem("3x4xH100", 4, 12)) as running:
        assert len(running.audit) == 12
        port.lose_node(1)
        running.run("step")
        assert len(running.audit) == 8
        assert running.recoveries[0].moved == "0 of 4 groups moved, 2 were on lost nodes, proved to be the fewest"
        assert running.grow() is None
        port.add_node(1, 4)
        grown = running.grow()
        assert grown is not None and grown.joined == ("node-1",) and grown.attempt == 0
        assert grown.moved == "0 of 6 groups moved, 2 are new, proved to be the fewest"
        assert len(running.audit) == 12
        assert running.call("actor", "step") == ["stepped"] * 12


def test_a_node_that_nobody_knew_is_taken_too() -> None:
    port = FakePort(4, 4)
    with launched(port, problem("2x4xH100", 4, 64)) as running:
        port.add_node(7, 4)
        port.add_node(8, 3)  # unlike every other: nothing is known of it
        grown = running.grow()
        assert grown is not None and grown.joined == ("node-7",)
        assert {row.node for row in running.audit} == {"node-0", "node-1", "node-7"}
        assert grown.moves is not None and grown.moves.moved == 0


def test_an_elastic_run_is_started_again_when_nodes_join_and_no_other_is() -> None:
    for elastic in (True, False):
        port = FakePort(4, 4)
        with launched(port, problem("2x4xH100", 4, 64), elastic=elastic) as running:
            port.later(5, lambda port=port: port.add_node(2, 4))  # type: ignore[misc]
            done = running.run(hanging(port))
            assert len(done) == (12 if elastic else 8)
            assert len(running.recoveries) == elastic


def test_nodes_that_change_nothing_interrupt_nothing() -> None:
    port = FakePort(4, 4)
    with launched(port, problem("2x4xH100", 8), elastic=True) as running:
        port.later(5, lambda: port.add_node(2, 4))
        assert running.run(hanging(port)) == ["stepped"] * 8
        assert running.recoveries == ()


def test_a_plan_alone_keeps_together_what_lay_together_as_long_as_there_is_room() -> None:
    for spare, nodes in ((4, 1), (2, 2)):
        port = FakePort(4, spare, spare)
        asked = problem(f"1x4xH100+{2}x{spare}xH100", 4)
        plan = replace(plan_of(asked), assignment=Assignment({"actor": (Run(range(4), 0),)}))
        with ExitStack() as stack:
            running = bring_up(stack, plan, port, Trainer, 60, silent, again=Again(1, False, None, solve))
            port.lose_node(0)
            running.run("step")
            assert len({row.node for row in running.audit}) == nodes


class LosesWhileReserving(FakePort):
    """A node is gone as soon as something is held on it."""

    lost = False

    def hold(self, name: str, bundles: Sequence[Bundle], *more: Any) -> FakeHold:
        made = super().hold(name, bundles, *more)
        if not self.lost:
            self.lost = True
            self.lose_node(int(bundles[0].node_id[-1]))
        return made


class LosesWhileStarting(FakePort):
    """A node is gone when three processes are asked for; nobody is told."""

    lost = False

    def start(self, start: Start) -> FakeActor:
        made = super().start(start)
        if len(self.actors) == 3 and not self.lost:
            self.lost = True
            self.lose_node(int(made.node_id[-1]), silently=True)
        return made


@pytest.mark.parametrize("kind", [LosesWhileReserving, LosesWhileStarting])
def test_a_node_that_is_lost_during_the_start_is_replaced_too(kind: type[FakePort]) -> None:
    port = kind(4, 4, 4)
    with launched(port, problem("3x4xH100", 8)) as running:
        assert running.call("actor", "step") == ["stepped"] * 8
        assert len(running.recoveries) == 1
        assert len(running.recoveries[0].lost) == 1


@pytest.mark.parametrize("kind", [LosesWhileReserving, LosesWhileStarting])
def test_without_restarts_it_is_told_and_nothing_is_left(kind: type[FakePort]) -> None:
    port = kind(4, 4, 4)
    with pytest.raises(LaunchFailed), launched(port, problem("3x4xH100", 8), restarts=0):
        pytest.fail("it was launched")
    assert port.left_over() == {}


def test_a_world_that_never_was_the_plans_is_no_loss() -> None:
    port = FakePort(4, 4)
    with pytest.raises(LaunchFailed) as caught, launched(port, problem("3x4xH100", 12), restarts=5):
        pytest.fail("it was launched")
    assert codes(caught.value) == ["PW702"]


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
