"""Order of ranks of the components of a bundle."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import field
from math import lcm
from typing import Callable, Iterator, Mapping, Sequence

from ...models.component import RANK_ALIGNED, ZERO_COPY, Component
from ...models.locality import TP, WHOLE
from ...models.machines.topology import ALL_LEVELS, LEVELS, NODE_LEVEL, NUMA
from ...models.placements.assignment import Seat, seats
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Bundle, size_of, whole_in
from .cells import numa_domains
from .layout import Layout
from .parts import bits

Bricks = dict[int, list[Seat]]
"""Size of groups -> the resources of as many whole ones as there are, one group after the other."""


Color = Callable[[int], int]
"""Position in an order of ranks -> a number that another order must show on the same resource."""
Colors = tuple[int, ...]
Place = tuple[int, int]
"""(node, NUMA domain there) of a resource."""
Order = tuple[int, ...]
"""In rank order, the positions of a component's resources among those of its bundle."""


def in_rank_order(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    """The resources of a bundle in the order in which a component takes them that nothing else is asked of.

    `held` are the bundle's resources of each node as bit masks. A contiguous bundle goes through its numbering. Others go through the
    domains of the widest level one after the other, inside each through those of the next one, and so on; where a dialect wants nodes in
    order, through the nodes. Groups that should be kept together come first wherever a domain has all of one, what is left comes last.
    """
    if bundle.contiguous:
        first = layout.numbering(bundle).first
        return [(node, index) for node in sorted(held, key=lambda node: first.get(node, node)) for index in bits(held[node])]
    if layout.problem.job.capabilities.nodes_in_order:
        return [seat for node in sorted(held) for part in _parts(layout, bundle, node, held[node]) for seat in part]
    return _by_domain(layout, bundle, held)


def _by_domain(layout: Layout, bundle: Bundle, held: Mapping[int, int]) -> list[Seat]:
    neighbours = layout.neighbours
    levels = [level for level in LEVELS if all(neighbours.nests(level, kept) for kept, _ in bundle.wholes)]
    nodes = sorted(held, key=lambda node: (*(neighbours.of(level, node) for level in levels), node))
    sizes = _sizes(bundle)
    parts = [(node, part) for node in nodes for part in _parts(layout, bundle, node, held[node])]
    plain = [seat for _, part in parts for seat in part]
    if not sizes:
        return plain
    found: list[tuple[tuple[int, int], Bricks]] = [((node, number), {bundle.piece: part}) for number, (node, part) in enumerate(parts)]
    # Levels at which nothing is kept together may cross the others; those that count nest, or it is not searched.
    for level in (NUMA, NODE_LEVEL, *(level for level in reversed(LEVELS) if max(sizes[level], default=0) > bundle.unit)):
        together: dict[tuple[int, int], list[Bricks]] = {}
        for (node, number), bricks in found:
            key = (node, number) if level == NUMA else (neighbours.of(level, node), 0)
            together.setdefault(key, []).append(bricks)
        found = [(key, _merged(its, sizes.get(level, ()))) for key, its in together.items()]
    whole = _merged([bricks for _, bricks in found], ())
    merged = [seat for size in sorted(whole, reverse=True) for seat in whole[size]]
    # The order of the nodes is the shorter text, where it cuts no more.
    return plain if _cut(layout, bundle, plain) <= _cut(layout, bundle, merged) else merged


def _cut(layout: Layout, bundle: Bundle, order: Sequence[Seat]) -> list[int]:
    """How many groups that must, and how many that should be kept together an order of ranks cuts."""
    counts = []
    for asked in (bundle.wholes, _wishes(bundle)):
        count = 0
        for level, size in asked:
            homes = [_home(layout, bundle, level, seat) for seat in order]
            count += sum(len(set(homes[start : start + size])) > 1 for start in range(0, len(homes), size))
        counts.append(count)
    return counts


def _home(layout: Layout, bundle: Bundle, level: str, seat: Seat) -> tuple[int, int]:
    """The domain of a level that a resource is in."""
    node, index = seat
    if level != NUMA:
        return layout.neighbours.of(level, node), 0
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return node, next(number for number, domain in enumerate(domains) if domain >> index & 1)


def _sizes(bundle: Bundle) -> dict[str, Sequence[int]]:
    """Level -> the sizes of the groups that it should hold whole, ascending; nothing where no wish goes beyond what is required."""
    wishes = _wishes(bundle)
    if not wishes:
        return {}
    asked = [*wishes, *bundle.wholes, (NODE_LEVEL, bundle.unit)]
    return {level: sorted({size for its, size in asked if its == level}) for level in ALL_LEVELS}


def _wishes(bundle: Bundle) -> list[tuple[str, int]]:
    """(level, size) of the groups that are better kept together."""
    keeps = [(component, keep) for component in bundle.components for keep in component.keep]
    return [(keep.level, size_of(component, keep)) for component, keep in keeps if not keep.required and keep.what != WHOLE]


def _merged(several: Sequence[Bricks], sizes: Sequence[int]) -> Bricks:
    """The bricks of several domains as those of the one around them, in as many whole groups of each size as there are."""
    bricks: Bricks = {}
    for its in several:
        for size, whole in its.items():
            bricks.setdefault(size, []).extend(whole)
    for size in sizes:
        smaller = sorted((each for each in bricks if each < size), reverse=True)
        if any(size % each for each in smaller):
            continue  # sizes that do not divide each other: the smaller ones stay whole
        left = sum(len(bricks[each]) for each in smaller) // size * size
        for each in smaller:
            taken, bricks[each] = bricks[each][:left], bricks[each][left:]
            bricks.setdefault(size, []).extend(taken)
            left -= len(taken)
    return bricks


def _parts(layout: Layout, bundle: Bundle, node: int, mask: int) -> list[list[Seat]]:
    """What a bundle has of a node; NUMA domain by NUMA domain where these matter to it."""
    numa = bundle.piece > 1 or any(keep.level == NUMA for component in bundle.components for keep in component.keep)
    if not numa:
        return [[(node, index) for index in bits(mask)]]
    domains = numa_domains(layout.problem.cluster.nodes[node], bundle.kind)
    return [[(node, index) for index in bits(mask & domain)] for domain in domains if mask & domain]


@dataclass(frozen=True, eq=False)
class Line:
    """Components that have one order of ranks.

    Attributes
    ----------
    names : the components.
    order : position in the order of ranks -> resource, where that is decided.
    cuts : where it is not, the borders between which ranks and resources are the same ones, in any order; all of them, ascending.
    colors : number of a demand -> what this line shows for it. Two lines with the same demand must show the same on every resource.
    """

    names: tuple[str, ...]
    order: tuple[int, ...] | None
    cuts: tuple[int, ...]
    colors: dict[int, Color] = field(default_factory=dict)

    def shown(self, position: int) -> Colors:
        """What it shows at a position of its order, by demand."""
        return tuple(color(position) for color in self.colors.values())


def seat_lines(lines: Sequence[Line], count: int) -> dict[tuple[str, ...], tuple[int, ...]] | None:
    """The order of every line over `count` resources, the lowest ranks on the lowest resources as far as that can be; None if there is none."""
    found = {line.names: line.order if line.order is not None else tuple(range(count)) for line in lines}
    open_lines = [line for line in lines if line.colors and line.order is None]
    decided = _decided([line for line in lines if line.colors and line.order is not None], count)
    if decided is None:
        return None
    if not any(line.colors for line in lines):
        return found
    borders = sorted(set.intersection(*(set(line.cuts) for line in open_lines))) if open_lines else []
    held: dict[tuple[str, ...], list[int]] = {line.names: [0] * count for line in open_lines}
    for part in map(range, borders, borders[1:]):
        seats = _Part(open_lines, decided, part).seats()
        if seats is None:
            return None
        for line, positions in zip(open_lines, seats):
            for resource, position in zip(part, positions):
                held[line.names][position] = resource
    found.update({names: tuple(order) for names, order in held.items()})
    return found


def _decided(lines: Sequence[Line], count: int) -> list[dict[int, int]] | None:
    """What lines whose order is decided show on every resource, by demand; None if two show different numbers."""
    shown: list[dict[int, int]] = [{} for _ in range(count)]
    for line in lines:
        for position, resource in enumerate(line.order or ()):
            for demand, color in line.colors.items():
                if shown[resource].setdefault(demand, color(position)) != color(position):
                    return None
    return shown


class _Part:
    """Resources that no open line crosses the border of."""

    def __init__(self, lines: Sequence[Line], decided: Sequence[Mapping[int, int]], part: range) -> None:
        self.lines, self.decided, self.part = lines, decided, part
        self._failed: set[tuple[object, ...]] = set()
        # line -> for each of its pieces: what is shown -> the positions that show it and are not taken, the lowest last
        self._left = [self._pieces(line) for line in lines]
        self._taken: list[list[int]] = [[] for _ in lines]

    def _pieces(self, line: Line) -> list[tuple[range, dict[Colors, list[int]]]]:
        cuts = [cut for cut in line.cuts if self.part.start <= cut <= self.part.stop]
        pieces = []
        for piece in map(range, cuts, cuts[1:]):
            bins: dict[Colors, list[int]] = {}
            for position in reversed(piece):
                bins.setdefault(line.shown(position), []).append(position)
            pieces.append((piece, bins))
        return pieces

    def seats(self) -> list[list[int]] | None:
        """For every line the position of each resource of the part."""
        return self._taken if self._as_many() and self._fill(self.part.start) else None

    def _as_many(self) -> bool:
        """Does every demand find each number as often on one side as on the other? Then little is tried in vain."""
        shown_here = [self.decided[resource] for resource in self.part]
        everywhere = [demand for demand in shown_here[0] if all(demand in its for its in shown_here)]
        counted = {demand: Counter(its[demand] for its in shown_here) for demand in everywhere}
        for line in self.lines:
            for demand, color in line.colors.items():
                shown = Counter(color(position) for position in self.part)
                if counted.setdefault(demand, shown) != shown:
                    return False
        return True

    def _fill(self, resource: int) -> bool:
        """Seat all from this resource on."""
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
            yield tuple(tuple(sorted((colors, len(its)) for colors, its in bins.items())) for _, bins in pieces)

    def _choices(self, resource: int, number: int, shown: dict[int, int]) -> Iterator[list[Colors]]:
        """What each line from this one on may show here, the lowest positions first."""
        if number == len(self.lines):
            yield []
            return
        line, bins = self.lines[number], self._bins(number, resource)
        for colors in sorted((its for its, left in bins.items() if left), key=lambda its: bins[its][-1]):
            mine = dict(zip(line.colors, colors))
            if all(shown.get(demand, color) == color for demand, color in mine.items()):
                yield from ([colors, *rest] for rest in self._choices(resource, number + 1, {**shown, **mine}))

    def _bins(self, number: int, resource: int) -> dict[Colors, list[int]]:
        return next(bins for piece, bins in self._left[number] if resource in piece)

    def _take(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._taken[number].append(self._bins(number, resource)[colors].pop())

    def _give_back(self, resource: int, choice: Sequence[Colors]) -> None:
        for number, colors in enumerate(choice):
            self._bins(number, resource)[colors].append(self._taken[number].pop())


def seated(layout: Layout, bundle: Bundle, held: Sequence[Seat]) -> dict[str, list[Seat]] | None:
    """For every searched component of a bundle its resources in rank order; None if no order keeps all that is asked of them.

    `held` are the bundle's resources in the order in which a component takes them that nothing else is asked of. What is searched is
    ordered unit by unit, each in the same way.
    """
    if bundle.fixed:
        position = {seat: number for number, seat in enumerate(held)}
        given = {c.name: [seat for _, its in seats(c.runs) for seat, _, _ in its] for c in bundle.components if c.runs is not None}
        if any(seat not in position for its in given.values() for seat in its):
            return None
        lists = {name: tuple(position[seat] for seat in its) for name, its in given.items()}
        found = orders(layout.problem, bundle.components, _places(layout, bundle, held), lists)
        return None if found is None else {name: [held[number] for number in order] for name, order in found.items()}
    size = min(_block(bundle), len(held))
    found = orders(layout.problem, bundle.components, _block_places(bundle, size), {})
    if found is None:
        return None
    blocks = range(0, len(held), size) if size else ()
    return {name: [held[block + number] for block in blocks for number in order] for name, order in found.items()}


def order_in_blocks(layout: Layout, bundle: Bundle, component: Component) -> Order:
    """In rank order, the positions of a searched component's resources in each block of its bundle; none if they come as they lie."""
    size = _block(bundle)
    order = (orders(layout.problem, bundle.components, _block_places(bundle, size), {}) or {}).get(component.name, ())
    return () if order == tuple(range(size)) else order


def can_be_seated(layout: Layout, bundle: Bundle, numa: bool = True) -> bool:
    """Is there an order of ranks for every component of the bundle that keeps all that is asked of them, wherever it is?

    `numa`: what must lie inside NUMA domains lies in pieces of a unit that may each be in another one. Without it a searched unit is
    taken to be in one domain.
    """
    if not bundle.fixed:
        size = _block(bundle)
        return orders(layout.problem, bundle.components, _block_places(bundle, size) if numa else [(0, 0)] * size, {}) is not None
    return of_given(layout, bundle) is not None


def of_given(layout: Layout, bundle: Bundle) -> dict[str, list[Seat]] | None:
    """For every searched component on given resources these in rank order; None if no order keeps all that is asked of them."""
    return seated(layout, bundle, in_rank_order(layout, bundle, layout.fixed[bundle]))


def _places(layout: Layout, bundle: Bundle, held: Sequence[Seat]) -> list[Place]:
    nodes = layout.problem.cluster.nodes
    domains = {node: numa_domains(nodes[node], bundle.kind) for node, _ in held}
    return [(node, next((n for n, mask in enumerate(domains[node]) if mask >> index & 1), 0)) for node, index in held]


def _block_places(bundle: Bundle, size: int) -> list[Place]:
    """Of a searched unit: its node is one, and so is the NUMA domain of each of its pieces, if these matter."""
    return [(0, number // bundle.piece if bundle.piece > 1 else 0) for number in range(size)]


def _block(bundle: Bundle) -> int:
    """Resources after which the order of ranks begins anew: a unit, or a block of groups that interleave over nodes."""
    return lcm(bundle.unit, *(component.unit for component in bundle.components if component.contiguous))


def orders(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], given: Mapping[str, Order]
) -> dict[str, Order] | None:  # fmt: skip
    """The order of every component whose ranks are searched; None if there is none.

    Parameters
    ----------
    members : the components on these resources.
    places : where each resource is.
    given : the orders that are known; a resource that processes share stands in one more than once.
    """
    if not places:
        return {component.name: () for component in members if component.runs is None}
    lines = list(_lines(problem, members, places, given))
    if any(line is None for line in lines):
        return None
    known = [line for line in lines if line is not None]
    of = {name: line for line in known for name in line.names}
    by_name = {component.name: component for component in members}
    for number, relation in enumerate(problem.related(ZERO_COPY)):
        if not set(relation.components) <= of.keys():
            continue
        source, target = (by_name[name] for name in relation.components)
        parts = min(source.parallel.tp, target.parallel.tp)
        colors = part_held(source.parallel.tp, parts), part_held(target.parallel.tp, parts)
        if of[source.name] is of[target.name]:
            length = len(of[source.name].order or places)
            if any(colors[0](position) != colors[1](position) for position in range(length)):
                return None
        else:
            of[source.name].colors[number], of[target.name].colors[number] = colors
    found = seat_lines(known, len(places))
    return None if found is None else {c.name: found[of[c.name].names] for c in members if c.runs is None}


def part_held(size: int, parts: int) -> Callable[[int], int]:
    """Position in the order of ranks -> in which of so many parts the weights of its rank begin, in a tensor parallel group of this size."""
    return lambda position: position % size * parts // size


@dataclass(frozen=True)
class _Wish:
    """What one searched component asks of its order: all of it, or that it does not leave blocks of a size."""

    order: Order | None
    block: int

    @staticmethod
    def of(component: Component, count: int) -> _Wish:
        if component.contiguous and component.stride > 1:
            return _Wish(tuple(_strided(component, count)), 0)
        return _Wish(None, component.unit if component.contiguous and not component.any_order else 0)


def _strided(component: Component, count: int) -> Iterator[int]:
    """Blocks of as many groups as interleave; single ones stay in order."""
    stride = component.unit // component.group_size
    for block in range(0, count, component.unit):
        for position in range(stride):
            yield from range(block + position, min(block + component.unit, count), stride)


def _lines(
    problem: Problem, members: Sequence[Component], places: Sequence[Place], given: Mapping[str, Order]
) -> Iterator[Line | None]:  # fmt: skip
    """The components that have their order in common; None for those whose wishes contradict each other."""
    count, nodes = len(places), [node for node, _ in places]
    borders = {0, count, *_changes(nodes)}
    for line in _aligned(problem, members):
        wishes = {component: _Wish.of(component, count) for component in line if component.name not in given}
        lists = [given[component.name] for component in line if component.name in given]
        lists += [wish.order for wish in wishes.values() if wish.order is not None]
        if any(its != lists[0] for its in lists[1:]) or (
            lists and not all(_keeps(problem, component, wish.block, lists[0], places) for component, wish in wishes.items())
        ):
            yield None
        else:
            cuts = {edge for wish in wishes.values() if wish.block for edge in range(0, count, wish.block)}
            if any(whole_in(problem, component, NUMA) > 1 for component in wishes):
                cuts.update(_changes(places))
            yield Line(tuple(component.name for component in line), lists[0] if lists else None, tuple(sorted(borders | cuts)))


def _aligned(problem: Problem, members: Sequence[Component]) -> list[list[Component]]:
    """The components in sets that have one order of ranks."""
    sets = [[component] for component in members]
    for relation in problem.related(RANK_ALIGNED):
        met = [its for its in sets if any(component.name in relation.components for component in its)]
        if len(met) == 2:
            sets = [its for its in sets if its not in met] + [met[0] + met[1]]
    return sets


def _changes(places: Sequence[object]) -> Iterator[int]:
    """The positions of resources that are elsewhere than the one before."""
    return (number for number in range(1, len(places)) if places[number] != places[number - 1])


def _keeps(problem: Problem, component: Component, block: int, order: Order, places: Sequence[Place]) -> bool:
    """May a searched component have this order?"""
    if sorted(order) != list(range(len(places))):
        return False
    if block and any(number // block != rank // block for rank, number in enumerate(order)):
        return False
    where, size = [places[number] for number in order], whole_in(problem, component, NUMA)
    nodes = [node for node, _ in where]
    if problem.job.capabilities.nodes_in_order and nodes != sorted(nodes):
        return False
    # Where a tensor parallel group may be is PW218's matter if anything is said of it.
    group = component.per_process if any(keep.what == TP for keep in component.keep) else component.group_size
    return _are_whole(where, size) and all(_are_whole(nodes, its) for its in (group, problem.whole_replica(component)))


def _are_whole(places: Sequence[object], size: int) -> bool:
    return not any(len(set(places[start : start + size])) > 1 for start in range(0, len(places), size))


class GroupsCut:
    """The groups of one size that borders between domains cut.

    Parameters
    ----------
    where : the domain of each resource rank of a numbering.
    size : resources of a group, one after the other in the order of ranks.
    order : the order of ranks in each block of a range (see `seating.order_in_blocks`).
    """

    def __init__(self, where: Sequence[object], size: int, order: Order) -> None:
        self._where, self._size, self._order = where, size, order
        self._borders = [rank for rank in range(1, len(where)) if where[rank] != where[rank - 1]]
        self._chunk = lcm(size, len(order))

    def between(self, start: int, stop: int) -> int:
        """How many whole groups of the range from `start` to `stop`, which consists of whole blocks, lie in several domains."""
        inside = self._borders[bisect_right(self._borders, start) : bisect_left(self._borders, stop)]
        chunks = dict.fromkeys((border - start) // self._chunk for border in inside)
        return sum(self._cut(start + chunk * self._chunk, stop) for chunk in chunks)

    def _cut(self, first: int, stop: int) -> int:
        ranks = range(first, min(first + self._chunk, stop))
        its = [self._where[ranks[block + number]] for block in range(0, len(ranks), len(self._order)) for number in self._order]
        groups = (its[at : at + self._size] for at in range(0, len(its) - self._size + 1, self._size))
        return sum(len(set(group)) > 1 for group in groups)
