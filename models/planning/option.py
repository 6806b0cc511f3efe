"""One way to run a component: on how many accelerators of a kind, with which degrees, and what it takes there."""

from __future__ import annotations

from ..on_size import OnSize
from ..parallel import Parallel
from ..record import dataclass
from .kind import NO_KIND


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a component.

    Attributes
    ----------
    kind : index of the kind of accelerators; `NO_KIND` for a component that needs none.
    amount : accelerators of all its replicas together; robots or processes where it needs no accelerators.
    nanoseconds : of each of its tasks, a whole iteration of it, rounded up to a multiple of the question's batches.
    memory : MiB on each accelerator while it works; `kept` of them stay while another phase does.
    on_sizes : both by the memory of an accelerator, where they depend on that and a kind has several sizes. Then `memory` and `kept` are
        those of the largest, and no more than as much of it as of any other.
    estimated : are these an estimate, with its slack? Then a design keeps to them where one can, and no placement must.
    extrapolated : whether a time of it lies outside of what was measured.
    group : accelerators that one node holds together.
    processes : of all its replicas together.
    undivided : does its framework divide nothing by these degrees, so that each accelerator is a replica?
    """

    kind: int
    amount: int
    parallel: Parallel
    nanoseconds: tuple[int, ...]
    memory: int = 0
    kept: int = 0
    extrapolated: bool = False
    estimated: bool = False
    group: int = 1
    processes: int = 0
    on_sizes: tuple[OnSize, ...] = ()
    undivided: bool = False

    @property
    def replicas(self) -> int:
        """How many replicas of its work there are; of what needs no accelerators its robots or processes."""
        return self.amount if self.undivided or self.kind == NO_KIND else self.amount // self.parallel.replica

    @property
    def each(self) -> int:
        """Accelerators of one process."""
        return self.amount // max(self.processes, 1)

    @property
    def accelerators(self) -> int:
        """How many accelerators it takes."""
        return 0 if self.kind == NO_KIND else self.amount
