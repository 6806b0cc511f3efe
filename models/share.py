"""Work dealt out to the processes of a component: environments, samples of a batch."""

from __future__ import annotations

from dataclasses import field
from math import gcd

from .findings.span import Span
from .findings.wording import singular
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """Amount that must divide equally among the processes of a component.

    Attributes
    ----------
    component : name of the component.
    amount : total amount.
    multiple : divisor of the share of one process.
    what : noun in the plural: "environments", "samples".
    amount_name : key of the amount, such as ``env.train.total_num_envs``.
    multiple_name : origin of the multiple, such as ``rollout.pipeline_stage_num x group_size``; ""
        if it is 1.
    span : place of the amount.
    reason : who demands it and when a fault shows, in one sentence; "" for no finding.
    proved : True if a run is proved to fail without it. Otherwise given ranks that break it get a
        warning; a search keeps it in both cases.
    factor : `amount` divided by the written number.
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
        """Amount with noun: `64 prompts`, `1 prompt`."""
        return f"{self.amount} {singular(self.what) if self.amount == 1 else self.what}"

    @property
    def said_of_each(self) -> str:
        """Divisor of the share of a process: `rollout.pipeline_stage_num 2`, `2`."""
        return f"{self.multiple_name} {self.multiple}" if self.multiple_name else str(self.multiple)

    @property
    def written(self) -> int:
        """Number written under `amount_name`."""
        return self.amount // self.factor

    def step_over(self, processes: int) -> int:
        """Return the divisor of the written number for this number of processes."""
        divisor = max(processes, 1) * self.multiple
        return divisor // gcd(divisor, self.factor)

    def divides(self, processes: int) -> bool:
        """Return True if all processes get equal, nonempty shares of the right multiple."""
        return 0 < processes * self.multiple <= self.amount and self.amount % (processes * self.multiple) == 0

    @property
    def field(self) -> str:
        """Field name of the demand; a component may have several shares."""
        return f"share of {self.amount_name}"
