"""What a new placement leaves where it was, and what it does not."""

from __future__ import annotations

from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of the groups of one component, or of several on the same accelerators.

    A group is what is placed as one piece: a tensor parallel group, with those on the same accelerators; a block of groups where they
    interleave. It is kept if its processes hold the very accelerators of the very node that they held. Of what the framework deals out
    to nodes it is one process, which is kept on its node.

    Attributes
    ----------
    name : the component, or several joined by ``+``.
    size : accelerators of one group.
    before, now : how many groups there were, and are.
    lost : groups that cannot be where they were: their node is gone, or their accelerators are, or others were given them.
    kept : groups that are where they were.
    renumbered : those of them whose process ranks are others than before.
    """

    name: str
    size: int
    before: int
    now: int
    lost: int
    kept: int
    renumbered: int = 0

    @property
    def survivors(self) -> int:
        """Groups that could have stayed."""
        return self.before - self.lost

    @property
    def ended(self) -> int:
        """Survivors that must end because fewer groups are asked for than survive."""
        return max(0, self.survivors - self.now)

    @property
    def moved(self) -> int:
        """Survivors that are not kept, beyond those that must end."""
        return self.survivors - self.kept - self.ended

    @property
    def started(self) -> int:
        """Groups that are where none of the component was: lost and moved ones that run on, and new ones."""
        return self.now - self.kept


@dataclass(frozen=True, slots=True)
class Trade:
    """What a few moves more would buy: so many moves in all, and then this much less of a term of the objective."""

    moves: int
    term: str
    saved: int


@dataclass(frozen=True, slots=True)
class Moves:
    """What became of all groups of a previous plan.

    `bound` is how many must move whatever is done; where it is what was moved, that is proved to be the fewest. With `traffic_first`
    both are so among answers with no more traffic, as where that counts as time. `trade` is the next better answer that more moves would
    give, None if there is none or none was looked for; `no_trade` says that it is proved that there is none.
    """

    parts: tuple[Moved, ...]
    bound: int
    before: tuple[tuple[str, int], ...] = ()
    trade: Trade | None = None
    no_trade: bool = False
    traffic_first: bool = False

    @property
    def lost(self) -> int:
        """Groups that could not stay."""
        return sum(part.lost for part in self.parts)

    @property
    def moved(self) -> int:
        """Groups that could have stayed and did not."""
        return sum(part.moved for part in self.parts)

    @property
    def kept(self) -> int:
        """Groups that stayed."""
        return sum(part.kept for part in self.parts)

    @property
    def renumbered(self) -> int:
        """Kept groups whose process ranks changed."""
        return sum(part.renumbered for part in self.parts)

    @property
    def proved(self) -> bool:
        """Is it proved that no answer of the same demands moves fewer, with `traffic_first` none that has no more traffic?"""
        return self.moved == self.bound
