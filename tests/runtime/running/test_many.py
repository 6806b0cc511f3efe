"""A launch of many workers costs as much for each of them as that of few."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace

import pytest
from placewright.models.placements.run import Run
from placewright.runtime.launch import bring_up
from placewright.runtime.progress import silent
from placewright.runtime.running.monitor import BEAT

from ..conftest import Planner
from ..fake import FakePort

EACH, FEW, MANY = 4, 400, 4000
"""Workers on a node, and in all."""
OVER = 2.2
"""How much more one of many may cost than one of few, on a machine with other work."""


def seconds(plan: Planner, workers: int, labelled: bool) -> float:
    """CPU seconds from the first look at the machines to the end of all workers."""
    nodes = workers // EACH
    made = plan(f"{nodes}x{EACH}", actor=tuple(Run(range(EACH * node, EACH * node + EACH), node) for node in range(nodes)))
    port = FakePort(*[EACH] * nodes)
    if not labelled:
        port.alive = {node_id: replace(node, labels={}) for node_id, node in port.alive.items()}
    began = time.process_time()
    with ExitStack() as stack:
        running = bring_up(stack, made, port, "worker:Worker", 600, silent)
        assert len(running.audit) == workers
        port.time += BEAT
        running.watch(0.1)
    assert port.left_over() == {}
    return time.process_time() - began


@pytest.mark.parametrize("labelled", [True, False])
def test_each_of_many_workers_costs_as_much_as_each_of_few(plan: Planner, labelled: bool) -> None:
    few = min(seconds(plan, FEW, labelled) for _ in range(3))
    assert seconds(plan, MANY, labelled) < OVER * MANY / FEW * few
