"""Terms whose value is a sum over the domains of one level, so that domains that are alike cost the same for the same contents."""

from __future__ import annotations

from typing import Iterator, Mapping, Protocol, Union, runtime_checkable

from ...models.problem import Problem
from ...models.record import dataclass
from .term import Objective

Held = Mapping[str, int]
"""Component -> how much of it a domain holds."""


@dataclass(frozen=True)
class Presence:
    """What every domain costs that holds some of a component; if `unless` is one, none of that."""

    cost: int
    component: str
    unless: str = ""

    def value(self, held: Held) -> int:
        """What a domain costs that holds so much."""
        return self.cost if held.get(self.component) and not held.get(self.unless) else 0


@dataclass(frozen=True)
class Excess:
    """What everything of a component costs beyond `ratio` times what the domain holds of another."""

    cost: int
    component: str
    source: str
    ratio: int

    def value(self, held: Held) -> int:
        """What a domain costs that holds so much."""
        return self.cost * max(0, held.get(self.component, 0) - self.ratio * held.get(self.source, 0))


Share = Union[Presence, Excess]


@runtime_checkable
class ByDomain(Objective, Protocol):
    """A term whose value is that of an empty answer, plus what each domain of its level costs by what it holds."""

    @property
    def level(self) -> str:
        """The level of the topology."""
        ...

    def by_domain(self, problem: Problem) -> Iterator[Share]:
        """What a domain costs: the sum of these."""
        ...
