"""An edit is offered only if the file verifies with it; what it mends besides is told as one of its notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity, error
from placewright.models.findings.span import Edit
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import FileSession
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.models.text.tree import find
from placewright.planner.verify import verify

RLINF = """\
runner: {task_type: reasoning}
algorithm: {recompute_logprobs: true}
cluster:
  num_nodes: 1
  component_placement:
    actor,reward: 0-7
    PLACES
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 4}}
rollout: {tensor_parallel_size: 2}
"""
HINTS = "placewright: {components: {HINTED}}\n"


def verdict(text: str, machines: str = "1x8", dialect: str = "auto") -> Report:
    return verify(read(Source("a.yaml", text), read_shorthand(machines), dialect))


def told(report: Report) -> list[tuple[str, str, str]]:
    return [(each.code, each.subject, each.help) for each in report.errors]


def test_a_misspelt_component_is_the_only_error() -> None:
    report = verdict(RLINF.replace("PLACES", "rolout: 0-7"))
    assert told(report) == [("PW123", "rolout", "write `rollout`")]
    assert report.errors[0].severity is Severity.ERROR
    assert "misses `rollout`" in report.errors[0].message


def test_a_misspelt_hint_is_the_only_error() -> None:
    text = RLINF.replace("    PLACES\n", "") + HINTS.replace("HINTED", "rollout: {acelerators: 8}")
    assert told(verdict(text)) == [("PW104", "rollout", "write `accelerators`")]


def test_an_edit_that_leads_to_another_error_is_not_offered() -> None:
    text = "cluster: 1x8\ncomponents:\n  actor: {placement: 0-8, parallel: {tp: 3}}\n"
    (found,) = verdict(text, dialect="native").errors
    assert (found.code, found.help, found.edit) == ("PW102", "", None)
    text = text.replace("tp: 3", "tp: 4")
    (found,) = verdict(text, dialect="native").errors
    assert (found.code, found.help) == ("PW102", "write `0-7`")
    assert found.edit is not None


def test_an_edit_of_a_text_with_commas_keeps_its_quotes() -> None:
    (found,) = verdict('cluster: 1x8\ncomponents:\n  b: {placement: "0-3,2-5"}\n', dialect="native").errors
    assert (found.help, found.edit.text if found.edit else "") == ("write `0-3,4-5`", '"0-3,4-5"')


def test_degrees_that_a_model_refuses_are_told_without_the_ranks_that_follow() -> None:
    text = """\
rollout_batch_size: 64
adv_estimator: reinforce
init_kl_coef: 0
pretrain: Qwen/Qwen2.5-7B
actor_train:
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 3}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}
  device_mapping: list(range(0,8))
rewards:
  rule: {world_size: 8}
"""
    assert [each.code for each in verdict(text).errors] == ["PW404"]


def test_one_node_short_is_one_error_with_its_roles() -> None:
    text = """\
rollout_batch_size: 64
adv_estimator: reinforce
init_kl_coef: 0
actor_train:
  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,16))
actor_infer:
  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}
  device_mapping: list(range(0,12))
reference:
  strategy_args: {strategy_name: megatron_infer, strategy_config: {tensor_model_parallel_size: 2}}
  device_mapping: list(range(0,16))
rewards:
  rule: {world_size: 8}
"""
    (found,) = verdict(text).errors
    assert (found.code, found.subject, found.also) == ("PW102", "actor_train", ("actor_infer", "reference"))


def test_no_more_than_some_edits_are_tried() -> None:
    from placewright.solver import tested_help as subject

    names = [f"c{number}" for number in range(20)]
    reading = read(Source("a.yaml", "cluster: 1x8\ncomponents:\n" + "".join(f"  {name}: {{placement: 0-8}}\n" for name in names)), None)
    asked = list[str]()

    def again(text: str, machines: object = None) -> object:
        asked.append(text)
        return reading

    found = verify(replace(reading, session=FileSession(again))).errors  # type: ignore[arg-type]
    assert len(asked) == subject.MOST_TRIED
    assert [each.edit is None for each in found] == [True] * subject.MOST_TRIED + [False] * 12


def test_an_edit_elsewhere_is_shown_as_it_is() -> None:
    from placewright.solver.tested_help import with_tested_edits

    reading = read(Source("a.yaml", "cluster: 1x8\ncomponents: {a: {placement: 0-7}}\n"), None)
    value = find(reading.source.root, "cluster")
    assert value is not None
    elsewhere: Finding = error("PW102", "a", "said", value.span, edit=Edit(replace(value.span, file="b.yaml"), "x"))
    assert with_tested_edits(reading, [elsewhere], lambda other: ()) == [elsewhere]


def test_sizes_of_what_is_sound_stand_beside_the_errors() -> None:
    text = "cluster: 1x8\ncomponents:\n  a: {placement: 0-7}\n  b: {placement: 0-8}\nallow: [overlap]\n"
    report = verdict(text, dialect="native")
    assert report.plan is None
    assert report.sizes is not None
    assert {name: report.sizes.assignment.world_size(name) for name in report.sizes.components} == {"a": 8}
    assert verdict(text.replace("0-8", "0-6"), dialect="native").sizes is None


REASONING = """
cluster: {num_nodes: 1, component_placement: {"actor,rollout,reward": all}}
runner: {task_type: reasoning}
algorithm: {group_size: 2, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: BATCH}
rollout: {tensor_parallel_size: 2}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 2}}
"""
EMBODIED = """
cluster: {num_nodes: 1, component_placement: {"actor,env,rollout": all}}
runner: {task_type: embodied, only_eval: false}
algorithm: {loss_type: actor}
env: {train: {total_num_envs: 64, max_steps_per_rollout_epoch: 40, rollout_epoch: 1}}
rollout: {pipeline_stage_num: 1}
actor: {training_backend: fsdp, global_batch_size: BATCH, micro_batch_size: 8, model: {num_action_chunks: 8}}
"""


@pytest.mark.parametrize(
    ("text", "batch", "help"),
    [
        (REASONING, "0", "write `8`"),  # not 1, the least number: the processes of reward take whole prompts
        (REASONING, "-1", "write `8`"),
        (EMBODIED, "0", "write `64`"),
        (EMBODIED, "641", "set `actor.global_batch_size` to 320"),  # 640 is no divisor of the 320 samples
        (EMBODIED, "192", "set `actor.global_batch_size: 64` or `320`"),
    ],
)
def test_of_the_values_of_a_help_those_stay_that_verify(tmp_path: Path, text: str, batch: str, help: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text.replace("BATCH", batch))
    (found,) = pw.verify(file, cluster="x8").errors
    assert found.help == help and found.edit is not None
    file.write_text(text.replace("BATCH", found.edit.text))
    assert not pw.verify(file, cluster="x8").errors
