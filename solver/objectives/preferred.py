"""Groups that would better lie in one domain, and do not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Callable, ClassVar, Iterator

from ...models.component import Component
from ...models.locality import WHOLE, Keep
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.bundle import size_of
from ..layout.ranges import Place
from ..layout.ranks import GroupsCut, order_in_blocks
from ..presence import amounts_in
from .domains import is_open

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables

Wish = tuple[Component, Keep]


class Preferred:
    """Whole groups of components whose place is searched that lie in several domains, of a level in which they are better kept together.

    Groups are cut from the ranks in order. A whole component counts as one group, and may lie in as many domains as is said of it.
    """

    name: ClassVar[str] = "preferred groups cut"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """Expansion leaves whole as many groups as fit into what each domain has (see layout/ranks/rank_order.py)."""
        cut: list[Amount] = []
        for component, keep in wishes(problem):
            bundle = variables.bundle(component)
            if keep.what == WHOLE:
                cut.append(self._torn(component, keep, variables))
            elif bundle and bundle.contiguous and not bundle.fixed:
                cut.append(variables.of_place(bundle, _cut_by_place(variables.layout, bundle, component, keep)))
            else:
                cut.append(self._cut(component, keep, variables))
        return variables.total(cut)

    def _torn(self, component: Component, keep: Keep, variables: Variables) -> Amount:
        names = variables.domains(keep.level)
        torn = variables.boolean(f"{component.name} is in too many of {keep.level}")
        seen = variables.total(variables.present(component, keep.level, name) for name in names)
        variables.at_most(seen, keep.domains + len(names) * torn)
        return torn

    def _cut(self, component: Component, keep: Keep, variables: Variables) -> Amount:
        size, most = size_of(component, keep), variables.problem.room_for(component)
        groups = variables.integer(0, most // size, f"groups of {component.name}")
        held = [variables.held(component, keep.level, name) for name in variables.domains(keep.level)]
        variables.at_most(variables.total(held), size * groups + size - 1)
        whole: list[Amount] = []
        for amount in held:
            there = (
                variables.integer(0, most // size, f"whole groups of {component.name}") if not isinstance(amount, int) else amount // size
            )
            variables.at_most(size * there, amount)
            whole.append(there)
        return groups - variables.total(whole)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        count = 0
        for component, keep in wishes(problem):
            if keep.what == WHOLE:
                held = amounts_in(problem.cluster, keep.level, assignment, component.name)
                count += sum(alike for _, _, alike in held) > keep.domains
            else:
                count += _cut_in(_domains_in_order(problem, assignment, component, keep), size_of(component, keep))
        return count

    def bound(self, layout: Layout) -> int:
        """Each wish as if its component had all that is free of every domain."""
        return sum(self._least(layout, component, keep) for component, keep in wishes(layout.problem))

    def _least(self, layout: Layout, component: Component, keep: Keep) -> int:
        if component.name in layout.dealt or (bundle := layout.bundle_of[component.name]).fixed:
            return 0
        size, rooms = size_of(component, keep), dict[str, int]()
        for cell in layout.cells:
            name = cell.name if keep.level == NODE_LEVEL else cell.domain(keep.level)
            rooms[name] = rooms.get(name, 0) + layout.pieces(bundle, cell, 1)
        if keep.what == WHOLE:
            return int(sum(sorted(rooms.values())[-keep.domains :]) < component.least)
        return max(0, component.least // size - sum(room // size for room in rooms.values()))

    def most(self, problem: Problem) -> int:
        total = problem.cluster.total
        return sum(1 if keep.what == WHOLE else total(problem.kind(component)) for component, keep in wishes(problem))


def wishes(problem: Problem) -> Iterator[Wish]:
    """What is better kept together, of components whose place is searched."""
    for component in problem.hinted:
        for keep in component.keep:
            on_nodes = problem.kind(component) == NODE
            if not keep.required and (keep.what == WHOLE if on_nodes else is_open(problem, component)):
                yield component, keep


def _cut_by_place(layout: Layout, bundle: Bundle, component: Component, keep: Keep) -> Callable[[Place], int]:
    """How many groups are cut, given where a range lies."""
    order = order_in_blocks(layout, bundle, component)
    if not order:
        return partial(_cut_at, layout, bundle, component, keep)
    nodes, stretches = layout.problem.cluster.nodes, layout.numbering(bundle).stretches
    where = [domain(nodes[stretch.node_rank], keep.level) for stretch in stretches for _ in range(stretch.count)]
    groups = GroupsCut(where, size_of(component, keep), order)
    return lambda place: groups.between(place[0], place[0] + place[1] * bundle.unit)


def _cut_at(layout: Layout, bundle: Bundle, component: Component, keep: Keep, place: Place) -> int:
    """Groups cut where a range lies there: its ranks go through it in order."""
    start, units = place
    cluster, found = layout.problem.cluster, list[tuple[str, int]]()
    for stretch, _, count in layout.numbering(bundle).pieces(start, start + units * bundle.unit):
        found.append((domain(cluster.nodes[stretch.node_rank], keep.level), count))
    return _cut_in(found, size_of(component, keep))


def _domains_in_order(problem: Problem, assignment: Assignment, component: Component, keep: Keep) -> list[tuple[str, int]]:
    """(domain, how much of the component is there) in the order of its ranks."""
    found: list[tuple[str, int]] = []
    for repeat in sorted(assignment.repeats(component.name), key=lambda each: (each.ranks.start, each.ranks.stop)):
        each = sum(run.amount for run in repeat.runs)
        for alike, ranks in problem.cluster.alike_among(repeat.node_ranks):
            if keep.level == NODE_LEVEL:
                found += [(problem.cluster.name(node), each) for node in ranks]
            else:
                found.append((domain(alike.node, keep.level), each * len(ranks)))
    return found


def _cut_in(amounts: list[tuple[str, int]], size: int) -> int:
    """How many whole groups of a size lie in several domains."""
    groups, cut, position, before = sum(amount for _, amount in amounts) // size, set[int](), 0, ""
    for name, amount in amounts:
        if amount and position % size and name != before:
            cut.add(position // size)
        position, before = position + amount, name
    return len([group for group in cut if group < groups])
