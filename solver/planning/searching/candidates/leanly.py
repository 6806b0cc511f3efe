"""One structure in the question in which memory is nearly no matter, and what of it really fits."""

from __future__ import annotations

from ..price import Price
from ..sizes.branching import Best
from ..sizes.domains import Narrowing
from ..sizes.sizing import Sizing
from .lean import Lean


class Leanly:
    """A structure twice: as it is there, where little is to be listed and nothing costs more, and as it really is.

    Attributes
    ----------
    sizing : what is to be chosen there.
    """

    def __init__(self, lean: Lean, real: Sizing) -> None:
        self.sizing = lean.sizing(real.structure)
        self._lean, self._real = lean, real

    def really(self, best: Best) -> Best | None:
        """The best choices there as they really are; None if they do not fit."""
        chosen = self._lean.really(self._real, best[1])
        return (best[0], chosen) if self._real.allows(chosen) else None

    def alike(self, best: Best) -> Sizing:
        """What really is with the same kinds and amounts as the best there."""
        return self._real.only(tuple((choice.amount,) for choice in best[1]))

    def cheaper(self, bar: Price) -> Sizing | None:
        """What really is with the kinds and amounts alone with which something there costs less; None if nothing does."""
        narrowing = Narrowing(self.sizing.only())
        domains = narrowing.start()
        if not narrowing.narrow(domains, bar):
            return None
        left = (dict.fromkeys(its[place].amount for place in places) for its, places in zip(narrowing.choices, domains.left))
        return self._real.only(tuple(map(tuple, left)))
