"""Amounts of resources, and who holds of them, in words."""

from __future__ import annotations

from typing import Iterable, Mapping

from ..port.port import Holding
from ..world.vendors import RESOURCES


def amount_of(resource: str, amount: float) -> str:
    """Such as ``1 accelerator``, ``8 CPUs`` or ``2 `license```; accelerators of every maker are called so."""
    kind = "accelerator" if resource in RESOURCES else resource
    return f"{amount:g} {kind}{'' if amount == 1 else 's'}" if kind in ("accelerator", "CPU") else f"{amount:g} `{resource}`"


def held_on(holdings: Iterable[Holding], resource: str) -> dict[str, dict[str, float]]:
    """Ray's id of a node -> name of a reservation -> how much of a resource it holds there."""
    held: dict[str, dict[str, float]] = {}
    for holding in holdings:
        for bundle in holding.bundles:
            if amount := bundle.resources.get(resource, 0.0):
                by = held.setdefault(bundle.node_id, {})
                by[holding.name] = by.get(holding.name, 0.0) + amount
    return held


def by_holders(held: Mapping[str, float]) -> str:
    """Such as ``3 by `other`, 1 by `mine```."""
    return ", ".join(f"{amount:g} by `{name}`" for name, amount in held.items())
