"""ROLL's own files, converted to ROLL: every worker has the devices that it had, in their order. And what ROLL cannot say."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.composition import Composer
from placewright.models.conversion import differences
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import LOSSY, REFUSED
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.convert import convert
from sampling import examples

MACHINES = read_shorthand("4x4xH100")
CASES = examples(75)
DEVICES = (
    "list(range(0,4))", "list(range(4,8))", "list(range(0,8))", "list(range(0,16))", "list(range(8,12))+list(range(0,4))",
    "[3,2,1,0]", "list(range(0,8,2))", "[0,0,1,1]",
)  # fmt: skip

VERL = """
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  actor: {strategy: veomni, veomni: {ulysses_parallel_size: 2, expert_parallel_size: 4}}
  rollout: {name: sglang, tensor_model_parallel_size: 2}
trainer: {nnodes: 2, n_gpus_per_node: 4}
"""


def test_an_engine_and_degrees_that_are_lost_are_named() -> None:
    done = convert(read(Source("verl.yaml", VERL), MACHINES, "verl", "placement"), "roll")
    said = " ".join(loss.message for loss in done.losses)
    assert done.verdict == LOSSY
    assert all(
        f"{key} is not carried over" in said
        for key in ("rollout.name` of sglang", "ulysses_parallel_size` of 2", "expert_parallel_size` of 4")
    )
    kept = VERL.replace("sglang", "vllm").replace("size: 4", "size: 1").replace("parallel_size: 2, e", "parallel_size: 1, e")
    done = convert(read(Source("verl.yaml", kept), MACHINES, "verl", "placement"), "roll")
    assert not any("is not carried over" in loss.message for loss in done.losses)


@pytest.mark.parametrize(
    ("actor", "lost"),
    [
        ("{strategy: fsdp, fsdp_config: {fsdp_size: 4}}", "fsdp_config.fsdp_size` of 4"),
        (
            "{strategy: megatron, megatron: {pipeline_model_parallel_size: 2, virtual_pipeline_model_parallel_size: 7}}",
            "virtual_pipeline_model_parallel_size` of 7",
        ),
    ],
)
def test_a_size_that_the_other_framework_has_not_is_named(actor: str, lost: str) -> None:
    text = VERL.replace("{strategy: veomni, veomni: {ulysses_parallel_size: 2, expert_parallel_size: 4}}", actor)
    losses = convert(read(Source("verl.yaml", text), MACHINES, "verl", "placement"), "roll").losses
    assert sum(f"{lost} is not carried over" in loss.message for loss in losses) == 1


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file for one of the pipelines, with devices in any order and as many per worker as its strategies say."""

    def devices() -> str:
        return draw(st.sampled_from(DEVICES))

    def megatron(name: str) -> str:
        tp, pp = draw(st.sampled_from(((1, 1), (2, 1), (2, 2))))
        config = f"{{tensor_model_parallel_size: {tp}, pipeline_model_parallel_size: {pp}}}"
        return f"{name}:\n  strategy_args: {{strategy_name: megatron_train, strategy_config: {config}}}\n  device_mapping: {devices()}\n"

    def vllm(name: str) -> str:
        tp, pp = draw(st.sampled_from(((1, 1), (2, 1), (4, 1), (2, 2))))
        config = f"{{tensor_parallel_size: {tp}, pipeline_parallel_size: {pp}}}"
        return f"{name}:\n  strategy_args: {{strategy_name: vllm, strategy_config: {config}}}\n  device_mapping: {devices()}\n"

    kind = draw(st.sampled_from(("rlvr", "rlvr", "agentic", "dpo", "sft", "distill")))
    if kind == "sft":
        return megatron("sft_train")
    if kind == "distill":
        return megatron("student") + megatron("teacher").replace("megatron_train", "megatron_infer")
    reference = f"reference:\n  strategy_args: {{strategy_name: hf_infer}}\n  device_mapping: {devices()}\n"
    if kind == "dpo":
        return megatron("actor_train") + reference + "  infer_batch_size: 1\n"
    text = megatron("actor_train") + vllm("actor_infer")
    with_reference, with_critic = draw(st.booleans()), draw(st.booleans())
    text += reference if with_reference else "init_kl_coef: 0\n"
    text += megatron("critic") if with_critic else "adv_estimator: grpo\n"
    if kind == "agentic":
        return text + "".join(
            f"{env}:\n  num_env_groups: 8\n  tags: [a]\n  num_groups_partition: [8]\n  max_env_num_per_worker: {draw(st.sampled_from((1, 2)))}\n"
            for env in ("train_env_manager", "val_env_manager")
        )
    rewards = f"rewards:\n  rule: {{world_size: {draw(st.integers(1, 5))}}}\n"
    return text + (rewards + vllm("  judge").replace("\n  ", "\n    ") if draw(st.booleans()) else rewards)


@pytest.mark.slow
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_a_file_of_roll_in_rolls_own_words_is_the_same(text: str) -> None:
    reading = read(Source("job.yaml", text), MACHINES, "roll", composer=Composer(frameworks=("roll==8eb27cc2",)))
    if verify(reading).errors or reading.problem is None:
        return
    rendering = dialect_named("roll").render(reading.problem)
    again = read(Source("again.yaml", rendering.text), MACHINES, "roll")
    assert again.problem is not None
    assert [*differences(reading.problem, again.problem, rendering.names)] == [], rendering.text
    assert not rendering.losses
    assert convert(reading, "roll").verdict == LOSSY  # the settings of the training stay behind


NATIVE = "cluster: {cluster}\ncomponents:\n{components}"
REFUSED_BY_ROLL = [
    ("1x8+1x4", "  actor: {placement: 0-11}\n", "ROLL numbers nodes of 8 accelerators each, but node 1 has 4"),
    ("1x0+1x4", "  actor: {placement: 0-3}\n", "ROLL numbers nodes of 4 accelerators each, but node 0 has 0"),
    ("1x8", "  actor: {placement: '0-3:0-1,4-7'}\n", "the processes of `actor` hold 1 or 2 accelerators, but in ROLL all hold as many"),
    ("1x8", "  tools: {placement: 0-3}\n", "nothing says which role `tools` has"),
    ("1x8", "  tools: {placement: 0-3, role: agent}\n", "ROLL has no role `agent`, which `tools` is"),
    (
        "1x8",
        "  actor: {placement: 0-3}\n  critic: {placement: 4-7}\n",
        "`start_rlvr_pipeline.py` always starts `actor_infer`, and no component is that",
    ),
    (
        "1x8",
        "  a: {placement: 0-3, role: actor}\n  b: {placement: 4-7, role: actor}\n",
        "ROLL has one `sft_train`, and several components are that",
    ),
    ("1x8", "  actor: {node_group: node, placement: 0}\n", "ROLL needs accelerators for `sft_train`, but `actor` is on nodes"),
    (
        "1x8",
        "  actor: {placement: 0-3}\n  rollout: {placement: 4-6}\n  env: {placement: 7}\n",
        "ROLL runs environments on CPUs, but `env` is on accelerators or hardware",
    ),
]


@pytest.mark.parametrize(("cluster", "components", "why"), REFUSED_BY_ROLL)
def test_what_roll_cannot_say_is_refused_with_the_reason(cluster: str, components: str, why: str) -> None:
    done = convert(read(Source("job.yaml", NATIVE.format(cluster=cluster, components=components)), None, "native"), "roll")
    assert done.verdict == REFUSED
    assert why in [finding.message for finding in done.findings]


def test_processes_that_roll_makes_otherwise_are_announced() -> None:
    text = "  actor: {placement: 0-7}\n  rollout: {placement: 0-7, colocate_with: actor, parallel: {tp: 2}}\n  env: {node_group: node, placement: 0:0-3}\n"
    done = convert(read(Source("job.yaml", NATIVE.format(cluster="2x8", components=text)), None, "native"), "roll")
    said = [loss.message for loss in done.losses if loss.severity.value == "warning"]
    assert said == [
        "the processes of `rollout` hold 1 accelerator each, the workers that ROLL makes of them 2",
        "ROLL starts `val_env_manager` too, here with one worker on the CPUs of node 0",
    ]
    assert "device_mapping: list(range(0,8))" in done.text
    with pytest.raises(UnusableInput):
        dialect_named("roll").render(read(Source("j.yaml", "cluster: 1x2\ncomponents:\n  x: {placement: 0}\n"), None).problem)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("amount", "more", "told"), [("4", "", True), ("[2, 4]", "", True), ("4", ", contiguous: true, any_order: true", False)]
)
def test_that_weights_go_from_one_solid_range_to_another_is_told_of_hints(amount: str, more: str, told: bool) -> None:
    """It was refused as a fault of ours."""
    text = "".join(f"  {name}: {{accelerators: {amount}{more}}}\n" for name in ("actor", "rollout"))
    done = convert(read(Source("job.yaml", NATIVE.format(cluster="2x8", components=text)), None, "native"), "roll")
    said = [loss.subject for loss in done.losses if "one solid range" in loss.message]
    assert done.text and said == (["actor", "rollout"] if told else [])


@pytest.mark.parametrize("target", ["native", "rlinf"])
@pytest.mark.parametrize(("amount", "told"), [("4-16", True), ("16", False), ("1-8", False)])
def test_meshes_of_fsdp2_that_the_new_file_does_not_demand_are_told(amount: str, told: bool, target: str) -> None:
    text = f"""
rollout_batch_size: 64
adv_estimator: grpo
init_kl_coef: 0
rewards: {{math: {{world_size: 4}}}}
actor_train: {{strategy_args: {{strategy_name: fsdp2_train, strategy_config: {{fsdp_size: 8}}}}}}
actor_infer: {{strategy_args: {{strategy_name: vllm}}}}
placewright: {{components: {{actor_train: {{accelerators: {amount}}}, actor_infer: {{accelerators: 8}}}}}}
"""
    found = convert(read(Source("job.yaml", text), MACHINES, "roll"), target)
    assert found.verdict == LOSSY
    assert any("whole groups of 8 shards" in loss.message for loss in found.losses) == told


ONE_BY_ONE = """\
adv_estimator: reinforce
init_kl_coef: 0
actor_train:
  strategy_args: {strategy_name: STRATEGY, strategy_config: {SIZE: 1}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {strategy_name: vllm}
  device_mapping: list(range(0,8))
"""


@pytest.mark.parametrize(("strategy", "kept"), [("megatron_train", "strategy: megatron"), ("fsdp2_train", "strategy: fsdp")])
def test_what_trains_is_kept_without_degrees_too(strategy: str, kept: str) -> None:
    text = ONE_BY_ONE.replace("STRATEGY", strategy).replace("SIZE", "tensor_model_parallel_size")
    done = convert(read(Source("train.yaml", text), read_shorthand("1x8"), "roll"), "verl")
    assert kept in done.text
    back = convert(read(Source("verl.yaml", done.text), read_shorthand("1x8"), "verl"), "roll")
    assert f"strategy_name: {strategy}" in back.text


def test_what_trains_otherwise_is_listed() -> None:
    text = ONE_BY_ONE.replace("STRATEGY", "deepspeed_train").replace("SIZE", "stage3_max_live_parameters")
    done = convert(read(Source("train.yaml", text), read_shorthand("1x8"), "roll"), "verl")
    assert any("deepspeed" in loss.message for loss in done.losses) and "strategy: fsdp" in done.text
