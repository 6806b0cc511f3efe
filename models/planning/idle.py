"""Components that their framework does not start where they share accelerators with some others, which then do their work."""

from __future__ import annotations

from functools import cached_property
from typing import Iterable, Mapping

from ..record import dataclass
from .way import Way


@dataclass(frozen=True)
class Idle:
    """Which those are, by the ways in which a job may be arranged: such components need no memory there."""

    ways: tuple[Way, ...]

    @cached_property
    def beside(self) -> Mapping[str, frozenset[str]]:
        """Components that are not started where they share accelerators with some of these -> these."""
        found: dict[str, frozenset[str]] = {}
        for number, way in enumerate(self.ways):
            others = (*self.ways[:number], *self.ways[number + 1 :])
            for name in way.without:
                found[name] = found.get(name, frozenset()) | way.beside_in_it_alone(name, others)
        return found

    @cached_property
    def workers(self) -> Mapping[str, str]:
        """Components that are not started beside some others -> who does their work there."""
        its = ((name, way.worker(name)) for way in self.ways for name in self.beside if name in way.without)
        return {name: worker for name, worker in its if worker is not None}

    def among(self, components: Iterable[str]) -> frozenset[str]:
        """Those of components on the same accelerators that are not started there."""
        its = frozenset(components) if self.beside else frozenset()
        return frozenset(name for name, beside in self.beside.items() if name in its and not its.isdisjoint(beside))
