"""Objective term: preferred groups spread over several domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, ClassVar, Iterator

from ...models.component import WHOLE, Component, Keep
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.bundle import size_of
from ..layout.ranges import Place
from ..layout.ranks import GroupsCut, order_in_blocks
from ..stretches import amounts_in
from .domains import is_open

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables

Wish = tuple[Component, Keep]


class SplitGroups:
    """Whole groups spread over several domains of a level, against a preference.

    Only components whose place is searched count. Groups are cut from the ranks in order. A whole
    component counts as one group, and may be in as many domains as its preference allows.
    """

    name: ClassVar[str] = "preferred groups cut"

    def encode(self, problem: Problem, variables: Variables) -> Amount:
        """Return the number of groups cut.

        Expansion keeps as many groups whole as fit into the resources of each domain (see
        `in_rank_order` in `layout/ranks.py`).
        """
        cut: list[Amount] = []
        for component, keep in wishes(problem):
            bundle = variables.bundle(component)
            if keep.unit == WHOLE:
                cut.append(self._torn(component, keep, variables))
            elif bundle and bundle.contiguous and not bundle.fixed:
                cut.append(variables.range_of(bundle).worth(_cut_by_place(variables.layout, bundle, component, keep)))
            else:
                cut.append(self._cut(component, keep, variables))
        return variables.total(cut)

    def _torn(self, component: Component, keep: Keep, variables: Variables) -> Amount:
        names = variables.domains(keep.level)
        torn = variables.boolean(f"{component.name} is in too many of {keep.level}")
        domain_count = variables.total(variables.present(component, keep.level, name) for name in names)
        variables.at_most(domain_count, keep.domains + len(names) * torn)
        return torn

    def _cut(self, component: Component, keep: Keep, variables: Variables) -> Amount:
        size, most = size_of(component, keep), variables.problem.room_for(component)
        groups = variables.integer(0, most // size, f"groups of {component.name}")
        amounts = [variables.count_held(component, keep.level, name) for name in variables.domains(keep.level)]
        variables.at_most(variables.total(amounts), size * groups + size - 1)
        whole: list[Amount] = []
        for amount in amounts:
            whole_groups = (
                variables.integer(0, most // size, f"whole groups of {component.name}") if not isinstance(amount, int) else amount // size
            )
            variables.at_most(size * whole_groups, amount)
            whole.append(whole_groups)
        return groups - variables.total(whole)

    def value(self, problem: Problem, assignment: Assignment) -> int:
        count = 0
        for component, keep in wishes(problem):
            if keep.unit == WHOLE:
                amounts = amounts_in(problem.cluster, keep.level, assignment, component.name)
                count += sum(repeats for _, _, repeats in amounts) > keep.domains
            else:
                count += _cut_in(_domains_in_order(problem, assignment, component, keep), size_of(component, keep))
        return count

    def bound(self, layout: Layout) -> int:
        """Return the bound of every preference with all free resources for its component."""
        return sum(self._least(layout, component, keep) for component, keep in wishes(layout.problem))

    def _least(self, layout: Layout, component: Component, keep: Keep) -> int:
        if component.name in layout.dealt or (bundle := layout.bundle_of[component.name]).fixed:
            return 0
        size, capacities = size_of(component, keep), dict[str, int]()
        for cell in layout.cells:
            name = cell.name if keep.level == NODE_LEVEL else cell.domain(keep.level)
            capacities[name] = capacities.get(name, 0) + layout.pieces(bundle, cell, 1)
        if keep.unit == WHOLE:
            return int(sum(sorted(capacities.values())[-keep.domains :]) < component.least)
        return max(0, component.least // size - sum(capacity // size for capacity in capacities.values()))

    def most(self, problem: Problem) -> int:
        total = problem.cluster.total
        return sum(1 if keep.unit == WHOLE else total(problem.kind(component)) for component, keep in wishes(problem))


def wishes(problem: Problem) -> Iterator[Wish]:
    """Yield preferences to keep groups together, of components with a searched place."""
    for component in problem.hinted:
        for keep in component.keep:
            on_nodes = problem.kind(component) == NODE
            if not keep.required and (keep.unit == WHOLE if on_nodes else is_open(problem, component)):
                yield component, keep


def _cut_by_place(layout: Layout, bundle: Bundle, component: Component, keep: Keep) -> Callable[[Place], int]:
    """Return a function from the place of a range to the groups cut."""
    nodes, stretches = layout.problem.cluster.nodes, layout.numbering(bundle).stretches
    domain_names = [domain(nodes[stretch.node_rank], keep.level) for stretch in stretches for _ in range(stretch.count)]
    groups = GroupsCut(domain_names, size_of(component, keep), order_in_blocks(layout, bundle, component))
    return lambda place: groups.count_cut(place[0], place[0] + place[1] * bundle.unit)


def _domains_in_order(problem: Problem, assignment: Assignment, component: Component, keep: Keep) -> list[tuple[str, int]]:
    """Return (domain, amount of the component) in rank order."""
    amounts: list[tuple[str, int]] = []
    for repeat in sorted(assignment.repeats(component.name), key=lambda repeat: (repeat.ranks.start, repeat.ranks.stop)):
        per_node = sum(run.amount for run in repeat.runs)
        for stretch, ranks in problem.cluster.alike_among(repeat.node_ranks):
            if keep.level == NODE_LEVEL:
                amounts += [(problem.cluster.name(node), per_node) for node in ranks]
            else:
                amounts.append((domain(stretch.node, keep.level), per_node * len(ranks)))
    return amounts


def _cut_in(amounts: list[tuple[str, int]], size: int) -> int:
    """Count the whole groups of a size in several domains."""
    groups, cut, position, before = sum(amount for _, amount in amounts) // size, set[int](), 0, ""
    for name, amount in amounts:
        if amount and position % size and name != before:
            cut.add(position // size)
        position, before = position + amount, name
    return len([group for group in cut if group < groups])
