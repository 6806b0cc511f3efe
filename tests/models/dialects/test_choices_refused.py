"""Choices of degrees that a framework refuses: alone, together, or all of them."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.parallel import Parallel
from placewright.planner.write_back import edits_of

from .followed_files import ACTOR, MEGATRON, RLINF, ROLL, VERL, planned


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
    (told,) = [each for each in pw.load(file, "1x8").to_solve.findings if each.severity == Severity.ERROR]
    why = "`parallel` of `rollout` is tp 1, but the settings of the job make it tp {}"
    assert told.message == "every choice of degrees that the hints leave open is refused"
    assert told.notes == tuple(f"with tp {tp} of `actor`, {why.format(tp)}" for tp in (2, 4))
    with pytest.raises(UnusableInput, match="every choice of degrees"):
        pw.solve(file, "1x8", sandbox=False)


def test_choices_that_are_refused_are_not_planned(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(with_rollout("[2, 4, 1]"))
    answer = pw.solve(file, "1x8", sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["actor"].parallel == Parallel(1)
    assert edits_of(pw.load(file, "1x8").to_solve, answer)[1] == ()


def test_where_there_are_too_many_choices_to_read_each_the_file_is_planned_all_the_same(tmp_path: Path) -> None:
    """What is refused of them is told when it is written; nothing follows from the one that is not."""
    file = tmp_path / "run.yaml"
    its = with_rollout("[1, 2, 4, 8], pp: [1, 2, 4, 8], cp: [1, 2]")
    file.write_text(its.replace("inference: {scaling", "inference: {parallel: {tp: [1, 2, 4], pp: [1, 2, 4]}, scaling"))
    answer = pw.solve(file, "1x8", sandbox=False)
    assert answer.planned is not None
    options = answer.planned.best.design.options
    assert options["actor"].parallel == options["inference"].parallel == Parallel(1)


ROLL_OF_TWO = (
    ROLL.replace("grpo", "gae")
    .replace("megatron_infer", "fsdp2_infer")
    .replace("actor_infer:\n", """critic:
  training_args: {{per_device_train_batch_size: 1, gradient_accumulation_steps: 16}}
  strategy_args: {{strategy_name: megatron_train, strategy_config: {{tensor_model_parallel_size: 1}}}}
  device_mapping: list(range(0,8))
actor_infer:
""", 1)
    .replace("    strategy_config: {{tensor_model_parallel_size: ", "    strategy_config: {{fsdp_size: ")
    .replace("{actor_train.strategy_args", "{critic.strategy_args")
    .replace("reference:\n", 'reference:\n  model_args: {{ulysses_size: "${{actor_train.strategy_args.strategy_config.tensor_model_parallel_size}}"}}\n', 1)
    + "    critic: {{parallel: {{tp: {critic}}}, seconds: [{{accelerators: 8, tp: 2, seconds: 20}}, {{accelerators: 8, tp: 4, seconds: 50}}]}}\n"
)  # fmt: skip
"""The reference policy has as many parts of a sequence as the tp of the actor, which may be no more than the tp of the critic."""
VERL_OF_TWO = (
    VERL.replace("rollout: {{name", f'rollout: {{{{expert_parallel_size: "${{{{{ACTOR}}}}}", name').replace(
        "trainer:",
        "reward_model: {{enable: true, use_reward_loop: true, rollout: {{name: vllm, tensor_model_parallel_size: 1}}}}\ntrainer:",
    )
    + "    reward_model: {{parallel: {{tp: {critic}}}, seconds: [{{accelerators: 8, tp: 2, seconds: 20}}, {{accelerators: 8, tp: 4, seconds: 50}}]}}\n"
)
"""Rollout has as many expert parallel ranks as the tp of the actor, which must be the tp that it has of the reward model."""


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["roll", "verl"])
@pytest.mark.parametrize(("critic", "seconds"), [("[2, 4]", 60), ("[1]", 0)])
def test_choices_of_which_each_is_refused_by_itself_may_go_together(tmp_path: Path, dialect: str, critic: str, seconds: int) -> None:
    """Of ROLL it was an error that nothing is left. Where no two go together it is one, and `verify` tells it in the same words."""
    its = "{accelerators: 8, tp: 2, seconds: 30}, {accelerators: 8, tp: 4, seconds: 20}"
    if dialect == "roll":
        text = ROLL_OF_TWO.format(own=1, offered="[2, 4]", critic=critic, actor=its, inferred="{accelerators: 8, seconds: 5}")
        text = text.replace("seconds: {8: 40}", "seconds: {8: 5}")
    else:
        text = VERL_OF_TWO.format(
            actor_keys=MEGATRON.format(1), rollout_tp='"${reward_model.rollout.tensor_model_parallel_size}"', rollout_parallel="",
            actor_parallel="parallel: {tp: [2, 4]}, ", actor=its, rollout="{accelerators: 8, seconds: 10}", critic=critic,
        )  # fmt: skip
    file = tmp_path / "run.yaml"
    file.write_text(text)
    told = [(each.message, each.notes) for each in pw.verify(file, "1x8", dialect).errors]
    if seconds:
        assert told == [] and planned(file, dialect).best.nanoseconds == seconds * 10**9
    else:
        ((message, notes),) = told
        assert message == "every choice of degrees that the hints leave open is refused" and notes[0].startswith("with tp 2 of `actor")
        with pytest.raises(UnusableInput) as raised:
            pw.solve(file, "1x8", dialect, sandbox=False)
        assert [(each.message, each.notes) for each in raised.value.findings if each.severity == Severity.ERROR] == told
