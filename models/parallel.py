"""Degrees of parallelism of a component."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class Parallel:
    """Tensor, pipeline, context and expert parallel sizes; data parallelism is the rest.

    `dp` counts data parallel ranks *inside* one replica, as in an inference engine; it does not
    count replicas.
    """

    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    dp: int = 1

    @property
    def replica(self) -> int:
        """Accelerators of a replica (Megatron-LM, core/parallel_state.py), x dp in an engine."""
        return self.tp * self.pp * self.cp * self.dp

    def __str__(self) -> str:
        parts = [
            f"{name} {value}"
            for name, value in (("tp", self.tp), ("pp", self.pp), ("cp", self.cp), ("ep", self.ep), ("dp", self.dp))
            if value > 1
        ]
        return ", ".join(parts) or "tp 1"


DEGREES = ("tp", "pp", "cp", "ep", "dp")
"""Names of the degrees, in the written order."""

UNDIVIDED = Parallel()
"""Degrees of a component that runs on a single accelerator."""
