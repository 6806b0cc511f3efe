"""Degrees that the hints of an RLinf file leave open: what is written is the job that was planned, or nothing is."""

from __future__ import annotations

import difflib
from pathlib import Path

import placewright as pw
from placewright.models.findings.span import apply_edits
from placewright.models.parallel import Parallel
from placewright.models.reading import Reading
from placewright.planner.write_back import edits_of

HINTS = """\
placewright:
  components:
    rollout: {parallel: {tp: %s}, seconds: [{accelerators: 16, tp: 1, seconds: 90}, {accelerators: 16, tp: 2, seconds: 40}], phase: generate}
    actor: {parallel: {tp: [1, 2]}, seconds: [{accelerators: 16, tp: 1, seconds: 100}, {accelerators: 16, tp: 2, seconds: 20}], phase: train}
  plan: {workflow: rollout => actor}
"""
REASONING = """\
cluster:
  num_nodes: 2
  component_placement: {"actor,rollout,reward": all}
runner: {task_type: reasoning}
algorithm: {group_size: 16, n_minibatches: 4, training_batch_size_per_gpu: 1, recompute_logprobs: true, adv_type: grpo}
data: {rollout_batch_size: 512}
rollout: {tensor_parallel_size: 1, max_running_requests: 128}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}
"""


def solved(folder: Path, text: str, dialect: str = "auto") -> tuple[list[str], tuple[str, ...], Reading]:
    """The lines that are written, or why none are, and the file afterwards."""
    file = folder / "run.yaml"
    file.write_text(text)
    answer = pw.solve(file, "x8", dialect, sandbox=False)
    reading = pw.load(file, "x8", dialect).to_solve
    edits, refused = edits_of(reading, answer)
    after = apply_edits(text, edits)
    file.write_text(after)
    lines = [line for line in difflib.ndiff(text.splitlines(), after.splitlines()) if line.startswith("+ ")]
    return lines, tuple(each.message for each in refused), pw.load(file, "x8", dialect)


def degrees_of(reading: Reading) -> dict[str, Parallel]:
    assert reading.problem is not None
    assert not reading.problem.job.choices
    return {each.name: each.parallel for each in reading.problem.components if each.name != "reward"}


def test_hints_say_the_degrees_where_rlinf_has_no_key_for_them(tmp_path: Path) -> None:
    lines, refused, again = solved(tmp_path, "cluster:\n  num_nodes: 2\n" + HINTS % "[1, 2, 4]", "rlinf")
    assert refused == ()
    assert lines[0] == "+   component_placement: {rollout: all, actor: all}"
    assert degrees_of(again) == {"rollout": Parallel(2), "actor": Parallel(2)}


def test_the_keys_of_rlinf_say_them_too(tmp_path: Path) -> None:
    lines, refused, again = solved(tmp_path, REASONING + HINTS % "1")
    assert refused == ()
    assert lines[0] == "+ actor: {training_backend: megatron, model: {tensor_model_parallel_size: 2}}"
    assert lines[1].startswith("+     actor: {parallel: {tp: 2}, ")
    assert degrees_of(again) == {"rollout": Parallel(1), "actor": Parallel(2)}


def test_a_key_that_is_not_there_is_added(tmp_path: Path) -> None:
    lines, refused, _ = solved(tmp_path, REASONING.replace("tensor_model_parallel_size: 1", "precision: bf16") + HINTS % "1")
    assert refused == ()
    assert lines[0] == "+ actor: {training_backend: megatron, model: {precision: bf16, tensor_model_parallel_size: 2}}"


def test_engines_are_those_of_the_degrees_that_were_chosen(tmp_path: Path) -> None:
    lines, refused, again = solved(tmp_path, REASONING + HINTS % "[1, 2, 4]")
    assert refused == ()
    assert "+ rollout: {tensor_parallel_size: 2, max_running_requests: 128}" in lines
    assert degrees_of(again) == {"rollout": Parallel(2), "actor": Parallel(2)}
    assert again.problem is not None and again.problem["rollout"].per_process == 2


def test_engines_interleave_as_the_degrees_of_the_actor_have_it(tmp_path: Path) -> None:
    """Two accelerators of every four are one engine's: 0 and 2, 1 and 3."""
    actor = HINTS.replace("tp: [1, 2]", "tp: [2, 4]").replace("tp: 1, seconds: 100", "tp: 4, seconds: 10")
    text = REASONING.replace("tensor_parallel_size: 1", "tensor_parallel_size: 2").replace(
        "model_parallel_size: 1", "model_parallel_size: 2"
    )
    _, refused, again = solved(tmp_path, text + actor % "2")
    assert refused == ()
    assert degrees_of(again) == {"rollout": Parallel(2), "actor": Parallel(4)}
    rollout = again.problem["rollout"] if again.problem else None
    assert rollout is not None and (rollout.per_process, rollout.stride) == (2, 2)
