"""Moves of a re-placement, by component and group, and their cost."""

from __future__ import annotations

from ..models.findings.wording import with_noun
from ..models.placements.moves import Moves
from ..models.placements.plan import Plan
from .json import attributes
from .table import table


def render(moves: Moves, plan: Plan) -> str:
    """Format the moved groups, whether fewer suffice, and changed objective terms."""
    blocks = [summary(moves), table([HEADS, *rows_of(moves)], right=range(1, len(HEADS)))]
    before = dict(moves.before)
    costs = [[term.name, str(before[term.name]), str(term.value)] for term in plan.terms if before.get(term.name, term.value) != term.value]
    if costs:
        blocks.append(table([["objective", "before", "now"], *costs], right=(1, 2)))
    elif any(term.name in before for term in plan.terms):
        blocks.append("every other term of the objective is as before")
    if moves.trade:
        more = moves.trade.moves - moves.moved
        blocks.append(f"moving {more} more would save {moves.trade.saved} of: {moves.trade.term}")
    elif moves.no_trade:
        blocks.append("moving more would save nothing")
    return "\n\n".join(blocks)


HEADS = ("component", "groups of", "before", "now", "kept", "moved", "lost", "ended", "new ranks")
_FIELDS = ("name", "size", "before", "now", "kept", "moved", "lost", "ended", "renumbered")


def rows_of(moves: Moves) -> list[list[str]]:
    """Return the cells of each component under `HEADS`."""
    return [[str(getattr(part, name)) for name in _FIELDS] for part in moves.parts]


def summary(moves: Moves) -> str:
    """Format a line: `lost 5 groups, moved 2 more (proved fewest), kept 113`."""
    how = "proved fewest" if moves.proved else f"at least {moves.bound} must move"
    how += " without more traffic" if moves.traffic_first else ""
    text = f"lost {with_noun(moves.lost, 'group')}, moved {moves.moved} more ({how}), kept {moves.kept}"
    return text + (f"; {with_noun(moves.renumbered, 'group')} kept with new ranks" if moves.renumbered else "")


def to_data(moves: Moves) -> dict[str, object]:
    """Convert the moves to JSON data."""
    data = attributes(moves, "lost", "moved", "kept", "renumbered", "bound", "proved")
    data |= {"components": [attributes(part, *_FIELDS) for part in moves.parts], "terms_before": dict(moves.before)}
    if moves.traffic_first:
        data["traffic_first"] = True
    if moves.trade:
        data["trade"] = attributes(moves.trade, "moves", "term", "saved")
    elif moves.no_trade:
        data["trade"] = None
    return data
