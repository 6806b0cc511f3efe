"""Keys that no release has: what was meant, also beside the right key, and what counts machines but is not read."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_all
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.report import Report

HEAD = """\
runner: {task_type: reasoning}
algorithm: {recompute_logprobs: false}
actor: {model: {tensor_model_parallel_size: 1}}
rollout: {return_logprobs: true, tensor_parallel_size: 2}
"""
CLUSTER = "cluster:\n  num_nodes: 1\n  component_placement: {actor: all, rollout: all, reward: all}\n"


@pytest.mark.parametrize(
    ("line", "meant"),
    [("num_node: 2", "num_nodes"), ("component_placment: {actor: all}", "component_placement"), ("nodes_groups: []", "node_groups")],
)
def test_a_misspelt_key_of_cluster_is_told_also_beside_the_right_one(read: Callable[..., Reading], line: str, meant: str) -> None:
    text = HEAD + CLUSTER + ("  node_groups: []\n" if meant == "node_groups" else "") + f"  {line}\n"
    (finding,) = [each for each in read(text).findings if each.code == "PW104"]
    assert (
        finding.severity is Severity.WARNING
        and f"`cluster.{line.partition(':')[0]}`" in finding.message
        and f"`{meant}` is set too" in finding.help
    )
    assert finding.edit is not None and line not in apply_edits(text, [finding.edit])


@pytest.mark.parametrize(
    ("was", "now", "path", "help"),
    [
        ("tensor_parallel_size: 2", "tensor_paralel_size: 2", "rollout.tensor_paralel_size", "write `tensor_parallel_size`"),
        ("tensor_parallel_size: 2", "tensor_parallel_size: 2, tensor_paralel_size: 4", "rollout.tensor_paralel_size", "is set too"),
        ("runner: {", "runner: {task_typ: sft, ", "runner.task_typ", "`task_type` is set too"),
        ("algorithm:", "rolloutt: {tensor_parallel_size: 4}\nalgorithm:", "rolloutt", "`rollout` is set too"),
        ("{tensor_model_parallel_size: 1}", "{tensor_model_paralel_size: 1}", "actor.model.tensor_model_paralel_size", "write `tensor_model_parallel_size`"),
    ],
)  # fmt: skip
def test_a_misspelt_setting_that_is_read_is_told(read: Callable[..., Reading], was: str, now: str, path: str, help: str) -> None:
    (finding,) = [each for each in read((HEAD + CLUSTER).replace(was, now)).findings if each.code == "PW104"]
    assert (finding.subject, finding.severity) == (path, Severity.WARNING) and help in finding.help


@pytest.mark.parametrize("line", ["mine: {seed: 1}", "rollout_extra: 1", "data: {shuffel: true}", "judge: {device: cuda, gpus: 0}"])
def test_other_keys_are_the_users_own(read: Callable[..., Reading], line: str) -> None:
    reading = read(HEAD + line + "\n" + CLUSTER)
    assert not [each for each in reading.findings if each.code == "PW104"]
    assert not [each for each in reading.unchecked if each.rule == "PW104"]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("judge: {num_gpus: 4}", "judge.num_gpus"),
        ("judge: {server: {deep: {n_gpus_per_node: 8}}}", "judge.server.deep.n_gpus_per_node"),
        ("judge: {placement: 0-3}", "judge.placement"),
        ("trainer: {nnodes: 2}", "trainer.nnodes"),
    ],
)
def test_a_section_that_counts_machines_and_is_not_read_decides(judged: Callable[..., Report], line: str, path: str) -> None:
    report = judged(HEAD + line + "\n" + CLUSTER)
    (unsure,) = [each for each in report.unchecked if each.rule == "PW104"]
    assert unsure.subject == path and unsure.decides and path in unsure.add


@pytest.mark.parametrize(("server", "refused"), [("num_gpus: 3", True), ("num_gpus: 2", False), ("num_gpus: 0", True), ("seed: 1", True)])
def test_servers_of_an_evaluation_divide_the_accelerators_of_rollout(judged: Callable[..., Report], server: str, refused: bool) -> None:
    text = f"""\
runner: {{task_type: embodied_eval}}
rollout:
  rollout_backend: sglang
  sglang: {{tensor_parallel_size: 3, pipeline_parallel_size: 1, server: {{{server}}}}}
cluster: {{num_nodes: 1, component_placement: {{"env,rollout": all}}}}
"""
    report = judged(text)
    assert ["PW208"] * refused == [each.code for each in report.findings if each.severity is Severity.ERROR]
    assert not [each for each in report.unchecked if each.rule == "PW104"]


def test_what_a_command_line_sets_is_refused_by_hydra_unless_unread_files_have_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(f"defaults: [more, _self_]\n{HEAD}{CLUSTER}")
    (tmp_path / "run.sh").write_text(
        "python examples/reasoning/main_grpo.py --config-path . --config-name base cluster.num_node=2 +rollout.tensor_paralel_size=2\n"
    )
    (reading,) = load_all(tmp_path / "run.sh", read_shorthand("1x8"), "auto", "training", Composer())
    assert sorted(each.notes[0] for each in reading.findings if each.code == "PW104") == [
        "Hydra refuses it unless `defaults` have it", "RLinf ignores it silently"
    ]  # fmt: skip
    assert [each.decides for each in reading.unchecked if each.rule == "PW104"] == [True]
