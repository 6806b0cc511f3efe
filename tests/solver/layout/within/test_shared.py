"""Resources of a node that some may use and others in part: the numbers fit exactly where everything tried finds a way."""

from __future__ import annotations

import random
from itertools import product
from typing import Mapping, Sequence

import pytest
from placewright.models.component import Component
from placewright.solver.layout.bundle import Bundle
from placewright.solver.layout.cells import masks_on_node, shared_resources
from placewright.solver.layout.pools import NodePool

GROUNDS = (0b11111, 0b00111, 0b00011, 0b11000)
"""One inside another, or apart."""


def drawn(source: random.Random) -> tuple[list[NodePool], dict[Bundle, int]]:
    """Pools of one bundle each on one node, each bundle within one before it or none; and how much each wants there."""
    pools: list[NodePool] = []
    for name in "abcd"[: source.choice([2, 3, 4])]:
        outer = source.choice([None, *pools])
        may = [ground for ground in GROUNDS if outer is None or not ground & ~outer.free[0]]
        host = outer.bundles[0] if outer is not None else None
        pools.append(NodePool("x", (Bundle((Component(name),), "x"),), {0: source.choice(may)}, (host,) if host else (), host))
    return pools, {pool.bundles[0]: source.choice([0, 1, 1, 2, 3, 4]) for pool in pools}


def holds(pools: Sequence[NodePool], held: Mapping[Bundle, int]) -> bool:
    """Is each on what it may use and within its host, and apart from all others?"""
    around: dict[Bundle, list[Bundle]] = {}
    for pool in pools:
        around[pool.bundles[0]] = [pool.host, *around[pool.host]] if pool.host is not None else []
        if held[pool.bundles[0]] & ~pool.free[0] or (pool.host is not None and held[pool.bundles[0]] & ~held[pool.host]):
            return False
    its = list(held)
    return not any(held[a] & held[b] for a in its for b in its if a is not b and a not in around[b] and b not in around[a])


@pytest.mark.parametrize("seed", range(60))
def test_numbers_say_whether_it_fits_and_where(seed: int) -> None:
    pools, wanted = drawn(random.Random(seed))
    ways = [[mask for mask in range(32) if mask.bit_count() == count] for count in wanted.values()]
    possible = any(holds(pools, dict(zip(wanted, masks))) for masks in product(*ways))
    full = any(sum(wanted[bundle] for bundle in room.inner) > room.mask.bit_count() for room in shared_resources(pools, 0))
    tight = any(sum(wanted[each.bundles[0]] for each in pools if each.host is host) > wanted[host] for host in wanted)
    assert possible == (not full and not tight)
    if possible:
        found = masks_on_node(pools, 0, wanted, {})
        assert found is not None and holds(pools, found)
        assert {bundle: mask.bit_count() for bundle, mask in found.items()} == wanted
