"""Traffic between two components: network load if they lie in different domains."""

from __future__ import annotations

from dataclasses import field

from .findings.span import Span
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """Data that two components exchange in every step.

    Attributes
    ----------
    source, target : names of the components.
    weights : MiB sent to every domain of a level with some of the target and none of the source:
        new weights of a model that is trained in one place and used in another.
    stream : MiB per accelerator of the target without `ratio` accelerators of the source in its own
        domain: samples that processes exchange with a neighbour.
    ratio : accelerators of the target served by one accelerator of the source.
    estimate : how the amounts were estimated; "" if the user states them.
    """

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1
    span: Span | None = field(default=None, compare=False)
    estimate: str = field(default="", compare=False)
