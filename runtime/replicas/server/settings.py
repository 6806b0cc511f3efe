"""What the server of one node of a replica is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ...engines.shape import Shape
from ..limits import Limits


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server must know, as plain data.

    Attributes
    ----------
    engine, model : the engine's name, and its settings.
    name : under which the model is served.
    degrees : tensor, data and pipeline parallelism.
    node_rank, nnodes : which of the replica's nodes this is, and how many there are.
    ranks : of the workers of this node, in the replica.
    workers : their (address, key), in the same order.
    key : what headless servers must show the master.
    host : the address on which to listen; "" is that of this node on the way to `towards`.
    port : on which the master listens; 0 is any.
    api_key : what clients must show; None for nothing.
    limits : what it accepts, and how long it waits.
    """

    engine: str
    model: Mapping[str, Any]
    name: str
    degrees: tuple[int, int, int]
    node_rank: int
    nnodes: int
    ranks: tuple[int, ...]
    workers: tuple[tuple[str, str], ...]
    key: str
    host: str = ""
    towards: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def shape(self) -> Shape:
        """The degrees by name."""
        return Shape(*self.degrees)
