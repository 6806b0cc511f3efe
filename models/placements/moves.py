"""Moves of a new placement against the previous placement."""

from __future__ import annotations

from ..record import dataclass


@dataclass(frozen=True, slots=True)
class GroupMoves:
    """Moves of the groups of a component, or of several on the same accelerators.

    A group is a unit of placement: a tensor parallel group, with those on the same accelerators; a
    block of groups if they interleave. It is kept if its processes hold the same accelerators of
    the same node. For components that the framework deals out to nodes a group is one process, kept
    on its node.

    Attributes
    ----------
    before, now : number of groups before and now.
    lost : groups that cannot stay: their node or accelerators are gone, or others were given them.
    renumbered : kept groups with changed process ranks.
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
        """Survivors that must end because fewer groups are requested."""
        return max(0, self.survivors - self.now)

    @property
    def moved(self) -> int:
        """Survivors that are neither kept nor must end."""
        return self.survivors - self.kept - self.ended

    @property
    def started(self) -> int:
        """Groups on new places: lost and moved groups that run on, and new groups."""
        return self.now - self.kept


@dataclass(frozen=True, slots=True)
class Trade:
    """Next better answer with more moves: total moves, and the saving in an objective term."""

    moves: int
    term: str
    saved: int


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves of all groups of a previous plan.

    `bound` is a lower bound on moves; if it equals the moves, they are proved minimal. With
    `traffic_first` the bound holds among answers without more traffic, as with traffic counted as
    time. `trade` is the next better answer with more moves, None if none was found or searched;
    `no_trade`: the absence of such an answer is proved.
    """

    parts: tuple[GroupMoves, ...]
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
        """Groups that could have stayed but moved."""
        return sum(part.moved for part in self.parts)

    @property
    def kept(self) -> int:
        """Groups that stayed."""
        return sum(part.kept for part in self.parts)

    @property
    def renumbered(self) -> int:
        """Kept groups with changed process ranks."""
        return sum(part.renumbered for part in self.parts)

    @property
    def proved(self) -> bool:
        """True if the moves are proved minimal, by `traffic_first` among equal traffic."""
        return self.moved == self.bound
