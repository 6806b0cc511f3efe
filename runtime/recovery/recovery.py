"""What a recovery came to."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.placements.moves import Moves


@dataclass(frozen=True, slots=True)
class Recovery:
    """A launch that runs again.

    Attributes
    ----------
    lost : names of the nodes that the plan before used and that are gone.
    joined : names of the nodes that are there and were not when it was made.
    moves : what became of the groups of the plan before; None where the plan is the same.
    attempt : the how many-th restart of the launch this was; 0 where nothing had failed.
    seconds : from the failure, or the wish to grow, until all workers were audited again.
    taken : names of the nodes that the plan before used and of which other jobs hold too much by now.
    """

    lost: tuple[str, ...]
    joined: tuple[str, ...]
    moves: Moves | None
    attempt: int
    seconds: float
    taken: tuple[str, ...] = ()

    def __str__(self) -> str:
        nodes = [f"without {_listed(self.lost)}"] * bool(self.lost)
        nodes += [f"beside the jobs that took {_listed(self.taken)}"] * bool(self.taken)
        nodes += [f"with {_listed(self.joined)}"] * bool(self.joined)
        where = f" {', '.join(nodes)}" if nodes else ""
        return f"running again after {self.seconds:.1f} s{where}: {self.moved}"

    @property
    def moved(self) -> str:
        """How many groups are elsewhere now, in words."""
        if self.moves is None:
            return "everything is where it was"
        parts, lost = self.moves.parts, self.moves.lost
        now, new = sum(part.now for part in parts), sum(max(0, part.now - part.before) for part in parts)
        moved = sum(part.started for part in parts) - new
        words = [f"{moved} of {now} {'group' if now == 1 else 'groups'} moved"]
        words += [f"{lost} {'was' if lost == 1 else 'were'} on {'lost' if not self.taken else 'such'} nodes"] * bool(lost)
        words += [f"{new} {'is' if new == 1 else 'are'} new"] * bool(new)
        words += ["proved to be the fewest"] * self.moves.proved
        return ", ".join(words)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
