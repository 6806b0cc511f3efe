"""Batches of a job: what a framework's file says beside the placement."""

from __future__ import annotations

from typing import Mapping

from .findings.finding import UnusableInput, error
from .record import dataclass

UPDATES = 4
"""Updates of an iteration, at most: as the examples of verl, ROLL and RLinf have them."""


@dataclass(frozen=True)
class TrainingJob:
    """Model, algorithm and batches of a job.

    Attributes
    ----------
    prompts, samples : prompts of an iteration, and answers to each.
    prompt, response : tokens of a prompt, and of the longest answer, at most.
    micro_batch : sequences of a training step on one accelerator.
    utilization : percent of an accelerator for the engine.
    ranks : role -> data parallel ranks of what trains.
    """

    model: str
    algorithm: str
    prompts: int
    samples: int
    prompt: int
    response: int
    micro_batch: int
    utilization: int
    ranks: Mapping[str, int]

    @property
    def mini_batch(self) -> int:
        """Prompts of an update: the most that make `UPDATES` of them, as every rank divides them.

        Raises UnusableInput if not even the whole batch divides.
        """
        sizes = [size for size in range(1, self.prompts + 1) if self.prompts % size == 0 and self._divides(size)]
        if not sizes:
            ranks = max(self.ranks.values(), default=1)
            sequences = f"{self.prompts} prompts x {self.samples} samples = {self.prompts * self.samples}"
            message = f"{sequences} sequences do not divide among {ranks} data parallel ranks with micro batches of {self.micro_batch}"
            raise UnusableInput([error("PW606", "", message, help=f"take a multiple of {ranks * self.micro_batch} sequences")])
        return max((size for size in sizes if size * UPDATES <= self.prompts), default=min(sizes))

    def _divides(self, prompts: int) -> bool:
        return all(prompts * self.samples % (ranks * self.micro_batch) == 0 for ranks in self.ranks.values())
