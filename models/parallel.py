"""How a component divides its work among accelerators."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class Parallel:
    """Degrees of parallelism: tensor, pipeline, context and expert parallel sizes. Data parallelism is what is left.

    `dp` are data parallel ranks *inside* one replica, as an inference engine has them; replicas beside each other are not counted here.
    """

    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    dp: int = 1

    @property
    def replica(self) -> int:
        """Accelerators of one replica: tp x pp x cp, x dp inside an engine. Source: Megatron-LM, core/parallel_state.py."""
        return self.tp * self.pp * self.cp * self.dp

    def __str__(self) -> str:
        parts = [
            f"{name} {value}"
            for name, value in (("tp", self.tp), ("pp", self.pp), ("cp", self.cp), ("ep", self.ep), ("dp", self.dp))
            if value > 1
        ]
        return ", ".join(parts) or "tp 1"


DEGREES = ("tp", "pp", "cp", "ep", "dp")
"""The names of the degrees, in the order in which they are written."""

UNDIVIDED = Parallel()
"""One accelerator does it all."""
