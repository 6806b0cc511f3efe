"""Nodes that join or come back: taken where they change the plan, and else nothing is touched."""

from __future__ import annotations

from contextlib import ExitStack

from placewright.models.answer import UNDECIDED, Answer
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.recovery.lifetime import RestartPolicy

from ..fake import FakePort
from .launching import Trainer, hanging, launched, plan_of, problem


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


def test_where_no_plan_on_more_nodes_is_found_in_time_the_launch_goes_on() -> None:
    port, asked = FakePort(4, 4), problem("2x4xH100", 4, 64)
    with ExitStack() as stack:
        again = RestartPolicy(0, True, asked, lambda question: Answer(UNDECIDED))
        running = bring_up(stack, plan_of(asked), port, Trainer, 60, silent, policy=again)
        port.later(5, lambda: port.add_node(2, 4))
        assert running.run(hanging(port)) == ["stepped"] * 8
        assert running.recoveries == ()


def test_nodes_like_no_other_are_not_taken_and_it_is_said_once_what_they_lack() -> None:
    port, told = FakePort(4, 4), list[str]()
    with launched(port, problem("2x4xH100", 4, 64), told=lambda step: told.append(str(step))) as running:
        port.add_node(2, 3)
        port.add_node(3, 4, model="A100")
        port.add_node(4, 0)
        port.add_node(5, 4, model="H100")
        grown = running.grow()
        assert grown is not None and grown.joined == ("node-5",)
        assert running.grow() is None
    said = [line for line in told if "joined and is not used" in line]
    assert said == [
        "node `node-2` joined and is not used: it has 3 accelerators; `node-0`, the most like it, has 4",
        "node `node-3` joined and is not used: it has A100 accelerators; `node-0`, the most like it, has H100",
        "node `node-4` joined and is not used: it has 0 accelerators; `node-0`, the most like it, has 4",
    ]
