"""Groups inside domains that take turns, with ranks in node order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...model.amount import Amount
    from ...model.variables import Variables


def keep_in_order(variables: Variables, bundle: Bundle, level: str, size: int) -> None:
    """Require whole groups of a counted bundle in domains, with ranks in node order.

    Every `size` accelerators, in the order of the nodes, lie in one domain of a level above the
    node. Rows go stretch by stretch of nodes in one domain: the rest of a group after a stretch
    continues in the next stretch of the same domain, and the stretches between hold nothing. A cell
    is inside one stretch.
    """
    stretches = variables.layout.neighbours.stretches(level)
    amounts = [
        variables.total(variables.accelerators(bundle, cell) for cell in variables.cells if cell.nodes[0].rank in ranks)
        for _, ranks in stretches
    ]
    rooms = [_room(variables, bundle, ranks) for _, ranks in stretches]
    last = {name: number for number, (name, _) in enumerate(stretches)}
    before: Amount = 0
    opened: dict[int, Amount] = {}
    for number, (name, _) in enumerate(stretches):
        before = before + amounts[number]
        begun = {
            domain_rank: variables.boolean(f"a group of {bundle.name} goes on in {domain_rank}")
            for domain_rank in (*opened, name)
            if last[domain_rank] > number
        }
        groups = variables.integer(0, sum(rooms) // size, f"groups of {bundle.name} up to stretch {number}")
        variables.require(before >= size * groups)
        variables.require(before - size * groups <= (size - 1) * variables.total(begun.values()))
        variables.at_most(variables.total(begun.values()), 1)
        for open_domain, was in opened.items():
            if open_domain == name:
                continue
            variables.at_most(amounts[number] + rooms[number] * was, rooms[number])
            if open_domain in begun:
                variables.at_most(begun[open_domain], was)
            if name in begun:
                variables.at_most(begun[name] + was, 1)
        opened = dict(begun)


def _room(variables: Variables, bundle: Bundle, ranks: range) -> int:
    free, enclosed = variables.layout.pool_of[bundle].free, variables.layout.enclosed.get(bundle, {})
    return sum((free.get(rank, 0) | enclosed.get(rank, 0)).bit_count() for rank in ranks)
