"""The schemas for editors: valid draft-07, and they take what reading takes, no more and no less."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml
from placewright.models.dialects import native
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster_file import cluster_of
from placewright.models.placements.plan_file import plan_to_json, read_plan
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.report.schema import KINDS, schema, schema_to_json
from placewright.solver.searching.search import solve

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).resolve().parents[2]
FORM = {"PW101", "PW103", "PW104", "PW105", "PW011", "PW121"}
COMPONENTS = "cluster: 2x8xH100\ncomponents: {a: {accelerators: 8}, b: {accelerators: 8}}\n"


def component(text: str) -> str:
    return f"cluster: 2x8xH100\ncomponents: {{a: {text}, b: {{placement: 0}}}}\n"


GOOD = [
    component(text)
    for text in (
        "{accelerators: 8}", "{accelerators: 8-16}", "{accelerators: [8]}", "{accelerators: [2, 4-8, '12']}", "{processes: [2, 4]}", '{accelerators: " 8 - 16 "}', "{accelerators: 8.0}", "{processes: 4, accelerators_per_process: 2}",
        '{processes: "4"}', "{accelerators: 8, parallel: {tp: 4}}", "{accelerators: 8, parallel: {tp: [2, 4], pp: 2, cp: 1, ep: 1, dp: 1}}",
        '{accelerators: 8, parallel: {tp: "4"}}', "{accelerators: 8, memory: 70GiB}", "{accelerators: 8, memory: 0.5 tb}", "{accelerators: 8, memory: 70}",
        "{accelerators: 8, memory: 1.5}", "{accelerators: 8, memory: 100 m}", "{accelerators: 8, cpus: 4}", "{accelerators: 8, cpus: ~}", "{accelerators: 8, role: rollout}",
        "{accelerators: 8, phase: train}", "{accelerators: 8, phase: 1}", "{accelerators: 8, node_group: cluster}", "{node_group: [node], processes: 4}",
        "{accelerators: 8, accelerator: H100}", "{accelerators: 8, accelerator: 4090}", "{accelerators: 8, contiguous: true, stride: 2, parallel: {tp: 2}}",
        "{accelerators: 8, contiguous: false, any_order: true}", "{colocate_with: b}", "{accelerators: 8, disjoint_from: [b]}", "{accelerators: 8, disjoint_from: []}",
        "{within: [b], accelerators: 1}", "{placement: 0-7}", "{placement: 3}", '{placement: "0-3:0-7,8"}', "{placement: [{ranks: 0-3, node: 0, accelerators: [3, 2, 1, 0]}]}",
        "{placement: [{ranks: 0, node: node-0, accelerators: all}]}", "{placement: [{ranks: 0, node: 0, accelerators: [0-1, 6]}]}", "{placement: [{ranks: 0-1, node: 0-1}]}",
        "{placement: [{ranks: 0, node: 0, accelerators: 0, node_group: cluster}]}", "{accelerators: '${components.b.placement}1'}", "{accelerators: 8, contiguous: '${x.y}'}",
        "{accelerators: 8, keep: {tp: node, ep: [numa], replica: {level: node, required: false}, component: {level: node, domains: 2}}}",
        "{accelerators: 8, spread: node}", "{accelerators: 8, spread: {level: node, domains: 2, percent: 60}}", "{accelerators: 8, spread: [node, {percent: '100', domains: 1}]}",
        "{accelerators: 8, pin: [{ranks: 0-7, nodes: 1}]}", "{accelerators: 8, pin: {ranks: 0, nodes: [node-0, 1]}}", "{accelerators: 8, pin: [], exclude: node-0}",
        "{accelerators: 8, exclude: [0]}", "{accelerators: 8, traffic: 14GiB, host_memory: 100}", "{accelerators: 8, memory: 4, phase: x, offloaded: 2GiB}",
        "{accelerators: 8, rank_aligned_with: b}", "{accelerators: 8, zero_copy_with: [b]}", "{accelerators: 8, apart_from: {component: b, level: node}}",
        "{accelerators: 8, near: [{component: b, level: node}]}",
        "{accelerators: 8, seconds: 59.9}", "{accelerators: 8, seconds: '59.9'}", "{accelerators: 8, seconds: 1e3}", "{accelerators: 8-16, seconds: {8: 120, 016: '66'}}",
        "{accelerators: 8, seconds: {generate: {8: 95}, train: 60}, phase: [generate, train]}", "{accelerators: 8, seconds: {train: {H100: {8: 60}, A100: 90}}, phase: train}",
        "{accelerators: 8, seconds: {4090: {8: 60}, H100: 50}}", "{accelerators: 8, seconds: [{seconds: 60, accelerators: 8, tp: 2, phase: train}], phase: train}",
        "{accelerators: 8, estimate: {parameters: 7B, sequence: 8192, micro_batch: 1}}",
    )
] + [
    COMPONENTS + text
    for text in (
        "allow: overlap\n", "allow: [overlap, groups_across_nodes]\n", "allow: []\n", "relations: []\nwork: []\n", "relations: [{kind: disjoint, components: [a, b]}]\n",
        "relations: [{kind: in order, components: [a, b], reason: why}]\n", "work: [{component: a, what: samples, amount: 64}]\n",
        'work: [{component: a, what: samples, amount: "64", multiple: 8, required: false, level: training, reason: why}]\n',
        "relations: [{kind: apart, components: [a, b], level: node}]\n", "relations: [{kind: zero copy, components: [a, b]}]\n", "links: []\n",
        "links: [{from: a, to: b, weights: 16GiB, stream: 1, ratio: '4'}]\n", "objective: weighted\n", "objective: {order: weighted, weights: {rack: 10, zone: '3', nvlink_domain: 0}}\n",
    )
] + [
    f"cluster: {text}\ncomponents: {{}}\n"
    for text in (
        "2x8xH100", "2x8xH100+1x0", '" 1x8 + 1x4xA100 "', "{nodes: 2x8}", "{nodes: [{}]}", "{nodes: [{accelerators: {count: 8}}], node_groups: []}",
        "{nodes: [{name: a, repeat: 2, accelerators: {count: 2, model: 'NV_GPU:H100', memory: 80GiB, ids: [a, 1], taken: [1]}, cpus: 96, memory: 1TiB, "
        "labels: {zone: a, row: 1}, topology: {rack: r, nvlink_domain: 3}, hardware: [{type: Franka, robot_ip: 10.0.0.1, port: 1}]}]}",
        "{nodes: [{}], node_groups: [{label: g, node_ranks: 0, kind: node, env_configs: [{node_ranks: 0, env_vars: {A: b, C: 1}, python_interpreter_path: /x}]}]}",
        "{nodes: [{accelerators: {count: 8, numa: 2}, topology: {zone: a}}]}",
        "{nodes: [{name: ~, accelerators: {count: '8', memory: ~}}]}",
    )
]  # fmt: skip
BAD = [
    component(text)
    for text in (
        "{acelerators: 8}", "{accelerators: many}", "{accelerators: 0}", "{accelerators: -1}", "{accelerators: 8.5}", "{accelerators: true}", "{accelerators: []}", "{accelerators: [8, 8]}", "{accelerators: [4, 0]}", "{accelerators: [[8]]}", '{accelerators: "2, 4"}',
        "{accelerators: 8-}", "{accelerators: 9999999999}", "{accelerators: 8, accelerators_per_process: 0}", '{accelerators: 8, accelerators_per_process: "0"}', "{accelerators: 8, accelerators_per_process: yes}",
        "{accelerators: 8, parallel: 4}", "{accelerators: 8, parallel: {tp: 0}}", "{accelerators: 8, parallel: {tp: []}}", "{accelerators: 8, parallel: {tp: ~}}", "{accelerators: 8, parallel: {xp: 2}}",
        "{accelerators: 8, parallel: {tp: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}", "{accelerators: 8, memory: lots}", "{accelerators: 8, memory: -1}", "{accelerators: 8, memory: 70KiB}", "{accelerators: 8, memory: ~}",
        "{accelerators: 8, cpus: 0}", "{accelerators: 8, role: boss}", "{accelerators: 8, phase: {a: 1}}", "{accelerators: 8, phase: ~}", "{accelerators: 8, phase: true}", "{accelerators: 8, node_group: {a: 1}}",
        "{accelerators: 8, node_group: []}", "{accelerators: 8, node_group: ~}", "{accelerators: 8, accelerator: 'H 100'}", "{accelerators: 8, contiguous: 1}", "{accelerators: 8, contiguous: 'true'}",
        "{accelerators: 8, stride: -2}", "{accelerators: 8, colocate_with: {b: 1}}", "{accelerators: 8, disjoint_from: [[b]]}", "{placement: []}", "{placement: {a: 1}}", "{placement: true}",
        "{placement: [{ranks: 0}]}", "{placement: [{ranks: 0, node: 0, gpus: 0}]}", "{placement: [{ranks: 0, node: 0, accelerators: []}]}", "{placement: [{ranks: [0], node: 0}]}", "{placement: [0]}",
        "[8]", "8", "~", "{accelerators: 8, keep: rack}", "{accelerators: 8, keep: {tp: rak}}", "{accelerators: 8, keep: {tp: {level: node, domain: 2}}}", "{accelerators: 8, spread: numa}",
        "{accelerators: 8, spread: {percent: 101}}", "{accelerators: 8, spread: ~}", "{accelerators: 8, pin: [{ranks: 0}]}", "{accelerators: 8, pin: 0}", "{accelerators: 8, exclude: []}",
        "{accelerators: 8, seconds: {}}", "{accelerators: 8, seconds: []}", "{accelerators: 8, seconds: 0}", "{accelerators: 8, seconds: '0'}", "{accelerators: 8, seconds: -1}", "{accelerators: 8, seconds: 99999999}",
        "{accelerators: 8, seconds: soon}", "{accelerators: 8, seconds: {0: 60}}", "{accelerators: 8, seconds: {-8: 60}}", "{accelerators: 8, seconds: {8.5: 60}}", "{accelerators: 8, seconds: {8: ~}}",
        "{accelerators: 8, seconds: {8: 60, train: 50}}", "{accelerators: 8, seconds: {train: {}}, phase: train}", "{accelerators: 8, seconds: {train: {0: 5}}, phase: train}",
        "{accelerators: 8, seconds: {train: {8: {8: 5}}}, phase: train}", "{accelerators: 8, seconds: {train: {'H 100': {8: 5}}}, phase: train}", "{accelerators: 8, seconds: {train: {H100: {8: 5}, 8: 4}}, phase: train}",
        "{accelerators: 8, seconds: [{accelerators: 8}]}", "{accelerators: 8, seconds: [{seconds: 5, gpus: 8}]}", "{accelerators: 8, measured_on: 8, seconds: 5}", "{accelerators: 8, estimate: {parameters: 7B, gpus: 1}}",
        "{accelerators: 8, exclude: {a: 1}}", "{accelerators: 8, traffic: many}", "{accelerators: 8, near: {level: rack}}", "{accelerators: 8, apart_from: {component: b, level: numa}}",
    )
] + [
    COMPONENTS + text
    for text in (
        "allow: overlaps\n", "allow: {overlap: true}\n", "relations: {}\n", "relations: ~\n", "relations: [{kind: beside, components: [a, b]}]\n", "links: [{from: a}]\n", "links: {}\n", "links: [{from: a, to: b, ratio: 0}]\n", "objective: best\n", "objective: {weights: {node: 1}}\n", "objective: [weighted]\n", "relations: [{kind: disjoint, components: a}]\n",
        "relations: [{kind: disjoint, components: [a]}]\n", "relations: [{components: [a, b]}]\n", "relations: [a]\n", "work: [{component: a, amount: 4}]\n", "work: [{component: a, what: s, amount: 0}]\n",
        "work: [{component: a, what: s, amount: 4, level: all}]\n", "work: [{component: a, what: s, amount: 4, required: 1}]\n", "work: 4\n", "extra: 1\n",
    )
] + [
    "cluster: 2x8\n", "cluster: 2x8\ncomponents: []\n", "cluster: 2x8\ncomponents: ~\n",
] + [
    f"cluster: {text}\ncomponents: {{}}\n"
    for text in (
        "2y8", "x8", "8", "~", "[2x8]", "2x8x", "{}", "{nodes: []}", "{nodes: x}", "{nodes: 8}", "{nodes: [{accelerators: 8}]}", "{nodes: [{accelerators: {}}]}", "{nodes: [{accelerators: {count: 1025}}]}",
        "{nodes: [{repeat: 0}]}", "{nodes: [{repeat: 200000}]}", "{nodes: [{name: 'a b'}]}", "{nodes: [{hardware: [{robot_ip: 1}]}]}", "{nodes: [{topology: {row: a}}]}", "{nodes: [{accelerators: {count: 8, numa: 0}}]}", "{nodes: [{labels: {a: [1]}}]}",
        "{nodes: [{}], node_groups: [{label: g}]}", "{nodes: [{}], node_groups: {label: g}}", "{nodes: [{}], groups: []}", "{nodes: [{cpus: true}]}",
    )
]  # fmt: skip


def taken_by_reading(text: str) -> bool:
    """Has reading nothing to say of the form? What only a whole file tells, such as a sum, does not count."""
    try:
        reading = native.read(Document.of(Source("job.yaml", text)), None)
    except UnusableInput:
        return False
    return not [finding for finding in reading.findings if finding.code in FORM]


def data(text: str) -> object:
    """What a text says, as JSON has it: every key is a text."""
    return json.loads(json.dumps(yaml.safe_load(text)))


@cache
def validator(kind: str) -> Any:
    its = schema(kind)
    jsonschema.Draft7Validator.check_schema(its)
    return jsonschema.Draft7Validator(its)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_schema_of_draft_07(kind: str) -> None:
    text = json.dumps(validator(kind).schema)
    assert "$defs" not in text
    assert "prefixItems" not in text
    assert "oneOf" not in text


@pytest.mark.parametrize("text", GOOD)
def test_both_take_what_is_right(text: str) -> None:
    assert [error.message for error in validator("native").iter_errors(data(text))] == []
    if "${x.y}" not in text and "1'" not in text:
        assert taken_by_reading(text), native.read(Document.of(Source("job.yaml", text)), None).findings


@pytest.mark.parametrize("text", BAD)
def test_both_refuse_what_is_wrong(text: str) -> None:
    assert not taken_by_reading(text)
    assert not validator("native").is_valid(data(text))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("nodes: 2x8", True),
        ("nodes: [{repeat: 2, accelerators: {count: 8}}]", True),
        ("nodes: '${a.b}'", False),
        ("nodes: [{repat: 2}]", False),
        ("2x8", False),
    ],
)
def test_cluster_files(text: str, right: bool) -> None:
    assert validator("cluster").is_valid(data(text)) is right
    try:
        cluster_of(Source("c.yaml", text))
    except UnusableInput:
        assert not right
    else:
        assert right


def plan() -> dict[str, Any]:
    text = (
        "cluster: {nodes: [{accelerators: {count: 8}, topology: {rack: r}}]}\ncomponents: {a: {accelerators: 4, parallel: {tp: [2, 4]}}}\n"
    )
    problem = native.read(Document.of(Source("job.yaml", text)), None).problem
    assert problem is not None
    answer = solve(problem).plan
    assert answer is not None
    found: dict[str, Any] = json.loads(plan_to_json(answer))
    return found


def test_plans(tmp_path: Path) -> None:
    its = validator("plan")
    assert [error.message for error in its.iter_errors(plan())] == []
    wrong: list[dict[str, Any]] = [
        {"schema": 2}, {"status": "done"}, {"seed": "0"}, {"bound": True}, {"extra": 1}, {"components": {"a": [{}]}}, {"cluster": {}},
        {"components": {"a": [{**plan()["components"]["a"][0], "ranks": [0, 1, 2]}]}},
    ]  # fmt: skip
    for change in wrong:
        data = {**plan(), **change}
        assert not its.is_valid(data), change
        (tmp_path / "plan.json").write_text(json.dumps(data))
        with pytest.raises(UnusableInput) as caught:
            read_plan(tmp_path / "plan.json")
        assert [finding.code for finding in caught.value.findings] == ["PW008"]


def keys(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for its in [node, *node.get("definitions", {}).values()]:
        yield from its.get("properties", {}).items()


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_says_what_it_takes_and_every_example_is_right(kind: str) -> None:
    its = schema(kind)
    for name, key in keys(its):
        assert key.get("description"), name
        for example in key.get("examples", []):
            part = {**{word: value for word, value in key.items() if word != "examples"}, "definitions": its["definitions"]}
            assert jsonschema.Draft7Validator(part).is_valid(json.loads(json.dumps(example))), (name, example)


def test_every_key_of_a_native_file_has_an_example_or_its_values() -> None:
    without = [
        name
        for name, key in keys(schema("native"))
        if "examples" not in key and "enum" not in json.dumps(key) and "boolean" not in json.dumps(key)
    ]
    assert sorted(set(without)) == ["components", "env_configs", "node_groups", "relations", "work"]


def test_the_schema_beside_the_examples_is_this_one() -> None:
    """`placewright schema > examples/placewright.schema.json` renews it."""
    assert (ROOT / "examples" / "placewright.schema.json").read_text("utf-8") == schema_to_json("native")


def test_the_keys_of_a_native_file_are_those_of_its_form() -> None:
    """They are written down again, so that recognising a file loads no forms."""
    from placewright.models.dialects.native import KEYS
    from placewright.models.dialects.native.form import NativeForm

    assert tuple(NativeForm.keys) == KEYS
