"""Resource amounts and holders as text."""

from __future__ import annotations

from typing import Iterable, Mapping

from ..port.port import Holding
from ..world.vendors import RESOURCES


def amount_of(resource: str, amount: float) -> str:
    """Format an amount: ``1 accelerator``, ``8 CPUs`` or ``2 `license```; all makers' are
    accelerators.
    """
    kind = "accelerator" if resource in RESOURCES else resource
    return f"{amount:g} {kind}{'' if amount == 1 else 's'}" if kind in ("accelerator", "CPU") else f"{amount:g} `{resource}`"


def held_on(holdings: Iterable[Holding], resource: str) -> dict[str, dict[str, float]]:
    """Return Ray node id -> reservation name -> its amount of a resource there."""
    amounts: dict[str, dict[str, float]] = {}
    for holding in holdings:
        for bundle in holding.bundles:
            if amount := bundle.resources.get(resource, 0.0):
                by_name = amounts.setdefault(bundle.node_id, {})
                by_name[holding.name] = by_name.get(holding.name, 0.0) + amount
    return amounts


def by_holders(amounts: Mapping[str, float]) -> str:
    """Format holders, like ``3 by `other`, 1 by `mine```."""
    return ", ".join(f"{amount:g} by `{name}`" for name, amount in amounts.items())
