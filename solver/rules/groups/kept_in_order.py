"""Groups that lie inside domains although ranks must follow the nodes, whose domains may take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...model.amount import Amount
    from ...model.variables import Variables


def keep_in_order(variables: Variables, bundle: Bundle, level: str, size: int) -> None:
    """Every `size` accelerators of a counted bundle, in the order of its nodes, lie in one domain of a level above the node.

    Stretch by stretch of nodes in one domain: what is left of a group behind a stretch is taken up by the next stretch of the same
    domain, and those between hold nothing. A cell lies inside one stretch.
    """
    stretches = variables.layout.neighbours.stretches(level)
    held = [
        variables.total(variables.accelerators(bundle, cell) for cell in variables.cells if cell.nodes[0].rank in ranks)
        for _, ranks in stretches
    ]
    rooms = [_room(variables, bundle, ranks) for _, ranks in stretches]
    last = {name: number for number, (name, _) in enumerate(stretches)}
    before: Amount = 0
    opened: dict[int, Amount] = {}
    for number, (name, _) in enumerate(stretches):
        before = before + held[number]
        begun = {its: variables.boolean(f"a group of {bundle.name} goes on in {its}") for its in (*opened, name) if last[its] > number}
        groups = variables.integer(0, sum(rooms) // size, f"groups of {bundle.name} up to stretch {number}")
        variables.require(before >= size * groups)
        variables.require(before - size * groups <= (size - 1) * variables.total(begun.values()))
        variables.at_most(variables.total(begun.values()), 1)
        for other, was in opened.items():
            if other == name:
                continue
            variables.at_most(held[number] + rooms[number] * was, rooms[number])
            if other in begun:
                variables.at_most(begun[other], was)
            if name in begun:
                variables.at_most(begun[name] + was, 1)
        opened = dict(begun)


def _room(variables: Variables, bundle: Bundle, ranks: range) -> int:
    free, enclosed = variables.layout.pool_of[bundle].free, variables.layout.enclosed.get(bundle, {})
    return sum((free.get(rank, 0) | enclosed.get(rank, 0)).bit_count() for rank in ranks)
