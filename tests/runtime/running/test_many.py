"""A launch of many workers makes as many calls for each of them as that of few: counted, as times depend on the machine."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace

import pytest
from placewright.models.placements.run import Run
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.running.monitor import BEAT

from ..conftest import Planner
from ..fake import FakePort

EACH, FEW, MANY = 4, 100, 1000
"""Workers on a node, and in all."""
OVER = 1.1
"""How much more one of many may cost than one of few."""


def calls(plan: Planner, workers: int, labelled: bool) -> int:
    """Calls of functions from the first look at the machines to the end of all workers."""
    count = 0

    def count_call(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    nodes = workers // EACH
    made = plan(f"{nodes}x{EACH}", actor=tuple(Run(range(EACH * node, EACH * node + EACH), node) for node in range(nodes)))
    port = FakePort(*[EACH] * nodes)
    if not labelled:
        port.alive = {node_id: replace(node, labels={}) for node_id, node in port.alive.items()}
    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        with ExitStack() as stack:
            running = bring_up(stack, made, port, "worker:Worker", 600, silent)
            assert len(running.audit) == workers
            port.time += BEAT
            running.watch(0.1)
    finally:
        sys.setprofile(before)
    assert port.left_over() == {}
    return count


@pytest.mark.parametrize("labelled", [True, False])
def test_each_of_many_workers_costs_as_much_as_each_of_few(plan: Planner, labelled: bool) -> None:
    few = calls(plan, FEW, labelled)
    assert 0 < calls(plan, MANY, labelled) < OVER * MANY / FEW * few
