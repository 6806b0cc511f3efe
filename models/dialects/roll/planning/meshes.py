"""Roles that FSDP2 trains in meshes of fsdp_size: they have whole meshes of ranks, or no more ranks than one mesh holds.

Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration).
"""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from ....component import Component
from ....text.tree import Mapping, Scalar, find, plain
from ..modes.degrees import FSDP2
from ..roles.known_keys import STRATEGY
from .keys import strategy_of


def mesh_of(root: Mapping, component: Component) -> int:
    """The fsdp_size of a role whose degrees ask for whole meshes of it alone; 0 of others, and where the text does not say it plainly."""
    config = f"{component.name}.{STRATEGY}.strategy_config."
    written, parallel = find(root, f"{config}fsdp_size"), component.parallel
    if strategy_of(root, component.name) not in FSDP2 or find(root, f"{config}ep_size") is not None or not isinstance(written, Scalar):
        return 0
    size = plain(written)
    if not isinstance(size, int) or size < 1:
        return 0
    return size if parallel.dp > 1 and lcm(parallel.cp, size) == parallel.cp * parallel.dp else 0


def without_meshes(component: Component) -> Component:
    """The role with any number of ranks that its other degrees divide."""
    return replace(component, parallel=replace(component.parallel, dp=1))


def holds(size: int, ranks: int) -> bool:
    """Do so many ranks fill whole meshes of a size, or less than one?"""
    return ranks <= size or ranks % size == 0
