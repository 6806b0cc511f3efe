"""What hints say of the topology: read with their places, refused with what mends them."""

from __future__ import annotations

import pytest
from placewright.models.component import APART, NEAR, RANK_ALIGNED, ZERO_COPY, Keep, Pin, Relation, Spread
from placewright.models.dialects.load import read
from placewright.models.job import LEXICOGRAPHIC, WEIGHTED, Link, Preference
from placewright.models.machines.topology import numa_masks
from placewright.models.text.source import Source

from .hints_read import HEAD, problem


def test_what_stays_together() -> None:
    text = "  a: {accelerators: 16, keep: {tp: numa, ep: [node, {level: rack, required: false}], component: {level: rack, domains: 2}}}\n"
    found = problem(text)["a"]
    assert found.keep == (Keep("tp", "numa"), Keep("ep", "node"), Keep("ep", "rack", 1, False), Keep("component", "rack", 2))
    spans = [keep.span for keep in found.keep]
    assert [f"{HEAD}{text}"[span.start : span.end] for span in spans if span] == [
        "numa", "node", "{level: rack, required: false}", "{level: rack, domains: 2}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "spread"),
    [
        ("rack", (Spread("rack", 2),)),
        ("{level: rack, percent: 60}", (Spread("rack", 1, 60),)),
        ("{domains: 3, percent: '40'}", (Spread("rack", 3, 40),)),
        ("[node, {level: zone, domains: 1}]", (Spread("node", 2), Spread("zone", 1))),
    ],
)
def test_over_what_it_is_spread(written: str, spread: tuple[Spread, ...]) -> None:
    assert problem(f"  a: {{accelerators: 16, spread: {written}}}\n")["a"].spread == spread


def test_nodes_are_named_by_rank_range_or_name() -> None:
    found = problem("  a: {accelerators: 16, pin: [{ranks: '0-3,8', nodes: gpu-1}, {ranks: 4, nodes: [0-1, 3]}], exclude: [gpu-2, 7]}\n")[
        "a"
    ]
    assert found.pins == (Pin(range(4), (5,)), Pin(range(8, 9), (5,)), Pin(range(4, 5), (0, 1, 3)))
    assert found.excluded == (6, 7)
    assert problem("  a: {accelerators: 8, exclude: 1, pin: {ranks: 0, nodes: 'gpu-0, gpu-1'}}\n")["a"].pins == (Pin(range(1), (4, 5)),)


def test_memory_of_nodes_and_of_other_phases() -> None:
    found = problem("  a: {accelerators: 8, memory: 60GiB, phase: train, offloaded: 2GiB, host_memory: 100, traffic: 14GiB}\n")["a"]
    assert (found.memory, found.offloaded, found.host_memory, found.traffic) == (61440, 2048, 102400, 14336)


def test_relations_by_keys() -> None:
    text = "  a: {accelerators: 8, parallel: {tp: 4}, zero_copy_with: b, apart_from: [c, {component: d, level: node}]}\n"
    text += "  b: {accelerators: 8, parallel: {tp: 2}}\n  c: {accelerators: 8, near: {component: a, level: zone}}\n"
    text += "  d: {accelerators: 8, rank_aligned_with: c}\n"
    assert problem(text).job.relations == (
        Relation(ZERO_COPY, ("a", "b")),
        Relation(APART, ("a", "c"), level="rack"),
        Relation(APART, ("a", "d"), level="node"),
        Relation(NEAR, ("c", "a"), level="zone"),
        Relation(RANK_ALIGNED, ("d", "c")),
    )


def test_relations_links_and_objective_of_the_job() -> None:
    rest = "relations: [{kind: apart, components: [a, b]}, {kind: near, components: [a, b], level: zone}]\n"
    rest += "links: [{from: a, to: b, weights: 16GiB}, {from: b, to: a, stream: 1MiB, ratio: 4}]\nobjective: {weights: {rack: 10}}\n"
    job = problem("  a: {accelerators: 8}\n  b: {accelerators: 8}\n", rest).job
    assert [(relation.kind, relation.level) for relation in job.relations] == [(APART, "rack"), (NEAR, "zone")]
    assert job.links == (Link("a", "b", 16384), Link("b", "a", 0, 1, 4))
    assert job.preference == Preference(WEIGHTED, {"rack": 10})


@pytest.mark.parametrize(
    ("written", "preference"),
    [
        ("weighted", Preference(WEIGHTED)),
        ("lexicographic", Preference(LEXICOGRAPHIC)),
        ("{order: weighted, weights: {zone: 3, nvlink_domain: 0}}", Preference(WEIGHTED, {"zone": 3, "nvlink_domain": 0})),
        ("{}", Preference()),
    ],
)
def test_objectives(written: str, preference: Preference) -> None:
    assert problem("  a: {accelerators: 8}\n", f"objective: {written}\n").job.preference == preference


def test_numa_domains_and_zones_of_nodes() -> None:
    nodes = problem("  a: {accelerators: 8}\n").cluster.nodes
    assert numa_masks(nodes[0]) == (0b1111, 0b11110000)
    assert numa_masks(nodes[4]) == (0b11111111,)
    assert dict(nodes[7].topology) == {"zone": "a", "rack": "r2", "nvlink_domain": "n2"}


@pytest.mark.parametrize("written", [("a", "b"), ("b", "a")])
def test_zero_copy_is_said_of_either(written: tuple[str, str]) -> None:
    """Whoever has more tensor parallel ranks: the relation is kept as it was written, for what is said of it later."""
    rest = f"relations: [{{kind: zero copy, components: [{', '.join(written)}]}}]\n"
    found = problem("  a: {accelerators: 8, parallel: {tp: 4}}\n  b: {accelerators: 8, parallel: {tp: 2}}\n", rest)
    assert found.job.relations == (Relation(ZERO_COPY, written),)


def test_zero_copy_with_open_degrees_is_left_to_the_search() -> None:
    problem("  a: {accelerators: 8, parallel: {tp: [2, 4]}, zero_copy_with: b}\n  b: {accelerators: 8, parallel: {tp: 4}}\n")


def test_as_many_nodes_may_be_named_as_a_large_cluster_has() -> None:
    odd = ",".join(map(str, range(1, 4096, 2)))
    text = f"cluster: 4096x8\ncomponents: {{a: {{accelerators: 8, exclude: '{odd}', pin: {{ranks: 0, nodes: '{odd},0'}}}}}}\n"
    found = read(Source("job.yaml", text))
    assert found.findings == ()
    assert found.problem is not None
    assert found.problem["a"].excluded == tuple(range(1, 4096, 2))
