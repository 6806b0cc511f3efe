"""A verl file with times: what is open when it is read anew, which sizes and degrees verl takes, and what is written."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.api import solve, whatif
from placewright.models.component import DISJOINT
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import seats
from placewright.models.planning.workload import STEADY, STREAM
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.verify import verify

Of = Callable[..., Reading]
HYBRID = """\
data: {train_batch_size: 256}
algorithm: {adv_estimator: grpo}
actor_rollout_ref:
  actor: {strategy: fsdp, ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 4}
  rollout: {name: vllm, tensor_model_parallel_size: 2, n: 8, log_prob_micro_batch_size_per_gpu: 8}
trainer: {nnodes: 1, n_gpus_per_node: 8}
placewright:
  components:
    actor: {seconds: {train: {8: 120}}}
    rollout: {seconds: {generate: {8: 240}}, parallel: {tp: [1, 2, 4]}}
"""
SEPARATE = """\
python3 -m verl.experimental.one_step_off_policy.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 \\
    actor_rollout_ref.hybrid_engine=False actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    trainer.n_gpus_per_node=4 trainer.nnodes=1 rollout.n_gpus_per_node=4 rollout.nnodes=1 \\
    +placewright.components.actor.seconds.8=60 +placewright.components.rollout.seconds.8=180
"""


def of(text: str, cluster: str = "4x8", level: str = "placement", name: str = "train.yaml", release: str = "") -> Reading:
    composer = Composer(frameworks=(f"verl=={release}",) if release else ())
    return read(Source(name, text), read_shorthand(cluster) if cluster else None, "auto", level, composer)


def problem_of(text: str, cluster: str = "4x8", name: str = "train.yaml") -> Problem:
    problem = of(text, cluster, name=name).to_solve.problem
    assert problem is not None
    return problem


def test_the_file_itself_is_verified_as_it_stands_and_planned_anew() -> None:
    reading = of(HYBRID)
    assert reading.problem is not None
    assert all(each.runs is not None for each in reading.problem.components)
    assert not reading.problem.job.planning.own
    planned = problem_of(HYBRID)
    assert [each.runs for each in planned.components] == [None, None]
    assert {name: len(list(seats(runs))) for name, runs in planned.job.planning.own.items()} == {"actor": 8, "rollout": 8}
    assert planned["rollout"].parallel == Parallel(tp=2)  # its own, which the answer is compared with
    assert planned.job.choices["rollout"] == (Parallel(1), Parallel(2), Parallel(4))


def test_a_file_without_times_is_not_read_anew() -> None:
    text = HYBRID.replace("{seconds: {train: {8: 120}}}", "{memory: 40GiB}").replace("seconds: {generate: {8: 240}}, ", "")
    reading = of(text.replace("parallel: {tp: [1, 2, 4]}", "memory: 10GiB"))
    assert not reading.opens
    assert reading.to_solve.problem is reading.problem


def test_without_a_cluster_a_file_is_planned_on_the_machines_that_it_speaks_of() -> None:
    planned = problem_of(HYBRID.replace("nnodes: 1", "nnodes: 2"), "")
    assert [len(node.accelerators) for node in planned.cluster.nodes] == [8, 8]
    reading = of(HYBRID, "").to_solve
    assert any("machines unknown" in each.why for each in reading.unchecked)


def test_own_ranks_that_the_cluster_has_no_room_for_are_no_comparison() -> None:
    planned = problem_of(HYBRID.replace("nnodes: 1", "nnodes: 8"))
    assert planned.job.planning.own == {}
    assert planned["actor"].runs is None


def test_counts_are_the_same_part_of_some_nodes_that_verl_deals_its_batches_out_to() -> None:
    accepted = problem_of(HYBRID).job.planning.accepted
    assert {amount for amount, _ in accepted["actor"]} == {1, 2, 4, 8, 16, 32}  # 256 x 8 samples do not divide among 24 ranks
    assert {amount for amount, parallel in accepted["rollout"] if parallel == Parallel(4)} == {4, 8, 16, 32}


def test_several_parts_of_a_pool_on_one_node_are_proposed_and_kept() -> None:
    text = HYBRID.replace("256", "192").replace("ppo_mini_batch_size: 64", "ppo_mini_batch_size: 96")
    text = text.replace("nnodes: 1, n_gpus_per_node: 8", "nnodes: 3, n_gpus_per_node: 4")
    assert 12 in {amount for amount, _ in problem_of(text, "1x8+1x4").job.planning.accepted["actor"]}
    answer = solve(of(text, "1x8+1x4"), sandbox=False)
    assert answer.planned is not None
    assert answer.planned.is_own and answer.planned.proved
    assert answer.planned.best.design.accelerators == 12


def test_the_files_own_parts_of_several_nodes_may_be_proposed() -> None:
    text = SEPARATE.replace("trainer.n_gpus_per_node=4 trainer.nnodes=1", "trainer.n_gpus_per_node=6 trainer.nnodes=2")
    text = text.replace("rollout.n_gpus_per_node=4 rollout.nnodes=1", "rollout.n_gpus_per_node=2 rollout.nnodes=2")
    text = text.replace("train_batch_size=256", "train_batch_size=192").replace("ppo_mini_batch_size=64", "ppo_mini_batch_size=96")
    planned = problem_of(text, "2x8", name="run.sh")
    assert 12 in {amount for amount, _ in planned.job.planning.accepted["actor"]}
    answer = solve(of(text, "2x8", name="run.sh"), sandbox=False)
    assert answer.planned is not None
    own = baseline_of(planned, answer.planned.question, cost_model(answer.planned.model))
    assert own.priced is not None
    assert own.forbidden == ()
    assert answer.planned.best.nanoseconds <= own.priced.nanoseconds


def test_a_batch_of_another_size_accepts_other_counts() -> None:
    text = HYBRID.replace("train_batch_size: 256", "train_batch_size: 96").replace("ppo_mini_batch_size: 64", "ppo_mini_batch_size: 48")
    accepted = problem_of(text).job.planning.accepted
    assert 24 in {amount for amount, _ in accepted["actor"]}


def test_pools_of_a_program_that_has_two_are_apart_and_steady() -> None:
    planned = problem_of(SEPARATE, name="run.sh")
    assert planned.job.planning.workload is not None
    assert planned.job.planning.workload.model == STEADY
    assert any(each.kind == DISJOINT and set(each.components) == {"actor", "rollout"} for each in planned.job.relations)
    assert planned.job.planning.laying is not None
    assert [(pool.name, pool.parts) for pool in planned.job.planning.laying.pools] == [("trainer_pool", ()), ("rollout_pool", ())]


def test_why_it_is_steady_is_said() -> None:
    workload = problem_of(SEPARATE, name="run.sh").job.planning.workload
    assert workload is not None
    (said,) = workload.assumed
    assert said.startswith("cost model steady: the job generates while it trains (`verl.experimental.")


FULLY = SEPARATE.replace("one_step_off_policy.main_ppo", "fully_async_policy.fully_async_main").replace(
    "data.train_batch_size=256", "data.train_batch_size=0 data.gen_batch_size=1"
)


@pytest.mark.parametrize(
    ("said", "model"),
    [
        ("", STEADY),
        ("async_training.staleness_threshold=0.5 async_training.trigger_parameter_sync_step=1", STEADY),
        ("async_training.staleness_threshold=0 async_training.trigger_parameter_sync_step=4", STEADY),
        ("async_training.staleness_threshold=0", STEADY),
        ("async_training.staleness_threshold=0 async_training.trigger_parameter_sync_step=1", STREAM),
    ],
)
def test_what_is_trained_with_the_newest_weights_alone_waits_for_them(said: str, model: str) -> None:
    """The fully asynchronous program has such a mode: its pools are apart, and work in turn."""
    planned = problem_of(FULLY.replace("+placewright", f"{said} +placewright", 1), name="run.sh")
    assert planned.job.planning.workload is not None
    assert planned.job.planning.workload.model == model and bool(planned.job.planning.workload.assumed) == (model == STEADY)
    assert any(each.kind == DISJOINT for each in planned.job.relations)


def test_what_the_block_says_of_the_plan_stays_as_it_says() -> None:
    text = HYBRID + "  plan: {cost_model: stages, batches: 4}\n"
    workload = problem_of(text).job.planning.workload
    assert workload is not None
    assert (workload.model, workload.batches) == ("stages", 4)
    usual = problem_of(HYBRID).job.planning.workload
    assert usual is not None
    assert (usual.model, [(each.earlier, each.later, each.whole) for each in usual.after]) == (
        STREAM, [("rollout.generate", "actor.train", True)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        (HYBRID, "train.yaml", ["trainer: {nnodes: 4, n_gpus_per_node: 8}"]),
        (SEPARATE, "run.sh", ["trainer.n_gpus_per_node=8 trainer.nnodes=1 rollout.n_gpus_per_node=8 rollout.nnodes=3"]),
        (
            HYBRID.replace("{generate: {8: 240}}", "[{phase: generate, accelerators: 8, tp: 4, seconds: 100}]"),
            "train.yaml",
            ["tensor_model_parallel_size: 4", "nnodes: 4"],
        ),
    ],
)
def test_the_answer_is_written_into_verls_own_keys_and_verify_finds_nothing(text: str, name: str, written: list[str]) -> None:
    from placewright.models.dialects import verl

    reading = of(text, name=name)
    answer = solve(reading, sandbox=False)
    assert answer.plan is not None
    after = apply_edits(text, verl.write(reading.to_solve, answer.plan.assignment, answer.plan.degrees))
    assert all(each in after for each in written), after
    for level in ("placement", "training"):
        report = verify(of(after, level=level, name=name))
        assert report.errors == ()
    again = of(after, name=name)
    assert again.problem is not None
    for component in again.problem.components:
        assert list(seats(component.runs or ())) == list(seats(answer.plan.assignment.of(component.name)))
        assert component.parallel == answer.plan.degrees.get(component.name, component.parallel)


def test_a_file_with_ranks_and_times_is_launched_on_its_ranks() -> None:
    reading = of(HYBRID)
    from dataclasses import replace

    answer = solve(replace(reading, opens=False), sandbox=False)
    assert answer.verdict == "verified"
    assert answer.plan is not None
    assert answer.plan.assignment.count_held("actor") == 8


def test_a_program_whose_pools_have_no_sizes_of_their_own_is_not_planned_and_says_so() -> None:
    program = "python3 -m split_placement.main_ppo_split algorithm.adv_estimator=gae actor_rollout_ref.rollout.name=vllm"
    text = f"{program} trainer.n_gpus_per_node=8 trainer.nnodes=2 +placewright.components.actor.seconds.8=60\n"
    reading = of(text, name="run.sh").to_solve
    assert [each.code for each in reading.findings if "choose no ranks" in each.message] == ["PW604"]
    assert reading.problem is not None
    assert all(each.runs is not None for each in reading.problem.components)


@pytest.mark.parametrize(("text", "name"), [(HYBRID, "train.yaml"), (SEPARATE, "run.sh")], ids=["one pool", "two pools"])
def test_more_and_fewer_machines_are_asked_of_as_if_the_file_were_read_there(text: str, name: str) -> None:
    def alone(cluster: str) -> int:
        planned = solve(problem_of(text, cluster, name), sandbox=False).planned
        assert planned is not None
        return planned.best.nanoseconds

    found = whatif(of(text, "2x8", name=name), nodes=["+2x8", "-1"], sandbox=False)
    takes = [each.answer.planned.best.nanoseconds for each in found.after if each.answer.planned is not None]
    assert takes == [alone("4x8"), alone("1x8")]


def test_what_verl_takes_on_more_nodes_is_not_guessed_of_a_problem_without_its_file() -> None:
    with pytest.raises(UnusableInput, match="is read from a file"):
        whatif(problem_of(HYBRID, "2x8"), nodes=["+2x8"], sandbox=False)
    assert len(whatif(problem_of(HYBRID, "2x8"), nodes=["-1"], sandbox=False).after) == 1


@pytest.mark.parametrize("plan", ["batches: 0", "workflow: 3", "nested: 7", "bandwidth: {node: x}", "minimise: x", "unknown: 1"])
def test_what_is_wrong_with_the_plan_is_said_once(plan: str) -> None:
    reading = of(f"{HYBRID}  plan: {{{plan}}}\n").to_solve
    assert len(reading.findings) == 1 and reading.failed


def test_ulysses_is_told_as_not_planned() -> None:
    text = HYBRID.replace("{train: {8: 120}}}", "{train: {8: 120}}, parallel: {cp: [1, 2]}}")
    (told,) = [each.message for each in verify(of(text)).errors]
    assert told == (
        "the hints of `actor` leave cp 2 open, and `actor_rollout_ref.actor.ulysses_sequence_parallel_size` is taken as the file has it: "
        "no plan chooses it"
    )


def test_where_every_size_is_refused_none_is_chosen_for_an_error_that_the_file_has_not() -> None:
    """Of 5, 6 and 7 ranks as few errors are told as of 8: that the samples do not divide, where else the micro batches do not."""
    faulty = HYBRID.replace("n: 8, ", "n: 1, ").replace("ppo_micro_batch_size_per_gpu: 4", "ppo_micro_batch_size_per_gpu: 3")
    reading = of(faulty, "1x8", release="b178a3cd").to_solve
    assert reading.problem is not None and "PW604" in {finding.code for finding in reading.findings}
    assert {count for count, _ in reading.problem.job.planning.accepted["actor"]} == {1, 2, 4, 8}
