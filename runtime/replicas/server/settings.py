"""Settings of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ...engines.shape import Shape
from ..limits import Limits


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Settings of a server, as plain data.

    Attributes
    ----------
    engine, model : name of the engine, and its settings.
    name : name of the served model.
    degrees : tensor, data and pipeline parallelism.
    node_rank, nnodes : rank of this node in the replica, and number of nodes.
    ranks : ranks of this node's workers in the replica.
    workers : their (address, key), in the same order.
    key : key of headless servers for the master.
    host : listening address; "": that of this node on the way to `towards`.
    port : listening port of the master; 0: any.
    api_key : key that clients must send; None: no key.
    limits : request limits and time limits.
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
        """Degrees by name."""
        return Shape(*self.degrees)
