"""What hints say of the topology: read with their places, refused with what mends them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.component import APART, NEAR, RANK_ALIGNED, ZERO_COPY, Relation
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.findings.span import apply_edits
from placewright.models.link import Link
from placewright.models.locality import Keep, Pin, Spread
from placewright.models.machines.topology import numa_masks
from placewright.models.preference import LEXICOGRAPHIC, WEIGHTED, Preference
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source

HEAD = """cluster:
  nodes:
    - {repeat: 4, accelerators: {count: 8, model: H100, numa: 2}, topology: {zone: a, rack: r1, nvlink_domain: n1}}
    - {name: gpu-, repeat: 4, accelerators: {count: 8, model: H100}, topology: {zone: a, rack: r2, nvlink_domain: n2}}
components:
"""
"""Nodes node-0 to node-3, and gpu-0 to gpu-3, which are the nodes 4-7."""


def reading(components: str, rest: str = "") -> Reading:
    return read(Source("job.yaml", f"{HEAD}{components}{rest}"))


def problem(components: str, rest: str = "") -> Problem:
    found = reading(components, rest)
    assert found.findings == ()
    assert found.problem is not None
    return found.problem


def only(components: str, rest: str = "") -> Finding:
    (finding,) = reading(components, rest).findings
    assert finding.help
    return finding


def under(finding: Finding, components: str, rest: str = "") -> str:
    assert finding.span is not None
    return f"{HEAD}{components}{rest}"[finding.span.start : finding.span.end]


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


FAULTS = [
    ("a: {accelerators: 8, keep: {tp: nvlink_domian}}", "PW105", "nvlink_domian", "write `nvlink_domain`"),
    ("a: {accelerators: 8, keep: {tp: [node, {level: rak}]}}", "PW105", "rak", "write `rack`"),
    ("a: {accelerators: 8, keep: {replca: rack}}", "PW104", "replca", "write `replica`"),
    ("a: {accelerators: 8, keep: rack}", "PW105", "rack", "write a map such as `{tp: nvlink_domain"),
    ("a: {accelerators: 8, keep: {tp: {level: rack, domains: 2}}}", "PW121", "2", "drop `domains`"),
    ("a: {accelerators: 8, spread: numa}", "PW105", "numa", "write a level such as `rack`"),
    ("a: {accelerators: 8, spread: {percent: 0}}", "PW105", "0", "such as `60`"),
    ("a: {accelerators: 8, spread: {percent: 101}}", "PW105", "101", "such as `60`"),
    ("a: {accelerators: 8, spread: [rack, 3]}", "PW105", "3", "write a level"),
    ("a: {accelerators: 8, pin: [{ranks: 0-7, nodes: 9}]}", "PW102", "9", "write ranks"),
    ("a: {accelerators: 8, pin: [{ranks: 0-7, nodes: 6-9}]}", "PW102", "6-9", "write `6-7`"),
    ("a: {accelerators: 8, pin: [{ranks: 0-7, nodes: noode-1}]}", "PW102", "noode-1", "write `node-1`"),
    ("a: {accelerators: 8, pin: [{ranks: 0-9, nodes: 1}]}", "PW102", "{ranks: 0-9, nodes: 1}", "pin ranks that it has"),
    ("a: {accelerators: 8, pin: [{ranks: 3-1, nodes: 1}]}", "PW109", "3-1", "write `1-3`"),
    ("a: {accelerators: 8, pin: [{ranks: '', nodes: 1}]}", "PW112", "''", "write numbers"),
    ("a: {accelerators: 8, pin: {ranks: 0, node: 1}}", "PW101", "{ranks: 0, node: 1}", "add `pin.nodes:`"),
    ("a: {accelerators: 8, pin: 3}", "PW105", "3", "write a list such as"),
    ("a: {accelerators: 8, pin: {ranks: 0, nodes: 1}, exclude: 1}", "PW121", "{ranks: 0, nodes: 1}", "drop the pin"),
    ("a: {accelerators: 8, pin: [{ranks: 0-3, nodes: 1}, {ranks: 3, nodes: 2}]}", "PW121", "{ranks: 3, nodes: 2}", "once"),
    ("a: {accelerators: 8, exclude: 0-7}", "PW121", "0-7", "leave a node"),
    ("a: {accelerators: 8, exclude: {node: 1}}", "PW105", "{node: 1}", "write ranks or names of nodes"),
    ("a: {accelerators: 8, traffic: lots}", "PW105", "lots", "write an amount such as `14GiB`"),
    ("a: {accelerators: 8, offloaded: 2GiB}", "PW121", "2GiB", "name its phase"),
    ("a: {accelerators: 8, memory: 1GiB, phase: train, offloaded: 2GiB}", "PW121", "2GiB", "write less"),
    ("a: {accelerators: 8, keep: {component: rack}, spread: rack}", "PW121", "rack", "drop `spread`"),
    ("a: {node_group: node, processes: 4, keep: {tp: node}}", "PW121", "node", "drop `keep.tp`"),
    ("a: {node_group: node, processes: 4, offloaded: 1GiB, phase: x}", "PW121", "1GiB", "drop `offloaded`"),
    ("a: {accelerators: 8, near: b}", "PW121", "b", "name one of"),
    ("actor: {accelerators: 8, apart_from: actr}", "PW121", "actr", "write `actor`"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "code", "place", "advice"), FAULTS)
def test_faults_and_what_mends_them(written: str, code: str, place: str, advice: str) -> None:
    found = reading(f"  {written}\n").findings
    finding = next(each for each in found if each.code == code)
    assert under(finding, f"  {written}\n") == place
    assert advice in finding.help
    if finding.edit is not None:
        mended = read(Source("job.yaml", apply_edits(f"{HEAD}  {written}\n", [finding.edit])))
        assert finding.message not in {each.message for each in mended.findings}


def test_pins_outside_the_groups_of_a_component() -> None:
    text = HEAD.replace("components:", "  node_groups: [{label: train, node_ranks: 0-3}]\ncomponents:")
    text += "  a: {accelerators: 8, node_group: train, pin: {ranks: 0, nodes: 5}}\n"
    (finding,) = read(Source("job.yaml", text)).findings
    assert (finding.code, finding.message) == ("PW121", "rank 0 of `a` is pinned outside its node groups")


SECTIONS = [
    ("relations: [{kind: apart, components: [a, b], level: rak}]\n", "PW105", "rak", "write `rack`"),
    ("relations: [{kind: apart, components: [a, b], level: numa}]\n", "PW105", "numa", "`rack`"),
    ("relations: [{kind: colocated, components: [a, b], level: rack}]\n", "PW121", "rack", "drop `level`"),
    ("relations: [{kind: aparrt, components: [a, b]}]\n", "PW105", "aparrt", "write `apart`"),
    ("links: {from: a, to: b}\n", "PW105", "{from: a, to: b}", "write `links: ["),
    ("links: [{from: a, to: c, weights: 1GiB}]\n", "PW121", "c", "name one of"),
    ("links: [{from: a, to: a, weights: 1GiB}]\n", "PW121", "a", "traffic"),
    ("links: [{from: a, to: b}]\n", "PW101", "{from: a, to: b}", "add `weights:`"),
    ("links: [{from: a, weights: 1GiB}]\n", "PW101", "{from: a, weights: 1GiB}", "add `to:`"),
    ("links: [{from: a, to: b, weights: 1GiB}, {from: a, to: b, stream: 1}]\n", "PW121", "{from: a, to: b, stream: 1}", "in one link"),
    ("links: [{from: a, to: b, wieghts: 1GiB}]\n", "PW104", "wieghts", "write `weights`"),
    ("links: [{from: a, to: b, stream: 1, ratio: 0}]\n", "PW105", "0", "such as `1`"),
    ("objective: weigthed\n", "PW105", "weigthed", "write `weighted`"),
    ("objective: {order: lexicographic, weights: {rack: 2}}\n", "PW121", "{rack: 2}", "order: weighted"),
    ("objective: {weights: {rak: 2}}\n", "PW104", "rak", "write `rack`"),
    ("objective: {weights: {rack: -1}}\n", "PW105", "-1", "such as `10`"),
    ("objective: [weighted]\n", "PW105", "[weighted]", "write"),
    ("objective: '${oc.env:ORDER}'\n", "PW120", "'${oc.env:ORDER}'", "write the value"),
]


@pytest.mark.parametrize(("written", "code", "place", "advice"), SECTIONS)
def test_faults_of_sections(written: str, code: str, place: str, advice: str) -> None:
    components = "  a: {accelerators: 8}\n  b: {accelerators: 8}\n"
    finding = next(each for each in reading(components, written).findings if each.code == code)
    assert under(finding, components, written) == place
    assert advice in finding.help


@pytest.mark.parametrize(
    ("written", "severity"),
    [
        ("a: {accelerators: 8, keep: {tp: rack}}", Severity.WARNING),
        ("a: {accelerators: 8, keep: {tp: numa}}", Severity.WARNING),
        ("a: {accelerators: 8, spread: rack}", Severity.ERROR),
        ("a: {accelerators: 8, spread: {level: zone, percent: 50}}", Severity.ERROR),
        ("a: {accelerators: 8, apart_from: b}\n  b: {accelerators: 8}", Severity.ERROR),
        ("a: {accelerators: 8, near: b}\n  b: {accelerators: 8}", Severity.WARNING),
    ],
)
def test_levels_that_no_node_names(written: str, severity: Severity) -> None:
    (finding,) = read(Source("job.yaml", f"cluster: 4x8\ncomponents:\n  {written}\n")).findings
    assert (finding.code, finding.severity) == ("PW127", severity)
    assert "give the nodes of the cluster" in finding.help


def test_levels_that_only_some_nodes_name_are_compared() -> None:
    text = "cluster: {nodes: [{accelerators: {count: 8}, topology: {rack: r}}, {accelerators: {count: 8}}]}\n"
    assert read(Source("job.yaml", f"{text}components: {{a: {{accelerators: 8, spread: rack, keep: {{tp: rack}}}}}}\n")).findings == ()


def test_zero_copy_needs_degrees_that_divide() -> None:
    finding = only("  a: {accelerators: 12, parallel: {tp: 4}, zero_copy_with: b}\n  b: {accelerators: 12, parallel: {tp: 3}}\n")
    assert (finding.code, finding.help) == ("PW121", "make one a multiple of the other")


@pytest.mark.parametrize("written", [("a", "b"), ("b", "a")])
def test_zero_copy_is_said_of_either(written: tuple[str, str]) -> None:
    """Whoever has more tensor parallel ranks: the relation is kept as it was written, for what is said of it later."""
    rest = f"relations: [{{kind: zero copy, components: [{', '.join(written)}]}}]\n"
    found = problem("  a: {accelerators: 8, parallel: {tp: 4}}\n  b: {accelerators: 8, parallel: {tp: 2}}\n", rest)
    assert found.job.relations == (Relation(ZERO_COPY, written),)


def test_zero_copy_with_open_degrees_is_left_to_the_search() -> None:
    problem("  a: {accelerators: 8, parallel: {tp: [2, 4]}, zero_copy_with: b}\n  b: {accelerators: 8, parallel: {tp: 4}}\n")


_VALUES = st.recursive(
    st.sampled_from(
        ("rack", "node", "numa", "a", "b", "0-3", "9-1", "", "all", "1GiB", "~", "true", "-1", "0", "60", "${x}", "zone", "1e9", "'x'")
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(
            st.sampled_from(
                (
                    "tp",
                    "component",
                    "level",
                    "domains",
                    "percent",
                    "ranks",
                    "nodes",
                    "from",
                    "to",
                    "weights",
                    "stream",
                    "order",
                    "kind",
                    "components",
                )
            ),
            inner,
            max_size=4,
        ).map(lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items.items()) + "}"),
    ),
    max_leaves=8,
)
_COMPONENT_KEYS = (
    "keep", "spread", "pin", "exclude", "traffic", "offloaded", "host_memory", "near", "apart_from", "rank_aligned_with", "zero_copy_with",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.dictionaries(st.sampled_from(_COMPONENT_KEYS), _VALUES, max_size=3),
    st.dictionaries(st.sampled_from(("relations", "links", "objective")), _VALUES, max_size=2),
)
def test_any_value_gives_findings_and_never_an_exception(keys: dict[str, str], sections: dict[str, str]) -> None:
    hints = "".join(f", {key}: {value}" for key, value in keys.items())
    rest = "".join(f"{key}: {value}\n" for key, value in sections.items())
    found = reading(f"  a: {{accelerators: 8{hints}}}\n  b: {{accelerators: 8}}\n", rest)
    assert all(finding.help or finding.severity is not Severity.ERROR for finding in found.findings)
    assert all(finding.span is not None for finding in found.findings)


def test_as_many_nodes_may_be_named_as_a_large_cluster_has() -> None:
    odd = ",".join(map(str, range(1, 4096, 2)))
    text = f"cluster: 4096x8\ncomponents: {{a: {{accelerators: 8, exclude: '{odd}', pin: {{ranks: 0, nodes: '{odd},0'}}}}}}\n"
    found = read(Source("job.yaml", text))
    assert found.findings == ()
    assert found.problem is not None
    assert found.problem["a"].excluded == tuple(range(1, 4096, 2))
