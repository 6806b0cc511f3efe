"""Work that is dealt out to the processes of a component: environments, samples of a batch."""

from __future__ import annotations

from dataclasses import field
from math import gcd

from .findings.span import Span
from .findings.wording import singular
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """An amount that every process of a component must get an equal share of.

    Attributes
    ----------
    component : its name.
    amount : how much there is in all.
    multiple : what the share of one process must be a multiple of.
    what : what is dealt out, in the plural: "environments", "samples".
    amount_name : where the amount is written, such as ``env.train.total_num_envs``.
    multiple_name : where the multiple comes from, such as ``rollout.pipeline_stage_num x group_size``; "" if it is 1.
    span : where the amount stands.
    reason : who demands it, and when it would be noticed: one sentence; "" if nothing is to be said.
    proved : whether a run is proved to fail without it. If it is not, given ranks that break it are only warned of;
        a search keeps to it all the same.
    factor : how many times the number that is written the amount is.
    """

    component: str
    amount: int
    multiple: int
    what: str
    amount_name: str
    multiple_name: str = ""
    span: Span | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
    proved: bool = True
    factor: int = 1

    @property
    def said(self) -> str:
        """The amount with what it is of: `64 prompts`, `1 prompt`."""
        return f"{self.amount} {singular(self.what) if self.amount == 1 else self.what}"

    @property
    def said_of_each(self) -> str:
        """What the share of one process must be a multiple of: `rollout.pipeline_stage_num 2`, `2`."""
        return f"{self.multiple_name} {self.multiple}" if self.multiple_name else str(self.multiple)

    @property
    def written(self) -> int:
        """The number that is written under `amount_name`."""
        return self.amount // self.factor

    def step_over(self, processes: int) -> int:
        """What the written number must be a multiple of to divide among so many processes."""
        divisor = max(processes, 1) * self.multiple
        return divisor // gcd(divisor, self.factor)

    def divides(self, processes: int) -> bool:
        """Does each of so many processes get an equal share of the right multiple, and more than nothing?"""
        return 0 < processes * self.multiple <= self.amount and self.amount % (processes * self.multiple) == 0

    @property
    def field(self) -> str:
        """What the demand is called that it is: a component may have several."""
        return f"share of {self.amount_name}"
