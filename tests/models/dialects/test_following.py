"""Degrees that follow from those which are chosen: the plan is the best of all files in which the choice is written, and is what they run."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.cli.written import edits_of
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.parallel import Parallel
from placewright.models.planning.planned import Planned
from placewright.solver.explaining.at_least import at_least

TPS = (1, 2, 4)
RLINF = """\
cluster: {{num_nodes: 1, component_placement: {{rollout: 0-3, reward: 0-3, actor: 4-5, inference: 6-7}}}}
data: {{rollout_batch_size: 64}}
algorithm: {{group_size: 2, n_minibatches: 1, recompute_logprobs: true}}
runner: {{task_type: reasoning}}
rollout: {{rollout_backend: vllm, return_logprobs: true, max_running_requests: 64, tensor_parallel_size: 1}}
actor:
  training_backend: {backend}
  model: {{tensor_model_parallel_size: {own}}}
{inference}placewright:
  components:
    actor: {{parallel: {{tp: {offered}}}, scaling: table, seconds: [{actor}]}}
    rollout: {{scaling: table, seconds: {{4: 20}}}}
    inference: {{scaling: table, seconds: [{inferred}]}}
"""
INTERPOLATED = 'inference: {model: {tensor_model_parallel_size: "${actor.model.tensor_model_parallel_size}"}}\n'
ROLL = """\
num_gpus_per_node: 8
rollout_batch_size: 64
num_return_sequences_in_group: 8
adv_estimator: grpo
use_kl_loss: true
actor_train:
  training_args: {{per_device_train_batch_size: 1, gradient_accumulation_steps: 16}}
  strategy_args: {{strategy_name: megatron_train, strategy_config: {{tensor_model_parallel_size: {own}}}}}
  device_mapping: list(range(0,8))
reference:
  strategy_args:
    strategy_name: megatron_infer
    strategy_config: {{tensor_model_parallel_size: "${{actor_train.strategy_args.strategy_config.tensor_model_parallel_size}}"}}
  device_mapping: list(range(0,8))
actor_infer:
  strategy_args: {{strategy_name: vllm, strategy_config: {{tensor_parallel_size: 2}}}}
  device_mapping: list(range(0,8))
rewards: {{math: {{world_size: 4, tag_included: [math]}}}}
placewright:
  components:
    actor_train: {{parallel: {{tp: {offered}}}, scaling: table, seconds: [{actor}]}}
    reference: {{scaling: table, seconds: [{inferred}]}}
    actor_infer: {{scaling: table, seconds: {{8: 40}}}}
"""

VERL = """\
data: {{train_batch_size: 96}}
algorithm: {{adv_estimator: grpo}}
actor_rollout_ref:
  actor: {{{actor_keys}, ppo_mini_batch_size: 48, ppo_micro_batch_size_per_gpu: 4}}
  rollout: {{name: vllm, n: 8, log_prob_micro_batch_size_per_gpu: 8, tensor_model_parallel_size: {rollout_tp}}}
trainer: {{nnodes: 1, n_gpus_per_node: 8}}
placewright:
  components:
    actor: {{{actor_parallel}scaling: table, seconds: [{actor}]}}
    rollout: {{{rollout_parallel}scaling: table, seconds: [{rollout}]}}
"""
ACTOR, ROLLOUT = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "actor_rollout_ref.rollout.tensor_model_parallel_size"
MEGATRON, FSDP = "strategy: megatron, megatron: {{tensor_model_parallel_size: {}}}", "strategy: fsdp, ulysses_sequence_parallel_size: {}"


def rows(counts: tuple[int, ...], random: Random) -> str:
    return ", ".join(
        f"{{accelerators: {count}, tp: {tp}, seconds: {random.randint(10, 99)}}}" for tp in TPS for count in counts if count >= tp
    )


def planned(file: Path, dialect: str) -> Planned:
    answer = pw.solve(file, "1x8", dialect, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    return answer.planned


def text(seed: int, dialect: str, own: int, offered: object, inference: str = INTERPOLATED) -> str:
    random = Random(seed)
    counts = (2, 4) if dialect == "rlinf" else (8,)
    template, backend = (RLINF, "megatron") if dialect == "rlinf" else (ROLL, "")
    return template.format(
        backend=backend, own=own, offered=offered, inference=inference, actor=rows(counts, random), inferred=rows(counts, random)
    )


@pytest.mark.parametrize("dialect", ["rlinf", "roll"])
@pytest.mark.parametrize("seed", range(6))
def test_the_plan_is_the_best_of_all_files_that_have_one_of_the_degrees(tmp_path: Path, seed: int, dialect: str) -> None:
    file, leader, follower = tmp_path / "run.yaml", *(("actor", "inference") if dialect == "rlinf" else ("actor_train", "reference"))
    each = {}
    for tp in TPS:
        file.write_text(text(seed, dialect, tp, tp))
        answer = pw.solve(file, "1x8", dialect, sandbox=False)
        if answer.planned is not None:
            each[tp] = answer.planned.best.nanoseconds
    file.write_text(text(seed, dialect, 1 + seed % 2, list(TPS)))
    reading = pw.load(file, "1x8", dialect).to_solve
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved and answer.plan is not None
    assert answer.planned.best.nanoseconds == min(each.values())
    degrees = {name: option.parallel.tp for name, option in answer.planned.best.design.options.items()}
    assert degrees[follower] == degrees[leader] and each[degrees[leader]] == min(each.values())
    edits, refused = edits_of(reading, answer)
    assert refused == ()
    file.write_text(apply_edits(file.read_text(), edits))
    assert file.read_text().count("${actor") == 1
    again = planned(file, dialect)
    assert again.best.nanoseconds == min(each.values())
    assert {name: option.parallel.tp for name, option in again.best.design.options.items()} == degrees


@pytest.mark.parametrize("own", list(product((1, 2), repeat=2)))
def test_what_follows_two_choices_follows_both_of_them(tmp_path: Path, own: tuple[int, int]) -> None:
    """The tp of inference is that of the actor, its pp that of rollout."""
    file, each = tmp_path / "run.yaml", {}
    for tp, pp in product((1, 2), repeat=2):
        file.write_text(of_two((tp, pp), tp, pp))
        answer = pw.solve(file, "1x8", "rlinf", sandbox=False)
        if answer.planned is not None:
            each[tp, pp] = answer.planned.best.nanoseconds
    assert min(each, key=each.__getitem__) == (1, 2)
    file.write_text(of_two(own, [1, 2], [1, 2]))
    found = planned(file, "rlinf")
    assert found.best.nanoseconds == each[1, 2]
    assert found.best.design.options["inference"].parallel == Parallel(1, 2)


def of_two(own: tuple[int, int], tps: object, pps: object) -> str:
    """A file with these degrees of actor and rollout, and these that are offered."""
    both = f'{INTERPOLATED[:-3]}, pipeline_model_parallel_size: "${{rollout.pipeline_parallel_size}}"}}}}\n'
    its = RLINF.format(
        backend="megatron", own=own[0], offered=tps, inference=both,
        actor="{accelerators: 2, tp: 1, seconds: 30}, {accelerators: 2, tp: 2, seconds: 29}",
        inferred="{accelerators: 2, seconds: 60}, {accelerators: 2, tp: 2, seconds: 59}, {accelerators: 2, pp: 2, seconds: 11}",
    )  # fmt: skip
    its = its.replace("rollout: {scaling: table, seconds: {4: 20}}", f"rollout: {{parallel: {{pp: {pps}}}, seconds: {{4: 20}}}}")
    return its.replace("tensor_parallel_size: 1}", f"tensor_parallel_size: 1, pipeline_parallel_size: {own[1]}}}")


@pytest.mark.parametrize("inference", ["", INTERPOLATED])
@pytest.mark.parametrize(("backend", "shown"), [("megatron", 4), ("fsdp", 1)])
def test_inference_of_rlinf_has_as_many_accelerators_as_the_tp_that_is_chosen_for_the_actor(
    tmp_path: Path, inference: str, backend: str, shown: int
) -> None:
    """FSDP divides no layer, but RLinf refuses inference on fewer accelerators than its tp all the same."""
    file = tmp_path / "run.yaml"
    its = RLINF.format(
        backend=backend, own=1, offered="[1, 4]", inference=inference, actor="{accelerators: 4, tp: 1, seconds: 90}, {accelerators: 4, tp: 4, seconds: 9}",
        inferred="{accelerators: 2, seconds: 9}, {accelerators: 4, seconds: 10}",
    )  # fmt: skip
    file.write_text(its)
    found = pw.solve(file, "1x12", sandbox=False).planned
    assert found is not None and found.proved
    option = found.best.design.options["inference"]
    assert (option.amount, option.parallel) == (4, Parallel(shown))
    assert all(each.amount >= 4 for each in found.question.options["inference"])


def test_a_tp_with_which_fsdp_does_nothing_is_told(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    its = RLINF.format(
        backend="fsdp", own=1, offered="[1]", inference="inference: {model: {tensor_model_parallel_size: 2}}\n",
        actor="{accelerators: 2, seconds: 90}", inferred="{accelerators: 2, seconds: 9}",
    )  # fmt: skip
    file.write_text(its)
    problem = pw.load(file, "1x8").to_solve.problem
    assert problem is not None and problem.job.workload is not None
    told = [each for each in problem.job.workload.assumed if each.startswith("inference")]
    assert told == [
        "inference: tp 1, as FSDP divides no layer; by its tp (`inference.model.tensor_model_parallel_size`) RLinf only wants at least as many "
        "accelerators"
    ]


def test_what_follows_needs_what_it_follows_to(tmp_path: Path) -> None:
    """Of an actor of tp 1, pp 4 inference has the tp alone: it is on 1, and they need 5 where they are apart, not twice 4."""
    file = tmp_path / "run.yaml"
    both = INTERPOLATED.replace('"}}', '", pipeline_model_parallel_size: 1}}')
    its = RLINF.format(
        backend="megatron", own="1, pipeline_model_parallel_size: 4", offered="[1, 2], pp: 4", inference=both,
        actor="{accelerators: 4, tp: 1, pp: 4, seconds: 20}", inferred="{accelerators: 1, seconds: 10}",
    )  # fmt: skip
    file.write_text(its.replace("actor: {parallel", "actor: {disjoint_from: inference, parallel").replace("{4: 20}", "{1: 20}"))
    problem = pw.load(file, "1x8").to_solve.problem
    assert problem is not None and at_least(problem) == 5


def of_verl(seed: int, leader: str, own: int, offered: object) -> str:
    """A job in one pool, in which what trains and what generates have one number between them; `leader` has the key of it."""
    random, parallel = Random(seed), f"parallel: {{tp: {offered}}}, "
    counts, through = (2, 4, 6, 8), f'"${{{ACTOR if leader == "actor" else ROLLOUT}}}"'
    actor = ", ".join(f"{{accelerators: {count}, seconds: {random.randint(10, 99)}}}" for count in counts)
    return VERL.format(
        actor_keys=(FSDP if leader == "ulysses" else MEGATRON).format(own if leader == "actor" else through),
        rollout_tp=through if leader == "actor" else own,
        actor_parallel=parallel if leader == "actor" else "",
        rollout_parallel="" if leader == "actor" else parallel,
        actor=actor if leader == "ulysses" else rows(counts, random),
        rollout=rows(counts, random),
    )


@pytest.mark.parametrize("leader", ["actor", "rollout", "ulysses"])
@pytest.mark.parametrize("seed", range(6))
def test_in_verl_too_with_the_counts_that_each_choice_is_taken_on(tmp_path: Path, seed: int, leader: str) -> None:
    file, each = tmp_path / "run.yaml", dict[int, int]()
    for tp in TPS:
        file.write_text(of_verl(seed, leader, tp, [tp]))
        answer = pw.solve(file, "1x8", "verl", sandbox=False)
        if answer.planned is not None:
            each[tp] = answer.planned.best.nanoseconds
    file.write_text(of_verl(seed, leader, 1 + seed % 2, list(TPS)))
    reading = pw.load(file, "1x8", "verl").to_solve
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved and answer.plan is not None
    assert answer.planned.best.nanoseconds == min(each.values())
    degrees = {name: option.parallel.tp for name, option in answer.planned.best.design.options.items()}
    assert each[degrees["rollout"]] == min(each.values())
    assert degrees["actor"] == (1 if leader == "ulysses" else degrees["rollout"])
    edits, refused = edits_of(reading, answer)
    assert refused == ()
    file.write_text(apply_edits(file.read_text(), edits))
    assert file.read_text().count("${") == 1
    assert not any(each.severity == Severity.ERROR for each in pw.verify(file, "1x8", dialect="verl", level="training").findings)
    again = planned(file, "verl")
    assert again.best.nanoseconds == min(each.values())
    assert {name: option.parallel.tp for name, option in again.best.design.options.items()} == degrees


@pytest.mark.parametrize("leader", ["actor", "rollout"])
@pytest.mark.parametrize(("same", "left"), [(True, 1), (False, 0)])
def test_in_verl_a_number_stands_where_what_referred_to_another_is_chosen_otherwise(
    tmp_path: Path, leader: str, same: bool, left: int
) -> None:
    """Hints leave both open: what refers to the other stays where that is right."""
    through = f'"${{{ACTOR if leader == "actor" else ROLLOUT}}}"'
    its = VERL.format(
        actor_keys=MEGATRON.format(1 if leader == "actor" else through), rollout_tp=through if leader == "actor" else 1,
        actor_parallel="parallel: {tp: [1, 2, 4]}, ", rollout_parallel="parallel: {tp: [1, 2, 4]}, ",
        actor="{accelerators: 4, tp: 1, seconds: 50}, {accelerators: 4, tp: 2, seconds: 20}, {accelerators: 4, tp: 4, seconds: 50}",
        rollout=f"{{accelerators: 4, tp: {2 if same else 1}, seconds: 20}}, {{accelerators: 4, tp: 4, seconds: 40}}",
    )  # fmt: skip
    file = tmp_path / "run.yaml"
    file.write_text(its)
    reading = pw.load(file, "1x8", "verl").to_solve
    answer = pw.solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.best.nanoseconds == 40 * 10**9
    edits, refused = edits_of(reading, answer)
    assert refused == ()
    file.write_text(apply_edits(its, edits))
    assert file.read_text().count("${") == left
    problem = pw.load(file, dialect="verl").problem
    assert problem is not None and {each.name: each.parallel.tp for each in problem.components} == {"actor": 2, "rollout": 2 if same else 1}
    assert planned(file, "verl").best.nanoseconds == 40 * 10**9


def with_rollout(offered: str) -> str:
    """A file in which rollout has the tp of the actor through an interpolation, and hints that say it has 1."""
    inference = "inference: {model: {tensor_model_parallel_size: 1}}\n"
    its = RLINF.format(
        backend="megatron", own=1, offered=offered, inference=inference,
        actor="{accelerators: 2, seconds: 90}", inferred="{accelerators: 2, seconds: 9}",
    )  # fmt: skip
    its = its.replace("tensor_parallel_size: 1}", 'tensor_parallel_size: "${actor.model.tensor_model_parallel_size}"}', 1)
    return its.replace("rollout: {scaling", "rollout: {parallel: {tp: 1}, scaling")


def test_where_every_choice_is_refused_it_is_told_why_each_is(tmp_path: Path) -> None:
    """The plan had the file's own reading, and could not be written."""
    file = tmp_path / "run.yaml"
    file.write_text(with_rollout("[2, 4]"))
    told = [each.message for each in pw.load(file, "1x8").to_solve.findings if each.severity == Severity.ERROR]
    why = "`parallel` of `rollout` is tp 1, but the settings of the job make it tp {} (RLinf's ModelParallelComponentPlacement)"
    assert told == [
        "every choice of degrees that the hints leave open is refused: "
        + "; ".join(f"with tp {tp} of `actor`, {why.format(tp)}" for tp in (2, 4))
    ]
    with pytest.raises(UnusableInput, match="every choice of degrees"):
        pw.solve(file, "1x8", sandbox=False)


def test_choices_that_are_refused_are_not_planned(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(with_rollout("[2, 4, 1]"))
    answer = pw.solve(file, "1x8", sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["actor"].parallel == Parallel(1)
    assert edits_of(pw.load(file, "1x8").to_solve, answer)[1] == ()


@pytest.mark.parametrize(("parallel", "told"), [("parallel: {tp: [1, 2]}, ", True), ("parallel: {tp: 2}, ", True), ("", False)])
def test_a_plan_of_fsdp_in_groups_of_the_tp_of_hints_rests_on_that(tmp_path: Path, parallel: str, told: bool) -> None:
    file = tmp_path / "run.yaml"
    its = RLINF.format(
        backend="fsdp", own=2, offered="[1, 2]", inference="", actor="{accelerators: 3, seconds: 9}", inferred="{accelerators: 2, seconds: 9}",
    )  # fmt: skip
    file.write_text(its.replace("parallel: {tp: [1, 2]}, ", parallel))
    problem = pw.load(file, "1x8").to_solve.problem
    assert problem is not None and problem.job.workload is not None
    assert any(each.startswith("actor: on whole multiples of the tp") for each in problem.job.workload.assumed) == told


EMBODIED = """\
cluster: {{num_nodes: 1, component_placement: {{env: 0-3, rollout: 4-7, actor: 0-7}}}}
runner: {{task_type: embodied}}
algorithm: {{loss_type: embodied_sac}}
env: {{train: {{total_num_envs: 64}}}}
rollout: {{pipeline_stage_num: 2, tensor_parallel_size: {rollout_tp}}}
actor: {{training_backend: fsdp, model: {{tensor_model_parallel_size: {actor_tp}}}}}
placewright:
  components:
    env: {{scaling: table, seconds: {{2: 40, 4: 20, 8: 12}}}}
    rollout: {{parallel: {{tp: {rollout}}}, scaling: table, seconds: [{rollout_rows}]}}
    actor: {{parallel: {{tp: {actor}}}, scaling: table, seconds: [{actor_rows}]}}
"""


@pytest.mark.parametrize("seed", range(4))
def test_an_embodied_file_with_open_degrees_is_the_best_of_all_that_have_some(tmp_path: Path, seed: int) -> None:
    file, each = tmp_path / "run.yaml", dict[tuple[int, int], int]()

    def write(rollout_tp: int, actor_tp: int, rollout: object, actor: object) -> None:
        random = Random(seed)
        file.write_text(EMBODIED.format(
            rollout_tp=rollout_tp, actor_tp=actor_tp, rollout=rollout, actor=actor, rollout_rows=rows((4, 8), random), actor_rows=rows((4, 8), random)
        ))  # fmt: skip

    for pair in ((one, other) for one in TPS for other in TPS):
        write(*pair, *pair)
        each[pair] = planned(file, "rlinf").best.nanoseconds
    write(1, 2, list(TPS), list(TPS))
    answer = pw.solve(file, "1x8", "rlinf", sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == min(each.values())
    options = answer.planned.best.design.options
    assert each[options["rollout"].parallel.tp, options["actor"].parallel.tp] == min(each.values())
    edits, refused = edits_of(pw.load(file, "1x8").to_solve, answer)
    assert refused == ()
    file.write_text(apply_edits(file.read_text(), edits))
    assert pw.verify(file, "1x8", level="training").findings == ()
    again = planned(file, "rlinf")
    assert again.best.nanoseconds == min(each.values()) and again.is_own
