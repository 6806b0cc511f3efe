"""`component_placement`: what each text means, and every fault with its place, its numbers and a fix that works."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.placements.assignment import Assignment, seats
from placewright.models.placements.run import Run
from placewright.planner.verify import verify

GROUPS = """  node_groups:
    - {label: low, node_ranks: 0}
    - {label: high, node_ranks: 1}
    - {label: bare, node_ranks: 0-1, ignore_hardware: true}
    - {label: arms, node_ranks: 1, hardware: {type: Turtle2, configs: [{node_rank: 1}]}}
"""


def runs(reading, name="actor"):
    assert [f.message for f in reading.findings if f.severity is Severity.ERROR] == []
    return reading.problem[name].runs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-3", [Run(range(4), 0)]),
        ("all", [Run(range(8), 0), Run(range(8, 16), 1)]),
        ("ALL", [Run(range(8), 0), Run(range(8, 16), 1)]),
        ("7", [Run(range(1), 0, first=7)]),
        ("0-7:0-3", [Run(range(4), 0, each=2, pitch=2)]),
        ("4-11:0-3", [Run(range(2), 0, first=4, each=2, pitch=2), Run(range(2, 4), 1, each=2, pitch=2)]),
        ("0-1:0-3", [Run(range(2), 0, pitch=0), Run(range(2, 4), 0, first=1, pitch=0)]),
        ("0-1:5-6", [Run(range(2), 0)]),
        ("6-9:0", [Run(range(1), 0, first=6, each=2, pitch=2), Run(range(1), 1, each=2, pitch=2)]),
        (" 0 - 1 , , 3 ", [Run(range(2), 0), Run(range(2, 3), 0, first=3)]),
        ("{node_group: high, placement: 0-1}", [Run(range(2), 1, node_group="high")]),
        ("{node_group: 'high , low', placement: '7-8:0-1'}", [Run(range(1), 1, first=7, node_group="high"), Run(range(1, 2), 0, node_group="low")]),
        ("{node_group: node, placement: '0-1:0-3'}", [Run(range(2), 0, "node", 0, 0, 1, 0, "node"), Run(range(2, 4), 1, "node", 0, 0, 1, 0, "node")]),
        ("{node_group: bare, placement: 1}", [Run(range(1), 1, "node", 0, 0, 1, 0, "bare")]),
        ("{node_group: arms, placement: '0:0-1'}", [Run(range(2), 1, "Turtle2", 0, 1, 1, 0, "arms")]),
    ],
)  # fmt: skip
def test_a_placement_is_these_runs(placed, text: str, expected: list[Run]) -> None:
    assert list(runs(placed(text, GROUPS))) == expected


def test_the_documentation_s_three_segments(placed) -> None:
    held = {rank: [seat for seat, _, _ in its] for rank, its in seats(runs(placed("0-1:0-3,3-5,7-10:7-14")))}
    assert [held[rank] for rank in range(4)] == [[(0, 0)], [(0, 0)], [(0, 1)], [(0, 1)]]
    assert [held[rank] for rank in range(4, 7)] == [[(0, 3)], [(0, 4)], [(0, 5)]]
    assert [held[rank][0] for rank in range(7, 15)] == [(0, 7)] * 2 + [(1, 0)] * 2 + [(1, 1)] * 2 + [(1, 2)] * 2


def test_components_of_one_key_are_placed_alike_each_with_its_own_name(read) -> None:
    reading = read("cluster:\n  num_nodes: 1\n  component_placement:\n    actor, rollout: 0-7\n")
    assert runs(reading, "actor") == runs(reading, "rollout")
    spans = [reading.problem[name].spans["name"] for name in ("actor", "rollout")]
    assert [(span.column, span.length) for span in spans] == [(5, 5), (12, 7)]


@pytest.mark.parametrize(
    ("text", "code", "at", "message", "mended"),
    [
        ("0-17", "PW102", "0-17", "`0-17` is outside `cluster`: 2 nodes x 8 accelerators, ranks 0-15 exist", "0-15"),
        ("16", "PW102", "16", "`16` is outside `cluster`", None),
        ("3-1", "PW109", "3-1", "the range 3-1 runs backwards", "1-3"),
        ("4-7,0-3", "PW109", "0-3", "accelerator 0 comes after 7, but ranks must ascend", "0-3,4-7"),
        ("0-3,3-4", "PW108", "3-4", "accelerator 3 is named twice in one placement", "0-3,4"),
        ("all,0", "PW108", "0", "accelerator 0 is named twice", "0-15"),
        ("0-1:0-2", "PW111", "0-1:0-2", "3 processes cannot be divided evenly over 2 accelerators", "actor: 0-1"),
        ("0-2:0-1", "PW111", "0-2:0-1", "2 processes cannot be divided evenly over 3 accelerators", "actor: 0-1"),
        ("0-1:0-1,2:3", "PW110", "3", "process ranks go on at 3, but 2 comes next", "actor: 0-1,2"),
        ("0-1:all", "PW103", "all", "`all` is not allowed here", None),
        ("0:0:0", "PW103", "0:0:0", "has 2 colons", None),
        ("a-b", "PW103", "a-b", "`a-b` is neither a rank such as `3` nor a range", None),
        ("-1-2", "PW103", "-1-2", "`-1-2` is neither a rank", None),
        ("1.5", "PW103", "1.5", "`1.5` is neither", None),
        ("'0-3:'", "PW112", "0-3:", "names no process after the colon", "0-3"),
        ("':0-3'", "PW112", ":0-3", "names no accelerator", None),
        ("','", "PW112", ",", "the placement names nothing", None),
        ("true", "PW103", "true", "`True` is neither", None),
        ("{node_group: arms, placement: 1}", "PW102", "1", "`1` is outside `arms`: 1 node x 1 Turtle2, only rank 0 exists", None),
        ("{node_group: High, placement: 0}", "PW107", "High", "there is no node group `High`", "high"),
        ("{node_group: ' high', placement: 0}", "PW107", " high", "there is no node group ` high`", "high"),
        ("{node_group: 'high,', placement: 0}", "PW107", None, "there is no node group ``", "high"),
        ("{node_group: 'high,hihg', placement: 0}", "PW107", "hihg", "there is no node group `hihg`", None),  # `high` is named already
        ("{node_group: low}", "PW101", "actor", "`actor` has no `placement`", "{node_group: low, placement: all}"),
        ("[0, 1]", "PW105", "[0, 1]", "must be ranks, but it is a list", "0,1"),
        ("", "PW112", None, "names nothing", "actor: all"),
        ("{node_group: 'bare,low', placement: '0-1'}", "PW108", "'bare,low'", "node 0 is in several node groups of `actor`", None),
        ("{node_group: 'high,arms', placement: '7-8:0'}", "PW302", "'7-8:0'", "would hold Accelerator and Turtle2", "'0-1:0'"),
    ],
)  # fmt: skip
def test_a_fault_is_found_where_it_stands(placed, text: str, code: str, at: str | None, message: str, mended: str | None) -> None:
    reading = placed(text, GROUPS)
    errors = [f for f in reading.findings if f.severity is Severity.ERROR]
    assert [f.code for f in errors] == [code]
    assert message in errors[0].message
    assert errors[0].subject == "actor"
    assert errors[0].help
    if at is not None:
        assert reading.source.text[errors[0].span.start : errors[0].span.end] == at
    assert (errors[0].edit is None) == (mended is None)
    if errors[0].edit is not None:
        text = apply_edits(reading.source.text, [errors[0].edit])
        assert mended in text
        assert placed(text.split("actor: ")[1].strip(), GROUPS).findings == ()


def test_a_number_of_many_digits_makes_the_file_unusable(placed) -> None:
    with pytest.raises(UnusableInput, match="more than 19 digits"):
        placed("9" * 22)
    assert [f.code for f in placed("0-" + "9" * 19).findings] == ["PW103"]
    assert [f.code for f in placed("0:0-" + "9" * 18).findings] == ["PW002"]


def test_rlinf_drops_a_group_without_nodes(placed) -> None:
    reading = placed("{node_group: none, placement: 0}", "  node_groups: [{label: none, node_ranks: ''}]\n")
    assert [(f.code, f.severity.value) for f in reading.findings] == [("PW112", "warning"), ("PW107", "error")]


def test_all_of_nodes_and_accelerators_together_is_more_than_there_is(placed) -> None:
    reading = placed("{node_group: 'low,bare2', placement: all}", GROUPS + "    - {label: bare2, node_ranks: 1, ignore_hardware: true}\n")
    assert [f.message for f in reading.findings] == ["`actor`: RLinf takes `all` for 9 ranks, but there are 2 nodes: IndexError at launch"]
    assert reading.findings[0].help == "write `0-1`"


def test_all_faults_of_a_file_are_found_at_once(read) -> None:
    reading = read("cluster:\n  num_nodes: 1\n  component_placement:\n    actor: 0-8\n    rollout: 3-1,x\n    env,rollout: 0:0:0\n")
    found = [(f.code, f.subject) for f in reading.findings]
    assert found == [("PW102", "actor"), ("PW109", "rollout"), ("PW103", "rollout"), ("PW106", "rollout"), ("PW103", "env")]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("1:30", "PW118", "YAML reads `1:30` as 90, so RLinf gets the text `90`"),
        ("010", "PW118", "YAML reads `010` as 8, so RLinf gets the text `8`"),
        ("{placement: 0, placment: 2}", "PW104", "the placement of `actor` has no key `placment`"),
        ("{node_group: [low, high], placement: 0-9}", "PW105", "is a YAML list: RLinf's documentation allows it, its parser refuses it"),
        ("{node_group: 'low,low', placement: '0,8'}", "PW108", "names a node group twice"),
    ],
)
def test_what_may_be_meant_otherwise_is_a_warning(placed, text: str, code: str, message: str) -> None:
    found = [f for f in placed(text, GROUPS).findings if f.severity is Severity.WARNING]
    assert code in [f.code for f in found]
    assert any(message in f.message for f in found)


def test_what_rlinf_notices_only_at_launch_is_found_by_the_rules(placed) -> None:
    for text, code in (("6-9:0", "PW203"), ("{node_group: 'high,low', placement: 0-8}", "PW210")):
        assert [f.code for f in verify(placed(text, GROUPS)).errors] == [code]


def test_nothing_is_judged_that_needs_the_number_of_accelerators(read) -> None:
    text = "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: all\n    rollout: 0-99:0-2\n    env: {node_group: node, placement: 0-1}\n"
    reading = read(text, None)
    assert [f.code for f in reading.findings] == ["PW111"]
    assert [(u.rule, u.subject) for u in reading.unchecked] == [("PW102", "actor")]
    assert reading.problem["actor"].runs is None
    assert len(reading.problem["env"].runs) == 2


def test_an_interpolated_placement_is_blamed_at_both_places(read) -> None:
    reading = read("cluster:\n  num_nodes: ${n}\n  component_placement:\n    actor: ${where}\nn: 1\nwhere: 0-8\n")
    finding = reading.findings[0]
    assert (finding.code, finding.span.line, finding.origin.line) == ("PW102", 4, 6)
    assert finding.edit is None


def test_an_unknown_interpolation_is_unchecked(read) -> None:
    reading = read("cluster:\n  num_nodes: 1\n  component_placement:\n    actor: ${oc.env:WHERE}\n    env: 0\n")
    assert reading.findings == ()
    assert [(u.rule, u.subject) for u in reading.unchecked] == [("PW120", "cluster.component_placement.actor")]


@st.composite
def segments(draw: st.DrawFn) -> tuple[str, list[list[int]]]:
    """A placement text on 24 accelerators, and the resources of each process as a walk over the ranks gives them."""
    texts, processes, resource = [], [], draw(st.integers(0, 3))
    for _ in range(draw(st.integers(1, 4))):
        size, factor = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        divided = draw(st.booleans())
        count = size * factor if divided else size
        if resource + count > 24:
            break
        first = len(processes)
        if divided:
            processes += [list(range(resource + i * factor, resource + (i + 1) * factor)) for i in range(size)]
        else:
            processes += [[resource + i // factor] for i in range(size * factor)]
        texts.append(f"{resource}-{resource + count - 1}:{first}-{len(processes) - 1}")
        resource += count + draw(st.integers(0, 2))
    return ",".join(texts), processes


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(segments())
def test_the_arithmetic_is_what_a_walk_over_the_ranks_gives(read, made: tuple[str, list[list[int]]]) -> None:
    text, processes = made
    if not processes:
        return
    reading = read(f"cluster: {{num_nodes: 4, component_placement: {{actor: '{text}'}}}}", "1x8+1x5+1x0+1x11")
    nodes = [(0, i) for i in range(8)] + [(1, i) for i in range(5)] + [(3, i) for i in range(11)]
    expected = [[nodes[resource] for resource in each] for each in processes]
    assert [[seat for seat, _, _ in held] for _, held in seats(runs(reading))] == expected
    assert Assignment({"actor": runs(reading)}).world_size("actor") == len(processes)
