"""One cause is one finding, and what is offered as its mend leads to no other error."""

from __future__ import annotations

import re
from typing import Callable

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits
from placewright.models.report import Report

HEAD = """\
runner: {task_type: reasoning}
algorithm: {recompute_logprobs: false}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 4}}
rollout: {return_logprobs: true, group_name: R, rollout_backend: sglang, tensor_parallel_size: 2, model: {model_path: x}}
"""


def text(*lines: str, more: str = "") -> str:
    return HEAD + "cluster:\n  num_nodes: 4\n  component_placement:\n" + "".join(f"    {line}\n" for line in lines) + more


def messages(report: Report) -> list[str]:
    return [each.message for each in report.findings if each.severity is not Severity.NOTE and each.code < "PW8"]


def test_weights_are_not_judged_of_an_actor_that_never_starts(judged: Callable[..., Report]) -> None:
    (message,) = messages(judged(text("actor: 0-14", "rollout: 16-31", "reward: 0-14")))
    assert "15 accelerators of actor" in message


@pytest.mark.parametrize(("actor", "rollout"), [("0-11", "16-31"), ("0-7", "8-19"), ("0-3", "4-9"), ("0-11", "12-25")])
def test_counts_that_are_offered_for_weights_verify(judged: Callable[..., Report], actor: str, rollout: str) -> None:
    lines = f"actor: {actor}", f"rollout: {rollout}", "reward: 0"
    (finding,) = [each for each in judged(text(*lines)).findings if each.severity is Severity.ERROR]
    offered = re.findall(r"\d+", finding.help)
    assert offered
    start = int(rollout.split("-")[0])
    for count in map(int, offered):
        if start + count <= 32:
            assert not messages(judged(text(lines[0], f"rollout: {start}-{start + count - 1}", lines[2])))


@pytest.mark.parametrize(("wrong", "right"), [("rolout", "rollout"), ("actr", "actor"), ("rewards", "reward")])
def test_a_misspelt_component_is_one_error_with_its_mend(judged: Callable[..., Report], wrong: str, right: str) -> None:
    names = [wrong if name == right else name for name in ("actor", "rollout", "reward")]
    written = text(*(f"{name}: 0-15" for name in names))
    report = judged(written)
    (finding,) = [each for each in report.findings if each.severity is Severity.ERROR]
    assert finding.subject == wrong and finding.help == f"write `{right}`" and len(messages(report)) == 1
    assert finding.edit is not None and not messages(judged(apply_edits(written, [finding.edit])))


def test_a_component_whose_hints_are_wrong_is_not_missed_too(judged: Callable[..., Report]) -> None:
    more = "placewright: {components: {rollout: {acelerators: 16}}}\n"
    (message,) = messages(judged(text("actor: 0-15", "reward: 0-15", more=more)))
    assert "acelerators" in message


def test_a_wrong_number_is_told_once(judged: Callable[..., Report]) -> None:
    found = messages(
        judged(text("actor: 0-15", "rollout: 0-15", "reward: 0-15").replace("tensor_parallel_size: 2", "tensor_parallel_size: two"))
    )
    assert len([each for each in found if "must be a whole number" in each]) == 1


@pytest.mark.parametrize("missing", ["actor", "rollout", "reward"])
def test_the_line_that_is_offered_for_a_missing_component_verifies(judged: Callable[..., Report], missing: str) -> None:
    lines = [f"{name}: 0-15" for name in ("actor", "rollout", "reward") if name != missing]
    (finding,) = [each for each in judged(text(*lines)).findings if each.severity is Severity.ERROR]
    line = finding.help.rpartition("such as `")[2].rstrip("`")
    assert line == f"{missing}: 0-15" and not messages(judged(text(*lines, line)))


def test_an_engine_larger_than_its_ranks_is_one_error_with_a_help_that_verifies(judged: Callable[..., Report]) -> None:
    written = text("actor: 0-15", "rollout: 0-7", "reward: 0-15").replace("tensor_parallel_size: 2", "tensor_parallel_size: 64")
    together = written.replace("rollout: 0-7", "rollout: 0-15")
    report = judged(together)
    (finding,) = [each for each in report.findings if each.severity is not Severity.NOTE]
    assert (finding.code, finding.help) == ("PW208", "set `rollout.tensor_parallel_size: 4`")
    assert finding.edit is not None and not messages(judged(apply_edits(together, [finding.edit])))


def test_an_order_is_one_error_of_all_components(judged: Callable[..., Report]) -> None:
    lines = "rollout: 0-15", "actor: 16-31", "reward: 0-3"
    written = text(*lines).replace("  num_nodes: 4", "  num_nodes: 4\n  auto_scheduler: true")
    found = [each for each in judged(written).findings if each.code == "PW213"]
    assert [(each.subject, each.also, "actor and rollout" in each.help) for each in found] == [("actor", ("rollout",), True)]
