"""Nodes that are alike are kept as one, and behave as a tuple of nodes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import EqualNodes, Node, Nodes, accelerators, numbered_nodes, stretches_of
from placewright.models.machines.shorthand import read_shorthand

SHAPES = (accelerators(8, "H100"), accelerators(4, "A100"), ())


def both(counts: list[tuple[int, int]]) -> tuple[Nodes, tuple[Node, ...]]:
    """The same nodes kept in both ways, from (how many, which shape) of each stretch."""
    alike, plain = list[EqualNodes](), list[Node]()
    for count, shape in counts:
        alike.append(numbered_nodes(Node(len(plain), "", SHAPES[shape]), count, "n", 7))
        plain += [Node(len(plain) + i, f"n{7 + i}", SHAPES[shape]) for i in range(count)]
    return Nodes(alike), tuple(plain)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=5), st.data())
def test_they_are_a_sequence_as_a_tuple_is(counts: list[tuple[int, int]], data: st.DataObject) -> None:
    nodes, plain = both(counts)
    assert nodes == plain
    assert plain == nodes
    assert list(nodes) == list(plain)
    assert len(nodes) == len(plain)
    cut = slice(*data.draw(st.tuples(*[st.none() | st.integers(-9, 9)] * 2, st.sampled_from([None, 1, 2, -1]))))
    assert nodes[cut] == plain[cut]
    assert nodes[cut][1:] == plain[cut][1:]
    for index in range(-len(plain), len(plain)):
        assert nodes[index] == plain[index]
        assert nodes.name(index) == plain[index].name
    for index in (len(plain), -len(plain) - 1):
        with pytest.raises(IndexError):
            nodes[index]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=5), st.data())
def test_some_may_be_changed(counts: list[tuple[int, int]], data: st.DataObject) -> None:
    nodes, plain = both(counts)
    ranks = data.draw(st.sets(st.integers(0, len(plain) - 1)))
    changed = [Node(rank, "other", cpus=4) for rank in ranks]
    expected = list(plain)
    for node in changed:
        expected[node.rank] = node
    assert nodes.replace(changed) == expected


def test_nodes_that_were_listed_one_by_one_are_seen_to_be_alike() -> None:
    shown = [(its.node.rank, its.count) for its in stretches_of(both([(3, 0), (2, 1), (1, 1), (2, 0)])[1])]
    assert shown == [(0, 3), (3, 3), (6, 2)]


def test_nodes_that_differ_are_no_others() -> None:
    nodes, plain = both([(2, 0)])
    assert nodes != plain[:1]
    assert nodes != (plain[0], Node(1, "n8"))
    assert nodes != 2


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=5), st.data())
def test_a_cluster_is_the_same_with_either(counts: list[tuple[int, int]], data: st.DataObject) -> None:
    nodes, plain = both(counts)
    one, other = Cluster(nodes), Cluster(plain)
    assert one == other
    assert one.total() == other.total() == sum(len(node.accelerators) for node in plain)
    assert one.numbering(("cluster",)) == other.numbering(("cluster",))
    ranks = sorted(data.draw(st.sets(st.integers(0, len(plain) - 1), min_size=1)))
    seen = [(alike.node.accelerators, rank) for alike, its in one.alike_among(ranks) for rank in its]
    assert seen == [(plain[rank].accelerators, rank) for rank in ranks]


def test_a_million_accelerators_are_one_stretch() -> None:
    cluster = read_shorthand("125000x8xH100")
    assert isinstance(cluster, Cluster)
    assert len(cluster.alike) == len(cluster.numbering(("cluster",)).wide) == 1
    assert (cluster.total(), cluster.nodes[-1].name) == (1_000_000, "node-124999")
