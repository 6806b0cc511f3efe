"""Order of ranks of the components of a bundle."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import field
from math import lcm
from typing import Callable, Iterator, Mapping, Sequence

from ...models.component import RANK_ALIGNED, TP, WHOLE, ZERO_COPY, Component
from ...models.machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL, NUMA
from ...models.placements.assignment import Seat, seats
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Bundle, domain_multiple, size_of
from .cells import numa_domains
from .layout import Layout
from .parts import bits

Bricks = dict[int, list[Seat]]
"""Group size -> resources of all whole groups, concatenated."""


Color = Callable[[int], int]
"""Position in a rank order -> number to match on the same resource."""
Colors = tuple[int, ...]
Place = tuple[int, int]
"""Node and NUMA domain of a resource."""
Order = tuple[int, ...]
"""Positions of a component's resources in its bundle, in rank order."""


def order_by_rank(layout: Layout, bundle: Bundle, masks: Mapping[int, int]) -> list[Seat]:
    """Return the resources of a bundle in the default order of ranks.

    A component without demands on its order takes them in this order. `masks`: the bundle's
    resources per node, as bit masks. A contiguous bundle follows its numbering, unless its order is
    free and groups are better kept together. Others go domain by domain, widest level first, or
    through the nodes if the dialect wants nodes in order. Groups better kept together come first
    wherever a domain has all of a group; the rest comes last.
    """
    in_order = layout.problem.job.capabilities.nodes_in_order
    if bundle.contiguous and (in_order or not _wishes(bundle) or not all(component.any_order for component in bundle.components)):
        first = layout.numbering(bundle).first
        return [(node, index) for node in sorted(masks, key=lambda node: first.get(node, node)) for index in bits(masks[node])]
    if in_order:
        return [seat for node in sorted(masks) for section in _parts(layout, bundle, node, masks[node]) for seat in section]
    return _by_domain(layout, bundle, masks)


def _by_domain(layout: Layout, bundle: Bundle, masks: Mapping[int, int]) -> list[Seat]:
    neighbours = layout.neighbours
    levels = [level for level in LEVELS if all(neighbours.nests(level, whole_level) for whole_level, _ in bundle.wholes)]
    nodes = sorted(masks, key=lambda node: (*(neighbours.of(level, node) for level in levels), node))
    sizes = _sizes(bundle)
    sections = [(node, section) for node in nodes for section in _parts(layout, bundle, node, masks[node])]
    plain = [seat for _, section in sections for seat in section]
    if not sizes:
        return plain
    entries: list[tuple[tuple[int, int], Bricks]] = [
        ((node, number), {bundle.piece: section}) for number, (node, section) in enumerate(sections)
    ]
    # Levels without groups kept together may cross others; the levels used are nested, or nothing
    # is searched.
    for level in (NUMA, NODE_LEVEL, *(level for level in reversed(LEVELS) if max(sizes[level], default=0) > bundle.unit)):
        groups: dict[tuple[int, int], list[Bricks]] = {}
        for (node, number), bricks in entries:
            key = (node, number) if level == NUMA else (neighbours.of(level, node), 0)
            groups.setdefault(key, []).append(bricks)
        entries = [(key, _merge(domain_bricks, sizes.get(level, ()))) for key, domain_bricks in groups.items()]
    whole = _merge([bricks for _, bricks in entries], ())
    by_group = [seat for size in sorted(whole, reverse=True) for seat in whole[size]]
    # Node order gives the shorter text; use it if it cuts no more groups.
    return plain if _cut(layout, bundle, plain) <= _cut(layout, bundle, by_group) else by_group


def _cut(layout: Layout, bundle: Bundle, order: Sequence[Seat]) -> list[int]:
    """Count the required groups, and the preferred groups, cut by an order of ranks."""
    counts = []
    for groups in (bundle.wholes, _wishes(bundle)):
        count = 0
        for level, size in groups:
            homes = [_home(layout, bundle, level, seat) for seat in order]
            count += sum(len(set(homes[start : start + size])) > 1 for start in range(0, len(homes), size))
        counts.append(count)
    return counts


def _home(layout: Layout, bundle: Bundle, level: str, seat: Seat) -> tuple[int, int]:
    """Return the domain of a resource at a level."""
    node, index = seat
    if level != NUMA:
        return layout.neighbours.of(level, node), 0
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return node, next(number for number, domain in enumerate(domains) if domain >> index & 1)


def _sizes(bundle: Bundle) -> dict[str, Sequence[int]]:
    """Return level -> ascending sizes of groups to keep whole; empty without preferences."""
    wishes = _wishes(bundle)
    if not wishes:
        return {}
    groups = [*wishes, *bundle.wholes, (NODE_LEVEL, bundle.unit)]
    return {level: sorted({size for wish_level, size in groups if wish_level == level}) for level in ALL_LEVELS}


def _wishes(bundle: Bundle) -> list[tuple[str, int]]:
    """Return (level, size) of groups better kept together."""
    keeps = [(component, keep) for component in bundle.components for keep in component.keep]
    return [(keep.level, size_of(component, keep)) for component, keep in keeps if not keep.required and keep.unit != WHOLE]


def _merge(several: Sequence[Bricks], sizes: Sequence[int]) -> Bricks:
    """Return the bricks of a domain from those inside it, with most whole groups."""
    bricks: Bricks = {}
    for domain_bricks in several:
        for size, whole in domain_bricks.items():
            bricks.setdefault(size, []).extend(whole)
    for size in sizes:
        smaller = sorted((smaller_size for smaller_size in bricks if smaller_size < size), reverse=True)
        if any(size % smaller_size for smaller_size in smaller):
            continue  # sizes without a divisor chain: smaller groups stay whole
        count = sum(len(bricks[smaller_size]) for smaller_size in smaller) // size * size
        for smaller_size in smaller:
            transfer, bricks[smaller_size] = bricks[smaller_size][:count], bricks[smaller_size][count:]
            bricks.setdefault(size, []).extend(transfer)
            count -= len(transfer)
    return bricks


def _parts(layout: Layout, bundle: Bundle, node: int, mask: int) -> list[list[Seat]]:
    """Return a bundle's resources on a node, by NUMA domain if relevant."""
    numa = bundle.piece > 1 or any(keep.level == NUMA for component in bundle.components for keep in component.keep)
    if not numa:
        return [[(node, index) for index in bits(mask)]]
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return [[(node, index) for index in bits(mask & domain)] for domain in domains if mask & domain]


@dataclass(frozen=True, eq=False)
class RankOrder:
    """Components with the same order of ranks.

    Attributes
    ----------
    names : the components.
    order : position in the order of ranks -> resource, if decided.
    cuts : if not decided, all borders, ascending; between two borders, ranks and resources are the
        same sets in any order.
    colors : number of a demand -> color of this line. Two lines with the same demand must show the
        same color on every resource.
    """

    names: tuple[str, ...]
    order: tuple[int, ...] | None
    cuts: tuple[int, ...]
    colors: dict[int, Color] = field(default_factory=dict)

    def show(self, position: int) -> Colors:
        """Return the colors at a position of the order, by demand."""
        return tuple(color(position) for color in self.colors.values())


def seat_lines(lines: Sequence[RankOrder], count: int) -> dict[tuple[str, ...], tuple[int, ...]] | None:
    """Return the order of every line over `count` resources; None without any.

    The lowest ranks take the lowest resources as far as possible.
    """
    result = {line.names: line.order if line.order is not None else tuple(range(count)) for line in lines}
    open_lines = [line for line in lines if line.colors and line.order is None]
    colors = _decide_lines([line for line in lines if line.colors and line.order is not None], count)
    if colors is None:
        return None
    if not any(line.colors for line in lines):
        return result
    borders = sorted(set.intersection(*(set(line.cuts) for line in open_lines))) if open_lines else []
    positions_by_line: dict[tuple[str, ...], list[int]] = {line.names: [0] * count for line in open_lines}
    for section in map(range, borders, borders[1:]):
        seats = _RankRange(open_lines, colors, section).seats()
        if seats is None:
            return None
        for line, positions in zip(open_lines, seats):
            for resource, position in zip(section, positions):
                positions_by_line[line.names][position] = resource
    result.update({names: tuple(order) for names, order in positions_by_line.items()})
    return result


def _decide_lines(lines: Sequence[RankOrder], count: int) -> list[dict[int, int]] | None:
    """Return the colors of decided lines on every resource; None on a conflict."""
    colors: list[dict[int, int]] = [{} for _ in range(count)]
    for line in lines:
        for position, resource in enumerate(line.order or ()):
            for demand, color in line.colors.items():
                if colors[resource].setdefault(demand, color(position)) != color(position):
                    return None
    return colors


class _RankRange:
    """Resources between borders common to all open lines."""

    def __init__(self, lines: Sequence[RankOrder], colors: Sequence[Mapping[int, int]], section: range) -> None:
        self.lines, self.decided, self.part = lines, colors, section
        self._failed: set[tuple[object, ...]] = set()
        # per line and piece: colors -> free positions with these colors, the lowest last
        self._left = [self._pieces(line) for line in lines]
        self._taken: list[list[int]] = [[] for _ in lines]

    def _pieces(self, line: RankOrder) -> list[tuple[range, dict[Colors, list[int]]]]:
        cuts = [cut for cut in line.cuts if self.part.start <= cut <= self.part.stop]
        pieces = []
        for piece in map(range, cuts, cuts[1:]):
            bins: dict[Colors, list[int]] = {}
            for position in reversed(piece):
                bins.setdefault(line.show(position), []).append(position)
            pieces.append((piece, bins))
        return pieces

    def seats(self) -> list[list[int]] | None:
        """Return the positions of the part's resources, for every line."""
        return self._taken if self._as_many() and self._fill(self.part.start) else None

    def _as_many(self) -> bool:
        """Return True if every demand has equal numbers of every color on both sides."""
        shown_here = [self.decided[resource] for resource in self.part]
        everywhere = [demand for demand in shown_here[0] if all(demand in resource_colors for resource_colors in shown_here)]
        counts = {demand: Counter(resource_colors[demand] for resource_colors in shown_here) for demand in everywhere}
        for line in self.lines:
            for demand, color in line.colors.items():
                color_counts = Counter(color(position) for position in self.part)
                if counts.setdefault(demand, color_counts) != color_counts:
                    return False
        return True

    def _fill(self, resource: int) -> bool:
        """Seat all resources from this index on."""
        if resource == self.part.stop:
            return True
        state = (resource, *self._state())
        if state in self._failed:
            return False
        for choice in self._choices(resource, 0, dict(self.decided[resource])):
            self._take(resource, choice)
            if self._fill(resource + 1):
                return True
            self._give_back(resource, choice)
        self._failed.add(state)
        return False

    def _state(self) -> Iterator[object]:
        for pieces in self._left:
            yield tuple(tuple(sorted((colors, len(positions)) for colors, positions in bins.items())) for _, bins in pieces)

    def _choices(self, resource: int, number: int, palette: dict[int, int]) -> Iterator[list[Colors]]:
        """Yield the colors of the remaining lines here, lowest positions first."""
        if number == len(self.lines):
            yield []
            return
        line, bins = self.lines[number], self._bins(number, resource)
        for colors in sorted((candidate for candidate, positions in bins.items() if positions), key=lambda candidate: bins[candidate][-1]):
            line_colors = dict(zip(line.colors, colors))
            if all(palette.get(demand, color) == color for demand, color in line_colors.items()):
                yield from ([colors, *rest] for rest in self._choices(resource, number + 1, {**palette, **line_colors}))

    def _bins(self, number: int, resource: int) -> dict[Colors, list[int]]:
        return next(bins for piece, bins in self._left[number] if resource in piece)

    def _take(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._taken[number].append(self._bins(number, resource)[colors].pop())

    def _give_back(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._bins(number, resource)[colors].append(self._taken[number].pop())


def seat_components(layout: Layout, bundle: Bundle, bundle_seats: Sequence[Seat]) -> dict[str, list[Seat]] | None:
    """Return the resources of searched components in rank order; None without any order.

    `bundle_seats`: the bundle's resources in default order (`in_rank_order`). A searched bundle is ordered
    unit by unit, each in the same way.
    """
    if bundle.fixed:
        position = {seat: number for number, seat in enumerate(bundle_seats)}
        given_seats = {
            c.name: [seat for _, process_seats in seats(c.runs) for seat, _, _ in process_seats]
            for c in bundle.components
            if c.runs is not None
        }
        if any(seat not in position for component_seats in given_seats.values() for seat in component_seats):
            return None
        lists = {name: tuple(position[seat] for seat in component_seats) for name, component_seats in given_seats.items()}
        result = orders(layout.problem, bundle.components, _places(layout, bundle, bundle_seats), lists)
        return None if result is None else {name: [bundle_seats[number] for number in order] for name, order in result.items()}
    size = min(_block(bundle), len(bundle_seats))
    result = orders(layout.problem, bundle.components, _block_places(bundle, size), {})
    if result is None:
        return None
    blocks = range(0, len(bundle_seats), size) if size else ()
    return {name: [bundle_seats[block + number] for block in blocks for number in order] for name, order in result.items()}


def order_in_blocks(layout: Layout, bundle: Bundle, component: Component) -> Order:
    """Return a searched component's positions in every block; empty in default order."""
    size = _block(bundle)
    positions = (orders(layout.problem, bundle.components, _block_places(bundle, size), {}) or {}).get(component.name, ())
    return () if positions == tuple(range(size)) else positions


def can_be_seated(layout: Layout, bundle: Bundle, numa: bool = True) -> bool:
    """Return True if some rank order satisfies all components of the bundle.

    `numa`: pieces inside NUMA domains may each be in a different domain. Without it a searched unit
    counts as in a single domain.
    """
    if not bundle.fixed:
        size = _block(bundle)
        return orders(layout.problem, bundle.components, _block_places(bundle, size) if numa else [(0, 0)] * size, {}) is not None
    return of_given(layout, bundle) is not None


def of_given(layout: Layout, bundle: Bundle) -> dict[str, list[Seat]] | None:
    """Return given resources of searched components in rank order; None without any order."""
    return seat_components(layout, bundle, order_by_rank(layout, bundle, layout.fixed[bundle]))


def _places(layout: Layout, bundle: Bundle, resources: Sequence[Seat]) -> list[Place]:
    nodes = layout.problem.cluster.nodes
    domains = {node: numa_domains(nodes[node], bundle.kind) for node, _ in resources}
    return [(node, next((n for n, mask in enumerate(domains[node]) if mask >> index & 1), 0)) for node, index in resources]


def _block_places(bundle: Bundle, size: int) -> list[Place]:
    """Return the places of a searched unit: a single node, NUMA domains by piece.

    NUMA domains are told apart only if they matter to the bundle.
    """
    return [(0, number // bundle.piece if bundle.piece > 1 else 0) for number in range(size)]


def _block(bundle: Bundle) -> int:
    """Return the resources after which the rank order repeats.

    A unit, or a block of groups that interleave over nodes.
    """
    return lcm(bundle.unit, *(component.unit for component in bundle.components if component.contiguous))


def orders(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], fixed_orders: Mapping[str, Order]
) -> dict[str, Order] | None:  # fmt: skip
    """Return the order of every component with searched ranks; None without any.

    Parameters
    ----------
    members : components on these resources.
    places : place of each resource.
    fixed_orders : known orders; a resource shared by processes appears more than once.
    """
    if not places:
        return {component.name: () for component in members if component.runs is None}
    lines = list(_lines(problem, members, places, fixed_orders))
    if any(line is None for line in lines):
        return None
    rank_orders = [line for line in lines if line is not None]
    line_of = {name: line for line in rank_orders for name in line.names}
    by_name = {component.name: component for component in members}
    for number, relation in enumerate(problem.find_relations(ZERO_COPY)):
        if not set(relation.components) <= line_of.keys():
            continue
        source, target = (by_name[name] for name in relation.components)
        count = min(source.parallel.tp, target.parallel.tp)
        colors = weight_part(source.parallel.tp, count), weight_part(target.parallel.tp, count)
        if line_of[source.name] is line_of[target.name]:
            length = len(line_of[source.name].order or places)
            if any(colors[0](position) != colors[1](position) for position in range(length)):
                return None
        else:
            line_of[source.name].colors[number], line_of[target.name].colors[number] = colors
    seating = seat_lines(rank_orders, len(places))
    return None if seating is None else {c.name: seating[line_of[c.name].names] for c in members if c.runs is None}


def weight_part(size: int, count: int) -> Callable[[int], int]:
    """Return a function from rank position to the first weight part of its rank.

    The weights have `count` parts; the tensor parallel group has `size` ranks.
    """
    return lambda position: position % size * count // size


@dataclass(frozen=True)
class _Wish:
    """Order demanded by a searched component: fixed, or inside blocks of a size."""

    order: Order | None
    block: int

    @staticmethod
    def of(component: Component, count: int) -> _Wish:
        if component.contiguous and component.stride > 1:
            return _Wish(tuple(_order_by_stride(component, count)), 0)
        return _Wish(None, component.unit if component.contiguous and not component.any_order else 0)


def _order_by_stride(component: Component, count: int) -> Iterator[int]:
    """Yield positions with the groups of each block interleaved."""
    stride = component.unit // component.group_size
    for block in range(0, count, component.unit):
        for position in range(stride):
            yield from range(block + position, min(block + component.unit, count), stride)


def _lines(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], known_orders: Mapping[str, Order]
) -> Iterator[RankOrder | None]:  # fmt: skip
    """Yield the components with a common order; None for contradictory demands."""
    count, nodes = len(places), [node for node, _ in places]
    borders = {0, count, *_changes(nodes)}
    for line in _align(problem, members):
        wishes = {component: _Wish.of(component, count) for component in line if component.name not in known_orders}
        lists = [known_orders[component.name] for component in line if component.name in known_orders]
        lists += [wish.order for wish in wishes.values() if wish.order is not None]
        if any(order != lists[0] for order in lists[1:]) or (
            lists and not all(_keeps(problem, component, wish.block, lists[0], places) for component, wish in wishes.items())
        ):
            yield None
        else:
            cuts = {edge for wish in wishes.values() if wish.block for edge in range(0, count, wish.block)}
            if any(domain_multiple(problem, component, NUMA) > 1 for component in wishes):
                cuts.update(_changes(places))
            yield RankOrder(tuple(component.name for component in line), lists[0] if lists else None, tuple(sorted(borders | cuts)))


def _align(problem: Problem, members: Sequence[Component]) -> list[list[Component]]:
    """Return the components in sets with a common order of ranks."""
    sets = [[component] for component in members]
    for relation in problem.find_relations(RANK_ALIGNED):
        met = [group for group in sets if any(component.name in relation.components for component in group)]
        if len(met) == 2:
            sets = [group for group in sets if group not in met] + [met[0] + met[1]]
    return sets


def _changes(places: Sequence[object]) -> Iterator[int]:
    """Yield the positions with another place than the position before."""
    return (number for number in range(1, len(places)) if places[number] != places[number - 1])


def _keeps(problem: Problem, component: Component, block: int, order: Order, places: Sequence[Place]) -> bool:
    """Return True if a searched component may have this order."""
    if sorted(order) != list(range(len(places))):
        return False
    if block and any(number // block != rank // block for rank, number in enumerate(order)):
        return False
    rank_places, size = [places[number] for number in order], domain_multiple(problem, component, NUMA)
    nodes = [node for node, _ in rank_places]
    if problem.job.capabilities.nodes_in_order and nodes != sorted(nodes):
        return False
    # PW218 checks the place of tensor parallel groups with a demand to keep together.
    group = component.per_process if any(keep.unit == TP for keep in component.keep) else component.group_size
    return _are_whole(rank_places, size) and all(_are_whole(nodes, group_size) for group_size in (group, problem.whole_replica(component)))


def _are_whole(places: Sequence[object], size: int) -> bool:
    return not any(len(set(places[start : start + size])) > 1 for start in range(0, len(places), size))


class GroupsCut:
    """Groups of a size cut by borders between domains.

    Parameters
    ----------
    domains : domain of each resource rank of a numbering.
    size : resources of a group, consecutive in the order of ranks.
    order : order of ranks in each block of a range (see `order_in_blocks`).
    """

    def __init__(self, domains: Sequence[object], size: int, order: Order) -> None:
        self._where, self._size, self._order = domains, size, order or (0,)
        self._borders = [rank for rank in range(1, len(domains)) if domains[rank] != domains[rank - 1]]
        self._chunk = lcm(size, len(self._order))

    def count_cut(self, start: int, stop: int) -> int:
        """Return the whole groups from `start` to `stop` in several domains.

        The range consists of whole blocks.
        """
        borders = self._borders[bisect_right(self._borders, start) : bisect_left(self._borders, stop)]
        chunks = dict.fromkeys((border - start) // self._chunk for border in borders)
        return sum(self._cut(start + chunk * self._chunk, stop) for chunk in chunks)

    def _cut(self, first: int, stop: int) -> int:
        ranks = range(first, min(first + self._chunk, stop))
        in_order = (block + number for block in ranks[:: len(self._order)] for number in self._order)
        domains_in_order = [self._where[rank] for rank in in_order if rank in ranks]
        groups = (domains_in_order[at : at + self._size] for at in range(0, len(domains_in_order) - self._size + 1, self._size))
        return sum(len(set(group)) > 1 for group in groups)
