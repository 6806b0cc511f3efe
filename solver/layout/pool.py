"""What searched bundles compete for: the free resources of the cluster, or those of what they lie within."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping

from ...models.record import dataclass
from .bundle import Bundle

Masks = Mapping[int, int]
"""node rank -> local resources, as a bit mask."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Resources of one kind, and the searched bundles that are placed on them, each on resources of its own.

    Attributes
    ----------
    free : what there is.
    hosts : what its bundles lie within; none if it is the cluster.
    host : the one of them whose own place is searched: then only what it takes of `free` can be used.
    """

    kind: str
    bundles: tuple[Bundle, ...]
    free: Masks
    hosts: tuple[Bundle, ...] = ()
    host: Bundle | None = None

    @cached_property
    def counted(self) -> tuple[Bundle, ...]:
        """Those of its bundles that are counted into cells."""
        return tuple(bundle for bundle in self.bundles if not bundle.contiguous)

    @cached_property
    def ranged(self) -> tuple[Bundle, ...]:
        """Those that have a start instead."""
        return tuple(bundle for bundle in self.bundles if bundle.contiguous)
