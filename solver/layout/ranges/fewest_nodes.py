"""How few nodes a range could lie on."""

from __future__ import annotations

from ....models.machines.node_group import Numbering


def fewest_nodes(numbering: Numbering, amount: int) -> int:
    """How many nodes so many resources need, if each were as large as the largest."""
    return -(-amount // max((stretch.count for stretch in numbering.stretches), default=1))
