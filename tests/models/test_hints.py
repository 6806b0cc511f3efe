"""What a user says instead of ranks becomes components, relations and choices; what contradicts itself is found before a search."""

from __future__ import annotations

import pytest
from placewright.models.component import COLOCATED, DISJOINT, UNBOUNDED, Component, Parallel, Relation
from placewright.models.findings.finding import Finding
from placewright.models.hints.add import add_hints
from placewright.models.hints.block import add_block
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.quantity import Counts
from placewright.models.text.interpolation import Interpolator
from placewright.models.text.source import Source
from placewright.models.text.tree import MapNode

from ..solver.cases import GIB, cluster, given

MACHINES = cluster({"count": 8, "model": "H100"}, {"count": 8, "model": "H100", "robots": 2}, h100=(0,), robots=(1,))


def hints(
    text: str, *known: Component
) -> tuple[dict[str, Component], tuple[Relation, ...], dict[str, tuple[Parallel, ...]], list[Finding]]:
    """Components by name, relations, choices and findings of the text `components: {...}` without its first key."""
    findings: list[Finding] = []
    components, relations, choices, _ = add_hints(Source("job.yaml", text).root, MACHINES, known, findings)
    return {component.name: component for component in components}, relations, dict(choices), findings


def only(text: str) -> Component:
    """The single component of a text without faults."""
    components, _, _, findings = hints(text)
    assert findings == []
    (component,) = components.values()
    return component


@pytest.mark.parametrize(
    ("text", "least", "most", "each"),
    [
        ("{accelerators: 16}", 16, 16, 1),
        ("{accelerators: 8-32}", 8, 32, 1),
        ('{accelerators: "8 - 32"}', 8, 32, 1),
        ("{processes: 4, accelerators_per_process: 2}", 8, 8, 2),
        ("{processes: 2-4, accelerators_per_process: 2}", 4, 8, 2),
        ("{accelerators: 8, processes: 2}", 8, 8, 4),
        ("{accelerators: 4-16, processes: 8}", 8, 8, 1),
        ("{node_group: node, processes: 64}", 64, 64, 1),
        ("{node_group: node, processes: 8-32}", 8, 32, 1),
        ("{node_group: robots, processes: 2}", 2, 2, 1),
        ("{placement: 0-3}", 1, UNBOUNDED, 1),
    ],
)
def test_amounts(text: str, least: int, most: int, each: int) -> None:
    component = only(f"a: {text}")
    assert (component.least, component.most, component.per_process) == (least, most, each)


def test_everything_else_that_can_be_said() -> None:
    component = only(
        "a: {accelerators: 8, parallel: {tp: 4, pp: 2}, memory: 70GiB, phase: train, node_group: h100, accelerator: H100, contiguous: true, stride: 2}"
    )
    assert component.parallel == Parallel(4, 2)
    assert component.memory == 70 * GIB
    assert (component.phases, component.node_groups, component.accelerator_model) == (("train",), ("h100",), "H100")
    assert (component.contiguous, component.stride, component.group_size, component.unit, component.step) == (True, 2, 4, 8, 8)


@pytest.mark.parametrize(
    ("text", "counts", "each"),
    [
        ("{accelerators: [8, 2, 4-6]}", ((2, 2), (4, 6), (8, 8)), 1),
        ("{processes: [1, 3], accelerators_per_process: 2}", ((2, 2), (6, 6)), 2),
        ("{accelerators: [2, 4-8, 16], processes: [2, 3, 5]}", ((2, 2), (5, 5)), 1),
        ("{node_group: node, processes: [2, 4.0]}", ((2, 2), (4, 4)), 1),
        ("{accelerators: [8], processes: 2}", (), 4),
        ("{accelerators: [2-4, 5]}", (), 1),
    ],
)
def test_a_list_of_counts(text: str, counts: Counts, each: int) -> None:
    component = only(f"a: {text}")
    assert (component.counts, component.per_process) == (counts, each)
    may = [count for count in range(1, 20) if component.may_have(count)]
    assert may == [count for low, high in counts or ((may[0], may[-1]),) for count in range(low, high + 1)]


@pytest.mark.parametrize(
    ("text", "told", "at", "advised"),
    [
        ("{accelerators: [4, 2, 4]}", "`4` appears twice", "4]}", "write each count once"),
        ("{accelerators: [2-8, 4]}", "`4` and `2-8` overlap", "4]}", "write each count once"),
        ("{accelerators: [4, 0]}", "`0` is less than 1", "0]", "write a number such as"),
        ("{accelerators: [4, 1.5]}", "1.5 is not a whole number", "1.5", "write a number such as"),
        ("{accelerators: [4, 8-6]}", "`8-6` runs backwards", "8-6", "write a number such as"),
        ("{accelerators: []}", "the list is empty", "[]", "write a number such as"),
        ('{accelerators: "2, 4-8"}', "`2, 4-8` is not a number such as", '"2', "write a number such as"),
        (
            "{accelerators: [2, 4], processes: [3, 5]}",
            "asks for 2 or 4 accelerators and for 3 or 5 in processes of 1",
            "[3, 5]",
            "write one of the two",
        ),
        (
            "{accelerators: [2, 6], parallel: {tp: 4}}",
            "`a` asks for 2 or 6 accelerators, none of which is a multiple of 4",
            "[2",
            "ask for 4",
        ),
        ("{accelerators: [2, 20], seconds: 60}", "an unknown number of accelerators", "60}", "write `seconds: {2: 120}`"),
    ],
)
def test_what_is_wrong_with_a_list_of_counts(text: str, told: str, at: str, advised: str) -> None:
    (finding,) = hints(f"a: {text}")[3]
    assert told in finding.message
    assert finding.span is not None and f"a: {text}"[finding.span.start :].startswith(at)
    assert finding.help.startswith(advised)


@pytest.mark.parametrize(("text", "mib"), [("70GiB", 71680), ("70", 71680), ("512MiB", 512), ("80GB", 76294), ("1.5 GiB", 1536), ("0", 0)])
def test_memory(text: str, mib: int) -> None:
    assert only(f"a: {{accelerators: 1, memory: {text}}}").memory == mib


def test_relations_and_choices() -> None:
    _, relations, choices, findings = hints(
        "a: {accelerators: 8, parallel: {tp: [4, 2], pp: [1, 2]}}\nb: {colocate_with: a}\nc: {accelerators: 1, disjoint_from: [a, b]}"
    )
    assert findings == []
    assert relations == (Relation(COLOCATED, ("b", "a")), Relation(DISJOINT, ("c", "a")), Relation(DISJOINT, ("c", "b")))
    assert choices == {"a": (Parallel(4), Parallel(4, 2), Parallel(2), Parallel(2, 2))}


def test_hints_about_a_component_with_ranks_are_kept_beside_them() -> None:
    known = given("a", per_process=2)
    components, *_, findings = hints("a: {memory: 1GiB}", known)
    assert findings == []
    assert components["a"].runs == known.runs
    assert (components["a"].memory, components["a"].least, components["a"].per_process) == (GIB, known.least, 2)


@pytest.mark.parametrize(
    ("text", "code", "message", "line_column"),
    [
        ("a: {accelerators: 12, parallel: {tp: 8}}", "PW208", "`a` asks for 12 accelerators, no multiple of 8", (1, 19)),
        ("a: {accelerators: 9-15, parallel: {tp: [8, 16]}}", "PW208", "`a` asks for 9-15 accelerators", (1, 19)),
        ("a: {acelerators: 8}", "PW104", "unknown key `acelerators` in the hints of `a`", (1, 5)),
        ("a: {accelerators: 8, parallel: {xp: 2}}", "PW104", "unknown key `parallel.xp`", (1, 33)),
        ("a: {accelerators: 0}", "PW105", "`accelerators` of the hints of `a`: `0` is less than 1", (1, 19)),
        ("a: {}", "PW101", "the size of `a` is unknown", (1, 1)),
        ("a: {accelerators: 1, node_group: h10}", "PW107", "`a` names node group `h10`, which does not exist", (1, 34)),
        ("a: {accelerators: 1, node_group: [h100, h100]}", "PW121", "`a` names node group `h100` twice", (1, 34)),
        ("a: {node_group: node, accelerators: 4}", "PW121", "`a` asks for accelerators in a group that numbers nodes", (1, 37)),
        ("a: {accelerators: 7, processes: 2}", "PW121", "7 accelerators of `a` do not divide among 2 processes", (1, 33)),
        ("a: {node_group: node, processes: 99999999}", "PW121", "`a` asks for 99,999,999, more than 1,048,575", (1, 34)),
        ("a: {processes: 1, node_group: [h100, robots]}", "PW121", "groups that number Accelerators and Frankas", (1, 31)),
        ("a: {accelerators: 4, contiguous: true, node_group: [h100, cluster]}", "PW121", "numbered twice", (1, 52)),
        ("a: {accelerators: 8, processes: 2-4}", "PW121", "asks for 8 accelerators and for 2-4 in processes of 1", (1, 33)),
        ("a: {node_group: node, processes: 2, memory: 9GiB}", "PW121", "`memory` has no meaning for `a`", (1, 45)),
        ("a: {node_group: node, processes: 2, accelerator: A100}", "PW121", "`accelerator` has no meaning for `a`", (1, 50)),
        ("a: {node_group: node, processes: 2, parallel: {tp: 8}}", "PW121", "`parallel` has no meaning for `a`", (1, 47)),
        ("a: {accelerators: 4, stride: 2}", "PW121", "`a` has stride 2 but is not contiguous", (1, 30)),
        ("a: {accelerators: 6, accelerators_per_process: 3, parallel: {tp: 2}}", "PW121", "do not nest in `a`", (1, 61)),
        ("a: {accelerators: 4, colocate_with: b}", "PW121", "`a` names `b` in `colocate_with`, which is not a component", (1, 37)),
        ("a: {accelerators: 4, disjoint_from: a}", "PW121", "`a` names itself in `disjoint_from`", (1, 37)),
        ("a: {accelerators: 4}\nb: {node_group: robots, processes: 1, colocate_with: a}", "PW121", "they cannot be compared", (2, 54)),
        ("a: {accelerators: 8, parallel: {tp: [1,2,4,8], pp: [1,2,4,8], cp: [1,2,4,8], ep: [1,2]}}", "PW121", "128 combinations", (1, 1)),
    ],
)
def test_faults_and_where_they_stand(text: str, code: str, message: str, line_column: tuple[int, int]) -> None:
    *_, findings = hints(text)
    (finding,) = findings
    assert finding.code == code
    assert message in finding.message
    assert finding.span is not None
    assert (finding.span.line, finding.span.column) == line_column
    assert finding.help


def test_a_cluster_without_accelerators_has_none_to_ask_for() -> None:
    findings: list[Finding] = []
    add_hints(Source("job.yaml", "learner: {accelerators: 1-4}").root, cluster({"count": 0}), (), findings)
    assert [each.message for each in findings] == ["`learner` asks for accelerators, and no node of the cluster has any"]


def test_somebody_must_say_how_large_a_set_is() -> None:
    *_, findings = hints("a: {colocate_with: b}\nb: {colocate_with: a}")
    assert [(finding.code, finding.subject) for finding in findings] == [("PW101", "a"), ("PW101", "b")]
    *_, findings = hints("a: {colocate_with: b}\nb: {colocate_with: c}\nc: {accelerators: 2}")
    assert findings == []


@pytest.mark.parametrize("fault", ["{seconds: 0}", "3", "{accelerators: many}"])
def test_what_follows_from_a_fault_is_not_told(fault: str) -> None:
    """Neither that a component of a framework has no size, nor that those have none that go along with it."""
    open_ = Component("a", least=1, most=UNBOUNDED)
    *_, findings = hints(f"a: {fault}\nb: {{colocate_with: a}}", open_)
    assert len(findings) == 1
    *_, findings = hints(f"a: {fault}\nb: {{colocate_with: a}}\nc: {{memory: 1GiB}}")
    assert [finding.subject for finding in findings] == ["a", "c"]


def test_hints_that_need_a_value_that_is_not_known_are_refused() -> None:
    interpolator = Interpolator(Source("job.yaml", "a:\n  accelerators: ${oc.env:N}").root)
    resolved = interpolator.tree(interpolator.root, ())
    assert isinstance(resolved, MapNode)
    findings: list[Finding] = []
    add_hints(resolved, MACHINES, (), findings)
    assert [(finding.code, finding.subject) for finding in findings] == [("PW120", "a")]


@pytest.mark.parametrize("edit", ["a: {acelerators: 8}", "actor: {accelerators: 8}\nb: {colocate_with: actr}"])
def test_a_fix_that_is_an_edit_mends_the_text(edit: str) -> None:
    from placewright.models.findings.span import apply_edits

    *_, findings = hints(edit)
    (finding,) = findings
    assert finding.edit is not None
    *_, left = hints(apply_edits(edit, [finding.edit]))
    assert left == []


def test_a_block_in_a_framework_file_holds_components_and_nothing_else() -> None:
    findings: list[Finding] = []
    add_block(Source("x", "components: {a: {accelerators: 1}}\nclusters: 4x8").root, MACHINES, (), findings)
    assert [finding.code for finding in findings] == ["PW104"]
    findings = []
    add_block(Source("x", "components: 3").root, MACHINES, (), findings)
    assert [finding.code for finding in findings] == ["PW105"]
    findings = []
    add_block(Source("x", "components: {a: {placement: 0-3}}").root, MACHINES, (), findings)
    assert [finding.code for finding in findings] == ["PW121"]


def test_a_shorthand_cluster_has_no_other_groups() -> None:
    machines = read_shorthand("2x8")
    findings: list[Finding] = []
    add_hints(Source("x", "a: {accelerators: 1, node_group: a800}").root, machines, (), findings)  # type: ignore[arg-type]
    assert [finding.code for finding in findings] == ["PW107"]


@pytest.mark.parametrize(
    "written", ["2..8", '"2:8"', "2 to 8", "{min: 2, max: 8}", "4 or 8", '"[2, 4]"', '">=4"', "auto", "{H100: 2}", "4,", "0-4"]
)
def test_what_is_no_amount(written: str) -> None:
    (finding,) = hints(f"a:\n  accelerators: {written}\n")[3]
    assert finding.code == "PW105" and finding.help.startswith("write a number such as")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("a: {accelerators: 12, parallel: {tp: 8}}", "ask for 8 or 16"),
        (
            "a: {accelerators: 12, parallel: {tp: 16}}",
            "lower its degrees, or ask for 16 and let its tp groups span nodes: `keep: {tp: {level: node, required: false}}`",
        ),
        ("a: {accelerators: 12, parallel: {tp: 16}, keep: {tp: {level: node, required: false}}}", "ask for 16"),
        ("a: {accelerators: 12, parallel: {tp: 32}}", "lower its degrees: there are 16 accelerators"),
        ("a: {accelerators: 17, parallel: {tp: 8}}", "ask for 16"),
    ],
)
def test_only_so_many_are_advised_as_there_are(text: str, advice: str) -> None:
    """16 in tp groups of 16 were advised on nodes of 8, and 32 on 16 accelerators."""
    *_, findings = hints(text)
    assert [each.help for each in findings] == [advice]
