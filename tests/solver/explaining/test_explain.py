"""What a job needs and what shares with what, against plain sets; whose derivation counts; what is assumed without machines."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.derivation import Derivation
from placewright.models.dialects import native, rlinf
from placewright.models.dialects.dialect import Machines
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.accounting import explain
from placewright.solver.explaining.explain import PARTLY, WITHIN, Explanation
from placewright.solver.explaining.needs import numbers
from sampling import examples

NAMES = ("actor", "rollout", "env", "reward", "critic")


def read_rlinf(text: str, machines: Machines = None) -> Reading:
    return rlinf.read(Document.of(Source("train.yaml", text)), machines, "training")


def explained(text: str, machines: Machines = None) -> Explanation:
    return explain(read_rlinf(text, machines), partial(read_rlinf, text))


def of_native(components: str, cluster: str = "2x8") -> Explanation:
    reading = native.read(Document.of(Source("job.yaml", f"cluster: {cluster}\ncomponents: {{{components}}}\n")), None)
    return explain(reading, lambda machines: reading)


def told(explanation: Explanation, component: str) -> dict[str, object]:
    return {each.name: each.value for each in explanation.derivations if each.component == component}


@st.composite
def jobs(draw: st.DrawFn) -> tuple[int, int, str]:
    """(nodes, accelerators on each, an RLinf file whose components hold any ranges of them)."""
    nodes, each = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    lines = []
    for name in NAMES[: draw(st.integers(1, 5))]:
        first = draw(st.integers(0, nodes * each - 1))
        last = draw(st.integers(first, nodes * each - 1))
        shared = draw(st.sampled_from(["", "", f":0-{2 * (last - first + 1) - 1}"]))
        lines.append(f"    {name}: {first}-{last}{shared}\n")
    return nodes, each, f"cluster:\n  num_nodes: {nodes}\n  component_placement:\n{''.join(lines)}"


@settings(max_examples=examples(75), deadline=None)
@given(jobs())
def test_needs_and_sharing_are_what_plain_sets_give(job: tuple[int, int, str]) -> None:
    nodes, each, text = job
    found = explained(text, read_shorthand(f"{nodes}x{each}"))
    assert found.plan is not None and found.needs is not None and found.sharing is not None
    held = {}
    for need in found.needs.components:
        every = found.plan.placements(need.name)
        held[need.name] = {(its.node_rank, local) for its in every for local in its.local_hardware_ranks}
        assert need.processes == len(every)
        assert need.accelerators == len(held[need.name]) == sum(count * size for count, size in need.layout)
        per_node = {node: sum(its.node_rank == node for its in every) for node in {its.node_rank for its in every}}
        said = str(told(found, need.name).get("processes per node", len(every)))
        assert {int(word) for word in said.split(", ")} == set(per_node.values())
    used = set().union(*held.values())
    assert (found.needs.accelerators, found.needs.nodes) == (len(used), len({node for node, _ in used}))
    assert found.needs.idle == nodes * each - len(used)
    same = {together.components for together in found.sharing.together}
    assert same == {tuple(name for name in held if held[name] == its) for its in held.values()}
    overlaps = {(overlap.first.components[0], overlap.second.components[0]): overlap for overlap in found.sharing.overlaps}
    heads = [names[0] for names in same]
    for one, other in combinations(heads, 2):
        small, large = sorted((one, other), key=lambda name: len(held[name]))
        overlap = overlaps.get((one, other)) or overlaps.get((other, one))
        between = any(held[small] < held[name] < held[large] for name in heads)
        if not held[one] & held[other] or (between and held[small] < held[large]):
            assert overlap is None
        else:
            assert overlap is not None
            assert overlap.kind == (WITHIN if held[small] < held[large] else PARTLY)
            assert overlap.shared == len(held[one] & held[other])


@pytest.mark.parametrize(
    ("hints", "least"),
    [
        ("a: {accelerators: 4}, b: {accelerators: 3-8, parallel: {tp: 2}}", 8),
        ("a: {accelerators: 4}, b: {accelerators: 4, colocate_with: a}", 4),
        ("a: {accelerators: 8}, b: {accelerators: 4, within: a}", 8),
        ("a: {placement: 0-7}, b: {accelerators: 8, colocate_with: a}, c: {accelerators: 2}", 10),
        ("a: {node_group: node, processes: 4}", 0),
        ("a: {accelerators: 1-8, parallel: {tp: [4, 2]}}", 2),
        # what has times may share accelerators, where nothing keeps it apart
        ("a: {seconds: {8: 9}, parallel: {tp: 4}}, b: {seconds: {8: 9}, parallel: {tp: 2}}", 4),
        ("a: {seconds: {8: 9}, parallel: {tp: 4}}, b: {seconds: {8: 9}, parallel: {tp: 2}, disjoint_from: a}", 6),
        ("a: {seconds: {8: 9}, parallel: {tp: 4}}, b: {seconds: {8: 9}, parallel: {tp: 2}}, c: {accelerators: 3}", 7),
    ],
)
def test_what_is_left_to_solve_counts_with_the_least_that_it_needs(hints: str, least: int) -> None:
    needs = of_native(hints).needs
    assert needs is not None
    assert needs.accelerators + needs.open == least


def test_a_derivation_of_the_dialect_takes_the_place_of_the_general_one() -> None:
    found = of_native("actor: {placement: 0-7, parallel: {tp: 4}}")
    assert told(found, "actor")["data parallel size"] == 2
    assert found.plan is not None and found.needs is not None
    reading = native.read(Document.of(Source("job.yaml", "cluster: 1x8\ncomponents: {actor: {placement: 0-7, parallel: {tp: 4}}}\n")), None)
    own = [Derivation("actor", "samples", 6, "3 x 2"), Derivation("actor", "data parallel size", 1, "asked"), Derivation("", "all", 7, "7")]
    assert reading.problem is not None
    every = numbers(reading.problem, found.needs, own, reading.document)
    names = ["world size", "processes per node", "replica size", "data parallel size", "samples", "all"]
    assert [each.name for each in every] == names
    assert [each.value for each in every] == [8, 8, 4, 1, 6, 7]


def test_processes_that_share_and_processes_of_different_size() -> None:
    assert (
        told(explained("cluster: {num_nodes: 1, component_placement: {env: '0-3:0-7'}}", read_shorthand("1x4")), "env")["world size"] == 8
    )
    found = explained("cluster: {num_nodes: 1, component_placement: {env: '0-1:0,2-3:1-2'}}", read_shorthand("1x4"))
    assert found.derivations[0].formula == "3 processes are written for 4 accelerators"


TWO = "cluster:\n  num_nodes: 2\n  component_placement:\n"


@pytest.mark.parametrize(
    ("placed", "assumed"),
    [
        ("    actor: 0-15\n", 8),
        ("    actor: 0-5\n    env: 6\n", 4),
        ("    actor: all\n    env: 0-2\n", 2),
        ("    actor: 0-11:0-2\n", 8),  # with 6 on each node the second process would lie on two
        ("    actor: all\n", 0),
        ("    actor: {node_group: node, placement: 0-1}\n", 0),
    ],
)
def test_without_machines_the_fewest_are_assumed_that_hold_all_ranks(placed: str, assumed: int) -> None:
    found = explained(TWO + placed)
    assert found.assumed == assumed
    assert not found.report.errors
    if assumed:
        assert found.needs is not None
        assert found.needs.there == 2 * assumed


def test_ranks_of_a_group_are_counted_on_its_nodes() -> None:
    groups = "  node_groups:\n    - {label: big, node_ranks: 1}\n"
    assert (
        explained(f"cluster:\n  num_nodes: 2\n{groups}  component_placement: {{actor: {{node_group: big, placement: 0-6}}}}\n").assumed == 7
    )


def test_a_million_accelerators_cost_no_more_than_their_nodes(tmp_path: Path) -> None:
    text = "cluster: {num_nodes: 100000, component_placement: {actor: all, rollout: 0-399999, env: 200000-799999}}"
    found = explained(text, read_shorthand("100000x8"))
    assert found.needs is not None and found.sharing is not None
    assert found.needs.accelerators == 800_000
    assert [overlap.kind for overlap in found.sharing.overlaps] == [WITHIN, WITHIN, PARTLY]
