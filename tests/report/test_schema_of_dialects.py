"""The schema of each kind of file has the keys that its reader takes, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.hints.block import KEYS, BlockForm
from placewright.models.hints.forms import ComponentForm, HintForm
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source
from placewright.report.schema import schema

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).resolve().parents[2]
FILES: dict[str, dict[str, Any]] = {
    "native": {"cluster": "2x8"},
    "rlinf": {
        "cluster": {"num_nodes": 2, "component_placement": {"actor,rollout,reward": "all"}},
        "runner": {"task_type": "reasoning"}, "algorithm": {"group_size": 8, "n_minibatches": 1, "recompute_logprobs": False},
        "data": {"rollout_batch_size": 64}, "rollout": {"tensor_parallel_size": 2, "max_running_requests": 64, "return_logprobs": True},
        "actor": {"training_backend": "megatron", "model": {"tensor_model_parallel_size": 4}}, "profile_data": {"rollout_cost": 60, "actor_cost": 40},
    },
    "roll": {
        "rollout_batch_size": 64, "num_return_sequences_in_group": 8, "adv_estimator": "grpo", "init_kl_coef": 0,
        "actor_infer": {"strategy_args": {"strategy_name": "vllm"}, "device_mapping": "list(range(0,8))"},
    },
    "verl": {"trainer": {"n_gpus_per_node": 8, "nnodes": 1}, "actor_rollout_ref": {"actor": {"strategy": "fsdp"}}, "algorithm": {"adv_estimator": "grpo"}},
}  # fmt: skip
"""A file of each dialect, without hints."""
NAMES = {"roll": "actor_infer"}
UNKNOWN = "no_such_key"
WORDS = sorted({*ComponentForm.keys, *HintForm.keys, UNKNOWN})


def of_components(dialect: str) -> dict[str, Any]:
    """The keys of one component in the schema."""
    its = schema(dialect)
    node = its
    for name in ("components",) if dialect == "native" else ("placewright", "components"):
        node = next(
            each for each in (node, *node.get("allOf", ()), *node.get("anyOf", ())) if name in resolved(its, each).get("properties", {})
        )
        node = resolved(its, node)["properties"][name]
    (values,) = (each for each in node.get("anyOf", [node]) if "additionalProperties" in each)
    (form,) = (
        each
        for each in values["additionalProperties"].get("anyOf", [values["additionalProperties"]])
        if "properties" in resolved(its, each)
    )
    found: dict[str, Any] = resolved(its, form)["properties"]
    return found


def resolved(root: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = root["definitions"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    return found


def refuses(dialect: str, key: str, value: object) -> bool:
    """Does the reader say that a component has no such key there?"""
    hints = {"components": {NAMES.get(dialect, "actor"): {key: value}}}
    its = {**FILES[dialect], **(hints if dialect == "native" else {"placewright": hints})}
    try:
        reading = read(Source("run.yaml", yaml.safe_dump(its)), read_shorthand("2x8"), dialect)
    except UnusableInput as unusable:
        findings = unusable.findings
    else:
        findings = list(reading.to_solve.findings)
    return any(
        (each.code == "PW104" and f"`{key}`" in each.message) or "belong into the framework's own" in each.message for each in findings
    )


@pytest.mark.parametrize("dialect", FILES)
def test_a_component_has_these_keys(dialect: str) -> None:
    known = of_components(dialect)
    taken = [
        word for word in WORDS if not refuses(dialect, word, known.get(word, {}).get("examples", ["0-7" if word == "placement" else 16])[0])
    ]
    assert taken == sorted(known)
    assert UNKNOWN not in taken


@pytest.mark.parametrize(
    "file", sorted(each for kind in FILES for each in (ROOT / "examples" / kind).glob("*.yaml")), ids=lambda each: each.stem
)
def test_the_examples_are_right_by_the_schema_of_their_dialect(file: Path) -> None:
    validator = jsonschema.Draft7Validator(schema(file.parent.name))
    its = json.loads(json.dumps(yaml.safe_load(file.read_text("utf-8"))))
    assert [each.message for each in validator.iter_errors(its)] == []


@pytest.mark.parametrize("dialect", ["rlinf", "roll", "verl"])
@pytest.mark.parametrize(
    ("block", "right"),
    [
        ({"components": {"actor": {"seconds": {"8": 60}}}, "model": {"heads": 28, "other": "x"}, "plan": {"batches": 4}}, True),
        ({"component": {}}, False),
        ({"components": []}, False),
        ({"components": {"actor": 8}}, False),
        ({"components": {"actor": {"placement": "0-7"}}}, False),
        ({"components": {}, "model": {"heads": 0}}, False),
        ({"components": {}, "plan": {"cost_model": "guess"}}, False),
    ],
)
def test_the_block_is_read_by_its_schema(dialect: str, block: dict[str, Any], right: bool) -> None:
    assert jsonschema.Draft7Validator(schema(dialect)).is_valid({**FILES[dialect], "placewright": block}) is right


def test_the_keys_of_the_block_are_those_of_its_form() -> None:
    """They are written down again, so that a file without hints loads no forms."""
    assert sorted(BlockForm.keys) == sorted(KEYS)
