"""Traffic between two components: what the network must carry where they are apart."""

from __future__ import annotations

from dataclasses import field

from .findings.span import Span
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """Two components that send data to each other in every step.

    Attributes
    ----------
    source, target : their names.
    weights : MiB that every domain of a level must be sent which holds some of the target and none of the source: the new weights
        of a model that is trained in one place and used in another.
    stream : MiB for each accelerator of the target that has no `ratio` accelerators of the source in its own domain: samples
        that processes exchange with a neighbour.
    ratio : how many accelerators of the target one accelerator of the source serves.
    estimate : how the amounts were estimated, where the user does not say them; "" where he does.
    """

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1
    span: Span | None = field(default=None, compare=False)
    estimate: str = field(default="", compare=False)
