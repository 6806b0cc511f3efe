"""What else there was beside the best: the best designs of other structures, each placed before it is named."""

from __future__ import annotations

from dataclasses import field
from typing import Callable, Iterable, Sequence

from ....models.answer import IMPOSSIBLE, Answer
from ....models.planning.design import Design
from ....models.planning.planned import Priced
from ....models.record import dataclass
from ..searching.price import Price
from ..searching.searched import Found

GIVEN = "given"
"""How it is answered that something is not searched: at once."""
ALTERNATIVES = 3
TRIES = 8
"""Designs that are placed for this at most."""
AGAIN = 3
"""Further searches at most, without what no placement has."""


@dataclass
class Beside:
    """The best of other structures than that of the best design.

    Attributes
    ----------
    sure : has a design a placement, as a sum shows? Then it is not placed.
    place : places a design, in any way that holds; None where no time is left for that.
    priced : what a design costs, with its placement where it has one.
    rule_out : is told of a design that no placement has, and why.
    again : what is found without what was ruled out; nothing where no time is left.
    """

    best: Design
    sure: Callable[[Found], bool]
    place: Callable[[Found], Answer | None]
    priced: Callable[[Found, Answer | None], tuple[Price, Priced]]
    rule_out: Callable[[Found, Answer], None]
    again: Callable[[], Sequence[Found]]
    tries: int = TRIES
    unsure: list[Priced] = field(default_factory=list)
    """Those of which nobody knows whether they have a placement."""
    _known: list[tuple[Price, Priced]] = field(default_factory=list)

    def look(self, placed: Iterable[tuple[Price, Priced]], found: Sequence[Found]) -> tuple[Priced, ...]:
        """The best of them, the best first: of what has a placement already, and of what was found, in the order of their price."""
        for price, priced in sorted(placed, key=lambda its: its[0]):
            if not self._is_seen(priced.design):
                self._known.append((price, priced))
        left = AGAIN
        while self._try(found) and left:
            left, found = left - 1, self.again()
        return tuple(priced for _, priced in self._best())

    def _try(self, found: Sequence[Found]) -> bool:
        """Places what can be among the best; was any of it ruled out? After one that was searched for in vain no other is placed."""
        ruled_out = False
        for each in found:
            best = self._best()
            if self._is_seen(each.design) or (len(best) == ALTERNATIVES and each.price >= best[-1][0]):
                continue
            if self.sure(each):
                self._known.append(self.priced(each, None))
                continue
            answer = self.place(each) if self.tries > 0 else None  # of what is not placed any more nobody knows whether it can be
            self.tries -= 1
            if answer is not None and answer.verdict == IMPOSSIBLE:
                self.rule_out(each, answer)
                ruled_out = True
                continue
            price, priced = self.priced(each, answer)
            self._known.append((price, priced))
            if answer is None or answer.plan is None:
                self.unsure.append(priced)
                if answer is not None and answer.how != GIVEN:
                    self.tries = 0
        return ruled_out and self.tries > 0

    def _is_seen(self, design: Design) -> bool:
        return design.structure() in {self.best.structure(), *(each.design.structure() for _, each in self._known)}

    def _best(self) -> list[tuple[Price, Priced]]:
        return sorted(self._known, key=lambda its: its[0])[:ALTERNATIVES]
