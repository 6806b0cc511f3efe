"""What a domain may be used for: at most so much of each of some bundles and at least a little, or all that fits of them."""

from __future__ import annotations

from itertools import combinations
from typing import Iterator

from ...models.record import dataclass
from .applies import may_hold
from .contents import Contents
from .domain_rows import Domain, Vector


@dataclass(frozen=True)
class Option:
    """A use of one of some domains that are alike.

    Attributes
    ----------
    kind : the number of these domains.
    least, most : units of each bundle, in the order of the layout. Everything between costs the same.
    free : whether only what fits between them may be there; then what is in all domains of the option together is decided, not
        what is in each.
    """

    kind: int
    least: Vector
    most: Vector
    free: bool = False

    def has(self, bundle: int) -> bool:
        """Does the domain hold some of the bundle?"""
        return self.most[bundle] > 0


def options(kind: int, domain: Domain, every: Contents, exact: frozenset[int]) -> Iterator[Option]:
    """The uses of a domain, given all that it can hold and the numbers of the bundles that cost by their amount.

    Only the largest are kept, those to which nothing more of the same bundles can be added: holding less, but some, of a bundle
    costs the same. This is dominance; of bundles in `exact` every amount is a use of its own.
    """
    for vector in every:
        if not may_hold(domain.layout, [number for number, amount in enumerate(vector) if amount]):
            continue
        others = [number for number, amount in enumerate(vector) if amount and number not in exact]
        if not any(_more(vector, number, domain) in every for number in others):
            least = tuple(domain.steps[number] if number in others else amount for number, amount in enumerate(vector))
            yield Option(kind, least, vector)


def _more(vector: Vector, number: int, domain: Domain) -> Vector:
    return (*vector[:number], vector[number] + domain.steps[number], *vector[number + 1 :])


def supports(kind: int, domain: Domain) -> Iterator[Option]:
    """All sets of bundles of which a domain could hold some, where what it can hold is too much to write out."""
    for size in range(len(domain.open) + 1):
        for there in combinations(domain.open, size):
            least, most = (
                tuple(its[number] if number in there else 0 for number in range(len(its))) for its in (domain.steps, domain.most)
            )
            if may_hold(domain.layout, there) and all(row.holds(least) for row in (*domain.groups, *domain.beside(there))):
                yield Option(kind, least, most, free=True)
