"""What is wrong in hints about the topology, and what mends it."""

from __future__ import annotations

import placewright as pw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.models.text.source import Source

from .hints_read import HEAD, reading, under

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
    ("a: {accelerators: 8, pin: [{ranks: 3-1, nodes: 1}]}", "PW109", "3-1", "write `1-3`"),
    ("a: {accelerators: 8, pin: [{ranks: '', nodes: 1}]}", "PW112", "''", "write numbers"),
    ("a: {accelerators: 8, pin: {ranks: 0, node: 1}}", "PW104", "node", "write `nodes`"),
    ("a: {accelerators: 8, pin: {ranks: 0}}", "PW101", "{ranks: 0}", "add `pin.nodes:`"),
    ("a: {accelerators: 8, pin: 3}", "PW105", "3", "write a list such as"),
    ("a: {accelerators: 8, exclude: {node: 1}}", "PW105", "{node: 1}", "write ranks or names of nodes"),
    ("a: {accelerators: 8, traffic: lots}", "PW105", "lots", "write an amount such as `14GiB`"),
    ("a: {accelerators: 8, offloaded: 2GiB}", "PW121", "2GiB", "name its phase"),
    ("a: {accelerators: 8, memory: 1GiB, phase: train, offloaded: 2GiB}", "PW121", "2GiB", "write less"),
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


@pytest.mark.parametrize(
    ("components", "help_"),
    [
        ("a: {accelerators: 8, pin: [{ranks: 0-9, nodes: 1}]}", "drop the `pin` of ranks 0-9 of a"),
        ("a: {accelerators: 8, pin: {ranks: 0, nodes: 1}, exclude: 1}", "drop `exclude` of a; or drop the `pin` of ranks 0 of a"),
        ("a: {accelerators: 8, pin: [{ranks: 0-3, nodes: 1}, {ranks: 3, nodes: 2}]}", "drop the `pin` of ranks 0-3 of a"),
        ("a: {accelerators: 8, exclude: 0-7}", "drop `exclude` of a"),
        ("a: {accelerators: 8, keep: {component: rack}, spread: rack}", "keep a in 2 racks instead of 1; or spread a over 1 rack"),
        ("a: {accelerators: 8, node_group: train, pin: {ranks: 0, nodes: 5}}", "drop `node_group` of a; or drop the `pin` of ranks 0"),
        (
            "a: {accelerators: 12, parallel: {tp: 4}, zero_copy_with: b}\n  b: {accelerators: 12, parallel: {tp: 3}}",
            "drop `zero_copy_with: b`",
        ),
    ],
)
def test_demands_that_contradict_each_other_are_proved_impossible(components: str, help_: str) -> None:
    text = HEAD.replace("components:", "  node_groups: [{label: train, node_ranks: 0-3}]\ncomponents:")
    answer = pw.solve(f"{text}  {components}\n", sandbox=False)
    assert answer.verdict == "impossible" and help_ in answer.findings[0].help


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


@pytest.mark.slow
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
