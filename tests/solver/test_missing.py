"""A file is ok only if all that its placement needs is known; what is missing is said with what to add, most urgent first."""

from __future__ import annotations

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Missing
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.planner.verify import verify

RLINF = "cluster:\n  num_nodes: {nodes}\n  component_placement: {{actor: 0-15}}\n"
PPO = (
    "python3 -m {program} trainer.nnodes={nodes} trainer.n_gpus_per_node=8 algorithm.adv_estimator={adv} "
    "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.actor.use_dynamic_bsz=True {more}\n"
)
ROLL = """\
adv_estimator: reinforce
init_kl_coef: {kl}
actor_train: {{device_mapping: {devices}, strategy_args: {{strategy_name: megatron_train}}}}
actor_infer: {{device_mapping: "list(range(0,8))", strategy_args: {{strategy_name: vllm}}}}
"""


def judged(text: str, machines: str = "", name: str = "job.yaml", level: str = "training") -> Report:
    return verify(read(Source(name, text), read_shorthand(machines) if machines else None, level=level, composer=Composer()))


def ppo(nodes: object = 1, program: str = "verl.trainer.main_ppo", adv: str = "grpo", more: str = "", machines: str = "") -> Report:
    return judged(PPO.format(program=program, nodes=nodes, adv=adv, more=more), machines, "run.sh")


@pytest.mark.parametrize(
    ("report", "add"),
    [
        (judged(RLINF.format(nodes=2)), "--cluster x8"),
        (judged("placewright:\n  components: {actor: {accelerators: 8}}\n" + RLINF.format(nodes=2)), "--cluster x8"),
        (judged(RLINF.format(nodes="${oc.env:N}"), "2x8"), "cluster.num_nodes"),
        (judged("cluster: {num_nodes: 1, component_placement: {a: 0-3, b: '${oc.env:RANKS}'}}\n", "1x8"), "component_placement.b"),
        (judged(ROLL.format(kl=0, devices='"list(range(0,8))"')), "--cluster x8"),
        (judged(ROLL.format(kl=0, devices='"${oc.env:DEVICES}"'), "1x8"), "actor_train.device_mapping"),
        (judged(ROLL.format(kl='"${oc.env:KL}"', devices='"list(range(0,8))"'), "1x8"), "init_kl_coef"),
        (ppo(), "--cluster x8"),
        (ppo("$N"), "--set trainer.nnodes"),
        (ppo("$N", machines="2x8"), "--set trainer.nnodes"),
        (ppo('"$(nvidia-smi -L | wc -l)"', machines="x8"), "--set trainer.nnodes"),
        (ppo(adv="$ADV", machines="1x8"), "--set algorithm.adv_estimator"),
        (ppo(more="actor_rollout_ref.rollout.tensor_model_parallel_size=$TP", machines="1x8"), "tensor_model_parallel_size"),
        (ppo(program="mine.train", machines="1x8"), "verl.trainer.main_ppo"),
        (ppo(more="$(cat more.txt)", machines="1x8"), "in the script"),
        (judged("trainer: {nnodes: 1}\n", "1x8"), "--dialect verl"),
        (judged("resource_pool_spec: {a: [8]}\nmapping: {Role.ActorRollout: a}\n"), "Verify the settings of the program"),
    ],
)
def test_what_decides_and_is_unknown_makes_a_file_incomplete(report: Report, add: str) -> None:
    assert report.verdict == "incomplete", report.findings
    assert add in report.missing[0].add


@pytest.mark.parametrize(
    ("report", "machines"),
    [
        (judged(RLINF.format(nodes=2), "x8xH100"), "2x8xH100"),
        (judged(ROLL.format(kl=0, devices='"list(range(0,8))"'), "x8"), "1x8"),
        (ppo(machines="x8"), "1x8"),
        (ppo(machines="1x8+1x4"), "1x8+1x4"),
        (judged("cluster: 1x8\ncomponents: {actor: {placement: 0-7}}\n"), "1x8"),
        (judged("cluster: 1x8\ncomponents: {actor: {accelerators: 4}}\n"), "1x8"),
    ],
)
def test_what_is_all_known_is_ok_on_named_machines(report: Report, machines: str) -> None:
    assert (report.verdict, report.missing) == ("ok", ())
    assert report.machines == machines


def test_values_come_before_machines_and_the_dialect_before_values() -> None:
    first = ppo("$N").missing[0]
    assert first == Missing(
        "`trainer.nnodes` is not known: the environment variable `N` is not read",
        "Pass `--set trainer.nnodes=VALUE`, or set `N` and pass `--allow-env N`",
    )
    both = judged("resource_pool_spec: {a: [8]}\nmapping: {Role.ActorRollout: a}\n" + RLINF.format(nodes=2)).missing
    assert ["--dialect" in each.add for each in both] == [True, False]


def test_an_error_is_worse_than_what_is_unknown() -> None:
    text = RLINF.format(nodes=2).replace("0-15", "0-15,9")
    assert judged(text).verdict == "faulty"


def test_the_level_is_said() -> None:
    assert judged(RLINF.format(nodes=2), "x8", level="placement").level == "placement"
    assert judged(RLINF.format(nodes=2), "x8").level == "training"


def test_missing_nodes_are_taken_to_be_like_those_that_are_named() -> None:
    report = judged(RLINF.format(nodes=4), "2x8xH100")
    assert [finding.code for finding in report.errors] == ["PW114"]
    assert not any("accelerators per node unknown" in item.why for item in report.unchecked)
    uneven = judged(RLINF.format(nodes=4), "1x8+1x4")
    assert [item.why for item in uneven.unchecked] == ["accelerators of the missing nodes unknown"]
