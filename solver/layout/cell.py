"""Where bundles are counted into: nodes that nothing in the problem tells apart."""

from __future__ import annotations

from ...models.machines.node import Node
from ...models.machines.topology import domain
from ...models.record import dataclass


@dataclass(frozen=True, eq=False)
class Cell:
    """Nodes that nothing in the problem tells apart. Two cells are the same only if they are the same object."""

    index: int
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """A name for messages and logs."""
        first, last = self.nodes[0], self.nodes[-1]
        return first.name if first is last else f"{first.name}..{last.name}"

    def domain(self, level: str) -> str:
        """The domain of a topology level that all its nodes are in."""
        return domain(self.nodes[0], level)
