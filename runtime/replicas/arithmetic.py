"""Number of replicas, and the check that a replica fills nodes evenly."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.findings.wording import with_noun
from ..engines.shape import Shape
from ..refusal import refused


@dataclass(frozen=True, slots=True)
class Division:
    """Division of accelerators among replicas: number, size, and idle rest."""

    replicas: int
    size: int
    idle: int

    def __str__(self) -> str:
        all_of_them = self.replicas * self.size + self.idle
        rest = f", {self.idle} stay{'s' * (self.idle == 1)} idle" if self.idle else ""
        return f"{with_noun(all_of_them, 'accelerator')} // {self.size} for each = {with_noun(self.replicas, 'replica')}{rest}"


def divide(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> Division:
    """Divide accelerators among replicas of ``tp * dp * pp``.

    Raises a ValueError (PW741) for degrees below 1. Source: verl,
    experimental/agent_loop/agent_loop.py. Elsewhere verl divides by tp alone, and so starts too
    many replicas if dp or pp is above 1 (trainer/main_generation_server.py).
    """
    if not all(isinstance(number, int) for number in (n_accelerators, tp, dp, pp)) or n_accelerators < 0 or min(tp, dp, pp) < 1:
        message = f"{n_accelerators} accelerators cannot be dealt to replicas of tp {tp}, dp {dp} and pp {pp}"
        raise refused("PW741", "", message, "give whole numbers, degrees of at least 1", tp, dp, pp)
    size = Shape(tp, dp, pp).world_size
    return Division(n_accelerators // size, size, n_accelerators % size)


def num_replicas(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> int:
    """Return the number of replicas of ``tp * dp * pp`` accelerators; see `divide`."""
    return divide(n_accelerators, tp, dp, pp).replicas


def nodes_of(world_size: int, gpus_per_node: int, subject: str) -> tuple[int, int]:
    """Return (nodes, accelerators per node) of a replica.

    Raises a ValueError (PW741) unless it fills nodes evenly. verl checks only that nodes are
    filled, and treats a replica across the border of two nodes as a single node. Source: verl,
    workers/rollout/replica.py, `RolloutReplica.__init__`.
    """
    if not isinstance(gpus_per_node, int) or gpus_per_node < 1 or (world_size % gpus_per_node and gpus_per_node % world_size):
        message = f"a replica of {world_size} accelerators does not fit nodes of {gpus_per_node}: neither divides the other"
        help = "choose degrees whose product divides the accelerators of a node, or is a multiple of them"
        raise refused("PW741", subject, message, help, world_size, gpus_per_node)
    per_node = min(world_size, gpus_per_node)
    return world_size // per_node, per_node
