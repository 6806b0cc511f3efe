"""Work that is dealt out to the processes of a component: environments, samples of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

from .span import Span


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
    """

    component: str
    amount: int
    multiple: int
    what: str
    amount_name: str
    multiple_name: str = ""
    span: Span | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
