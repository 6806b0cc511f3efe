"""A role of a ROLL configuration: a block that describes workers, and what ROLL makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from ....findings.span import Span
from ....text.tree import Value
from ..mapping.ids import Ids


@dataclass(frozen=True)
class Role:
    """One block of workers, or one that the pipeline creates without a block.

    Attributes
    ----------
    key : its path in the file, such as ``actor_train``, ``rewards.math``, ``teacher.large``; also the name of its component.
    part : what the pipeline uses it as: one of the names in `parts.py`, such as ``actor_train`` (also for the block `student_train`).
    cluster : ROLL's own name of its workers, such as ``reward-math``; "" where ROLL has none (it is called `None` there).
    created : whether the pipeline starts it; None if that is not known.
    reason : why the pipeline starts it, or why not: part of a sentence.
    ids : its device ids; None for a role on CPUs, and where they could not be read.
    readable : whether its devices are known; where not, a finding or an Unchecked says why.
    num_gpus_per_worker : how many devices one worker gets, as ROLL makes of it; 0 on CPUs.
    world_size : how many workers there are; None where that is not known or ROLL has none.
    strategy : the name of its strategy; "" without `strategy_args`, None where it is not known.
    span : where its key stands; where the reason for it stands if it has no block.
    mapping : what is written as `device_mapping`; None if nothing is.
    counts : whether its devices count for the number of nodes that ROLL reserves; those of a role that is not started do too.
    per_worker_span, world_span : where the number of devices per worker and the number of workers come from.
    """

    key: str
    part: str
    cluster: str
    created: bool | None
    reason: str
    span: Span
    ids: Ids | None = None
    readable: bool = True
    num_gpus_per_worker: int = 0
    world_size: int | None = None
    strategy: str | None = ""
    mapping: Value | None = None
    per_worker_span: Span | None = None
    world_span: Span | None = None
    counts: bool = True

    @property
    def on_devices(self) -> bool:
        """Has it devices that are known?"""
        return self.ids is not None and self.ids.count > 0

    @property
    def place(self) -> Span:
        """Where its devices are written; its key where they are not."""
        return self.mapping.span if self.mapping is not None else self.span

    def path(self, inner: str) -> str:
        """The path of something in its block, such as ``strategy_args.strategy_config.tensor_parallel_size``."""
        return f"{self.key}.{inner}"

    def config(self, name: str) -> str:
        """The path of a key of its `strategy_config`."""
        return self.path(f"strategy_args.strategy_config.{name}")
