"""Which dialect a file is read in, and what is said where that is not certain."""

from __future__ import annotations

import subprocess
import sys

import pytest
from placewright.models.dialect_names import DIALECTS
from placewright.models.dialects.load import read
from placewright.models.dialects.native import _OF_COMPONENTS, KEYS
from placewright.models.dialects.recognition import dialect_named
from placewright.models.hints.forms import ComponentForm
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.source import Source
from placewright.planner.verify import verify

RLINF = "cluster: {num_nodes: 1, component_placement: {actor: 0-7}}\n"
ROLL = "actor_train: {device_mapping: 'list(range(0,8))'}\n"
VERL = "actor_rollout_ref: {rollout: {name: vllm}}\n"
NATIVE = "components: {actor: {placement: 0-7}}\n"


@pytest.mark.parametrize(
    ("text", "sure", "weak"),
    [
        (RLINF, ["rlinf"], []),
        (ROLL, ["roll"], []),
        (VERL, ["verl"], []),
        (NATIVE, ["native"], []),
        ("trainer: {nnodes: 1}\n", [], ["verl"]),
        ("trainer: {n_gpus_per_node: 8}\n", [], ["verl"]),
        ("trainer: {nnodes: 1, n_gpus_per_node: 8}\n", [], ["verl"]),
        ("cluster: 1x8\n" + NATIVE + "trainer: {nnodes: 1}\n", ["native"], ["verl"]),
        (RLINF + ROLL + VERL + NATIVE, ["rlinf", "roll", "verl", "native"], []),
        ("openapi: 3.0.0\ncomponents: {schemas: {placement: {type: object}}}\n", [], []),
        ("asyncapi: 3.0.0\ncomponents: {messages: {memory: {payload: {}}}}\n", [], []),
        ("apiVersion: v1\nkind: Component\ncomponents: {a: {memory: 1Gi}}\n", [], []),
        ("components: {web: {image: nginx}}\nservices: {}\n", [], []),
        ("kind: Kustomization\ncomponents: [../base]\n", [], []),
        ("cluster: 1x8\ncomponents: {actor: {gpus: 8}}\n", ["native"], []),
        ("components: {actor: {gpus: 8}}\n", ["native"], []),
        ("components: {web: {acelerators: 8}}\n", ["native"], []),
        ("components: {web: {replicas: 3}}\n", [], ["native"]),
        ("components: [{type: sensor, name: x}]\n", [], ["native"]),
        ("cluster: {enabled: true, nodes: 3}\ncomponents: {web: {replicas: 3}}\n", [], ["native"]),
        ("cluster: {name: x}\nversion: 2\ncomponents: {web: {replicas: 3}}\n", [], []),
        ("cluster: {nodes: 2x8}\ncomponents: {web: {accelerators: 3}}\n", ["native"], []),
    ],
)
def test_signs(text: str, sure: list[str], weak: list[str]) -> None:
    found = {name: dialect_named(name).signs(Source("t", text).root) for name in DIALECTS}
    assert [name for name in DIALECTS if found[name].sure] == sure
    assert [name for name in DIALECTS if found[name].weak] == weak


def test_the_keys_of_native_files_are_those_of_their_forms() -> None:
    assert set(_OF_COMPONENTS) - {"placement"} <= set(ComponentForm.keys)
    assert "components" in KEYS


@pytest.mark.parametrize(
    ("text", "dialect", "verdict", "warnings"),
    [
        ("cluster: 1x8\n" + NATIVE + "trainer: {nnodes: 1}\n", "native", "incomplete", 1),
        (RLINF + "trainer: {nnodes: 1}\n", "rlinf", "incomplete", 1),
        (RLINF + ROLL, "rlinf", "incomplete", 1),
        (ROLL + VERL, "roll", "faulty", 1),
        (RLINF + ROLL + VERL, "rlinf", "incomplete", 2),
    ],
)
def test_keys_of_other_dialects_are_named(text: str, dialect: str, verdict: str, warnings: int) -> None:
    report = verify(read(Source("job.yaml", text), read_shorthand("1x8")))
    assert (report.dialect, report.verdict) == (dialect, verdict)
    said = [finding for finding in report.findings if "but this file is read as" in finding.message]
    assert len(said) == warnings
    assert all("--dialect" in finding.help for finding in said)


def test_a_named_dialect_is_taken_without_a_word() -> None:
    report = verify(read(Source("job.yaml", RLINF + ROLL), read_shorthand("1x8"), "rlinf"))
    assert (report.verdict, report.findings) == ("ok", ())


@pytest.mark.parametrize("keys", ["data: {train_batch_size: 64}\n", "rollout: {nnodes: 1}\n", ""])
def test_a_list_of_defaults_names_the_framework_of_a_file(keys: str) -> None:
    """As recipe/dapo, recipe/one_step_off_policy and recipe/specRL of verl."""
    found = read(Source("own.yaml", f"hydra: {{searchpath: [file://verl/trainer/config]}}\ndefaults: [ppo_trainer, _self_]\n{keys}"))
    assert found.dialect == "verl"


def test_what_nothing_speaks_for_is_no_configuration() -> None:
    reading = read(Source("api.yaml", "openapi: 3.0.0\ncomponents: {schemas: {Pet: {type: object}}}\n"))
    assert [finding.code for finding in reading.findings] == ["PW010"]


@pytest.mark.parametrize("text", [NATIVE, "cluster: 1x8\n" + NATIVE, "cluster: 1x8\ncomponents: {actor: {accelerators: 8}}\n"])
def test_a_native_file_loads_no_other_dialect_but_that_of_its_keys(text: str) -> None:
    script = (
        "import sys, placewright as pw; pw.verify(sys.argv[1]); "
        "print(*sorted({name.split('.')[3] for name in sys.modules if name.startswith('placewright.models.dialects.')} & {'roll', 'verl'}))"
    )
    done = subprocess.run([sys.executable, "-c", script, text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
