"""Result of a recovery."""

from __future__ import annotations

from dataclasses import dataclass

from ...models.placements.moves import Moves


@dataclass(frozen=True, slots=True)
class Recovery:
    """Recovered launch.

    Attributes
    ----------
    lost : names of the previous plan's nodes that are gone.
    joined : names of new nodes.
    moves : moved groups of the previous plan; None if the plan is unchanged.
    attempt : number of this restart of the launch, from 1; 0 without a failure.
    seconds : from the failure, or the decision to grow, to the audit of all workers.
    taken : names of the previous plan's nodes on which other jobs now use too much.
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
        details = f" {', '.join(nodes)}" if nodes else ""
        return f"running again after {self.seconds:.1f} s{details}: {self.moved}"

    @property
    def moved(self) -> str:
        """Text with the number of moved groups."""
        if self.moves is None:
            return "everything is where it was"
        parts, lost_count = self.moves.parts, self.moves.lost
        group_count, new_count = sum(part.now for part in parts), sum(max(0, part.now - part.before) for part in parts)
        moved = sum(part.started for part in parts) - new_count
        words = [f"{moved} of {group_count} {'group' if group_count == 1 else 'groups'} moved"]
        words += [f"{lost_count} {'was' if lost_count == 1 else 'were'} on {'lost' if not self.taken else 'such'} nodes"] * bool(lost_count)
        words += [f"{new_count} {'is' if new_count == 1 else 'are'} new"] * bool(new_count)
        words += ["proved to be the fewest"] * self.moves.proved
        return ", ".join(words)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
